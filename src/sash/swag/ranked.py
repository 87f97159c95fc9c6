"""Ranked: exact quantiles over a whole array, one bit per row.

Idea      Sort the rows in chunks at least as long as the window. A window then lies within two
          neighbouring chunks; merging their orders gives each row a rank among both. Which ranks are
          in the window is a set of bits; sliding clears one and sets one. The wanted rank is found
          from the last one, a bit or two away.
Picture     chunk c-1              chunk c
            [ . . . |x x x x x x ) [ x x x | . . . . )        x: in the window
            ranks   0 1 1 0 1 | 1 0 0 1 1 | 0 1 …             bit r is set: the row with rank r is in
                            at ↑      below = bits set before bit `at`
Keeps     K1  bit r is set exactly if the row with rank r is in the window and not null
          K2  below = how many bits are set before bit `at`
Combines  none; per row two bit changes, a merge step and its share of a sort.  Space 2 chunks, and
          the order of the whole array.
Needs     an exact order statistic of numbers.  Order  rows of an array, one fixed size.
From      A moving histogram with a remembered place (Huang, Yang, Tang. IEEE TASSP 1979), over ranks
          instead of grey levels.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.algebra.holistic import interpolate
from sash.algebra.monoid import Monoid
from sash.swag.bit_levels import highest, lowest
from sash.swag.facts import Bound, Cost, Facts, Needs, Sizes, Space
from sash.swag.loops import PIECE, cores

__all__ = ["FACTS", "quantiles", "scratch"]

_FREE = Cost(Bound(0), Bound(0))
FACTS = Facts(
    title="Ranked",
    insert=_FREE,
    evict=_FREE,
    query=_FREE,
    # Two chunks: values, and as positions ranks and bits. `order` is beside these: one position per row of the array.
    space=Space(Bound(1024, linear=2), Bound(1042, linear=2 + 2 / 64), rounded=False),
    needs=Needs.QUANTILE,
    sizes=Sizes.FIXED,
    paper="after Huang, Yang, Tang. IEEE TASSP 1979",
)
SHORTEST = 512  # rows of a chunk: with shorter ones, the start of each chunk dominates


def quantiles(
    data: np.ndarray[Any, Any], valid: np.ndarray[Any, Any] | None, size: int, q: float, threads: int | None = None
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the interpolated q-quantile of the `size` newest values that are not null, and where there is one."""
    rows = len(data)
    chunk = max(min(size, rows), SHORTEST)
    chunks = -(-rows // chunk)
    results, presences = np.empty(rows), np.empty(rows, np.uint8)
    known = np.ones(0, np.bool_) if valid is None else valid

    def run(first: int, last: int) -> None:
        stretch = data[max(0, first - 1) * chunk : last * chunk]
        order = _order_in_chunks(stretch, chunk)
        _slide(data, known, order, chunk, size, q, first, last, *_scratch(chunk), results, presences)

    if threads is None:
        # A row takes about twenty times as long as in a sweep, so threads pay off at a twentieth of the rows.
        threads = max(1, min(cores(), chunks // 2, rows // (PIECE // 16)))
    cuts = [chunks * k // threads for k in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for piece in [pool.submit(run, first, last) for first, last in pairwise(cuts)]:
            piece.result()
    return results, presences


def scratch(aggregate: Monoid, size: int) -> tuple[tuple[Any], Any, Any]:
    """Return the working memory of windows of `size` rows: a value and a rank for each row of two chunks, and bits."""
    ranks, values, words = _scratch(max(size, SHORTEST))
    return (values,), ranks, words


def _scratch(chunk: int) -> tuple[Any, Any, Any]:
    return np.empty(2 * chunk, np.int64), np.empty(2 * chunk), np.zeros((2 * chunk + 63) // 64 + 1, np.uint64)


def _order_in_chunks(data: np.ndarray[Any, Any], chunk: int) -> np.ndarray[Any, Any]:
    """Return the rows of each chunk from the smallest to the largest, NaN last."""
    whole = len(data) // chunk * chunk
    order = np.argsort(data[:whole].reshape(-1, chunk), axis=1).reshape(-1)
    return np.concatenate([order, np.argsort(data[whole:])])


@kernel
def _slide(
    data: Any,
    valid: Any,
    order: Any,
    chunk: int,
    size: int,
    q: float,
    first: int,
    last: int,
    ranks: Any,
    sorted_values: Any,
    words: Any,
    results: Any,
    presences: Any,
) -> None:
    rows = len(data)
    skip = max(0, first - 1) * chunk  # `order` starts with the chunk before the first
    for c in range(first, last):
        begin, end = c * chunk, min((c + 1) * chunk, rows)
        before = max(0, begin - chunk)
        _rank(data, order, before - skip, begin - skip, end - skip, before, ranks, sorted_values)
        words[:] = 0
        count = 0
        for row in range(max(before, begin - size), begin):
            if _is_valid(valid, row):
                _set(words, ranks[row - before])
                count += 1
        at, below = 0, 0
        for row in range(begin, end):
            if row - size >= before and _is_valid(valid, row - size):
                rank = ranks[row - size - before]
                _clear(words, rank)
                count -= 1
                below -= rank < at
            if _is_valid(valid, row):
                rank = ranks[row - before]
                _set(words, rank)
                count += 1
                below += rank < at
            if count == 0:
                presences[row] = 0
                continue
            wanted = (count - 1) * q
            k = math.floor(wanted)
            while below > k:
                at = _one_before(words, at)
                below -= 1
            at = _one_from(words, at)
            while below < k:
                at = _one_from(words, at + 1)
                below += 1
            value = sorted_values[at]
            share = wanted - k
            if share > 0:
                value = interpolate(value, sorted_values[_one_from(words, at + 1)], share)
            results[row] = value
            presences[row] = 1


@jitable
def _rank(
    data: Any, order: Any, left: int, right: int, end: int, first_row: int, ranks: Any, sorted_values: Any
) -> None:
    """Merge the orders of two chunks: ranks by row, values by rank."""
    i, j, rank = left, right, 0
    apart, shift = right - left, first_row - left
    while i < right and j < end:
        older, newer = order[i], order[j]
        a, b = data[left + shift + older], data[right + shift + newer]
        # No branch: the CPU cannot predict which side is smaller, and a wrong guess costs more than both sides.
        from_left = not (b < a or (a != a and b == b))
        row = older if from_left else apart + newer
        i += from_left
        j += not from_left
        ranks[row] = rank
        sorted_values[rank] = a if from_left else b
        rank += 1
    for rest in range(i, right):
        ranks[order[rest]] = rank
        sorted_values[rank] = data[first_row + order[rest]]
        rank += 1
    for rest in range(j, end):
        ranks[apart + order[rest]] = rank
        sorted_values[rank] = data[first_row + apart + order[rest]]
        rank += 1


# --- bits ----------------------------------------------------------------------------------------


@jitable
def _is_valid(valid: Any, row: int) -> bool:
    return len(valid) == 0 or valid[row]


@jitable
def _set(words: Any, rank: int) -> None:
    words[rank >> 6] |= np.uint64(1) << np.uint64(rank & 63)


@jitable
def _clear(words: Any, rank: int) -> None:
    words[rank >> 6] &= ~(np.uint64(1) << np.uint64(rank & 63))


@jitable
def _one_from(words: Any, place: int) -> int:
    """Return the first set bit at or after a place; there must be one."""
    at = place >> 6
    word = words[at] >> np.uint64(place & 63)
    if word != 0:
        return place + int(lowest(word))
    at += 1
    while words[at] == 0:
        at += 1
    return (at << 6) + int(lowest(words[at]))


@jitable
def _one_before(words: Any, place: int) -> int:
    """Return the last set bit before a place; there must be one."""
    at = place >> 6
    word = words[at] & ((np.uint64(1) << np.uint64(place & 63)) - np.uint64(1))
    while word == 0:
        at -= 1
        word = words[at]
    return (at << 6) + int(highest(word))
