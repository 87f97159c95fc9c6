"""SlideSide: Two-Stacks Lite for many ranges at once.

A reconstruction from the abstract's cost table, not a copy of the paper's code.

Idea      Two-Stacks Lite answers the whole window from one suffix fold and one sum. The suffix folds
          are all there, so every range that begins in the folded part costs one combine too. Ranges
          begin there if the part that is not folded is never longer than the shortest of them:
          flip in time. A flip in a folded window lengthens the old folds by the sum.
Picture     oldest f                       m                    b newest
            ring  [ pf⊕…⊕pm-1 | … | pm-1 ) [ pm | pm+1 | … | pb-1 )     tail = pm⊕…⊕pb-1
                    suffix folds             as inserted, ≤ s of them, s = the shortest range
            last r = ring[b - r] ⊕ tail, for b - r < m
Keeps     K1  f ≤ m ≤ b, b - f ≤ len(ring)           (positions grow, slots wrap)
          K2  f ≤ i < m: ring[i] = pi ⊕ … ⊕ pm-1
          K3  m ≤ i < b: ring[i] = pi
          K4  tail = pm ⊕ … ⊕ pb-1, identity if m = b
          K5  b - m ≤ s, if ranges were registered
Combines  One range, the window: insert 1, evict amortised 1, worst n, query ≤ 1, as Two-Stacks Lite.
          Several: ≤ 1 for each registered range, and a flip of < n with every s-th insert.
          A shorter range than was registered is folded row by row.  Space n + 1 partials.
Needs     associativity.  Order  first in, first out.
From      Theodorakis, Pietzuch, Pirk. SlideSide: A Fast Incremental Stream Processing Algorithm for
          Multiple Queries. EDBT 2020.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag import two_stacks_lite
from sash.swag.contract import identities, integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Space, room_for
from sash.swag.queue import Layout, load_at, store_at
from sash.swag.ring import LAST, ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "query_last", "resize", "start"]

FACTS = Facts(
    title="SlideSide",
    insert=Cost(Bound(1), Bound(linear=1)),
    evict=Cost(Bound(1), Bound(linear=1)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(1, linear=1), Bound(4)),
    all_ranges=AllRanges(Cost(Bound(linear=2), Bound(linear=2)), Space(Bound(1, linear=1), Bound(4))),
    paper="Theodorakis, Pietzuch, Pirk. EDBT 2020",
)
F, M, B, SHORTEST = range(4)  # the places of f, m, b and s in `cursor`; s is 0 if no ranges were registered
LAYOUT = Layout(newest=B)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    cursor = integers(aggregate, 4)
    cursor[SHORTEST] = min(sizes, default=0)
    return aggregate.allocate(room_for(capacity)), identities(aggregate, 1), cursor


@jitable
def _flip(aggregate: Monoid, state: Any) -> None:
    ring, tail, cursor = state
    back = load(tail, 0)
    for position in range(cursor[F], cursor[M]):  # K2 for the new m
        store_at(ring, position, combine(aggregate, load_at(ring, position), back))
    folded = identity(aggregate)
    for position in range(cursor[B] - 1, cursor[M] - 1, -1):  # newest first: K3 becomes K2
        folded = combine(aggregate, load_at(ring, position), folded)
        store_at(ring, position, folded)
    store(tail, 0, identity(aggregate))
    cursor[M] = cursor[B]


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, tail, cursor = state
    if cursor[SHORTEST] > 0 and cursor[B] - cursor[M] == cursor[SHORTEST]:
        _flip(aggregate, state)
    store_at(ring, cursor[B], partial)
    store(tail, 0, combine(aggregate, load(tail, 0), partial))
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, _tail, cursor = state
    if cursor[F] == cursor[M]:
        _flip(aggregate, state)
    cursor[F] += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    _ring, _tail, cursor = state
    return query_last(aggregate, state, cursor[B] - cursor[F])


@jitable
def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    ring, tail, cursor = state
    start = cursor[B] - count
    folded = load(tail, 0)
    if start < cursor[M]:
        folded = combine(aggregate, load_at(ring, start), folded)
    elif start > cursor[M]:
        folded = identity(aggregate)
        for position in range(start, cursor[B]):
            folded = combine(aggregate, folded, load_at(ring, position))
    return folded


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, tail, cursor = state
    if len(cursor) != 4 or length(tail) != 1:
        return "its cursors are not f, m, b and the shortest range, or it has more than one tail"
    f, m, b, shortest = (int(each) for each in cursor)
    if not 0 <= shortest <= LAST or (shortest and b - m > shortest):
        return f"{b - m} rows are not folded, and the shortest range is {shortest} (K5)"
    return ring_fault(ring, f, m, b)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, tail, cursor = state
    _f, m, b, shortest = cursor
    two_stacks_lite.check(aggregate, (ring, tail, cursor[:SHORTEST]), partials)  # its K1 … K4 are these
    assert shortest == 0 or b - m <= shortest, "K5"
