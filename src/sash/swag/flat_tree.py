"""A flat binary tree of folds: node k has the children 2k and 2k + 1, and the leaves are the slots of a ring.

B-Int lets positions grow without end and wrap at a power of two, so a block of 2^l positions that
starts at a multiple of 2^l is always one node. FlatFAT counts slots.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity

__all__ = ["clear", "fold", "leaf", "leaves", "refresh", "repair", "repair_listed", "repair_ring"]


@jitable
def leaves(tree: Fields) -> int:
    """Return the number of leaves; slot 0 is unused and the root is 1."""
    return length(tree) >> 1


@jitable
def leaf(tree: Fields, position: int) -> int:
    """Return the node of a position."""
    return leaves(tree) + (position & (leaves(tree) - 1))


@jitable
def refresh(aggregate: Monoid, tree: Fields, node: int) -> None:
    """Recompute an inner node from its children."""
    store(tree, node, combine(aggregate, load(tree, 2 * node), load(tree, 2 * node + 1)))


@jitable
def fold(aggregate: Monoid, tree: Fields, start: int, end: int) -> Partial:
    """Return the fold of the positions [start, end), from the fewest whole blocks.

    It climbs from both ends at once. A block from the start extends the older side to the right, a
    block from the end extends the newer side to the left, so the order is kept.
    """
    older = identity(aggregate)
    newer = identity(aggregate)
    width = leaves(tree)  # nodes on this level
    low, high = start, end  # blocks of this level, by their numbers in the endless stream
    while low < high:
        if low & 1:
            older = combine(aggregate, older, load(tree, width + (low & (width - 1))))
            low += 1
        if high & 1:
            high -= 1
            newer = combine(aggregate, load(tree, width + (high & (width - 1))), newer)
        low >>= 1
        high >>= 1
        width >>= 1
    return combine(aggregate, older, newer)


# --- after changes of leaves ---------------------------------------------------------------------


@jitable
def repair(aggregate: Monoid, tree: Fields, slot: int) -> None:
    """Recompute the path above a changed leaf."""
    node = leaves(tree) + slot
    partial = load(tree, node)  # not read again on each level: a processor waits long for what it has just written
    while node > 1:
        if node & 1:
            partial = combine(aggregate, load(tree, node - 1), partial)
        else:
            partial = combine(aggregate, partial, load(tree, node + 1))
        node >>= 1
        store(tree, node, partial)


@jitable
def repair_ring(aggregate: Monoid, tree: Fields, first: int, count: int, room: int) -> None:
    """Recompute each node above `count` changed leaves once; they begin at `first`, in a ring of `room` slots."""
    width = leaves(tree)
    wrapped = first + count > room  # changed: from `low` to `top`, and from the beginning of a level to `high`
    low, top = width + first, width + room - 1
    high = width + first + count - 1 - (room if wrapped else 0)
    while width > 1:
        width >>= 1
        low >>= 1
        top >>= 1
        high >>= 1
        if wrapped:
            for node in range(width, high + 1):
                refresh(aggregate, tree, node)
            for node in range(max(low, high + 1), top + 1):  # the two parts meet below the root
                refresh(aggregate, tree, node)
        else:
            for node in range(low, high + 1):
                refresh(aggregate, tree, node)


@jitable
def repair_listed(aggregate: Monoid, tree: Fields, nodes: Any, count: int) -> None:
    """Recompute each node above the listed leaves once. The leaves ascend, or are a turn of leaves that ascend.

    The list is overwritten: on each level it holds the parents, without repeats.
    """
    width = leaves(tree)
    while width > 1 and count > 0:
        width >>= 1
        kept = 0
        for place in range(count):
            parent = nodes[place] >> 1
            is_first = kept > 0 and parent == nodes[0]  # the turn is closed
            if kept == 0 or (parent != nodes[kept - 1] and not is_first):
                nodes[kept] = parent
                kept += 1
                refresh(aggregate, tree, parent)
        count = kept


@jitable
def clear(aggregate: Monoid, tree: Fields, start: int, end: int) -> None:
    """Empty the leaves [start, end); nodes above empty leaves only become identities without a combine."""
    if start >= end:
        return
    low, high = leaves(tree) + start, leaves(tree) + end - 1
    empty, full = low, high + 1  # nodes [empty, full) of a level have nothing but these leaves below
    for node in range(low, high + 1):
        store(tree, node, identity(aggregate))
    while low > 1:
        low >>= 1
        high >>= 1
        empty = (empty + 1) >> 1
        full >>= 1
        for node in range(low, high + 1):
            if empty <= node < full:
                store(tree, node, identity(aggregate))
            else:
                refresh(aggregate, tree, node)
