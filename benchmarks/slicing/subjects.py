"""The subjects of the suite: `sash.Stream` and every technique, with the same windows over the same rows."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from benchmarks.baselines.contract import TECHNIQUES, Kind, Technique, Window
from benchmarks.baselines.windows import FOREVER
from benchmarks.settings import SlicingSettings
from benchmarks.slicing.workloads import FUNCTIONS, Array, Function, Sensor, rows_of
from benchmarks.timer import copy_seconds
from sash.algebra.aggregate import bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid

__all__ = [
    "Batch",
    "Question",
    "Speed",
    "batches_of",
    "copy_rate",
    "monoid_of",
    "queries_of",
    "slow_rate",
    "speed",
    "subjects",
]

FIRST_ROWS, GROWTH = 1000, 10  # a subject gets ten times the rows while that fits into its time
RUNS = 10  # at most; the best of them counts
_TYPES = {"x": Column(Field("f8")), "n": Column(Field("i8"))}


@dataclass(frozen=True)
class Question:
    """The windows of a stream, their aggregate, and the order of the rows."""

    windows: tuple[Window, ...]
    function: Function = FUNCTIONS["sum"]
    in_order: bool = True
    delay: int = 0  # of the watermark
    as_float: bool = False  # positions are floats, which only sash accepts


@dataclass(frozen=True)
class Batch:
    """The rows of one push, as a table and as columns."""

    table: Any
    positions: Array
    columns: dict[str, Array]
    watermark: int


Push = Callable[[Batch], Any]


def batches_of(sensor: Sensor, question: Question, rows: int, push_rows: int) -> list[Batch]:
    """Return the first rows of a sensor, in batches."""
    positions, values = _cached_rows(sensor)
    newest = np.maximum.accumulate(positions[:rows])
    cut = []
    for start in range(0, rows, push_rows):
        end = min(rows, start + push_rows)
        columns = {"x": values[start:end], "n": np.arange(start, end)}
        on = positions[start:end].astype(np.float64) if question.as_float else positions[start:end]
        watermark = int(newest[end - 1]) - question.delay
        cut.append(Batch(pa.table({"t": on, **columns}), positions[start:end], columns, watermark))
    return cut


@lru_cache(maxsize=4)
def _cached_rows(sensor: Sensor) -> tuple[Array, Array]:
    return rows_of(sensor)


# --- sash ------------------------------------------------------------------------------------------


def queries_of(question: Question) -> list[sash.Query]:
    """Return a query for each window."""
    return [
        sash.query(f"w{place}", _window(each), answer=question.function.template())
        for place, each in enumerate(question.windows)
    ]


def _window(window: Window) -> Any:
    if window.kind is Kind.SESSION:
        return sash.session(gap=window.size)
    if window.kind is Kind.COUNT:
        return sash.sliding(rows=window.size, every=window.every)
    return sash.sliding(window.size, every=window.every, offset=window.offset)


# sash.Stream with options: the store of slices, and slices by Pairs where those of Cutty would do.
SASH: dict[str, dict[str, Any]] = {
    "sash": {},
    "sash_pairs": {"in_order": False},
    "sash_lazy": {"store": "lazy"},
    "sash_eager": {"store": "eager"},
}


def _sash(
    question: Question, first: Batch, store: str = "auto", in_order: bool = True
) -> tuple[Push, Callable[[], Any]]:
    if question.in_order and in_order:
        stream = sash.Stream(queries_of(question), on="t", in_order=True, store=store)
    else:
        stream = sash.Stream(queries_of(question), on="t", watermark=question.delay, store=store)
    stream.push(first.table.slice(0, 0))  # an empty push with the types, so that the plan exists
    return (lambda batch: stream.push(batch.table)), stream.finish


# --- techniques ------------------------------------------------------------------------------------


def monoid_of(function: Function) -> Monoid:
    """Return the aggregate in the form that techniques take."""
    types = tuple(_TYPES[name] for name in function.columns)
    return bind(function.template(), types, function.invertible)


def _technique(technique: Technique, question: Question, first: Batch) -> tuple[Push, Callable[[], Any]]:
    operator = technique.start(monoid_of(question.function), question.windows)
    names = question.function.columns

    def push(batch: Batch) -> Any:
        return operator.push(batch.positions, tuple(batch.columns[name] for name in names), batch.watermark)

    def finish() -> Any:
        none = tuple(first.columns[name][:0] for name in names)
        return operator.push(first.positions[:0], none, FOREVER // 2)

    return push, finish


def subjects(
    question: Question, settings: SlicingSettings, beside: tuple[str, ...] | None = None, variants: tuple[str, ...] = ()
) -> Iterator[str]:
    """Name the subjects that can answer the question: sash, and techniques that take part; `beside` limits them."""
    yield "sash"
    yield from variants
    if question.as_float:
        return
    for name, technique in TECHNIQUES.items():
        chosen = beside is None or name in beside
        if chosen and (settings.techniques is None or name in settings.techniques):
            able = all(technique.answers(window) for window in question.windows)
            if able and technique.admits(monoid_of(question.function)):
                yield name


# --- rows per second -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Speed:
    """Rows per second, and the number of rows that were measured."""

    rate: float
    rows: int
    push_rows: int

    def __str__(self) -> str:
        return f"{self.rows} rows in pushes of {self.push_rows}"


def speed(subject: str, question: Question, sensor: Sensor, settings: SlicingSettings) -> Speed:
    """Measure a subject on as many rows as fit into its time; the best of several runs counts."""

    def begin(first: Batch) -> tuple[Push, Callable[[], Any]]:
        if subject in SASH:
            return _sash(question, first, **SASH[subject])
        return _technique(TECHNIQUES[subject], question, first)

    def run(pushes: list[Batch]) -> float:
        push, _ = begin(pushes[0])
        start = time.perf_counter()
        for batch in pushes:
            push(batch)
        return time.perf_counter() - start

    rows = min(FIRST_ROWS, sensor.rows)
    pushes = batches_of(sensor, question, rows, settings.push_rows)
    push, finish = begin(pushes[0])
    push(pushes[0])
    finish()  # compiles every kernel
    run(pushes)  # warm-up
    best = run(pushes)
    while rows < sensor.rows and best * GROWTH < settings.point_seconds:
        rows = min(GROWTH * rows, sensor.rows)
        pushes = batches_of(sensor, question, rows, settings.push_rows)
        best = run(pushes)
    deadline = time.perf_counter() + settings.point_seconds - best
    for _ in range(RUNS - 1):
        if time.perf_counter() + best > deadline:
            break
        best = min(best, run(pushes))
    return Speed(rows / best if best else math.inf, rows, min(rows, settings.push_rows))


def slow_rate(sensor: Sensor, function: Function) -> Sensor:
    """Reduce the rate to a hundred rows per second where a partial is a Python object that grows with its rows."""
    return replace(sensor, rate=100, rows=min(sensor.rows, 30_000)) if function.holistic else sensor


def copy_rate(settings: SlicingSettings) -> float:
    """Return the rows per second that `np.copyto` copies of a column of float64."""
    return settings.copy_rows / copy_seconds(8 * settings.copy_rows)
