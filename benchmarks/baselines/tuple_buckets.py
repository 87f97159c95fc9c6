"""Tuple buckets: a list of rows per open window, folded when the window ends.

Idea      A row is copied into every window that covers it, in its place among the rows there. So any
          aggregate works, and count windows can be corrected: a late row pushes the last row out of each
          later window, and the row before its first row into it.
Picture     count window size 4 every 2, late row 3:
            [ 1 2 4 5 ]   [ 4 5 7 8 ]   [ 7 8 9 ]       →    [ 1 2 3 4 ]   [ 3 4 5 7 ]   [ 5 7 8 9 ]
Keeps     K1  of every open window: all of its rows, in order of position, then arrival;
              by position and of an aggregate that commutes, in order of arrival
          K2  of count windows: bucket i holds the ranks [i · every, i · every + size) that there are
Combines  a row 0, window of n rows: n - 1.  Space  windows · (rows of one · row + bucket).
From      Traub et al. Efficient Window Aggregation with General Stream Slicing.
          EDBT 2019. doi:10.5441/002/edbt.2019.10
"""

from typing import Any

import numpy as np

from benchmarks.baselines.aggregate_buckets import (
    BUCKET,
    ROOM,
    WATERMARK,
    B,
    F,
    Ring,
    copy_ring,
    due_buckets,
    due_session_buckets,
    reach,
    session_of,
)
from benchmarks.baselines.chains import (
    NONE,
    append_row,
    bytes_in_use,
    drop_last,
    enlarge,
    fold_chain,
    insert_row,
    join,
    last_row,
    new_pool,
    prepend,
    release,
    row_at,
    spare,
)
from benchmarks.baselines.operator import Facts, Operator, announce, shift_down, shift_up, widen_column
from benchmarks.baselines.windows import Layout
from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, length, load
from sash.algebra.monoid import Monoid, emit

__all__ = ["FACTS", "TupleBuckets"]

FACTS = Facts(
    "tuple buckets", "windows · (rows of one · row + bucket)", ordered=True, late=True, counts=True, sessions=True
)


class Buckets:
    """Chains by the slots of a ring, with how many rows each has."""

    def __init__(self, definitions: int) -> None:
        self.ring = Ring(definitions)
        slots = max(1, self.ring.slots)
        self.counts = np.zeros(slots, np.int64)
        self.heads = np.full(slots, NONE, np.int64)
        self.tails = np.full(slots, NONE, np.int64)

    @property
    def state(self) -> Any:
        return self.ring.state, self.counts, self.heads, self.tails

    def widen(self) -> None:
        if (self.ring.wanted > self.ring.room).any():
            old, new = self.ring.widen()
            slots = self.ring.slots
            self.counts = copy_ring(self.counts, old, new, slots)
            heads, tails = (np.full(slots, NONE, np.int64) for _ in range(2))
            heads[new], tails[new] = self.heads[old], self.tails[old]
            self.heads, self.tails = heads, tails


class TupleBuckets(Operator):
    """A technique that copies a row into every window that covers it."""

    def __init__(self, aggregate: Monoid, layout: Layout) -> None:
        super().__init__(aggregate, layout)
        self.pool = new_pool(aggregate)
        self.timed = Buckets(len(layout.times[0]))
        self.counted = Buckets(len(layout.counts[0]))
        self.extents = tuple(np.zeros(ROOM, np.int64) for _ in range(2))
        self.sessions = tuple(np.full(ROOM, NONE, np.int64) for _ in range(2))  # heads and tails
        self.cursor = np.zeros(3, np.int64)
        self.cursor[WATERMARK] = self.watermark
        self.total = np.zeros(1, np.int64)  # rows that have a rank
        self.covering = int(sum(-(-layout.times[1] // layout.times[2])))

    def size_bytes(self) -> int:
        open_windows = sum(int((each.counts > 0).sum()) for each in (self.timed, self.counted))
        open_windows += int(self.cursor[B] - self.cursor[F])
        return bytes_in_use(self.pool, self._row_bytes()) + open_windows * BUCKET

    def _take(self, positions: Any, inputs: Fields, marks: Any, begin: int) -> int:
        return _take(
            self.aggregate,
            (self.layout.times, self.layout.counts),
            self.pool,
            self.timed.state,
            self.counted.state,
            (self.extents, self.sessions, self.total, self.timed.ring.covering),
            self.cursor,
            self.layout.gap,
            self.covering,
            self.aggregate.commutative,
            positions,
            inputs,
            begin,
        )

    def _grow(self) -> None:
        self.timed.widen()
        self.counted.widen()
        needed = self.covering + 1 + int((self.counted.ring.high - self.counted.ring.low).sum())
        if spare(self.pool) < needed + len(self.counted.ring.low):
            self.pool = enlarge(self.pool, needed)
        if self.cursor[B] == len(self.extents[0]):
            begin, end = int(self.cursor[F]), int(self.cursor[B])
            room = 2 * max(ROOM, end - begin)
            self.extents = tuple(widen_column(each[begin:end], room) for each in self.extents)
            self.sessions = tuple(widen_column(each[begin:end], room) for each in self.sessions)
            self.cursor[F], self.cursor[B] = 0, end - begin

    def _find_due(self) -> bool:
        layout = self.layout
        self.cursor[WATERMARK] = self.watermark
        if not due_buckets(layout.times, self.timed.ring.state, self.timed.counts, self.watermark, self.due):
            return False
        if not _due_counts(self.aggregate, layout.counts, self.pool, self.counted.state, self.watermark, self.due):
            return False
        return layout.session < 0 or due_session_buckets(
            layout.session, layout.gap, self.extents, self.cursor, self.watermark, self.due
        )

    def _fold(self, count: int, results: Fields, presences: Fields) -> None:
        _fold(
            self.aggregate,
            self.pool,
            (self.timed.heads, self.timed.tails),
            (self.counted.heads, self.counted.tails),
            self.sessions,
            self._kinds(),
            self.due,
            count,
            results,
            presences,
        )

    def _kinds(self) -> Any:
        """Return which chains each window has: 0 time, 1 count, 2 session."""
        kinds = np.zeros(len(self.layout.windows), np.int64)
        kinds[self.layout.counts[0]] = 1
        if self.layout.session >= 0:
            kinds[self.layout.session] = 2
        return kinds

    def _drop(self) -> None:
        """Do nothing: folding a bucket has freed its rows."""


@jitable
def _reach_ranks(counts: Any, ring: Any, total: int) -> bool:
    """Make buckets for the windows that rank `total` begins; False if a ring is too small."""
    _which, _sizes, everys, _offsets = counts
    lows, highs, rooms, _bases, wanted = ring
    fits = True
    for k in range(len(everys)):
        end = total // everys[k] + 1
        if end - lows[k] > rooms[k]:
            wanted[k] = end - lows[k]
            fits = False
        else:
            highs[k] = end
    return fits


@jitable
def _open(ring: Any) -> int:
    lows, highs, _rooms, _bases, _wanted = ring
    some = 0
    for k in range(len(lows)):
        some += highs[k] - lows[k]
    return some


@jitable
def _row_before(pool: Any, counts: Any, buckets: Any, k: int, number: int) -> int:
    """Return the row before the first one of a window of definition k; the previous window has it."""
    _which, _sizes, everys, _offsets = counts
    ring, held, heads, tails = buckets
    _lows, _highs, rooms, bases, _wanted = ring
    slot = bases[k] + ((number - 1) & (rooms[k] - 1))
    return row_at(pool, heads, tails, slot, everys[k] - 1, held[slot])


@jitable
def _insert_ranked(pool: Any, counts: Any, buckets: Any, position: int, row: Any) -> None:
    """Insert a row and restore K2, newest window first, so that the window before it is still unchanged."""
    _which, sizes, _everys, _offsets = counts
    positions, rows, _before, _after, _counts, _cursor = pool
    ring, held, heads, tails = buckets
    lows, highs, rooms, bases, _wanted = ring
    for k in range(len(sizes)):
        number = highs[k] - 1
        while number > lows[k]:  # what is before the oldest open window is before the watermark
            slot = bases[k] + (number & (rooms[k] - 1))
            before = _row_before(pool, counts, buckets, k, number)
            if positions[before] <= position:
                break
            if held[slot] == sizes[k]:
                drop_last(pool, heads, tails, slot)
                held[slot] -= 1
            prepend(pool, heads, tails, slot, positions[before], load(rows, before))
            held[slot] += 1
            number -= 1
        while number >= lows[k]:
            slot = bases[k] + (number & (rooms[k] - 1))
            if held[slot] == sizes[k]:
                if positions[last_row(pool, tails, slot)] <= position:
                    break  # full of rows before this one, and so are older windows
                drop_last(pool, heads, tails, slot)
                held[slot] -= 1
            insert_row(pool, heads, tails, slot, position, row)
            held[slot] += 1
            number -= 1


@kernel
def _take(
    aggregate: Monoid,
    windows: Any,
    pool: Any,
    timed: Any,
    counted: Any,
    context: Any,
    cursor: Any,
    gap: int,
    covering: int,
    any_order: bool,
    given: Any,
    inputs: Fields,
    begin: int,
) -> int:
    times, counts = windows
    ring, held, heads, tails = timed
    _lows, _highs, rooms, bases, _wanted = ring
    extents, sessions, total, spans = context
    begins, stops, _since, _until = spans
    firsts, lasts = extents
    session_heads, session_tails = sessions
    positions = pool[0]
    for place in range(begin, len(given)):
        position = given[place]
        if position < cursor[WATERMARK]:
            continue
        if not reach(times, ring, spans, position) or cursor[B] == length(extents):
            return place
        if not _reach_ranks(counts, counted[0], total[0]):
            return place
        if spare(pool) < covering + 1 + _open(counted[0]):
            return place
        row = load(inputs, place)
        for k in range(len(rooms)):
            for number in range(begins[k], stops[k]):
                slot = bases[k] + (number & (rooms[k] - 1))
                if any_order or held[slot] == 0 or positions[last_row(pool, tails, slot)] <= position:
                    append_row(pool, heads, tails, slot, position, row)
                else:
                    insert_row(pool, heads, tails, slot, position, row)
                held[slot] += 1
        _insert_ranked(pool, counts, counted, position, row)
        total[0] += 1
        if gap < 0:
            continue
        at = session_of(extents, cursor[F], cursor[B], gap, position)
        if at == cursor[B] or firsts[at] - gap > position:
            shift_up(extents, at, cursor[B])
            shift_up(sessions, at, cursor[B])
            firsts[at] = position
            lasts[at] = position
            session_heads[at] = NONE
            session_tails[at] = NONE
            insert_row(pool, session_heads, session_tails, at, position, row)
            cursor[B] += 1
            continue
        firsts[at] = min(firsts[at], position)
        lasts[at] = max(lasts[at], position)
        if any_order:
            append_row(pool, session_heads, session_tails, at, position, row)
        else:
            insert_row(pool, session_heads, session_tails, at, position, row)
        if at + 1 < cursor[B] and firsts[at + 1] - lasts[at] <= gap:
            lasts[at] = lasts[at + 1]
            join(pool, session_heads, session_tails, at, at + 1)
            shift_down(extents, at + 2, cursor[B])
            shift_down(sessions, at + 2, cursor[B])
            cursor[B] -= 1
    return len(given)


@kernel
def _due_counts(aggregate: Monoid, counts: Any, pool: Any, buckets: Any, watermark: int, due: Any) -> bool:
    """List the complete count windows whose last row is before the watermark."""
    which, sizes, everys, _offsets = counts
    positions, _rows, _before, _after, _counts, _cursor = pool
    ring, held, _heads, tails = buckets
    lows, highs, rooms, bases, wanted = ring
    for k in range(len(sizes)):
        while lows[k] < highs[k]:
            slot = bases[k] + (lows[k] & (rooms[k] - 1))
            if held[slot] < sizes[k] or positions[last_row(pool, tails, slot)] >= watermark:
                break
            start = lows[k] * everys[k]
            if not announce(due, which[k], start, start + sizes[k], slot, held[slot]):
                return False
            held[slot] = 0
            lows[k] += 1
        wanted[k] = rooms[k]
    return True


@kernel
def _fold(
    aggregate: Monoid,
    pool: Any,
    timed: Any,
    counted: Any,
    sessions: Any,
    kinds: Any,
    due: Any,
    count: int,
    results: Fields,
    presences: Fields,
) -> None:
    windows, _starts, _ends, lows, _highs, _filled = due
    for place in range(count):
        heads, tails = timed
        if kinds[windows[place]] == 1:
            heads, tails = counted
        elif kinds[windows[place]] == 2:
            heads, tails = sessions
        emit(aggregate, results, presences, place, fold_chain(aggregate, pool, heads, lows[place]))
        release(pool, heads, tails, lows[place])
