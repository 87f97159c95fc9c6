"""Aggregate buckets: one partial per open window, and every row combined into each window that covers it.

Idea      Every row is combined into the buckets of all windows that cover it, so a window that ends is
          only read. Work that windows have in common is repeated. Sessions are buckets that grow and merge.
Picture     window size 10 every 4      row at 9 →   n = 0 [0, 10)   n = 1 [4, 14)   n = 2 [8, 18)
            ring of definition k:  bucket n is in slot base(k) + n mod room(k)
Keeps     K1  low(k) ≤ n < high(k) for every open window n of k that has a row;  high - low ≤ room
          K2  a bucket with rows = their fold, in order of arrival;  without rows, anything
          K3  sessions [f, b): in order, more than the gap apart
Combines  a row: one per window that covers it, late or not;  window: 0.
          Space  windows · (partial + bucket).
Needs     commutativity: late rows are combined last.
From      Li et al. Semantics and Evaluation Techniques for Window Aggregates in Data Streams. SIGMOD 2005.
          doi:10.1145/1066157.1066193, as compared in Traub et al. EDBT 2019.
"""

from typing import Any

import numpy as np

from benchmarks.baselines.operator import Facts, Operator, announce, place_of, shift_down, shift_up, widen_column
from benchmarks.baselines.windows import Layout, first_open
from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, length, load, store
from sash.algebra.monoid import Monoid, combine, emit, lift

__all__ = ["FACTS", "AggregateBuckets", "Ring", "due_buckets", "due_session_buckets", "reach", "session_of"]

FACTS = Facts(
    "aggregate buckets", "windows · (partial + bucket)", ordered=False, late=True, counts=False, sessions=True
)
F, B, WATERMARK = range(3)  # the places of the sessions [f, b) and the watermark in `cursor`
ROOM = 8
BUCKET = 24  # bytes: start, end, count


class Ring:
    """The slots of buckets: for each window definition, a ring whose length is a power of two."""

    def __init__(self, definitions: int) -> None:
        self.low = np.zeros(definitions, np.int64)
        self.high = np.zeros(definitions, np.int64)
        self.room = np.full(definitions, ROOM, np.int64)
        self.base = np.arange(definitions, dtype=np.int64) * ROOM
        self.wanted = np.full(definitions, ROOM, np.int64)
        # The windows [begin, stop) that cover the last row, and the positions [since, until) that they all cover.
        self.covering = tuple(np.zeros(definitions, np.int64) for _ in range(4))

    @property
    def state(self) -> Any:
        return self.low, self.high, self.room, self.base, self.wanted

    @property
    def slots(self) -> int:
        return int(self.room.sum())

    def widen(self) -> tuple[Any, Any]:
        """Enlarge the ring of each definition to the wanted room; return old and new slots of the buckets."""
        room = np.array([1 << (int(wanted) - 1).bit_length() for wanted in self.wanted], np.int64)
        room = np.maximum(room, self.room)
        base = np.concatenate([[0], np.cumsum(room)[:-1]]).astype(np.int64)
        old, new = [], []
        for k in range(len(room)):
            numbers = np.arange(self.low[k], self.high[k])
            old.append(self.base[k] + (numbers & (self.room[k] - 1)))
            new.append(base[k] + (numbers & (room[k] - 1)))
        self.room, self.base = room, base
        return np.concatenate(old), np.concatenate(new)


def copy_ring(column: Any, old: Any, new: Any, slots: int) -> Any:
    """Return a column with its buckets moved to other slots."""
    wider = widen_column(column[:0], slots)
    if isinstance(wider, list):
        for origin, target in zip(old.tolist(), new.tolist(), strict=True):
            wider[target] = column[origin]
    else:
        wider[new] = column[old]
    return wider


class AggregateBuckets(Operator):
    """A technique that combines a row into every window that covers it."""

    def __init__(self, aggregate: Monoid, layout: Layout) -> None:
        super().__init__(aggregate, layout)
        self.ring = Ring(len(layout.times[0]))
        self.counts = np.zeros(self.ring.slots, np.int64)
        self.partials = aggregate.allocate(max(1, self.ring.slots))
        self.extents = tuple(np.zeros(ROOM, np.int64) for _ in range(2))  # first and last of each session
        self.merged = aggregate.allocate(ROOM)
        self.cursor = np.zeros(3, np.int64)
        self.cursor[WATERMARK] = self.watermark

    def size_bytes(self) -> int:
        filled = np.flatnonzero(self.counts)
        sessions = range(int(self.cursor[F]), int(self.cursor[B]))
        held = self._partial_bytes(self.partials, filled) + self._partial_bytes(self.merged, sessions)
        return held + BUCKET * (len(filled) + len(sessions))

    def _take(self, positions: Any, inputs: Fields, marks: Any, begin: int) -> int:
        return _take(
            self.aggregate,
            self.layout.times,
            self.ring.state,
            self.ring.covering,
            self.counts,
            self.partials,
            self.extents,
            self.merged,
            self.cursor,
            self.layout.gap,
            positions,
            inputs,
            begin,
        )

    def _grow(self) -> None:
        if (self.ring.wanted > self.ring.room).any():
            old, new = self.ring.widen()
            self.counts = copy_ring(self.counts, old, new, self.ring.slots)
            self.partials = tuple(copy_ring(each, old, new, self.ring.slots) for each in self.partials)
        if self.cursor[B] == len(self.extents[0]):
            begin, end = int(self.cursor[F]), int(self.cursor[B])
            room = 2 * max(ROOM, end - begin)
            self.extents = tuple(widen_column(each[begin:end], room) for each in self.extents)
            self.merged = tuple(widen_column(each[begin:end], room) for each in self.merged)
            self.cursor[F], self.cursor[B] = 0, end - begin

    def _find_due(self) -> bool:
        layout = self.layout
        self.cursor[WATERMARK] = self.watermark
        if not due_buckets(layout.times, self.ring.state, self.counts, self.watermark, self.due):
            return False
        return layout.session < 0 or due_session_buckets(
            layout.session, layout.gap, self.extents, self.cursor, self.watermark, self.due
        )

    def _fold(self, count: int, results: Fields, presences: Fields) -> None:
        _fold(self.aggregate, self.partials, self.merged, self.layout.session, self.due, count, results, presences)

    def _drop(self) -> None:
        """Do nothing: the slots of emitted buckets are free already."""


@jitable
def reach(times: Any, ring: Any, covering: Any, position: int) -> bool:
    """Find the windows that cover a position, and make the rings reach them; False if one is too small."""
    begins, stops, since, until = covering
    _which, sizes, everys, offsets = times
    lows, highs, rooms, _bases, wanted = ring
    fits = True
    for k in range(len(sizes)):
        if position < since[k] or position >= until[k]:
            begins[k] = first_open(position, sizes[k], everys[k], offsets[k])
            stops[k] = (position - offsets[k]) // everys[k] + 1
            opened = offsets[k] + stops[k] * everys[k]
            closed = offsets[k] + begins[k] * everys[k] + sizes[k]
            since[k] = max(opened, closed) - everys[k]  # the edges before the next two
            until[k] = min(opened, closed)
        first = begins[k]
        end = stops[k]
        if lows[k] == highs[k]:
            low, high = first, max(first, end)
        else:
            low, high = min(lows[k], first), max(highs[k], end)
        if high - low > rooms[k]:
            wanted[k] = high - low
            fits = False
        else:
            lows[k] = low
            highs[k] = high
    return fits


@jitable
def session_of(extents: Any, begin: int, end: int, gap: int, position: int) -> int:
    """Return the first session that ends less than the gap before a position, or later."""
    _firsts, lasts = extents
    if begin < end and lasts[end - 1] < position - gap:
        return end
    if end - begin == 1 or (begin < end and lasts[end - 2] < position - gap):
        return end - 1
    return place_of(lasts, begin, end, position - gap)


@kernel
def _take(
    aggregate: Monoid,
    times: Any,
    ring: Any,
    covering: Any,
    counts: Any,
    partials: Fields,
    extents: Any,
    merged: Fields,
    cursor: Any,
    gap: int,
    given: Any,
    inputs: Fields,
    begin: int,
) -> int:
    _lows, _highs, rooms, bases, _wanted = ring
    begins, stops, _since, _until = covering
    firsts, lasts = extents
    for place in range(begin, len(given)):
        position = given[place]
        if position < cursor[WATERMARK]:
            continue
        if not reach(times, ring, covering, position) or cursor[B] == length(extents):
            return place
        lifted = lift(aggregate, load(inputs, place))
        for k in range(len(rooms)):
            for number in range(begins[k], stops[k]):
                slot = bases[k] + (number & (rooms[k] - 1))
                if counts[slot] == 0:
                    store(partials, slot, lifted)
                else:
                    store(partials, slot, combine(aggregate, load(partials, slot), lifted))
                counts[slot] += 1
        if gap < 0:
            continue
        at = session_of(extents, cursor[F], cursor[B], gap, position)
        if at == cursor[B] or firsts[at] - gap > position:
            shift_up(extents, at, cursor[B])
            shift_up(merged, at, cursor[B])
            firsts[at] = position
            lasts[at] = position
            store(merged, at, lifted)
            cursor[B] += 1
            continue
        firsts[at] = min(firsts[at], position)
        lasts[at] = max(lasts[at], position)
        store(merged, at, combine(aggregate, load(merged, at), lifted))
        if at + 1 < cursor[B] and firsts[at + 1] - lasts[at] <= gap:
            lasts[at] = lasts[at + 1]
            store(merged, at, combine(aggregate, load(merged, at), load(merged, at + 1)))
            shift_down(extents, at + 2, cursor[B])
            shift_down(merged, at + 2, cursor[B])
            cursor[B] -= 1
    return len(given)


@kernel
def due_buckets(times: Any, ring: Any, counts: Any, watermark: int, due: Any) -> bool:
    """List the buckets of time windows that end by the watermark, and empty them."""
    which, sizes, everys, offsets = times
    lows, highs, rooms, bases, wanted = ring
    for k in range(len(sizes)):
        while lows[k] < highs[k]:
            start = offsets[k] + lows[k] * everys[k]
            if start + sizes[k] > watermark:
                break
            slot = bases[k] + (lows[k] & (rooms[k] - 1))
            if counts[slot] > 0:
                if not announce(due, which[k], start, start + sizes[k], slot, counts[slot]):
                    return False
                counts[slot] = 0
            lows[k] += 1
        wanted[k] = rooms[k]
    return True


@kernel
def due_session_buckets(which: int, gap: int, extents: Any, cursor: Any, watermark: int, due: Any) -> bool:
    """List the sessions that no row from the watermark on can reach."""
    firsts, lasts = extents
    while cursor[F] < cursor[B] and lasts[cursor[F]] + gap < watermark:
        at = cursor[F]
        if not announce(due, which, firsts[at], lasts[at] + gap, at, at + 1):
            return False
        cursor[F] += 1
    return True


@kernel
def _fold(
    aggregate: Monoid,
    partials: Fields,
    merged: Fields,
    session: int,
    due: Any,
    count: int,
    results: Fields,
    presences: Fields,
) -> None:
    windows, _starts, _ends, lows, _highs, _filled = due
    for place in range(count):
        if windows[place] == session:
            emit(aggregate, results, presences, place, load(merged, lows[place]))
        else:
            emit(aggregate, results, presences, place, load(partials, lows[place]))
