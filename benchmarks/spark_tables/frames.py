"""Frames: each row and the rows before it, by window and by keys; frames in other positions, by width."""

from collections.abc import Iterator
from functools import partial

from benchmarks.records import Record, Value
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.measurement import left_out, measure, records_of
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.session import LOCAL
from benchmarks.spark_tables.subjects import FRAMES, NATIVE, POSITIONS, SASH, STEP, TREE, Point
from benchmarks.suite import Task

__all__ = ["fewer", "frame_tasks", "position_tasks"]

SOME_KEYS = 10  # enough to keep all cores of a small machine busy
WINDOWS_OF_A_KEY = 5  # the first frames of a key are not full: in rows of so many windows, a tenth is missing


def frame_tasks(settings: TableSettings) -> Iterator[Task]:
    """Vary the window, with many keys and with one."""
    for keys in settings.frame_keys:
        for window in settings.frame_windows:
            yield Task(f"{window} rows, {keys} keys", partial(_frames, settings, keys, window))


def _frames(settings: TableSettings, keys: int, window: int) -> Iterator[Record]:
    rows = Rows(settings.frame_rows, keys)
    points = [Point(each, FRAMES, window, rows) for each in (TREE, SASH)]
    few = fewer(rows, window, settings.native_steps)
    scales = {}
    if window <= settings.native_window:
        points.insert(0, Point(NATIVE, FRAMES, window, few))
        scales[points[0]] = rows.rows / few.rows
    shape = {"window": window, "rows": rows.rows, "keys": keys}
    yield from records_of("frames", "max", measure(LOCAL, points, settings).items(), NATIVE, shape, scales)
    if window > settings.native_window:
        why = f"Spark folds {window} rows for each row; too slow above {settings.native_window}"
        yield left_out("frames", NATIVE, "max", why, shape)


def position_tasks(settings: TableSettings) -> Iterator[Task]:
    """Compare frames in other positions with frames that end at their row, by width."""
    for width in settings.position_windows:
        yield Task(f"width {width}", partial(_positions, settings, width))


def _positions(settings: TableSettings, width: int) -> Iterator[Record]:
    keys = settings.frame_keys[0]
    per_key = settings.position_rows // keys
    rows = Rows(settings.position_rows, keys, max(1, per_key * STEP // 1000))
    points = [Point(SASH, each, width, rows) for each in POSITIONS]
    for point, run in measure(LOCAL, points, settings).items():
        shape: dict[str, Value] = {"frame": point.question, "width": width, "rows": rows.rows, "keys": keys}
        yield from records_of("positions", "sum and max", [(point, run)], "", shape)


def fewer(rows: Rows, window: int, steps: int) -> Rows:
    """Return as many rows as native Spark can compute: it takes a step for each row of each frame.

    >>> fewer(Rows(10_000_000, 100), 100, 10**9).rows, fewer(Rows(10_000_000, 100), 1000, 10**9).rows
    (10000000, 1000000)
    >>> fewer(Rows(10_000_000, 100), 10_000, 10**9).rows, fewer(Rows(10_000_000, 1), 10_000, 10**9).rows
    (500000, 100000)
    """
    if rows.rows * window <= steps:
        return rows
    keys = min(rows.keys, SOME_KEYS)
    per_key = min(rows.rows // rows.keys, max(steps // window // keys, WINDOWS_OF_A_KEY * window))
    return rows.part(per_key * keys, keys)
