"""Drop the slices that no window needs, and merge kept slices between which no window has an edge.

A slice is needed if a window that is not final can hold it. Its position tells this for most windows. For others it is
its place in the order of its key: an open session, the window since the last punctuation, count windows that were not
emitted, or the last rows.
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.slicing.cuts import Cuts, is_cut
from sash.slicing.slicer import Edges, edge_after
from sash.slicing.slices import USED, Array, Slices

__all__ = ["drop", "merge_ended"]


@kernel
def _drop(
    slices: Any, keep_from: Any, fine_from: Any, first_needed: Any, points: Any, cuts: Any, dropped: Any, merged: Any
) -> tuple[int, int]:
    cut_ranks, gap, is_each_row, has_tails = cuts
    begin, count, dirty = slices[0], slices[1], slices[5]
    ends, firsts, lasts, ranks, opens = slices[6], slices[7], slices[8], slices[9], slices[10]
    order, cursor = slices[11], slices[13]
    drops, merges = 0, 0
    for key in range(len(begin)):
        if count[key] == 0:
            continue
        at, size = begin[key], count[key]
        first_kept = 0
        while first_kept < size and first_kept < first_needed[key] and ends[order[at + first_kept]] <= keep_from:
            dropped[drops] = order[at + first_kept]
            drops += 1
            first_kept += 1
        kept = 0
        for k in range(first_kept, size):
            number = order[at + k]
            if kept > 0 and ends[number] <= fine_from and not is_each_row and opens[number] == 0:
                before = order[at + kept - 1]
                parted = is_cut(cut_ranks, ranks[number]) or (gap >= 0 and firsts[number] > lasts[before] + gap)
                if has_tails:  # a punctuation may still come for its rows, or has come for others at their position
                    parted = parted or k + 1 == size or firsts[order[at + k + 1]] == lasts[number]
                for j in range(len(points)):
                    parted = parted or (lasts[before] < points[j] and points[j] <= firsts[number])
                if not parted:
                    lasts[before] = lasts[number]
                    ends[before] = ends[number]
                    merged[merges, 0] = before
                    merged[merges, 1] = number
                    merges += 1
                    continue
            order[at + kept] = number
            kept += 1
        if kept < size:
            count[key] = kept
            dirty[key] = 0
    cursor[USED] -= drops + merges
    return drops, merges


def drop(
    slices: Slices, keep_from: Any, fine_from: Any, first_needed: Array, points: Array, cuts: Cuts
) -> tuple[Array, Array]:
    """Drop the slices before `keep_from` and before each key's first needed place.

    Merge kept slices that lie before `fine_from` and have no edge of a window between them. Return the dropped slices
    and the merged pairs.
    """
    dropped = np.empty(slices.used, np.int64)
    merged = np.empty((slices.used, 2), np.int64)
    kind = slices.ends.dtype.type
    if slices.used and len(cuts.every):
        numbers, _ = slices.list_all()
        ranks = slices.ranks[numbers]
        cuts = cuts.marked(int(ranks.min()), int(ranks.max()), len(ranks))
    parts = cuts.values(kind)
    drops, merges = _drop(
        slices.arrays(), kind(keep_from), kind(fine_from), first_needed, points, parts, dropped, merged
    )
    return dropped[:drops], merged[:merges]


@kernel
def _merge_ended(slices: Any, step: Any, phase: Any, unit: Any, merged: Any) -> int:
    begin, count, dirty = slices[0], slices[1], slices[5]
    ends, firsts, lasts, order, cursor = slices[6], slices[7], slices[8], slices[11], slices[13]
    merges = 0
    for key in range(len(begin)):
        at, kept = begin[key], 0
        for k in range(count[key]):
            number = order[at + k]
            is_parted = k == 0
            if k > 0:
                before = order[at + kept - 1]
                for j in range(len(step)):
                    is_parted = is_parted or edge_after(step[j], phase[j], unit[j], lasts[before]) <= firsts[number]
            if is_parted:
                order[at + kept] = number
                kept += 1
                continue
            lasts[before] = lasts[number]
            ends[before] = ends[number]
            merged[merges, 0] = before
            merged[merges, 1] = number
            merges += 1
            dirty[key] = min(dirty[key], kept - 1)
        count[key] = kept
    cursor[USED] -= merges
    return merges


def merge_ended(slices: Slices, starts: Edges) -> Array:
    """Merge slices between which no window starts, if all windows that end between them were emitted; return pairs.

    This leaves the slices of Cutty: when the next window ends inside of the last slice, that slice has no later row.
    """
    merged = np.empty((slices.used, 2), np.int64)
    merges = _merge_ended(slices.arrays(), starts.step, starts.phase, starts.unit, merged)
    return merged[:merges]
