"""Trees over slices whose partials are arrays, such as sketches: nodes stand above blocks of slices only.

Idea      A partial of a sketch has a kilobyte or more, so nodes above two, four or eight slices take more memory than
          the slices, and filling that memory takes longer than folding. The lowest node is the fold of a block of 16
          slices. A window is a fold from left to right, in one array: slices, nodes, slices.
Picture     order   [ s0 … s15 | s16 … s31 | s32 … s47 | s48 … s63 )     room 64, 4 blocks
            inner   [  – | n1 | n2 | n3 | n4 | n5 | n6 | n7 )            n4 = s0⊕…⊕s15  n2 = n4⊕n5  n1 = n2⊕n3
Keeps     T1  a node whose leaves are all in use and lie before `dirty` is the fold of its leaves, oldest left;
              no other node is ever read
          T2  the nodes of a segment that begins at b are inner[b // 8 + 1 : b // 8 + room // 8]; those of two segments
              do not overlap, since a segment with nodes has a room that is a multiple of 8
"""

from typing import Any

from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, load, store
from sash.algebra.monoid import Monoid, borrow, emit, merge

__all__ = [
    "BLOCK",
    "BLOCK_BITS",
    "blocks_of_node",
    "grow_above_blocks",
    "grow_wide_trees",
    "inner_room",
    "read_wide_trees",
]

BLOCK_BITS = 4
BLOCK = 1 << BLOCK_BITS


def inner_room(slices: int) -> int:
    """Return the room of the inner nodes for an arena of so many slices (T2)."""
    return 2 * slices // BLOCK + 1


@jitable
def grow_above_blocks(aggregate: Monoid, inner: Fields, base: int, blocks: int, first: int, full: int) -> None:
    """Recompute the nodes above blocks of a key; those from `first` to `full` changed."""
    first, last, span = blocks + first, blocks + full - 1, 1
    while first > 1:
        first, last, span = first // 2, last // 2, span * 2
        for node in range(first, last + 1):
            if (node + 1) * span <= blocks + full:
                folded = load(inner, base + 2 * node)
                folded = merge(aggregate, folded, borrow(aggregate, inner, base + 2 * node + 1))
                store(inner, base + node, folded)


@kernel
def grow_wide_trees(aggregate: Monoid, fields: Fields, inner: Fields, shape: Any) -> None:
    """Recompute the nodes above slices that changed."""
    begins, counts, rooms, dirty, order = shape
    for slot in range(len(begins)):
        begin, base, blocks = begins[slot], 2 * begins[slot] // BLOCK, rooms[slot] // BLOCK
        full = counts[slot] // BLOCK
        first = dirty[slot] // BLOCK
        if first >= full:
            continue
        for block in range(first, full):
            at = begin + block * BLOCK
            folded = load(fields, order[at])
            for k in range(at + 1, at + BLOCK):
                folded = merge(aggregate, folded, borrow(aggregate, fields, order[k]))
            store(inner, base + blocks + block, folded)
        grow_above_blocks(aggregate, inner, base, blocks, first, full)


@jitable
def blocks_of_node(block: int, stop: int) -> int:
    """Return the number of blocks of the largest node that begins at a block and does not reach past another one."""
    span = 1
    while block & span == 0 and block + 2 * span <= stop:
        span *= 2
    return span


@kernel
def read_wide_trees(
    aggregate: Monoid, fields: Fields, inner: Fields, shape: Any, windows: Any, answer: tuple[Fields, Fields]
) -> None:
    """Write the results of windows."""
    slots, lows, highs = windows
    results, presences = answer
    begins, _counts, rooms, _dirty, order = shape
    for place in range(len(lows)):
        begin = begins[slots[place]]
        base, blocks = 2 * begin // BLOCK, rooms[slots[place]] // BLOCK
        at, stop = lows[place] - begin, highs[place] - begin
        last = stop >> BLOCK_BITS  # the first block that is not whole
        block = at >> BLOCK_BITS
        if at & (BLOCK - 1) == 0 and block < last:
            span = blocks_of_node(block, last)
            folded = load(inner, base + (blocks + block) // span)
            at += span * BLOCK
        else:  # a window has at least one slice
            folded = load(fields, order[begin + at])
            at += 1
        while at < stop:
            block = at >> BLOCK_BITS
            if at & (BLOCK - 1) == 0 and block < last:
                span = blocks_of_node(block, last)
                folded = merge(aggregate, folded, borrow(aggregate, inner, base + (blocks + block) // span))
                at += span * BLOCK
            else:
                folded = merge(aggregate, folded, borrow(aggregate, fields, order[begin + at]))
                at += 1
        emit(aggregate, results, presences, place, folded)
