"""What each kind of window holds, drawn from what `sash.aggregate` says of the same nine rows."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from docs.drawings.canvas import Canvas
from docs.drawings.timeline import Bar, Timeline

import sash

__all__ = ["PICTURES", "TIMES", "VALUES"]

TIMES = [1, 3, 4, 9, 12, 13, 20, 22, 27]
VALUES = [3, 1, 4, 1, 5, 9, 2, 6, 5]
STARTS = [4, 13, 22]


def asked(window: Any, late: Sequence[int] = ()) -> list[dict[str, Any]]:
    """The windows that hold rows, with the times of these."""
    times = [*TIMES, *late]
    rows = {"t": times, "is_start": [time in STARTS for time in times]}
    question = sash.query("drawn", window, held=sash.collect("t"))
    found: list[dict[str, Any]] = sash.aggregate(rows, [question], on="t").to_pylist()
    return found


def bars(window: Any, late: Sequence[int] = ()) -> list[Bar]:
    """The windows as bars from start to end."""
    return [
        Bar(row["window_start"], row["window_end"], f"[{row['window_start']}, {row['window_end']})", row["held"])
        for row in asked(window, late)
    ]


def over_rows(row: dict[str, Any], words: str, end: float | None = None) -> Bar:
    """A window as a bar over the rows that it holds."""
    return Bar(row["held"][0] - 0.2, row["held"][-1] + 1 if end is None else end, words, row["held"])


def on_axis(title: str, *groups: tuple[str, str, list[Bar]]) -> Canvas:
    """Rows and windows; a group is a name, its colour and its bars."""
    line = Timeline(title)
    line.axis(TIMES)
    for name, color, found in groups:
        line.bars(name, found, color)
    return line.canvas


def tumbling() -> Canvas:
    return on_axis("Tumbling windows do not overlap", ("tumbling(10)", "blue", bars(sash.tumbling(10))))


def sliding() -> Canvas:
    return on_axis(
        "Sliding windows overlap; an offset moves the grid",
        ("sliding(10, every=5)", "blue", bars(sash.sliding(10, every=5))),
        ("… offset=2", "green", bars(sash.sliding(10, every=5, offset=2))),
    )


def cumulative() -> Canvas:
    name = "cumulative(20, every=5)"
    return on_axis("Cumulative windows grow, then start again", (name, "blue", bars(sash.cumulative(20, every=5))))


def landmark() -> Canvas:
    name = "landmark(start=3, end=15)"
    return on_axis("A landmark is one band", (name, "blue", bars(sash.landmark(start=3, end=15))))


def session() -> Canvas:
    return on_axis(
        "A session ends when the gap stays empty; one more row can join two",
        ("session(gap=4)", "blue", bars(sash.session(gap=4))),
        ("… with a row at 17", "green", bars(sash.session(gap=4), late=[17])),
    )


def punctuated() -> Canvas:
    """The last window never closed: its end is not known."""
    line = Timeline("Punctuations: a row opens the next window")
    line.axis(TIMES, above=dict.fromkeys(STARTS, "start"))
    found = []
    for row in asked(sash.punctuated("is_start")):
        start, end = row["window_start"], row["window_end"]
        words = f"[{start}, {'…' if end is None else end})"
        found.append(Bar(start, line.last if end is None else end, words, row["held"]))
    line.bars('punctuated("is_start")', found)
    return line.canvas


def count() -> Canvas:
    """Windows of ranks."""
    line = Timeline("Count windows contain ranks, not times")
    line.axis(TIMES, "rows and their ranks", {t: str(rank) for rank, t in enumerate(TIMES)})
    for name, window, color in (
        ("tumbling(rows=4)", sash.tumbling(rows=4), "blue"),
        ("sliding(rows=4, every=2)", sash.sliding(rows=4, every=2), "green"),
    ):
        found = [over_rows(row, f"ranks [{row['rank_start']}, {row['rank_end']})") for row in asked(window)]
        line.bars(name, found, color)
    return line.canvas


def last_rows() -> Canvas:
    """The last rows at each multiple: `every` is a duration, so it is time and not a count."""
    line = Timeline("The last three rows, every ten")
    line.axis(TIMES)
    found = asked(sash.sliding(rows=3, every=dt.timedelta(microseconds=10)))
    line.edges([row["window_end"] for row in found], line.y - 10, line.y + 82, "blue")
    line.bars("last 3 rows, every 10", [over_rows(row, f"at {row['window_end']}", row["window_end"]) for row in found])
    return line.canvas


def last_time() -> Canvas:
    """The rows of the last stretch after every third row."""
    line = Timeline("The last ten, every three rows")
    line.axis(TIMES, "rows and their ranks", {t: str(rank) for rank, t in enumerate(TIMES)})
    found = asked(sash.sliding(10, every_rows=3))
    words = [f"ranks [{row['rank_start']}, {row['rank_end']})" for row in found]
    line.bars("sliding(10, every_rows=3)", [over_rows(row, text) for row, text in zip(found, words, strict=True)])
    return line.canvas


def rolling() -> Canvas:
    """Frames: one answer per row, some of them drawn."""
    line = Timeline("One result per row: itself and the rows before it")
    line.axis(TIMES)
    for name, frame, color in (
        ("rolling(rows=3)", sash.frame(rows=3, held=sash.collect("t")), "blue"),
        ("rolling(range=5)", sash.frame(range=5, held=sash.collect("t")), "green"),
    ):
        held = sash.rolling({"t": TIMES}, frame, on="t").column("held").to_pylist()
        frames = [over_rows({"held": rows}, f"of {rows[-1]}") for rows in held if rows[-1] in (4, 13, 22, 27)]
        line.bars(name, frames, color)
    return line.canvas


PICTURES = {
    "tumbling": tumbling,
    "sliding": sliding,
    "cumulative": cumulative,
    "landmark": landmark,
    "session": session,
    "punctuated": punctuated,
    "count": count,
    "last_rows": last_rows,
    "last_time": last_time,
    "rolling": rolling,
}
