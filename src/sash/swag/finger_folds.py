"""The folds of a finger tree: their definition, how they are kept up to date, and how queries use them.

Idea      A node away from the edges folds its whole subtree. A node on the left edge folds what
          its subtree has to the right of the edge, followed by the fold of its parent. So the fold
          at the first leaf is that of the root's whole first subtree, and a change near an end
          changes few folds. The same holds on the right.
Picture                     root  [ 40 | 80 ]                    (μ = 8 drawn as 2)
                   ┌───────────────┼───────────────┐
            LEFT [ 20 ]       MIDDLE [ 60 ]    RIGHT [ 95 ]      fold(middle)  = p50…p70
             ┌─────┴─────┐      ┌──┴──┐         ┌────┴────┐      fold(LEFT)    = p20 p30
            LEFT [10]   [30]   [50]  [70]      [90]  RIGHT [99]  fold(10)      = p10 ⊕ fold(LEFT)
             oldest finger                      newest finger    fold(root)    = p40 p50…p70 p80
Keeps     F1  inner = a node's entries and the children between them.  Fold of a MIDDLE node: first
              child ⊕ inner ⊕ last child; root: inner; LEFT: inner ⊕ last child ⊕ fold(parent);
              RIGHT: fold(parent) ⊕ first child ⊕ inner; the root's fold is left out.  `below` counts
              the entries in each fold
          F2  of the oldest finger, if it has a parent: fronts[i] = its last i + 1 entries ⊕ fold(parent);
              of that parent, if it is LEFT: upper[i] = its last i + 1 entries, each with the child after
              it, ⊕ fold(its parent), and how many entries these are
          F3  after a repair nothing is marked
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.finger_tree import (
    BELOW,
    CLEAN,
    DIRTY,
    FRONTS,
    KIDS,
    LEFT,
    LEVEL,
    LINK,
    LISTS,
    MIDDLE,
    NEWEST,
    NONE,
    OLDEST,
    PARENT,
    PLACE,
    RIGHT,
    ROOT,
    SIZE,
    TIMES,
    UPPER,
    entry_of,
    first_from,
    fold_of,
    mark,
)

__all__ = ["drop", "drop_child", "fold_between", "position_from_end", "refold", "repair"]


@jitable
def repair(aggregate: Monoid, state: Any) -> None:
    """Fold marked nodes and all that depend on them again: up through the middle, then down the edges."""
    _entries, nodes, cursor = state
    left, right = NONE, NONE  # where the edges are to be refolded from
    level = 0
    while True:
        if cursor[DIRTY] > 0:
            node = cursor[LISTS + level]
            if node == NONE:
                level += 1
                continue
            cursor[LISTS + level] = nodes[node + LINK]
            nodes[node + LINK] = CLEAN
            cursor[DIRTY] -= 1
            if nodes[node + PLACE] != MIDDLE:  # on an edge the highest comes last, and may have been freed
                left = node if nodes[node + PLACE] == LEFT else left
                right = node if nodes[node + PLACE] == RIGHT else right
                continue
            if node != cursor[ROOT]:
                mark(nodes, cursor, nodes[node + PARENT])
        elif left != NONE:
            node = left
            left = nodes[node + KIDS] if nodes[node + LEVEL] > 0 else NONE
        elif right != NONE:
            node = right
            right = nodes[node + KIDS + nodes[node + SIZE]] if nodes[node + LEVEL] > 0 else NONE
        else:
            return
        refold(aggregate, state, node)


@jitable
def refold(aggregate: Monoid, state: Any, node: int) -> None:
    """Fold a node again: F1 and, of the oldest finger, F2."""
    entries, nodes, cursor = state
    size, place, parent = nodes[node + SIZE], nodes[node + PLACE], nodes[node + PARENT]
    is_root, has_children = node == cursor[ROOT], nodes[node + LEVEL] > 0
    folded = identity(aggregate)
    total = size
    if place != MIDDLE and parent != cursor[ROOT]:
        folded = load(entries, fold_of(parent))
        total += nodes[parent + BELOW]
    if place == LEFT:  # from the right, so that every step is a front
        for i in range(size - 1, -1, -1):
            if has_children:
                child = nodes[node + KIDS + i + 1]
                folded = combine(aggregate, load(entries, fold_of(child)), folded)
                total += nodes[child + BELOW]
            folded = combine(aggregate, load(entries, entry_of(node, i)), folded)
            if nodes[node + LEVEL] == 0:
                store(entries, entry_of(FRONTS, size - 1 - i), folded)
            elif nodes[node + LEVEL] == 1:
                store(entries, entry_of(UPPER, size - 1 - i), folded)
                nodes[UPPER + TIMES + size - 1 - i] = total - i
    else:
        first_child = 1 if is_root else 0
        last_child = size if place == MIDDLE and not is_root else size - 1
        for i in range(size + 1):
            if has_children and first_child <= i <= last_child:
                child = nodes[node + KIDS + i]
                folded = combine(aggregate, folded, load(entries, fold_of(child)))
                total += nodes[child + BELOW]
            if i < size:
                folded = combine(aggregate, folded, load(entries, entry_of(node, i)))
    store(entries, fold_of(node), folded)
    nodes[node + BELOW] = total


@jitable
def drop(state: Any, leaf: int, many: int) -> None:
    """Remove the oldest entry from the oldest finger, which has enough left; its new fold is in `fronts` (F2)."""
    entries, nodes, _cursor = state
    size = nodes[leaf + SIZE] - many
    times: Any = np.uint64(leaf + TIMES)
    first: Any = np.uint64(entry_of(leaf, 0))
    if many == 1:  # a fixed distance, so that the compiler moves several at a time
        for k in range(size):
            i, after = np.uint64(k), np.uint64(k + 1)
            nodes[times + i] = nodes[times + after]
            store(entries, first + i, load(entries, first + after))
    else:
        for k in range(size):
            i, after = np.uint64(k), np.uint64(k + many)
            nodes[times + i] = nodes[times + after]
            store(entries, first + i, load(entries, first + after))
    nodes[leaf + SIZE] = size
    store(entries, fold_of(leaf), load(entries, entry_of(FRONTS, size - 1)))
    nodes[leaf + BELOW] -= many


@jitable
def drop_child(aggregate: Monoid, state: Any, node: int) -> None:
    """Set the fold of the oldest finger's parent after its first entry and the child after it were removed (F2)."""
    entries, nodes, cursor = state
    if node == cursor[ROOT]:
        refold(aggregate, state, node)
        return
    last = nodes[node + SIZE] - 1
    store(entries, fold_of(node), load(entries, entry_of(UPPER, last)))
    nodes[node + BELOW] = nodes[UPPER + TIMES + last]


@jitable
def fold_between(aggregate: Monoid, state: Any, start: int, end: int, is_open: bool) -> Partial:
    """Return the fold of [start, end), or of all from `start` on.

    The paths to both borders start the same, then part. No node between the two paths is on an edge,
    so each folds its whole subtree.
    """
    entries, nodes, cursor = state
    node = cursor[ROOT]
    while True:
        i = first_from(nodes, node, start)
        j = nodes[node + SIZE] if is_open else first_from(nodes, node, end)
        if i < j or nodes[node + LEVEL] == 0:
            break
        node = nodes[node + KIDS + i]
    folded = identity(aggregate)
    for k in range(i, j):
        if k > i and nodes[node + LEVEL] > 0:
            folded = combine(aggregate, folded, load(entries, fold_of(nodes[node + KIDS + k])))
        folded = combine(aggregate, folded, load(entries, entry_of(node, k)))
    if i >= j or nodes[node + LEVEL] == 0:
        return folded
    is_root = node == cursor[ROOT]
    if is_root and i == 0 and start <= nodes[cursor[OLDEST] + TIMES]:
        folded = combine(aggregate, load(entries, fold_of(cursor[OLDEST])), folded)
    elif nodes[node + TIMES + i] != start:
        older = nodes[node + KIDS + i]
        while True:
            i = first_from(nodes, older, start)
            for k in range(nodes[older + SIZE] - 1, i - 1, -1):
                if nodes[older + LEVEL] > 0:
                    folded = combine(aggregate, load(entries, fold_of(nodes[older + KIDS + k + 1])), folded)
                folded = combine(aggregate, load(entries, entry_of(older, k)), folded)
            if nodes[older + LEVEL] == 0 or (i < nodes[older + SIZE] and nodes[older + TIMES + i] == start):
                break
            older = nodes[older + KIDS + i]
    last = nodes[cursor[NEWEST] + TIMES + nodes[cursor[NEWEST] + SIZE] - 1]
    if is_root and j == nodes[node + SIZE] and (is_open or end > last):
        return combine(aggregate, folded, load(entries, fold_of(cursor[NEWEST])))
    newer = nodes[node + KIDS + j]
    while True:
        j = nodes[newer + SIZE] if is_open else first_from(nodes, newer, end)
        for k in range(j):
            if nodes[newer + LEVEL] > 0:
                folded = combine(aggregate, folded, load(entries, fold_of(nodes[newer + KIDS + k])))
            folded = combine(aggregate, folded, load(entries, entry_of(newer, k)))
        if nodes[newer + LEVEL] == 0:
            return folded
        newer = nodes[newer + KIDS + j]


@jitable
def position_from_end(nodes: Any, cursor: Any, count: int) -> int:
    """Return the position of the `count`-th row from the end; the oldest if there are fewer."""
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
