"""The memory of a Python worker while one key has more and more rows."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from benchmarks.records import Record, Value
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.measurement import records_of
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.separate_process import run_separately
from benchmarks.spark_tables.session import MASTER
from benchmarks.spark_tables.subjects import FRAMES, PACKED, SASH, WINDOWS, Point
from benchmarks.spark_tables.windows import AGGREGATE, SLIDES
from benchmarks.suite import Task

__all__ = ["memory_tasks"]

WINDOW = 1000
ASKED = ((SASH, FRAMES, WINDOW, "max"), (SASH, WINDOWS, SLIDES, AGGREGATE), (PACKED, WINDOWS, SLIDES, AGGREGATE))


def memory_tasks(settings: TableSettings) -> Iterator[Task]:
    """Run each point once in its own process, because workers seldom return memory."""
    for subject, question, width, aggregate in ASKED:
        for rows in settings.memory_rows:
            point = Point(subject, question, width, Rows(rows))
            yield Task(f"{subject} {question} of {rows} rows", partial(_memory, settings, point, aggregate))


def _memory(settings: TableSettings, point: Point, aggregate: str) -> Iterator[Record]:
    run = run_separately(MASTER, [point], replace(settings, runs=1))[point]
    shape: dict[str, Value] = {"question": point.question, "rows": point.rows.rows}
    yield from records_of("memory", aggregate, [(point, run)], "", shape)
