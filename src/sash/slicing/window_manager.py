"""What fires: from slices and two watermarks to windows, each a run of one key's slices.

Each kind of window is one kernel. It walks the slices of each key once and writes the windows that end after one
watermark and not after another and hold a row; where nothing lies between two slices it jumps, so what it costs is
slices and results, never the distance between rows. A window that a slice straddles (it was cut before the query came)
is passed over, since the slice cannot be cut any more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.errors import InvalidWindow
from sash.slicing.slicer import edge, index_of
from sash.slicing.slices import Array, Slices
from sash.windows.grid import Grid

__all__ = [
    "MOST_ENDED",
    "Ended",
    "Grids",
    "bands",
    "cumulatives",
    "grids",
    "landmarks",
    "last_rows",
    "punctuations",
    "ranks",
    "sessions",
]

MOST_ENDED = 100_000_000  # windows of one query that a push may end: more is a watermark in another unit


@dataclass(frozen=True)
class Ended:
    """Windows that ended: whose, from where to where, and which places of the arena they cover."""

    slots: Array
    starts: Array
    ends: Array
    lows: Array
    highs: Array
    which: Array | None = None  # of several windows that were asked for together

    def __len__(self) -> int:
        return len(self.slots)

    def taken(self, places: Array) -> "Ended":
        """These of them."""
        which = None if self.which is None else self.which[places]
        return Ended(
            self.slots[places], self.starts[places], self.ends[places], self.lows[places], self.highs[places], which
        )

    @classmethod
    def none(cls, dtype: Any) -> "Ended":
        ints = np.zeros(0, np.int64)
        return cls(ints, np.zeros(0, dtype), np.zeros(0, dtype), ints, ints)

    @classmethod
    def joined(cls, parts: Sequence["Ended"], dtype: Any) -> "Ended":
        """All of them, one after the other."""
        parts = [part for part in parts if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else cls.none(dtype)
        names = ("slots", "starts", "ends", "lows", "highs")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class Grids:
    """Several grids of windows: window k is from edge k of `phases` to edge k + whole of `end_phases`."""

    steps: Array
    phases: Array
    end_phases: Array
    units: Array
    wholes: Array

    @classmethod
    def of(cls, windows: Sequence[Any], dtype: Any) -> "Grids":
        grids = [each.grid for each in windows]
        kinds = {"step": dtype, "phase": dtype, "end_phase": dtype, "unit": dtype, "whole": np.int64}
        return cls(*(np.array([getattr(each, name) for each in grids], kind) for name, kind in kinds.items()))

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What kernels get."""
        return self.steps, self.phases, self.end_phases, self.units, self.wholes

    def first_end(self, after: Any) -> Any:
        """The first end of a window after a position."""
        return _first_end(self.arrays, self.steps.dtype.type(after))[0]

    def oldest_start(self, after: Any) -> Any:
        """The first start of a window that ends after a position."""
        return _first_end(self.arrays, self.steps.dtype.type(after))[1]


@kernel
def _first_end(grids: Any, after: Any) -> Any:
    steps, phases, end_phases, units, wholes = grids
    k = index_of(steps[0], end_phases[0], units[0], after) + 1
    end = edge(steps[0], end_phases[0], units[0], k)
    start = edge(steps[0], phases[0], units[0], k - wholes[0])
    for j in range(1, len(steps)):
        k = index_of(steps[j], end_phases[j], units[j], after) + 1
        end = min(end, edge(steps[j], end_phases[j], units[j], k))
        start = min(start, edge(steps[j], phases[j], units[j], k - wholes[j]))
    return end, start


@jitable
def _first_at(values: Any, order: Any, begin: int, count: int, position: Any) -> int:
    """The first place whose slice's value is not before a position."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if values[order[begin + middle]] < position:
            low = middle + 1
        else:
            high = middle
    return low


@jitable
def _write(out: Any, at: int, slot: int, start: Any, end: Any, low: int, high: int) -> int:
    """Note a window if there is room for it; count it in any case."""
    if at < len(out[0]):
        out[0][at] = slot
        out[1][at] = start
        out[2][at] = end
        out[3][at] = low
        out[4][at] = high
    return at + 1


@jitable
def _is_whole(lasts: Any, order: Any, begin: int, low: int, high: int, start: Any, end: Any) -> bool:
    """Whether no slice straddles an edge of the window."""
    if lasts[order[begin + high - 1]] >= end:
        return False
    return low == 0 or lasts[order[begin + low - 1]] < start


@jitable
def _advanced(values: Any, order: Any, begin: int, count: int, place: int, position: Any) -> int:
    """The first place from `place` on whose slice's value is not before a position: steps double, then halve."""
    step = 1
    while place + step <= count and values[order[begin + place + step - 1]] < position:
        place += step
        step *= 2
    high = min(place + step - 1, count)
    while place < high:
        middle = (place + high) // 2
        if values[order[begin + middle]] < position:
            place = middle + 1
        else:
            high = middle
    return place


@jitable
def _near(values: Any, order: Any, begin: int, count: int, low: int, guess: int, position: Any) -> int:
    """The first place from `low` on whose slice's value is not before a position, looked for around a guess."""
    guess = min(guess, count)
    if guess <= low:
        return _advanced(values, order, begin, count, low, position)
    if values[order[begin + guess - 1]] < position:
        return _advanced(values, order, begin, count, guess, position)
    step = 1
    while guess - step > low and values[order[begin + guess - step - 1]] >= position:
        guess -= step
        step *= 2
    place, high = max(low, guess - step), guess
    while place < high:
        middle = (place + high) // 2
        if values[order[begin + middle]] < position:
            place = middle + 1
        else:
            high = middle
    return place


@jitable
def _first_of_equals(firsts: Any, order: Any, begin: int, place: int) -> int:
    """The first place whose slice begins where this one does: rows at a punctuation belong to the window it opens."""
    while place > 0 and firsts[order[begin + place - 1]] == firsts[order[begin + place]]:
        place -= 1
    return place


@kernel
def _grids(
    arrays: Any,
    slots: Any,
    grids: Any,
    after: Any,
    until: Any,
    are_cut: bool,
    which: Any,
    out: Any,
) -> int:
    begins, counts, firsts, lasts, order = arrays
    steps, phases, end_phases, units, wholes = grids
    written = 0
    for window in range(len(steps)):
        step, phase, end_phase, unit = steps[window], phases[window], end_phases[window], units[window]
        whole = wholes[window]
        before = written
        for slot in slots:
            begin, count = begins[slot], counts[slot]
            if count == 0:
                continue
            # The first window that ends after `after` and after the oldest row.
            oldest = max(after, firsts[order[begin]])
            k = index_of(step, end_phase, unit, oldest) + 1 - whole
            if edge(step, end_phase, unit, k + whole) > until:
                continue
            low = _first_at(firsts, order, begin, count, edge(step, phase, unit, k))
            high, held = low, 1
            while low < count:
                start = edge(step, phase, unit, k)
                end = edge(step, end_phase, unit, k + whole)
                if end > until:
                    break
                if high > low and firsts[order[begin + high - 1]] < start:
                    low = high
                low = _advanced(firsts, order, begin, count, low, start)
                if low == count:
                    break
                nearest = firsts[order[begin + low]]
                if nearest >= end:  # nothing here: on to the first window that holds the next slice
                    k = max(k + 1, index_of(step, end_phase, unit, nearest) + 1 - whole)
                    continue
                # Windows of one grid hold about as many slices each.
                high = _near(firsts, order, begin, count, max(high, low), low + held, end)
                held = high - low
                if are_cut or _is_whole(lasts, order, begin, low, high, start, end):
                    written = _write(out, written, slot, start, end, begin + low, begin + high)
                k += 1
        for place in range(min(before, len(which)), min(written, len(which))):
            which[place] = window
    return written


@kernel
def _cumulatives(
    arrays: Any, slots: Any, steps: int, step: Any, phase: Any, unit: Any, after: Any, until: Any, out: Any
) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        if count == 0:
            continue
        k = index_of(step, phase, unit, max(after, firsts[order[begin]])) + 1
        low, high = 0, 0
        while True:
            start = edge(step, phase, unit, (k - 1) // steps * steps)
            end = edge(step, phase, unit, k)
            if end > until:
                break
            low = _advanced(firsts, order, begin, count, low, start)
            if low == count:
                break
            nearest = firsts[order[begin + low]]
            if nearest >= end:
                k = max(k + 1, index_of(step, phase, unit, nearest) + 1)
                continue
            high = _advanced(firsts, order, begin, count, max(high, low), end)
            if _is_whole(lasts, order, begin, low, high, start, end):
                written = _write(out, written, slot, start, end, begin + low, begin + high)
            k += 1
    return written


@kernel
def _sessions(arrays: Any, slots: Any, gap: Any, after: Any, until: Any, out: Any, due: Any) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        place = _first_at(lasts, order, begin, count, after - gap)
        while place > 0 and lasts[order[begin + place - 1]] + gap >= after:  # the difference may have been rounded up
            place -= 1
        while place > 0 and place < count:
            if firsts[order[begin + place]] > lasts[order[begin + place - 1]] + gap:
                break
            place -= 1
        while place < count:
            low = place
            place += 1
            while place < count and firsts[order[begin + place]] <= lasts[order[begin + place - 1]] + gap:
                place += 1
            last = lasts[order[begin + place - 1]]
            if last + gap >= until:
                due[0] = min(due[0], last + gap)
            elif last + gap >= after:
                written = _write(out, written, slot, firsts[order[begin + low]], last + gap, begin + low, begin + place)
    return written


@kernel
def _bands(arrays: Any, slots: Any, starts: Any, ends: Any, out: Any) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for k in range(len(slots)):
        slot = slots[k]
        begin, count = begins[slot], counts[slot]
        low = _first_at(firsts, order, begin, count, starts[k])
        high = _first_at(firsts, order, begin, count, ends[k])
        if low < high and _is_whole(lasts, order, begin, low, high, starts[k], ends[k]):
            written = _write(out, written, slot, starts[k], ends[k], begin + low, begin + high)
    return written


@kernel
def _punctuations(
    arrays: Any, opens: Any, slots: Any, bit: int, afters: Any, until: Any, highest: Any, out: Any
) -> int:
    begins, counts, firsts, _lasts, order = arrays
    written = 0
    for at in range(len(slots)):
        slot, after = slots[at], afters[at]
        begin, count = begins[slot], counts[slot]
        if count == 0:
            continue
        # From the last window that began no later than `after` on: windows are told by the punctuation that ends them.
        low = _first_at(firsts, order, begin, count, after)
        opening = low
        while opening < count and firsts[order[begin + opening]] == after and opens[order[begin + opening]] & bit == 0:
            opening += 1
        if opening == count or firsts[order[begin + opening]] > after:
            low = max(0, low - 1)
            while low > 0 and opens[order[begin + low]] & bit == 0:
                low -= 1
        low = _first_of_equals(firsts, order, begin, low)
        place = low + 1
        while place < count:
            if opens[order[begin + place]] & bit != 0:
                end = firsts[order[begin + place]]
                if end > until:
                    break
                high = _first_of_equals(firsts, order, begin, place)
                if end > after and high > low:
                    written = _write(out, written, slot, firsts[order[begin + low]], end, begin + low, begin + high)
                low = high
            place += 1
        if until >= highest and after < highest:
            written = _write(out, written, slot, firsts[order[begin + low]], highest, begin + low, begin + count)
    return written


@kernel
def _ranks(
    arrays: Any,
    ranks: Any,
    seen: Any,
    slots: Any,
    size: int,
    every: int,
    fired: Any,
    until: Any,
    partial: bool,
    out: Any,
) -> int:
    begins, counts, _firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        k = fired[slot]
        while True:
            start = k * every
            end = start + size
            if not (end <= seen[slot] or (partial and start < seen[slot])):
                break
            low = _first_at(ranks, order, begin, count, start)
            high = _first_at(ranks, order, begin, count, end)
            if low >= high or lasts[order[begin + high - 1]] >= until:
                break
            first = ranks[order[begin + low]]
            # A slice that was made before the query was there may lie across an edge.
            is_cut = high == count or ranks[order[begin + high]] == end or end > seen[slot]
            if is_cut and (high < count or end >= seen[slot]) and first == start:
                written = _write(out, written, slot, start, end, begin + low, begin + high)
            k = max(k + 1, -(-first // every))  # no window that starts before its first slice does is whole
    return written


@kernel
def _last_rows(arrays: Any, slots: Any, rows: int, grid: Any, since: Any, after: Any, until: Any, out: Any) -> int:
    begins, counts, firsts, _lasts, order = arrays
    step, phase, unit = grid
    written = 0
    expected = 0.0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        oldest = 0
        while oldest < count and firsts[order[begin + oldest]] <= since:
            oldest += 1
        if oldest == count:
            continue
        k = index_of(step, phase, unit, max(after, firsts[order[begin + oldest]])) + 1
        if until > edge(step, phase, unit, k):
            expected += float(until - edge(step, phase, unit, k)) * float(unit) / float(step)
        if expected > MOST_ENDED:
            return -1
        high = oldest
        while edge(step, phase, unit, k) <= until:
            end = edge(step, phase, unit, k)
            high = _advanced(firsts, order, begin, count, high, end)
            low = max(oldest, high - rows)
            written = _write(out, written, slot, firsts[order[begin + low]], end, begin + low, begin + high)
            k += 1
    return written


# --- who calls them ------------------------------------------------------------------------------


def _collected(run: Callable[[Any], int], guess: int, dtype: Any) -> Ended:
    """What a kernel writes, with as much room as it turns out to need."""
    room = max(guess, 16)
    while True:
        out = (
            np.empty(room, np.int64),
            np.empty(room, dtype),
            np.empty(room, dtype),
            np.empty(room, np.int64),
            np.empty(room, np.int64),
        )
        written = int(run(out))
        if written < 0:
            raise InvalidWindow.too_many_at_once(MOST_ENDED)
        if written <= room:
            return Ended(*(each[:written] for each in out))
        room = written


def _view(slices: Slices) -> tuple[Array, ...]:
    return slices.begin, slices.count, slices.firsts, slices.lasts, slices.order


def grids(
    slices: Slices, slots: Array, grids: Grids, after: Any, until: Any, expected: int = 0, are_cut: bool = False
) -> Ended:
    """Windows with after < end ≤ until, of each of these grids, told apart by `which`; `expected` guesses how many.

    `are_cut` says that no slice was made before these windows were asked for, so that none lies across an edge.
    """
    dtype = slices.firsts.dtype
    after, until = dtype.type(after), dtype.type(until)
    which = np.empty(0, np.int64)

    def run(out: Any) -> int:
        nonlocal which
        which = np.empty(len(out[0]), np.int64)
        return _grids(_view(slices), slots, grids.arrays, after, until, are_cut, which, out)

    ended = _collected(run, max(len(slots), expected), dtype)
    return replace(ended, which=which[: len(ended)])


def cumulatives(slices: Slices, slots: Array, grid: Grid, after: Any, until: Any) -> Ended:
    """Windows that start at every edge number of which `grid.whole` is a divisor, and grow by a step, with
    after < end ≤ until.
    """
    dtype = slices.firsts.dtype
    step, phase, unit, after, until = (dtype.type(each) for each in (*_progression(grid), after, until))
    return _collected(
        lambda out: _cumulatives(_view(slices), slots, grid.whole, step, phase, unit, after, until, out),
        len(slots),
        dtype,
    )


def _progression(grid: Grid) -> tuple[Any, Any, Any]:
    return grid.step, grid.phase, grid.unit


def sessions(slices: Slices, slots: Array, gap: Any, after: Any, until: Any, highest: Any) -> tuple[Ended, Any]:
    """Sessions with after ≤ last + gap < until, and when the next of the others is due at the earliest."""
    dtype = slices.firsts.dtype
    due = np.full(1, highest, dtype)
    gap, after, until = (dtype.type(each) for each in (gap, after, until))
    ended = _collected(lambda out: _sessions(_view(slices), slots, gap, after, until, out, due), len(slots), dtype)
    return ended, due[0]


def bands(slices: Slices, slots: Array, starts: Array, ends: Array) -> Ended:
    """The given windows, as far as they hold a row."""
    return _collected(lambda out: _bands(_view(slices), slots, starts, ends, out), len(slots), slices.firsts.dtype)


def landmarks(slices: Slices, slots: Array, start: Any, end: Any) -> Ended:
    """One window, for every key."""
    dtype = slices.firsts.dtype
    return bands(slices, slots, np.full(len(slots), start, dtype), np.full(len(slots), end, dtype))


def punctuations(slices: Slices, slots: Array, bit: int, afters: Array, until: Any, highest: Any) -> Ended:
    """Windows between punctuations that end after what is given for each key and not after `until`; at the end of the
    stream also the last, open one.
    """
    dtype = slices.firsts.dtype
    until, highest = dtype.type(until), dtype.type(highest)
    return _collected(
        lambda out: _punctuations(_view(slices), slices.opens, slots, bit, afters, until, highest, out),
        len(slots),
        dtype,
    )


def ranks(slices: Slices, slots: Array, size: int, every: int, fired: Array, until: Any, partial: bool) -> Ended:
    """Windows of ranks from the first that was not fired, as far as all their rows lie before `until`."""
    dtype = slices.firsts.dtype
    until = dtype.type(until)
    view = _view(slices)
    return _collected(
        lambda out: _ranks(view, slices.ranks, slices.seen, slots, size, every, fired, until, partial, out),
        len(slots),
        np.int64,
    )


def last_rows(slices: Slices, slots: Array, rows: int, grid: Grid, since: Any, after: Any, until: Any) -> Ended:
    """The last rows before each edge after `after`, up to and with `until`, of rows after `since`."""
    dtype = slices.firsts.dtype
    since, after, until = (dtype.type(each) for each in (since, after, until))
    edges = tuple(dtype.type(each) for each in _progression(grid))
    return _collected(
        lambda out: _last_rows(_view(slices), slots, rows, edges, since, after, until, out), len(slots), dtype
    )
