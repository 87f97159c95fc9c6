"""The values of slices in order of arrival, for lists and joined strings.

Idea      A slice has a segment of one arena of numbers, and a row is appended to it. A window is some slices, so its
          list is their segments one after the other: the cost is that of the output.
Picture     slice s     begins ┐              ┌ begins + lengths      ┌ begins + rooms
            values  … [ v0 | v1 | v2 | v3 )    free                   ) …
Keeps     L1  rooms of two slices do not overlap; lengths ≤ rooms; none ends after the top of the arena
Full      A kernel that has no room stops, writes the missing room into the cursor, and returns where it stopped.
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.errors import InvalidState
from sash.slicing.lists import Lists
from sash.slicing.run_arena import group_by_slice
from sash.slicing.slices import Array, Slices, check_array, with_room
from sash.slicing.window_manager import Ended

__all__ = ["RowLists"]

_TOP, _NEEDED = range(2)  # the places of the counters in `cursor`


@kernel
def _append(values: Any, shelf: Any, touched: Any, given: Any, begins: Any, ends: Any, at: int) -> int:
    """Append given[begins:ends] to each touched slice from `at` on; return where it stopped."""
    starts, lengths, rooms, cursor = shelf
    while at < len(touched):
        number, size = touched[at], ends[at] - begins[at]
        length = lengths[number]
        if length + size > rooms[number]:
            room = max(length + size, 2 * rooms[number])
            if cursor[_TOP] + room > len(values):
                cursor[_NEEDED] = room
                return at
            for k in range(length):
                values[cursor[_TOP] + k] = values[starts[number] + k]
            starts[number] = cursor[_TOP]
            rooms[number] = room
            cursor[_TOP] += room
        for k in range(size):
            values[starts[number] + length + k] = given[begins[at] + k]
        lengths[number] = length + size
        at += 1
    return at


@kernel
def _measure(order: Any, lengths: Any, lows: Any, highs: Any, offsets: Any) -> None:
    """Write where the list of each window ends."""
    for place in range(len(lows)):
        size = 0
        for at in range(lows[place], highs[place]):
            size += lengths[order[at]]
        offsets[place + 1] = offsets[place] + size


@kernel
def _gather(order: Any, starts: Any, lengths: Any, lows: Any, highs: Any, places: Any) -> None:
    """Write the place in the arena of each value of each window."""
    out = 0
    for place in range(len(lows)):
        for at in range(lows[place], highs[place]):
            start = starts[order[at]]
            for k in range(lengths[order[at]]):
                places[out] = start + k
                out += 1


class RowLists:
    """The values of each slice, of one column of numbers."""

    def __init__(self, column_dtype: Any, capacity: int = 0) -> None:
        self.dtype = np.dtype(column_dtype)
        self._bits = np.dtype(f"u{self.dtype.itemsize}")
        # Values are kept as the bits of two widths, so that two sets of kernels serve all types.
        self.key = np.dtype(np.uint64 if self.dtype.itemsize == 8 else np.uint32)
        self.values: Array = np.empty(0, self.key)
        self.begins, self.lengths, self.rooms, self.seats = (np.zeros(capacity, np.int64) for _ in range(4))
        self.cursor = np.zeros(2, np.int64)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(each.nbytes for each in (self.values, self.seats, *self._shelf()))

    def copy(self) -> "RowLists":
        """Return a copy that shares no array."""
        twin = RowLists(self.dtype)
        for name in ("values", "begins", "lengths", "rooms", "seats", "cursor"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def ensure(self, capacity: int) -> None:
        """Make room for this many slices."""
        for name in ("begins", "lengths", "rooms", "seats"):
            setattr(self, name, with_room(getattr(self, name), capacity))

    def reset(self, numbers: Array) -> None:
        """Remove all rows from these slices."""
        self.lengths[numbers] = 0

    def forget(self, numbers: Array) -> None:
        """Remove the values of slices that were dropped."""
        self.reset(numbers)

    def forget_windows(self) -> None:
        """Do nothing: no window is kept."""

    def update_trees(self, slices: Slices) -> None:
        """Do nothing: there is no tree over lists."""

    def add(self, ids: Array, inputs: tuple[Array, Array]) -> None:
        """Append each row that is not null to its slice, in the order of rows."""
        data, valid = inputs
        rows = len(ids)
        if not rows:
            return
        touched, begins, grouped = np.empty(rows, np.int64), np.empty(rows + 1, np.int64), np.empty(rows, self.key)
        valid = np.ascontiguousarray(valid, np.bool_)
        slices = group_by_slice(
            np.ascontiguousarray(ids), self._as_bits(data), valid, self.seats, touched, begins, grouped
        )
        self._append(touched[:slices], grouped, begins[:slices], begins[1 : slices + 1])

    def merge(self, pairs: Array) -> None:
        """Append the second slice of each pair, which is newer, to the first, and empty the second."""
        for into, newer in pairs.tolist():  # one by one: the second may have been a first
            begin, size = self.begins[newer], self.lengths[newer]
            moved = self.values[begin : begin + size].copy()
            self._append(np.array([into]), moved, np.zeros(1, np.int64), np.array([size]))
            self.lengths[newer] = 0

    def _append(self, touched: Array, given: Array, begins: Array, ends: Array) -> None:
        at = 0
        while (at := _append(self.values, self._shelf(), touched, given, begins, ends, at)) < len(touched):
            self._make_room()

    def answer(
        self, view: Any, slices: Slices, ended: Ended, algorithm: str | None, family: str = ""
    ) -> tuple[Any, Any]:
        """Return results, and presences of the outputs that can be absent, as `Partials.answer` does."""
        lists = self.lists(slices, ended)
        some = (lists.sizes > 0).astype(np.uint8)
        outputs = view.monoid.outputs
        return (lists,) * len(outputs), tuple(some for each in outputs if each.presence is not None)

    def lists(self, slices: Slices, ended: Ended) -> Lists:
        """Return the values of each window."""
        lows, highs = np.ascontiguousarray(ended.lows), np.ascontiguousarray(ended.highs)
        offsets = np.zeros(len(ended) + 1, np.int64)
        _measure(slices.order, self.lengths, lows, highs, offsets)
        places = np.empty(offsets[-1], np.int64)
        _gather(slices.order, self.begins, self.lengths, lows, highs, places)
        return Lists(offsets, self._of_bits(self.values[: self.cursor[_TOP]]), places)

    def values_of_slices(self, numbers: Array) -> Array:
        """Return the values of these slices, one after the other."""
        return self.save(numbers)[1]

    def replace_values(self, change: Any) -> None:
        """Replace all values by what `change` returns for them."""
        top = self.cursor[_TOP]
        self.values[:top] = self._as_bits(change(self._of_bits(self.values[:top])))

    def save(self, numbers: Array) -> tuple[Array, Array]:
        """Return the lengths and values of these slices."""
        lengths = self.lengths[numbers]
        offsets = np.cumsum(lengths) - lengths
        source = np.repeat(self.begins[numbers] - offsets, lengths) + np.arange(int(lengths.sum()))
        return lengths, self._of_bits(self.values[source])

    def restore(self, saved: tuple[Array, Array], slices: int) -> None:
        """Continue from what `save` returned for this many slices."""
        lengths = check_array(saved[0], np.int64, "lengths of lists", slices)
        values = check_array(saved[1], self.dtype, "values of lists")
        if (slices and not 0 <= lengths.min() <= lengths.max() <= len(values)) or lengths.sum() != len(values):
            raise InvalidState.damaged("the lengths of its lists do not add up to their values")
        self.ensure(slices)
        self.lengths[:], self.rooms[:] = lengths, lengths
        self.begins[:] = np.cumsum(lengths) - lengths
        self.values = self._as_bits(values).copy()
        self.cursor[_TOP] = len(values)

    def check(self) -> None:
        """Assert the L-lines."""
        owners = np.flatnonzero(self.rooms)
        owners = owners[np.argsort(self.begins[owners])]
        begins, ends = self.begins[owners], self.begins[owners] + self.rooms[owners]
        assert (ends[:-1] <= begins[1:]).all() and (self.lengths <= self.rooms).all(), "L1"
        assert not len(ends) or ends[-1] <= self.cursor[_TOP] <= len(self.values), "L1"
        assert not self.seats.any()

    def _make_room(self) -> None:
        """Copy all values into an arena of twice their size; this also frees memory when few are left."""
        size = 2 * (int(self.lengths.sum()) + int(self.cursor[_NEEDED]))
        numbers = np.arange(len(self.lengths))
        lengths, values = self.save(numbers)
        self.values = np.empty(size, self.key)
        self.values[: len(values)] = self._as_bits(values)
        self.rooms[:], self.begins[:] = lengths, np.cumsum(lengths) - lengths
        self.cursor[_TOP] = len(values)

    def _shelf(self) -> tuple[Array, Array, Array, Array]:
        return self.begins, self.lengths, self.rooms, self.cursor

    def _as_bits(self, data: Array) -> Array:
        return np.ascontiguousarray(data, self.dtype).view(self._bits).astype(self.key, copy=False)

    def _of_bits(self, values: Array) -> Array:
        return np.ascontiguousarray(values.astype(self._bits, copy=False)).view(self.dtype)
