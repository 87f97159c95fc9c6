"""Windows that are listed in a table: days, weeks and months of a time zone, and windows between given edges.

A table lists the starts and ends of windows by ascending end. The kernel finds windows in it by binary search. Time is
divided into chunks of several periods, and the table has only the chunks that hold rows. So a row of the year 1 among
rows of today does not add all days in between.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.kinds.kind import Kind, Moment, Setting, StreamView, Stretch
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended, advance, collect, is_whole, view_of, write
from sash.windows.calendar import FURTHEST, Calendar, Listed, Span, calendar, instants, restore_calendar

__all__ = ["CalendarKind", "ListedKind", "TableKind", "WindowTable"]

_DAY = 86_400_000_000
_SECOND = 1_000_000
_USUAL = -631_152_000_000_000, 4_102_444_800_000_000  # positions of usual rows: from 1950 to 2100
_MANY = 1000  # windows per row; with more, the edges are not listed
_PERIODS = 64  # in a chunk
_FEW_CHUNKS = 64  # up to so many are all listed, without reading every position
_FIRST_MONDAY = 4  # days after 1 January 1970: weeks are counted from there


@dataclass(frozen=True)
class WindowTable:
    """Windows by ascending end."""

    starts: Array
    ends: Array
    edges: Array  # starts and ends, ascending, each once

    @classmethod
    def of(cls, starts: Array, ends: Array) -> "WindowTable":
        """Return the table of windows, which are sorted by end."""
        return cls(starts, ends, np.unique(np.concatenate([starts, ends])))


@jitable
def _first_after(values: Any, position: Any) -> int:
    """Return the first place whose value is after a position."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= position:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _ended_in_table(arrays: Any, slots: Any, starts: Any, ends: Any, after: Any, until: Any, out: Any) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        if count == 0:
            continue
        k = _first_after(ends, max(after, firsts[order[begin]]))
        low, high = 0, 0
        while k < len(ends) and ends[k] <= until:
            low = advance(firsts, order, begin, count, low, starts[k])
            if low == count:
                break
            nearest = firsts[order[begin + low]]
            if nearest >= ends[k]:  # no row in this window: jump to the first window that can hold the next slice
                k = max(k + 1, _first_after(ends, nearest))
                continue
            high = advance(firsts, order, begin, count, max(high, low), ends[k])
            if is_whole(lasts, order, begin, low, high, starts[k], ends[k]):
                written = write(out, written, slot, starts[k], ends[k], begin + low, begin + high)
            k += 1
    return written


class TableKind(Kind):
    """A kind whose windows can be listed for any range of positions."""

    has_own_edges: ClassVar[bool] = True
    spark_slices: ClassVar[bool] = True

    @abstractmethod
    def table(self, low: Any, high: Any, positions: Callable[[], Array]) -> WindowTable:
        """Return all windows that hold one of these positions, which lie from `low` to `high`; maybe more."""

    # --- where rows are cut --------------------------------------------------------------------------

    def edges_of(self, positions: Array) -> Array:
        low, high = positions.min().item(), positions.max().item()
        edges = self.table(low, high, lambda: positions).edges
        begin, end = np.searchsorted(edges, [low, high], side="right")
        return edges[begin : end + 1]

    # --- which windows are due -----------------------------------------------------------------------

    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        slices, dtype = held.slices, self.setting.dtype
        slots = moment.slots[slices.count[moment.slots] > 0]
        if not len(slots):
            return Ended.none(dtype)
        oldest = slices.firsts[slices.order[slices.begin[slots]]].min().item()
        newest = slices.lasts[slices.order[(slices.begin + slices.count - 1)[slots]]].max().item()
        table = self.table(oldest, newest, lambda: _positions(slices))
        after, until = dtype.type(moment.after), dtype.type(moment.until)
        first = int(np.searchsorted(table.ends, max(after, oldest), side="right"))
        if first == len(table.ends) or table.ends[first] > until:
            return Ended.none(dtype)
        return collect(
            lambda out: _ended_in_table(view_of(slices), slots, table.starts, table.ends, after, until, out),
            len(slots),
            dtype,
        )

    # --- retention and inspection --------------------------------------------------------------------

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        table = self._around(final)
        first = int(np.searchsorted(table.ends, final, side="right"))
        oldest = table.starts[first].item() if first < len(table.ends) else final
        return oldest, oldest

    def open_until(self, held: StreamView, slots: Array) -> Any:
        until, newest = super().open_until(held, slots), held.last_position(slots)
        if newest is None:
            return until
        table = self._around(newest)
        last = int(np.searchsorted(table.starts, newest, side="right")) - 1
        return min(until, table.ends[last].item()) if last >= 0 else until

    def open_count(self, held: StreamView, oldest: Array, newest: Array) -> int:
        positions = np.concatenate([oldest, newest])
        table = self.table(oldest.min().item(), newest.max().item(), lambda: positions)
        first = np.searchsorted(table.ends, np.maximum(oldest, held.watermark), side="right")
        last = np.searchsorted(table.starts, newest, side="right")
        return int(np.maximum(last - first, 0).sum())

    def next_end(self, held: StreamView) -> Any:
        numbers, _ = held.slices.list_all()
        if not len(numbers) or held.watermark >= self.setting.highest:
            return None
        firsts, lasts = held.slices.firsts[numbers], held.slices.lasts[numbers]
        table = self.table(firsts.min().item(), lasts.max().item(), lambda: _positions(held.slices))
        first = np.searchsorted(table.ends, np.maximum(firsts, held.watermark), side="right")
        holds = first < len(table.ends)
        holds[holds] = table.starts[first[holds]] <= lasts[holds]
        return table.ends[first[holds]].min().item() if holds.any() else None

    def _around(self, position: Any) -> WindowTable:
        return self.table(position, position, lambda: np.array([position]))


def _positions(slices: Slices) -> Array:
    """Return the first and the last position of every slice."""
    numbers, _ = slices.list_all()
    return np.concatenate([slices.firsts[numbers], slices.lasts[numbers]])


class CalendarKind(TableKind):
    """Days, weeks and months of a time zone."""

    describes = Calendar
    most_windows: ClassVar[int] = 100_000  # each is a row of the table
    rebuild = staticmethod(restore_calendar)

    def __init__(self, window: Any, setting: Setting) -> None:
        super().__init__(window, setting)
        self._known: dict[int, Array] = {}
        self._chunk_size = _PERIODS * _longest(window.period)

    def slices_per_window(self, edges_per_unit: float) -> float:
        return max(1.0, self.windows_per_row)

    @property
    def windows_per_row(self) -> float:
        if self.window.size == self.window.every:
            return 1.0
        return float(np.ceil(_longest(self.window.size) / _shortest(self.window.every)))

    @property
    def lookback(self) -> Any:
        return _longest(self.window.size)

    def table(self, low: Any, high: Any, positions: Callable[[], Array]) -> WindowTable:
        first, last = self._chunk(low), self._chunk(high)
        wanted = range(first, last + 1) if last - first < _FEW_CHUNKS else self._chunks(positions())
        missing = [chunk for chunk in wanted if chunk not in self._known]
        if missing:
            for chunk in missing:
                self._known[chunk] = self._list_windows(chunk * self._chunk_size, (chunk + 1) * self._chunk_size)
            starts, ends = np.concatenate(list(self._known.values()), axis=1)
            order = np.lexsort((starts, ends))
            starts, ends = starts[order], ends[order]
            is_new = np.ones(len(starts), np.bool_)  # chunks share the windows that reach from one into the next
            is_new[1:] = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
            self._table = WindowTable.of(starts[is_new], ends[is_new])
        return self._table

    def _chunk(self, position: Any) -> int:
        return int(min(max(position, -FURTHEST), FURTHEST)) // self._chunk_size

    def _chunks(self, positions: Array) -> list[int]:
        found: list[int] = np.unique(np.clip(positions, -FURTHEST, FURTHEST) // self._chunk_size).tolist()
        return found

    def stretch(self) -> Stretch | None:
        spans = (self.window.size, self.window.every, self.window.offset)
        if any(each.microseconds % _SECOND for each in spans) or self.windows_per_row > _MANY:
            return None
        edges = np.unique(self._list_windows(*_USUAL))
        # The clocks of all zones differ by whole seconds, so edges elsewhere are multiples of a second.
        return Stretch(edges[slice(*np.searchsorted(edges, _USUAL))], _SECOND)

    def _list_windows(self, low: int, high: int) -> Array:
        """Return the starts and the ends of all windows that hold a position between `low` and `high`."""
        window, margin = self.window, _longest(self.window.size) + _longest(self.window.offset) + 2 * _DAY
        begins = self._local_starts(max(low, -FURTHEST) - margin, min(high, FURTHEST) + margin)
        starts = instants(begins, window.zone)
        if window.grows:
            windows = np.stack(self._list_growing(begins, starts))
        else:
            windows = np.stack([starts, instants(window.size.after(begins), window.zone)])
        return windows[:, windows[0] < windows[1]]  # a zone that moves across the date line skips a day

    def _local_starts(self, low: int, high: int) -> Array:
        """Return the local times at which windows start, from `low` to `high` and a little beyond."""
        period, days = self.window.period, np.array([low, high]) // _DAY
        if period.months:
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
            first, last = months // period.months
            begins = (np.arange(first, last + 2) * period.months).astype("datetime64[M]")
        else:
            monday = _FIRST_MONDAY if period.of_weeks else 0
            first, last = (days - monday) // period.days
            begins = (np.arange(first, last + 2) * period.days + monday).astype("datetime64[D]")
        moved: Array = self.window.offset.after(begins.astype("datetime64[us]"))
        return moved

    def _list_growing(self, begins: Array, starts: Array) -> tuple[Array, Array]:
        """Return windows that start with each period and grow in steps until the next one starts."""
        every, nexts = self.window.every, starts[1:]
        steps: list[Array] = []
        count = int(_longest(self.window.size) // _shortest(every)) + 1
        for k in range(1, count + 1):
            if isinstance(every, Span):
                step = Span(every.months * k, every.days * k, every.microseconds * k)
                ends = instants(step.after(begins[:-1]), self.window.zone)
            else:
                ends = starts[:-1] + every.microseconds * k
            steps.append(np.minimum(ends, nexts))
        ends = np.stack(steps, axis=1)
        fresh = np.ones(ends.shape, np.bool_)
        fresh[:, 1:] = ends[:, 1:] > ends[:, :-1]  # steps beyond the next start end there; keep the first of them
        return np.repeat(starts[:-1], fresh.sum(axis=1)), ends[fresh]


class ListedKind(TableKind):
    """Windows between edges that the user listed; rows before the first and after the last are in no window."""

    describes = Listed
    rebuild = staticmethod(calendar)

    @property
    def windows_per_row(self) -> float:
        return 1.0

    @property
    def lookback(self) -> Any:
        return max(after - before for before, after in zip(self.window.edges, self.window.edges[1:], strict=False))

    def __init__(self, window: Any, setting: Setting) -> None:
        super().__init__(window, setting)
        edges = np.array(window.edges, setting.dtype)
        self._table = WindowTable.of(edges[:-1], edges[1:])

    def table(self, low: Any, high: Any, positions: Callable[[], Array]) -> WindowTable:
        return self._table

    def stretch(self) -> Stretch | None:
        return Stretch(np.array(self.window.edges, np.int64), None)

    def edges_of(self, positions: Array) -> Array:
        # Rows after the last edge are in one slice.
        return np.concatenate([super().edges_of(positions), np.array([self.setting.highest], positions.dtype)])


def _longest(length: Any) -> int:
    """Return an upper bound of the length of a span, in microseconds."""
    if not isinstance(length, Span):
        return int(length.microseconds)
    return abs(length.months) * 31 * _DAY + abs(length.days) * _DAY + abs(length.microseconds) + _DAY


def _shortest(length: Any) -> int:
    """Return a lower bound of the length of a span, in microseconds: a day can have 23 hours, or less."""
    if not isinstance(length, Span):
        return int(length.microseconds)
    return max(length.months * 28 * _DAY + length.days * _DAY + length.microseconds - _DAY // 2, _DAY // 2)
