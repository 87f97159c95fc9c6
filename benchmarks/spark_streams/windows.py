"""Windows and sessions of streams: by size over slide, by keys, and by rows of a micro-batch."""

from collections.abc import Iterator
from functools import partial

from benchmarks.records import Record
from benchmarks.settings import StreamSettings
from benchmarks.spark_streams.files import Files
from benchmarks.spark_streams.measurement import measure, records_of
from benchmarks.spark_streams.session import LOCAL
from benchmarks.spark_streams.subjects import SESSIONS, WINDOWS, Point, both
from benchmarks.spark_tables.measurement import left_out
from benchmarks.spark_tables.subjects import NATIVE, SASH
from benchmarks.suite import Task

__all__ = ["growth_tasks", "key_tasks", "session_tasks", "slide_tasks"]


def _files(settings: StreamSettings, keys: int) -> Files:
    return Files(settings.rows, keys, settings.files, settings.minutes)


def slide_tasks(settings: StreamSettings) -> Iterator[Task]:
    """Vary the size of windows with a fixed slide; native gets fewer rows for the longest windows."""
    files = _files(settings, settings.slide_keys)
    for slides in settings.slides:
        yield Task(f"{slides} slides", partial(_slide, settings, both(WINDOWS, slides, files)))
    for slides, rows in settings.far:
        yield Task(f"{slides} slides, {rows} rows", partial(_slide, settings, both(WINDOWS, slides, files.part(rows))))
    for slides in settings.lone_slides:
        yield Task(f"{slides} slides, sash", partial(_slide, settings, [Point(SASH, WINDOWS, slides, files)]))


def _slide(settings: StreamSettings, points: list[Point]) -> Iterator[Record]:
    slides, files = points[0].width, points[0].files
    shape = {"slides": slides, "rows": files.rows, "keys": files.keys}
    yield from records_of("slide", measure(LOCAL, points, settings), shape)
    if len(points) == 1:
        why = f"Spark keeps each of {files.rows} rows in {slides} windows; see {dict(settings.far)[slides]} rows"
        yield left_out("slide", NATIVE, points[0].aggregate, why, shape)


def key_tasks(settings: StreamSettings) -> Iterator[Task]:
    """Vary the number of keys of the same rows."""
    for keys in settings.keys:
        for slides in settings.key_slides:
            yield Task(f"{keys} keys, {slides} slides", partial(_keys, settings, keys, slides))


def _keys(settings: StreamSettings, keys: int, slides: int) -> Iterator[Record]:
    runs = measure(LOCAL, both(WINDOWS, slides, _files(settings, keys)), settings)
    yield from records_of("keys", runs, {"keys": keys, "slides": slides, "rows": settings.rows})


def session_tasks(settings: StreamSettings) -> Iterator[Task]:
    """Measure sessions of a few rows, several for each key."""
    yield Task(f"a gap of {settings.session_gap} s", partial(_sessions, settings))


def _sessions(settings: StreamSettings) -> Iterator[Record]:
    files = _files(settings, settings.session_keys)
    runs = measure(LOCAL, both(SESSIONS, settings.session_gap, files), settings)
    shape = {"gap": settings.session_gap, "rows": files.rows, "keys": files.keys}
    yield from records_of("sessions", runs, shape)


def growth_tasks(settings: StreamSettings) -> Iterator[Task]:
    """Vary the rows of a micro-batch, with the same keys and the same time."""
    for slides in settings.growth_slides:
        for rows in settings.growth_rows:
            yield Task(f"{rows} rows, {slides} slides", partial(_growth, settings, rows, slides))


def _growth(settings: StreamSettings, rows: int, slides: int) -> Iterator[Record]:
    files = Files(rows * settings.files, settings.growth_keys, settings.files, settings.minutes)
    runs = measure(LOCAL, [Point(SASH, WINDOWS, slides, files)], settings)
    yield from records_of("growth", runs, {"batch_rows": rows, "slides": slides, "keys": files.keys})
