"""What nobody needs any more: slices are dropped, and what is kept without its edges is joined.

A slice is needed if a window that is not final may hold it: by its position, or as part of its key's last stretch,
be it an open session, the window that the last punctuation opened, ranks that were not sent, or the last rows.
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.slicing.slice_manager import Cuts, is_cut
from sash.slicing.slices import USED, Array, Slices

__all__ = ["drop"]


@kernel
def _drop(
    slices: Any, keep_from: Any, fine_from: Any, first_needed: Any, points: Any, cuts: Any, dropped: Any, merged: Any
) -> tuple[int, int]:
    every, phase, gap, is_each_row, has_tails = cuts
    begin, count, dirty = slices[0], slices[1], slices[5]
    ends, firsts, lasts, ranks, opens = slices[6], slices[7], slices[8], slices[9], slices[10]
    order, cursor = slices[11], slices[13]
    gone, joined = 0, 0
    for key in range(len(begin)):
        if count[key] == 0:
            continue
        at, size = begin[key], count[key]
        going = 0
        while going < size and going < first_needed[key] and ends[order[at + going]] <= keep_from:
            dropped[gone] = order[at + going]
            gone += 1
            going += 1
        kept = 0
        for k in range(going, size):
            number = order[at + k]
            if kept > 0 and ends[number] <= fine_from and not is_each_row and opens[number] == 0:
                before = order[at + kept - 1]
                parted = is_cut(ranks[number], every, phase) or (gap >= 0 and firsts[number] > lasts[before] + gap)
                if has_tails:  # a punctuation may still come for its rows, or has come for others at their position
                    parted = parted or k + 1 == size or firsts[order[at + k + 1]] == lasts[number]
                for j in range(len(points)):
                    parted = parted or (lasts[before] < points[j] and points[j] <= firsts[number])
                if not parted:
                    lasts[before] = lasts[number]
                    ends[before] = ends[number]
                    merged[joined, 0] = before
                    merged[joined, 1] = number
                    joined += 1
                    continue
            order[at + kept] = number
            kept += 1
        if kept < size:
            count[key] = kept
            dirty[key] = 0
    cursor[USED] -= gone + joined
    return gone, joined


def drop(
    slices: Slices, keep_from: Any, fine_from: Any, first_needed: Array, points: Array, cuts: Cuts
) -> tuple[Array, Array]:
    """Drop what lies before `keep_from` and before each key's first needed place; what is kept but lies before
    `fine_from` is joined wherever no window has an edge any more. Gives the dropped slices and the joined pairs.
    """
    dropped = np.empty(slices.used, np.int64)
    merged = np.empty((slices.used, 2), np.int64)
    kind = slices.ends.dtype.type
    parts = cuts.values(kind)
    gone, joined = _drop(
        slices.arrays(), kind(keep_from), kind(fine_from), first_needed, points, parts, dropped, merged
    )
    return dropped[:gone], merged[:joined]
