"""FlatFAT: a binary tree of folds kept flat in one array, with the window as a ring of its leaves.

Idea      Every inner node holds the fold of the leaves below it. A changed leaf changes only the
          path above it, and many changed leaves share the upper parts of their paths. The window
          is a ring over the leaves, so the root is the answer unless the ring is wrapped: then the
          newest rows stand before the oldest, and the answer is suffix(f) ⊕ prefix(b). Of a
          commutative aggregate the root is always the answer. A row removed from the middle leaves
          a hole, for its slot cannot be reused without breaking the order.
Picture                           1 = 2⊕3                    tree[1], the root
                     2 = 4⊕5                 3 = 6⊕7         tree[k] = tree[2k] ⊕ tree[2k+1]
                 4 = 8⊕9    5 = …        6 = …      7 = …
            tree  8    9    10    11     12    13    14   15     leaf of i = N + i mod N, N = 8
                [ p8 | p9 |  ⊥  |  ⊥  |  p4  |  ⊥  | p6 | p7 ]   ⊥ is the identity
                            b             f    hole              here wrapped: f = 4, b = 10
Keeps     K1  f ≤ b, b - f ≤ N                         (positions grow, slots wrap)
          K2  f ≤ i < b, not a hole: leaf of i = pi;  every other leaf is the identity
          K3  1 ≤ k < N: tree[k] = tree[2k] ⊕ tree[2k+1]
          K4  holes lie in (f, b): the oldest is never a hole;  `holes` marks and counts them
Combines  insert ≤ log n, evict ≤ log n, query 0, wrapped ≤ 2 log n.  m changes at once
          (insert_many, evict_many): each node above them once, ≤ m (1 + ⌈log N/m⌉).
          Space 2 N partials.
Needs     associativity.  Order  any row of the window can be changed or removed; rows enter at
          the newest end.
Resizing  When count = capacity, the window is copied into a larger tree, without its holes
          (`resize`). Holes take room: with fewer than N/4 of them, capacity is N less the holes.
          With N/4 or more, capacity is N, and the insert that finds no free slot compacts: N/4
          removals have paid for it. Compaction and resizing keep b, so the next position stays the
          same; rows older than a hole move up to close it.
From      Tangwongsan, Hirzel, Schneider, Wu. General Incremental Sliding-Window Aggregation.
          PVLDB 8(7), 2015. doi:10.14778/2752939.2752940
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import AllRanges, Bound, Cost, Facts, identities, integers
from sash.swag.flat_tree import fold, leaf, leaves, query_range, refresh
from sash.swag.ring import ring_fault, room_for

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
    "query_each",
    "query_last",
    "query_range",
    "remove_at",
    "resize",
    "start",
    "update_at",
]

FACTS = Facts(
    title="FlatFAT",
    insert=Cost(Bound(log=1), Bound(log=1)),
    evict=Cost(Bound(log=1), Bound(log=1)),
    query=Cost(Bound(log=1), Bound(log=2)),
    space=Bound(linear=2),
    all_ranges=AllRanges(Cost(Bound(log=2, linear=1), Bound(log=2, linear=1)), Bound(linear=2)),
    paper="Tangwongsan, Hirzel, Schneider, Wu. PVLDB 2015",
)
F, B, HOLES, COMMUTES = range(4)  # the places of f, b, the number of holes and the aggregate's trait in `cursor`


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    room = room_for(capacity)
    cursor = integers(aggregate, 4)
    cursor[COMMUTES] = int(aggregate.commutative)
    return identities(aggregate, 2 * room), integers(aggregate, room), cursor


@jitable
def _repair(aggregate: Monoid, tree: Fields, position: int) -> None:
    """Restore K3 on the path above one changed leaf."""
    node = leaf(tree, position) >> 1
    while node > 0:
        refresh(aggregate, tree, node)
        node >>= 1


@jitable
def _repair_many(aggregate: Monoid, tree: Fields, start: int, end: int) -> None:
    """Restore K3 above the changed leaves [start, end), level by level, each node once."""
    if start == end:
        return
    width = leaves(tree)
    low, high = leaf(tree, start), leaf(tree, end - 1)
    wrapped = low > high  # changed: from low to the end of a level, and from its beginning to high
    while width > 1:
        width >>= 1
        low >>= 1
        high >>= 1
        if wrapped:
            for node in range(width, high + 1):
                refresh(aggregate, tree, node)
            for node in range(max(low, high + 1), 2 * width):  # the two parts meet below the root
                refresh(aggregate, tree, node)
        else:
            for node in range(low, high + 1):
                refresh(aggregate, tree, node)


@jitable
def _compact(aggregate: Monoid, state: Any) -> None:
    """Close the holes: rows that are older than one move up, so that b stays."""
    tree, holes, cursor = state
    target = cursor[B] - 1
    for position in range(cursor[B] - 1, cursor[F] - 1, -1):
        place = leaf(tree, position)
        if holes[place - leaves(tree)] == 1:
            holes[place - leaves(tree)] = 0
        else:
            if target != position:
                store(tree, leaf(tree, target), load(tree, place))
                store(tree, place, identity(aggregate))
            target -= 1
    cursor[F] = target + 1
    cursor[HOLES] = 0
    for node in range(leaves(tree) - 1, 0, -1):
        refresh(aggregate, tree, node)


@jitable
def _skip_holes(state: Any) -> None:
    """Restore K4 after an evict, which can leave holes in front."""
    tree, holes, cursor = state
    while cursor[HOLES] > 0 and holes[leaf(tree, cursor[F]) - leaves(tree)] == 1:
        holes[leaf(tree, cursor[F]) - leaves(tree)] = 0
        cursor[HOLES] -= 1
        cursor[F] += 1


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    tree, _holes, cursor = state
    if cursor[B] - cursor[F] == leaves(tree):
        _compact(aggregate, state)
    store(tree, leaf(tree, cursor[B]), partial)
    _repair(aggregate, tree, cursor[B])
    cursor[B] += 1


@jitable
def insert_many(aggregate: Monoid, state: Any, partials: Fields, count: int) -> None:
    """Insert the first `count` of `partials`, oldest first; there is room for them."""
    tree, _holes, cursor = state
    if cursor[B] - cursor[F] + count > leaves(tree):
        _compact(aggregate, state)
    for place in range(count):
        store(tree, leaf(tree, cursor[B] + place), load(partials, place))
    _repair_many(aggregate, tree, cursor[B], cursor[B] + count)
    cursor[B] += count


def evict(aggregate: Monoid, state: Any) -> None:
    tree, _holes, cursor = state
    store(tree, leaf(tree, cursor[F]), identity(aggregate))
    _repair(aggregate, tree, cursor[F])
    cursor[F] += 1
    _skip_holes(state)


@jitable
def evict_many(aggregate: Monoid, state: Any, count: int) -> None:
    """Evict the oldest `count`; the window has as many."""
    tree, _holes, cursor = state
    start = cursor[F]
    end = start  # holes further on are identities already: their paths need no repair
    for _ in range(count):
        store(tree, leaf(tree, cursor[F]), identity(aggregate))
        cursor[F] += 1
        end = cursor[F]
        _skip_holes(state)
    _repair_many(aggregate, tree, start, end)


@jitable
def update_at(aggregate: Monoid, state: Any, position: int, partial: Partial) -> None:
    """Replace the partial at a position of the window."""
    tree, _holes, _cursor = state
    store(tree, leaf(tree, position), partial)
    _repair(aggregate, tree, position)


@jitable
def remove_at(aggregate: Monoid, state: Any, position: int) -> None:
    """Remove the partial at a position of the window; all others keep their positions."""
    tree, holes, cursor = state
    store(tree, leaf(tree, position), identity(aggregate))
    _repair(aggregate, tree, position)
    holes[leaf(tree, position) - leaves(tree)] = 1
    cursor[HOLES] += 1
    _skip_holes(state)


def query(aggregate: Monoid, state: Any) -> Partial:
    tree, _holes, cursor = state
    oldest = leaf(tree, cursor[F]) - leaves(tree)
    if cursor[COMMUTES] == 1 or oldest + cursor[B] - cursor[F] <= leaves(tree):
        return load(tree, 1)
    return fold(aggregate, tree, cursor[F], cursor[B])


@jitable
def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    tree, _holes, cursor = state
    return fold(aggregate, tree, _start_of_last(state, count), cursor[B])


@jitable
def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    tree, _holes, cursor = state
    suffix = identity(aggregate)
    end = cursor[B]
    for place in range(len(counts) - 1, -1, -1):  # shortest first: each extends the one before
        start = _start_of_last(state, counts[place])
        suffix = combine(aggregate, fold(aggregate, tree, start, end), suffix)
        store(answers, place, suffix)
        end = start


@jitable
def _start_of_last(state: Any, count: int) -> int:
    """Return the position where the newest `count` begin; holes do not count, so with holes it is a search."""
    tree, holes, cursor = state
    position: int = cursor[B]
    if cursor[HOLES] == 0:
        return position - count
    missing = count
    while missing > 0:
        position -= 1
        missing -= 1 - holes[leaf(tree, position) - leaves(tree)]
    return position


def count(state: Any) -> int:
    _tree, _holes, cursor = state
    return int(cursor[B] - cursor[F] - cursor[HOLES])


def capacity(state: Any) -> int:
    _tree, holes, cursor = state
    room, lost = len(holes), int(cursor[HOLES])
    return room if 4 * lost >= room else room - lost


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    tree, holes, cursor = state
    room = room_for(capacity)
    wider, moved = identities(aggregate, 2 * room), integers(aggregate, 4)
    moved[B], moved[COMMUTES] = cursor[B], cursor[COMMUTES]
    _replant(aggregate, tree, holes, cursor, wider, moved)
    return wider, integers(aggregate, room), moved


@kernel
def _replant(aggregate: Monoid, tree: Fields, holes: Any, cursor: Any, wider: Fields, moved: Any) -> None:
    """Copy the window, without its holes, into a bare tree."""
    target = cursor[B] - 1
    for position in range(cursor[B] - 1, cursor[F] - 1, -1):
        place = leaf(tree, position)
        if holes[place - leaves(tree)] == 0:
            store(wider, leaf(wider, target), load(tree, place))
            target -= 1
    moved[F] = target + 1
    for node in range(leaves(wider) - 1, 0, -1):
        refresh(aggregate, wider, node)


def fault(aggregate: Monoid, state: Any) -> str | None:
    tree, holes, cursor = state
    if len(cursor) != 4 or length(tree) != 2 * len(holes) or cursor[COMMUTES] != int(aggregate.commutative):
        return "its cursors are not those of its aggregate, or its leaves are not half of its tree"
    wrong = ring_fault((holes,), cursor[F], cursor[B])  # K1
    if wrong is not None:
        return wrong
    marks = np.asarray(holes)
    own = marks[np.arange(cursor[F], cursor[B]) & (len(marks) - 1)]
    if not ((marks == 0) | (marks == 1)).all() or not marks.sum() == own.sum() == cursor[HOLES]:
        return "its holes are not those that it counts (K4)"
    return "its oldest row is a hole (K4)" if len(own) and own[0] else None


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    tree, holes, cursor = state
    f, b, lost, _commutes = cursor
    room = len(holes)
    assert length(tree) == 2 * room and f <= b and b - f <= room, "K1"
    live = [i for i in range(f, b) if not holes[i % room]]
    assert [load(tree, leaf(tree, i)) for i in live] == partials, "K2"
    for place in set(range(room)) - {i % room for i in live}:
        assert load(tree, room + place) == identity(aggregate), "K2"
    for node in range(1, room):
        assert load(tree, node) == combine(aggregate, load(tree, 2 * node), load(tree, 2 * node + 1)), "K3"
    assert sum(holes) == lost == (b - f) - len(live), "K4"
    assert f == b or not holes[f % room], "K4"
