"""FiBA: rows in any order, at a cost that grows with how late they are, not with the window.

Idea      A B-tree of rows by position, held by two fingers: its first and its last leaf. A node
          away from the edges folds its whole subtree. A node on the left edge folds what its
          subtree has to the right of the edge, then goes on with its parent; so the fold at the
          first leaf is that of the root's whole first subtree, and a change near an end is told
          to few nodes. Likewise on the right.
Picture                     root  [ 40 | 80 ]                    (μ = 4 drawn as 2)
                   ┌───────────────┼───────────────┐
            LEFT [ 20 ]       MIDDLE [ 60 ]    RIGHT [ 95 ]      fold(middle)  = p50…p70
             ┌─────┴─────┐      ┌──┴──┐         ┌────┴────┐      fold(LEFT)    = p20 p30
            LEFT [10]   [30]   [50]  [70]      [90]  RIGHT [99]  fold(10)      = p10 ⊕ fold(LEFT)
             oldest finger                      newest finger    fold(root)    = p40 p50…p70 p80
            window = fold(oldest) ⊕ fold(root) ⊕ fold(newest)
Keeps     K1  read in order, positions grow strictly and entries are the window
          K2  non-root nodes have μ-1 … 2μ-1 entries, the root at most 2μ-1 and, above leaves, one;
              a node of s entries has no or s + 1 children; leaves are of level 0, parents one more
          K3  the first child of the root and of LEFT nodes is LEFT, the last of the root and of
              RIGHT ones is RIGHT, all else MIDDLE, the root too; the fingers end these two edges
          K4  inner = a node's entries and the children between them.  Fold of a MIDDLE node: first
              child ⊕ inner ⊕ last child; root: inner; LEFT: inner ⊕ last child ⊕ fold(parent);
              RIGHT: fold(parent) ⊕ first child ⊕ inner; the root's fold is left out.  `below` counts
              the entries in each fold
          K5  of the oldest finger, if it has a parent: fronts[i] = its last i + 1 entries ⊕ fold(parent)
          K6  every node is in the tree, free, below one that was freed whole, or not yet used; two
              hold no rows of their own: the fronts, and the desk on which insert_sorted lays a node out
          K7  between steps nothing is dirty and nothing awaits its parent
Combines  d = how many rows a position is away from the nearer end.  Amortised: insert_at, evict_at
          O(log d), in order 5 for insert and 7.5 for evict; evict_until of m rows O(log m);
          insert_sorted of m rows O(log d + m log(d/m)).  query 2; query_range, query_last O(log n).
          Worst O(log n).  Space n + n / (μ-1) partials, in at most n (2μ+1) / (μ-1) slots.
Needs     associativity.  Order  any.
From      Tangwongsan, Hirzel, Schneider. Optimal and General Out-of-Order Sliding-Window
          Aggregation. PVLDB 12(10), 2019. doi:10.14778/3339490.3339499
          Tangwongsan, Hirzel, Schneider. Out-of-Order Sliding-Window Aggregation with Efficient
          Bulk Evictions and Insertions. PVLDB 16(11), 2023. doi:10.14778/3611479.3611521
"""

from itertools import pairwise
from typing import Any, TypeAlias

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import Bound, Cost, Facts, Sizes, integers

__all__ = [
    "FACTS",
    "MU",
    "capacity",
    "check",
    "count",
    "evict",
    "evict_at",
    "evict_until",
    "insert",
    "insert_at",
    "insert_sorted",
    "newest",
    "oldest",
    "query",
    "query_each",
    "query_last",
    "query_range",
    "resized",
    "start",
]

MU = 4  # the least number of children of a node that is not the root
LEAST, MOST = MU - 1, 2 * MU - 1  # entries
SLOTS, FAN = 2 * MU, 2 * MU + 1  # one more than allowed: a node overflows before it splits
SPARE = SLOTS - 1  # where a node that awaits its parent keeps the entry to its left

FACTS = Facts(
    title="FiBA",
    # The worst is a root that grows or shrinks: a path of nodes and both edges are refolded.
    insert=Cost(Bound(5), Bound(log=14)),
    evict=Cost(Bound(7.5), Bound(log=13)),
    query=Cost(Bound(2), Bound(2)),
    space=Bound(2 * SLOTS, linear=1 + 1 / LEAST),
    sizes=Sizes.UNORDERED,
    ranges=True,
    paper="Tangwongsan, Hirzel, Schneider. PVLDB 2019, PVLDB 2023",
)

# A node is a record in `nodes`, named by where it starts, and FAN partials in `entries`: its
# entries and, last, its fold.
SIZE, PARENT, PLACE, LEVEL, LINK, AFTER, BELOW, TIMES = range(8)
KIDS = TIMES + SLOTS
RECORD = KIDS + FAN
MIDDLE, LEFT, RIGHT, FREED = range(4)  # where a node stands
NONE, CLEAN = -1, -2
DESK, FRONTS, FIRST = range(0, 3 * RECORD, RECORD)
# What lives in `cursor`: the root, the fingers, free and never used nodes, where an empty window
# goes on, new nodes that await their parents, and dirty nodes, counted and listed by level.
ROOT, OLDEST, NEWEST, FREE, UNUSED, NEXT, WAITING, LAST_WAITING, DIRTY, LISTS = range(10)
LEVELS = 64  # more than a tree of 2^63 rows can have


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    cursor = integers(aggregate, LISTS + LEVELS)
    cursor[ROOT] = cursor[OLDEST] = cursor[NEWEST] = FIRST
    cursor[UNUSED] = FIRST + RECORD
    for place in (FREE, WAITING, LAST_WAITING, *range(LISTS, LISTS + LEVELS)):
        cursor[place] = NONE
    entries, nodes = _room(aggregate, _nodes_for(capacity))
    nodes[FIRST + PARENT] = NONE
    store(entries, _fold(FIRST), identity(aggregate))
    return entries, nodes, cursor


def _nodes_for(capacity: int) -> int:
    # The desk, the fronts and the root, and one more for every LEAST rows.
    return 3 + -(-max(capacity, 1) // LEAST)


def _room(aggregate: Monoid, count: int) -> tuple[Fields, Any]:
    nodes = integers(aggregate, count * RECORD)
    for node in range(0, count * RECORD, RECORD):
        nodes[node + LINK] = CLEAN
    return aggregate.allocate(count * FAN), nodes


@jitable
def _entry(node: int, i: int) -> int:
    """Where entry i of a node lives."""
    return node // RECORD * FAN + i


@jitable
def _fold(node: int) -> int:
    """Where the fold of a node lives."""
    return node // RECORD * FAN + SLOTS


# --- nodes: taking, freeing, moving what they hold ------------------------------------------------


@jitable
def _take(state: Any, level: int) -> int:
    _entries, nodes, cursor = state
    node: int = cursor[FREE]
    if node == NONE:
        node = cursor[UNUSED]
        cursor[UNUSED] += RECORD
    else:
        cursor[FREE] = nodes[node + PARENT]
        if nodes[node + LEVEL] > 0:  # freed whole: its children are freed only now, so that freeing costs O(1)
            for i in range(nodes[node + SIZE] + 1):
                _free(state, nodes[node + KIDS + i])
    nodes[node + LEVEL] = level
    nodes[node + SIZE] = 0
    nodes[node + PLACE] = MIDDLE
    nodes[node + PARENT] = NONE
    return node


@jitable
def _free(state: Any, node: int) -> None:
    """Free a node with all below it; one whose children live on must have been made a leaf."""
    _entries, nodes, cursor = state
    nodes[node + PLACE] = FREED
    nodes[node + PARENT] = cursor[FREE]
    cursor[FREE] = node


@jitable
def _move(state: Any, source: int, i: int, target: int, j: int) -> None:
    """Copy entry i of a node to place j of another."""
    entries, nodes, _cursor = state
    nodes[target + TIMES + j] = nodes[source + TIMES + i]
    store(entries, _entry(target, j), load(entries, _entry(source, i)))


@jitable
def _adopt(state: Any, node: int, i: int, child: int) -> None:
    _entries, nodes, _cursor = state
    nodes[node + KIDS + i] = child
    nodes[child + PARENT] = node


@jitable
def _open(state: Any, node: int, i: int) -> None:
    """Make room for entry i and the child to its right."""
    _entries, nodes, _cursor = state
    for j in range(nodes[node + SIZE], i, -1):
        _move(state, node, j - 1, node, j)
    if nodes[node + LEVEL] > 0:
        for j in range(nodes[node + SIZE] + 1, i + 1, -1):
            nodes[node + KIDS + j] = nodes[node + KIDS + j - 1]
    nodes[node + SIZE] += 1


@jitable
def _close(state: Any, node: int, i: int, many: int, first_child: int) -> None:
    """Take out `many` entries from i on and as many children from `first_child` on."""
    _entries, nodes, _cursor = state
    for j in range(i + many, nodes[node + SIZE]):
        _move(state, node, j, node, j - many)
    if nodes[node + LEVEL] > 0:
        for j in range(first_child + many, nodes[node + SIZE] + 1):
            nodes[node + KIDS + j - many] = nodes[node + KIDS + j]
    nodes[node + SIZE] -= many


@jitable
def _index(state: Any, node: int) -> int:
    """Which child of its parent a node is."""
    _entries, nodes, _cursor = state
    i = 0
    while nodes[nodes[node + PARENT] + KIDS + i] != node:
        i += 1
    return i


# --- folds: what changed is marked, then refolded once, lower levels first ------------------------


@jitable
def _mark(state: Any, node: int) -> None:
    _entries, nodes, cursor = state
    if nodes[node + LINK] == CLEAN:
        nodes[node + LINK] = cursor[LISTS + nodes[node + LEVEL]]
        cursor[LISTS + nodes[node + LEVEL]] = node
        cursor[DIRTY] += 1


@jitable
def _repair(aggregate: Monoid, state: Any) -> None:
    """Refold marked nodes and whatever depends on them: up through the middle, down the edges."""
    _entries, nodes, cursor = state
    left, right = NONE, NONE
    level = 0
    while cursor[DIRTY] > 0:
        node = cursor[LISTS + level]
        cursor[LISTS + level] = NONE
        while node != NONE:
            following = nodes[node + LINK]
            nodes[node + LINK] = CLEAN
            cursor[DIRTY] -= 1
            if nodes[node + PLACE] == LEFT:
                left = node
            elif nodes[node + PLACE] == RIGHT:
                right = node
            elif nodes[node + PLACE] == MIDDLE:
                _refold(aggregate, state, node)
                if node != cursor[ROOT]:
                    _mark(state, nodes[node + PARENT])
            node = following
        level += 1
    while left != NONE:
        _refold(aggregate, state, left)
        left = nodes[left + KIDS] if nodes[left + LEVEL] > 0 else NONE
    while right != NONE:
        _refold(aggregate, state, right)
        right = nodes[right + KIDS + nodes[right + SIZE]] if nodes[right + LEVEL] > 0 else NONE


@jitable
def _refold(aggregate: Monoid, state: Any, node: int) -> None:
    """Fold a node anew from its entries, its children's folds and, on an edge, its parent's (K4, K5)."""
    entries, nodes, cursor = state
    size, place, is_root = nodes[node + SIZE], nodes[node + PLACE], node == cursor[ROOT]
    has_children = nodes[node + LEVEL] > 0
    folded = identity(aggregate)
    total = size
    inherits = place != MIDDLE and nodes[node + PARENT] != cursor[ROOT]
    if inherits:
        total += nodes[nodes[node + PARENT] + BELOW]
        folded = load(entries, _fold(nodes[node + PARENT]))
    if place == LEFT:  # from the right, so that every step is a front
        for i in range(size - 1, -1, -1):
            if has_children:
                child = nodes[node + KIDS + i + 1]
                folded = combine(aggregate, load(entries, _fold(child)), folded)
                total += nodes[child + BELOW]
            folded = combine(aggregate, load(entries, _entry(node, i)), folded)
            if not has_children:
                store(entries, _entry(FRONTS, size - 1 - i), folded)
    else:
        for i in range(size):
            if has_children and (i > 0 or not is_root):
                child = nodes[node + KIDS + i]
                folded = combine(aggregate, folded, load(entries, _fold(child)))
                total += nodes[child + BELOW]
            folded = combine(aggregate, folded, load(entries, _entry(node, i)))
        if has_children and place == MIDDLE and not is_root:
            child = nodes[node + KIDS + size]
            folded = combine(aggregate, folded, load(entries, _fold(child)))
            total += nodes[child + BELOW]
    store(entries, _fold(node), folded)
    nodes[node + BELOW] = total


# --- finding -------------------------------------------------------------------------------------


@jitable
def _find(state: Any, position: int) -> tuple[int, int]:
    """The node and the place of a position, or the leaf and the place where it would go."""
    _entries, nodes, cursor = state
    root = cursor[ROOT]
    node = root
    if nodes[root + LEVEL] > 0:
        if position < nodes[root + TIMES]:
            node = cursor[OLDEST]
            while node != root and nodes[node + TIMES + nodes[node + SIZE] - 1] < position:
                node = nodes[node + PARENT]
        elif position > nodes[root + TIMES + nodes[root + SIZE] - 1]:
            node = cursor[NEWEST]
            while node != root and position < nodes[node + TIMES]:
                node = nodes[node + PARENT]
    return _descend(state, node, position)


@jitable
def _descend(state: Any, node: int, position: int) -> tuple[int, int]:
    _entries, nodes, _cursor = state
    while True:
        i = _first_from(state, node, position)
        if nodes[node + LEVEL] == 0 or (i < nodes[node + SIZE] and nodes[node + TIMES + i] == position):
            return node, i
        node = nodes[node + KIDS + i]


@jitable
def _first_from(state: Any, node: int, position: int) -> int:
    """Which entry of a node is the first that is not before a position."""
    _entries, nodes, _cursor = state
    i = 0
    while i < nodes[node + SIZE] and nodes[node + TIMES + i] < position:
        i += 1
    return i


@jitable
def _first_after(state: Any, node: int, position: int) -> int:
    """Which entry of a node is the first that is after a position."""
    _entries, nodes, _cursor = state
    i = _first_from(state, node, position)
    if i < nodes[node + SIZE] and nodes[node + TIMES + i] == position:
        return i + 1
    return i


# --- one row -------------------------------------------------------------------------------------


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    _entries, _nodes, cursor = state
    insert_at(aggregate, state, newest(state) + 1 if count(state) > 0 else cursor[NEXT], partial)


@jitable
def insert_at(aggregate: Monoid, state: Any, position: int, partial: Partial) -> None:
    """Insert at a position; if there is something already, it becomes that ⊕ `partial`."""
    entries, nodes, cursor = state
    node, i = _find(state, position)
    is_new = i == nodes[node + SIZE] or nodes[node + TIMES + i] != position
    if is_new:
        _open(state, node, i)
        nodes[node + TIMES + i] = position
        store(entries, _entry(node, i), partial)
    else:
        store(entries, _entry(node, i), combine(aggregate, load(entries, _entry(node, i)), partial))
    is_newest = i == nodes[node + SIZE] - 1 and nodes[node + LEVEL] == 0 and node == cursor[NEWEST]
    if is_newest and nodes[node + SIZE] <= MOST:  # in order: nothing else folds the newest finger
        store(entries, _fold(node), combine(aggregate, load(entries, _fold(node)), partial))
        nodes[node + BELOW] += 1 if is_new else 0
        return
    _mark(state, node)
    while nodes[node + SIZE] > MOST:
        node = _split(state, node)
    _repair(aggregate, state)


@jitable
def _split(state: Any, node: int) -> int:
    """Split an overflowing node in two; gives the parent, which has an entry more."""
    _entries, nodes, cursor = state
    was_root = node == cursor[ROOT]
    if was_root:
        _grow(state)
    size = nodes[node + SIZE]
    right = _take(state, nodes[node + LEVEL])
    for i in range(MU + 1, size):
        _move(state, node, i, right, i - MU - 1)
    if nodes[node + LEVEL] > 0:
        for i in range(MU + 1, size + 1):
            _adopt(state, right, i - MU - 1, nodes[node + KIDS + i])
    nodes[right + SIZE] = size - MU - 1
    nodes[node + SIZE] = MU
    parent: int = nodes[node + PARENT]
    i = _index(state, node)
    _open(state, parent, i)
    _move(state, node, MU, parent, i)
    _adopt(state, parent, i + 1, right)
    _pass_edge(state, node, right, was_root)
    _mark(state, node)
    _mark(state, right)
    _mark(state, parent)
    return parent


@jitable
def _grow(state: Any) -> None:
    """Put a root without entries above the root."""
    _entries, nodes, cursor = state
    child = cursor[ROOT]
    root = _take(state, nodes[child + LEVEL] + 1)
    _adopt(state, root, 0, child)
    cursor[ROOT] = root


@jitable
def _pass_edge(state: Any, node: int, last: int, was_root: bool) -> None:
    """A node became several: the right edge goes to the last of them, the left one stays."""
    _entries, nodes, cursor = state
    if was_root or nodes[node + PLACE] == RIGHT:
        nodes[node + PLACE] = LEFT if was_root else MIDDLE
        nodes[last + PLACE] = RIGHT
        if nodes[node + LEVEL] == 0:
            cursor[NEWEST] = last


def evict(aggregate: Monoid, state: Any) -> None:
    _entries, nodes, cursor = state
    leaf = cursor[OLDEST]
    if leaf == cursor[ROOT] or nodes[leaf + SIZE] == LEAST:
        _remove(aggregate, state, leaf, 0)
    else:
        _drop(state, leaf, 1)


@jitable
def _drop(state: Any, leaf: int, many: int) -> None:
    """Take the oldest out of the oldest finger, of which enough is left: its fold is there (K5)."""
    entries, nodes, _cursor = state
    _close(state, leaf, 0, many, 0)
    store(entries, _fold(leaf), load(entries, _entry(FRONTS, nodes[leaf + SIZE] - 1)))
    nodes[leaf + BELOW] -= many


@jitable
def evict_at(aggregate: Monoid, state: Any, position: int) -> bool:
    """Evict what is at a position, if there is something."""
    _entries, nodes, _cursor = state
    node, i = _find(state, position)
    if i == nodes[node + SIZE] or nodes[node + TIMES + i] != position:
        return False
    _remove(aggregate, state, node, i)
    return True


@jitable
def _remove(aggregate: Monoid, state: Any, node: int, i: int) -> None:
    _entries, nodes, cursor = state
    if node == cursor[ROOT] and nodes[node + LEVEL] == 0 and nodes[node + SIZE] == 1:
        cursor[NEXT] = nodes[node + TIMES] + 1
    leaf, j = node, i
    if nodes[node + LEVEL] > 0:  # its neighbour in a leaf takes its place
        _mark(state, node)
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
        _move(state, leaf, j, node, i)
    _close(state, leaf, j, 1, 0)
    _mark(state, leaf)
    _settle(state, leaf)
    _repair(aggregate, state)


@jitable
def _settle(state: Any, node: int) -> None:
    """Fill nodes from here up as long as they have too few entries."""
    _entries, nodes, cursor = state
    while node != cursor[ROOT] and nodes[node + SIZE] < LEAST:
        node = _fill(state, node, LEAST)
        if node != cursor[ROOT]:
            node = nodes[node + PARENT]


@jitable
def _fill(state: Any, node: int, wanted: int) -> int:
    """Bring a node to `wanted` ≤ μ entries or more from its neighbour; gives the node, if it was merged the merged one.

    Its parent must have another child. If the neighbour cannot spare as much, both fit into one.
    """
    _entries, nodes, cursor = state
    parent = nodes[node + PARENT]
    i = _index(state, node)
    if i == nodes[parent + SIZE]:
        i -= 1
    left: int = nodes[parent + KIDS + i]
    right: int = nodes[parent + KIDS + i + 1]
    need = wanted - nodes[node + SIZE]
    _mark(state, parent)
    _mark(state, left)
    if nodes[left + SIZE] + nodes[right + SIZE] - nodes[node + SIZE] - LEAST < need:
        size = nodes[left + SIZE] + 1
        _move(state, parent, i, left, size - 1)
        for j in range(nodes[right + SIZE]):
            _move(state, right, j, left, size + j)
        if nodes[left + LEVEL] > 0:
            for j in range(nodes[right + SIZE] + 1):
                _adopt(state, left, size + j, nodes[right + KIDS + j])
        nodes[left + SIZE] = size + nodes[right + SIZE]
        _close(state, parent, i, 1, i + 1)
        if nodes[right + PLACE] == RIGHT:
            if nodes[left + PLACE] == MIDDLE:
                nodes[left + PLACE] = RIGHT
            if nodes[left + LEVEL] == 0:
                cursor[NEWEST] = left
        nodes[right + LEVEL] = 0
        _free(state, right)
        if parent == cursor[ROOT] and nodes[parent + SIZE] == 0:
            _shrink(state)
        return left
    _mark(state, right)
    size = nodes[node + SIZE]
    if node == left:
        _move(state, parent, i, left, size)
        for j in range(need - 1):
            _move(state, right, j, left, size + 1 + j)
        _move(state, right, need - 1, parent, i)
        if nodes[left + LEVEL] > 0:
            for j in range(need):
                _adopt(state, left, size + 1 + j, nodes[right + KIDS + j])
        nodes[left + SIZE] += need
        _close(state, right, 0, need, 0)
    else:
        for _ in range(need):
            _open(state, right, 0)
        if nodes[right + LEVEL] > 0:  # opening leaves the first child where it was
            nodes[right + KIDS + need] = nodes[right + KIDS]
        kept = nodes[left + SIZE] - need
        _move(state, parent, i, right, need - 1)
        for j in range(need - 1):
            _move(state, left, kept + 1 + j, right, j)
        _move(state, left, kept, parent, i)
        if nodes[left + LEVEL] > 0:
            for j in range(need):
                _adopt(state, right, j, nodes[left + KIDS + kept + 1 + j])
        nodes[left + SIZE] = kept
    return node


@jitable
def _shrink(state: Any) -> None:
    """Let the only child of the root be the root."""
    _entries, nodes, cursor = state
    old = cursor[ROOT]
    root = nodes[old + KIDS]
    nodes[old + LEVEL] = 0
    _free(state, old)
    cursor[ROOT] = root
    nodes[root + PARENT] = NONE
    nodes[root + PLACE] = MIDDLE
    _mark(state, root)
    if nodes[root + LEVEL] == 0:
        cursor[OLDEST] = root
        cursor[NEWEST] = root
    else:  # their folds went on with the one that is now the root's
        _mark(state, nodes[root + KIDS])
        _mark(state, nodes[root + KIDS + nodes[root + SIZE]])


# --- many rows at once ---------------------------------------------------------------------------


@jitable
def evict_until(aggregate: Monoid, state: Any, position: int) -> None:
    """Evict all positions up to and with this one."""
    _entries, nodes, cursor = state
    if count(state) == 0 or oldest(state) > position:
        return
    if newest(state) <= position:
        cursor[NEXT] = newest(state) + 1
        _free(state, cursor[ROOT])
        root = _take(state, 0)
        cursor[ROOT] = root
        cursor[OLDEST] = root
        cursor[NEWEST] = root
        _refold(aggregate, state, root)
        return
    top = cursor[OLDEST]
    while top != cursor[ROOT] and nodes[top + TIMES + nodes[top + SIZE] - 1] <= position:
        top = nodes[top + PARENT]
    gone = _first_after(state, top, position)
    if nodes[top + LEVEL] == 0 and top != cursor[ROOT] and nodes[top + SIZE] - gone >= LEAST:
        _drop(state, top, gone)
        return
    # Cut: what is left of the path to the oldest survivor goes, and the path is the new left edge.
    node = top
    while True:
        gone = _first_after(state, node, position)
        if nodes[node + LEVEL] > 0:
            for i in range(gone):
                _free(state, nodes[node + KIDS + i])
        _close(state, node, 0, gone, 0)
        if node != cursor[ROOT]:
            nodes[node + PLACE] = LEFT
        _mark(state, node)
        if nodes[node + LEVEL] == 0:
            break
        node = nodes[node + KIDS]
    cursor[OLDEST] = node
    while nodes[cursor[ROOT] + SIZE] == 0:  # the survivors were all in its last child
        _shrink(state)
        top = cursor[ROOT]
    # Fill downwards: a node above that got μ entries can lose one to a merger and has a second child.
    node = top
    while True:
        if node != cursor[ROOT] and nodes[node + SIZE] < (MU if nodes[node + LEVEL] > 0 else LEAST):
            _fill(state, node, MU if nodes[node + LEVEL] > 0 else LEAST)  # a first child: it takes its neighbour in
        if nodes[node + LEVEL] == 0:
            break
        node = nodes[node + KIDS]
    if top != cursor[ROOT] and nodes[top + PLACE] != FREED:
        _settle(state, nodes[top + PARENT])
    _repair(aggregate, state)


@jitable
def insert_sorted(aggregate: Monoid, state: Any, positions: Any, partials: Fields, count: int) -> None:
    """Insert `count` rows whose positions do not descend, each as `insert_at` would.

    Leaves are found from one another, not from the root; each is rewritten once with all that goes
    there, and cut where it is too long. What is cut off waits for the level above to do the same.
    """
    entries, nodes, cursor = state
    node = NONE
    at = 0
    while at < count:
        position = positions[at]
        if node == NONE:
            node, i = _find(state, position)
        else:
            while (
                node != cursor[ROOT]
                and nodes[node + PLACE] != RIGHT
                and nodes[node + TIMES + nodes[node + SIZE] - 1] < position
            ):
                node = nodes[node + PARENT]
            node, i = _descend(state, node, position)
        if i < nodes[node + SIZE] and nodes[node + TIMES + i] == position:
            place = _entry(node, i)
            store(entries, place, combine(aggregate, load(entries, place), load(partials, at)))
            _mark(state, node)
            at += 1
        else:
            stop = _run_end(state, node, positions, at, count)
            node = _weave_rows(aggregate, state, node, positions, partials, at, stop)
            at = stop
    while cursor[WAITING] != NONE:
        first = cursor[WAITING]
        cursor[WAITING] = NONE
        cursor[LAST_WAITING] = NONE
        while first != NONE:
            parent = nodes[first + PARENT]
            end, many = first, 0
            while end != NONE and nodes[end + PARENT] == parent:
                end = nodes[end + AFTER]
                many += 1
            _weave_nodes(state, parent, first, many)
            first = end
    _repair(aggregate, state)


@jitable
def _run_end(state: Any, leaf: int, positions: Any, at: int, count: int) -> int:
    """Where the rows end that go to the same leaf."""
    _entries, nodes, cursor = state
    node = leaf
    while node != cursor[ROOT] and nodes[node + PLACE] != RIGHT:
        i = _index(state, node)
        node = nodes[node + PARENT]
        if i < nodes[node + SIZE]:
            while at < count and positions[at] < nodes[node + TIMES + i]:
                at += 1
            return at
    return count


@jitable
def _weave_rows(aggregate: Monoid, state: Any, leaf: int, positions: Any, partials: Fields, at: int, stop: int) -> int:
    """Merge rows [at, stop) into a leaf; gives the last of the leaves that it became."""
    entries, nodes, cursor = state
    size = nodes[leaf + SIZE]
    total, j = size, 0
    for i in range(at, stop):
        while j < size and nodes[leaf + TIMES + j] < positions[i]:
            j += 1
        is_known = j < size and nodes[leaf + TIMES + j] == positions[i]
        if not is_known and (i == at or positions[i] != positions[i - 1]):
            total += 1
    was_root = leaf == cursor[ROOT]
    _lay_out(state, leaf, total)
    node, i, j = leaf, at, 0
    for left in range(total, 0, -1):
        if i == stop or (j < size and nodes[DESK + TIMES + j] <= positions[i]):
            position = nodes[DESK + TIMES + j]
            partial = load(entries, _entry(DESK, j))
            j += 1
        else:
            position = positions[i]
            partial = load(partials, i)
            i += 1
        while i < stop and positions[i] == position:
            partial = combine(aggregate, partial, load(partials, i))
            i += 1
        node = _append(state, leaf, node, left, position, partial, NONE)
    if node != leaf:
        _pass_edge(state, leaf, node, was_root)
    return node


@jitable
def _weave_nodes(state: Any, parent: int, first: int, many: int) -> None:
    """Merge waiting nodes, with the entries to their left, into their parent."""
    entries, nodes, cursor = state
    size = nodes[parent + SIZE]
    was_root = parent == cursor[ROOT]
    _lay_out(state, parent, size + many)
    node, j = parent, 0
    child, comer = NONE, first
    for left in range(size + many, 0, -1):
        if many == 0 or (j < size and nodes[DESK + TIMES + j] < nodes[comer + TIMES + SPARE]):
            source, place = DESK, j
            child = nodes[DESK + KIDS + j + 1]
            j += 1
        else:
            source, place = comer, SPARE
            child = comer
            comer = nodes[comer + AFTER]
            many -= 1
        position, partial = nodes[source + TIMES + place], load(entries, _entry(source, place))
        node = _append(state, parent, node, left, position, partial, child)
    if node != parent:
        _pass_edge(state, parent, node, was_root)


@jitable
def _lay_out(state: Any, node: int, total: int) -> None:
    """Move a node's entries and children to the desk, for it to become `total` entries long."""
    _entries, nodes, cursor = state
    if node == cursor[ROOT] and total > MOST:
        _grow(state)
    for j in range(nodes[node + SIZE]):
        _move(state, node, j, DESK, j)
    if nodes[node + LEVEL] > 0:
        for j in range(nodes[node + SIZE] + 1):
            nodes[DESK + KIDS + j] = nodes[node + KIDS + j]
    nodes[node + SIZE] = 0
    _mark(state, node)


@jitable
def _append(state: Any, origin: int, node: int, left: int, position: int, partial: Partial, child: int) -> int:
    """Append the first of `left` entries to a node cut off `origin`; gives the node to go on with.

    Nodes get μ entries as long as more than one node is to come, and the entry after them waits
    with the next node; so the last one has between LEAST and MOST.
    """
    entries, nodes, cursor = state
    size = nodes[node + SIZE]
    if size < MU or size + left <= MOST:
        nodes[node + TIMES + size] = position
        store(entries, _entry(node, size), partial)
        nodes[node + SIZE] += 1
        if child != NONE:
            _adopt(state, node, size + 1, child)
        return node
    right = _take(state, nodes[origin + LEVEL])
    nodes[right + PARENT] = nodes[origin + PARENT]
    nodes[right + TIMES + SPARE] = position
    store(entries, _entry(right, SPARE), partial)
    if child != NONE:
        _adopt(state, right, 0, child)
    nodes[right + AFTER] = NONE
    if cursor[WAITING] == NONE:
        cursor[WAITING] = right
    else:
        nodes[cursor[LAST_WAITING] + AFTER] = right
    cursor[LAST_WAITING] = right
    _mark(state, right)
    return right


# --- answers -------------------------------------------------------------------------------------


def query(aggregate: Monoid, state: Any) -> Partial:
    entries, nodes, cursor = state
    middle = load(entries, _fold(cursor[ROOT]))
    if nodes[cursor[ROOT] + LEVEL] == 0:
        return middle
    older = combine(aggregate, load(entries, _fold(cursor[OLDEST])), middle)
    return combine(aggregate, older, load(entries, _fold(cursor[NEWEST])))


def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    """The fold of the newest `count`, found by counting entries from the newest finger; O(log n)."""
    if count < 1:
        return identity(aggregate)
    return _between(aggregate, state, _position_from_end(state, count), 0, True)


def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    for place in range(len(counts)):
        start = _position_from_end(state, counts[place])
        store(answers, place, _between(aggregate, state, start, 0, True))


@jitable
def query_range(aggregate: Monoid, state: Any, start: int, end: int) -> Partial:
    """The fold of the positions in [start, end), in O(log n)."""
    if end <= start:
        return identity(aggregate)
    return _between(aggregate, state, start, end, False)


@jitable
def _position_from_end(state: Any, count: int) -> int:
    """The position of the last but `count` - 1; the oldest if there are fewer."""
    _entries, nodes, cursor = state
    root = cursor[ROOT]
    node = cursor[NEWEST]
    while node != root:  # what a node on the edge has before its last child
        own = nodes[node + BELOW]
        if nodes[node + PARENT] != root:
            own -= nodes[nodes[node + PARENT] + BELOW]
        if count <= own:
            break
        count -= own
        node = nodes[node + PARENT]
    i = nodes[node + SIZE]
    goes_down = False
    while True:
        if goes_down:
            child = nodes[node + KIDS + i]
            if i == 0 or nodes[child + BELOW] >= count:  # the first may be on an edge, but then it has to be it
                node = child
                i = nodes[node + SIZE]
                goes_down = nodes[node + LEVEL] > 0
                continue
            count -= nodes[child + BELOW]
        if i == 0:
            return int(nodes[cursor[OLDEST] + TIMES])
        i -= 1
        count -= 1
        if count == 0:
            return int(nodes[node + TIMES + i])
        goes_down = nodes[node + LEVEL] > 0


@jitable
def _between(aggregate: Monoid, state: Any, start: int, end: int, is_open: bool) -> Partial:
    """The fold of [start, end), or of all from `start` on.

    Both borders lead down the same way, then part; no node between the two ways is on an edge, so
    each folds its whole subtree.
    """
    entries, nodes, cursor = state
    node = cursor[ROOT]
    while True:
        i = _first_from(state, node, start)
        j = nodes[node + SIZE] if is_open else _first_from(state, node, end)
        if i < j or nodes[node + LEVEL] == 0:
            break
        node = nodes[node + KIDS + i]
    folded = identity(aggregate)
    for k in range(i, j):
        if k > i and nodes[node + LEVEL] > 0:
            folded = combine(aggregate, folded, load(entries, _fold(nodes[node + KIDS + k])))
        folded = combine(aggregate, folded, load(entries, _entry(node, k)))
    if i >= j or nodes[node + LEVEL] == 0:
        return folded
    is_root = node == cursor[ROOT]
    if is_root and i == 0 and start <= nodes[cursor[OLDEST] + TIMES]:
        folded = combine(aggregate, load(entries, _fold(cursor[OLDEST])), folded)
    elif nodes[node + TIMES + i] != start:
        older = nodes[node + KIDS + i]
        while True:
            i = _first_from(state, older, start)
            for k in range(nodes[older + SIZE] - 1, i - 1, -1):
                if nodes[older + LEVEL] > 0:
                    folded = combine(aggregate, load(entries, _fold(nodes[older + KIDS + k + 1])), folded)
                folded = combine(aggregate, load(entries, _entry(older, k)), folded)
            if nodes[older + LEVEL] == 0 or (i < nodes[older + SIZE] and nodes[older + TIMES + i] == start):
                break
            older = nodes[older + KIDS + i]
    if is_root and j == nodes[node + SIZE] and (is_open or end > newest(state)):
        return combine(aggregate, folded, load(entries, _fold(cursor[NEWEST])))
    newer = nodes[node + KIDS + j]
    while True:
        j = nodes[newer + SIZE] if is_open else _first_from(state, newer, end)
        for k in range(j):
            if nodes[newer + LEVEL] > 0:
                folded = combine(aggregate, folded, load(entries, _fold(nodes[newer + KIDS + k])))
            folded = combine(aggregate, folded, load(entries, _entry(newer, k)))
        if nodes[newer + LEVEL] == 0:
            return folded
        newer = nodes[newer + KIDS + j]


@jitable
def oldest(state: Any) -> int:
    """The first position; of an empty window, nothing sensible."""
    _entries, nodes, cursor = state
    return int(nodes[cursor[OLDEST] + TIMES])


@jitable
def newest(state: Any) -> int:
    """The last position; of an empty window, nothing sensible."""
    _entries, nodes, cursor = state
    return int(nodes[cursor[NEWEST] + TIMES + nodes[cursor[NEWEST] + SIZE] - 1])


@jitable
def count(state: Any) -> int:
    _entries, nodes, cursor = state
    if nodes[cursor[ROOT] + LEVEL] == 0:
        return int(nodes[cursor[ROOT] + BELOW])
    return int(nodes[cursor[OLDEST] + BELOW] + nodes[cursor[ROOT] + BELOW] + nodes[cursor[NEWEST] + BELOW])


def capacity(state: Any) -> int:
    entries, _nodes, _cursor = state
    return (length(entries) // FAN - 3) * LEAST


def resized(aggregate: Monoid, state: Any, capacity: int) -> Any:
    """Nodes stay where they are, so the room never falls below what was used at the peak."""
    entries, nodes, cursor = state
    used = int(cursor[UNUSED])
    new_entries, new_nodes = _room(aggregate, max(_nodes_for(capacity), used // RECORD))
    for old, new in zip(entries, new_entries, strict=True):
        new[: _entry(used, 0)] = old[: _entry(used, 0)]
    new_nodes[:used] = nodes[:used]
    return new_entries, new_nodes, cursor


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    entries, nodes, cursor = state
    root = int(cursor[ROOT])
    Rows: TypeAlias = list[tuple[int, Partial]]

    def children(node: int) -> list[int]:
        return [int(nodes[node + KIDS + i]) for i in range(nodes[node + SIZE] + 1)] if nodes[node + LEVEL] else []

    def rows(node: int) -> Rows:
        size = int(nodes[node + SIZE])
        own = [(int(nodes[node + TIMES + i]), load(entries, _entry(node, i))) for i in range(size)]
        parts = [rows(child) for child in children(node)] or [[] for _ in range(size + 1)]
        return parts[0] + [row for entry, part in zip(own, parts[1:], strict=True) for row in (entry, *part)]

    def folded(rows: Rows) -> Partial:
        answer = identity(aggregate)
        for _, partial in rows:
            answer = combine(aggregate, answer, partial)
        return answer

    whole = rows(root)
    assert all(a < b for (a, _), (b, _) in pairwise(whole)), "K1"
    assert [partial for _, partial in whole] == partials and count(state) == len(partials), "K1"
    if partials:
        assert oldest(state) == whole[0][0] and newest(state) == whole[-1][0], "K3"

    live = [root]
    for node in live:  # grows as it goes
        kin, place = children(node), nodes[node + PLACE]
        live += kin
        assert nodes[node + SIZE] <= MOST, "K2"
        assert nodes[node + SIZE] >= (LEAST if node != root else 1 if kin else 0), "K2"
        assert all(nodes[each + PARENT] == node and nodes[each + LEVEL] == nodes[node + LEVEL] - 1 for each in kin), (
            "K2"
        )
        for i, child in enumerate(kin):
            is_left = i == 0 and (node == root or place == LEFT)
            is_right = i == len(kin) - 1 and (node == root or place == RIGHT)
            assert nodes[child + PLACE] == (LEFT if is_left else RIGHT if is_right else MIDDLE), "K3"
        if not kin:
            assert (node == cursor[OLDEST]) == (node == root or place == LEFT), "K3"
            assert (node == cursor[NEWEST]) == (node == root or place == RIGHT), "K3"
    assert nodes[root + PLACE] == MIDDLE and nodes[root + PARENT] == NONE, "K3"

    on_edge: dict[int, Rows] = {root: []}
    for node in live:
        mine, kin, place, parent = rows(node), children(node), nodes[node + PLACE], int(nodes[node + PARENT])
        if kin and (node == root or place == LEFT):
            mine = mine[len(rows(kin[0])) :]
        if kin and (node == root or place == RIGHT):
            mine = mine[: len(mine) - len(rows(kin[-1]))]
        if place != MIDDLE:
            mine = on_edge[node] = mine + on_edge[parent] if place == LEFT else on_edge[parent] + mine
        assert load(entries, _fold(node)) == folded(mine) and nodes[node + BELOW] == len(mine), "K4"
        if node == cursor[OLDEST] and node != root:
            for i in range(nodes[node + SIZE]):
                assert load(entries, _entry(FRONTS, i)) == folded(mine[nodes[node + SIZE] - 1 - i :]), "K5"

    free: list[int] = []
    node = int(cursor[FREE])
    while node != NONE:
        free.append(node)
        assert nodes[node + PLACE] == FREED, "K6"
        node = int(nodes[node + PARENT])
    for node in free:  # grows as it goes
        free += children(node)
    assert sorted([DESK, FRONTS, *live, *free]) == list(range(0, cursor[UNUSED], RECORD)), "K6"
    assert cursor[UNUSED] <= len(nodes), "K6"
    assert cursor[DIRTY] == 0 and all(each == NONE for each in cursor[LISTS:]), "K7"
    assert cursor[WAITING] == NONE and all(link == CLEAN for link in nodes[LINK::RECORD]), "K7"
