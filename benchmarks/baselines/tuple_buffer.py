"""Tuple buffer: rows in order of position, and every window folded from its rows when it ends.

Idea      No work is shared, and nothing is computed before a window ends. A late row moves all newer rows
          one slot further.
Picture          f                    b
            [  … | 3 | 4 | 4 | 7 | 9 | free … ]      late 5:  7 and 9 move up
Keeps     K1  f ≤ i < b: slots in order of position, then arrival
          K2  rows before f are needed by no window
Combines  in order 0, late 0, window of n rows: n - 1.  Moves: as many as there are newer rows.
          Space  rows · row.
From      Traub et al. Efficient Window Aggregation with General Stream Slicing.
          EDBT 2019. doi:10.5441/002/edbt.2019.10
"""

from typing import Any

import numpy as np

from benchmarks.baselines.operator import Facts, Operator, place_of, shift_up, widen_column
from benchmarks.baselines.sorted_slots import due_counts, due_sessions, due_times, needed_from, session_state
from benchmarks.baselines.windows import FOREVER, Layout
from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, allocate, load, store
from sash.algebra.monoid import Monoid, combine, emit, lift

__all__ = ["FACTS", "SortedRows", "TupleBuffer"]

FACTS = Facts("tuple buffer", "rows · row", ordered=True, late=True, counts=True, sessions=True)
F, B, BASE, WATERMARK = range(4)  # the places of f, b, the rank of slot 0 and the watermark in `cursor`
ROOM = 1024


class SortedRows(Operator):
    """Rows in slots in the order of their positions; the technique says how to fold a window."""

    def __init__(self, aggregate: Monoid, layout: Layout) -> None:
        super().__init__(aggregate, layout)
        self.positions = np.zeros(ROOM, np.int64)
        self.cursor = np.zeros(4, np.int64)
        self.cursor[WATERMARK] = self.watermark
        self.count_nexts = np.zeros(len(layout.counts[0]), np.int64)
        self.session = session_state()

    def __len__(self) -> int:
        return int(self.cursor[B] - self.cursor[F])

    def _find_due(self) -> bool:
        layout, begin, end = self.layout, int(self.cursor[F]), int(self.cursor[B])
        self.cursor[WATERMARK] = self.watermark
        slots = self.positions, begin, end, self.watermark, self.due
        if not due_times(layout.times, self.nexts, *slots):
            return False
        base = int(self.cursor[BASE])
        if len(self.count_nexts) and not due_counts(
            layout.counts, self.count_nexts, self.positions, base, begin, end, self.watermark, self.due
        ):
            return False
        return layout.session < 0 or due_sessions(layout.session, layout.gap, self.session, self.positions, *slots)

    def _drop(self) -> None:
        begin, end = int(self.cursor[F]), int(self.cursor[B])
        needed = min(needed_from(self.layout, self.nexts, self.session), FOREVER)
        kept = begin + int(np.searchsorted(self.positions[begin:end], needed))
        if len(self.count_nexts):
            rank = int((self.count_nexts * self.layout.counts[2]).min())
            kept = min(kept, rank - int(self.cursor[BASE]))
        self.cursor[F] = max(begin, kept)

    def _grow(self) -> None:
        """Reuse the slots before f if they are half of all, else double."""
        begin, end, room = int(self.cursor[F]), int(self.cursor[B]), len(self.positions)
        self._relay(begin, end, room if 2 * (end - begin) <= room else 2 * room)
        self.cursor[F] = 0
        self.cursor[B] = end - begin
        self.cursor[BASE] += begin

    def _relay(self, begin: int, end: int, room: int) -> None:
        """Move the slots [begin, end) to the front of so much room."""
        self.positions = move_to_front(self.positions, begin, end, room)


def move_to_front(column: Any, begin: int, end: int, room: int) -> Any:
    """Return a column of so much room with the slots [begin, end) at its front."""
    return widen_column(column[begin:end], room)


class TupleBuffer(SortedRows):
    """A technique that folds a window from its rows when it ends."""

    def __init__(self, aggregate: Monoid, layout: Layout) -> None:
        super().__init__(aggregate, layout)
        self.inputs = allocate(tuple(each.field for each in aggregate.columns), ROOM, aggregate.is_compiled)

    def size_bytes(self) -> int:
        return len(self) * self._row_bytes()

    def _take(self, positions: Any, inputs: Fields, marks: Any, begin: int) -> int:
        return _take(self.aggregate, self.positions, self.inputs, self.cursor, positions, inputs, begin)

    def _relay(self, begin: int, end: int, room: int) -> None:
        super()._relay(begin, end, room)
        self.inputs = tuple(move_to_front(each, begin, end, room) for each in self.inputs)

    def _fold(self, count: int, results: Fields, presences: Fields) -> None:
        _fold(self.aggregate, self.inputs, self.due, count, results, presences)


@kernel
def _take(aggregate: Monoid, positions: Any, rows: Fields, cursor: Any, given: Any, inputs: Fields, begin: int) -> int:
    for place in range(begin, len(given)):
        position = given[place]
        if position < cursor[WATERMARK]:
            continue
        end = cursor[B]
        if end == len(positions):
            return place
        slot = end
        if end > cursor[F] and positions[end - 1] > position:
            slot = place_of(positions, cursor[F], end, position + 1)  # behind its equals: they came before
            shift_up((positions,), slot, end)
            shift_up(rows, slot, end)
        positions[slot] = position
        store(rows, slot, load(inputs, place))
        cursor[B] = end + 1
    return len(given)


@kernel
def _fold(aggregate: Monoid, rows: Fields, due: Any, count: int, results: Fields, presences: Fields) -> None:
    _windows, _starts, _ends, lows, highs, _filled = due
    for place in range(count):
        folded = lift(aggregate, load(rows, lows[place]))
        for slot in range(lows[place] + 1, highs[place]):
            folded = combine(aggregate, folded, lift(aggregate, load(rows, slot)))
        emit(aggregate, results, presences, place, folded)
