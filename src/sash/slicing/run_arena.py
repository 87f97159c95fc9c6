"""The arena of runs: group and sort the rows of slices, merge them into the runs of slices, pack the arena.

Arena     (values, counts): the runs of all slices. Shelf (begins, lengths, rooms, cursor): where each run lies.
Full      A kernel that has no room stops, writes the missing room into the cursor, and returns where it stopped. The
          caller packs the runs into a larger arena and calls the kernel again.
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.slicing.run_merging import count_common, merge_all, write_runs
from sash.slicing.run_windows import NEEDED, TOP

__all__ = ["add_runs", "group_by_slice", "merge_runs", "pack_runs", "sort_groups"]


@kernel
def group_by_slice(ids: Any, keys: Any, valid: Any, seats: Any, touched: Any, begins: Any, grouped: Any) -> int:
    """Group the keys of each slice; `seats` is zero for every slice, before and after."""
    slices = 0
    for row in range(len(ids)):
        if valid[row]:
            if seats[ids[row]] == 0:
                touched[slices] = ids[row]
                slices += 1
            seats[ids[row]] += 1
    at = 0
    for k in range(slices):
        begins[k] = at
        at += seats[touched[k]]
        seats[touched[k]] = begins[k]
    begins[slices] = at
    for row in range(len(ids)):
        if valid[row]:
            grouped[seats[ids[row]]] = keys[row]
            seats[ids[row]] += 1
    for k in range(slices):
        seats[touched[k]] = 0
    return slices


@kernel
def sort_groups(values: Any, counts: Any, begins: Any, sizes: Any, ends: Any, others: Any, other_counts: Any) -> None:
    """Sort each group of keys into a run, in place."""
    for k in range(len(sizes)):
        runs = write_runs(values, counts, begins[k], begins[k + 1], ends)
        sizes[k] = merge_all(values, counts, begins[k], ends, runs, others, other_counts) - begins[k]


@jitable
def _put(arena: Any, shelf: Any, number: int, others: Any, other_counts: Any, first: int, stop: int) -> bool:
    """Merge a run into that of a slice; return False and change nothing if there is no room."""
    values, counts = arena
    begins, lengths, rooms, cursor = shelf
    begin = begins[number]
    end = begin + lengths[number]
    size = end - begin + stop - first - count_common(values, begin, end, others, first, stop)
    target = begin
    if size > rooms[number]:
        room = size if begin == end else max(size, 2 * rooms[number])
        if cursor[TOP] + room > len(values):
            cursor[NEEDED] = room
            return False
        target = cursor[TOP]
        cursor[TOP] += room
        begins[number] = target
        rooms[number] = room
    lengths[number] = size
    # From the largest key down, so that nothing is overwritten before it is read.
    a, b, out = end - 1, stop - 1, target + size - 1
    while b >= first and a >= begin:
        at_a, at_b, to = np.uint64(a), np.uint64(b), np.uint64(out)
        x, y = values[at_a], others[at_b]
        is_x, is_y = int(x >= y), int(y >= x)
        values[to], counts[to] = (x if is_x else y), is_x * counts[at_a] + is_y * other_counts[at_b]
        a -= is_x
        b -= is_y
        out -= 1
    while b >= first:
        values[out] = others[b]
        counts[out] = other_counts[b]
        b -= 1
        out -= 1
    if target != begin:
        for k in range(begin, a + 1):
            values[target + k - begin] = values[k]
            counts[target + k - begin] = counts[k]
    return True


@kernel
def add_runs(arena: Any, shelf: Any, touched: Any, values: Any, counts: Any, begins: Any, sizes: Any, at: int) -> int:
    """Merge each run from `at` on into that of its slice; return where it stopped."""
    while at < len(sizes) and _put(arena, shelf, touched[at], values, counts, begins[at], begins[at] + sizes[at]):
        at += 1
    return at


@kernel
def merge_runs(arena: Any, shelf: Any, pairs: Any, spare: Any, spare_counts: Any, at: int) -> int:
    """Merge the second slice of each pair from `at` on into the first; return where it stopped."""
    values, counts = arena
    begins, lengths, _rooms, _cursor = shelf
    while at < len(pairs):
        source = pairs[at, 1]
        size = lengths[source]
        for k in range(size):
            spare[k] = values[begins[source] + k]
            spare_counts[k] = counts[begins[source] + k]
        if not _put(arena, shelf, pairs[at, 0], spare, spare_counts, 0, size):
            return at
        lengths[source] = 0
        at += 1
    return at


@kernel
def pack_runs(arena: Any, shelf: Any, values: Any, counts: Any) -> None:
    """Copy all runs to the front of a new arena, without free room between them."""
    old_values, old_counts = arena
    begins, lengths, rooms, cursor = shelf
    out = 0
    for number in range(len(begins)):
        begin = begins[number]
        begins[number] = out
        rooms[number] = lengths[number]
        for k in range(begin, begin + lengths[number]):
            values[out] = old_values[k]
            counts[out] = old_counts[k]
            out += 1
    cursor[TOP] = out
