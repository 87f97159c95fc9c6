"""The values of slices as sorted runs with run lengths: what medians, quantiles and distinct values are read off.

Idea      A number is kept as an unsigned key in the order of numbers: NaN is the largest and equal to itself, -0.0 is
          0.0. A run is the distinct keys of a slice, ascending, and how often each occurs. Two runs become one
          in one pass that does not branch on data; rows are sorted, slices joined and windows merged by that pass.
Picture     slice s     begins ┐              ┌ begins + lengths      ┌ begins + rooms
            values  … [ k0 < k1 < k2 < k3 )    free                   ) …
            counts  … [  3 |  1 |  1 |  7 )
Windows   that hardly overlap are merged one by one, neighbouring runs first. Windows that overlap many times are a
          chain: the keys of all their slices are merged once, and over their ranks a tally is kept, summed by 64 and
          by 64 × 64. A slice that enters or leaves is three additions per key, a quantile a short walk down.
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
from sash.slicing.slices import Array, Slices, grown
from sash.slicing.window_manager import Ended

__all__ = ["Frozen", "Lists", "Read", "Runs", "Statistic"]

Frozen = tuple[Array, Array, Array]  # the lengths of runs; their values and counts, one after the other

# Where the counters live in `cursor`: the top of the arena, and the room that was missing when a kernel stopped.
_TOP, _NEEDED = range(2)
_SHORT = 8  # rows that are sorted by insertion; measured: 28 ns per row, with 4 of them 31, with 16 29
_LONG = 256  # rows that NumPy sorts faster, its call included; measured with 500: 59 against 76 ns per row
_BITS = 6  # of a rank, per level of the tally
# Windows that overlap so many times are slid over. Measured: with 100 distinct values in a slice and 84,000 in all, a
# window takes 10 against 13 µs by the tally at 8, and 31 against 13 at 12.
_SLIDE_FROM = 8


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


@jitable
def _joined(values: Any, counts: Any, a: int, b: int, end: int, out_values: Any, out_counts: Any, out: int) -> int:
    """Write the runs [a, b) and [b, end) as one; gives where it ends."""
    a_end = b
    while a < a_end and b < end:
        # Which is smaller cannot be foretold: one is picked by its place, which the compiler makes no branch of, and
        # unsigned places need no test for an index from the end (measured: 3 against 8 ns per key).
        at_a, at_b, to = np.uint64(a), np.uint64(b), np.uint64(out)
        x, y = values[at_a], values[at_b]
        is_x, is_y = int(x <= y), int(y <= x)
        picked = np.uint64(b + (a - b) * is_x)
        out_values[to] = values[picked]
        out_counts[to] = counts[picked] + (is_x & is_y) * counts[at_b]
        a += is_x
        b += is_y
        out += 1
    if a < a_end:
        b, end = a, a_end
    for k in range(b, end):
        out_values[out] = values[k]
        out_counts[out] = counts[k]
        out += 1
    return out


@jitable
def _united(values: Any, counts: Any, start: int, ends: Any, runs: int, others: Any, other_counts: Any) -> int:
    """Join neighbouring runs until one is left, from `start` on; gives where it ends."""
    is_away = False
    while runs > 1:
        at, out, made = start, start, 0
        for k in range(0, runs, 2):
            middle, end = ends[k], ends[min(k + 1, runs - 1)]
            out = _joined(values, counts, at, middle, end, others, other_counts, out)
            at = end
            ends[made] = out
            made += 1
        values, others = others, values
        counts, other_counts = other_counts, counts
        is_away = not is_away
        runs = made
    if is_away:
        for k in range(start, ends[0]):
            others[k] = values[k]
            other_counts[k] = counts[k]
    return ends[0] if runs > 0 else start


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


@jitable
def _stretches(values: Any, counts: Any, row: int, end: int, ends: Any) -> int:
    """Write rows that ascend as runs, in place; a few are sorted first where they do not. Counts are zero before."""
    out, runs = row, 0
    while row < end:
        stop = row + 1
        while stop < end and values[stop - 1] <= values[stop]:
            stop += 1
        if stop - row < _SHORT:
            limit = min(row + _SHORT, end)
            for k in range(stop, limit):
                value, hole = values[k], k
                while hole > row and value < values[hole - 1]:
                    values[hole] = values[hole - 1]
                    hole -= 1
                values[hole] = value
            stop = limit
        values[out] = values[row]
        counts[out] = 1
        for k in range(row + 1, stop):
            out += int(values[k] != values[out])
            values[out] = values[k]
            counts[out] += 1
        out += 1
        ends[runs] = out
        runs += 1
        row = stop
    return runs


@kernel
def _sort(values: Any, counts: Any, begins: Any, sizes: Any, ends: Any, others: Any, other_counts: Any) -> None:
    for k in range(len(sizes)):
        runs = _stretches(values, counts, begins[k], begins[k + 1], ends)
        sizes[k] = _united(values, counts, begins[k], ends, runs, others, other_counts) - begins[k]


@jitable
def _in_common(values: Any, begin: int, end: int, others: Any, first: int, stop: int) -> int:
    """How many keys two runs share."""
    found = 0
    if 8 * (stop - first) < end - begin:
        for k in range(first, stop):
            begin = _at_least(values, begin, end, others[k])
            found += int(begin < end and values[begin] == others[k])
        return found
    while begin < end and first < stop:
        x, y = values[begin], others[first]
        found += int(x == y)
        begin += int(x <= y)
        first += int(y <= x)
    return found


@jitable
def _at_least(values: Any, low: int, end: int, value: Any) -> int:
    """The first place from `low` on whose value is not smaller: near, most of the time."""
    step = 1
    while low + step <= end and values[low + step - 1] < value:
        low += step
        step *= 2
    high = min(low + step - 1, end)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@jitable
def _put(arena: Any, shelf: Any, number: int, others: Any, other_counts: Any, first: int, stop: int) -> bool:
    """Join a run to that of a slice; where there is no room, say so and change nothing."""
    values, counts = arena
    begins, lengths, rooms, cursor = shelf
    begin = begins[number]
    end = begin + lengths[number]
    size = end - begin + stop - first - _in_common(values, begin, end, others, first, stop)
    target = begin
    if size > rooms[number]:
        room = size if begin == end else max(size, 2 * rooms[number])
        if cursor[_TOP] + room > len(values):
            cursor[_NEEDED] = room
            return False
        target = cursor[_TOP]
        cursor[_TOP] += room
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
    cursor[_TOP] = out


# --- windows -------------------------------------------------------------------------------------


@kernel
def _chains(order: Any, lengths: Any, lows: Any, highs: Any, sizes: Any, begins: Any, covered: Any) -> int:
    """Part windows where one has no slice of the window before it; how long the runs of each window and chain are."""
    chains, low, high, size = 0, 0, 0, 0
    for place in range(len(lows)):
        if place == 0 or lows[place] < low or lows[place] >= high or highs[place] < high:
            low, high, size = lows[place], lows[place], 0
            begins[chains] = place
            covered[chains] = 0
            chains += 1
        while high < highs[place]:
            size += lengths[order[high]]
            covered[chains - 1] += lengths[order[high]]
            high += 1
        while low < lows[place]:
            size -= lengths[order[low]]
            low += 1
        sizes[place] = size
    begins[chains] = len(lows)
    return chains


@jitable
def _gathered(arena: Any, shelf: Any, order: Any, low: int, high: int, scratch: Any) -> int:
    """The run of a window, at the front of the scratch; gives its length."""
    values, counts = arena
    begins, lengths, _rooms, _cursor = shelf
    own, own_counts, others, other_counts, ends = scratch
    out = 0
    for at in range(low, high):
        begin = begins[order[at]]
        for k in range(begin, begin + lengths[order[at]]):
            own[out] = values[k]
            own_counts[out] = counts[k]
            out += 1
        ends[at - low] = out
    return _united(own, own_counts, 0, ends, high - low, others, other_counts)


@jitable
def _each(
    arena: Any, shelf: Any, order: Any, windows: Any, scratch: Any, shares: Any, out: Any, place: int, stop: int
) -> int:
    """Windows one by one, until `stop` or until lists do not fit."""
    lows, highs = windows
    own, until = scratch[0], scratch[1]
    rows, distinct, below, above, between, flat, cursor = out
    while place < stop:
        size = _gathered(arena, shelf, order, lows[place], highs[place], scratch)
        if len(flat) > 0:
            if cursor[_TOP] + size > len(flat):
                cursor[_NEEDED] = size
                break
            for k in range(size):
                flat[cursor[_TOP] + k] = own[k]
            cursor[_TOP] += size
        for k in range(1, size):
            until[k] += until[k - 1]
        rows[place] = until[size - 1] if size > 0 else 0
        distinct[place] = size
        if size > 0:
            for j in range(len(shares)):
                at = shares[j] * (rows[place] - 1)
                rank = int(at)
                k = _at_least(until, 0, size, rank + 1)
                below[j, place] = own[k]
                above[j, place] = own[k if rank + 1 < until[k] or k + 1 == size else k + 1]
                between[j, place] = at - rank
        place += 1
    return place


@jitable
def _rank_of(ones: Any, blocks: Any, heaps: Any, row: int) -> int:
    """The rank of the key of a row, rows being numbered from the smallest."""
    k = 0
    while row >= heaps[k]:
        row -= heaps[k]
        k += 1
    k <<= _BITS
    while row >= blocks[k]:
        row -= blocks[k]
        k += 1
    k <<= _BITS
    while row >= ones[k]:
        row -= ones[k]
        k += 1
    return k


@jitable
def _slid(
    arena: Any,
    shelf: Any,
    order: Any,
    windows: Any,
    scratch: Any,
    tally: Any,
    shares: Any,
    out: Any,
    place: int,
    stop: int,
) -> int:
    """Windows of a chain, until `stop` or until lists do not fit."""
    values, counts = arena
    begins, lengths, _rooms, _cursor = shelf
    lows, highs = windows
    keys = scratch[0]
    ranks, ones, blocks, heaps = tally
    rows, distinct, below, above, between, flat, cursor = out
    size = _gathered(arena, shelf, order, lows[place], highs[stop - 1], scratch)
    for k in range(size):
        ones[k] = 0
    for k in range((size >> _BITS) + 1):
        blocks[k] = 0
    for k in range((size >> 2 * _BITS) + 1):
        heaps[k] = 0
    oldest, newest, left, entered, total, different = lows[place], lows[place], 0, 0, 0, 0
    while place < stop:
        while newest < highs[place]:
            rank = 0
            begin = begins[order[newest]]
            for k in range(begin, begin + lengths[order[newest]]):
                rank = _at_least(keys, rank, size, values[k])
                ranks[entered] = rank
                entered += 1
                different += int(ones[rank] == 0)
                ones[rank] += counts[k]
                blocks[rank >> _BITS] += counts[k]
                heaps[rank >> 2 * _BITS] += counts[k]
                total += counts[k]
            newest += 1
        while oldest < lows[place]:
            begin = begins[order[oldest]]
            for k in range(begin, begin + lengths[order[oldest]]):
                rank = ranks[left]
                left += 1
                ones[rank] -= counts[k]
                blocks[rank >> _BITS] -= counts[k]
                heaps[rank >> 2 * _BITS] -= counts[k]
                total -= counts[k]
                different -= int(ones[rank] == 0)
            oldest += 1
        if len(flat) > 0:
            if cursor[_TOP] + different > len(flat):
                cursor[_NEEDED] = different
                break
            at = cursor[_TOP]
            for block in range((size >> _BITS) + 1):
                if blocks[block] > 0:
                    for k in range(block << _BITS, min((block + 1) << _BITS, size)):
                        if ones[k] > 0:
                            flat[at] = keys[k]
                            at += 1
            cursor[_TOP] = at
        rows[place] = total
        distinct[place] = different
        if total > 0:
            for j in range(len(shares)):
                exact = shares[j] * (total - 1)
                row = int(exact)
                below[j, place] = keys[_rank_of(ones, blocks, heaps, row)]
                above[j, place] = keys[_rank_of(ones, blocks, heaps, min(row + 1, total - 1))]
                between[j, place] = exact - row
        place += 1
    return place


@kernel
def _finish(
    arena: Any,
    shelf: Any,
    order: Any,
    windows: Any,
    begins: Any,
    overlaps: Any,
    scratch: Any,
    tally: Any,
    shares: Any,
    out: Any,
    place: int,
) -> int:
    chain = 0
    while place < len(windows[0]):
        while begins[chain + 1] <= place:
            chain += 1
        stop = begins[chain + 1]
        if overlaps[chain]:
            place = _slid(arena, shelf, order, windows, scratch, tally, shares, out, place, stop)
        else:
            place = _each(arena, shelf, order, windows, scratch, shares, out, place, stop)
        if place < stop:
            break
    return place


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
        ends = np.empty(rows // _SHORT + 2, np.int64)
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
            chains = _chains(order, self.lengths, lows, highs, sizes, begins, covered)
            sizes, begins, covered = sizes[:windows], begins[: chains + 1], covered[:chains]
            overlaps = np.add.reduceat(sizes, begins[:-1]) > _SLIDE_FROM * covered
            scratch, tally = self._scratch(lows, highs, sizes, begins, covered, overlaps)
            if any(each.read is Read.COLLECT_DISTINCT for each in outputs):
                flat = np.empty(max(1, int(sizes.max())), self.key)
            cursor = np.zeros(2, np.int64)
            place = 0
            while place < windows:
                place = _finish(
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
                    flat = grown(flat, max(2 * len(flat), int(cursor[_TOP] + cursor[_NEEDED])))
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

    def bring_up_to_date(self, slices: Slices) -> None:
        """There is no tree over runs."""

    def thaw(self, frozen: Frozen) -> None:
        """Go on from what `frozen` gave."""
        vars(self).update(vars(Runs.thawed(self.dtype, frozen)))

    def frozen(self, numbers: Array) -> Frozen:
        """The runs of these slices, to save them: equal runs give equal arrays, wherever they lie."""
        lengths = self.lengths[numbers]
        offsets = np.cumsum(lengths) - lengths
        source = np.repeat(self.begins[numbers] - offsets, lengths) + np.arange(int(lengths.sum()))
        return lengths, _decoded(self.values[source], self.dtype), self.counts[source]

    @classmethod
    def thawed(cls, column_dtype: Any, frozen: Frozen) -> "Runs":
        """What `frozen` gave, as slices from 0 on."""
        lengths, values, counts = frozen
        if int(lengths.sum()) != len(values) or len(values) != len(counts):
            raise ValueError("the lengths of runs do not add up to their values")
        runs = cls(column_dtype, len(lengths))
        runs.lengths[:] = runs.rooms[:] = lengths
        runs.begins[:] = np.cumsum(lengths) - lengths
        runs.values, runs.counts = _encoded(np.asarray(values, runs.dtype), runs.key), np.array(counts, np.int64)
        runs.cursor[_TOP] = len(values)
        return runs

    def check(self) -> None:
        """Assert the R-lines."""
        owners = np.flatnonzero(self.rooms)
        owners = owners[np.argsort(self.begins[owners])]
        begins, ends = self.begins[owners], self.begins[owners] + self.rooms[owners]
        assert (ends[:-1] <= begins[1:]).all() and (self.lengths <= self.rooms).all(), "R1"
        assert not len(ends) or ends[-1] <= self.cursor[_TOP] <= len(self.values), "R1"
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
        size = 2 * (int(self.lengths.sum()) + int(self.cursor[_NEEDED]))
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
        tally = tuple(np.empty((ranks >> bits) + 1, ints) for bits in (0, 0, _BITS, 2 * _BITS))
        return scratch, tally


def _interpolated(low: Array, high: Array, share: Array) -> Array:
    """As `algebra.holistic.interpolated`, for arrays."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((share == 0.0) | (low == high), low, (1.0 - share) * low + share * high)
