"""SlideSide for aggregates with an inverse: any range from two prefix folds.

A reconstruction from the abstract's cost table, not a copy of the paper's code.

Idea      Keep the prefix folds of the stream. What lies between two of them is the newer without
          the older: invert(a ⊕ b, a) = b. Prefixes of an endless stream would grow without bound
          and overflow, and floats would drift. So they are re-anchored: once the window has moved by
          its own size since the anchor, the next prefix starts at a new anchor a. No old prefix is
          rewritten: a range across the anchor combines the part before it and the part after it.
Picture     oldest f              a                    b newest
            ring  [ … | qf…qa-1 ) [ pa | pa⊕pa+1 | … | pa⊕…⊕pb-1 )     q: prefixes from the anchor before
            base = the prefix just before f, identity if an anchor is at f
            last r, from j = b - r:
                j > a   invert(ring[b-1], ring[j-1])
                j = a   ring[b-1]
                j < a   invert(ring[a-1], ring[j-1]) ⊕ ring[b-1]          base for ring[f-1]
Keeps     K1  f ≤ b, a ≤ b, b - f ≤ len(ring)        (positions grow, slots wrap)
          K2  f ≤ i < b, i ≥ a: ring[i] = pa ⊕ … ⊕ pi
          K3  f ≤ i < a: ring[i] = base ⊕ pf ⊕ … ⊕ pi
          K4  f = a: base is the identity;  f > a: base = pa ⊕ … ⊕ pf-1
Combines  insert ≤ 1, evict 0; query 1.5, ≤ 2, inverts included, for each range.  Nothing is ever
          slow.  Space n + 1 partials.  No prefix that an insert writes spans more than 2 n rows.
Needs     invert.  Order  first in, first out.
From      Theodorakis, Pietzuch, Pirk. SlideSide: A Fast Incremental Stream Processing Algorithm for
          Multiple Queries. EDBT 2020.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity, invert
from sash.swag.contract import identities, integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Needs, Space, room_for
from sash.swag.queue import Layout, load_at, room, store_at
from sash.swag.ring import ring_fault

__all__ = ["FACTS", "capacity", "check", "count", "evict", "fault", "insert", "query", "query_last", "resize", "start"]

FACTS = Facts(
    title="SlideSide (Inv)",
    insert=Cost(Bound(1), Bound(1)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(1.5), Bound(2)),
    space=Space(Bound(1, linear=1), Bound(3)),
    needs=Needs.INVERT,
    all_ranges=AllRanges(Cost(Bound(1, linear=1.25), Bound(linear=2)), Space(Bound(1, linear=1), Bound(3))),
    paper="Theodorakis, Pietzuch, Pirk. EDBT 2020",
)
F, A, B = range(3)  # the places of f, a, b in `cursor`
LAYOUT = Layout(newest=B)
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return aggregate.allocate(room_for(capacity)), identities(aggregate, 1), integers(aggregate, 3)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, base, cursor = state
    # The window starts at least its own length after the anchor, or is empty: set a new anchor.
    if cursor[F] - cursor[A] >= cursor[B] - cursor[F]:
        cursor[A] = cursor[B]
        if cursor[F] == cursor[A]:
            store(base, 0, identity(aggregate))
    prefix = partial
    if cursor[A] < cursor[B]:
        prefix = combine(aggregate, load_at(ring, cursor[B] - 1), partial)
    store_at(ring, cursor[B], prefix)
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    ring, base, cursor = state
    store(base, 0, load_at(ring, cursor[F]))
    cursor[F] += 1
    if cursor[F] == cursor[A]:  # what came before the anchor is no part of what comes after
        store(base, 0, identity(aggregate))


def query(aggregate: Monoid, state: Any) -> Partial:
    _ring, _base, cursor = state
    return query_last(aggregate, state, cursor[B] - cursor[F])


@jitable
def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    ring, base, cursor = state
    if count == 0:
        return identity(aggregate)
    start = cursor[B] - count
    whole: Partial = load_at(ring, cursor[B] - 1)
    if start == cursor[A]:
        return whole
    older = load(base, 0)
    if start > cursor[F]:
        older = load_at(ring, start - 1)
    if start > cursor[A]:
        return invert(aggregate, whole, older)
    before_anchor = invert(aggregate, load_at(ring, cursor[A] - 1), older)
    return combine(aggregate, before_anchor, whole)


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, base, cursor = state
    if len(cursor) != 3 or length(base) != 1:
        return "its cursors are not f, a and b, or it has more than one base"
    f, a, b = (int(each) for each in cursor)
    if not 0 <= a <= b:
        return f"its anchor is at {a}, and its newest row before {b}"
    return ring_fault(ring, f, b)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, base, cursor = state
    f, a, b = cursor
    assert f <= b and a <= b and b - f <= room(ring), "K1"
    folded = load(base, 0)
    assert f != a or folded == identity(aggregate), "K4"
    for i in range(f, b):
        folded = partials[i - f] if i == a else combine(aggregate, folded, partials[i - f])
        assert load_at(ring, i) == folded, "K2, K3, K4"
