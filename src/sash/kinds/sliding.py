"""Sliding and tumbling windows: [offset + k · every, offset + k · every + size) for every whole k."""

from abc import abstractmethod
from typing import Any, ClassVar

from sash.kinds.kind import Kind, Moment, StreamView
from sash.slicing.grids import Grids, ended_on_grids
from sash.slicing.slicer import Progression, cutty, end_of, first_open, indices_of, last_started, pairs
from sash.slicing.slices import Array
from sash.slicing.window_manager import Ended
from sash.windows.built_in import Sliding, sliding
from sash.windows.grid import Grid

__all__ = ["GridKind", "SlidingKind"]


class GridKind(Kind):
    """A kind whose windows lie on a regular grid of edges, independent of rows."""

    spark_slices: ClassVar[bool] = True

    @property
    def grid(self) -> Grid:
        found: Grid = self.window.grid
        return found

    def slices_per_window(self, edges_per_unit: float) -> float:
        return max(1.0, edges_per_unit * float(self.window.size))

    @property
    def windows_per_row(self) -> float:
        return max(1.0, float(self.window.size / self.window.every))

    @property
    def lookback(self) -> Any:
        return self.window.size

    @abstractmethod
    def end_after(self, position: Any) -> Any:
        """Return the first end of a window after a position; an infinite position is returned as it is."""

    @abstractmethod
    def last_end(self, position: Any) -> Any:
        """Return the end of the last window that holds a position."""

    @abstractmethod
    def numbers(self, since: Array, newest: Array) -> tuple[Array, Array]:
        """Return the numbers of the first window that ends after one position, and of the last that holds another."""

    def open_until(self, held: StreamView, slots: Array) -> Any:
        until, newest = super().open_until(held, slots), held.last_position(slots)
        return until if newest is None else min(until, self.last_end(newest))

    def open_count(self, held: StreamView, oldest: Array, newest: Array) -> int:
        """Count by arithmetic; for keys with gaps the count is a little too high."""
        since = oldest.clip(min=held.watermark)
        still = since < self.setting.highest
        first, last = self.numbers(since[still], newest[still])
        return int((last - first + 1).clip(min=0).sum())

    def next_end(self, held: StreamView) -> Any:
        numbers, _ = held.slices.list_all()
        if not len(numbers) or held.watermark >= self.setting.highest:
            return None
        since = held.slices.firsts[numbers].clip(min=held.watermark)
        first, last = self.numbers(since, held.slices.lasts[numbers])
        return self.end_after(since[first <= last].min().item()) if (first <= last).any() else None


class SlidingKind(GridKind):
    """Windows of one size that start at regular distances."""

    describes = Sliding
    rebuild = staticmethod(sliding)

    def progressions(self) -> list[Progression]:
        return pairs(self.grid)

    def starts(self) -> list[Progression]:
        return cutty(self.grid)

    @property
    def shared_grid(self) -> Grid:
        return self.grid

    @property
    def is_one_slice(self) -> bool:  # type: ignore[override]
        return bool(self.window.size == self.window.every)

    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        if self.end_after(moment.after) > moment.until:
            return Ended.none(self.setting.dtype)
        grids = Grids.of([self.grid], self.setting.dtype)
        return ended_on_grids(held.slices, moment.slots, grids, moment.after, moment.until)

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        oldest = Grids.of([self.grid], self.setting.dtype).oldest_start(final)
        return oldest, oldest

    def end_after(self, position: Any) -> Any:
        if abs(position) == float("inf"):
            return position
        return end_of(self.grid, first_open(self.grid, position))

    def last_end(self, position: Any) -> Any:
        return end_of(self.grid, last_started(self.grid, position))

    def numbers(self, since: Array, newest: Array) -> tuple[Array, Array]:
        grid = self.grid
        first = indices_of(grid.step, grid.end_phase, grid.unit, since) + 1 - grid.whole
        return first, indices_of(grid.step, grid.phase, grid.unit, newest)
