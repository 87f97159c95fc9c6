"""The figures of the page and of `/metrics`: names of `sash.progress`, texts, and when each is an alarm."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from sash.page import contract
from sash.page.records import Figures, StreamFacts
from sash.page.texts import bytes_text, count_text, length_text, rate_text

__all__ = ["FIGURES", "History", "Shown"]

HISTORY_S = 900.0
STEP_S = 10.0  # between two points of the history
SLOW_BATCHES = 10  # micro-batches in a row that are slower than the source
STALL_S = 60.0  # rows come, and the watermark has not moved for so long


@dataclass(frozen=True)
class Shown:
    """One figure of the panel `now`."""

    name: str  # in `Figures`
    label: str
    text: Callable[[float, StreamFacts], str]
    grows: str = ""  # the alarm if it grows for 15 minutes


_GROWTH = "It has grown for 15 minutes: there are always new keys, or a window never closes."

FIGURES = (
    Shown("rows_per_second", "Rows in", lambda value, _: f"{rate_text(value)} /s"),
    Shown("results_per_second", "Results out", lambda value, _: f"{rate_text(value)} /s"),
    Shown("watermark_lag", "Watermark lag", lambda value, facts: length_text(value, facts.unit)),
    Shown("open_windows", "Open windows", lambda value, _: count_text(value), _GROWTH),
    Shown("late_rows", "Late rows", lambda value, _: count_text(value)),
    Shown("state_bytes", "State", lambda value, _: bytes_text(value), _GROWTH),
    Shown("keys", "Keys", lambda value, _: count_text(value), _GROWTH),
    Shown("slices", "Slices", lambda value, _: count_text(value), _GROWTH),
)


class History:
    """The last 15 minutes of all figures, and the alarms of docs/operations.md.

    A point is the largest value of ten seconds, so that a short peak stays visible.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._points: dict[str, deque[tuple[float, float]]] = {each.name: deque() for each in FIGURES}
        self._moved_at = clock()  # when the watermark last moved
        self._rows_at = 0.0  # when rows last came
        self._late_at: deque[tuple[float, int]] = deque()  # rejected rows by time
        self._is_slower: deque[bool] = deque(maxlen=SLOW_BATCHES)  # than the source
        self.last = Figures()

    def add(self, figures: Figures) -> None:
        """Add the figures of one reading."""
        now = self._clock()
        if figures.watermark != self.last.watermark:
            self._moved_at = now
        if figures.rows:
            self._rows_at = now
        if figures.input_rows_per_second is not None:
            self._is_slower.append(figures.rows_per_second < figures.input_rows_per_second)
        if figures.late:
            self._late_at.append((now, figures.late))
        while self._late_at and self._late_at[0][0] < now - 2 * STALL_S:
            self._late_at.popleft()
        self.last = figures
        for each in FIGURES:
            value = getattr(figures, each.name)
            if value is not None:
                self._add(self._points[each.name], now - now % STEP_S, value)

    def _add(self, points: deque[tuple[float, float]], at: float, value: float) -> None:
        if points and points[-1][0] == at:
            value = max(value, points.pop()[1])
        points.append((at, value))
        while points[0][0] < at - HISTORY_S:
            points.popleft()

    def figures(self, facts: StreamFacts) -> list[contract.Figure]:
        """Return all figures as the page shows them."""
        found = []
        for each in FIGURES:
            value = getattr(self.last, each.name)
            text = "none" if value is None else each.text(value, facts)
            points = [(at, round(point, 3)) for at, point in self._points[each.name]]
            found.append(
                contract.Figure(
                    name=each.name,
                    label=each.label,
                    value=value,
                    text=text,
                    alarm=self._alarm(each, facts),
                    history=points,
                )
            )
        return found

    def _alarm(self, shown: Shown, facts: StreamFacts) -> str | None:
        now = self._clock()
        if shown.name == "rows_per_second" and len(self._is_slower) == SLOW_BATCHES and all(self._is_slower):
            return "The last ten micro-batches were slower than the source."
        if shown.name == "watermark_lag":
            if facts.unit == "time" and self.last.newest is not None and self.last.newest > now + STALL_S:
                return "The newest row is ahead of the clock."
            if not self.last.is_ended and self._rows_at > now - STALL_S and self._moved_at < now - STALL_S:
                return "Rows come, but the watermark has not moved for a minute."
        if shown.name == "late_rows":
            recent = sum(rows for at, rows in self._late_at if at > now - STALL_S)
            if recent > sum(rows for at, rows in self._late_at) - recent and len(self._late_at) > 1:
                return "More rows are rejected than a minute ago: the delay is too short, or a source sends old rows."
        if shown.grows:
            values = [value for _, value in self._points[shown.name]]
            if len(values) >= HISTORY_S / STEP_S and all(a < b for a, b in pairwise(values)):
                return shown.grows
        return None
