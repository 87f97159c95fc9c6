"""How large a Python worker gets while one key has more and more rows: each point in a process of its own."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sash.bench.dataframes.alone import alone
from sash.bench.dataframes.measuring import records_of
from sash.bench.dataframes.rows import Rows
from sash.bench.dataframes.session import MASTER
from sash.bench.dataframes.settings import SparkSettings
from sash.bench.dataframes.subjects import FRAMES, PACKED, SASH, WINDOWS, Point
from sash.bench.dataframes.windows import AGGREGATE, SLIDES
from sash.bench.settings import Task
from sash.report import Record, Value

__all__ = ["memory_tasks"]

WINDOW = 1000
ASKED = ((SASH, FRAMES, WINDOW, "max"), (SASH, WINDOWS, SLIDES, AGGREGATE), (PACKED, WINDOWS, SLIDES, AGGREGATE))


def memory_tasks(settings: SparkSettings) -> Iterator[Task]:
    """Memory that a worker has once taken it seldom gives back: so a process for each point, which runs once."""
    for subject, question, width, aggregate in ASKED:
        for rows in settings.memory_rows:
            point = Point(subject, question, width, Rows(rows))
            yield Task(f"{subject} {question} of {rows} rows", partial(_memory, settings, point, aggregate))


def _memory(settings: SparkSettings, point: Point, aggregate: str) -> Iterator[Record]:
    run = alone(MASTER, [point], replace(settings, runs=1))[point]
    shape: dict[str, Value] = {"question": point.question, "rows": point.rows.rows}
    yield from records_of("memory", aggregate, [(point, run)], "", shape)
