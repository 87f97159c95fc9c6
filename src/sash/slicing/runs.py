"""The values of slices as sorted runs with run lengths: what medians, quantiles and distinct values are read off.

Idea      A number is kept as an unsigned key in the order of numbers: NaN is the largest and equal to itself, -0.0 is
          0.0. A run is the distinct keys of a slice, ascending, and how often each occurs. Two runs become one
          in one pass that does not branch on data; rows are sorted, slices joined and windows merged by that pass.
Picture     slice s     begins ┐              ┌ begins + lengths      ┌ begins + rooms
            values  … [ k0 < k1 < k2 < k3 )    free                   ) …
            counts  … [  3 |  1 |  1 |  7 )
Keeps     R1  rooms of two slices do not overlap; lengths ≤ rooms; none ends after the top of the arena
          R2  along a run keys ascend strictly and counts are positive
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.errors import InvalidState
from sash.slicing.run_merging import SHORT, in_common, stretches, united
from sash.slicing.run_windows import BITS, NEEDED, TOP, chains_of, finish
from sash.slicing.slices import Array, Slices, checked, grown
from sash.slicing.window_manager import Ended

__all__ = ["Frozen", "Lists", "Read", "Runs", "Statistic"]

Frozen = tuple[Array, Array, Array]  # the lengths of runs; their values and counts, one after the other

_LONG = 256  # rows that NumPy sorts faster, its call included; measured with 500: 59 against 76 ns per row
# Windows that overlap so many times are slid over. Measured: with 100 distinct values in a slice and 84,000 in all, a
# window takes 10 against 13 µs by the tally at 8, and 31 against 13 at 12.
_SLIDE_FROM = 8
_MOST_ROWS = 2**62  # counts add up without overflow


class Read(Enum):
    """What is read off the values of a window."""

    QUANTILE = "quantile"
    COUNT_DISTINCT = "count_distinct"
    COLLECT_DISTINCT = "collect_distinct"


@dataclass(frozen=True)
class Statistic:
    """One result of a window; `q` is for a quantile."""

    read: Read
    q: float = 0.5


@dataclass(frozen=True)
class Lists:
    """A list of values per window: window k has values[offsets[k] : offsets[k + 1]]."""

    offsets: Array
    values: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def tolist(self) -> list[list[Any]]:
        """The same as Python lists."""
        flat, offsets = self.values.tolist(), self.offsets.tolist()
        return [flat[low:high] for low, high in pairwise(offsets)]


# --- numbers as keys -----------------------------------------------------------------------------


@kernel
def _number_keys(bits: Any, negative: Any, infinity: Any, nan: Any, keys: Any) -> None:
    for k in range(len(bits)):
        magnitude = bits[k] & ~negative
        key = ~bits[k] if bits[k] & negative else bits[k] | negative
        key = negative if magnitude == 0 else key
        keys[k] = nan if magnitude > infinity else key


def _encoded(data: Array, key: np.dtype[Any]) -> Array:
    """Unsigned keys in the order of numbers."""
    top = key.type(1 << (8 * key.itemsize - 1))
    if data.dtype.kind == "f":
        infinity, nan = np.array([np.inf, np.nan], data.dtype).view(key)
        keys = np.empty(len(data), key)
        _number_keys(data.view(key), top, infinity, nan | top, keys)
        return keys
    if data.dtype.kind == "i":
        return np.asarray(data.astype(f"i{key.itemsize}").view(key) ^ top)
    return data.astype(key)


def _decoded(keys: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers again."""
    top = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    if dtype.kind == "f":
        return np.where(keys & top, keys ^ top, ~keys).view(dtype)
    if dtype.kind == "i":
        return np.asarray((keys ^ top).view(f"i{keys.itemsize}").astype(dtype))
    return keys.astype(dtype)


# --- runs ----------------------------------------------------------------------------------------


@kernel
def _by_slice(ids: Any, keys: Any, valid: Any, seats: Any, touched: Any, begins: Any, grouped: Any) -> int:
    """Bring the keys of a slice together; `seats` is zero for every slice, before and after."""
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
def _sort(values: Any, counts: Any, begins: Any, sizes: Any, ends: Any, others: Any, other_counts: Any) -> None:
    for k in range(len(sizes)):
        runs = stretches(values, counts, begins[k], begins[k + 1], ends)
        sizes[k] = united(values, counts, begins[k], ends, runs, others, other_counts) - begins[k]


@jitable
def _put(arena: Any, shelf: Any, number: int, others: Any, other_counts: Any, first: int, stop: int) -> bool:
    """Join a run to that of a slice; where there is no room, say so and change nothing."""
    values, counts = arena
    begins, lengths, rooms, cursor = shelf
    begin = begins[number]
    end = begin + lengths[number]
    size = end - begin + stop - first - in_common(values, begin, end, others, first, stop)
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
    # From the largest down: what was there moves up, and is never overwritten before it was read.
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
def _add(arena: Any, shelf: Any, touched: Any, values: Any, counts: Any, begins: Any, sizes: Any, at: int) -> int:
    while at < len(sizes) and _put(arena, shelf, touched[at], values, counts, begins[at], begins[at] + sizes[at]):
        at += 1
    return at


@kernel
def _merge(arena: Any, shelf: Any, pairs: Any, spare: Any, spare_counts: Any, at: int) -> int:
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
def _pack(arena: Any, shelf: Any, values: Any, counts: Any) -> None:
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


class Runs:
    """One run per slice, of one column of numbers."""

    def __init__(self, column_dtype: Any, capacity: int = 0) -> None:
        self.dtype = np.dtype(column_dtype)
        # Two widths of keys, so two sets of kernels, serve all types.
        self.key = np.dtype(np.uint64 if self.dtype.itemsize == 8 else np.uint32)
        self.values: Array = np.empty(0, self.key)
        self.counts: Array = np.empty(0, np.int64)
        self.begins, self.lengths, self.rooms, self.seats = (np.zeros(capacity, np.int64) for _ in range(4))
        self.cursor = np.zeros(2, np.int64)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(each.nbytes for each in (self.values, self.counts, self.seats, *self._shelf()))

    def copy(self) -> "Runs":
        """The same runs, apart."""
        twin = Runs(self.dtype)
        for name in ("values", "counts", "begins", "lengths", "rooms", "seats", "cursor"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def ensure(self, capacity: int) -> None:
        """Room for this many slices."""
        for name in ("begins", "lengths", "rooms", "seats"):
            setattr(self, name, grown(getattr(self, name), capacity))

    def reset(self, numbers: Array) -> None:
        """Let these slices hold no rows."""
        self.lengths[numbers] = 0

    def add(self, ids: Array, inputs: tuple[Array, Array]) -> None:
        """Put each row that is not null into the run of its slice."""
        data, valid = inputs
        rows = len(ids)
        if not rows:
            return
        touched, begins = np.empty(rows, np.int64), np.empty(rows + 1, np.int64)
        values = np.empty(rows, self.key)
        keys = _encoded(np.ascontiguousarray(data, self.dtype), self.key)
        valid = np.ascontiguousarray(valid, np.bool_)
        slices = _by_slice(np.ascontiguousarray(ids), keys, valid, self.seats, touched, begins, values)
        begins = begins[: slices + 1]
        for k in np.flatnonzero(np.diff(begins) > _LONG):
            values[begins[k] : begins[k + 1]].sort()
        counts, sizes = np.zeros(rows, np.int64), np.empty(slices, np.int64)
        ends = np.empty(rows // SHORT + 2, np.int64)
        _sort(values, counts, begins, sizes, ends, np.empty_like(keys), np.empty_like(counts))
        at = 0
        while (at := _add(self._arena(), self._shelf(), touched, values, counts, begins, sizes, at)) < slices:
            self._make_room()

    def merge(self, pairs: Array) -> None:
        """Join the second slice of each pair to the first; then the second holds no rows."""
        if not len(pairs):
            return
        pairs = np.ascontiguousarray(pairs)
        longest = int(self.lengths[np.unique(pairs)].sum())  # a slice may be joined to that was joined to before
        spare, spare_counts = np.empty(longest, self.key), np.empty(longest, np.int64)
        at = 0
        while (at := _merge(self._arena(), self._shelf(), pairs, spare, spare_counts, at)) < len(pairs):
            self._make_room()

    def finish(self, outputs: Sequence[Statistic], slices: Slices, ended: Ended) -> list[tuple[Any, Array]]:
        """For each output the results of windows, and where there is one; all are read off the same merged runs."""
        windows = len(ended)
        shares = np.array([each.q for each in outputs if each.read is Read.QUANTILE], np.float64)
        rows, distinct = np.zeros(windows, np.int64), np.zeros(windows, np.int64)
        below, above = (np.zeros((len(shares), windows), self.key) for _ in range(2))
        between = np.zeros((len(shares), windows))
        flat = np.empty(0, self.key)
        if windows:
            order = slices.order
            lows, highs = np.ascontiguousarray(ended.lows), np.ascontiguousarray(ended.highs)
            sizes, begins, covered = (np.empty(windows + 1, np.int64) for _ in range(3))
            chains = chains_of(order, self.lengths, lows, highs, sizes, begins, covered)
            sizes, begins, covered = sizes[:windows], begins[: chains + 1], covered[:chains]
            overlaps = np.add.reduceat(sizes, begins[:-1]) > _SLIDE_FROM * covered
            scratch, tally = self._scratch(lows, highs, sizes, begins, covered, overlaps)
            if any(each.read is Read.COLLECT_DISTINCT for each in outputs):
                flat = np.empty(max(1, int(sizes.max())), self.key)
            cursor = np.zeros(2, np.int64)
            place = 0
            while place < windows:
                place = finish(
                    self._arena(),
                    self._shelf(),
                    order,
                    (lows, highs),
                    begins,
                    overlaps,
                    scratch,
                    tally,
                    shares,
                    (rows, distinct, below, above, between, flat, cursor),
                    place,
                )
                if place < windows:
                    flat = grown(flat, max(2 * len(flat), int(cursor[TOP] + cursor[NEEDED])))
        exists, always = rows > 0, np.ones(windows, np.bool_)
        results: list[tuple[Any, Array]] = []
        quantiles = iter(range(len(shares)))
        for each in outputs:
            if each.read is Read.QUANTILE:
                k = next(quantiles)
                low, high = (_decoded(keys[k], self.dtype).astype(np.float64) for keys in (below, above))
                results.append((np.where(exists, _interpolated(low, high, between[k]), 0.0), exists))
            elif each.read is Read.COUNT_DISTINCT:
                results.append((distinct, always))
            else:
                offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(distinct)])
                results.append((Lists(offsets, _decoded(flat[: offsets[-1]], self.dtype)), always))
        return results

    def answer(self, view: Any, slices: Slices, ended: Ended, algorithm: str | None) -> tuple[Any, Any]:
        """As `Partials.answer`: results, and presences of the outputs that can be absent."""
        found = self.finish(view.statistics, slices, ended)
        results = tuple(values.tolist() if isinstance(values, Lists) else values for values, _ in found)
        pairs = zip(view.monoid.outputs, found, strict=True)
        return results, tuple(valid.astype(np.uint8) for output, (_, valid) in pairs if output.presence is not None)

    def forget(self, numbers: Array) -> None:
        """These slices are gone, and their runs with them."""
        self.reset(numbers)

    def bring_up_to_date(self, slices: Slices) -> None:
        """There is no tree over runs."""

    def thaw(self, frozen: Frozen, slices: int) -> None:
        """Go on from what `frozen` gave of so many slices."""
        vars(self).update(vars(Runs.thawed(self.dtype, frozen, slices)))

    def frozen(self, numbers: Array) -> Frozen:
        """The runs of these slices, to save them: equal runs give equal arrays, wherever they lie."""
        lengths = self.lengths[numbers]
        offsets = np.cumsum(lengths) - lengths
        source = np.repeat(self.begins[numbers] - offsets, lengths) + np.arange(int(lengths.sum()))
        return lengths, _decoded(self.values[source], self.dtype), self.counts[source]

    @classmethod
    def thawed(cls, column_dtype: Any, frozen: Frozen, slices: int) -> "Runs":
        """What `frozen` gave, as slices from 0 on."""
        runs = cls(column_dtype, slices)
        lengths = checked(frozen[0], np.int64, "lengths of runs", slices)
        values = checked(frozen[1], runs.dtype, "values of runs")
        counts = checked(frozen[2], np.int64, "counts of values", len(values))
        if (slices and not 0 <= lengths.min() <= lengths.max() <= len(values)) or lengths.sum() != len(values):
            raise InvalidState.damaged("the lengths of its runs do not add up to their values")
        runs.lengths[:] = runs.rooms[:] = lengths
        runs.begins[:] = np.cumsum(lengths) - lengths
        runs.values, runs.counts = _encoded(values, runs.key), counts.copy()
        runs.cursor[TOP] = len(values)
        ascends = np.ones(len(values), np.bool_)
        ascends[1:] = runs.values[:-1] < runs.values[1:]
        ascends[runs.begins[lengths > 0]] = True
        if not ascends.all() or (counts < 1).any() or counts.sum(dtype=np.float64) > _MOST_ROWS:
            raise InvalidState.damaged("a run of its values does not ascend, or counts what cannot be (R2)")
        return runs

    def check(self) -> None:
        """Assert the R-lines."""
        owners = np.flatnonzero(self.rooms)
        owners = owners[np.argsort(self.begins[owners])]
        begins, ends = self.begins[owners], self.begins[owners] + self.rooms[owners]
        assert (ends[:-1] <= begins[1:]).all() and (self.lengths <= self.rooms).all(), "R1"
        assert not len(ends) or ends[-1] <= self.cursor[TOP] <= len(self.values), "R1"
        for begin, length in zip(self.begins, self.lengths, strict=True):
            keys = self.values[begin : begin + length]
            assert (keys[:-1] < keys[1:]).all() and (self.counts[begin : begin + length] > 0).all(), "R2"
        assert not self.seats.any()

    def _arena(self) -> tuple[Array, Array]:
        return self.values, self.counts

    def _shelf(self) -> tuple[Array, Array, Array, Array]:
        return self.begins, self.lengths, self.rooms, self.cursor

    def _make_room(self) -> None:
        """Move all runs together, into as much room again: it shrinks when little is left of what there was."""
        size = 2 * (int(self.lengths.sum()) + int(self.cursor[NEEDED]))
        values, counts = np.empty(size, self.key), np.empty(size, np.int64)
        _pack(self._arena(), self._shelf(), values, counts)
        self.values, self.counts = values, counts

    def _scratch(
        self, lows: Array, highs: Array, sizes: Array, begins: Array, covered: Array, overlaps: Array
    ) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Room for what kernels merge at a time, and for the tally of a chain."""
        first, last = begins[:-1], begins[1:] - 1
        most = int(np.where(overlaps, covered, np.maximum.reduceat(sizes, first)).max())
        runs = int(np.where(overlaps, highs[last] - lows[first], np.maximum.reduceat(highs - lows, first)).max())
        ranks = int(covered[overlaps].max()) if overlaps.any() else 0
        numbers, ints = self.key, np.dtype(np.int64)
        scratch = (*(np.empty(most, kind) for kind in (numbers, ints, numbers, ints)), np.empty(runs, ints))
        tally = tuple(np.empty((ranks >> bits) + 1, ints) for bits in (0, 0, BITS, 2 * BITS))
        return scratch, tally


def _interpolated(low: Array, high: Array, share: Array) -> Array:
    """As `algebra.holistic.interpolated`, for arrays."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((share == 0.0) | (low == high), low, (1.0 - share) * low + share * high)
