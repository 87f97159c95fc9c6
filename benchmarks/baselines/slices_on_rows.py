"""General slicing on rows: slices shared by all windows, with their rows, a row at a time.

Idea      The stream is cut where windows begin and end. A row is combined into the one slice that it belongs
          to, and a window is the fold of its slices. Later rows can change slices: a punctuation splits a
          slice, a row between two sessions merges two, a late row shifts every later count by one.
Picture     windows   [0, 10)  [4, 14)  [8, 18)
            slices    [0, 4) [4, 8) [8, 10) [10, 12) …          first, last and partial of each, and its rows
Keeps     K1–K3 of the slice manager, and
          K4  no slice reaches over an edge of a time window or a mark
          K5  with sessions: inside a slice rows are at most the gap apart
          K6  by count: all slices but the newest have end - start rows
          Windows by position and windows by count have slices of their own.
Combines  in order 1, late 1 (all of the slice if the aggregate does not commute), window: its slices less one.
          Space  rows · row + slices · (partial + slice).
From      Traub et al. Efficient Window Aggregation with General Stream Slicing.
          EDBT 2019. doi:10.5441/002/edbt.2019.10
"""

from typing import Any

import numpy as np

from benchmarks.baselines.chains import bytes_in_use, spare
from benchmarks.baselines.operator import Facts, Operator, announce, place_of, shift_up, widen_column
from benchmarks.baselines.slice_manager import (
    FIRSTS,
    LASTS,
    MARKED,
    OPENED,
    TOTAL,
    WATERMARK,
    B,
    F,
    append,
    drop_until,
    merge,
    new_line,
    open_slice,
    shift,
    split,
    update,
    with_room,
)
from benchmarks.baselines.sorted_slots import due_sessions, due_times, needed_from, session_state
from benchmarks.baselines.windows import FOREVER, NEVER, Layout, next_edge
from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, load
from sash.algebra.monoid import Monoid, combine, emit

__all__ = ["FACTS", "SlicesOnRows"]

FACTS = Facts(
    "slicing on rows",
    "rows · row + slices · (partial + slice)",
    ordered=True,
    late=True,
    counts=True,
    sessions=True,
    punctuated=True,
)
SLICE = 56  # bytes: start, end, first, last, count, where its rows begin and end


class SlicesOnRows(Operator):
    """A technique that combines a row into its slice, and folds a window from its slices."""

    def __init__(self, aggregate: Monoid, layout: Layout) -> None:
        super().__init__(aggregate, layout)
        self.has_counts = len(layout.counts[0]) > 0
        self.has_positions = len(layout.times[0]) > 0 or layout.session >= 0 or layout.punctuated >= 0
        self.timed = new_line(aggregate)
        self.counted = new_line(aggregate)
        self.marks = np.zeros(16, np.int64)
        self.count_nexts = np.zeros(len(layout.counts[0]), np.int64)
        self.session = session_state()
        self._counted_done = 0

    def size_bytes(self) -> int:
        total = 0
        for _meta, partials, pool, cursor in (self.timed, self.counted):
            slots = range(int(cursor[F]), int(cursor[B]))
            total += self._partial_bytes(partials, slots) + SLICE * len(slots)
            total += bytes_in_use(pool, self._row_bytes())
        return total + 8 * int(self.timed[-1][MARKED])

    def push(self, positions: Any, values: Any, watermark: int, marks: Any = None) -> Any:
        self._counted_done = 0
        return super().push(positions, values, watermark, marks)

    def _take(self, positions: Any, inputs: Fields, marks: Any, begin: int) -> int:
        aggregate, layout = self.aggregate, self.layout
        while self.has_counts and self._counted_done < len(positions):
            done = _take_counted(aggregate, layout.counts, self.counted, positions, inputs, self._counted_done)
            if done < len(positions):
                cursor = self.counted[-1]
                self.counted = with_room(self.counted, int(cursor[B] - cursor[F]) + 3)
            self._counted_done = done
        if not self.has_positions:
            return len(positions)
        marked = marks if layout.punctuated >= 0 else marks[:0]
        return _take_timed(
            aggregate, layout.times, self.timed, self.marks, layout.gap, positions, inputs, marked, begin
        )

    def _grow(self) -> None:
        self.timed = with_room(self.timed, 4)
        if self.timed[-1][MARKED] == len(self.marks):
            self.marks = widen_column(self.marks, 2 * len(self.marks))

    def _find_due(self) -> bool:
        layout, watermark, due = self.layout, self.watermark, self.due
        meta, _partials, _pool, cursor = self.timed
        cursor[WATERMARK] = self.counted[-1][WATERMARK] = watermark
        firsts, lasts, begin, end = meta[FIRSTS], meta[LASTS], int(cursor[F]), int(cursor[B])
        if not due_times(layout.times, self.nexts, firsts, begin, end, watermark, due):
            return False
        if layout.session >= 0 and not due_sessions(
            layout.session, layout.gap, self.session, firsts, lasts, begin, end, watermark, due
        ):
            return False
        if layout.punctuated >= 0 and not _due_marks(layout.punctuated, self.marks, cursor, firsts, watermark, due):
            return False
        counted = self.counted[0], self.counted[-1]
        return not self.has_counts or _due_counts(layout.counts, self.count_nexts, *counted, watermark, due)

    def _fold(self, count: int, results: Fields, presences: Fields) -> None:
        by_count = np.zeros(len(self.layout.windows), np.bool_)
        by_count[self.layout.counts[0]] = True
        _fold(self.aggregate, self.timed[1], self.counted[1], by_count, self.due, count, results, presences)

    def _drop(self) -> None:
        needed = needed_from(self.layout, self.nexts, self.session)
        if self.layout.punctuated >= 0:
            needed = min(needed, int(self.timed[-1][OPENED]))
        _drop(self.aggregate, self.timed, needed, False)
        if self.has_counts:
            _drop(self.aggregate, self.counted, int((self.count_nexts * self.layout.counts[2]).min()), True)


# --- slicer: where to cut ----------------------------------------------------------------------------


@jitable
def _last_edge(times: Any, marks: Any, cursor: Any, position: int) -> int:
    """Return the last edge that is not after a position."""
    _which, sizes, everys, offsets = times
    edge = NEVER
    for k in range(len(sizes)):
        edge = max(edge, next_edge(position, everys[k], offsets[k]) - everys[k])
        edge = max(edge, next_edge(position, everys[k], offsets[k] + sizes[k]) - everys[k])
    place = place_of(marks, 0, cursor[MARKED], position + 1)
    if place > 0:
        edge = max(edge, marks[place - 1])
    if cursor[OPENED] <= position:
        edge = max(edge, cursor[OPENED])
    return edge


@jitable
def _edge_after(times: Any, marks: Any, cursor: Any, position: int) -> int:
    """Return the first edge after a position."""
    _which, sizes, everys, offsets = times
    edge = FOREVER
    for k in range(len(sizes)):
        edge = min(edge, next_edge(position, everys[k], offsets[k]))
        edge = min(edge, next_edge(position, everys[k], offsets[k] + sizes[k]))
    place = place_of(marks, 0, cursor[MARKED], position + 1)
    if place < cursor[MARKED]:
        edge = min(edge, marks[place])
    return edge


@jitable
def _rank_edge_after(counts: Any, rank: int) -> int:
    """Return the first rank after this one where a count window begins or ends."""
    _which, sizes, everys, _offsets = counts
    edge = FOREVER
    for k in range(len(sizes)):
        edge = min(edge, next_edge(rank, everys[k], 0))
        edge = min(edge, sizes[k] if rank < sizes[k] else next_edge(rank, everys[k], sizes[k]))
    return edge


@jitable
def _slot_for(times: Any, line: Any, marks: Any, position: int) -> int:
    """Return the slice that covers a position; make one if there is none."""
    meta, _partials, _pool, cursor = line
    starts, ends, _firsts, _lasts, _counts, _heads, _tails = meta
    slot: int = cursor[B] - 1
    if slot < cursor[F] or position < starts[slot]:
        slot = place_of(starts, cursor[F], cursor[B], position + 1) - 1
    if slot >= cursor[F] and position < ends[slot]:
        return slot
    start = _last_edge(times, marks, cursor, position)
    end = _edge_after(times, marks, cursor, position)
    if slot >= cursor[F]:
        start = max(start, ends[slot])
    if slot + 1 < cursor[B]:
        end = min(end, starts[slot + 1])
    open_slice(line, slot + 1, start, end)
    return slot + 1


# --- slice manager: rows and cuts to slices ------------------------------------------------------------


@jitable
def _mark(aggregate: Monoid, line: Any, marks: Any, position: int) -> None:
    """Split the slice at the position of a punctuation (K4)."""
    meta, _partials, _pool, cursor = line
    starts, ends, firsts, _lasts, _counts, _heads, _tails = meta
    place = place_of(marks, 0, cursor[MARKED], position)
    if cursor[OPENED] == position or (place < cursor[MARKED] and marks[place] == position):
        return
    shift_up((marks,), place, cursor[MARKED])
    marks[place] = position
    cursor[MARKED] += 1
    slot = place_of(starts, cursor[F], cursor[B], position) - 1
    if slot >= cursor[F] and position < ends[slot]:
        if firsts[slot] >= position:
            starts[slot] = position  # nothing is before it: a split would leave a slice without rows
        else:
            split(aggregate, line, slot, position)


@jitable
def _cut_off(aggregate: Monoid, line: Any, slot: int, gap: int, position: int) -> int:
    """Give a row a new slice if it is more than the gap away from the rows of its slice (K5)."""
    meta, _partials, _pool, _cursor = line
    _starts, _ends, firsts, lasts, counts, _heads, _tails = meta
    if counts[slot] > 0 and position - lasts[slot] > gap:
        split(aggregate, line, slot, position)
        return slot + 1
    if counts[slot] > 0 and firsts[slot] - position > gap:
        split(aggregate, line, slot, firsts[slot])
    return slot


@jitable
def _bridge(aggregate: Monoid, times: Any, line: Any, marks: Any, slot: int, gap: int) -> None:
    """Merge a slice with the next one if only the end of a session separated them."""
    meta, _partials, _pool, cursor = line
    starts, ends, firsts, lasts, counts, _heads, _tails = meta
    if slot < cursor[F] or slot + 1 >= cursor[B] or ends[slot] != starts[slot + 1]:
        return
    if counts[slot] == 0 or counts[slot + 1] == 0 or firsts[slot + 1] - lasts[slot] > gap:
        return
    if _last_edge(times, marks, cursor, ends[slot]) != ends[slot]:
        merge(aggregate, line, slot)


@kernel
def _take_timed(
    aggregate: Monoid, times: Any, line: Any, marks: Any, gap: int, given: Any, inputs: Fields, marked: Any, begin: int
) -> int:
    meta, _partials, pool, cursor = line
    _starts, ends, firsts, lasts, _counts, _heads, _tails = meta
    for place in range(begin, len(given)):
        position = given[place]
        if position < cursor[WATERMARK]:
            continue
        if cursor[B] + 2 > len(firsts) or spare(pool) < 4 or cursor[MARKED] == len(marks):
            return place
        newest = cursor[B] - 1
        marks_here = len(marked) > 0 and marked[place]
        in_order = newest >= cursor[F] and lasts[newest] <= position < ends[newest] and not marks_here
        if in_order and (gap < 0 or position - lasts[newest] <= gap):
            append(aggregate, line, newest, position, load(inputs, place))
            continue
        if marks_here:
            _mark(aggregate, line, marks, position)
        slot = _slot_for(times, line, marks, position)
        if gap >= 0:
            slot = _cut_off(aggregate, line, slot, gap, position)
        update(aggregate, line, slot, position, load(inputs, place))
        if gap >= 0:
            if lasts[slot] == position:
                _bridge(aggregate, times, line, marks, slot, gap)
            if firsts[slot] == position:
                _bridge(aggregate, times, line, marks, slot - 1, gap)
    return len(given)


@kernel
def _take_counted(aggregate: Monoid, counts: Any, line: Any, given: Any, inputs: Fields, begin: int) -> int:
    meta, _partials, pool, cursor = line
    starts, ends, firsts, lasts, held, _heads, _tails = meta
    for place in range(begin, len(given)):
        position = given[place]
        if position < cursor[WATERMARK]:
            continue
        if cursor[B] + 2 > len(starts) or spare(pool) < cursor[B] - cursor[F] + 3:
            return place
        slot = cursor[B] - 1
        if slot >= cursor[F] and position >= lasts[slot] and held[slot] < ends[slot] - starts[slot]:
            append(aggregate, line, slot, position, load(inputs, place))
            cursor[TOTAL] += 1
            continue
        if slot < cursor[F] or position >= lasts[slot]:
            slot += 1
            open_slice(line, slot, cursor[TOTAL], _rank_edge_after(counts, cursor[TOTAL]))
        else:
            slot = max(cursor[F], place_of(firsts, cursor[F], cursor[B], position + 1) - 1)
        update(aggregate, line, slot, position, load(inputs, place))
        cursor[TOTAL] += 1
        while held[slot] > ends[slot] - starts[slot]:
            if slot + 1 == cursor[B]:
                open_slice(line, slot + 1, ends[slot], _rank_edge_after(counts, ends[slot]))
            shift(aggregate, line, slot)
            slot += 1
    return len(given)


# --- window manager: slices and a watermark to results -------------------------------------------------


@kernel
def _due_marks(which: int, marks: Any, cursor: Any, firsts: Any, watermark: int, due: Any) -> bool:
    """List the windows between two marks, and the one from the first row to the first mark."""
    done = 0
    full = False
    while done < cursor[MARKED] and marks[done] <= watermark:
        start, end = cursor[OPENED], marks[done]
        low = place_of(firsts, cursor[F], cursor[B], start)
        high = place_of(firsts, cursor[F], cursor[B], end)
        if start == NEVER and low < high:
            start = firsts[low]
        if low < high and not announce(due, which, start, end, low, high):
            full = True
            break
        cursor[OPENED] = end
        done += 1
    for place in range(done, cursor[MARKED]):
        marks[place - done] = marks[place]
    cursor[MARKED] -= done
    return not full


@kernel
def _due_counts(counts: Any, nexts: Any, meta: Any, cursor: Any, watermark: int, due: Any) -> bool:
    """List the count windows whose slices are all full and before the watermark."""
    which, sizes, everys, _offsets = counts
    starts, ends, _firsts, lasts, held, _heads, _tails = meta
    begin, end = cursor[F], cursor[B]
    newest = place_of(lasts, begin, end, watermark) - 1
    if newest >= begin and held[newest] < ends[newest] - starts[newest]:
        newest -= 1
    if newest < begin:
        return True
    for k in range(len(sizes)):
        while nexts[k] * everys[k] + sizes[k] <= ends[newest]:
            start = nexts[k] * everys[k]
            low = place_of(starts, begin, end, start)
            high = place_of(starts, begin, end, start + sizes[k])
            if not announce(due, which[k], start, start + sizes[k], low, high):
                return False
            nexts[k] += 1
    return True


@kernel
def _fold(
    aggregate: Monoid,
    timed: Fields,
    counted: Fields,
    by_count: Any,
    due: Any,
    count: int,
    results: Fields,
    presences: Fields,
) -> None:
    windows, _starts, _ends, lows, highs, _filled = due
    for place in range(count):
        partials = counted if by_count[windows[place]] else timed
        folded = load(partials, lows[place])
        for slot in range(lows[place] + 1, highs[place]):
            folded = combine(aggregate, folded, load(partials, slot))
        emit(aggregate, results, presences, place, folded)


@kernel
def _drop(aggregate: Monoid, line: Any, needed: int, by_count: bool) -> None:
    meta, _partials, _pool, cursor = line
    _starts, ends, firsts, _lasts, _counts, _heads, _tails = meta
    if by_count:
        slot = place_of(ends, cursor[F], cursor[B], needed + 1)
    else:
        slot = place_of(firsts, cursor[F], cursor[B], needed)
    drop_until(line, slot)
