"""DABA Lite: worst-case O(1) from one queue and two spare partials.

Idea      Two-Stacks Lite folds its back when its front runs out. DABA Lite starts that fold when
          front and back are equally long, and does a constant piece of it with every insert and
          evict, so that it is done in time and no operation is slow.
Picture     oldest f        l            r           a           b              e newest
            ring  [ →b | →b ) [ →r | →r ) [ p | p ) [ →b | →b ) [ p | p | p )
                    sums to b   sums to r   as is     sums to b   as is
            mid = pr⊕…⊕pb-1                                     back = pb⊕…⊕pe-1
Keeps     K1  f ≤ l ≤ r ≤ a ≤ b ≤ e, e - f ≤ len(ring)      (positions grow, slots wrap)
          K2  i in [f, l) or [a, b): ring[i] = pi ⊕ … ⊕ pb-1
          K3  l ≤ i < r: ring[i] = pi ⊕ … ⊕ pr-1
          K4  i in [r, a) or [b, e): ring[i] = pi
          K5  back = pb ⊕ … ⊕ pe-1;  mid = pr ⊕ … ⊕ pb-1 while l < r, else pa ⊕ … ⊕ pb-1
          K6  if the window is not empty, l = f + (e - b) + 1 and a = 2r - l:
              so f, r, b, e are all that is kept; each step moves l by one, towards r
Combines  insert ≤ 3, evict ≤ 2, query ≤ 1; steady state 4 per slide.  Space n + 2 partials.
Needs     associativity.  Order  first in, first out.
From      Tangwongsan, Hirzel, Schneider. In-Order Sliding-Window Aggregation in Worst-Case
          Constant Time. VLDB Journal, 2021. doi:10.1007/s00778-021-00668-3
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import identities, integers
from sash.swag.facts import Bound, Cost, Facts, Space, room_for
from sash.swag.queue import Layout, load_at, room, store_at
from sash.swag.ring import fold_all, ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "resize", "start"]

FACTS = Facts(
    title="DABA Lite",
    insert=Cost(Bound(2), Bound(3)),
    evict=Cost(Bound(1), Bound(2)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(2, linear=1), Bound(4)),
    paper="Tangwongsan, Hirzel, Schneider. VLDB Journal 2021",
)
F, R, B, E = range(4)  # the places of f, r, b, e in `cursor`
LAYOUT = Layout(newest=E)
count, capacity, resize, settle = LAYOUT.steps()
MID, BACK = range(2)  # the places of the two sums in `sums`


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return aggregate.allocate(room_for(capacity)), identities(aggregate, 2), integers(aggregate, 4)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, sums, cursor = state
    store_at(ring, cursor[E], partial)
    store(sums, BACK, combine(aggregate, load(sums, BACK), partial))
    cursor[E] += 1
    _step(aggregate, state)


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, _sums, cursor = state
    cursor[F] += 1
    _step(aggregate, state)


@jitable
def _step(aggregate: Monoid, state: Any) -> None:
    ring, sums, cursor = state
    f, r, b, e = cursor[F], cursor[R], cursor[B], cursor[E]
    l = f + e - b  # noqa: E741  # the picture's letter; where it was before this step
    if l == b or f == b:  # front and back are equally long: the whole window becomes the front
        l, r, b = f, b, e  # noqa: E741
        cursor[R], cursor[B] = r, b
        store(sums, MID, load(sums, BACK))
        store(sums, BACK, identity(aggregate))
        if f == b:  # empty: without this a drained window would leak old sums
            store(sums, MID, identity(aggregate))
            return
    a = 2 * r - l
    if l != r:
        a -= 1
        if a + 1 != b:
            store_at(ring, a, combine(aggregate, load_at(ring, a), load_at(ring, a + 1)))
        store_at(ring, l, combine(aggregate, load_at(ring, l), load(sums, MID)))
    else:
        cursor[R] = r + 1
        if a + 1 < b:
            store(sums, MID, load_at(ring, a + 1))
        else:
            store(sums, MID, identity(aggregate))


def query(aggregate: Monoid, state: Any) -> Partial:
    ring, sums, cursor = state
    back = load(sums, BACK)
    if cursor[F] == cursor[B]:
        return back
    return combine(aggregate, load_at(ring, cursor[F]), back)


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, sums, cursor = state
    if len(cursor) != 4 or length(sums) != 2:
        return "its cursors are not f, r, b and e, or its sums not two"
    f, r, b, e = (int(each) for each in cursor)
    if f == e:  # the next insert sets r
        return ring_fault(ring, f, b, e) or ring_fault(ring, r, r)
    l = f + e - b + 1  # noqa: E741  # K6
    return ring_fault(ring, f, l, r, 2 * r - l, b, e)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, sums, cursor = state
    f, r, b, e = cursor
    l, a = (f + e - b + 1, 2 * r - (f + e - b + 1)) if f < e else (b, b)  # noqa: E741  # K6
    assert f <= l <= b <= e and e - f <= room(ring) and (f == e or l <= r <= a <= b), "K1"
    r = r if f < e else b

    def fold(start: int, end: int) -> Partial:
        return fold_all(aggregate, partials[start - f : end - f])

    for i in range(f, e):
        end = b if f <= i < l or a <= i < b else r if l <= i < r else i + 1
        assert load_at(ring, i) == fold(i, end), "K2, K3, K4"
    assert load(sums, BACK) == fold(b, e), "K5"
    assert load(sums, MID) == fold(r if l < r else a, b), "K5"
