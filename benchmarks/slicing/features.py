"""Frames by their position, and joins by the length of their windows, in one process."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sash
from benchmarks.records import Record, parameters
from benchmarks.settings import SlicingSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of_each

__all__ = ["FRAMES", "frame_tasks", "join_tasks"]

SEED, HOUR = 7, 3600
HOURS = {"1 hour": 1, "1 day": 24, "7 days": 168, "90 days": 2160}
YEAR = 365 * 24 * HOUR
# Frames of w rows or positions around a row.
FRAMES: dict[str, Callable[[int], dict[str, Any]]] = {
    "at the row": lambda w: {"rows": w},
    "centered": lambda w: {"rows": w, "center": True},
    "offset": lambda w: {"rows": (-2 * w, -w)},
    "range at the row": lambda w: {"range": w},
    "range centered": lambda w: {"range": w, "center": True},
    "exclude": lambda w: {"rows": w, "exclude": "row"},
    "groups": lambda w: {"groups": w},
}
FEATURES: dict[str, Any] = {
    "total": sash.sum("x"),
    "n": sash.count(),
    "most": sash.max("x"),
    "kinds": sash.count_distinct("site"),
}
_IN_DUCKDB = """
    SELECT l.place, sum(e.x), count(e.x), max(e.x), count(DISTINCT e.site) FROM labels l
    LEFT JOIN events e ON l.k = e.k AND e.t >= l.t - {length} AND e.t < l.t GROUP BY l.place
"""


def frame_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Compare frames in other positions with frames that end at their row, by width."""
    for width in settings.frame_widths:
        yield Task(f"width {width}", partial(_frames, settings, width))


def _frames(settings: SlicingSettings, width: int) -> Iterator[Record]:
    count = settings.frame_rows
    rng = np.random.default_rng(SEED)
    rows = pa.table({"t": np.arange(count), "k": rng.integers(0, 100, count), "x": rng.normal(0.0, 1.0, count)})
    calls = {
        name: partial(sash.rolling, rows, on="t", by="k", **extent(width), total=sash.sum("x"), most=sash.max("x"))
        for name, extent in FRAMES.items()
    }
    for call in calls.values():
        call()
    for name, timing in best_of_each(calls, 3, settings.point_seconds).items():
        shape = parameters(frame=name, width=width, rows=count)
        yield Record("frames", "sash", "rows", count / timing.seconds / 1e6, "million rows/s", "sum and max", shape)


def join_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Join labels and events, by the length of the window, then with one key that has half of the rows."""
    yield Task("all keys alike", partial(_join, settings, list(HOURS.values()), False))
    yield Task("one hot key", partial(_join, settings, [HOURS["7 days"]], True))
    if find_spec("duckdb") is not None:
        yield Task("DuckDB", partial(_join_in_duckdb, settings))


def _join(settings: SlicingSettings, lengths: list[int], is_skewed: bool) -> Iterator[Record]:
    labels, events = _tables(settings, is_skewed)
    sash.join(labels.slice(0, 9), sash.lookback(events.slice(0, 9), range=9, **FEATURES), on="t", by="k")
    calls = {
        str(hours): partial(sash.join, labels, sash.lookback(events, range=hours * HOUR, **FEATURES), on="t", by="k")
        for hours in lengths
    }
    # In turns: a busy machine slows all lengths alike.
    for hours, timing in best_of_each(calls, 3, 4 * settings.point_seconds).items():
        yield _join_record(settings, "sash", labels.num_rows + events.num_rows, timing.seconds, int(hours), is_skewed)


def _join_in_duckdb(settings: SlicingSettings) -> Iterator[Record]:
    few = settings.join_keys // settings.join_peer_share or 1
    labels, events = (each.filter(pc.less(each["k"], few)) for each in _tables(settings, False))
    for hours in list(HOURS.values())[:-1]:  # of 90 days, every label has hundreds of events
        call = partial(_in_duckdb, labels, events, hours * HOUR)
        seconds = best_of_each({"duckdb": call}, 2, settings.point_seconds)["duckdb"].seconds
        yield _join_record(settings, "duckdb", labels.num_rows + events.num_rows, seconds, hours, False)


def _join_record(
    settings: SlicingSettings, subject: str, rows: int, seconds: float, hours: int, is_skewed: bool
) -> Record:
    both = settings.join_labels + settings.join_events
    shape = parameters(hours=hours, keys=settings.join_keys, skew="half" if is_skewed else "none", rows=both)
    note = "" if rows == both else f"measured with {rows} rows, those of some keys"
    rate = rows / seconds / 1e6
    return Record("joins", subject, "rows", rate, "million rows/s", "four features", shape, None, note)


def _tables(settings: SlicingSettings, is_skewed: bool) -> tuple[pa.Table, pa.Table]:
    labels = _drawn(settings.join_labels, settings.join_keys, is_skewed, 0)
    return labels.select(["t", "k", "place"]), _drawn(settings.join_events, settings.join_keys, is_skewed, 1)


def _in_duckdb(labels: pa.Table, events: pa.Table, length: int) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("labels", labels)
        connection.register("events", events)
        connection.sql(_IN_DUCKDB.format(length=length)).to_arrow_table()


def _drawn(count: int, keys: int, is_skewed: bool, seed: int) -> pa.Table:
    """Return rows of a year in seconds, in random order."""
    rng = np.random.default_rng(SEED + seed)
    own = rng.integers(0, keys, count)
    if is_skewed:
        own[rng.random(count) < 0.5] = 0
    return pa.table(
        {
            "t": rng.integers(0, YEAR, count),
            "k": own,
            "x": rng.normal(0.0, 1.0, count),
            "site": rng.integers(0, 50, count),
            "place": np.arange(count),
        }
    )
