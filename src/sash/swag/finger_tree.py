"""A finger tree: a B-tree of entries by position, searched from its two ends.

Picture                     root  [ 40 | 80 ]                              (μ = 4 drawn as 2)
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
          T4  every node is in the tree, free, below one that was freed whole, or not yet used; two
              hold no rows of their own: the desk on which a bulk insert lays a node out, and the
              fronts of `finger_folds`
A step moves entries and marks each node whose fold changes; `finger_folds` defines and computes the folds.
"""

from itertools import pairwise
from typing import Any, TypeAlias

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, load
from sash.swag.finger_nodes import (
    DESK,
    FREE,
    FREED,
    FRONTS,
    KIDS,
    LEAST,
    LEFT,
    LEVEL,
    MIDDLE,
    MOST,
    MU,
    NEWEST,
    NONE,
    OLDEST,
    PARENT,
    PLACE,
    RECORD,
    RIGHT,
    ROOT,
    SIZE,
    TIMES,
    UNUSED,
    adopt,
    children,
    entry_of,
    free,
    index_of,
    mark,
    move,
    move_run,
    shift,
    take,
)

__all__ = [
    "Rows",
    "check_tree",
    "descend",
    "fill",
    "find",
    "first_from",
    "grow",
    "pass_edge",
    "rows_below",
    "shrink",
    "split",
]

Rows: TypeAlias = list[tuple[int, Partial]]

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
    if nodes[left + SIZE] + nodes[right + SIZE] - nodes[node + SIZE] - LEAST >= need:
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


# --- the T-lines ---------------------------------------------------------------------------------


def rows_below(state: Any, node: int) -> Rows:
    """Return the positions and entries of a subtree, in order."""
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
