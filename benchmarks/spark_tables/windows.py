"""Time windows: by size over slide, by rows per slice, and by keys."""

from collections.abc import Iterator
from functools import partial

from benchmarks.records import Record
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.measurement import left_out, measure, records_of
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.session import LOCAL
from benchmarks.spark_tables.subjects import JVM, NATIVE, PACKED, SASH, WINDOWS, Point
from benchmarks.suite import Task

__all__ = ["AGGREGATE", "density_tasks", "key_tasks", "slide_rows", "slide_tasks"]

AGGREGATE = "max and count"
SLIDES = 10  # of a window, where they do not vary


def slide_rows(settings: TableSettings) -> Rows:
    """Return the rows of the experiment slide."""
    return Rows(settings.slide_rows, settings.slide_keys, settings.slide_slices)


def slide_tasks(settings: TableSettings) -> Iterator[Task]:
    """Vary the size of windows with a fixed slide: each result needs more slides."""
    for slides in settings.slides:
        yield Task(f"{slides} slides", partial(_slide, settings, slides))


def _slide(settings: TableSettings, slides: int) -> Iterator[Record]:
    rows = slide_rows(settings)
    subjects = [SASH] if slides > settings.native_slides else [NATIVE, SASH]
    runs = measure(LOCAL, [Point(each, WINDOWS, slides, rows) for each in subjects], settings)
    shape = {"slides": slides, "rows": rows.rows, "keys": rows.keys}
    yield from records_of("slide", AGGREGATE, runs.items(), NATIVE, shape)
    if NATIVE not in subjects:
        why = f"Spark plans {slides} copies of each row; too slow above {settings.native_slides}"
        yield left_out("slide", NATIVE, AGGREGATE, why, shape)


def density_tasks(settings: TableSettings) -> Iterator[Task]:
    """Divide the same rows into fewer and fewer slices, on every path."""
    for density in settings.densities:
        yield Task(f"{density} rows per slice", partial(_density, settings, density))


def _density(settings: TableSettings, density: int) -> Iterator[Record]:
    seconds = max(1, settings.slide_rows // settings.slide_keys // density)
    rows = Rows(settings.slide_rows, settings.slide_keys, seconds)
    points = [Point(each, WINDOWS, SLIDES, rows) for each in (NATIVE, SASH, JVM, PACKED)]
    shape = {"rows_per_slice": density, "rows": rows.rows, "keys": rows.keys, "slides": SLIDES}
    yield from records_of("density", AGGREGATE, measure(LOCAL, points, settings).items(), NATIVE, shape)


def key_tasks(settings: TableSettings) -> Iterator[Task]:
    """Vary the number of keys of the same rows; a slice has at least one row of each key."""
    for keys in settings.keys:
        yield Task(f"{keys} keys", partial(_keys, settings, keys))


def _keys(settings: TableSettings, keys: int) -> Iterator[Record]:
    per_key = settings.key_rows // keys
    rows = Rows(settings.key_rows, keys, min(settings.key_slices, per_key))
    points = [Point(each, WINDOWS, SLIDES, rows) for each in (NATIVE, SASH)]
    shape = {"keys": keys, "rows": rows.rows, "rows_per_slice": per_key // rows.seconds, "slides": SLIDES}
    yield from records_of("keys", AGGREGATE, measure(LOCAL, points, settings).items(), NATIVE, shape)
