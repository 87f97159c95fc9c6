"""FiBA: rows in any order, at a cost that grows with how late they are, not with the window.

Idea      A B-tree of rows by position, held by two fingers: its first and its last leaf. A node
          away from the edges folds its whole subtree. A node on the left edge folds what its
          subtree has to the right of the edge, followed by the fold of its parent. So the fold at
          the first leaf is that of the root's whole first subtree, and a change near an end
          changes few folds. The same holds on the right.
Picture      the root's first subtree      between      the root's last subtree
            10   20   30 │ 40   50   60   70   80 │ 90   95   99         rows by position
            └ fold(oldest)┘└────── fold(root) ─────┘└ fold(newest) ┘      window = these three, combined
            ↑ oldest finger                                     ↑ newest finger
            a search goes up from the nearer finger as far as needed, then down
Keeps     K1  T1 … T4 of `finger_tree`; its entries, read in order, are the window
          K2  F1 … F3 of `finger_folds`, between steps
          K3  the oldest finger begins with the oldest row, the newest one ends with the newest
          K4  B1 of `finger_bulk`: between steps no node waits for its parent
Combines  d = how many rows a position is away from the nearer end.  Amortised: insert_at, evict_at
          O(log d), in order 5 for insert and 7.5 for evict; evict_until of m rows O(log m);
          insert_sorted of m rows O(log d + m log(d/m)).  update_at O(log n), m of them at once fold each
          node once.  query 2; query_range, query_between, query_last O(log n).
          Worst O(log n).  Space n + n / (μ-1) partials, in at most n (2μ+1) / (μ-1) slots.
Needs     associativity.  Order  any.
From      Tangwongsan, Hirzel, Schneider. Optimal and General Out-of-Order Sliding-Window
          Aggregation. PVLDB 12(10), 2019. doi:10.14778/3339490.3339499
          Tangwongsan, Hirzel, Schneider. Out-of-Order Sliding-Window Aggregation with Efficient
          Bulk Evictions and Insertions. PVLDB 16(11), 2023. doi:10.14778/3611479.3611521
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Sizes, Space
from sash.swag.finger_bulk import evict_until, insert_sorted
from sash.swag.finger_faults import check_folds, check_tree, rows_below, tree_fault
from sash.swag.finger_folds import drop, drop_child, fold_between, position_from_end, refold, repair
from sash.swag.finger_indexes import count, position_of, query_between, update_at, update_many
from sash.swag.finger_tree import (
    BELOW,
    FAN,
    KIDS,
    LEAST,
    LEVEL,
    LEVELS,
    LISTS,
    MIDDLE,
    MOST,
    MU,
    NEWEST,
    NEXT,
    NONE,
    OLDEST,
    PARENT,
    PLACE,
    RECORD,
    RIGHT,
    ROOT,
    SIZE,
    SLOTS,
    TIMES,
    UNUSED,
    WAITING,
    adopt,
    empty_tree,
    entry_of,
    fill,
    find,
    fold_of,
    free,
    mark,
    move,
    move_run,
    room,
    shift,
    split,
    take,
)

__all__ = [
    "FACTS",
    "MU",
    "capacity",
    "check",
    "count",
    "evict",
    "evict_at",
    "evict_many",
    "evict_until",
    "fault",
    "insert",
    "insert_at",
    "insert_sorted",
    "newest",
    "oldest",
    "query",
    "query_between",
    "query_each",
    "query_last",
    "query_range",
    "remove_at",
    "resize",
    "start",
    "update_at",
    "update_many",
]

# At worst, nodes have LEAST entries each, and room for FAN partials. Five nodes more: see `_nodes_for`.
_SPACE = Space(
    Bound(5 * FAN, linear=FAN / LEAST), Bound(LISTS + LEVELS + 5 * RECORD, linear=RECORD / LEAST), rounded=False
)
FACTS = Facts(
    title="FiBA",
    # The worst case is a root that grows or shrinks: a path of nodes and both edges are folded again.
    insert=Cost(Bound(5), Bound(log=14)),
    evict=Cost(Bound(7.5), Bound(log=13)),
    query=Cost(Bound(2), Bound(2)),
    space=_SPACE,
    sizes=Sizes.UNORDERED,
    all_ranges=AllRanges(Cost(Bound(linear_log=2.5), Bound(linear_log=3.5)), _SPACE),
    paper="Tangwongsan, Hirzel, Schneider. PVLDB 2019, PVLDB 2023",
)


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return empty_tree(aggregate, _nodes_for(capacity))


def _nodes_for(capacity: int) -> int:
    # One node each for the desk, both fronts and the root, and one more for every LEAST rows.
    return 4 + -(-max(capacity, 1) // LEAST)


# --- one row -------------------------------------------------------------------------------------


@jitable
def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    entries, nodes, cursor = state
    leaf = cursor[NEWEST]
    size = nodes[leaf + SIZE]
    nodes[leaf + TIMES + size] = nodes[leaf + TIMES + size - 1] + 1 if size > 0 else cursor[NEXT]
    nodes[leaf + SIZE] = size + 1
    store(entries, entry_of(leaf, size), partial)
    if size < MOST:  # nothing else folds the newest finger
        store(entries, fold_of(leaf), combine(aggregate, load(entries, fold_of(leaf)), partial))
        nodes[leaf + BELOW] += 1
        return
    if leaf != cursor[ROOT] and nodes[nodes[leaf + PARENT] + SIZE] < MOST:
        _append_leaf(aggregate, state)
        return
    node = leaf
    while nodes[node + SIZE] > MOST:
        node = split(state, node)
    repair(aggregate, state)


@jitable
def _append_leaf(aggregate: Monoid, state: Any) -> None:
    """Split the newest finger below a parent with room: the parent's fold is extended, not folded again."""
    entries, nodes, cursor = state
    leaf = cursor[NEWEST]
    parent = nodes[leaf + PARENT]
    fresh = take(nodes, cursor, 0)
    move_run(state, leaf, MU + 1, fresh, 0, SLOTS - MU - 1)
    nodes[fresh + SIZE] = SLOTS - MU - 1
    nodes[leaf + SIZE] = MU
    last = nodes[parent + SIZE]
    move(state, leaf, MU, parent, last)
    adopt(nodes, parent, last + 1, fresh)
    nodes[parent + SIZE] = last + 1
    nodes[leaf + PLACE] = MIDDLE
    nodes[fresh + PLACE] = RIGHT
    cursor[NEWEST] = fresh
    refold(aggregate, state, leaf)
    folded = combine(aggregate, load(entries, fold_of(parent)), load(entries, fold_of(leaf)))
    store(entries, fold_of(parent), combine(aggregate, folded, load(entries, entry_of(parent, last))))
    nodes[parent + BELOW] += MU + 1
    refold(aggregate, state, fresh)


@jitable
def insert_at(aggregate: Monoid, state: Any, position: int, partial: Partial) -> None:
    """Insert at a position; a partial that is there already becomes that ⊕ `partial`."""
    entries, nodes, cursor = state
    node, i = find(nodes, cursor, position)
    size = nodes[node + SIZE]
    place = entry_of(node, i)
    if i == size and node == cursor[NEWEST]:
        insert(aggregate, state, partial)
        leaf = cursor[NEWEST]
        nodes[leaf + TIMES + nodes[leaf + SIZE] - 1] = position
        return
    if i == size or nodes[node + TIMES + i] != position:
        shift(state, node, i, 1)
        nodes[node + TIMES + i] = position
        store(entries, place, partial)
    else:
        store(entries, place, combine(aggregate, load(entries, place), partial))
        if i == size - 1 and node == cursor[NEWEST]:
            store(entries, fold_of(node), combine(aggregate, load(entries, fold_of(node)), partial))
            return
    mark(nodes, cursor, node)
    while nodes[node + SIZE] > MOST:
        node = split(state, node)
    repair(aggregate, state)


@jitable
def evict(aggregate: Monoid, state: Any) -> None:
    _entries, nodes, cursor = state
    node = cursor[OLDEST]
    if node != cursor[ROOT] and nodes[node + SIZE] > LEAST:
        drop(state, node, 1)
        return
    if node == cursor[ROOT]:
        cursor[NEXT] = nodes[node + TIMES] + 1  # matters only if that was all
    elif _join_leaf(aggregate, state):
        return
    shift(state, node, 1, -1)
    mark(nodes, cursor, node)
    while node != cursor[ROOT] and nodes[node + SIZE] < LEAST:
        node = fill(state, node, LEAST)
    repair(aggregate, state)


@jitable
def _join_leaf(aggregate: Monoid, state: Any) -> bool:
    """Evict the oldest row of the oldest finger, which has none to spare, and join it with its neighbour.

    Only two nodes change. Return False if the parent has no child to spare, or the neighbour is too large.
    """
    _entries, nodes, cursor = state
    leaf = cursor[OLDEST]
    parent = nodes[leaf + PARENT]
    neighbour = nodes[parent + KIDS + 1]
    many = nodes[neighbour + SIZE]
    if nodes[parent + SIZE] <= (1 if parent == cursor[ROOT] else LEAST) or LEAST + many > MOST:
        return False
    move_run(state, leaf, 1, leaf, 0, LEAST - 1)
    move(state, parent, 0, leaf, LEAST - 1)
    move_run(state, neighbour, 0, leaf, LEAST, many)
    nodes[leaf + SIZE] = LEAST + many
    shift(state, parent, 1, -1)
    nodes[parent + KIDS] = leaf
    free(nodes, cursor, neighbour)
    drop_child(aggregate, state, parent)
    refold(aggregate, state, leaf)
    return True


@jitable
def evict_at(aggregate: Monoid, state: Any, position: int) -> bool:
    """Evict the partial at a position, and return whether there was one."""
    _entries, nodes, cursor = state
    node, i = find(nodes, cursor, position)
    if i == nodes[node + SIZE] or nodes[node + TIMES + i] != position:
        return False
    leaf, j = node, i
    if nodes[node + LEVEL] > 0:  # its neighbour in a leaf takes its place
        mark(nodes, cursor, node)
        leaf = nodes[node + KIDS + i + 1]
        if nodes[leaf + SIZE] > LEAST:
            while nodes[leaf + LEVEL] > 0:
                leaf = nodes[leaf + KIDS]
            j = 0
        else:
            leaf = nodes[node + KIDS + i]
            while nodes[leaf + LEVEL] > 0:
                leaf = nodes[leaf + KIDS + nodes[leaf + SIZE]]
            j = nodes[leaf + SIZE] - 1
        move(state, leaf, j, node, i)
    elif node == cursor[ROOT]:
        cursor[NEXT] = position + 1
    shift(state, leaf, j + 1, -1)
    mark(nodes, cursor, leaf)
    while leaf != cursor[ROOT] and nodes[leaf + SIZE] < LEAST:
        leaf = fill(state, leaf, LEAST)
    repair(aggregate, state)
    return True


# --- by index ------------------------------------------------------------------------------------


@jitable
def evict_many(aggregate: Monoid, state: Any, many: int) -> None:
    if many == 1:
        evict(aggregate, state)
    elif many > 1:
        evict_until(aggregate, state, position_of(state, many - 1))


@jitable
def remove_at(aggregate: Monoid, state: Any, index: int) -> None:
    evict_at(aggregate, state, position_of(state, index))


# --- answers -------------------------------------------------------------------------------------


def query(aggregate: Monoid, state: Any) -> Partial:
    entries, nodes, cursor = state
    middle = load(entries, fold_of(cursor[ROOT]))
    if nodes[cursor[ROOT] + LEVEL] == 0:
        return middle
    older = combine(aggregate, load(entries, fold_of(cursor[OLDEST])), middle)
    return combine(aggregate, older, load(entries, fold_of(cursor[NEWEST])))


def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    """Return the fold of the newest `count` rows, found by counting entries from the newest finger; O(log n)."""
    _entries, nodes, cursor = state
    if count < 1:
        return identity(aggregate)
    return fold_between(aggregate, state, position_from_end(nodes, cursor, count), 0, True)


def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    _entries, nodes, cursor = state
    for place in range(len(counts)):
        start = position_from_end(nodes, cursor, counts[place])
        store(answers, place, fold_between(aggregate, state, start, 0, True))


@jitable
def query_range(aggregate: Monoid, state: Any, start: int, end: int) -> Partial:
    """Return the fold of the positions in [start, end), in O(log n)."""
    if end <= start:
        return identity(aggregate)
    return fold_between(aggregate, state, start, end, False)


@jitable
def oldest(state: Any) -> int:
    """Return the first position; the window must not be empty."""
    _entries, nodes, cursor = state
    return int(nodes[cursor[OLDEST] + TIMES])


@jitable
def newest(state: Any) -> int:
    """Return the last position; for an empty window, the one before that of the next row."""
    _entries, nodes, cursor = state
    if nodes[cursor[NEWEST] + SIZE] == 0:
        return int(cursor[NEXT] - 1)
    return int(nodes[cursor[NEWEST] + TIMES + nodes[cursor[NEWEST] + SIZE] - 1])


def capacity(state: Any) -> int:
    entries, _nodes, _cursor = state
    return (length(entries) // FAN - 4) * LEAST


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    """Return the same window with another capacity; nodes never move, so it is at least the peak."""
    entries, nodes, cursor = state
    used = int(cursor[UNUSED])
    new_entries, new_nodes = room(aggregate, max(_nodes_for(capacity), used // RECORD))
    for old, new in zip(entries, new_entries, strict=True):
        new[: entry_of(used, 0)] = old[: entry_of(used, 0)]
    new_nodes[:used] = nodes[:used]
    return new_entries, new_nodes, cursor


def fault(aggregate: Monoid, state: Any) -> str | None:
    return tree_fault(state)


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    _entries, _nodes, cursor = state
    check_tree(state)  # K1
    check_folds(aggregate, state)  # K2
    rows = rows_below(state, int(cursor[ROOT]))
    assert [partial for _, partial in rows] == partials and count(state) == len(partials), "K1"
    assert not rows or (oldest(state), newest(state)) == (rows[0][0], rows[-1][0]), "K3"
    assert cursor[WAITING] == NONE, "K4"
