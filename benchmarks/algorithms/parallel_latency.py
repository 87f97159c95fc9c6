"""The time of some answers in a row, of PBA's stream with its helper and of other queues.

A call answers several rows, because a single call of PBA's stream from Python takes longer than its answer. The same
rows run several times; the slowest call counts by its best run, because interrupts of the machine hit any call.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.algorithms.timed_calls import bind_for, room_for_answers, to_inputs
from benchmarks.algorithms.workloads import AGGREGATES
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, load
from sash.algebra.monoid import Monoid, emit, lift
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm, Answer, evict, insert, query
from sash.swag.pba_stream import BoundaryStream

__all__ = ["parallel_latency_tasks"]

SUBJECTS = ("two_stacks", "sba", "pba")
STEP = 64  # rows of a call


@kernel
def _answer(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Fields, size: int, begin: int, end: int, out: Answer
) -> None:
    results, presences = out
    for row in range(begin, end):
        if row >= size:
            evict(algorithm, aggregate, state)
        insert(algorithm, aggregate, state, lift(aggregate, load(inputs, row)))
        emit(aggregate, results, presences, row, query(algorithm, aggregate, state))


def parallel_latency_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure Two-Stacks, SBA and PBA, with a cheap and with a costly function."""
    for aggregate in ("max", "moment_sketch"):
        for name in SUBJECTS:
            yield Task(f"{name} {aggregate}", partial(_latency, settings, name, aggregate))


def _latency(settings: AlgorithmSettings, name: str, aggregate: str) -> Iterator[Record]:
    algorithm, workload, window = ALGORITHMS[name], AGGREGATES[aggregate], settings.parallel_latency_window
    monoid, rows = bind_for(algorithm, workload), 4 * window
    inputs, (results, presences) = to_inputs(monoid, workload.columns(rows)), room_for_answers(monoid, rows)

    def of_queue() -> tuple[Callable[[int, int], Any], Callable[[], Any]]:
        state = algorithm.steps.start(monoid, window, (window,))
        out = results, presences
        return lambda begin, end: _answer(algorithm, monoid, state, inputs, window, begin, end, out), lambda: None

    def of_stream() -> tuple[Callable[[int, int], Any], Callable[[], Any]]:
        stream = BoundaryStream(monoid, window)

        def call(begin: int, end: int) -> None:
            out = tuple(each[begin:end] for each in results), tuple(each[begin:end] for each in presences)
            stream.insert(tuple(each[begin:end] for each in inputs), out)

        return call, stream.close

    runs = []
    for _ in range(settings.latency_runs):
        call, close = of_stream() if name == "pba" else of_queue()
        times = []
        for begin in range(0, rows - STEP + 1, STEP):
            before = time.perf_counter_ns()
            call(begin, begin + STEP)
            times.append(time.perf_counter_ns() - before)
        close()
        runs.append(times[2 * window // STEP :])
    each = np.array(runs)
    steady = each.min(axis=0)
    values = {
        "median": float(np.median(steady)),
        "steady max": float(steady.max()),
        "standard deviation": float(steady.std()),
    }
    note = f"of {STEP} answers, the best of {len(runs)} runs"
    for metric, value in values.items():
        shape = parameters(window=window)
        yield Record("parallel_latency", name, metric, value, "ns", aggregate, shape, None, note)
