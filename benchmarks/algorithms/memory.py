"""The memory of a window: the bytes of an algorithm's state, and what its facts say."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.algorithms.timed_calls import bind_for
from benchmarks.algorithms.workloads import AGGREGATES, Workload, suited
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm

__all__ = ["memory_tasks"]


def memory_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure every algorithm of the catalog."""
    for algorithm in ALGORITHMS.values():
        yield Task(algorithm.name, partial(_memory, settings, algorithm, suited(algorithm)))
    yield Task("recalculate sum", partial(_memory, settings, ALGORITHMS["recalculate"], AGGREGATES["sum"]))


def _memory(settings: AlgorithmSettings, algorithm: Algorithm, workload: Workload) -> Iterator[Record]:
    monoid = bind_for(algorithm, workload)
    width = sum(field.dtype.itemsize * field.width for field in monoid.fields)
    for window in settings.windows:
        value: float | None = None
        note = f"facts: {algorithm.facts.space} partials"
        if not algorithm.is_compiled:
            note += "; Python objects have no fixed size"
        elif algorithm.has_step("start"):
            value = float(_bytes(algorithm.steps.start(monoid, window, (window,))))
        elif algorithm.has_step("scratch"):
            value = float(_bytes(algorithm.steps.scratch(monoid, window)))
        else:
            note += "; it works on the whole array"
        shape = parameters(window=window)
        yield Record("memory", algorithm.name, "state", value, "bytes", workload.name, shape, None, note)
        if not any(field.is_object for field in monoid.fields):
            kept = algorithm.facts.space.partials_for(window) * width
            yield Record("memory", algorithm.name, "partials by the facts", kept, "bytes", workload.name, shape)


def _bytes(state: Any) -> int:
    if isinstance(state, tuple):
        return sum(_bytes(part) for part in state)
    return state.nbytes if isinstance(state, np.ndarray) else 0
