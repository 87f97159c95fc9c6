"""A flat binary tree over a ring: node k has the children 2k and 2k + 1, and the leaves are the slots of the ring.

Positions grow without end and wrap at a power of two, so a block of 2^l positions that starts at
a multiple of 2^l is always one node.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity

__all__ = ["fold", "leaf", "leaves", "query_range", "refresh"]


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


@jitable
def query_range(aggregate: Monoid, state: Any, start: int, end: int) -> Partial:
    """Return the fold of the positions [start, end) of a window whose state begins with its tree."""
    return fold(aggregate, state[0], start, end)
