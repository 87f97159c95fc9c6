"""The values of slices as sorted runs with run lengths, for medians, quantiles, modes and distinct values.

Idea      A number is kept as an unsigned key in the order of numbers: NaN is the largest and equal to itself, and -0.0
          is 0.0. A run is the distinct keys of a slice, ascending, and how often each occurs. One pass that does not
          branch on data merges two runs; it sorts rows, joins slices and merges windows.
Picture     slice s     begins ┐              ┌ begins + lengths      ┌ begins + rooms
            values  … [ k0 < k1 < k2 < k3 )    free                   ) …
            counts  … [  3 |  1 |  1 |  7 )
Keeps     R1  rooms of two slices do not overlap; lengths ≤ rooms; none ends after the top of the arena
          R2  along a run keys ascend strictly and counts are positive
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.errors import InvalidState
from sash.slicing.kept_windows import KeptWindows
from sash.slicing.lists import Lists
from sash.slicing.run_arena import add_runs, group_by_slice, merge_runs, pack_runs, sort_groups
from sash.slicing.run_merging import SHORT
from sash.slicing.run_windows import BITS, KEYS, NEEDED, TOP, compute_windows_of_runs, find_chains
from sash.slicing.slices import Array, Slices, check_array, with_room
from sash.slicing.window_manager import Ended
from sash.swag.range_modes import room_for

__all__ = ["Read", "Runs", "SavedRuns", "Statistic"]

SavedRuns = tuple[Array, Array, Array]  # the lengths of runs; their values and counts, one after the other

_LONG = 256  # NumPy sorts more rows than this faster; measured with 500: 59 against 76 ns per row
# Windows that overlap more often than this are slid over. Measured with 100 distinct values in a slice and 84,000 in
# all: a window takes 10 µs if merged and 13 µs by the tally at 8 overlaps, 31 against 13 at 12.
_SLIDE_FROM = 8
# A list of a window is read from the counts of its chain, so a chain covers at most so many times a window's keys.
_LONGEST = 4
# Windows of fewer slices are not kept: to merge ten slices takes less time than to find the kept window.
_FEWEST = 64
_MOST_ROWS = 2**62  # counts add up without overflow


class Read(Enum):
    """A result that can be computed from the sorted values of a window."""

    QUANTILE = "quantile"
    COUNT_DISTINCT = "count_distinct"
    COLLECT_DISTINCT = "collect_distinct"
    MODE = "mode"


@dataclass(frozen=True)
class Statistic:
    """One result of a window; `q` is for a quantile."""

    read: Read
    q: float = 0.5


class Runs:
    """One run per slice, of one column of numbers."""

    def __init__(self, column_dtype: Any, capacity: int = 0, fewest: int = _FEWEST) -> None:
        self.fewest = fewest  # slices of a window that is kept
        self.dtype = np.dtype(column_dtype)
        # Two widths of keys, so two sets of kernels, serve all types.
        self.key = np.dtype(np.uint64 if self.dtype.itemsize == 8 else np.uint32)
        self.values: Array = np.empty(0, self.key)
        self.counts: Array = np.empty(0, np.int64)
        self.begins, self.lengths, self.rooms, self.seats = (np.zeros(capacity, np.int64) for _ in range(4))
        self.cursor = np.zeros(2, np.int64)
        self.kept: dict[str, KeptWindows] = {}  # by the name of the first query of a family

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        arrays = (self.values, self.counts, self.seats, *self._shelf())
        return sum(each.nbytes for each in arrays) + sum(each.nbytes for each in self.kept.values())

    def copy(self) -> "Runs":
        """Return a copy that shares no array; it keeps no windows."""
        twin = Runs(self.dtype, fewest=self.fewest)
        for name in ("values", "counts", "begins", "lengths", "rooms", "seats", "cursor"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def ensure(self, capacity: int) -> None:
        """Make room for this many slices."""
        for name in ("begins", "lengths", "rooms", "seats"):
            setattr(self, name, with_room(getattr(self, name), capacity))

    def reset(self, numbers: Array) -> None:
        """Remove all rows from these slices."""
        self.lengths[numbers] = 0
        self._remove_kept(numbers)

    def add(self, ids: Array, inputs: tuple[Array, Array]) -> None:
        """Add each row that is not null to the run of its slice."""
        data, valid = inputs
        rows = len(ids)
        if not rows:
            return
        touched, begins = np.empty(rows, np.int64), np.empty(rows + 1, np.int64)
        values = np.empty(rows, self.key)
        keys = encode(np.ascontiguousarray(data, self.dtype), self.key)
        valid = np.ascontiguousarray(valid, np.bool_)
        slices = group_by_slice(np.ascontiguousarray(ids), keys, valid, self.seats, touched, begins, values)
        begins = begins[: slices + 1]
        self._remove_kept(touched[:slices])
        for k in np.flatnonzero(np.diff(begins) > _LONG):
            values[begins[k] : begins[k + 1]].sort()
        counts, sizes = np.zeros(rows, np.int64), np.empty(slices, np.int64)
        ends = np.empty(rows // SHORT + 2, np.int64)
        sort_groups(values, counts, begins, sizes, ends, np.empty_like(keys), np.empty_like(counts))
        at = 0
        while (at := add_runs(self._arena(), self._shelf(), touched, values, counts, begins, sizes, at)) < slices:
            self._make_room()

    def merge(self, pairs: Array) -> None:
        """Merge the second slice of each pair into the first, and empty the second."""
        if not len(pairs):
            return
        pairs = np.ascontiguousarray(pairs)
        self._remove_kept(pairs.reshape(-1))
        longest = int(self.lengths[np.unique(pairs)].sum())  # pairs can chain: the second may have been a first
        spare, spare_counts = np.empty(longest, self.key), np.empty(longest, np.int64)
        at = 0
        while (at := merge_runs(self._arena(), self._shelf(), pairs, spare, spare_counts, at)) < len(pairs):
            self._make_room()

    def compute_windows(
        self, outputs: Sequence[Statistic], slices: Slices, ended: Ended, family: str = ""
    ) -> list[tuple[Any, Array]]:
        """Return for each output the results of windows, and where there is one; windows are merged once for all."""
        windows = len(ended)
        shares = np.array([each.q for each in outputs if each.read is Read.QUANTILE], np.float64)
        rows, distinct = np.zeros(windows, np.int64), np.zeros(windows, np.int64)
        below, above = (np.zeros((len(shares), windows), self.key) for _ in range(2))
        between = np.zeros((len(shares), windows))
        # Lists are places among keys: the keys of a chain are there once for all its windows.
        flat, listed, cursor = np.empty(0, np.int64), np.empty(0, self.key), np.zeros(3, np.int64)
        modes = np.zeros(windows if any(each.read is Read.MODE for each in outputs) else 0, self.key)
        if windows:
            order = slices.order
            lows, highs = np.ascontiguousarray(ended.lows), np.ascontiguousarray(ended.highs)
            sizes, begins, covered = (np.empty(windows + 1, np.int64) for _ in range(3))
            has_lists = any(each.read is Read.COLLECT_DISTINCT for each in outputs)
            longest = _LONGEST if has_lists else _MOST_ROWS >> 32
            chains = find_chains(order, self.lengths, lows, highs, longest, sizes, begins, covered)
            sizes, begins, covered = sizes[:windows], begins[: chains + 1], covered[:chains]
            overlaps = np.add.reduceat(sizes, begins[:-1]) > _SLIDE_FROM * covered
            kept = self.kept.setdefault(family, KeptWindows(self.key, self.fewest))
            seats = kept.find(slices, ended, begins[:-1], covered, overlaps)
            scratch, tally = self._scratch(lows, highs, sizes, begins, covered, overlaps, len(modes) > 0)
            if has_lists:
                flat = np.empty(max(1, int(sizes.max())), np.int64)
                most = int(np.where(overlaps, covered, np.add.reduceat(sizes, begins[:-1])).sum())
            place = 0
            while place < windows:
                if has_lists:
                    listed = with_room(listed, int(cursor[KEYS]) + most)
                place = compute_windows_of_runs(
                    self._arena(),
                    self._shelf(),
                    order,
                    (lows, highs),
                    begins,
                    overlaps,
                    scratch,
                    tally,
                    shares,
                    (rows, distinct, below, above, between, modes, flat, listed, cursor),
                    place,
                    kept.arrays(),
                    seats,
                )
                if place < windows:
                    flat = with_room(flat, max(2 * len(flat), int(cursor[TOP] + cursor[NEEDED])))
            kept.make_room()
        exists, always = rows > 0, np.ones(windows, np.bool_)
        results: list[tuple[Any, Array]] = []
        quantiles = iter(range(len(shares)))
        for statistic in outputs:
            if statistic.read is Read.QUANTILE:
                k = next(quantiles)
                low, high = (decode(keys[k], self.dtype).astype(np.float64) for keys in (below, above))
                results.append((np.where(exists, _interpolate(low, high, between[k]), 0.0), exists))
            elif statistic.read is Read.COUNT_DISTINCT:
                results.append((distinct, always))
            elif statistic.read is Read.MODE:
                results.append((decode(modes, self.dtype), exists))
            else:
                offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(distinct)])
                keys = decode(listed[: cursor[KEYS]], self.dtype)
                results.append((Lists(offsets, keys, flat[: offsets[-1]]), always))
        return results

    def answer(
        self, view: Any, slices: Slices, ended: Ended, algorithm: str | None, family: str = ""
    ) -> tuple[Any, Any]:
        """Return results, and presences of the outputs that can be absent, as `Partials.answer` does."""
        found = self.compute_windows(view.statistics, slices, ended, family)
        results = tuple(values for values, _ in found)
        pairs = zip(view.monoid.outputs, found, strict=True)
        return results, tuple(valid.astype(np.uint8) for output, (_, valid) in pairs if output.presence is not None)

    def values_of_slices(self, numbers: Array) -> Array:
        """Return the values of these slices, one after the other."""
        return self.save(numbers)[1]

    def replace_values(self, change: Any) -> None:
        """Replace all values by what `change` returns for them, in the same order."""
        self.forget_windows()
        top = self.cursor[TOP]
        self.values[:top] = encode(change(decode(self.values[:top], self.dtype)), self.key)

    def forget(self, numbers: Array) -> None:
        """Remove the runs of slices that were dropped."""
        self.reset(numbers)

    def forget_windows(self) -> None:
        """Remove the kept windows, because the queries change."""
        self.kept.clear()

    def update_trees(self, slices: Slices) -> None:
        """Do nothing: there is no tree over runs."""

    def restore(self, saved: SavedRuns, slices: int) -> None:
        """Continue from what `save` returned for this many slices."""
        vars(self).update(vars(Runs.from_saved(self.dtype, saved, slices)))

    def save(self, numbers: Array) -> SavedRuns:
        """Return the runs of these slices, to save them; equal runs give equal arrays, wherever they lie."""
        lengths = self.lengths[numbers]
        offsets = np.cumsum(lengths) - lengths
        source = np.repeat(self.begins[numbers] - offsets, lengths) + np.arange(int(lengths.sum()))
        return lengths, decode(self.values[source], self.dtype), self.counts[source]

    @classmethod
    def from_saved(cls, column_dtype: Any, saved: SavedRuns, slices: int) -> "Runs":
        """Return runs from what `save` returned, as slices from 0 on."""
        runs = cls(column_dtype, slices)
        lengths = check_array(saved[0], np.int64, "lengths of runs", slices)
        values = check_array(saved[1], runs.dtype, "values of runs")
        counts = check_array(saved[2], np.int64, "counts of values", len(values))
        if (slices and not 0 <= lengths.min() <= lengths.max() <= len(values)) or lengths.sum() != len(values):
            raise InvalidState.damaged("the lengths of its runs do not add up to their values")
        runs.lengths[:] = runs.rooms[:] = lengths
        runs.begins[:] = np.cumsum(lengths) - lengths
        runs.values, runs.counts = encode(values, runs.key), counts.copy()
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

    def _remove_kept(self, numbers: Array) -> None:
        for each in self.kept.values():
            each.remove(numbers)

    def _arena(self) -> tuple[Array, Array]:
        return self.values, self.counts

    def _shelf(self) -> tuple[Array, Array, Array, Array]:
        return self.begins, self.lengths, self.rooms, self.cursor

    def _make_room(self) -> None:
        """Pack all runs into an arena of twice their size; this also frees memory when few runs are left."""
        size = 2 * (int(self.lengths.sum()) + int(self.cursor[NEEDED]))
        values, counts = np.empty(size, self.key), np.empty(size, np.int64)
        pack_runs(self._arena(), self._shelf(), values, counts)
        self.values, self.counts = values, counts

    def _scratch(
        self, lows: Array, highs: Array, sizes: Array, begins: Array, covered: Array, overlaps: Array, has_modes: bool
    ) -> tuple[tuple[Array, ...], tuple[Array, ...] | None]:
        """Allocate room for what kernels merge at a time, and for the tally of chains that overlap, if there are."""
        first, last = begins[:-1], begins[1:] - 1
        most = int(np.where(overlaps, covered, np.maximum.reduceat(sizes, first)).max())
        runs = int(np.where(overlaps, highs[last] - lows[first], np.maximum.reduceat(highs - lows, first)).max())
        numbers, ints = self.key, np.dtype(np.int64)
        scratch = (*(np.empty(most, kind) for kind in (numbers, ints, numbers, ints)), np.empty(runs, ints))
        if not overlaps.any():
            return scratch, None
        ranks = int(covered[overlaps].max())
        tally = tuple(np.empty((ranks >> bits) + 1, ints) for bits in (0, 0, BITS, 2 * BITS))
        return scratch, (*tally, np.empty(2 * room_for(ranks) if has_modes else 0, ints))


def _interpolate(low: Array, high: Array, share: Array) -> Array:
    """Interpolate as `algebra.holistic.interpolate` does, for arrays."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((share == 0.0) | (low == high), low, (1.0 - share) * low + share * high)


@kernel
def _number_keys(bits: Any, negative: Any, infinity: Any, nan: Any, keys: Any) -> None:
    for k in range(len(bits)):
        magnitude = bits[k] & ~negative
        key = ~bits[k] if bits[k] & negative else bits[k] | negative
        key = negative if magnitude == 0 else key
        keys[k] = nan if magnitude > infinity else key


def encode(data: Array, key: np.dtype[Any]) -> Array:
    """Return unsigned keys in the order of the numbers.

    >>> keys = encode(np.array([-1.0, np.nan, -0.0, 0.0]), np.dtype(np.uint64))
    >>> bool(keys[0] < keys[2] < keys[1]), bool(keys[2] == keys[3]), decode(keys, np.dtype(np.float64))
    (True, True, array([-1., nan,  0.,  0.]))
    """
    top = key.type(1 << (8 * key.itemsize - 1))
    if data.dtype.kind == "f":
        infinity, nan = np.array([np.inf, np.nan], data.dtype).view(key)
        keys = np.empty(len(data), key)
        _number_keys(data.view(key), top, infinity, nan | top, keys)
        return keys
    if data.dtype.kind == "i":
        return np.asarray(data.astype(f"i{key.itemsize}").view(key) ^ top)
    return data.astype(key)


def decode(keys: Array, dtype: np.dtype[Any]) -> Array:
    """Return the numbers of keys."""
    top = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    if dtype.kind == "f":
        return np.where(keys & top, keys ^ top, ~keys).view(dtype)
    if dtype.kind == "i":
        return np.asarray((keys ^ top).view(f"i{keys.itemsize}").astype(dtype))
    return keys.astype(dtype)
