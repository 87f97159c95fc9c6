"""The figures of the page and of `/metrics`: names of `sash.progress`, texts, and when each is an alarm."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from sash.page import contract
from sash.page.records import Figures, StreamFacts
from sash.page.texts import bytes_text, count_text, length_text, rate_text

__all__ = ["FIGURES", "HISTORY_S", "History", "Shown"]

HISTORY_S = 900.0
STEP_S = 10.0  # between two points of the history
STALL_S = 60.0  # rows come, and the watermark has not moved for so long


@dataclass(frozen=True)
class Shown:
    """One figure: how it is read from `Figures`, and how it is shown."""

    name: str
    label: str
    help: str
    value: Callable[[Figures], float | None]
    text: Callable[[float, StreamFacts], str]
    grows: str = ""  # what it means if the figure grows without end


def _lag(figures: Figures) -> float | None:
    if figures.watermark is None or figures.newest is None:
        return None
    return figures.newest - figures.watermark


FIGURES = (
    Shown(
        "rows_per_second",
        "Rows in",
        "Rows per second that the stream processed",
        lambda now: now.rows_per_second,
        lambda value, _: f"{rate_text(value)} /s",
    ),
    Shown(
        "results_per_second",
        "Results out",
        "Results per second that the stream emitted",
        lambda now: now.results_per_second,
        lambda value, _: f"{rate_text(value)} /s",
    ),
    Shown(
        "watermark_lag",
        "Watermark lag",
        "Distance of the watermark behind the newest row",
        _lag,
        lambda value, facts: length_text(value, facts.unit),
    ),
    Shown(
        "open_windows",
        "Open windows",
        "Windows with rows that are not closed, about",
        lambda now: now.open_windows,
        lambda value, _: count_text(value),
        "Open windows have grown for 15 minutes: there are always new keys, or a window never closes.",
    ),
    Shown(
        "late_rows",
        "Late rows",
        "Rejected rows since the query first started",
        lambda now: now.late_rows,
        lambda value, _: count_text(value),
    ),
    Shown(
        "state_bytes",
        "State",
        "Size of the state in bytes",
        lambda now: now.state_bytes,
        lambda value, _: bytes_text(value),
        "The state has grown for 15 minutes: there are always new keys, or a window never closes.",
    ),
    Shown("keys", "Keys", "Keys in the state", lambda now: now.keys, lambda value, _: count_text(value)),
    Shown("slices", "Slices", "Slices in the state", lambda now: now.slices, lambda value, _: count_text(value)),
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
        self.last = Figures()

    def add(self, figures: Figures) -> None:
        """Add the figures of one reading."""
        now = self._clock()
        if figures.watermark != self.last.watermark:
            self._moved_at = now
        if figures.rows:
            self._rows_at = now
        if figures.late:
            self._late_at.append((now, figures.late))
        while self._late_at and self._late_at[0][0] < now - 2 * STALL_S:
            self._late_at.popleft()
        self.last = figures
        for each in FIGURES:
            value = each.value(figures)
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
            value = each.value(self.last)
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
