"""What frames and the window join hold, drawn from what `sash.rolling` and `sash.join` say of the same rows."""

from typing import Any

from docs.drawings.canvas import Canvas
from docs.drawings.timeline import Bar, Timeline
from docs.drawings.windows import TIMES

import sash

__all__ = ["PICTURES"]

TIED = [1, 3, 4, 9, 13, 13, 13, 20, 22, 27]
ROW = 5  # the second of the three rows at 13
LABELS = [13, 26]
APART = 0.9  # between the dots of rows at one time


def place(row: int) -> float:
    """Where a row is drawn: those at one time lie side by side."""
    return TIED[row] + APART * (row - TIED.index(TIED[row]))


def held(**extent: Any) -> list[int]:
    """The frame of the row."""
    rows = {"t": TIED, "row": list(range(len(TIED)))}
    found: list[int] = sash.rolling(rows, on="t", **extent, held=sash.collect("row")).column("held")[ROW].as_py()
    return found


def bar(words: str, rows: list[int], whole: list[int] | None = None) -> Bar:
    """A frame as a bar from its first row to its last one, or over those of a larger frame."""
    ends = whole or rows
    return Bar(place(ends[0]) - 0.2, place(ends[-1]) + 1, words, [place(row) for row in rows])


def with_rows(title: str) -> Timeline:
    line = Timeline(title)
    line.axis([place(row) for row in range(len(TIED))], above={place(ROW): "the row"})
    return line


def frames() -> Canvas:
    """The units of frames, with ends before and after the row."""
    line = with_rows("Frames by rows, by range and by groups around one of three rows at 13")
    for name, extent, color in (
        ("rows=(-2, 1)", {"rows": (-2, 1)}, "blue"),
        ("rows=5, center=True", {"rows": 5, "center": True}, "blue"),
        ("rows=(None, -1)", {"rows": (None, -1)}, "blue"),
        ("range=(-4, 9)", {"range": (-4, 9)}, "green"),
        ("range=10, closed=left", {"range": 10, "closed": "left"}, "green"),
        ("groups=(-2, 1)", {"groups": (-2, 1)}, "amber"),
    ):
        rows = held(**extent)
        line.bars(name, [bar(f"{len(rows)} rows", rows)], color)
    return line.canvas


def exclude() -> Canvas:
    """What each exclusion leaves of one frame."""
    line = with_rows("The same frame without some rows at 13")
    whole = held(rows=(-3, 3))
    for name, left_out, color in (
        ("rows=(-3, 3)", None, "grey"),
        ('… exclude="row"', "row", "blue"),
        ('… exclude="group"', "group", "green"),
        ('… exclude="ties"', "ties", "amber"),
    ):
        rows = held(rows=(-3, 3), exclude=left_out)
        line.bars(name, [bar(f"{len(rows)} rows", rows, whole)], color)
    return line.canvas


def window_join() -> Canvas:
    """The events that each of two labels sees."""
    line = Timeline("The window join: each label with the events before it")
    line.axis(TIMES, "events", dict.fromkeys(LABELS, "label"))
    top = line.y - 10
    extents: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("range=10", {"range": 10}, "blue"),
        ("range=10, delay=4", {"range": 10, "delay": 4}, "green"),
        ("rows=3", {"rows": 3}, "amber"),
    )
    for name, extent, color in extents:
        seen = sash.lookback({"t": TIMES}, **extent, held=sash.collect("t"))
        rows = sash.join({"t": LABELS}, seen, on="t").to_pylist()
        line.bars(name, [_seen(row["t"], row["held"], **extent) for row in rows], color)
    line.edges(LABELS, top, line.y - 8)
    return line.canvas


def _seen(label: int, events: list[int], range: int | None = None, delay: int = 0, rows: int = 0) -> Bar:
    if range is None:
        return Bar(events[0] - 0.2, label, f"of {label}", events)
    low, high = label - range - delay, label - delay
    return Bar(low, high, f"of {label}: [{low}, {high})", events)


PICTURES = {"frames": frames, "exclude": exclude, "window_join": window_join}
