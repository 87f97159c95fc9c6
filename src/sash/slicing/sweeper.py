"""What nobody needs any more: slices are dropped, and what is kept without its edges is joined.

A slice is needed if a window that is not final may hold it: by its position, or as part of its key's last stretch,
be it an open session, the window that the last punctuation opened, ranks that were not sent, or the last rows.
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.slicing.slice_manager import Cuts, arrays_of, is_cut
from sash.slicing.slices import USED, Array, Slices

__all__ = [
    "are_in_open_sessions",
    "drop",
    "needed_by_last_rows",
    "needed_by_punctuations",
    "needed_by_ranks",
    "needed_by_sessions",
]


@kernel
def _drop(
    slices: Any,
    keep_from: Any,
    fine_from: Any,
    first_needed: Any,
    points: Any,
    every: Any,
    phase: Any,
    gap: Any,
    is_each_row: bool,
    has_tails: bool,
    dropped: Any,
    merged: Any,
    counts: Any,
) -> None:
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
    counts[0] = gone
    counts[1] = joined


def drop(
    slices: Slices, keep_from: Any, fine_from: Any, first_needed: Array, points: Array, cuts: Cuts
) -> tuple[Array, Array]:
    """Drop what lies before `keep_from` and before each key's first needed place; what is kept but lies before
    `fine_from` is joined wherever no window has an edge any more. Gives the dropped slices and the joined pairs.
    """
    dropped = np.empty(slices.used, np.int64)
    merged = np.empty((slices.used, 2), np.int64)
    counts = np.zeros(2, np.int64)
    dtype = slices.ends.dtype.type
    _drop(
        arrays_of(slices),
        dtype(keep_from),
        dtype(fine_from),
        first_needed,
        points,
        cuts.every,
        cuts.phase,
        dtype(cuts.gap),
        cuts.is_each_row,
        cuts.has_tails,
        dropped,
        merged,
        counts,
    )
    return dropped[: counts[0]], merged[: counts[1]]


@kernel
def _by_sessions(arrays: Any, gap: Any, final: Any, first: Any) -> None:
    begins, counts, firsts, lasts, order = arrays
    for slot in range(len(begins)):
        begin, count = begins[slot], counts[slot]
        place = 0
        while place < count:
            low = place
            place += 1
            while place < count and firsts[order[begin + place]] <= lasts[order[begin + place - 1]] + gap:
                place += 1
            if lasts[order[begin + place - 1]] + gap >= final:
                first[slot] = min(first[slot], low)
                break


@kernel
def _in_open_sessions(arrays: Any, slots: Any, positions: Any, gap: Any, final: Any, found: Any) -> None:
    begins, counts, firsts, lasts, order = arrays
    for k in range(len(slots)):
        begin, count = begins[slots[k]], counts[slots[k]]
        low, high = 0, count  # the slice of the row: the last that does not begin after it
        while low < high:
            middle = (low + high) // 2
            if firsts[order[begin + middle]] <= positions[k]:
                low = middle + 1
            else:
                high = middle
        found[k] = False
        if low == 0:  # it was dropped
            continue
        place = low - 1
        found[k] = lasts[order[begin + place]] + gap >= final
        while not found[k] and place + 1 < count:
            place += 1
            if firsts[order[begin + place]] > lasts[order[begin + place - 1]] + gap:
                break
            found[k] = lasts[order[begin + place]] + gap >= final


@kernel
def _by_punctuations(arrays: Any, opens: Any, bit: int, final: Any, first: Any) -> None:
    begins, counts, firsts, _lasts, order = arrays
    for slot in range(len(begins)):
        begin, count = begins[slot], counts[slot]
        low = 0
        for place in range(1, count):
            if opens[order[begin + place]] & bit != 0:
                if firsts[order[begin + place]] >= final:  # one more may come for this very position
                    break
                low = place
        while low > 0 and firsts[order[begin + low - 1]] == firsts[order[begin + low]]:
            low -= 1
        first[slot] = min(first[slot], low)


@kernel
def _by_ranks(begins: Any, counts: Any, order: Any, ranks: Any, from_rank: Any, first: Any) -> None:
    for slot in range(len(begins)):
        place = 0
        # A slice is needed if it, or part of it, comes from that rank on.
        while place + 1 < counts[slot] and ranks[order[begins[slot] + place + 1]] <= from_rank[slot]:
            place += 1
        first[slot] = min(first[slot], place)


@kernel
def _by_last_rows(arrays: Any, rows: int, final: Any, first: Any) -> None:
    begins, counts, firsts, _lasts, order = arrays
    for slot in range(len(begins)):
        settled = 0
        while settled < counts[slot] and firsts[order[begins[slot] + settled]] <= final:
            settled += 1
        first[slot] = min(first[slot], max(0, settled - rows))


def _view(slices: Slices) -> tuple[Array, ...]:
    return slices.begin, slices.count, slices.firsts, slices.lasts, slices.order


def needed_by_sessions(slices: Slices, gap: Any, final: Any, first: Array) -> None:
    """Lower each key's first needed place to that of its oldest session that may still grow."""
    dtype = slices.ends.dtype.type
    _by_sessions(_view(slices), dtype(gap), dtype(final), first)


def are_in_open_sessions(slices: Slices, slots: Array, positions: Array, gap: Any, final: Any) -> Array:
    """Of each of these rows, given by key and position, whether its session may still grow."""
    dtype = slices.ends.dtype.type
    found = np.zeros(len(slots), np.bool_)
    _in_open_sessions(_view(slices), slots, positions, dtype(gap), dtype(final), found)
    return found


def needed_by_punctuations(slices: Slices, bit: int, final: Any, first: Array) -> None:
    """… to the window that the last punctuation opened before what is not final."""
    _by_punctuations(_view(slices), slices.opens, bit, slices.ends.dtype.type(final), first)


def needed_by_ranks(slices: Slices, from_rank: Array, first: Array) -> None:
    """… to the slice that holds a rank."""
    _by_ranks(slices.begin, slices.count, slices.order, slices.ranks, from_rank, first)


def needed_by_last_rows(slices: Slices, rows: int, final: Any, first: Array) -> None:
    """… to the last rows before the position that is final, where each row is a slice."""
    _by_last_rows(_view(slices), rows, slices.ends.dtype.type(final), first)
