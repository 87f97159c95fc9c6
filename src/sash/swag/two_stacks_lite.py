"""Two-Stacks Lite: amortised O(1) from one ring and one spare partial.

Idea      Two stacks make a queue. Here one ring holds both: the older part is already folded,
          the newer part only summed. When the older part runs out, fold the rest.
Picture     oldest f                       m                    b newest
            ring  [ pf⊕…⊕pm-1 | … | pm-1 ) [ pm | pm+1 | … | pb-1 )     tail = pm⊕…⊕pb-1
                    front: suffix folds      back: as inserted
Keeps     K1  f ≤ m ≤ b, b - f ≤ len(ring)           (positions grow, slots wrap)
          K2  f ≤ i < m: ring[i] = pi ⊕ … ⊕ pm-1
          K3  m ≤ i < b: ring[i] = pi
          K4  tail = pm ⊕ … ⊕ pb-1, identity if m = b
Combines  insert 1, query ≤ 1, evict amortised 1, worst n (the fold).  Space n + 1 partials.
Needs     associativity.  Order  first in, first out.
From      Tangwongsan, Hirzel, Schneider. In-Order Sliding-Window Aggregation in Worst-Case
          Constant Time. VLDB Journal, 2021. doi:10.1007/s00778-021-00668-3
"""

from typing import Any

from sash.algebra.fields import Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import identities, integers
from sash.swag.facts import Bound, Cost, Facts, Space, room_for
from sash.swag.queue import Layout, load_at, partials_at, room, store_at
from sash.swag.ring import fold_all, ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "resize", "start"]

FACTS = Facts(
    title="Two-Stacks Lite",
    insert=Cost(Bound(1), Bound(1)),
    evict=Cost(Bound(1), Bound(linear=1)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(1, linear=1), Bound(3)),
    paper="Tangwongsan, Hirzel, Schneider. VLDB Journal 2021",
)
F, M, B = range(3)  # the places of f, m, b in `cursor`
LAYOUT = Layout(newest=B)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return aggregate.allocate(room_for(capacity)), identities(aggregate, 1), integers(aggregate, 3)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, tail, cursor = state
    store_at(ring, cursor[B], partial)
    store(tail, 0, combine(aggregate, load(tail, 0), partial))
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    ring, tail, cursor = state
    if cursor[F] == cursor[M]:
        folded = identity(aggregate)
        for position in range(cursor[B] - 1, cursor[F] - 1, -1):  # newest first: K3 becomes K2
            folded = combine(aggregate, load_at(ring, position), folded)
            store_at(ring, position, folded)
        store(tail, 0, identity(aggregate))
        cursor[M] = cursor[B]
    cursor[F] += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    ring, tail, cursor = state
    back = load(tail, 0)
    if cursor[F] == cursor[M]:
        return back
    return combine(aggregate, load_at(ring, cursor[F]), back)


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, tail, cursor = state
    if len(cursor) != 3 or length(tail) != 1:
        return "its cursors are not f, m and b, or it has more than one tail"
    return ring_fault(ring, *cursor)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, tail, cursor = state
    f, m, b = cursor
    assert f <= m <= b and b - f <= room(ring), "K1"
    assert partials_at(ring, f, m) == [fold_all(aggregate, partials[k : m - f]) for k in range(m - f)], "K2"
    assert partials_at(ring, m, b) == partials[m - f :], "K3"
    assert load(tail, 0) == fold_all(aggregate, partials[m - f :]), "K4"
