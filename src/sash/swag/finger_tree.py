"""A finger tree: a B-tree of entries by position, searched from its two ends.

Picture                     root  [ 40 | 80 ]                              (μ = 8 drawn as 2)
                   ┌───────────────┼───────────────┐
            LEFT [ 20 ]       MIDDLE [ 60 ]    RIGHT [ 95 ]
             ┌─────┴─────┐      ┌──┴──┐         ┌────┴────┐
            LEFT [10]   [30]   [50]  [70]      [90]  RIGHT [99]
             oldest finger                      newest finger
Keeps     T1  read in order, positions grow strictly
          T2  non-root nodes have μ-1 … 2μ-1 entries, the root at most 2μ-1 and, above leaves, one;
              a node of s entries has no or s + 1 children; leaves are of level 0, parents one more
          T3  the first child of the root and of LEFT nodes is LEFT, the last of the root and of
              RIGHT ones is RIGHT, all else MIDDLE, the root too; the fingers end these two edges
          T4  every node is in the tree, free, below one that was freed whole, or not yet used; three
              hold no rows of their own: the desk on which a bulk insert lays a node out, and the
              fronts and upper fronts of `finger_folds`
A step moves entries and marks each node whose fold changes; `finger_folds` defines and computes the folds.

Layout      nodes    … | size parent place level link after below  times ×2μ  kids ×2μ+1 | …
            entries  … | partials ×2μ                                         fold       | …
A node is a record in `nodes`, identified by where it starts, and FAN partials in `entries`.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, load, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.contract import integers

# The names of the layout below are for the other modules of the finger tree, too.
__all__ = [
    "MU",
    "adopt",
    "descend",
    "empty_tree",
    "entry_of",
    "fill",
    "find",
    "first_from",
    "fold_of",
    "free",
    "grow",
    "index_of",
    "mark",
    "move",
    "move_run",
    "pass_edge",
    "room",
    "shift",
    "shrink",
    "split",
    "take",
]

MU = 8  # the least number of children of a node that is not the root
LEAST, MOST = MU - 1, 2 * MU - 1  # entries
SLOTS, FAN = 2 * MU, 2 * MU + 1  # one more than allowed: a node overflows before it splits

# The places of a record.
SIZE, PARENT, PLACE, LEVEL, LINK, AFTER, BELOW, TIMES = range(8)
KIDS = TIMES + SLOTS
RECORD = KIDS + FAN
MIDDLE, LEFT, RIGHT, FREED = range(4)  # where a node stands
NONE, CLEAN = -1, -2
DESK, FRONTS, UPPER, FIRST = range(0, 4 * RECORD, RECORD)
# The places of `cursor`: the root, the fingers, free and never used nodes, the next position of an empty
# window, new nodes without a parent yet, and dirty nodes, counted and listed by level.
ROOT, OLDEST, NEWEST, FREE, UNUSED, NEXT, WAITING, LAST_WAITING, DIRTY, LISTS = range(10)
LEVELS = 64  # more than a tree of 2^63 rows can have


def empty_tree(aggregate: Monoid, count: int) -> Any:
    """Return a tree without entries, with room for `count` nodes."""
    cursor = integers(aggregate, LISTS + LEVELS)
    cursor[ROOT] = cursor[OLDEST] = cursor[NEWEST] = FIRST
    cursor[UNUSED] = FIRST + RECORD
    for place in (FREE, WAITING, LAST_WAITING, *range(LISTS, LISTS + LEVELS)):
        cursor[place] = NONE
    entries, nodes = room(aggregate, count)
    nodes[FIRST + PARENT] = NONE
    store(entries, fold_of(FIRST), identity(aggregate))
    return entries, nodes, cursor


def room(aggregate: Monoid, count: int) -> tuple[Fields, Any]:
    """Allocate entries and records of `count` nodes."""
    nodes = integers(aggregate, count * RECORD)
    for node in range(0, count * RECORD, RECORD):
        nodes[node + LINK] = CLEAN
    return aggregate.allocate(count * FAN), nodes


@jitable
def entry_of(node: int, i: int) -> int:
    """Return where entry i of a node is in `entries`."""
    return node // RECORD * FAN + i


@jitable
def fold_of(node: int) -> int:
    """Return where the fold of a node is in `entries`."""
    return node // RECORD * FAN + SLOTS


@jitable
def take(nodes: Any, cursor: Any, level: int) -> int:
    """Take a free node, without entries."""
    node: int = cursor[FREE]
    if node == NONE:
        node = cursor[UNUSED]
        cursor[UNUSED] += RECORD
    else:
        cursor[FREE] = nodes[node + PARENT]
        if nodes[node + LEVEL] > 0:  # freed whole: its children are freed only now, so that freeing costs O(1)
            for i in range(nodes[node + SIZE] + 1):
                free(nodes, cursor, nodes[node + KIDS + i])
    nodes[node + LEVEL] = level
    nodes[node + SIZE] = 0
    nodes[node + PLACE] = MIDDLE
    nodes[node + PARENT] = NONE
    return node


@jitable
def free(nodes: Any, cursor: Any, node: int) -> None:
    """Free a node with all below it; to keep its children, make it a leaf first."""
    nodes[node + PLACE] = FREED
    nodes[node + PARENT] = cursor[FREE]
    cursor[FREE] = node


@jitable
def move(state: Any, source: int, i: int, target: int, j: int) -> None:
    """Copy entry i of a node to place j of another."""
    entries, nodes, _cursor = state
    nodes[target + TIMES + j] = nodes[source + TIMES + i]
    store(entries, entry_of(target, j), load(entries, entry_of(source, i)))


@jitable
def adopt(nodes: Any, node: int, i: int, child: int) -> None:
    """Make a node the child i of another."""
    nodes[node + KIDS + i] = child
    nodes[child + PARENT] = node


@jitable
def move_run(state: Any, source: int, i: int, target: int, j: int, many: int) -> None:
    """Copy `many` entries from i on, with the children to their right, to place j of a node of the same level."""
    entries, nodes, _cursor = state
    # Within one node, in the order that overwrites no entry before it is copied.
    k, step = (0, 1) if i > j else (many - 1, -1)
    for _ in range(many):
        nodes[target + TIMES + j + k] = nodes[source + TIMES + i + k]
        store(entries, entry_of(target, j + k), load(entries, entry_of(source, i + k)))
        if nodes[source + LEVEL] > 0:
            adopt(nodes, target, j + k + 1, nodes[source + KIDS + i + k + 1])
        k += step


@jitable
def shift(state: Any, node: int, i: int, by: int) -> None:
    """Move the entries from i on, and the children to their right, to make room (1) or to close a gap (-1, -2 …)."""
    _entries, nodes, _cursor = state
    move_run(state, node, i, node, i + by, nodes[node + SIZE] - i)
    nodes[node + SIZE] += by


@jitable
def index_of(nodes: Any, node: int) -> int:
    """Return which child of its parent a node is."""
    i = 0
    while nodes[nodes[node + PARENT] + KIDS + i] != node:
        i += 1
    return i


@jitable
def mark(nodes: Any, cursor: Any, node: int) -> None:
    """Mark a node as dirty, so that the next `repair` folds it again."""
    if nodes[node + LINK] == CLEAN:
        nodes[node + LINK] = cursor[LISTS + nodes[node + LEVEL]]
        cursor[LISTS + nodes[node + LEVEL]] = node
        cursor[DIRTY] += 1


# --- finding -------------------------------------------------------------------------------------


@jitable
def find(nodes: Any, cursor: Any, position: int) -> tuple[int, int]:
    """Return the node and the place of a position, or the leaf and the place where to insert it."""
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
    return descend(nodes, node, position)


@jitable
def descend(nodes: Any, node: int, position: int) -> tuple[int, int]:
    """Find a position in the subtree of a node."""
    while True:
        i = first_from(nodes, node, position)
        if nodes[node + LEVEL] == 0 or (i < nodes[node + SIZE] and nodes[node + TIMES + i] == position):
            return node, i
        node = nodes[node + KIDS + i]


@jitable
def first_from(nodes: Any, node: int, position: int) -> int:
    """Return the first entry of a node that is not before a position."""
    i = 0
    while i < nodes[node + SIZE] and nodes[node + TIMES + i] < position:
        i += 1
    return i


# --- growing and shrinking -----------------------------------------------------------------------


@jitable
def split(state: Any, node: int) -> int:
    """Split an overflowing node in two; return its parent, which has one entry more."""
    _entries, nodes, cursor = state
    was_root = node == cursor[ROOT]
    if was_root:
        grow(nodes, cursor)
    size = nodes[node + SIZE]
    right = take(nodes, cursor, nodes[node + LEVEL])
    move_run(state, node, MU + 1, right, 0, size - MU - 1)
    if nodes[node + LEVEL] > 0:
        adopt(nodes, right, 0, nodes[node + KIDS + MU + 1])
    nodes[right + SIZE] = size - MU - 1
    nodes[node + SIZE] = MU
    parent: int = nodes[node + PARENT]
    i = index_of(nodes, node)
    shift(state, parent, i, 1)
    move(state, node, MU, parent, i)
    adopt(nodes, parent, i + 1, right)
    pass_edge(nodes, cursor, node, right, was_root)
    mark(nodes, cursor, node)
    mark(nodes, cursor, right)
    mark(nodes, cursor, parent)
    return parent


@jitable
def grow(nodes: Any, cursor: Any) -> None:
    """Put a root without entries above the root."""
    child = cursor[ROOT]
    root = take(nodes, cursor, nodes[child + LEVEL] + 1)
    adopt(nodes, root, 0, child)
    cursor[ROOT] = root


@jitable
def pass_edge(nodes: Any, cursor: Any, node: int, last: int, was_root: bool) -> None:
    """Move the right edge of the tree to the last of the nodes that a node was split into."""
    if was_root or nodes[node + PLACE] == RIGHT:
        nodes[node + PLACE] = LEFT if was_root else MIDDLE
        nodes[last + PLACE] = RIGHT
        if nodes[node + LEVEL] == 0:
            cursor[NEWEST] = last


@jitable
def fill(state: Any, node: int, wanted: int) -> int:
    """Move entries from a neighbour until a node has `wanted` ≤ μ or more; return the node that may now have too few.

    Its parent must have another child. If the neighbour has too few entries to spare, the two become one.
    """
    _entries, nodes, cursor = state
    parent: int = nodes[node + PARENT]
    i = index_of(nodes, node)
    if i == nodes[parent + SIZE]:
        i -= 1
    left: int = nodes[parent + KIDS + i]
    right: int = nodes[parent + KIDS + i + 1]
    has_children = nodes[node + LEVEL] > 0
    need = wanted - nodes[node + SIZE]
    mark(nodes, cursor, parent)
    mark(nodes, cursor, left)
    # Rows leave at the left edge, so a node there joins its neighbour as soon as both fit: moving one entry at a time
    # would change the same nodes again and again.
    joins = nodes[node + PLACE] == LEFT and nodes[left + SIZE] + nodes[right + SIZE] < MOST
    if not joins and nodes[left + SIZE] + nodes[right + SIZE] - nodes[node + SIZE] - LEAST >= need:
        mark(nodes, cursor, right)
        for _ in range(need):  # one by one, through the entry of the parent
            size = nodes[left + SIZE]
            if node == left:
                move(state, parent, i, left, size)
                move(state, right, 0, parent, i)
                if has_children:
                    adopt(nodes, left, size + 1, nodes[right + KIDS])
                    nodes[right + KIDS] = nodes[right + KIDS + 1]
                nodes[left + SIZE] += 1
                shift(state, right, 1, -1)
            else:
                shift(state, right, 0, 1)
                move(state, parent, i, right, 0)
                move(state, left, size - 1, parent, i)
                if has_children:
                    nodes[right + KIDS + 1] = nodes[right + KIDS]  # shift does not move the first child
                    adopt(nodes, right, 0, nodes[left + KIDS + size])
                nodes[left + SIZE] -= 1
        return parent
    size = nodes[left + SIZE] + 1
    move(state, parent, i, left, size - 1)
    move_run(state, right, 0, left, size, nodes[right + SIZE])
    if has_children:
        adopt(nodes, left, size, nodes[right + KIDS])
    nodes[left + SIZE] = size + nodes[right + SIZE]
    shift(state, parent, i + 1, -1)
    if nodes[right + PLACE] == RIGHT:
        if nodes[left + PLACE] == MIDDLE:
            nodes[left + PLACE] = RIGHT
        if not has_children:
            cursor[NEWEST] = left
    nodes[right + LEVEL] = 0
    free(nodes, cursor, right)
    if parent == cursor[ROOT] and nodes[parent + SIZE] == 0:
        shrink(nodes, cursor)
        return left
    return parent


@jitable
def shrink(nodes: Any, cursor: Any) -> None:
    """Make the only child of the root the root."""
    old = cursor[ROOT]
    root = nodes[old + KIDS]
    nodes[old + LEVEL] = 0
    free(nodes, cursor, old)
    cursor[ROOT] = root
    nodes[root + PARENT] = NONE
    nodes[root + PLACE] = MIDDLE
    mark(nodes, cursor, root)
    if nodes[root + LEVEL] == 0:
        cursor[OLDEST] = root
        cursor[NEWEST] = root
    else:  # their folds included the fold that is now the root's
        mark(nodes, cursor, nodes[root + KIDS])
        mark(nodes, cursor, nodes[root + KIDS + nodes[root + SIZE]])
