"""FlatFAT: a binary tree of folds kept flat in one array, with the window as a ring of its leaves.

Idea      Every inner node holds the fold of the leaves below it. A changed leaf changes only the
          path above it, and many changed leaves share the upper parts of their paths. The window
          is a ring over the first r leaves, so the root is the answer unless the ring is wrapped:
          then the newest rows stand before the oldest, and the answer is suffix(f) ⊕ prefix. Of a
          commutative aggregate the root is always the answer. A row removed from the middle leaves
          a hole, for its slot cannot be reused without breaking the order.
Slide     An evict that finds the oldest row in slot 0 sets r to the number of rows in use: the ring
          is full, and the next row overwrites the evicted leaf. So an evict from a full ring leaves
          the path above its leaf as it is (stale), and the insert repairs it: one path per slide.
          Only the root is read with stale parts in it; until then a query folds whole blocks, and
          none of them has a stale leaf. If more rows come, the rows that have wrapped move behind
          the others (r = N): one move for each row that slid.
Picture                           1 = 2⊕3                    tree[1], the root
                     2 = 4⊕5                 3 = 6⊕7         tree[k] = tree[2k] ⊕ tree[2k+1]
                 4 = 8⊕9    5 = …        6 = …      7 = …
            tree  8    9    10    11     12    13    14   15     leaf of slot s = N + s, N = 8
                [ p8 | p9 |  ⊥  |  ⊥  |  p4  |  ⊥  | p6 |  ⊥ ]   ⊥ is the identity
                            next          f    hole        r     here wrapped: f = 4, r = 7, span 5
Keeps     K1  0 ≤ f < r ≤ N, span ≤ r: the window is slots f, f + 1, …, span of them, modulo r
          K2  a slot of the window that is no hole: its leaf = its row;  every other leaf is ⊥
          K3  1 ≤ k < N: tree[k] = tree[2k] ⊕ tree[2k+1], but not on a stale path
          K4  the oldest is never a hole;  `holes[k]` counts the holes below node k
          K5  at most one path is stale, the one above the next slot, (f + span) mod r
Combines  A slide: evict 0, insert log n; query 0, of an ordered aggregate ≤ log n + 1.  An evict not
          followed by an insert log n, at worst 2 log n; then a query ≤ 2 log n.  insert at worst
          2 n + 2 log n, if n rows have wrapped and one more comes.  m changes at once (insert_many,
          evict_many, update_many): each node above them once, ≤ m + m log N/m; neighbours
          ≤ m + 2 log N.  Space 2 N partials.
Needs     associativity.  Order  any row of the window can be changed or removed; rows enter at
          the newest end.
Resizing  When count = capacity, the window is copied into a larger tree, without its holes
          (`resize`). Holes take room: with fewer than N/4 of them, capacity is N less the holes.
          With N/4 or more, capacity is N, and the insert that finds no free slot compacts: N/4
          removals have paid for it.
From      Tangwongsan, Hirzel, Schneider, Wu. General Incremental Sliding-Window Aggregation.
          PVLDB 8(7), 2015. doi:10.14778/2752939.2752940
"""

from typing import Any

from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, Partial, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import identities, integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Space, room_for
from sash.swag.flat_slots import (
    COMMUTES,
    HOLES,
    SPAN,
    STALE,
    F,
    R,
    check,
    fault,
    mark_hole,
    offset_of,
    repair_stale_path,
    skip_holes,
    slot_at,
)
from sash.swag.flat_tree import clear, fold, leaves, refresh, repair, repair_listed, repair_ring

__all__ = [
    "FACTS",
    "capacity",
    "check",
    "count",
    "evict",
    "evict_many",
    "fault",
    "insert",
    "insert_many",
    "query",
    "query_between",
    "query_each",
    "query_last",
    "remove_at",
    "resize",
    "start",
    "update_at",
    "update_many",
]

FACTS = Facts(
    title="FlatFAT",
    insert=Cost(Bound(log=1), Bound(log=2, linear=2)),
    evict=Cost(Bound(0), Bound(log=2)),
    query=Cost(Bound(log=1), Bound(log=2)),
    space=Space(Bound(linear=2), Bound(6, linear=2)),
    all_ranges=AllRanges(
        Cost(Bound(log=2, linear=1), Bound(log=2, linear=1)), Space(Bound(linear=2), Bound(6, linear=2))
    ),
    paper="Tangwongsan, Hirzel, Schneider, Wu. PVLDB 2015",
)


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    room = room_for(capacity)
    cursor = integers(aggregate, 6)
    cursor[R] = room
    cursor[COMMUTES] = int(aggregate.commutative)
    return identities(aggregate, 2 * room), integers(aggregate, 2 * room), cursor


@jitable
def _compact(aggregate: Monoid, state: Any) -> None:
    """Close the holes: newer rows move up to the older ones. Then the ring has all leaves."""
    tree, holes, cursor = state
    kept = 0
    for offset in range(cursor[SPAN]):
        slot = slot_at(cursor, offset)
        if holes[leaves(tree) + slot] == 0:
            if kept < offset:
                store(tree, leaves(tree) + slot_at(cursor, kept), load(tree, leaves(tree) + slot))
                store(tree, leaves(tree) + slot, identity(aggregate))
            kept += 1
    for node in range(len(holes)):
        holes[node] = 0
    cursor[SPAN] = kept
    cursor[HOLES] = 0
    cursor[STALE] = 0
    for node in range(leaves(tree) - 1, 0, -1):
        refresh(aggregate, tree, node)
    if cursor[R] < leaves(tree):
        _unwrap(aggregate, state)


@jitable
def _unwrap(aggregate: Monoid, state: Any) -> None:
    """Let the ring have all leaves: rows that have wrapped, none of them a hole, move behind the others."""
    tree, _holes, cursor = state
    repair_stale_path(aggregate, state)
    room, end = leaves(tree), cursor[R]
    wrapped = cursor[F] + cursor[SPAN] - end
    cursor[R] = room
    if wrapped < 1:
        return
    for slot in range(wrapped):
        target = end + slot if end + slot < room else end + slot - room
        store(tree, room + target, load(tree, room + slot))
    repair_ring(aggregate, tree, end, wrapped, room)
    clear(aggregate, tree, max(0, end + wrapped - room), wrapped)


@jitable
def _make_room(aggregate: Monoid, state: Any) -> None:
    """Free the slots that are no rows; the capacity has room for the rows that come."""
    tree, _holes, cursor = state
    if cursor[HOLES] > 0:
        _compact(aggregate, state)
    elif cursor[R] < leaves(tree):
        _unwrap(aggregate, state)


# --- the newest and the oldest -------------------------------------------------------------------


@jitable
def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    tree, _holes, cursor = state
    if cursor[SPAN] == cursor[R]:
        _make_room(aggregate, state)
    slot = slot_at(cursor, cursor[SPAN])
    store(tree, leaves(tree) + slot, partial)
    repair(aggregate, tree, slot)
    cursor[STALE] = 0
    cursor[SPAN] += 1


@jitable
def insert_many(aggregate: Monoid, state: Any, partials: Fields, count: int) -> None:
    tree, _holes, cursor = state
    if count < 1:
        return
    if cursor[SPAN] + count > cursor[R]:
        _make_room(aggregate, state)
    for place in range(count):
        store(tree, leaves(tree) + slot_at(cursor, cursor[SPAN] + place), load(partials, place))
    repair_ring(aggregate, tree, slot_at(cursor, cursor[SPAN]), count, cursor[R])
    cursor[STALE] = 0
    cursor[SPAN] += count


@jitable
def evict(aggregate: Monoid, state: Any) -> None:
    tree, _holes, cursor = state
    if cursor[F] == 0 and cursor[STALE] == 0:
        cursor[R] = cursor[SPAN]
    if cursor[SPAN] < cursor[R] or cursor[HOLES] > 0:
        _evict_and_repair(aggregate, state)
        return
    store(tree, leaves(tree) + cursor[F], identity(aggregate))
    cursor[STALE] = 1
    cursor[F] = slot_at(cursor, 1)
    cursor[SPAN] -= 1


@jitable
def _evict_and_repair(aggregate: Monoid, state: Any) -> None:
    """Evict from a ring that is not full or has holes. It is a function of its own to keep slides fast."""
    tree, _holes, cursor = state
    slot = cursor[F]
    repair_stale_path(aggregate, state)
    store(tree, leaves(tree) + slot, identity(aggregate))
    repair(aggregate, tree, slot)
    cursor[F] = slot_at(cursor, 1)
    cursor[SPAN] -= 1
    skip_holes(state)


@jitable
def evict_many(aggregate: Monoid, state: Any, count: int) -> None:
    tree, holes, cursor = state
    if count == 1:
        evict(aggregate, state)
        return
    repair_stale_path(aggregate, state)
    first, span = cursor[F], offset_of(state, count)
    if cursor[HOLES] > 0:
        for offset in range(span):
            slot = slot_at(cursor, offset)
            if holes[leaves(tree) + slot] == 1:
                mark_hole(holes, slot, -1)
                cursor[HOLES] -= 1
    before_end = min(span, cursor[R] - first)
    clear(aggregate, tree, first, first + before_end)
    clear(aggregate, tree, 0, span - before_end)
    cursor[F] = slot_at(cursor, span)
    cursor[SPAN] -= span


# --- anywhere ------------------------------------------------------------------------------------


@jitable
def update_at(aggregate: Monoid, state: Any, index: int, partial: Partial) -> None:
    tree, _holes, cursor = state
    slot = slot_at(cursor, offset_of(state, index))
    store(tree, leaves(tree) + slot, partial)
    repair(aggregate, tree, slot)


@jitable
def update_many(aggregate: Monoid, state: Any, indexes: Any, partials: Fields, count: int) -> None:
    tree, _holes, cursor = state
    for place in range(count):
        node = leaves(tree) + slot_at(cursor, offset_of(state, indexes[place]))
        store(tree, node, load(partials, place))
        indexes[place] = node
    repair_listed(aggregate, tree, indexes, count)


@jitable
def remove_at(aggregate: Monoid, state: Any, index: int) -> None:
    tree, holes, cursor = state
    if index == 0:
        evict(aggregate, state)
        return
    slot = slot_at(cursor, offset_of(state, index))
    store(tree, leaves(tree) + slot, identity(aggregate))
    repair(aggregate, tree, slot)
    mark_hole(holes, slot, 1)
    cursor[HOLES] += 1


# --- answers -------------------------------------------------------------------------------------


@jitable
def _fold(aggregate: Monoid, state: Any, start: int, end: int) -> Partial:
    """Return the fold of the slots that are [start, end) after the oldest."""
    tree, _holes, cursor = state
    first, last, room = cursor[F] + start, cursor[F] + end, cursor[R]
    if first >= room:
        return fold(aggregate, tree, first - room, last - room)
    if last <= room:
        return fold(aggregate, tree, first, last)
    # Leaves from r on are identities: up to the last leaf there are fewer blocks.
    suffix = fold(aggregate, tree, first, leaves(tree))
    return combine(aggregate, suffix, fold(aggregate, tree, 0, last - room))


@jitable
def query(aggregate: Monoid, state: Any) -> Partial:
    tree, _holes, cursor = state
    is_root = cursor[COMMUTES] == 1 or cursor[F] + cursor[SPAN] <= cursor[R]
    if is_root and cursor[STALE] == 0:
        return load(tree, 1)
    return _fold(aggregate, state, 0, cursor[SPAN])


@jitable
def query_between(aggregate: Monoid, state: Any, start: int, end: int) -> Partial:
    return _fold(aggregate, state, offset_of(state, start), offset_of(state, end))


@jitable
def query_last(aggregate: Monoid, state: Any, last: int) -> Partial:
    _tree, _holes, cursor = state
    start = offset_of(state, cursor[SPAN] - cursor[HOLES] - last)
    return _fold(aggregate, state, start, cursor[SPAN])


@jitable
def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    _tree, _holes, cursor = state
    suffix = identity(aggregate)
    end = cursor[SPAN]
    for place in range(len(counts) - 1, -1, -1):  # shortest first: each extends the one before
        start = offset_of(state, cursor[SPAN] - cursor[HOLES] - counts[place])
        suffix = combine(aggregate, _fold(aggregate, state, start, end), suffix)
        store(answers, place, suffix)
        end = start


# --- room ----------------------------------------------------------------------------------------


def count(state: Any) -> int:
    _tree, _holes, cursor = state
    return int(cursor[SPAN] - cursor[HOLES])


def capacity(state: Any) -> int:
    _tree, holes, cursor = state
    room, lost = len(holes) // 2, int(cursor[HOLES])
    return room if 4 * lost >= room else room - lost


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    wider = start(aggregate, capacity)
    _replant(aggregate, state, wider)
    return wider


@kernel
def _replant(aggregate: Monoid, state: Any, wider: Any) -> None:
    """Copy the window, without its holes, into an empty one."""
    tree, holes, cursor = state
    target, _holes, moved = wider
    for offset in range(cursor[SPAN]):
        node = leaves(tree) + slot_at(cursor, offset)
        if holes[node] == 0:
            store(target, leaves(target) + moved[SPAN], load(tree, node))
            moved[SPAN] += 1
    if moved[SPAN] > 0:
        repair_ring(aggregate, target, 0, moved[SPAN], leaves(target))
