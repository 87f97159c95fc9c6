"""Windows of time: by size over slide, by rows per slice, by keys."""

from collections.abc import Iterator
from functools import partial

from benchmarks.records import Record
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.measurement import contest, left_out, records_of
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.session import HERE
from benchmarks.spark_tables.subjects import JVM, NATIVE, PACKED, SASH, WINDOWS, Point
from benchmarks.suite import Task

__all__ = ["AGGREGATE", "density_tasks", "key_tasks", "slide_rows", "slide_tasks"]

AGGREGATE = "max and count"
SLIDES = 10  # of a window, where something else varies


def slide_rows(settings: TableSettings) -> Rows:
    """The rows of `slide`."""
    return Rows(settings.slide_rows, settings.slide_keys, settings.slide_slices)


def slide_tasks(settings: TableSettings) -> Iterator[Task]:
    """The slide stays, the window grows: as many results, from more and more slides each."""
    for slides in settings.slides:
        yield Task(f"{slides} slides", partial(_slide, settings, slides))


def _slide(settings: TableSettings, slides: int) -> Iterator[Record]:
    rows = slide_rows(settings)
    asked = [SASH] if slides > settings.native_slides else [NATIVE, SASH]
    runs = contest(HERE, [Point(each, WINDOWS, slides, rows) for each in asked], settings)
    shape = {"slides": slides, "rows": rows.rows, "keys": rows.keys}
    yield from records_of("slide", AGGREGATE, runs.items(), NATIVE, shape)
    if NATIVE not in asked:
        why = f"Spark plans {slides} copies of each row, hopeless beyond {settings.native_slides}"
        yield left_out("slide", NATIVE, AGGREGATE, why, shape)


def density_tasks(settings: TableSettings) -> Iterator[Task]:
    """The same rows in fewer and fewer slices, by each way to slice."""
    for density in settings.densities:
        yield Task(f"{density} rows per slice", partial(_density, settings, density))


def _density(settings: TableSettings, density: int) -> Iterator[Record]:
    seconds = max(1, settings.slide_rows // settings.slide_keys // density)
    rows = Rows(settings.slide_rows, settings.slide_keys, seconds)
    points = [Point(each, WINDOWS, SLIDES, rows) for each in (NATIVE, SASH, JVM, PACKED)]
    shape = {"rows_per_slice": density, "rows": rows.rows, "keys": rows.keys, "slides": SLIDES}
    yield from records_of("density", AGGREGATE, contest(HERE, points, settings).items(), NATIVE, shape)


def key_tasks(settings: TableSettings) -> Iterator[Task]:
    """The same rows of more and more keys; a slice has a row of each key, or more."""
    for keys in settings.keys:
        yield Task(f"{keys} keys", partial(_keys, settings, keys))


def _keys(settings: TableSettings, keys: int) -> Iterator[Record]:
    per_key = settings.key_rows // keys
    rows = Rows(settings.key_rows, keys, min(settings.key_slices, per_key))
    points = [Point(each, WINDOWS, SLIDES, rows) for each in (NATIVE, SASH)]
    shape = {"keys": keys, "rows": rows.rows, "rows_per_slice": per_key // rows.seconds, "slides": SLIDES}
    yield from records_of("keys", AGGREGATE, contest(HERE, points, settings).items(), NATIVE, shape)
