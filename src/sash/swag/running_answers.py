"""Running answers: SlickDeque for aggregates with an inverse, over slices that many queries share.

Idea      Slices differ in length, so a range of 10 rows is now 3 slices, now 4. Each answer therefore
          keeps the position of its oldest slice. A new slice joins every answer. When a range is
          queried, the slices before its start leave its answer, on the left.
Picture     oldest f      first[0]        first[1]     b newest
            ring  [ pf | … | p | … | … | … | p | … | pb-1 )
                             └────────── answer 0 ────────┘
                                             └─ answer 1 ─┘
Keeps     K1  f ≤ b, b - f ≤ len(ring)                 (positions grow, slots wrap)
          K2  f ≤ i < b: ring[i] = pi
          K3  f ≤ first[k] ≤ b
          K4  answer[k] = p first[k] ⊕ … ⊕ pb-1, identity if first[k] = b
Combines  of each range: insert 1; evict and query together 1 per slice (an inversion).
          Space n partials, one per range, and as many positions.
Needs     invert(a ⊕ b, a) = b.  Order  first in, first out; the start of a range never goes back.
From      Shein, Chrysanthis, Labrinidis. SlickDeque: High Throughput and Low Latency Incremental
          Sliding-Window Aggregation. EDBT, 2018. Algorithm 1, whose answers have a fixed number of slices.

`slick_deque_inv` is the same for ranges with a fixed number of rows.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, load, store
from sash.algebra.monoid import Monoid, combine, identity, invert
from sash.swag.contract import identities, integers
from sash.swag.facts import room_for
from sash.swag.queue import load_at, partials_at, room, store_at
from sash.swag.ring import fold_all
from sash.swag.slick_deque_inv import FACTS

__all__ = ["FACTS", "check", "evict", "insert", "query_ranges", "start"]

F, B = range(2)  # the places of f and b in `cursor`


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    ranges = len(sizes)
    ring, answer = aggregate.allocate(room_for(capacity)), identities(aggregate, ranges)
    return ring, answer, integers(aggregate, ranges), integers(aggregate, 2)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, answer, first, cursor = state
    store_at(ring, cursor[B], partial)
    for k in range(len(first)):
        store(answer, k, combine(aggregate, load(answer, k), partial))
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, _answer, first, cursor = state
    cursor[F] += 1
    for k in range(len(first)):
        _leave(aggregate, state, k, cursor[F])


def query_ranges(aggregate: Monoid, state: Any, ranges: Any, counts: Any, answers: Fields) -> None:
    _ring, answer, _first, cursor = state
    for place in range(len(counts)):
        _leave(aggregate, state, ranges[place], cursor[B] - counts[place])
        store(answers, place, load(answer, ranges[place]))


@jitable
def _leave(aggregate: Monoid, state: Any, k: int, start: int) -> None:
    """Remove the slices before a position from an answer."""
    ring, answer, first, cursor = state
    if start == cursor[B]:  # whatever rounding had left behind goes with the last slice
        store(answer, k, identity(aggregate))
        first[k] = start
    while first[k] < start:
        store(answer, k, invert(aggregate, load(answer, k), load_at(ring, first[k])))
        first[k] += 1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, answer, first, cursor = state
    f, b = cursor
    assert f <= b and b - f <= room(ring), "K1"
    assert partials_at(ring, f, b) == partials, "K2"
    assert all(f <= each <= b for each in first), "K3"
    for k, oldest in enumerate(first):
        assert load(answer, k) == fold_all(aggregate, partials[oldest - f :]), "K4"
