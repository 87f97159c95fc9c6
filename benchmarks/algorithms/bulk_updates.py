"""Windows that rows enter and leave in bulk: many rows per slide up to a tumbling window, and windows that resize."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sash
from benchmarks.algorithms.workloads import noise
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of_each

__all__ = ["bulk_update_tasks"]

SUBJECTS = ("flat_fat", "recalculate")
PART = 64  # rows that enter or leave at a time, where windows resize


def bulk_update_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Vary the rows per slide, up to a tumbling window; and compare a window that resizes with one that does not."""
    for slide in settings.bulk_slides:
        yield Task(f"slides of {slide} rows", partial(_slides, settings, slide))
    yield Task("resizing", partial(_resizing, settings))


def _opened(name: str, rows: int) -> Any:
    window = sash.swag.open(name, sash.max(), dtype="float64")
    window.insert_many(noise(rows))
    return window


def _slide(window: Any, values: Any, slide: int) -> Callable[[], None]:
    parts = [values[begin : begin + slide] for begin in range(0, len(values), slide)]

    def call() -> None:
        for part in parts:
            window.evict(len(part))
            window.insert_many(part)
            window.query()

    return call


def _slides(settings: AlgorithmSettings, slide: int) -> Iterator[Record]:
    size = settings.bulk_slides[-1]
    values = noise(max(slide, min(settings.rows // 4, 4096 * slide)))
    calls = {name: _slide(_opened(name, size), values, slide) for name in SUBJECTS}
    for name, timing in best_of_each(calls, 3, 4 * settings.point_seconds).items():
        yield _record(name, "rows", len(values) / timing.seconds, slide=slide, window=size)


def _resizing(settings: AlgorithmSettings) -> Iterator[Record]:
    """Insert, evict and query as often in both: only the size of one goes up and down, by a factor of 16."""
    size = settings.bulk_slides[-1]
    values = noise(15 * size)
    parts = [values[begin : begin + PART] for begin in range(0, len(values), PART)]
    window = _opened("flat_fat", size)

    def resize() -> None:
        for part in parts:
            window.insert_many(part)
            window.query()
        for part in parts:
            window.evict(len(part))

    calls = {"fixed": _slide(_opened("flat_fat", 4 * size), values, PART), "resizing": resize}
    for metric, timing in best_of_each(calls, 3, 4 * settings.point_seconds).items():
        yield _record("flat_fat", metric, len(values) / timing.seconds, window=size)


def _record(subject: str, metric: str, rate: float, **shape: int) -> Record:
    note = "insert_many, evict(n) and query of sash.swag.open, called from Python"
    where = parameters(**shape)
    return Record("bulk_updates", subject, metric, rate / 1e6, "million rows/s", "max", where, None, note)
