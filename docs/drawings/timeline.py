"""A time axis with rows as dots and windows as bars."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from docs.drawings.canvas import Canvas
from docs.drawings.folds import LEFT, RIGHT, heading, named

__all__ = ["NUDGE", "Bar", "Timeline"]

BAR, THIN = 34, 22
NUDGE = 0.38


@dataclass(frozen=True)
class Bar:
    """A window on the axis: [start, end), what is written on it, and the rows that it holds."""

    start: float
    end: float
    words: str
    rows: Sequence[float] = ()
    color: str = ""


class Timeline:
    """A sheet with a time axis."""

    def __init__(self, title: str, first: int = -5, last: int = 35) -> None:
        self.canvas = Canvas(title)
        self.first, self.last = first, last
        self.y = heading(self.canvas)

    def x(self, position: float) -> float:
        return LEFT + (position - self.first) * (RIGHT - LEFT) / (self.last - self.first)

    def axis(self, rows: Iterable[float], name: str = "rows", above: Mapping[float, str] | None = None) -> None:
        """The axis, ticks every five, rows as dots above it, and what is written above some."""
        named(self.canvas, self.y + 14, name)
        for position, words in (above or {}).items():
            self.canvas.text(self.x(position + NUDGE), self.y, words, 11, "grey")
        for row in rows:
            self.dot(row, self.y + 14)
        floor = self.y + 24
        self.canvas.line((LEFT - 6, floor), (RIGHT + 6, floor), "grey", 1.2, arrow=True)
        for tick in range(self.first, self.last, 5):
            self.canvas.line((self.x(tick), floor), (self.x(tick), floor + 5), "grey", 1)
            self.canvas.text(self.x(tick), floor + 13, str(tick), 11, "grey")
        self.y = floor + 30

    def bars(self, name: str, bars: Sequence[Bar], color: str = "blue", note: str = "") -> None:
        """Windows in as few lines as they need, with the rows that each holds."""
        thick = BAR if any(bar.rows for bar in bars) else THIN
        named(self.canvas, self.y + thick / 2 - (7 if note else 0), name, color)
        if note:
            named(self.canvas, self.y + thick / 2 + 8, note, "grey")
        lanes: list[list[Bar]] = []
        for bar in bars:
            free = (lane for lane in lanes if all(bar.start >= each.end or bar.end <= each.start for each in lane))
            lane = next(free, None)
            if lane is None:
                lanes.append(lane := [])
            lane.append(bar)
            self.bar(bar, self.y + (thick + 6) * lanes.index(lane), color)
        self.y += (thick + 6) * max(1, len(lanes)) + 8

    def bar(self, bar: Bar, y: float, color: str) -> None:
        """One window; without rows it is thinner."""
        left, right = self.x(max(bar.start, self.first)), self.x(min(bar.end, self.last))
        self.canvas.box(left + 1, y, right - left - 2, BAR if bar.rows else THIN, bar.color or color)
        self.canvas.text((left + right) / 2, y + (10 if bar.rows else THIN / 2), bar.words, 11)
        for row in bar.rows:
            self.dot(row, y + 24, bar.color or color, 4)

    def dot(self, row: float, y: float, color: str = "ink", radius: float = 4.5, hollow: bool = False) -> None:
        """A row, just after its position: a window holds its start, so the dot lies inside."""
        self.canvas.dot(self.x(row + NUDGE), y, color, radius, hollow)

    def edges(self, positions: Iterable[float], top: float, bottom: float, color: str = "grey") -> None:
        """Lines across the sheet at some positions."""
        for position in positions:
            self.canvas.line((self.x(position), top), (self.x(position), bottom), color, 0.8, dashed=True)
