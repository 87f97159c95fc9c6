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
        yield Task(f"{name} sum", partial(_answers, settings, ALGORITHMS[name]))
        for aggregate in TEMPLATES:
            yield Task(f"break-even of {name}, {aggregate}", partial(_break_even, settings, name, aggregate))


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

    for window in reversed(settings.python_break_even):
        if seconds(name, window) >= seconds(NAIVE, window):
            break
        since = window
    largest = settings.python_break_even[-1]
    note = f"{NOTE}, median of answers" if since is not None else f"{NOTE}: not up to {largest}"
    value = float(since) if since is not None else float("inf")
    shape: Any = parameters(rows=rows, largest=largest)
    yield Record("python_queues", name, "break-even window", value, "rows", aggregate, shape, None, note)
