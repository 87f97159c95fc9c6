"""Shifted: variance and stddev over a whole array, from sums of values that are shifted by a value near their mean.

Idea      Two sweeps per chunk, as SBA, but of plain sums: subtract a row c near the mean from every row
          of a block, and add up y = x - c and y². Plain sums need no division, and neither their
          combination nor the results depend on the row before, so the CPU computes several at once.
          Σ(x - mean)² = Σy² - (Σy)²/n loses digits only if c is far from the mean of the window: then
          Σy² is much larger than the result. Such windows are folded row by row, or by SBA.
Picture     begin - s          begin                                      begin + b      s: rows of a window
            [ chunk -1        )[ chunk 0      )[ chunk 1      ) …                        b: rows of a block
             ← suffix sums      ← suffix sums  |prefix sums →
                                |prefix sums →                   one c for all of them
Keeps     K1  0 < i < b: suffixes[i] = the sums of rows [begin - s + i, the end of their chunk)
          K2  0 < i < b: prefixes[i] = the sums of rows [the start of the chunk, begin + i); those of
              no rows at the start of a chunk, of the last chunk at i = b, where suffixes[b] = 0
          K3  a result is written from sums only if Σy² ≤ LOSS · Σ(x - mean)²
Combines  none, if the values of a window are near each other; at most 4 per row for other blocks.
          Space 6 numbers per row of a block, and SBA's.
Needs     the variance or stddev of numbers.  Order  rows of an array, one fixed size.
From      The shifted data algorithm of Chan, Golub, LeVeque. Algorithms for Computing the Sample
          Variance. The American Statistician, 1983; the sweeps of SBA.
"""

from typing import Any

import numpy as np

from sash.algebra.building_blocks import F8
from sash.algebra.compiler import compiled_reading, from_source, jitable, static_of
from sash.algebra.fields import Fields, Partial, load
from sash.algebra.monoid import Monoid, combine, emit, identity, lift
from sash.algebra.source import tuple_of
from sash.swag import sba
from sash.swag.contract import Algorithm, Answer, integers
from sash.swag.facts import Bound, Cost, Facts, Needs, Sizes, Space
from sash.swag.shifted_sums import (
    add_up,
    add_up_chunks,
    add_up_short,
    count_between,
    count_rows,
    find_pivot,
    shift,
    sweep_back,
)

__all__ = ["FACTS", "INSTEAD", "scratch", "sweep", "unfinished"]

_FREE = Cost(Bound(0), Bound(0))
FACTS = Facts(
    title="Shifted",
    insert=Cost(Bound(0), Bound(4)),  # on average, if windows have more than FEW rows and their values are alike
    evict=_FREE,
    query=_FREE,
    # In numbers, not in partials: its own sums (4n + 5139), and the suffixes of SBA if blocks are left out.
    space=Space(Bound(5145, linear=10), Bound(2 * 64 + 1), rounded=False),
    needs=Needs.VARIANCE,
    sizes=Sizes.FIXED,
    paper="after Chan, Golub, LeVeque. The American Statistician 1983",
)
SHORTEST = 512  # rows of a block at least: with shorter ones, the start of each block dominates
LOSS = 16.0  # Σy² over Σ(x - mean)² at most: four bits. A straight line needs 13.
FEW = 32  # rows of a short window: it is summed by doubling, and folded row by row if need be
LONGEST = 64  # blocks that are left out at most before sums are tried again
RANGES = 64  # that are left out, at most
INSTEAD = Algorithm("sba", sba)


def scratch(aggregate: Monoid, size: int) -> Any:
    rows = _block(size)
    piece = min(rows, SHORTEST)

    def room(count: int, slots: int) -> Any:
        return tuple(F8.empty(slots, aggregate.is_compiled, clear=False) for _ in range(count))

    older, newer = room(2, rows + 1), room(2, rows + 1)  # suffixes of y and y²
    sums = room(3, piece + 1)  # of windows: y, y² and the count of values
    shifted = room(3, piece + min(size, SHORTEST) + 4)  # y; for short windows, room to add up
    return older, newer, sums, shifted, integers(aggregate, 2 * RANGES + 1)


def unfinished(scratch: Any) -> list[tuple[int, int]]:
    """Return the ranges of rows that `sweep` has left out: too many of their results would have lost digits."""
    *_, left = scratch
    return [(int(left[2 * k + 1]), int(left[2 * k + 2])) for k in range(left[0])]


@jitable
def _block(size: int) -> int:
    return size * max(1, SHORTEST // size)


def sweep(aggregate: Monoid, inputs: Fields, size: int, begin: int, end: int, scratch: Any, out: Answer) -> None:
    older, newer, sums, shifted, left = scratch
    rows = _block(size)
    pivot = find_pivot(inputs, begin - size, min(begin + rows, end))
    ready, stretch = False, 1
    while begin < end:
        count = min(rows, end - begin)
        following = find_pivot(inputs, begin, min(begin + 2 * rows, end))
        if size <= SHORTEST:
            ready = _block_answers(aggregate, inputs, size, begin, count, pivot, older, sums, shifted, out)
        else:
            if not ready:
                sweep_back(inputs, begin, size, pivot, older)
            suffixes = older, newer
            ready = _chunk_answers(
                aggregate, inputs, size, begin, count, pivot, following, suffixes, sums, shifted, out
            )
        if ready:
            stretch = 1
        else:  # the next blocks may well be of the same kind
            count = _leave_out(left, begin, min(begin + rows * stretch, end), end) - begin
            stretch = min(2 * stretch, LONGEST)
            following = find_pivot(inputs, begin + count - size, min(begin + count + rows, end))
        pivot = following
        older, newer = newer, older
        begin += count


@jitable
def _leave_out(left: Any, begin: int, until: int, end: int) -> int:
    """Leave out rows, and return the first row that is not left out: with too many ranges, all the rest is."""
    last = left[0]
    if last > 0 and left[2 * last] == begin:
        left[2 * last] = until
        return until
    left[0] += 1
    left[2 * last + 1] = begin
    left[2 * last + 2] = until if last + 1 < RANGES else end
    return left[2 * last + 2]  # type: ignore[no-any-return]


@jitable
def _block_answers(
    aggregate: Monoid,
    inputs: Fields,
    size: int,
    begin: int,
    count: int,
    pivot: Any,
    suffixes: Any,
    sums: Any,
    shifted: Any,
    out: Answer,
) -> bool:
    """Write the results of a block of several chunks; return False if too many have lost digits."""
    shift(inputs, begin - size, size + count, pivot, shifted[0])
    if size <= FEW:
        add_up_short(shifted, size, count, sums)
    else:
        add_up_chunks(shifted[0], size, count, suffixes, sums)
    whole = size > 1 and begin >= size and len(inputs) == 1
    if not whole:
        count_rows(inputs, begin, size, count, count_between(inputs, begin - size, begin), sums[2])
    return _rows_answer(aggregate, inputs, size, begin, count, whole, pivot * 1.0, sums, out)


@jitable
def _chunk_answers(
    aggregate: Monoid,
    inputs: Fields,
    size: int,
    begin: int,
    count: int,
    pivot: Any,
    following: Any,
    suffixes: Any,
    sums: Any,
    shifted: Any,
    out: Answer,
) -> bool:
    """Write the results of one long chunk, piece by piece, and the suffixes of the chunk for the following one."""
    older, newer = suffixes
    whole = begin >= size and len(inputs) == 1
    values = 0 if whole else count_between(inputs, begin - size, begin)
    ends = (0.0, 0.0, 0.0, 0.0)
    for first in range(0, count, SHORTEST):
        rows = min(SHORTEST, count - first)
        shift(inputs, begin + first, rows, pivot, shifted[0])
        last = count - first
        shift(inputs, begin + last - rows, rows, following, shifted[1])
        ends = add_up(shifted, rows, first, last, older, newer, sums, ends)
        if not whole:
            values = count_rows(inputs, begin + first, size, rows, values, sums[2])
        if not _rows_answer(aggregate, inputs, size, begin + first, rows, whole, pivot * 1.0, sums, out):
            return False
    newer[0][count] = newer[1][count] = 0.0
    return True


# --- results -------------------------------------------------------------------------------------


@jitable
def _rows_answer(
    aggregate: Monoid,
    inputs: Fields,
    size: int,
    begin: int,
    rows: int,
    whole: bool,
    pivot: float,
    sums: Any,
    out: Answer,
) -> bool:
    """Write the results of some rows; return False if too many have lost digits."""
    lost = _write(aggregate, size, begin, rows, whole, pivot, sums, out)
    if lost == 0:
        return True
    return 8 * lost <= max(rows, FEW) and _fold_lost(aggregate, inputs, size, begin, rows, whole, sums, out)


@jitable
def _write(
    aggregate: Monoid, size: int, begin: int, rows: int, whole: bool, pivot: float, sums: Any, out: Answer
) -> int:
    """Write the results of some rows, and return how many of them have lost digits."""
    results, presences = out
    totals, total_squares, counts = sums
    lost = 0
    if whole:
        share = 1.0 / size
        offset = pivot * size
        for k in range(1, rows + 1):
            total, squares = totals[np.uint64(k)], total_squares[np.uint64(k)]
            spread = squares - total * total * share
            lost += 0 if squares <= LOSS * spread else 1
            emit(aggregate, results, presences, begin + k - 1, _partial(aggregate, size, total + offset, spread))
        return lost
    for k in range(1, rows + 1):
        total, squares, n = totals[np.uint64(k)], total_squares[np.uint64(k)], counts[np.uint64(k)]
        spread = squares - total * total / max(n, 1.0) if n > 1.0 else squares * 0.0
        lost += 0 if squares <= LOSS * spread or (n <= 1.0 and spread == 0.0) else 1
        emit(aggregate, results, presences, begin + k - 1, _partial(aggregate, int(n), total + pivot * n, spread))
    return lost


@jitable
def _fold_lost(
    aggregate: Monoid, inputs: Fields, size: int, begin: int, rows: int, whole: bool, sums: Any, out: Answer
) -> bool:
    """Fold the windows that have lost digits row by row; return False if one of them is long."""
    results, presences = out
    totals, total_squares, counts = sums
    for k in range(1, rows + 1):
        total, squares, n = totals[k], total_squares[k], float(size) if whole else counts[k]
        if squares <= LOSS * (squares - total * total / max(n, 1.0)):
            continue
        end = begin + k
        start = max(0, end - size)
        if end - start > FEW:
            return False
        folded = identity(aggregate)
        for row in range(start, end):
            folded = combine(aggregate, folded, lift(aggregate, load(inputs, row)))
        emit(aggregate, results, presences, end - 1, folded)
    return True


def _partial(aggregate: Monoid, n: int, total: float, spread: float) -> Partial:
    """Return the partial of the components count, sum and m2."""
    known = {"count": (n,), "m2": (spread,), "sum": (total,)}
    return tuple(
        value
        for each in aggregate.components
        for value in (known[each.name] if len(each.fields) == 1 else (0,) * len(each.fields))
    )


@compiled_reading(_partial)
def _compiled_partial(aggregate: Any, n: Any, total: Any, spread: Any) -> Any:
    # The sum of integers has two fields; no result reads it.
    known = {"count": ["n"], "m2": ["spread"], "sum": ["total"]}
    items = [
        item
        for each in static_of(aggregate).components
        for item in (known[each.name] if len(each.fields) == 1 else ["0"] * len(each.fields))
    ]
    return from_source(f"def generated(aggregate, n, total, spread):\n    return {tuple_of(items)}")
