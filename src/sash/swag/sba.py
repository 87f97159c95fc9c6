"""SBA, the Sequential Boundary Aggregator: two sweeps per chunk, three combines per answer.

Idea      Cut the stream into chunks. A window that ends in a chunk is a suffix of what came before
          the chunk and a prefix of the chunk itself: suffix folds are swept backward when a chunk is
          complete, prefix folds grow with every row.
Picture     oldest f           u                 v              b newest
            ring  [ →u | →u ) [ →v | →v | →v ) [ p | p | p )      prefix = pv⊕…⊕pb-1
                    older chunk  complete chunk   chunk that grows
Keeps     K1  f ≤ u ≤ v ≤ b, b - f ≤ len(ring), and u = v or f < u     (positions grow, slots wrap)
          K2  f ≤ i < u: ring[i] = pi ⊕ … ⊕ pu-1
          K3  u ≤ i < v: ring[i] = pi ⊕ … ⊕ pv-1
          K4  v ≤ i < b: ring[i] = pi
          K5  prefix = pv ⊕ … ⊕ pb-1
Combines  insert 1 and, at a boundary, the backward sweep of a chunk; query ≤ 2; evict 0, or the sweep
          when it catches up with the boundary.  Space n + 1 partials.
          Over a whole array the chunk is the window: 3 combines per row, always.
Needs     associativity.  Order  first in, first out.
From      Zhang, Akbarinia, Toumani. Efficient Incremental Computation of Aggregations over Sliding
          Windows. KDD 2021. The sweep is also known from van Herk (1992), Gil and Werman (1993).
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, emit, identity, lift
from sash.swag.contract import Answer, Bound, Cost, Facts, identities, integers
from sash.swag.ring import LAST, fold_all, ring_fault, ring_steps, room_for, slot

__all__ = [
    "FACTS",
    "best_chunk",
    "best_chunk_in_time",
    "capacity",
    "check",
    "count",
    "evict",
    "fault",
    "insert",
    "query",
    "resize",
    "scratch",
    "start",
    "sweep",
]

FACTS = Facts(
    title="SBA",
    insert=Cost(Bound(1), Bound(linear=1)),
    evict=Cost(Bound(1), Bound(linear=1)),
    query=Cost(Bound(2), Bound(2)),
    space=Bound(1, linear=1),
    paper="Zhang, Akbarinia, Toumani. KDD 2021",
)
F, U, V, B, CHUNK = range(5)  # the places of f, u, v, b and the length of a chunk in `cursor`
count, capacity, _resized = ring_steps(newest=B)


def best_chunk(size: int, every: int) -> int:
    """Return how many slices make a chunk, for a window of `size` rows that slides by `every` (Theorem 1).

    >>> best_chunk(10, 2), best_chunk(1024, 1)
    (4, 513)
    """
    slices, rest = divmod(size, every)
    if slices <= every + rest + 1:
        return max(1, slices)
    return max(1, (every * (slices + 1) + rest + 1) // (every + 1))


def best_chunk_in_time(size: float, every: float, combine_time: float) -> int:
    """Return the same for a window in time, where a combine takes `combine_time` (Theorem 2).

    >>> best_chunk_in_time(3600.0, 1.0, 1e-6), best_chunk_in_time(3600.0, 0.001, 0.01)
    (3600, 1885715)
    """
    slices, rest = int(size // every), size % every
    extra = every * rest + combine_time if rest else 0.0
    if slices <= (every + 2 * combine_time + extra) / combine_time:
        return max(1, slices)
    return max(
        1, int((slices * (every + combine_time) + every + 2 * combine_time + extra) // (every + 2 * combine_time))
    )


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    cursor = integers(aggregate, 5)
    cursor[CHUNK] = best_chunk(max(sizes, default=capacity), 1)
    return aggregate.allocate(room_for(capacity)), identities(aggregate, 1), cursor


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, prefix, cursor = state
    store(ring, slot(ring, cursor[B]), partial)
    store(prefix, 0, combine(aggregate, load(prefix, 0), partial))
    cursor[B] += 1
    if cursor[B] - cursor[V] == cursor[CHUNK] and cursor[U] == cursor[V]:
        _close_chunk(aggregate, state)


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, _prefix, cursor = state
    if cursor[F] == cursor[V]:
        _close_chunk(aggregate, state)
    cursor[F] += 1
    if cursor[F] == cursor[U]:  # the older chunk is used up
        cursor[U] = cursor[V]
        if cursor[B] - cursor[V] >= cursor[CHUNK] and cursor[F] != cursor[V]:
            _close_chunk(aggregate, state)


@jitable
def _close_chunk(aggregate: Monoid, state: Any) -> None:
    """Sweep the complete chunk backward: K4 becomes K3, or K2 if it is the oldest."""
    ring, prefix, cursor = state
    folded = identity(aggregate)
    for position in range(cursor[B] - 1, cursor[V] - 1, -1):
        folded = combine(aggregate, load(ring, slot(ring, position)), folded)
        store(ring, slot(ring, position), folded)
    if cursor[F] == cursor[V]:
        cursor[U] = cursor[B]
    cursor[V] = cursor[B]
    store(prefix, 0, identity(aggregate))


def query(aggregate: Monoid, state: Any) -> Partial:
    ring, prefix, cursor = state
    answer = load(prefix, 0)
    if cursor[U] != cursor[V]:
        answer = combine(aggregate, load(ring, slot(ring, cursor[U])), answer)
    if cursor[F] != cursor[U]:
        answer = combine(aggregate, load(ring, slot(ring, cursor[F])), answer)
    return answer


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    _ring, _prefix, cursor = state
    cursor[CHUNK] = best_chunk(capacity, 1)
    return _resized(aggregate, state, capacity)


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, prefix, cursor = state
    if len(cursor) != 5 or length(prefix) != 1:
        return "its cursors are not f, u, v, b and the length of a chunk, or it has more than one prefix"
    f, u, v, b, chunk = (int(each) for each in cursor)
    if not 0 < chunk <= LAST or not (u == v or f < u):
        return f"its chunks of {chunk} rows end at {u} and {v}"
    return ring_fault(ring, f, u, v, b)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, prefix, cursor = state
    f, u, v, b, _chunk = cursor
    assert f <= u <= v <= b and b - f <= length(ring) and (u == v or f < u), "K1"

    def fold(start: int, end: int) -> Partial:
        return fold_all(aggregate, partials[start - f : end - f])

    for i in range(f, b):
        end = u if i < u else v if i < v else i + 1
        assert load(ring, slot(ring, i)) == fold(i, end), "K2, K3, K4"
    assert load(prefix, 0) == fold(v, b), "K5"


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
