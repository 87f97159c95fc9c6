"""Many rows of a finger tree at once: evict all up to a position, insert a sorted batch.

Both change the tree level by level, so that each node is visited and folded once. The cost depends
on the border of the change, not on its rows.

Picture   evict_until(45) cuts along the path          insert_sorted(51, 52, 53, 54, 55), μ drawn as 2
          to the oldest survivor
                root [ 40 ┆ 80 ]     what is left         [ 60 ]                   [ 52 | 60 ]
              ┌────────┼────────┐    of the cut is         ┌──┴──┐       →       ┌─────┼─────┐
            [20]     [ 60 ]   [95]   freed whole, the     [50]  [70]       [50 51] [53 54 55] [70]
            ┌─┴─┐    ┌──┴──┐   …     path is the new
           [10][30] [50]  [70]       left edge            52 waits with [53 54 55] until its level is done
Keeps     B1  a node cut off another waits for its parent with the entry to its left in place SPARE;
              waiting nodes are listed in order, and between steps there is none
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, load, store
from sash.algebra.monoid import Monoid, combine
from sash.swag.finger_folds import drop, repair
from sash.swag.finger_tree import (
    AFTER,
    DESK,
    FREED,
    KIDS,
    LAST_WAITING,
    LEAST,
    LEFT,
    LEVEL,
    MOST,
    MU,
    NEWEST,
    NEXT,
    NONE,
    OLDEST,
    PARENT,
    PLACE,
    RIGHT,
    ROOT,
    SIZE,
    SLOTS,
    TIMES,
    WAITING,
    adopt,
    descend,
    entry_of,
    fill,
    find,
    first_from,
    free,
    grow,
    index_of,
    mark,
    move,
    pass_edge,
    shift,
    shrink,
    take,
)

__all__ = ["evict_until", "insert_sorted"]

SPARE = SLOTS - 1  # where a node that awaits its parent keeps the entry to its left


# --- evicting ------------------------------------------------------------------------------------


@jitable
def evict_until(aggregate: Monoid, state: Any, position: int) -> None:
    """Evict all positions up to and including this one."""
    _entries, nodes, cursor = state
    oldest, newest = cursor[OLDEST], cursor[NEWEST]
    if nodes[oldest + SIZE] == 0 or nodes[oldest + TIMES] > position:
        return
    last = nodes[newest + TIMES + nodes[newest + SIZE] - 1]
    if last <= position:
        cursor[NEXT] = last + 1
        free(nodes, cursor, cursor[ROOT])
        root = take(nodes, cursor, 0)
        cursor[ROOT] = root
        cursor[OLDEST] = root
        cursor[NEWEST] = root
        mark(nodes, cursor, root)
        repair(aggregate, state)
        return
    top = oldest
    while top != cursor[ROOT] and nodes[top + TIMES + nodes[top + SIZE] - 1] <= position:
        top = nodes[top + PARENT]
    gone = _first_after(nodes, top, position)
    if nodes[top + LEVEL] == 0 and top != cursor[ROOT] and nodes[top + SIZE] - gone >= LEAST:
        drop(state, top, gone)
        return
    # Cut: free everything to the left of the path to the oldest survivor; the path is the new left edge.
    node = top
    while True:
        gone = _first_after(nodes, node, position)
        if nodes[node + LEVEL] > 0:
            for i in range(gone):
                free(nodes, cursor, nodes[node + KIDS + i])
            nodes[node + KIDS] = nodes[node + KIDS + gone]
        shift(state, node, gone, -gone)
        if node != cursor[ROOT]:
            nodes[node + PLACE] = LEFT
        mark(nodes, cursor, node)
        if nodes[node + LEVEL] == 0:
            break
        node = nodes[node + KIDS]
    cursor[OLDEST] = node
    while nodes[cursor[ROOT] + SIZE] == 0:  # the survivors were all in its last child
        shrink(nodes, cursor)
        top = cursor[ROOT]
    # Fill downwards: a node that got μ entries has a second child, and can lose an entry when its children merge.
    node = top
    while True:
        if node != cursor[ROOT] and nodes[node + SIZE] < (MU if nodes[node + LEVEL] > 0 else LEAST):
            fill(state, node, MU if nodes[node + LEVEL] > 0 else LEAST)  # a first child: it takes its neighbour in
        if nodes[node + LEVEL] == 0:
            break
        node = nodes[node + KIDS]
    if top != cursor[ROOT] and nodes[top + PLACE] != FREED:
        node = nodes[top + PARENT]
        while node != cursor[ROOT] and nodes[node + SIZE] < LEAST:
            node = fill(state, node, LEAST)
    repair(aggregate, state)


@jitable
def _first_after(nodes: Any, node: int, position: int) -> int:
    """Return the first entry of a node that is after a position."""
    i = first_from(nodes, node, position)
    if i < nodes[node + SIZE] and nodes[node + TIMES + i] == position:
        return i + 1
    return i


# --- inserting -----------------------------------------------------------------------------------


@jitable
def insert_sorted(aggregate: Monoid, state: Any, positions: Any, partials: Fields, count: int) -> None:
    """Insert `count` rows whose positions do not descend, each as `insert_at` would.

    Each leaf is found from the one before it, not from the root. It is rewritten once with all of its
    new rows, and cut if it is too long. Nodes that were cut off wait until their level above is done.
    """
    entries, nodes, cursor = state
    node = NONE
    at = 0
    while at < count:
        position = positions[at]
        if node == NONE:
            node, i = find(nodes, cursor, position)
        else:
            while (
                node != cursor[ROOT]
                and nodes[node + PLACE] != RIGHT
                and nodes[node + TIMES + nodes[node + SIZE] - 1] < position
            ):
                node = nodes[node + PARENT]
            node, i = descend(nodes, node, position)
        if i < nodes[node + SIZE] and nodes[node + TIMES + i] == position:
            place = entry_of(node, i)
            store(entries, place, combine(aggregate, load(entries, place), load(partials, at)))
            mark(nodes, cursor, node)
            at += 1
        else:
            stop = _run_end(nodes, cursor, node, positions, at, count)
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
    repair(aggregate, state)


@jitable
def _run_end(nodes: Any, cursor: Any, leaf: int, positions: Any, at: int, count: int) -> int:
    """Return where the rows that belong to the same leaf end."""
    node = leaf
    while node != cursor[ROOT] and nodes[node + PLACE] != RIGHT:
        i = index_of(nodes, node)
        node = nodes[node + PARENT]
        if i < nodes[node + SIZE]:
            while at < count and positions[at] < nodes[node + TIMES + i]:
                at += 1
            return at
    return count


@jitable
def _weave_rows(aggregate: Monoid, state: Any, leaf: int, positions: Any, partials: Fields, at: int, stop: int) -> int:
    """Merge rows [at, stop) into a leaf; return the last of the leaves that it became."""
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
            partial = load(entries, entry_of(DESK, j))
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
        pass_edge(nodes, cursor, leaf, node, was_root)
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
        position, partial = nodes[source + TIMES + place], load(entries, entry_of(source, place))
        node = _append(state, parent, node, left, position, partial, child)
    if node != parent:
        pass_edge(nodes, cursor, parent, node, was_root)


@jitable
def _lay_out(state: Any, node: int, total: int) -> None:
    """Move a node's entries and children to the desk, before it becomes `total` entries long."""
    _entries, nodes, cursor = state
    if node == cursor[ROOT] and total > MOST:
        grow(nodes, cursor)
    for j in range(nodes[node + SIZE]):
        move(state, node, j, DESK, j)
    if nodes[node + LEVEL] > 0:
        for j in range(nodes[node + SIZE] + 1):
            nodes[DESK + KIDS + j] = nodes[node + KIDS + j]
    nodes[node + SIZE] = 0
    mark(nodes, cursor, node)


@jitable
def _append(state: Any, origin: int, node: int, left: int, position: int, partial: Partial, child: int) -> int:
    """Append the first of `left` entries to a node cut off `origin`; return the node to continue with.

    Nodes get μ entries as long as more than one node is to come, and the entry after them waits
    with the next node; so the last one has between LEAST and MOST.
    """
    entries, nodes, cursor = state
    size = nodes[node + SIZE]
    if size < MU or size + left <= MOST:
        nodes[node + TIMES + size] = position
        store(entries, entry_of(node, size), partial)
        nodes[node + SIZE] += 1
        if child != NONE:
            adopt(nodes, node, size + 1, child)
        return node
    right = take(nodes, cursor, nodes[origin + LEVEL])
    nodes[right + PARENT] = nodes[origin + PARENT]
    nodes[right + TIMES + SPARE] = position
    store(entries, entry_of(right, SPARE), partial)
    if child != NONE:
        adopt(nodes, right, 0, child)
    nodes[right + AFTER] = NONE
    if cursor[WAITING] == NONE:
        cursor[WAITING] = right
    else:
        nodes[cursor[LAST_WAITING] + AFTER] = right
    cursor[LAST_WAITING] = right
    mark(nodes, cursor, right)
    return right
