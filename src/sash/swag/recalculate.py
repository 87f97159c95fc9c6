"""Recalculate: fold the whole window for every query; the oracle of the tests, since it is simple.

Idea      Keep the partials as inserted. The result is their fold, oldest first.
Picture     oldest f                    b newest
            ring  [ pf | pf+1 | … | pb-1 )
Keeps     K1  f ≤ b, b - f ≤ len(ring)                 (positions grow, slots wrap)
          K2  f ≤ i < b: ring[i] = pi
Combines  insert 0, evict 0, query n - 1; of every suffix n (n - 1) / 2.  Space n partials.
Needs     associativity.  Order  first in, first out.
From      Every paper's baseline: Shein, Chrysanthis, Labrinidis, EDBT 2018 ("Naive");
          Zhang, Akbarinia, Toumani, KDD 2021 ("Recal").
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Space, room_for
from sash.swag.queue import Layout, load_at, partials_at, room, store_at
from sash.swag.ring import ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "query_last", "resize", "start"]

FACTS = Facts(
    title="Recalculate",
    insert=Cost(Bound(0), Bound(0)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(linear=1), Bound(linear=1)),
    space=Space(Bound(linear=1), Bound(2)),
    all_ranges=AllRanges(Cost(Bound(square=0.5), Bound(square=0.5)), Space(Bound(linear=1), Bound(2))),
    paper="Zhang, Akbarinia, Toumani. KDD 2021",
)
F, B = range(2)  # the places of f and b in `cursor`
LAYOUT = Layout(newest=B)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return aggregate.allocate(room_for(capacity)), integers(aggregate, 2)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, cursor = state
    store_at(ring, cursor[B], partial)
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, cursor = state
    cursor[F] += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    _ring, cursor = state
    return query_last(aggregate, state, cursor[B] - cursor[F])


@jitable
def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    ring, cursor = state
    folded = identity(aggregate)
    for position in range(cursor[B] - count, cursor[B]):
        folded = combine(aggregate, folded, load_at(ring, position))
    return folded


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, cursor = state
    if len(cursor) != 2:
        return "its cursors are not f and b"
    return ring_fault(ring, *cursor)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, cursor = state
    assert cursor[F] <= cursor[B] and cursor[B] - cursor[F] <= room(ring), "K1"
    assert partials_at(ring, cursor[F], cursor[B]) == partials, "K2"
