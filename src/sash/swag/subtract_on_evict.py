"""Subtract-on-Evict: a running total that new rows join and old rows leave.

Idea      Keep the fold of the window. A new partial is combined onto its right; the oldest is
          taken out on its left again, which the aggregate must be able to do.
Picture     oldest f                    b newest
            ring  [ pf | pf+1 | … | pb-1 )        total = pf⊕…⊕pb-1
Keeps     K1  f ≤ b, b - f ≤ len(ring)                 (positions grow, slots wrap)
          K2  f ≤ i < b: ring[i] = pi
          K3  total = pf ⊕ … ⊕ pb-1, identity if f = b
Combines  insert 1, evict 1 (an inversion), query 0.  Space n + 1 partials.
Needs     invert(a ⊕ b, a) = b.  Order  first in, first out.
From      Tangwongsan, Hirzel, Schneider. Low-Latency Sliding-Window Aggregation in Worst-Case
          Constant Time. DEBS, 2017. doi:10.1145/3093742.3093925
"""

from typing import Any

from sash.algebra.fields import Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity, invert
from sash.swag.contract import identities, integers
from sash.swag.facts import Bound, Cost, Facts, Needs, Space, room_for
from sash.swag.queue import Layout, load_at, partials_at, room, store_at
from sash.swag.ring import fold_all, ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "resize", "start"]

FACTS = Facts(
    title="Subtract-on-Evict",
    insert=Cost(Bound(1), Bound(1)),
    evict=Cost(Bound(1), Bound(1)),
    query=Cost(Bound(0), Bound(0)),
    space=Space(Bound(1, linear=1), Bound(2)),
    needs=Needs.INVERT,
    paper="Tangwongsan, Hirzel, Schneider. DEBS 2017",
)
F, B = range(2)  # the places of f and b in `cursor`
LAYOUT = Layout(newest=B)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return aggregate.allocate(room_for(capacity)), identities(aggregate, 1), integers(aggregate, 2)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, total, cursor = state
    store_at(ring, cursor[B], partial)
    store(total, 0, combine(aggregate, load(total, 0), partial))
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    ring, total, cursor = state
    oldest = load_at(ring, cursor[F])
    cursor[F] += 1
    if cursor[F] == cursor[B]:  # whatever rounding had left behind goes with the last row
        store(total, 0, identity(aggregate))
    else:
        store(total, 0, invert(aggregate, load(total, 0), oldest))


def query(aggregate: Monoid, state: Any) -> Partial:
    _ring, total, _cursor = state
    return load(total, 0)


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, total, cursor = state
    if len(cursor) != 2 or length(total) != 1:
        return "its cursors are not f and b, or it has more than one total"
    return ring_fault(ring, *cursor)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, total, cursor = state
    f, b = cursor
    assert f <= b and b - f <= room(ring), "K1"
    assert partials_at(ring, f, b) == partials, "K2"
    assert load(total, 0) == fold_all(aggregate, partials), "K3"
