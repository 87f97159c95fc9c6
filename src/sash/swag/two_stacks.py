"""Two-Stacks: amortised O(1) from a front stack and a back stack of values with their sums.

Idea      Two stacks make a queue: rows are pushed onto the back and popped from the front, and
          each entry also holds the sum of its stack from there down. When the front runs out, the
          back is flipped onto it. Both tops are ends of one ring, so no value has to move.
Picture     oldest f                       m                       b newest
            values [ pf | pf+1 | … | pm-1 ) [ pm | pm+1   | … | pb-1 )
            sums   [ pf⊕…⊕pm-1 | … | pm-1 ) [ pm | pm⊕pm+1 | … | pm⊕…⊕pb-1 )
                     front: top at f          back: top at b - 1
Keeps     K1  f ≤ m ≤ b, b - f ≤ len(values)         (positions grow, slots wrap)
          K2  f ≤ i < b: values[i] = pi
          K3  f ≤ i < m: sums[i] = pi ⊕ … ⊕ pm-1
          K4  m ≤ i < b: sums[i] = pm ⊕ … ⊕ pi
Combines  insert ≤ 1, query ≤ 1, evict amortised 1, worst n (the flip).  Space 2n partials.
Needs     associativity.  Order  first in, first out.
From      Tangwongsan, Hirzel, Schneider. Low-Latency Sliding-Window Aggregation in Worst-Case
          Constant Time. DEBS, 2017. doi:10.1145/3093742.3093925
"""

from typing import Any

from sash.algebra.fields import Partial, length
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers
from sash.swag.facts import Bound, Cost, Facts, Space, room_for
from sash.swag.queue import Layout, load_at, partials_at, room, store_at, sum_of
from sash.swag.ring import fold_all, ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "resize", "start"]

FACTS = Facts(
    title="Two-Stacks",
    insert=Cost(Bound(1), Bound(1)),
    evict=Cost(Bound(1), Bound(linear=1)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(linear=2), Bound(3)),
    paper="Tangwongsan, Hirzel, Schneider. DEBS 2017",
)
F, M, B = range(3)  # the places of f, m, b in `cursor`
LAYOUT = Layout(newest=B, rings=2)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    slots = room_for(capacity)
    return aggregate.allocate(slots), aggregate.allocate(slots), integers(aggregate, 3)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    values, sums, cursor = state
    back = sum_of(aggregate, sums, cursor[M], cursor[B], cursor[B] - 1)
    store_at(sums, cursor[B], combine(aggregate, back, partial))
    store_at(values, cursor[B], partial)
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    values, sums, cursor = state
    if cursor[F] == cursor[M]:
        folded = identity(aggregate)
        for position in range(cursor[B] - 1, cursor[F] - 1, -1):  # newest first: K4 becomes K3
            folded = combine(aggregate, load_at(values, position), folded)
            store_at(sums, position, folded)
        cursor[M] = cursor[B]
    cursor[F] += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    _values, sums, cursor = state
    front = sum_of(aggregate, sums, cursor[F], cursor[M], cursor[F])
    return combine(aggregate, front, sum_of(aggregate, sums, cursor[M], cursor[B], cursor[B] - 1))


def fault(aggregate: Monoid, state: Any) -> str | None:
    values, sums, cursor = state
    if len(cursor) != 3 or length(values) != length(sums):
        return "its cursors are not f, m and b, or it has more sums than values"
    return ring_fault(values, *cursor)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    values, sums, cursor = state
    f, m, b = cursor
    assert f <= m <= b and b - f <= room(values) == room(sums), "K1"
    assert partials_at(values, f, b) == partials, "K2"
    front, back = partials[: m - f], partials[m - f :]
    assert partials_at(sums, f, m) == [fold_all(aggregate, front[k:]) for k in range(m - f)], "K3"
    assert partials_at(sums, m, b) == [fold_all(aggregate, back[: k + 1]) for k in range(b - m)], "K4"
