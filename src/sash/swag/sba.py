"""SBA, the Sequential Boundary Aggregator: two sweeps per chunk, three combines per answer.

Idea      Cut the stream into chunks as long as the window. A window that ends in a chunk is a suffix
          of the chunk before it and a prefix of the chunk itself: suffix folds are swept backward when
          a chunk is complete, prefix folds grow with every row.
Picture     oldest f                      v                  b newest
            ring  [ pf⊕…⊕pv-1 | … | pv-1 ) [ pv | … | pb-1 )       prefix = pv⊕…⊕pb-1
                    complete chunk, swept    chunk that grows
Keeps     K1  f ≤ v ≤ b, b - f ≤ len(ring)            (positions grow, slots wrap)
          K2  f ≤ i < v: ring[i] = pi ⊕ … ⊕ pv-1
          K3  v ≤ i < b: ring[i] = pi
          K4  prefix = pv ⊕ … ⊕ pb-1
Combines  insert 1 and, at a boundary, the backward sweep of a chunk; query ≤ 1; evict 0, or the sweep
          of a shorter chunk, if the window has become shorter than a chunk.  Space n + 1 partials.
          Over a whole array both sweeps share one loop. Over ranges of rows, a chunk ends where a range starts
          after the chunk before it, so a chunk is as long as the range. A range without rows of earlier ranges,
          such as the first of a key, starts anew.
Needs     associativity.  Order  first in, first out.
From      Zhang, Akbarinia, Toumani. Efficient Incremental Computation of Aggregations over Sliding
          Windows. KDD 2021. The sweep is also known from van Herk (1992), Gil and Werman (1993).
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, emit, identity, lift, merge, own
from sash.swag.contract import Answer, identities, integers
from sash.swag.facts import Bound, Cost, Facts, Space, room_for
from sash.swag.ring import LAST, fold_all, ring_fault, ring_steps, slot

__all__ = [
    "FACTS",
    "capacity",
    "check",
    "count",
    "evict",
    "fault",
    "insert",
    "move_range",
    "query",
    "query_moved",
    "range_cuts",
    "range_scratch",
    "resize",
    "scratch",
    "start",
    "sweep",
    "sweep_ranges",
]

FACTS = Facts(
    title="SBA",
    insert=Cost(Bound(1), Bound(linear=1)),
    evict=Cost(Bound(1), Bound(linear=1)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(1, linear=1), Bound(4)),
    paper="Zhang, Akbarinia, Toumani. KDD 2021",
)
F, V, B, CHUNK = range(4)  # the places of f, v, b and the length of a chunk in `cursor`
count, capacity, _resized = ring_steps(newest=B)


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    cursor = integers(aggregate, 4)
    cursor[CHUNK] = capacity
    return aggregate.allocate(room_for(capacity)), identities(aggregate, 1), cursor


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, prefix, cursor = state
    store(ring, slot(ring, cursor[B]), partial)
    store(prefix, 0, combine(aggregate, load(prefix, 0), partial))
    cursor[B] += 1
    if cursor[B] - cursor[F] == cursor[CHUNK] and cursor[F] == cursor[V]:
        _close_chunk(aggregate, state)


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, _prefix, cursor = state
    if cursor[F] == cursor[V]:
        _close_chunk(aggregate, state)
    cursor[F] += 1


@jitable
def _close_chunk(aggregate: Monoid, state: Any) -> None:
    """Sweep the chunk that grows backward: K3 becomes K2."""
    ring, prefix, cursor = state
    folded = identity(aggregate)
    for position in range(cursor[B] - 1, cursor[V] - 1, -1):
        folded = combine(aggregate, load(ring, slot(ring, position)), folded)
        store(ring, slot(ring, position), folded)
    cursor[V] = cursor[B]
    store(prefix, 0, identity(aggregate))


def query(aggregate: Monoid, state: Any) -> Partial:
    ring, prefix, cursor = state
    if cursor[F] == cursor[V]:
        return load(prefix, 0)
    return combine(aggregate, load(ring, slot(ring, cursor[F])), load(prefix, 0))


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    _ring, _prefix, cursor = state
    cursor[CHUNK] = capacity
    return _resized(aggregate, state, capacity)


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, prefix, cursor = state
    if len(cursor) != 4 or length(prefix) != 1:
        return "its cursors are not f, v, b and the length of a chunk, or it has more than one prefix"
    f, v, b, chunk = (int(each) for each in cursor)
    if not 0 < chunk <= LAST:
        return f"its chunks have {chunk} rows"
    return ring_fault(ring, f, v, b)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, prefix, cursor = state
    f, v, b, _chunk = cursor
    assert f <= v <= b and b - f <= length(ring), "K1"

    def fold(start: int, end: int) -> Partial:
        return fold_all(aggregate, partials[start - f : end - f])

    for i in range(f, b):
        assert load(ring, slot(ring, i)) == fold(i, v if i < v else i + 1), "K2, K3"
    assert load(prefix, 0) == fold(v, b), "K4"


# --- over a whole array --------------------------------------------------------------------------


def scratch(aggregate: Monoid, size: int) -> tuple[Fields, Fields]:
    """Return room for the suffix folds of the previous and the current chunk; the last slot is the empty suffix."""
    # Not cleared: each slot is written before it is read.
    older, newer = (
        tuple(each.empty(size + 1, aggregate.is_compiled, clear=False) for each in aggregate.fields) for _ in range(2)
    )
    store(older, size, identity(aggregate))
    store(newer, size, identity(aggregate))
    return older, newer


def sweep(aggregate: Monoid, inputs: Fields, size: int, begin: int, end: int, scratch: Any, out: Answer) -> None:
    older, newer = scratch
    results, presences = out
    sweep_back(aggregate, inputs, begin - size, size, older, 0)
    chunk = begin
    while chunk + size <= end:
        # Both sweeps in one loop: they do not depend on each other, so the CPU runs them in parallel.
        prefix = identity(aggregate)
        suffix = identity(aggregate)
        for row in range(size):
            prefix = combine(aggregate, prefix, lift(aggregate, load(inputs, chunk + row)))
            emit(aggregate, results, presences, chunk + row, combine(aggregate, load(older, row + 1), prefix))
            mirrored = size - 1 - row
            suffix = combine(aggregate, lift(aggregate, load(inputs, chunk + mirrored)), suffix)
            store(newer, mirrored, suffix)
        older, newer = newer, older
        chunk += size
    sweep_forward(aggregate, inputs, chunk, end - chunk, older, 0, out)


@jitable
def sweep_back(aggregate: Monoid, inputs: Fields, chunk: int, size: int, suffixes: Fields, first: int) -> None:
    """Write suffix folds of the chunk, from slot `first` on; rows before row 0 are the identity."""
    suffix = identity(aggregate)
    for row in range(size - 1, -1, -1):
        if chunk + row >= 0:
            suffix = combine(aggregate, lift(aggregate, load(inputs, chunk + row)), suffix)
        store(suffixes, first + row, suffix)


@jitable
def sweep_forward(
    aggregate: Monoid, inputs: Fields, chunk: int, rows: int, suffixes: Fields, first: int, out: Answer
) -> None:
    """Write results: each prefix fold of the chunk, combined with the suffix before it that completes its window."""
    results, presences = out
    prefix = identity(aggregate)
    for row in range(rows):
        prefix = combine(aggregate, prefix, lift(aggregate, load(inputs, chunk + row)))
        emit(aggregate, results, presences, chunk + row, combine(aggregate, load(suffixes, first + row + 1), prefix))


# --- over ranges of rows that move forward -------------------------------------------------------


def range_scratch(aggregate: Monoid, longest: int) -> Fields:
    """Return room for the suffix folds of a range."""
    # Not cleared: each slot is written before it is read.
    return tuple(each.empty(longest, aggregate.is_compiled, clear=False) for each in aggregate.fields)


def range_cuts(starts: Any, ends: Any, wanted: Any) -> Any:
    """Return, for each wanted place, the first place from there on where a chunk begins, or the number of ranges."""
    cuts = np.full(len(wanted), len(starts))
    _cut(starts, ends, np.asarray(wanted), cuts)
    return cuts


@kernel
def _cut(starts: Any, ends: Any, wanted: Any, cuts: Any) -> None:
    place, v, found = 0, starts[0], 0
    while found < len(wanted):
        low, step = place, 1  # starts[low] <= v: find the first range that starts after v
        while low + step < len(starts) and starts[low + step] <= v:
            low += step
            step *= 2
        high = min(low + step, len(starts))
        while high - low > 1:
            middle = (low + high) // 2
            if starts[middle] <= v:
                low = middle
            else:
                high = middle
        if high == len(starts):
            return
        place, v = high, max(starts[high], ends[high - 1])
        while found < len(wanted) and wanted[found] <= place:
            cuts[found] = place
            found += 1


def sweep_ranges(
    aggregate: Monoid, inputs: Fields, starts: Any, ends: Any, before: int, suffixes: Fields, out: Answer
) -> None:
    results, presences = out
    f, v, b = 0, 0, before  # so a first range that starts before b begins with a backward sweep
    prefix = identity(aggregate)
    for place in range(len(starts)):
        start = starts[place]
        f, v, b, prefix = move_range(aggregate, inputs, suffixes, f, v, b, prefix, start, ends[place])
        emit(aggregate, results, presences, place, query_moved(aggregate, suffixes, f, v, prefix, start))


@jitable
def move_range(
    aggregate: Monoid, inputs: Fields, suffixes: Fields, f: int, v: int, b: int, prefix: Partial, start: int, end: int
) -> Any:
    """Move the range to [start, end); return f, v, b and the prefix. The suffix fold of row i is in slot i - f."""
    if start >= b:
        f, v, b = start, start, start
        prefix = identity(aggregate)
    elif start > v:
        suffix = identity(aggregate)
        for row in range(b - 1, start - 1, -1):
            suffix = merge(aggregate, lift(aggregate, load(inputs, row)), suffix)
            store(suffixes, row - start, suffix)
        f, v = start, b
        prefix = identity(aggregate)
    while b < end:
        prefix = merge(aggregate, prefix, lift(aggregate, load(inputs, b)))
        b += 1
    return f, v, b, prefix


@jitable
def query_moved(aggregate: Monoid, suffixes: Fields, f: int, v: int, prefix: Partial, start: int) -> Partial:
    """Return the partial of the range, which starts at `start`, to be read at once."""
    if start < v:
        return merge(aggregate, load(suffixes, start - f), own(aggregate, prefix))
    return own(aggregate, prefix)
