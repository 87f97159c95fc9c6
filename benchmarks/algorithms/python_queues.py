"""Queues as plain Python, so that FOA and IOA, which need a lazy list, and other queues run in one language.

The time of an answer is that of evict, insert, query and the final function. The garbage collector runs.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import sash
from benchmarks.algorithms.throughput import break_even_record
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from sash.algebra.aggregate import Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid, lift
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm

__all__ = ["python_queue_tasks"]

NAIVE = "recalculate"
SUBJECTS = ("two_stacks", "daba", "foa", "ioa", "flat_fat")
TEMPLATES: dict[str, Callable[[], Template]] = {"sum": sash.sum, "count": sash.count, "collect": sash.collect}
NOTE = "plain Python"


def python_queue_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure each answer of a Sum, and find the window from which on a queue is faster than recalculation."""
    for name in SUBJECTS:
        for aggregate in TEMPLATES:
            yield Task(f"{name} {aggregate}", partial(_measured, settings, name, aggregate))


def _measured(settings: AlgorithmSettings, name: str, aggregate: str) -> Iterator[Record]:
    if aggregate == "sum":
        yield from _answers(settings, ALGORITHMS[name])
    yield from _break_even(settings, name, aggregate)


def _monoid(aggregate: str) -> Monoid:
    return replace(bind(TEMPLATES[aggregate](), (Column(Field("i8")),)), is_compiled=False)


def _times(algorithm: Algorithm, monoid: Monoid, rows: int, window: int) -> list[int]:
    """Return the nanoseconds of each answer of full windows."""
    steps, read, clock = algorithm.steps, monoid.outputs[0].read, time.perf_counter_ns
    state, times = steps.start(monoid, window, (window,)), []
    for row in range(window + rows):
        before = clock()
        if row >= window:
            steps.evict(monoid, state)
        steps.insert(monoid, state, lift(monoid, (row % 1000,)))
        read(steps.query(monoid, state))
        times.append(clock() - before)
    return times[window:]


def _answers(settings: AlgorithmSettings, algorithm: Algorithm) -> Iterator[Record]:
    monoid = _monoid("sum")
    for window in settings.python_windows:
        runs = np.array([_times(algorithm, monoid, settings.python_rows, window) for _ in range(3)])
        best = runs[runs.sum(axis=1).argmin()]
        values = {"mean": float(best.mean()), "standard deviation": float(best.std())}
        for metric, value in values.items():
            shape = parameters(window=window, rows=settings.python_rows)
            yield Record("python_queues", algorithm.name, metric, value, "ns", "sum", shape, None, NOTE)


def _break_even(settings: AlgorithmSettings, name: str, aggregate: str) -> Iterator[Record]:
    monoid, since = _monoid(aggregate), None
    rows = settings.python_rows // 16

    def seconds(each: str, window: int) -> float:
        return min(float(np.median(_times(ALGORITHMS[each], monoid, rows, window))) for _ in range(2))

    gains = []
    for window in reversed(settings.python_break_even):
        gains.append(seconds(NAIVE, window) / seconds(name, window))
        if gains[-1] <= 1:
            break
        since = window
    shape: Any = parameters(rows=rows)
    largest = settings.python_break_even[-1]
    yield break_even_record("python_queues", name, aggregate, since, largest, shape, f"{NOTE}, median of answers")
    gain_note = f"{NOTE}: time of recalculation over its own, {largest} rows"
    yield Record("python_queues", name, "gain", gains[0], "×", aggregate, shape, None, gain_note)
