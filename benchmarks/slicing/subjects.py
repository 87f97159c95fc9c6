"""Who takes part: `sash.Stream`, and every technique beside it, all asked the same of the same rows."""

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
from benchmarks.slicing.workloads import FUNCTIONS, Array, Function, Sensor, made
from benchmarks.timer import copy_seconds
from sash.algebra.aggregate import bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid

__all__ = [
    "Asked",
    "Pushed",
    "Speed",
    "copy_rate",
    "monoid_of",
    "pushes_of",
    "queries_of",
    "slower",
    "speed",
    "subjects",
]

FIRST_ROWS, GROWTH = 1000, 10  # a subject gets ten times the rows as long as that fits its time
RUNS = 10  # of them the best, as far as they fit too
_TYPES = {"x": Column(Field("f8")), "n": Column(Field("i8"))}


@dataclass(frozen=True)
class Asked:
    """What is asked of a stream: windows, one aggregate over each, and what is known of the order of rows."""

    windows: tuple[Window, ...]
    function: Function = FUNCTIONS["sum"]
    in_order: bool = True
    delay: int = 0  # of the watermark
    as_float: bool = False  # positions are floats, which only sash takes


@dataclass(frozen=True)
class Pushed:
    """Rows that come together, as a table and as columns."""

    table: Any
    positions: Array
    columns: dict[str, Array]
    watermark: int


Push = Callable[[Pushed], Any]


def pushes_of(sensor: Sensor, asked: Asked, rows: int, push_rows: int) -> list[Pushed]:
    """The first rows of a sensor, in pushes."""
    positions, values = _made(sensor)
    newest = np.maximum.accumulate(positions[:rows])
    cut = []
    for start in range(0, rows, push_rows):
        end = min(rows, start + push_rows)
        columns = {"x": values[start:end], "n": np.arange(start, end)}
        on = positions[start:end].astype(np.float64) if asked.as_float else positions[start:end]
        watermark = int(newest[end - 1]) - asked.delay
        cut.append(Pushed(pa.table({"t": on, **columns}), positions[start:end], columns, watermark))
    return cut


@lru_cache(maxsize=4)
def _made(sensor: Sensor) -> tuple[Array, Array]:
    return made(sensor)


# --- sash ------------------------------------------------------------------------------------------


def queries_of(asked: Asked) -> list[sash.Query]:
    """A query for each window."""
    return [
        sash.query(f"w{place}", _window(each), answer=asked.function.template())
        for place, each in enumerate(asked.windows)
    ]


def _window(window: Window) -> Any:
    if window.kind is Kind.SESSION:
        return sash.session(gap=window.size)
    if window.kind is Kind.COUNT:
        return sash.sliding(rows=window.size, every=window.every)
    return sash.sliding(window.size, every=window.every, offset=window.offset)


def _sash(asked: Asked, first: Pushed) -> tuple[Push, Callable[[], Any]]:
    if asked.in_order:
        stream = sash.Stream(queries_of(asked), on="t", in_order=True)
    else:
        stream = sash.Stream(queries_of(asked), on="t", watermark=asked.delay)
    stream.push(first.table.slice(0, 0))  # the types are told, so the plan is made
    return (lambda pushed: stream.push(pushed.table)), stream.finish


# --- techniques ------------------------------------------------------------------------------------


def monoid_of(function: Function) -> Monoid:
    """The aggregate as techniques take it."""
    types = tuple(_TYPES[name] for name in function.columns)
    return bind(function.template(), types, function.invertible)


def _technique(technique: Technique, asked: Asked, first: Pushed) -> tuple[Push, Callable[[], Any]]:
    operator = technique.start(monoid_of(asked.function), asked.windows)
    names = asked.function.columns

    def push(pushed: Pushed) -> Any:
        return operator.push(pushed.positions, tuple(pushed.columns[name] for name in names), pushed.watermark)

    def finish() -> Any:
        none = tuple(first.columns[name][:0] for name in names)
        return operator.push(first.positions[:0], none, FOREVER // 2)

    return push, finish


def subjects(asked: Asked, settings: SlicingSettings, beside: tuple[str, ...] | None = None) -> Iterator[str]:
    """Who can answer what is asked: sash, and of the techniques (some, or all) those that take part."""
    yield "sash"
    if asked.as_float:
        return
    for name, technique in TECHNIQUES.items():
        chosen = beside is None or name in beside
        if chosen and (settings.techniques is None or name in settings.techniques):
            able = all(technique.answers(window) for window in asked.windows)
            if able and technique.admits(monoid_of(asked.function)):
                yield name


# --- rows per second -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Speed:
    """Rows per second, and over how many rows."""

    rate: float
    rows: int
    push_rows: int

    def __str__(self) -> str:
        return f"{self.rows} rows in pushes of {self.push_rows}"


def speed(subject: str, asked: Asked, sensor: Sensor, settings: SlicingSettings) -> Speed:
    """How fast a subject takes a stream: of as many rows as fit into its time, the best of some runs."""

    def begin(first: Pushed) -> tuple[Push, Callable[[], Any]]:
        return _sash(asked, first) if subject == "sash" else _technique(TECHNIQUES[subject], asked, first)

    def run(pushes: list[Pushed]) -> float:
        push, _ = begin(pushes[0])
        start = time.perf_counter()
        for each in pushes:
            push(each)
        return time.perf_counter() - start

    rows = min(FIRST_ROWS, sensor.rows)
    pushes = pushes_of(sensor, asked, rows, settings.push_rows)
    push, finish = begin(pushes[0])
    push(pushes[0])
    finish()  # every kernel has been compiled
    run(pushes)  # and is known to a stream that is not the first
    best = run(pushes)
    while rows < sensor.rows and best * GROWTH < settings.point_seconds:
        rows = min(GROWTH * rows, sensor.rows)
        pushes = pushes_of(sensor, asked, rows, settings.push_rows)
        best = run(pushes)
    deadline = time.perf_counter() + settings.point_seconds - best
    for _ in range(RUNS - 1):
        if time.perf_counter() + best > deadline:
            break
        best = min(best, run(pushes))
    return Speed(rows / best if best else math.inf, rows, min(rows, settings.push_rows))


def slower(sensor: Sensor, function: Function) -> Sensor:
    """A hundred rows per second where a partial is a Python object that grows with its rows."""
    return replace(sensor, rate=100, rows=min(sensor.rows, 30_000)) if function.holistic else sensor


def copy_rate(settings: SlicingSettings) -> float:
    """Rows per second that `np.copyto` copies of a column of float64."""
    return settings.copy_rows / copy_seconds(8 * settings.copy_rows)
