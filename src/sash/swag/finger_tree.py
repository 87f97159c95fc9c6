"""A B-tree of entries by position that is held by its two ends: where an entry is, and how nodes split and merge.

Picture                     root  [ 40 | 80 ]                              (μ = 4 drawn as 2)
                   ┌───────────────┼───────────────┐
            LEFT [ 20 ]       MIDDLE [ 60 ]    RIGHT [ 95 ]
             ┌─────┴─────┐      ┌──┴──┐         ┌────┴────┐
            LEFT [10]   [30]   [50]  [70]      [90]  RIGHT [99]
             oldest finger                      newest finger
            nodes    … | size parent place level link after below  times ×2μ  kids ×2μ+1 | …
            entries  … | partials ×2μ                                         fold       | …
Keeps     T1  read in order, positions grow strictly
          T2  non-root nodes have μ-1 … 2μ-1 entries, the root at most 2μ-1 and, above leaves, one;
              a node of s entries has no or s + 1 children; leaves are of level 0, parents one more
          T3  the first child of the root and of LEFT nodes is LEFT, the last of the root and of
              RIGHT ones is RIGHT, all else MIDDLE, the root too; the fingers end these two edges
          T4  every node is in the tree, free, below one that was freed whole, or not yet used; two
              hold no rows of their own: the desk on which a bulk insert lays a node out, and the
              fronts of `finger_folds`
A step moves entries and marks each node whose fold that changes; what folds are, `finger_folds` knows.
"""

from itertools import pairwise
from typing import Any, TypeAlias

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, load, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.contract import integers

# Beside these, the names of the layout below are for the other modules of the finger tree.
__all__ = [
    "MU",
    "Rows",
    "adopt",
    "check_tree",
    "children",
    "descend",
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
    "pass_edge",
    "planted",
    "room",
    "rows_below",
    "shift",
    "shrink",
    "split",
    "take",
]
Rows: TypeAlias = list[tuple[int, Partial]]

MU = 4  # the least number of children of a node that is not the root
LEAST, MOST = MU - 1, 2 * MU - 1  # entries
SLOTS, FAN = 2 * MU, 2 * MU + 1  # one more than allowed: a node overflows before it splits

# A node is a record in `nodes`, named by where it starts, and FAN partials in `entries`.
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


def planted(aggregate: Monoid, count: int) -> Any:
    """A tree without entries, with room for `count` nodes."""
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
    """Entries and records of `count` nodes."""
    nodes = integers(aggregate, count * RECORD)
    for node in range(0, count * RECORD, RECORD):
        nodes[node + LINK] = CLEAN
    return aggregate.allocate(count * FAN), nodes


@jitable
def entry_of(node: int, i: int) -> int:
    """Where entry i of a node lives."""
    return node // RECORD * FAN + i


@jitable
def fold_of(node: int) -> int:
    """Where the fold of a node lives."""
    return node // RECORD * FAN + SLOTS


# --- nodes: taking, freeing, moving what they hold ------------------------------------------------


@jitable
def take(nodes: Any, cursor: Any, level: int) -> int:
    """A node of no entries."""
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
    """Free a node with all below it; one whose children live on must have been made a leaf."""
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
    # Within a node, in the order that overwrites nothing yet to be copied.
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
    """Which child of its parent a node is."""
    i = 0
    while nodes[nodes[node + PARENT] + KIDS + i] != node:
        i += 1
    return i


# --- finding -------------------------------------------------------------------------------------


@jitable
def find(nodes: Any, cursor: Any, position: int) -> tuple[int, int]:
    """The node and the place of a position, or the leaf and the place where it would go."""
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
    """As `find`, from a node in whose subtree it must be."""
    while True:
        i = first_from(nodes, node, position)
        if nodes[node + LEVEL] == 0 or (i < nodes[node + SIZE] and nodes[node + TIMES + i] == position):
            return node, i
        node = nodes[node + KIDS + i]


@jitable
def first_from(nodes: Any, node: int, position: int) -> int:
    """Which entry of a node is the first that is not before a position."""
    i = 0
    while i < nodes[node + SIZE] and nodes[node + TIMES + i] < position:
        i += 1
    return i


# --- growing and shrinking -----------------------------------------------------------------------


@jitable
def split(state: Any, node: int) -> int:
    """Split an overflowing node in two; gives the parent, which has an entry more."""
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
    """A node became several: the right edge goes to the last of them, the left one stays."""
    if was_root or nodes[node + PLACE] == RIGHT:
        nodes[node + PLACE] = LEFT if was_root else MIDDLE
        nodes[last + PLACE] = RIGHT
        if nodes[node + LEVEL] == 0:
            cursor[NEWEST] = last


@jitable
def fill(state: Any, node: int, wanted: int) -> int:
    """Bring a node to `wanted` ≤ μ entries or more from its neighbour; gives what may now have too few.

    Its parent must have another child. If the neighbour cannot spare as much, both fit into one.
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
    if nodes[left + SIZE] + nodes[right + SIZE] - nodes[node + SIZE] - LEAST >= need:
        mark(nodes, cursor, right)
        for _ in range(need):  # one by one round the parent's entry
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
                    nodes[right + KIDS + 1] = nodes[right + KIDS]  # shifting left it where it was
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
    """Let the only child of the root be the root."""
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
    else:  # their folds went on with the one that is now the root's
        mark(nodes, cursor, nodes[root + KIDS])
        mark(nodes, cursor, nodes[root + KIDS + nodes[root + SIZE]])


@jitable
def mark(nodes: Any, cursor: Any, node: int) -> None:
    """Have a node refolded by the next `repair`."""
    if nodes[node + LINK] == CLEAN:
        nodes[node + LINK] = cursor[LISTS + nodes[node + LEVEL]]
        cursor[LISTS + nodes[node + LEVEL]] = node
        cursor[DIRTY] += 1


# --- the T-lines ---------------------------------------------------------------------------------


def children(nodes: Any, node: int) -> list[int]:
    """Of a node, in order; a leaf has none."""
    return [int(nodes[node + KIDS + i]) for i in range(nodes[node + SIZE] + 1)] if nodes[node + LEVEL] else []


def rows_below(state: Any, node: int) -> Rows:
    """The positions and entries of a subtree, in order."""
    entries, nodes, _cursor = state
    size = int(nodes[node + SIZE])
    own = [(int(nodes[node + TIMES + i]), load(entries, entry_of(node, i))) for i in range(size)]
    parts = [rows_below(state, child) for child in children(nodes, node)] or [[] for _ in range(size + 1)]
    return parts[0] + [row for entry, part in zip(own, parts[1:], strict=True) for row in (entry, *part)]


def check_tree(state: Any) -> None:
    """Assert the T-lines."""
    _entries, nodes, cursor = state
    root = int(cursor[ROOT])

    assert all(a < b for (a, _), (b, _) in pairwise(rows_below(state, root))), "T1"

    live = [root]
    for node in live:  # grows as it goes
        kin, place = children(nodes, node), nodes[node + PLACE]
        live += kin
        assert nodes[node + SIZE] <= MOST, "T2"
        assert nodes[node + SIZE] >= (LEAST if node != root else 1 if kin else 0), "T2"
        for i, child in enumerate(kin):
            assert nodes[child + PARENT] == node and nodes[child + LEVEL] == nodes[node + LEVEL] - 1, "T2"
            is_left = i == 0 and (node == root or place == LEFT)
            is_right = i == len(kin) - 1 and (node == root or place == RIGHT)
            assert nodes[child + PLACE] == (LEFT if is_left else RIGHT if is_right else MIDDLE), "T3"
        if not kin:
            assert (node == cursor[OLDEST]) == (node == root or place == LEFT), "T3"
            assert (node == cursor[NEWEST]) == (node == root or place == RIGHT), "T3"
    assert nodes[root + PLACE] == MIDDLE and nodes[root + PARENT] == NONE, "T3"

    unused: list[int] = []
    node = int(cursor[FREE])
    while node != NONE:
        unused.append(node)
        assert nodes[node + PLACE] == FREED, "T4"
        node = int(nodes[node + PARENT])
    for node in unused:  # grows as it goes
        unused += children(nodes, node)
    assert sorted([DESK, FRONTS, *live, *unused]) == list(range(0, cursor[UNUSED], RECORD)), "T4"
    assert cursor[UNUSED] <= len(nodes), "T4"
