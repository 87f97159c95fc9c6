"""Check the T- and F-lines of a finger tree: assert them after a step, and find faults in a saved tree.

A kernel follows links without checks. So before it gets a tree from saved bytes, this module follows every link, each
level as one array. It does not check the values of folds: a wrong fold gives a wrong result, never a wrong index.
"""

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from sash.algebra.fields import Partial, length, load
from sash.algebra.monoid import Monoid
from sash.swag.finger_tree import (
    BELOW,
    CLEAN,
    DESK,
    DIRTY,
    FAN,
    FIRST,
    FREE,
    FREED,
    FRONTS,
    KIDS,
    LAST_WAITING,
    LEAST,
    LEFT,
    LEVEL,
    LEVELS,
    LINK,
    LISTS,
    MIDDLE,
    MOST,
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
    UPPER,
    WAITING,
    entry_of,
    fold_of,
)
from sash.swag.ring import fold_all

__all__ = ["check_folds", "check_tree", "rows_below", "tree_fault"]

Array: TypeAlias = np.ndarray[Any, Any]
Rows: TypeAlias = list[tuple[int, Partial]]
_LINKS = "a link of its tree leads nowhere"


# --- asserted after a step -----------------------------------------------------------------------


def children(nodes: Any, node: int) -> list[int]:
    """Return the children of a node in order; a leaf has none."""
    return [int(nodes[node + KIDS + i]) for i in range(nodes[node + SIZE] + 1)] if nodes[node + LEVEL] else []


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
    assert sorted([DESK, FRONTS, UPPER, *live, *unused]) == list(range(0, cursor[UNUSED], RECORD)), "T4"
    assert cursor[UNUSED] <= len(nodes), "T4"


def check_folds(aggregate: Monoid, state: Any) -> None:
    """Assert the F-lines."""
    entries, nodes, cursor = state
    root = int(cursor[ROOT])

    def fold(rows: Rows) -> Partial:
        return fold_all(aggregate, [partial for _, partial in rows])

    on_edge: dict[int, Rows] = {root: []}
    live = [root]
    for node in live:  # grows as it goes
        mine, kin, place = rows_below(state, node), children(nodes, node), nodes[node + PLACE]
        live += kin
        if kin and (node == root or place == LEFT):
            mine = mine[len(rows_below(state, kin[0])) :]
        if kin and (node == root or place == RIGHT):
            mine = mine[: len(mine) - len(rows_below(state, kin[-1]))]
        if place != MIDDLE:
            above = on_edge[int(nodes[node + PARENT])]
            mine = on_edge[node] = mine + above if place == LEFT else above + mine
        assert load(entries, fold_of(node)) == fold(mine) and nodes[node + BELOW] == len(mine), "F1"
        if node == cursor[OLDEST] and node != root:
            for i in range(nodes[node + SIZE]):
                assert load(entries, entry_of(FRONTS, i)) == fold(mine[nodes[node + SIZE] - 1 - i :]), "F2"
        if place == LEFT and nodes[node + LEVEL] == 1:
            for i in range(nodes[node + SIZE]):
                rest = mine[sum(nodes[kid + SIZE] + 1 for kid in kin[1 : nodes[node + SIZE] - i]) :]
                assert load(entries, entry_of(UPPER, i)) == fold(rest), "F2"
                assert nodes[UPPER + TIMES + i] == len(rest), "F2"
    assert cursor[DIRTY] == 0 and all(each == NONE for each in cursor[LISTS:]), "F3"
    assert all(link == CLEAN for link in nodes[LINK::RECORD]), "F3"


# --- faults of a saved tree ----------------------------------------------------------------------


def tree_fault(state: Any) -> str | None:
    """Return what is wrong with a tree, or None."""
    entries, nodes, cursor = state
    if len(cursor) != LISTS + LEVELS or len(nodes) % RECORD or length(entries) != len(nodes) // RECORD * FAN:
        return "its nodes are not whole, or have not the entries of nodes"
    table, held = np.asarray(nodes).reshape(-1, RECORD), [int(each) for each in cursor]
    used, rest = divmod(held[UNUSED], RECORD)
    if rest or not FIRST // RECORD < used <= len(table):
        return f"{held[UNUSED]} of its nodes are in use, which is not a number of nodes"
    is_marked = held[DIRTY] != 0 or held[WAITING] != NONE or held[LAST_WAITING] != NONE
    if is_marked or any(each != NONE for each in held[LISTS:]) or (table[:, LINK] != CLEAN).any():
        return "nodes of it were marked when it was saved (F3, B1)"
    table = table[:used]
    root = _node(held[ROOT], used)
    if root is None or table[root, PARENT] != NONE or table[root, PLACE] != MIDDLE:
        return _LINKS
    levels = _levels(table, np.array([root]))
    if levels is None:
        return _LINKS
    if (held[OLDEST], held[NEWEST]) != (levels[-1][0] * RECORD, levels[-1][-1] * RECORD):
        return "its fingers are not its first and its last leaf (T3)"
    unused = _unused(table, held[FREE])
    if unused is None:
        return _LINKS
    all_nodes = np.concatenate([[DESK // RECORD, FRONTS // RECORD, UPPER // RECORD], *levels, unused])
    if len(all_nodes) != used or len(np.unique(all_nodes)) != used:
        return "a node of it is in two places, or in none (T4)"
    return _sizes_fault(table, levels) or _order_fault(table, levels) or _count_fault(table, levels)


def _node(link: int, used: int) -> int | None:
    """Return the number of a node that holds rows."""
    node, rest = divmod(link, RECORD)
    return None if rest or not FIRST // RECORD <= node < used else node


def _kids(table: Array, nodes: Array) -> tuple[Array, Array] | None:
    """Return the children of nodes above leaves, in order, and their parents; None if one is not a node."""
    sizes = table[nodes, SIZE]
    if ((sizes < 0) | (sizes > MOST)).any():
        return None
    parents = np.repeat(nodes, sizes + 1)
    which = np.arange(len(parents)) - np.repeat(np.cumsum(sizes + 1) - sizes - 1, sizes + 1)
    kids, rest = np.divmod(table[parents, KIDS + which], RECORD)
    if rest.any() or ((kids < FIRST // RECORD) | (kids >= len(table))).any():
        return None
    return (kids, parents) if (table[kids, LEVEL] == table[parents, LEVEL] - 1).all() else None


def _levels(table: Array, nodes: Array) -> list[Array] | None:
    """Return the nodes below the root, level by level and from left to right; None if links are wrong."""
    if not 0 <= table[nodes[0], LEVEL] < LEVELS:
        return None
    levels = [nodes]
    while table[nodes[0], LEVEL] > 0:
        found = _kids(table, nodes)
        if found is None:
            return None
        nodes, parents = found
        places = np.full(len(nodes), MIDDLE)
        places[0], places[-1] = LEFT, RIGHT
        has_parents = (table[nodes, PARENT] == parents * RECORD).all()
        if len(nodes) > len(table) or not has_parents or (table[nodes, PLACE] != places).any():
            return None
        levels.append(nodes)
    return levels


def _unused(table: Array, first: int) -> Array | None:
    """Return the free nodes, and all below those that were freed whole; None if links are wrong."""
    chain: list[int] = []
    links, places = table[:, PARENT].tolist(), table[:, PLACE].tolist()
    link = first
    while link != NONE:
        node = _node(link, len(table))
        if node is None or places[node] != FREED or len(chain) == len(table):
            return None
        chain.append(node)
        link = links[node]
    found, nodes = [np.array(chain, np.int64)], np.array(chain, np.int64)
    total = len(chain)
    while len(nodes := nodes[table[nodes, LEVEL] > 0]):
        below = _kids(table, nodes)
        if below is None:
            return None
        nodes = below[0]
        total += len(nodes)
        if total > len(table):
            return None
        found.append(nodes)
    return np.concatenate(found)


def _sizes_fault(table: Array, levels: list[Array]) -> str | None:
    """Return whether and where T2 is broken."""
    root, inner = levels[0], np.concatenate([*levels[1:], levels[0][:0]])
    sizes = table[inner, SIZE]
    least = 1 if len(levels) > 1 else 0
    if ((sizes < LEAST) | (sizes > MOST)).any() or not least <= table[root[0], SIZE] <= MOST:
        return "a node of it has too few or too many entries (T2)"
    return None


def _times(table: Array, nodes: Array) -> Array:
    """Return the positions of nodes, one after the other."""
    sizes = table[nodes, SIZE]
    owners = np.repeat(nodes, sizes)
    which = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(table[owners, TIMES + which])


def _order_fault(table: Array, levels: list[Array]) -> str | None:
    """Check T1 from the leaves up: each position lies after all of its left child and before all of its right child."""
    wrong = "its positions do not ascend (T1)"
    leaves = levels[-1]
    sizes, times = table[leaves, SIZE], _times(table, leaves)
    if not len(times):
        return None
    begins = np.cumsum(sizes) - sizes
    descends = times[1:] <= times[:-1]
    descends[begins[1:] - 1] = False  # between two leaves there is a position of a node above
    if descends.any():
        return wrong
    lows, highs = times[begins], times[begins + sizes - 1]
    for nodes in levels[-2::-1]:
        sizes, times = table[nodes, SIZE], _times(table, nodes)
        first = np.cumsum(sizes + 1) - sizes - 1
        before = np.delete(np.arange(len(lows)), first + sizes)  # the child to the left of each position
        if (highs[before] >= times).any() or (times >= lows[before + 1]).any():
            return wrong
        lows, highs = lows[first], highs[first + sizes]
    return None


def _count_fault(table: Array, levels: list[Array]) -> str | None:
    """Check the counts of F1: `below` is the number of entries in a fold."""
    totals = [table[levels[-1], SIZE]]  # of whole subtrees, from the leaves up
    for nodes in levels[-2::-1]:
        sizes = table[nodes, SIZE]
        totals.append(sizes + np.add.reduceat(totals[-1], np.cumsum(sizes + 1) - sizes - 1))
    above = [0, 0]  # what the fold of the parent on the left edge holds, and on the right
    for depth, (nodes, counts) in enumerate(zip(levels, totals[::-1], strict=True)):
        expected = counts.copy()
        below = totals[-2 - depth] if depth + 1 < len(levels) else np.zeros(1, np.int64)
        if depth == 0:
            expected[0] -= below[0] + below[-1]
        else:
            above = [above[0] + int(counts[0] - below[0]), above[1] + int(counts[-1] - below[-1])]
            expected[0], expected[-1] = above
        if (table[nodes, BELOW] != expected).any():
            return "it counts other rows than it has (F1)"
    return None
