"""AMTA: amortised O(1), and O(log n) to evict any number at once.

Idea      Count in binary, with digits 1 and 2. A digit of level k is a node of one or two entries,
          each the fold of 2^k rows; a third entry pushes the node, folded, to level k + 1. The tails,
          one node per level, thus hold every row, oldest on top. The oldest part, the front, is
          read through a stack of what stands to the right of the path to the oldest row; the rest
          is one sum. Entry j of level k folds the positions [j·2^k, (j+1)·2^k), so that entries
          need neither pointers nor time stamps and the whole tree follows from f and e.
Picture     level 2     [ p0…p3 , ─────── )                               tail of level 2: one entry
            level 1                        [ p4p5 , p6p7 )                tail of level 1: full
            level 0                                       [ p8 )          tail of level 0: one entry
            oldest f = 1        m = 4 (the front ends)       e = 9 newest
            stack   p2p3 (level 1)      front = p1 ⊕ top      back = p4 ⊕ … ⊕ p8
Keeps     K1  f ≤ m ≤ e, e - f ≤ len(ring)                 (positions grow, slots wrap)
          K2  f ≤ i < e: ring[i] = pi
          K3  level k ≥ 1: second entries whose rows are all in the window are kept in `rights`
          K4  tails[k] folds the tail of level k, if its rows are all in the window
          K5  stack: for every level, from the top, where the path to f < m goes left of an entry in
              the front, that entry ⊕ the element below; so the topmost = pf+1 ⊕ … ⊕ pm-1
          K6  front = pf ⊕ … ⊕ pm-1, back = pm ⊕ … ⊕ pe-1, identity if there are no rows
Combines  insert ≤ 2, query ≤ 1, evict amortised 1, worst 2 log n (a new front), so are many at once.
          Space 1.5 n + 2 log n + 2 partials: of the entries above level 0 only second ones are kept.
Needs     associativity.  Order  first in, first out.
From      Villalba, Berral, Carrera. Constant-Time Sliding Window Framework with Reduced Memory
          Footprint and Efficient Bulk Evictions. IEEE TPDS 30(3), 2019. doi:10.1109/TPDS.2018.2868960
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import identities, integers
from sash.swag.facts import Bound, Cost, Facts, Space, room_for
from sash.swag.queue import partials_at
from sash.swag.ring import copy_ring, fold_all, ring_fault, ring_steps, slot

__all__ = ["FACTS", "capacity", "check", "count", "evict", "evict_many", "fault", "insert", "query", "resize", "start"]

FACTS = Facts(
    title="AMTA",
    insert=Cost(Bound(2), Bound(2)),
    evict=Cost(Bound(1), Bound(log=2)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(2, log=2, linear=1.5), Bound(4)),
    paper="Villalba, Berral, Carrera. IEEE TPDS 2019",
)
F, M, E, DEPTH = range(4)  # the places of f, m, e and the height of the stack in `cursor`
count, capacity, _ = ring_steps(newest=E)
FRONT, BACK = range(2)  # the places of the two sums in `sums`


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    room = room_for(max(capacity, 2))
    levels = room.bit_length() - 1
    ring, rights, stack = (aggregate.allocate(slots) for slots in (room, room // 2, levels))
    return ring, rights, identities(aggregate, levels), stack, identities(aggregate, 2), integers(aggregate, 4)


@jitable
def _right_slot(ring: Fields, level: int, node: int) -> int:
    """Return the place of a node's second entry in `rights`; level k has room for len(ring) / 2^(k+1)."""
    room = length(ring) >> (level + 1)
    return room + (node & (room - 1))


@jitable
def _right(ring: Fields, rights: Fields, level: int, node: int) -> Partial:
    """Return the second entry of a node."""
    if level == 0:
        return load(ring, slot(ring, 2 * node + 1))
    return load(rights, _right_slot(ring, level, node))


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, rights, tails, _stack, sums, cursor = state
    store(ring, slot(ring, cursor[E]), partial)
    store(sums, BACK, combine(aggregate, load(sums, BACK), partial))
    entry = cursor[E]
    cursor[E] += 1
    carry = partial
    # Above the levels that have room, a tail can only hold the front, which is never read there.
    for level in range(length(tails)):
        tail = load(tails, level)
        if entry & 1:
            store(tails, level, combine(aggregate, tail, carry))
            if level > 0:
                store(rights, _right_slot(ring, level, entry >> 1), carry)
            return
        store(tails, level, carry)
        if entry == 0:
            return
        carry = tail
        entry = (entry >> 1) - 1


def evict(aggregate: Monoid, state: Any) -> None:
    _ring, _rights, _tails, stack, sums, cursor = state
    if cursor[F] == cursor[M]:
        _turn(aggregate, state)
    level = 0
    while cursor[F] >> level & 1:  # up from a right entry until the path went left: the stack's top is to the right
        level += 1
    cursor[F] += 1
    if cursor[F] == cursor[M]:
        store(sums, FRONT, identity(aggregate))
        return
    store(sums, FRONT, load(stack, cursor[DEPTH] - 1))
    cursor[DEPTH] -= 1
    while level > 0:
        level -= 1
        _push(aggregate, state, level)


@jitable
def _push(aggregate: Monoid, state: Any, level: int) -> None:
    """Push the second entry of the path's node at a level onto the stack."""
    ring, rights, _tails, stack, _sums, cursor = state
    folded = _right(ring, rights, level, cursor[F] >> (level + 1))
    if cursor[DEPTH] > 0:
        folded = combine(aggregate, folded, load(stack, cursor[DEPTH] - 1))
    store(stack, cursor[DEPTH], folded)
    cursor[DEPTH] += 1


@jitable
def _turn(aggregate: Monoid, state: Any) -> None:
    """Make the topmost tail that the window reaches the front, without its sum."""
    _ring, _rights, tails, _stack, sums, cursor = state
    top = 0
    entries = cursor[E]  # how many entries the level has had
    while (entries - 1) >> 1 << (top + 1) > cursor[F]:  # its tail starts later than the window
        entries = (entries - 1) >> 1
        top += 1
    cursor[M] = entries << top
    cursor[DEPTH] = 0
    for below in range(top + 1):
        level = top - below
        if not cursor[F] >> level & 1 and (level < top or entries & 1 == 0):
            _push(aggregate, state, level)
    back = identity(aggregate)
    for below in range(top):
        back = combine(aggregate, back, load(tails, top - 1 - below))
    store(sums, BACK, back)


@jitable
def evict_many(aggregate: Monoid, state: Any, count: int) -> None:
    """Evict the oldest `count` rows, or all if there are fewer, in O(log n)."""
    ring, _rights, _tails, stack, sums, cursor = state
    if count < 1:
        return
    if count >= cursor[E] - cursor[F]:
        cursor[F] = cursor[E]
        cursor[M] = cursor[E]
        cursor[DEPTH] = 0
        store(sums, FRONT, identity(aggregate))
        store(sums, BACK, identity(aggregate))
        return
    cursor[F] += count
    _turn(aggregate, state)
    front = load(ring, slot(ring, cursor[F]))
    if cursor[DEPTH] > 0:
        front = combine(aggregate, front, load(stack, cursor[DEPTH] - 1))
    store(sums, FRONT, front)


def query(aggregate: Monoid, state: Any) -> Partial:
    _ring, _rights, _tails, _stack, sums, cursor = state
    if cursor[F] == cursor[M]:
        return load(sums, BACK)
    return combine(aggregate, load(sums, FRONT), load(sums, BACK))


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    ring, rights, tails, stack, sums, cursor = state
    wider = start(aggregate, max(capacity, count(state)))
    new_ring, new_rights, new_tails, new_stack, _sums, _cursor = wider
    first, end = int(cursor[F]), int(cursor[E])
    for level in range(1, min(length(tails), length(new_tails))):
        old, new = (length(each) >> (level + 1) for each in (ring, new_ring))
        nodes = -(-first >> level) // 2, end >> (level + 1)  # whose second entry is in the window
        moved = copy_ring(aggregate, tuple(field[old : 2 * old] for field in rights), *nodes, new)
        for target, field in zip(new_rights, moved, strict=True):
            target[new : 2 * new] = field
    for level in range(min(length(tails), length(new_tails))):
        store(new_tails, level, load(tails, level))
    for place in range(cursor[DEPTH]):
        store(new_stack, place, load(stack, place))
    return copy_ring(aggregate, ring, first, end, length(new_ring)), new_rights, new_tails, new_stack, sums, cursor


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, rights, tails, stack, sums, cursor = state
    room = length(ring)
    levels = room.bit_length() - 1
    lengths = [length(each) for each in (rights, tails, stack, sums)]
    if len(cursor) != 4 or room < 2 or lengths != [room // 2, levels, levels, 2]:
        return "its levels are not those of its ring, or its cursors not f, m, e and the height of its stack"
    f, m, e, depth = (int(each) for each in cursor)
    wrong = ring_fault(ring, f, m, e)  # K1
    if wrong is not None:
        return wrong
    if f < m - (m & -m):
        return f"its front from {f} to {m} is not within one node"
    return None if depth == _height(f, m) else f"its stack holds {depth} entries (K5)"


def _height(f: int, m: int) -> int:
    """Return the number of entries to the right of the path to f (K5)."""
    above = range(m.bit_length() if f < m else 0)
    return sum(not f >> level & 1 and ((f >> level) + 2) << level <= m for level in above)


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, rights, tails, stack, sums, cursor = state
    f, m, e, depth = (int(each) for each in cursor)
    assert f <= m <= e and e - f <= length(ring), "K1"
    assert partials_at(ring, f, e) == partials, "K2"

    def fold(first: int, end: int) -> Partial:
        return fold_all(aggregate, partials[first - f : end - f])

    entries, end = e, e
    for level in range(length(tails)):
        for node in range(f >> (level + 1), entries >> 1):
            first = (2 * node + 1) << level
            if first >= f:
                assert _right(ring, rights, level, node) == fold(first, first + (1 << level)), "K3"
        if entries > 0:
            first = (entries - 1) >> 1 << (level + 1)
            assert first >= end - (2 << level), "K4"
            assert first < f or load(tails, level) == fold(first, end), "K4"
            entries, end = (entries - 1) >> 1, first
    expected: list[Partial] = []
    for level in range(m.bit_length() if f < m else -1, -1, -1):
        first = ((f >> level) + 1) << level
        if not f >> level & 1 and first + (1 << level) <= m:
            expected.append(fold(first, m))
    assert [load(stack, place) for place in range(depth)] == (expected if f < m else []), "K5"
    assert load(sums, FRONT) == fold(f, m), "K6"
    assert load(sums, BACK) == fold(m, e), "K6"
