"""Windows of a table: days, weeks and months of a time zone, and windows between given edges.

A table lists the start and the end of every window in a stretch of time, both ascending. It is made once for the
stretch that rows lie in, and made anew, twice as long, when rows leave it. The kernel finds windows by binary search.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.kinds.kind import Held, Kind, Moment
from sash.slicing.slices import Array
from sash.slicing.window_manager import Ended, advance, collect, is_whole, view_of, write
from sash.windows.calendar import FURTHEST, Calendar, Listed, Span, calendar, calendar_again, instants

__all__ = ["CalendarKind", "ListedKind", "TableKind", "WindowTable"]

_DAY = 86_400_000_000
_FIRST_MONDAY = 4  # days after 1 January 1970: weeks are counted from there


@dataclass(frozen=True)
class WindowTable:
    """All windows that hold a position from `low` to `high`, by ascending end."""

    low: Any
    high: Any
    starts: Array
    ends: Array
    edges: Array  # starts and ends, ascending, each once

    @classmethod
    def of(cls, low: Any, high: Any, starts: Array, ends: Array) -> "WindowTable":
        real = starts < ends  # a day that a zone left out has no window
        starts, ends = starts[real], ends[real]
        return cls(low, high, starts, ends, np.unique(np.concatenate([starts, ends])))


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
def _listed(arrays: Any, slots: Any, starts: Any, ends: Any, after: Any, until: Any, out: Any) -> int:
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
            if nearest >= ends[k]:  # nothing here: on to the first window that can hold the next slice
                k = max(k + 1, _first_after(ends, nearest))
                continue
            high = advance(firsts, order, begin, count, max(high, low), ends[k])
            if is_whole(lasts, order, begin, low, high, starts[k], ends[k]):
                written = write(out, written, slot, starts[k], ends[k], begin + low, begin + high)
            k += 1
    return written


class TableKind(Kind):
    """A kind whose windows can be listed for any stretch of positions."""

    has_own_edges: ClassVar[bool] = True
    _known: WindowTable | None = None

    @abstractmethod
    def listed(self, low: Any, high: Any) -> WindowTable:
        """Return a table of all windows that hold a position between two."""

    def table(self, low: Any, high: Any) -> WindowTable:
        """Return a table that covers two positions, and more than that, so that it need not be made again soon."""
        low, high = (min(max(each, -FURTHEST), FURTHEST) for each in (low, high))
        known = self._known
        if known is None or low < known.low or high > known.high:
            if known is not None:
                low, high = min(low, known.low), max(high, known.high)
            self._known = known = self.listed(low, high)
        return known

    # --- where rows are cut --------------------------------------------------------------------------

    def edges_of(self, positions: Array) -> Array:
        low, high = positions.min().item(), positions.max().item()
        edges = self.table(low, high).edges
        begin, end = np.searchsorted(edges, [low, high], side="right")
        return edges[begin : end + 1]

    # --- which windows are due -----------------------------------------------------------------------

    def due(self, held: Held, own: Any, moment: Moment) -> Ended:
        slices, dtype = held.slices, self.setting.dtype
        slots = moment.slots[slices.count[moment.slots] > 0]
        if not len(slots):
            return Ended.none(dtype)
        oldest = slices.firsts[slices.order[slices.begin[slots]]].min().item()
        newest = slices.lasts[slices.order[(slices.begin + slices.count - 1)[slots]]].max().item()
        table = self.table(oldest, newest)
        after, until = dtype.type(moment.after), dtype.type(moment.until)
        first = int(np.searchsorted(table.ends, max(after, oldest), side="right"))
        if first == len(table.ends) or table.ends[first] > until:
            return Ended.none(dtype)
        return collect(
            lambda out: _listed(view_of(slices), slots, table.starts, table.ends, after, until, out), len(slots), dtype
        )

    # --- what is needed, and what inspection shows -----------------------------------------------------

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        table = self.table(final, final)
        first = int(np.searchsorted(table.ends, final, side="right"))
        oldest = table.starts[first].item() if first < len(table.ends) else final
        return oldest, oldest

    def open_until(self, held: Held, slots: Array) -> Any:
        until, newest = super().open_until(held, slots), held.last_position(slots)
        if newest is None:
            return until
        table = self.table(newest, newest)
        last = int(np.searchsorted(table.starts, newest, side="right")) - 1
        return min(until, table.ends[last].item()) if last >= 0 else until

    def open_count(self, held: Held, oldest: Array, newest: Array) -> int:
        table = self.table(oldest.min().item(), newest.max().item())
        first = np.searchsorted(table.ends, np.maximum(oldest, held.watermark), side="right")
        last = np.searchsorted(table.starts, newest, side="right")
        return int(np.maximum(last - first, 0).sum())

    def next_end(self, held: Held) -> Any:
        own, _ = held.slices.live()
        if not len(own) or held.watermark >= self.setting.highest:
            return None
        firsts, lasts = held.slices.firsts[own], held.slices.lasts[own]
        table = self.table(firsts.min().item(), lasts.max().item())
        first = np.searchsorted(table.ends, np.maximum(firsts, held.watermark), side="right")
        holds = first < len(table.ends)
        holds[holds] = table.starts[first[holds]] <= lasts[holds]
        return table.ends[first[holds]].min().item() if holds.any() else None


class CalendarKind(TableKind):
    """Days, weeks and months of a time zone."""

    describes = Calendar
    most_windows: ClassVar[int] = 100_000  # each is a line of the table
    rebuild = staticmethod(calendar_again)

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

    def listed(self, low: Any, high: Any) -> WindowTable:
        window, margin = self.window, _longest(self.window.size) + _longest(self.window.offset) + 2 * _DAY
        periods = max(2, min(64, self.most_windows // int(self.windows_per_row)))
        room = max(high - low, periods * _longest(window.period))
        low, high = max(low - room, -FURTHEST), min(high + room, FURTHEST)
        begins = self._begins(low - margin, high + margin)
        starts = instants(begins, window.zone)
        if not window.grows:
            return WindowTable.of(low, high, starts, instants(window.size.after(begins), window.zone))
        return WindowTable.of(low, high, *self._grown(begins, starts))

    def _begins(self, low: int, high: int) -> Array:
        """Return the local times at which windows start, from one instant to another and a little beyond."""
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

    def _grown(self, begins: Array, starts: Array) -> tuple[Array, Array]:
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
        fresh[:, 1:] = ends[:, 1:] > ends[:, :-1]  # steps beyond the next start are that start, once
        return np.repeat(starts[:-1], fresh.sum(axis=1)), ends[fresh]


class ListedKind(TableKind):
    """Windows between edges that the user listed; rows outside of them are in no window."""

    describes = Listed
    rebuild = staticmethod(calendar)

    @property
    def windows_per_row(self) -> float:
        return 1.0

    @property
    def lookback(self) -> Any:
        return max(after - before for before, after in zip(self.window.edges, self.window.edges[1:], strict=False))

    def listed(self, low: Any, high: Any) -> WindowTable:
        edges = np.array(self.window.edges, self.setting.dtype)
        return WindowTable.of(self.setting.lowest, self.setting.highest, edges[:-1], edges[1:])

    def edges_of(self, positions: Array) -> Array:
        # After the last edge there is none: rows there are in one slice.
        return np.concatenate([super().edges_of(positions), np.array([self.setting.highest], positions.dtype)])


def _longest(length: Any) -> int:
    """Return how long a span can be, in microseconds."""
    if not isinstance(length, Span):
        return int(length.microseconds)
    return abs(length.months) * 31 * _DAY + abs(length.days) * _DAY + abs(length.microseconds) + _DAY


def _shortest(length: Any) -> int:
    """Return how short a span can be: a day that clocks shorten has 23 hours, or less."""
    if not isinstance(length, Span):
        return int(length.microseconds)
    return max(length.months * 28 * _DAY + length.days * _DAY + length.microseconds - _DAY // 2, _DAY // 2)
