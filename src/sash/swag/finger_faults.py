"""What is wrong with a finger tree that was saved: the T-lines and the counts of F1, level by level.

A kernel follows links without looking; so before one sees a tree that came as bytes, every link is followed here, each
level as one array. What partials fold to is not looked at: a wrong fold is a wrong answer, never a wrong place.
"""

from typing import Any, TypeAlias

import numpy as np

from sash.algebra.fields import length
from sash.swag.finger_nodes import (
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
    WAITING,
)

__all__ = ["tree_fault"]

Array: TypeAlias = np.ndarray[Any, Any]
_LINKS = "a link of its tree leads nowhere"


def tree_fault(state: Any) -> str | None:
    """What is wrong with a tree, or None."""
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
    all_nodes = np.concatenate([[DESK // RECORD, FRONTS // RECORD], *levels, unused])
    if len(all_nodes) != used or len(np.unique(all_nodes)) != used:
        return "a node of it is in two places, or in none (T4)"
    return _sizes_fault(table, levels) or _order_fault(table, levels) or _count_fault(table, levels)


def _node(link: int, used: int) -> int | None:
    """The number of a node that holds rows."""
    node, rest = divmod(link, RECORD)
    return None if rest or not FIRST // RECORD <= node < used else node


def _kids(table: Array, nodes: Array) -> tuple[Array, Array] | None:
    """The children of nodes above leaves, in order, and whose they are; None if one is no node."""
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
    """The nodes below the root, level by level and each from the left to the right; None if links are wrong."""
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
    """The free nodes, and all below those that were freed whole; None if links are wrong."""
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
    """T2."""
    root, inner = levels[0], np.concatenate([*levels[1:], levels[0][:0]])
    sizes = table[inner, SIZE]
    least = 1 if len(levels) > 1 else 0
    if ((sizes < LEAST) | (sizes > MOST)).any() or not least <= table[root[0], SIZE] <= MOST:
        return "a node of it has too few or too many entries (T2)"
    return None


def _times(table: Array, nodes: Array) -> Array:
    """The positions of nodes, one after the other."""
    sizes = table[nodes, SIZE]
    owners = np.repeat(nodes, sizes)
    which = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(table[owners, TIMES + which])


def _order_fault(table: Array, levels: list[Array]) -> str | None:
    """T1: from the leaves up, each position lies after all of the child before it, and before all of that after it."""
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
    """F1, as far as it counts: `below` is what a fold holds."""
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
