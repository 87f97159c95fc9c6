"""Context-free windows of users: functions of positions compute where they start and end."""

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sash.errors import InvalidWindow
from sash.kinds.kind import Kind, Moment, StreamView, before
from sash.kinds.user_windows import call_user, is_position
from sash.slicing.slices import Array
from sash.slicing.window_manager import Ended, given_windows
from sash.windows.user import ContextFreeWindow

__all__ = ["UserFreeKind"]

# The number of edges after the last row within which a window that holds it must end.
_MOST_EDGES = 1000


class UserFreeKind(Kind):
    """A ContextFreeWindow of a user."""

    describes = ContextFreeWindow
    calls_user: ClassVar[bool] = True
    has_own_edges: ClassVar[bool] = True

    def slices_per_window(self, edges_per_unit: float) -> float:
        return math.inf

    @property
    def lookback(self) -> Any:
        return self.window.reach

    def edges_of(self, positions: Array) -> Array:
        """Return the edges, with one call of the user's function per slice."""
        found: list[Any] = []
        rest = np.unique(positions)
        while len(rest):
            position = rest[0].item()
            edge = call_user(self.window, f"next_edge({position})", partial(self.window.next_edge, position))
            if edge == math.inf:
                edge = self.setting.highest
            if not is_position(edge, positions.dtype) or not position < edge <= self.setting.highest:
                raise InvalidWindow.edges(
                    self.window, f"next_edge({position}) must be a number after it, as `on` is, but gave {edge!r}"
                )
            found.append(edge)
            rest = rest[np.searchsorted(rest, edge) :]
        return np.array(found, positions.dtype)

    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        slices, dtype = held.slices, self.setting.dtype
        slots = moment.slots[slices.count[moment.slots] > 0]
        if not len(slots) or not held.has_rows:
            return Ended.none(dtype)
        oldest = slices.firsts[slices.order[slices.begin[slots]]].min().item()
        until = moment.until
        if moment.is_end:
            until = self._last_end(held.newest.item() if isinstance(held.newest, np.generic) else held.newest)
        after = max(moment.after, before(oldest, self.setting))
        if after >= until:
            return Ended.none(dtype)
        given = call_user(self.window, f"ended({after}, {until})", lambda: self.window.ended(after, until))
        found = sorted(self._check_ended(given, after, until))
        if not found:
            return Ended.none(dtype)
        starts, ends = (np.array(column, dtype) for column in zip(*found, strict=True))
        keys = len(slots)
        return given_windows(slices, np.repeat(slots, len(found)), np.tile(starts, keys), np.tile(ends, keys))

    def _check_ended(self, given: Any, after: Any, until: Any) -> list[tuple[Any, Any]]:
        call, dtype = f"ended({after}, {until})", self.setting.dtype
        try:
            found = [(start, end) for start, end in given]
        except (TypeError, ValueError) as error:
            raise InvalidWindow.edges(
                self.window, f"{call} must give pairs (start, end), but gave {given!r}"
            ) from error
        for start, end in found:
            are_positions = is_position(start, dtype) and is_position(end, dtype)
            if not are_positions or not start < end or not after < end <= until:
                raise InvalidWindow.edges(
                    self.window, f"{call} gave ({start!r}, {end!r}), which is empty or does not end in between"
                )
        return found

    def _last_end(self, newest: Any) -> Any:
        """Return a position after which no window ends that holds the last row."""
        window = self.window
        if window.reach is not None:
            return newest + window.reach
        until = newest
        for _ in range(_MOST_EDGES):
            edge = call_user(window, f"next_edge({until})", partial(window.next_edge, until))
            if edge == np.inf or not edge > until:
                break
            ended = call_user(window, f"ended({until}, {edge})", partial(window.ended, until, edge))
            until = edge
            if ended and not any(start <= newest for start, _ in ended):
                break
        return until

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        oldest = self.setting.lowest if self.window.reach is None else final - self.window.reach
        return oldest, oldest

    def open_until(self, held: StreamView, slots: Array) -> Any:
        until, newest = super().open_until(held, slots), held.last_position(slots)
        return until if newest is None else min(until, self._last_end(newest))
