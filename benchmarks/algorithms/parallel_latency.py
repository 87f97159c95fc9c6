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
from sash.algebra.monoid import Monoid, emit, lift, of_partials
from sash.swag import ALGORITHMS, loops
from sash.swag.contract import Algorithm, Answer, evict, insert, query
from sash.swag.pba_stream import BoundaryStream

__all__ = ["parallel_latency_tasks"]

SUBJECTS = ("two_stacks", "slick_deque", "sba", "pba")
STEP = 64  # answers of a call
SLICE = 100  # rows of a slice of the moment sketch
QUANTILES = {"min": 0.0, "25 %": 25.0, "median": 50.0, "75 %": 75.0}


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
    """Measure the queues of the paper's tables: 2, with max over rows, and 3, with a moment sketch over slices."""
    for aggregate in ("max", "moment_sketch"):
        for name in SUBJECTS:
            if AGGREGATES[aggregate].admitted_by(ALGORITHMS[name]):
                yield Task(f"{name} {aggregate}", partial(_latencies, settings, name, aggregate))


def _latencies(settings: AlgorithmSettings, name: str, aggregate: str) -> Iterator[Record]:
    over_slices = aggregate == "moment_sketch"
    for window in settings.table_slices if over_slices else settings.table_rows:
        yield from _latency(settings, name, aggregate, window, SLICE if over_slices else 1)


def _latency(settings: AlgorithmSettings, name: str, aggregate: str, window: int, slice_rows: int) -> Iterator[Record]:
    """Slices are folded before; the time is that of the answers."""
    algorithm, workload = ALGORITHMS[name], AGGREGATES[aggregate]
    rows = window * settings.table_windows
    bound = bind_for(algorithm, workload)
    edges = np.arange(0, rows * slice_rows + 1, slice_rows)
    folded = loops.fold_fragments(bound, to_inputs(bound, workload.columns(rows * slice_rows)), edges)
    inputs, monoid = folded, of_partials(bound)
    results, presences = room_for_answers(monoid, rows)

    def of_queue() -> tuple[Callable[[int, int], Any], Callable[[], Any]]:
        state = algorithm.steps.start(monoid, window, (window,))
        out = results, presences
        return lambda begin, end: _answer(algorithm, monoid, state, inputs, window, begin, end, out), lambda: None

    def of_stream() -> tuple[Callable[[int, int], Any], Callable[[], Any]]:
        stream = BoundaryStream(monoid, window, handover=1)

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
    values = {metric: float(np.percentile(steady, each)) for metric, each in QUANTILES.items()}
    values |= {"mean": float(steady.mean()), "steady max": float(steady.max())}
    values |= {"standard deviation": float(steady.std())}
    note = f"of {STEP} answers, the best of {len(runs)} runs"
    for metric, value in values.items():
        shape = parameters(window=window, slice_rows=slice_rows)
        yield Record("parallel_latency", name, metric, value, "ns", aggregate, shape, None, note)
