"""The window join: by the length of its windows, and where one key has half of the rows."""

from collections.abc import Iterator, Sequence
from functools import partial

from benchmarks.records import Record
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.measurement import measure, records_of
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.session import LOCAL
from benchmarks.spark_tables.subjects import JOINS, RANGE_JOIN, ROLLING, SASH, UNION, Point
from benchmarks.suite import Task

__all__ = ["join_tasks"]

HOUR = 3600
YEAR = 365 * 24 * HOUR
HOT_PERCENT = 50
FEATURES = "four features"


def join_tasks(settings: TableSettings) -> Iterator[Task]:
    """Join labels and events beside `sash.rolling` on all rows, then by native Spark on the rows of some keys."""
    week = settings.join_hours[-2:-1]
    yield Task("all keys alike", partial(_joins, settings, settings.join_hours, 0))
    yield Task("one hot key", partial(_joins, settings, week, HOT_PERCENT))
    for hours in settings.join_hours:
        yield Task(f"native, {hours} hours", partial(_native, settings, hours))


def _joins(settings: TableSettings, lengths: Sequence[int], hot_percent: int) -> Iterator[Record]:
    rows = _rows(settings, hot_percent)
    # In turns: a busy machine slows all lengths alike.
    points = [Point(each, JOINS, hours * HOUR, rows) for hours in lengths for each in (ROLLING, SASH)]
    for point, run in measure(LOCAL, points, settings).items():
        yield from records_of("joins", FEATURES, [(point, run)], "", _shape(rows, point.width))


def _native(settings: TableSettings, hours: int) -> Iterator[Record]:
    rows = _rows(settings, 0)
    keys = max(1, rows.keys // settings.join_share)
    few = rows.part(rows.rows * keys // rows.keys, keys)
    points = [Point(each, JOINS, hours * HOUR, few) for each in (RANGE_JOIN, UNION)]
    scales = dict.fromkeys(points, rows.rows / few.rows)
    runs = measure(LOCAL, points, settings).items()
    yield from records_of("joins", FEATURES, runs, "", _shape(rows, hours * HOUR), scales)


def _rows(settings: TableSettings, hot_percent: int) -> Rows:
    return Rows(settings.join_rows, settings.join_keys, YEAR, hot_percent, settings.join_label_each)


def _shape(rows: Rows, seconds: int) -> dict[str, int | str]:
    skew = "half" if rows.hot_percent else "none"
    return {"hours": seconds // HOUR, "skew": skew, "rows": rows.rows, "keys": rows.keys}
