"""DABA: worst-case O(1) from one queue of values and one of their sums.

Idea      Two-Stacks flips its back when its front runs out. DABA flips when both are equally long,
          by relabelling alone: the old front and back become l and r inside the new front. Each
          later insert or evict turns one element of l and one of r to sum up to the new end, so
          the flip is done before the front runs out and no operation is slow.
Picture     oldest f        l            r           a           b              e newest
            values [ p | p ) [ p  | p  ) [ p  | p  ) [ p  | p  ) [ p  | p  | p  )
            sums   [ →b| →b) [ →r | →r ) [ r→ | r→ ) [ →b | →b ) [ b→ | b→ | b→ )
            →x  from here to x          x→  from x to here
Keeps     K1  f ≤ l ≤ r ≤ a ≤ b ≤ e, e - f ≤ len(values)      (positions grow, slots wrap)
          K2  f ≤ i < e: values[i] = pi
          K3  i in [f, l) or [a, b): sums[i] = pi ⊕ … ⊕ pb-1
          K4  l ≤ i < r: sums[i] = pi ⊕ … ⊕ pr-1
          K5  r ≤ i < a: sums[i] = pr ⊕ … ⊕ pi;  b ≤ i < e: sums[i] = pb ⊕ … ⊕ pi
          K6  r - l = a - r;  if the window is not empty, (b - l) + 1 = (b - f) - (e - b)
Combines  insert ≤ 4, evict ≤ 3, query ≤ 1; on average 2.5, 1.5 and 1.  Space 2n partials.
Needs     associativity.  Order  first in, first out.
From      Tangwongsan, Hirzel, Schneider. Low-Latency Sliding-Window Aggregation in Worst-Case
          Constant Time. DEBS, 2017. doi:10.1145/3093742.3093925
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, length
from sash.algebra.monoid import Monoid, combine
from sash.swag.contract import integers
from sash.swag.facts import Bound, Cost, Facts, Space, room_for
from sash.swag.queue import Layout, load_at, partials_at, room, store_at, sum_of
from sash.swag.ring import fold_all, ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "resize", "start"]

FACTS = Facts(
    title="DABA",
    insert=Cost(Bound(2.5), Bound(4)),
    evict=Cost(Bound(1.5), Bound(3)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(linear=2), Bound(6)),
    paper="Tangwongsan, Hirzel, Schneider. DEBS 2017",
)
F, L, R, A, B, E = range(6)  # the places of the six positions in `cursor`
LAYOUT = Layout(newest=E, rings=2)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    slots = room_for(capacity)
    return aggregate.allocate(slots), aggregate.allocate(slots), integers(aggregate, 6)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    values, sums, cursor = state
    back = sum_of(aggregate, sums, cursor[B], cursor[E], cursor[E] - 1)
    store_at(sums, cursor[E], combine(aggregate, back, partial))
    store_at(values, cursor[E], partial)
    cursor[E] += 1
    _step(aggregate, state)


def evict(aggregate: Monoid, state: Any) -> None:
    _values, _sums, cursor = state
    cursor[F] += 1
    _step(aggregate, state)


@jitable
def _step(aggregate: Monoid, state: Any) -> None:
    values, sums, cursor = state
    if cursor[F] == cursor[B]:  # at most one row is left (K6): it sums up the same either way
        cursor[L] = cursor[E]
        cursor[R] = cursor[E]
        cursor[A] = cursor[E]
        cursor[B] = cursor[E]
        return
    if cursor[L] == cursor[B]:  # front and back are equally long: flip; r is already at the old b
        cursor[L] = cursor[F]
        cursor[A] = cursor[E]
        cursor[B] = cursor[E]
    if cursor[L] == cursor[R]:  # shift: K3 holds on both sides of l = r, so only the labels move
        cursor[L] += 1
        cursor[R] += 1
        cursor[A] += 1
    else:  # shrink: one element of l and one of r now sum up to b
        left = load_at(sums, cursor[L])
        right = load_at(sums, cursor[A] - 1)
        after = sum_of(aggregate, sums, cursor[A], cursor[B], cursor[A])
        store_at(sums, cursor[L], combine(aggregate, combine(aggregate, left, right), after))
        cursor[L] += 1
        cursor[A] -= 1
        store_at(sums, cursor[A], combine(aggregate, load_at(values, cursor[A]), after))


def query(aggregate: Monoid, state: Any) -> Partial:
    _values, sums, cursor = state
    front = sum_of(aggregate, sums, cursor[F], cursor[B], cursor[F])
    return combine(aggregate, front, sum_of(aggregate, sums, cursor[B], cursor[E], cursor[E] - 1))


def fault(aggregate: Monoid, state: Any) -> str | None:
    values, sums, cursor = state
    if len(cursor) != 6 or length(values) != length(sums):
        return "its cursors are not f, l, r, a, b and e, or it has more sums than values"
    f, l, r, a, b, e = (int(each) for each in cursor)  # noqa: E741  # the picture's letters
    if r - l != a - r or (f < e and (b - l) + 1 != (b - f) - (e - b)):
        return "its parts are of other lengths than its steps make them (K6)"
    return ring_fault(values, f, l, r, a, b, e)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    values, sums, cursor = state
    f, l, r, a, b, e = cursor  # noqa: E741  # the picture's letters
    assert f <= l <= r <= a <= b <= e and e - f <= room(values) == room(sums), "K1"
    assert partials_at(values, f, e) == partials, "K2"

    def fold(start: int, end: int) -> Partial:
        return fold_all(aggregate, partials[start - f : end - f])

    for i in range(f, e):
        kept = load_at(sums, i)
        if i < l or a <= i < b:
            assert kept == fold(i, b), "K3"
        elif i < r:
            assert kept == fold(i, r), "K4"
        else:
            assert kept == fold(r if i < a else b, i + 1), "K5"
    assert r - l == a - r, "K6"
    assert f == e or (b - l) + 1 == (b - f) - (e - b), "K6"
