"""The last window of each key as a merged run, from which the windows of the next push start.

Idea      A push often ends a few windows of a key, which share most slices with those of the push before. So the last
          window of a chain (`run_windows`) stays as a run of its own, a copy that is never saved. The next chain starts
          from it: slices enter and leave, and nothing else is merged.
Picture     order   [ s3 | s4 | s5 | s6 | s7 | s8 )        kept  s3 … s6: lowest s3, highest s6, slices 4
            due           s4 … s7     s5 … s8              first s7 enters and s3 leaves, then s8 enters and s4 leaves
Seats     One for each query of a family and key. A window that was merged by itself has its slices in the seat, but no
          run. If the next window shares more than half of them, a chain begins.
Keeps     W1  a run is the merged run of the slices of its seat; a length of -1 says that there is none
          W2  each slice of a run has a mark, the number of its key plus one; a change of such a slice removes all runs
              of its key
          W3  rooms of two seats do not overlap; lengths < rooms; none ends after the top of the arena
"""

from collections import Counter
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.slicing.slices import Array, Slices, with_room
from sash.slicing.window_manager import Ended

__all__ = ["KeptWindows", "keep_window", "note_window", "read_window"]

_LENGTH, _BEGIN, _ROOM, _LOWEST, _HIGHEST, _SLICES = range(6)  # what a seat holds
# The places of the numbers in `cursor`: the top of the arena, the room that was missing, the slices of a kept window.
_TOP, _MISSING, _FEWEST = range(3)


class KeptWindows:
    """The kept windows of one family of queries; those of fewer than `fewest` slices are merged quickly."""

    def __init__(self, key: np.dtype[Any], fewest: int) -> None:
        self.values: Array = np.empty(0, key)
        self.counts: Array = np.empty(0, np.int64)
        self.seats: Array = np.zeros((_SLICES + 1, 0, 0), np.int64)
        self.marks: Array = np.zeros(0, np.int64)
        self.cursor = np.array([0, 0, fewest], np.int64)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(each.nbytes for each in (self.values, self.counts, self.seats, self.marks))

    def arrays(self) -> tuple[Array, ...]:
        """Return all arrays for kernels."""
        return self.values, self.counts, self.seats.reshape(len(self.seats), -1), self.marks, self.cursor

    def find(
        self, slices: Slices, ended: Ended, begins: Array, covered: Array, overlaps: Array
    ) -> tuple[Array, Array, Array]:
        """Return the seats of chains, the places from which they start, or -1, and their keys.

        Add the lengths of the runs from which they start to `covered`, and mark these chains in `overlaps`.
        """
        starts, slots = np.full(len(begins), -1), ended.slots[begins]
        if not self.seats.size and (ended.highs - ended.lows).max() < self.cursor[_FEWEST]:
            return slots, starts, slots
        seats = self._seats(slices, slots, None if ended.which is None else ended.which[begins])
        if self.seats.size:
            windows = slices.begin[slots], ended.lows[begins], ended.highs[begins]
            _find(self.arrays(), seats, slices.order, windows, starts, covered, overlaps)
        return seats, starts, slots

    def _seats(self, slices: Slices, slots: Array, which: Array | None) -> Array:
        """Make room for the seats of these keys, and return their numbers; no seats if they would be too many."""
        queries, keys = self.seats.shape[1:]
        queries = max(queries, 1 if which is None else int(which.max()) + 1)
        if queries * slices.keys > slices.used:
            self.seats = self.seats[:, :0, :0]
            return slots
        if (queries, slices.keys) != self.seats.shape[1:]:
            seats = np.zeros((len(self.seats), queries, slices.keys), np.int64)
            seats[:, : self.seats.shape[1], :keys] = self.seats
            self.seats = seats
        self.marks = with_room(self.marks, slices.capacity)
        return slots if which is None else which * slices.keys + slots

    def make_room(self) -> None:
        """Make an arena for what did not fit; the next windows fill it."""
        if self.cursor[_MISSING]:
            size = 2 * int(self.seats[_ROOM].sum() + self.cursor[_MISSING])
            self.values, self.counts = np.empty(size, self.values.dtype), np.empty(size, np.int64)
            self.seats[_LENGTH], self.seats[_ROOM], self.cursor[:_FEWEST] = -1, 0, 0

    def remove(self, numbers: Array) -> None:
        """Remove the runs that contain these slices, because they change."""
        known = numbers[numbers < len(self.marks)]
        marks = self.marks[known]
        if marks.any():
            self.seats[_LENGTH, :, marks[marks > 0] - 1] = -1
            self.marks[known] = 0

    def check(self, runs: list[dict[Any, int]], slices: Slices) -> None:
        """Assert the W-lines; `runs` are the counts of the keys of each slice, by its number."""
        lengths, begins, rooms, lowest, highest, counts = (each.reshape(-1) for each in self.seats)
        owners = np.flatnonzero(rooms)
        owners = owners[np.argsort(begins[owners])]
        ends = begins[owners] + rooms[owners]
        assert (ends[:-1] <= begins[owners][1:]).all() and (lengths[owners] < rooms[owners]).all(), "W3"
        assert not len(ends) or ends[-1] <= self.cursor[_TOP] <= len(self.values), "W3"
        for seat in np.flatnonzero((lengths >= 0) & (counts > 0)):
            slot = seat % self.seats.shape[2]
            order = slices.of_key(slot).tolist()
            first, last = order.index(lowest[seat]), order.index(highest[seat])
            if last - first + 1 != counts[seat]:
                continue  # a slice was inserted between them
            merged: Counter[Any] = sum((Counter(runs[number]) for number in order[first : last + 1]), Counter())
            assert (self.marks[order[first : last + 1]] == slot + 1).all(), "W2"
            run = slice(begins[seat], begins[seat] + lengths[seat])
            assert self.values[run].tolist() == sorted(merged), "W1"
            assert self.counts[run].tolist() == [merged[key] for key in sorted(merged)], "W1"


@kernel
def _find(kept: Any, chosen: Any, order: Any, windows: Any, starts: Any, covered: Any, overlaps: Any) -> None:
    _values, _counts, seats, _marks, cursor = kept
    begins, lows, highs = windows
    for chain in range(len(chosen)):
        seat, low, high = chosen[chain], lows[chain], highs[chain]
        if high - low < cursor[_FEWEST] or seats[_SLICES, seat] == 0:
            continue
        at, least = high - 1, (low + high) // 2
        while at >= least and order[at] != seats[_HIGHEST, seat]:
            at -= 1
        if at < least:
            continue
        overlaps[chain] = True
        start = at + 1 - seats[_SLICES, seat]
        # If a slice was inserted between the others, another slice is at the place of the lowest one.
        if (
            seats[_LENGTH, seat] >= 0
            and begins[chain] <= start
            and start <= low
            and order[start] == seats[_LOWEST, seat]
        ):
            starts[chain] = start
            covered[chain] += seats[_LENGTH, seat]


@jitable
def read_window(kept: Any, seat: int, start: int, values: Any, counts: Any) -> tuple[int, int]:
    """Copy the run of a seat; return the place after its slices, which begin at `start`, and its length."""
    kept_values, kept_counts, seats, _marks, _cursor = kept
    begin, length = seats[_BEGIN, seat], seats[_LENGTH, seat]
    for k in range(length):
        values[k] = kept_values[begin + k]
        counts[k] = kept_counts[begin + k]
    return start + seats[_SLICES, seat], length


@jitable
def note_window(kept: Any, seat: int, order: Any, low: int, high: int) -> None:
    """Note the slices of a window without a run."""
    seats = kept[2]
    if seats.shape[1] > 0:
        seats[_LENGTH, seat] = -1
        seats[_LOWEST, seat] = order[low]
        seats[_HIGHEST, seat] = order[high - 1]
        seats[_SLICES, seat] = high - low


@jitable
def keep_window(
    kept: Any, seat: int, key: int, order: Any, low: int, high: int, keys: Any, ones: Any, size: int, different: int
) -> None:
    """Keep the last window of a chain: the keys whose count is not zero. Without room, only note its slices."""
    values, counts, seats, marks, cursor = kept
    note_window(kept, seat, order, low, high)
    if seats.shape[1] == 0 or high - low < cursor[_FEWEST]:
        return
    if seats[_ROOM, seat] <= different:
        room = different + different // 4 + 16
        if cursor[_TOP] + room > len(values):
            cursor[_MISSING] += room
            return
        seats[_BEGIN, seat] = cursor[_TOP]
        seats[_ROOM, seat] = room
        cursor[_TOP] += room
    out = seats[_BEGIN, seat]
    for k in range(size):  # without a branch: the place after the run is written too
        values[out] = keys[k]
        counts[out] = ones[k]
        out += int(ones[k] > 0)
    seats[_LENGTH, seat] = different
    for at in range(low, high):
        marks[order[at]] = key + 1
