"""FlatFIT: folds with skips, which every query lengthens.

Idea      Each position keeps a fold of some positions from itself on, and where that fold ends. A
          query follows these skips from its start to the newest end. Then it goes back over its
          steps and extends each of them to the end, so the next query is short. This is the
          inclusive form, in which the newest position is treated like all others.
Picture     oldest f                                   b newest
            ring  [ pf…pf+2 | pf+1 | pf+2 | pf+3…pb-2 | … | pb-1 )
            next      f+3     f+2    f+3      b-1             b
            walk      f ──────────────────────► f+3 ───────────► b-1 ──► b
            after     ring[f] = pf…pb-1, ring[f+3] = pf+3…pb-1, all three with next = b
Keeps     K1  f ≤ b, b - f ≤ len(ring)                 (positions grow, slots wrap)
          K2  f ≤ i < b: i < next[i] ≤ b               (skips only point forward, so evicting
                                                        cannot break one)
          K3  f ≤ i < b: ring[i] = pi ⊕ … ⊕ p(next[i]-1)
Combines  insert 0, evict 0, query amortised 3, worst n - 1.  All n suffixes of each slide together:
          n - 1.  Space n partials and n skips: the paper's 2 n.
Needs     associativity.  Order  first in, first out.  A query changes the state, not the window.
From      Shein, Chrysanthis, Labrinidis. FlatFIT: Accelerated Incremental Sliding-Window
          Aggregation for Real-Time Analytics. SSDBM 2017. doi:10.1145/3085504.3085509
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, length
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Space, room_for
from sash.swag.queue import Layout, load_at, room, store_at
from sash.swag.ring import fold_all, ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "query_last", "resize", "start"]

FACTS = Facts(
    title="FlatFIT",
    insert=Cost(Bound(0), Bound(0)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(3), Bound(linear=1)),
    space=Space(Bound(linear=1), Bound(2, linear=1)),
    all_ranges=AllRanges(Cost(Bound(linear=1), Bound(linear=1)), Space(Bound(linear=1), Bound(2, linear=1))),
    paper="Shein, Chrysanthis, Labrinidis. SSDBM 2017",
)
F, B = range(2)  # the places of f and b in `cursor`
LAYOUT = Layout(newest=B, rings=2)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    slots = room_for(capacity)
    return aggregate.allocate(slots), integers(aggregate, slots), integers(aggregate, 2)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, ends, cursor = state
    store_at(ring, cursor[B], partial)
    store_at(ends, cursor[B], cursor[B] + 1)
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, _ends, cursor = state
    cursor[F] += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    _ring, _ends, cursor = state
    return query_last(aggregate, state, cursor[B] - cursor[F])


@jitable
def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    ring, ends, cursor = state
    if count == 0:
        return identity(aggregate)
    end = cursor[B]
    first = end - count
    here, before = first, first - 1
    while load_at(ends, here) != end:  # each skip is turned round, so that the way back needs no room
        after = load_at(ends, here)
        store_at(ends, here, before)
        before = here
        here = after
    folded: Partial = load_at(ring, here)  # reaches the end already
    while before >= first:
        here = before
        before = load_at(ends, here)
        folded = combine(aggregate, load_at(ring, here), folded)
        store_at(ring, here, folded)
        store_at(ends, here, end)
    return folded


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, ends, cursor = state
    if len(cursor) != 2 or length(ring) != len(ends):
        return "its cursors are not f and b, or not every slot has a skip"
    wrong = ring_fault(ring, *cursor)  # K1
    if wrong is not None:
        return wrong
    positions = np.arange(cursor[F], cursor[B])
    skips = np.asarray(ends)[positions & (length(ring) - 1)]
    return None if ((positions < skips) & (skips <= cursor[B])).all() else "a skip leads back or out of it (K2)"


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, ends, cursor = state
    f, b = cursor
    assert f <= b and b - f <= room(ring) == room(ends), "K1"
    for i in range(f, b):
        end = load_at(ends, i)
        assert i < end <= b, "K2"
        assert load_at(ring, i) == fold_all(aggregate, partials[i - f : end - f]), "K3"
