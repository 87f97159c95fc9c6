"""The slice manager: find or make the slice of each row, and merge slices that a row connects.

Rows in the order of their positions (per key) are appended. Rows in any order are looked up among the slices of
their key; this is for aggregates that commute, so that the order of rows within a slice does not matter. The slice
manager does not touch partials. It returns the number of each row's slice, the slices that were made, and the pairs
that were merged, and each aggregate updates its own partials.

Cell      The range between two neighbouring edges. A slice lies in one cell; if there are sessions, a cell is cut
          again wherever its rows are more than the smallest gap apart.
Tails     If a punctuation can still come for the position of the newest row, the rows at that position are a slice
          of their own. When the next slice begins, it is merged into the slice before it, unless an edge is between.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.slicing.cuts import Cuts, is_cut, next_cut
from sash.slicing.slices import FREE, NEXT, NO_CUT, TOP, USED, Array, Slices

__all__ = ["Placement", "place", "release"]

# Why a kernel stopped before the last row; `_NEEDED` holds the room that was missing.
DONE, NO_SLICES, NO_ARENA, TOO_MUCH_MOVED = range(4)
_STATUS, _NEEDED, _MADE, _MERGED, _MOVED = range(5)
_SAMPLE = 4096  # rows after which the slices made so far predict how many the rest needs


@dataclass(frozen=True)
class Placement:
    """The slice of each row of a batch, the slices made, and the pairs (into, from) that were merged."""

    ids: Array
    made: Array
    merged: Array


@jitable
def _cell(edges: Any, at: int, position: Any) -> int:
    """Return the cell of a position: edges[cell] ≤ position < edges[cell + 1]; `at` is a guess."""
    if edges[at] <= position:
        if position < edges[at + 1]:
            return at
        if at + 2 < len(edges) and position < edges[at + 2]:
            return at + 1
        low, high = at + 1, len(edges) - 1
    else:  # most late rows are not far back
        step = 1
        while at - step > 0 and edges[at - step] > position:
            step *= 2
        low, high = max(0, at - step), at
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@jitable
def _has_room(slices: Any, key: int, status: Any) -> bool:
    """Return whether one more slice fits; a full segment of the key is moved and doubled first."""
    begin, count, room, dirty = slices[0], slices[1], slices[2], slices[5]
    ends, order, cursor = slices[6], slices[11], slices[13]
    if cursor[FREE] == 0 and cursor[NEXT] == len(ends):
        status[_STATUS] = NO_SLICES
        return False
    if count[key] < room[key]:
        return True
    wanted = max(2, 2 * room[key])
    if cursor[TOP] + wanted > len(order):
        status[_STATUS] = NO_ARENA
        status[_NEEDED] = wanted
        return False
    source, target = begin[key], cursor[TOP]
    for k in range(count[key]):
        order[target + k] = order[source + k]
    begin[key] = target
    room[key] = wanted
    dirty[key] = 0
    cursor[TOP] += wanted
    return True


@jitable
def _insert(slices: Any, key: int, place: int, position: Any, end: Any, made: Any, status: Any) -> int:
    """Insert a new slice at a place in the key's order, and return its number; newer slices move up."""
    begin, count, seen, dirty = slices[0], slices[1], slices[3], slices[5]
    ends, firsts, lasts, ranks, opens = slices[6], slices[7], slices[8], slices[9], slices[10]
    order, free, cursor = slices[11], slices[12], slices[13]
    if cursor[FREE] > 0:
        cursor[FREE] -= 1
        number = free[cursor[FREE]]
    else:
        number = cursor[NEXT]
        cursor[NEXT] += 1
    cursor[USED] += 1
    at = begin[key] + place
    for k in range(begin[key] + count[key], at, -1):
        order[k] = order[k - 1]
    status[_MOVED] += count[key] - place
    order[at] = number
    count[key] += 1
    dirty[key] = min(dirty[key], place)
    ends[number] = end
    firsts[number] = position
    lasts[number] = position
    ranks[number] = seen[key]
    opens[number] = 0
    made[status[_MADE]] = number
    status[_MADE] += 1
    return int(number)


@jitable
def _remove(slices: Any, key: int, place: int) -> None:
    """Remove a slice from the order; its number stays in use, since rows of this batch may be in it."""
    begin, count, dirty, order, cursor = slices[0], slices[1], slices[5], slices[11], slices[13]
    for k in range(begin[key] + place, begin[key] + count[key] - 1):
        order[k] = order[k + 1]
    count[key] -= 1
    dirty[key] = min(dirty[key], place)
    cursor[USED] -= 1


@kernel
def _place_in_order(
    slices: Any, rows: Any, edges: Any, cuts: Any, tails_from: Any, fresh: Any, out: Any, status: Any, row: int
) -> int:
    begin, count, seen, cut, dirty = slices[0], slices[1], slices[3], slices[4], slices[5]
    ends, firsts, lasts, ranks, opens, order = slices[6], slices[7], slices[8], slices[9], slices[10], slices[11]
    keys, positions, bits = rows
    cut_ranks, gap, is_each_row, has_tails = cuts
    ids, made, merged = out
    cell = 0
    while row < len(keys):
        key, position = keys[row], positions[row]
        newest = order[begin[key] + count[key] - 1] if count[key] > 0 else -1
        begins = newest < 0 or is_each_row or position >= ends[newest] or seen[key] >= cut[key]
        if not begins and gap >= 0:
            begins = position > lasts[newest] + gap
        if not begins and has_tails:
            begins = bits[row] != 0 and firsts[newest] < position
            begins = begins or (position >= tails_from and position > lasts[newest])
        if not begins and len(fresh) > 0:
            begins = fresh[key] == 1
        if begins:
            if not _has_room(slices, key, status):
                return row
            if has_tails and not is_each_row and len(fresh) == 0 and count[key] > 1 and position > lasts[newest]:
                # The tail is complete: merge it into the slice before it unless an edge lies between them.
                before = order[begin[key] + count[key] - 2]
                parted = ends[before] != ends[newest] or opens[newest] != 0 or is_cut(cut_ranks, ranks[newest])
                if not parted and gap >= 0:
                    parted = firsts[newest] > lasts[before] + gap
                if not parted:
                    lasts[before] = lasts[newest]
                    merged[status[_MERGED], 0] = before
                    merged[status[_MERGED], 1] = newest
                    status[_MERGED] += 1
                    _remove(slices, key, count[key] - 1)
                    dirty[key] = min(dirty[key], count[key] - 1)
            if seen[key] >= cut[key] or newest < 0:
                cut[key] = next_cut(cut_ranks, seen[key])
            cell = _cell(edges, cell, position)
            newest = _insert(slices, key, count[key], position, edges[cell + 1], made, status)
            if len(fresh) > 0:
                fresh[key] = 0
        if len(bits) > 0:
            opens[newest] |= bits[row]
        dirty[key] = min(dirty[key], count[key] - 1)
        ids[row] = newest
        row += 1
        # The next rows of the same key that belong to the same slice need no lookup.
        if not is_each_row and not (has_tails and position >= tails_from):
            end, left = ends[newest], cut[key] - seen[key]
            if has_tails:
                end = min(end, tails_from)
            begin_of_run = row - 1
            beyond = len(keys) if left > len(keys) else min(len(keys), begin_of_run + left)
            while row < beyond and keys[row] == key and positions[row] < end:
                if gap >= 0 and positions[row] > position + gap:
                    break
                if has_tails and bits[row] != 0:
                    break
                position = positions[row]
                ids[row] = newest
                row += 1
            seen[key] += row - begin_of_run
        else:
            seen[key] += 1
        lasts[newest] = position
    return row


@kernel
def _move_to_leads(keys: Any, positions: Any, leads: Any, bits: Any) -> None:
    for row in range(len(keys)):
        lead = leads[keys[row]]
        if lead < 0 or positions[lead] != positions[row]:
            lead = row
            leads[keys[row]] = row
        elif bits[row] != 0:
            bits[lead] |= bits[row]
            bits[row] = 0


def _lead(keys: Array, positions: Array, bits: Array, slots: int) -> Array:
    """Return bits that stand at the first row of each position: all rows there belong to the window that begins."""
    if not bits.any():
        return bits
    moved = bits.copy()
    _move_to_leads(keys, positions, np.full(slots, -1), moved)
    return moved


@kernel
def _place_in_any_order(
    slices: Any, rows: Any, edges: Any, gap: Any, out: Any, status: Any, limit: int, row: int
) -> int:
    begin, count, dirty = slices[0], slices[1], slices[5]
    ends, firsts, lasts, ranks, order = slices[6], slices[7], slices[8], slices[9], slices[11]
    keys, positions, _bits = rows
    ids, made, merged = out
    ahead = 0  # the last cell so far
    held, low, high = -1, positions[0], positions[0]  # the slice of the last row, and positions that belong to it
    held_key = -1
    while row < len(keys):
        key, position = keys[row], positions[row]
        if key == held_key and low <= position < high and (gap < 0 or position <= lasts[held] + gap):
            firsts[held] = min(firsts[held], position)
            lasts[held] = max(lasts[held], position)
            ids[row] = held
            row += 1
            continue
        cell = _cell(edges, ahead, position)
        ahead = max(ahead, cell)
        end = edges[cell + 1]
        # The newest slice that does not begin after the row.
        place = count[key] - 1
        if place >= 0 and firsts[order[begin[key] + place]] > position:
            step = 1
            while place - step >= 0 and firsts[order[begin[key] + place - step]] > position:
                step *= 2
            below, above = max(-1, place - step), place
            while above - below > 1:
                middle = (below + above) // 2
                if firsts[order[begin[key] + middle]] > position:
                    above = middle
                else:
                    below = middle
            place = below
        older = order[begin[key] + place] if place >= 0 else -1
        newer = order[begin[key] + place + 1] if place + 1 < count[key] else -1
        # A slice can lie across an edge that was added after it: a row within its extent still belongs to it (S3).
        joins_older = older >= 0 and (ends[older] == end or position <= lasts[older])
        joins_newer = newer >= 0 and ends[newer] == end
        if gap >= 0:
            joins_older = joins_older and position <= lasts[older] + gap
            joins_newer = joins_newer and firsts[newer] <= position + gap
        if joins_older:
            number = older
            lasts[number] = max(lasts[number], position)
            dirty[key] = min(dirty[key], place)
            if joins_newer:
                lasts[number] = lasts[newer]
                merged[status[_MERGED], 0] = number
                merged[status[_MERGED], 1] = newer
                status[_MERGED] += 1
                status[_MOVED] += count[key] - place
                _remove(slices, key, place + 1)
        elif joins_newer:
            number = newer
            firsts[number] = position
            dirty[key] = min(dirty[key], place + 1)
        else:
            if status[_MOVED] > limit and place + 1 < count[key]:
                status[_STATUS] = TOO_MUCH_MOVED
                return row
            if not _has_room(slices, key, status):
                return row
            number = _insert(slices, key, place + 1, position, end, made, status)
            ranks[number] = -1  # rows that come in any order have no rank
        ids[row] = number
        held, held_key = number, key
        if ends[number] != end:  # it lies across an edge, and does not grow
            low, high = firsts[number], lasts[number]
        elif gap < 0:  # if an edge was removed, the cell can have other slices (S3)
            low, high = edges[cell], end
            at = begin[key] + (place if joins_older else place + 1)
            if at > begin[key]:
                low = max(low, lasts[order[at - 1]])
            if at + 1 < begin[key] + count[key]:
                high = min(high, firsts[order[at + 1]])
        else:  # a row before it, or between it and a newer one, can join two slices
            low, high = firsts[number], (end if number == order[begin[key] + count[key] - 1] else lasts[number])
        row += 1
    return row


def place(
    slices: Slices,
    keys: Array,
    positions: Array,
    bits: Array,
    edges: Array,
    cuts: Cuts,
    in_order: bool,
    fresh: Array | None = None,
    final: Any = None,
) -> Placement:
    """Find or make the slice of each row; `in_order` if the positions of each key ascend from its newest row on.

    The rows of a key in `fresh` begin new slices, so that they can be removed again. No row before `final` can come
    any more; None: rows can still come at every position. Rows in any order are sorted if too many slices would have
    to move.
    """
    rows = len(keys)
    ids, made = np.empty(rows, np.int64), np.empty(rows, np.int64)
    merged = np.empty((rows if cuts.has_tails or not in_order else 0, 2), np.int64)
    status = np.zeros(5, np.int64)
    fresh = np.zeros(0, np.int64) if fresh is None else fresh
    kind = positions.dtype.type
    parts = cuts.values(kind)
    if cuts.has_tails and in_order:
        bits = _lead(keys, positions, bits, slices.keys)
    tails_from = (np.iinfo(kind).min if positions.dtype.kind == "i" else -np.inf) if final is None else final
    reached, order = 0, None
    while reached < rows:
        status[_STATUS] = DONE
        batch, out = (keys, positions, bits), (ids, made, merged)
        if in_order:
            reached = _place_in_order(
                slices.arrays(), batch, edges, parts, kind(tails_from), fresh, out, status, reached
            )
        else:
            limit = 16 * rows + 1024 if order is None else NO_CUT
            reached = _place_in_any_order(slices.arrays(), batch, edges, parts[1], out, status, limit, reached)
        if status[_STATUS] == NO_SLICES:
            slices.grow_slices(int(status[_MADE]) * (rows - reached) // reached if reached > _SAMPLE else 0)
        elif status[_STATUS] == NO_ARENA:
            slices.grow_arena(int(status[_NEEDED]))
        elif status[_STATUS] == TOO_MUCH_MOVED:
            rest = np.argsort(positions[reached:], kind="stable") + reached
            order = np.concatenate([np.arange(reached), rest])
            keys, positions = keys[order], positions[order]
    if order is not None:
        ids[order] = ids.copy()
    return Placement(ids, made[: int(status[_MADE])], merged[: int(status[_MERGED])])


def release(slices: Slices, numbers: Array) -> None:
    """Free slice numbers, after every aggregate has updated its partials."""
    top = int(slices.cursor[FREE])
    slices.free[top : top + len(numbers)] = numbers
    slices.cursor[FREE] = top + len(numbers)
