"""The time of each answer: cycle counts around evict, insert and query, inside the kernel.

Interrupts of the machine hit any answer; slow steps of an algorithm always hit the same answers. So the same rows run
several times. The *steady* maximum is the slowest answer after the best run of each answer was taken. The maximum and
the 99.99 % quantile are of one run.

`operators` has the operators of the paper on DABA, and the answers of one run in the order of time.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.algorithms.throughput import columns_of
from benchmarks.algorithms.timed_calls import bind_for, to_inputs
from benchmarks.algorithms.workloads import AGGREGATES, Workload, suited
from benchmarks.baselines.okasaki import SUBJECTS
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import counts_cycles, cycles_per_second, now_in_cycles
from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length, load, store
from sash.algebra.monoid import Monoid, lift
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm, evict, insert, query

__all__ = ["latency_tasks", "operator_tasks"]

Cycles = np.ndarray[Any, Any]  # a line per run
MOST_COMBINES = 1024  # of an answer
QUANTILES = {"min": 0.0, "25 %": 25.0, "median": 50.0, "75 %": 75.0, "99.99 %": 99.99, "max": 100.0}


@kernel
def _time_answers(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Fields, size: int, cycles: Any, answer: Fields
) -> None:
    for row in range(length(inputs)):
        before = now_in_cycles()
        if row >= size:
            evict(algorithm, aggregate, state)
        insert(algorithm, aggregate, state, lift(aggregate, load(inputs, row)))
        store(answer, 0, query(algorithm, aggregate, state))
        cycles[row] = now_in_cycles() - before


@kernel
def _empty(aggregate: Monoid, cycles: Any) -> None:
    for row in range(len(cycles)):
        before = now_in_cycles()
        cycles[row] = now_in_cycles() - before


def latency_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure every algorithm that works row by row, and the clock alone."""
    if not counts_cycles():
        return
    yield Task("the clock alone", partial(_clock, settings))
    for algorithm in ALGORITHMS.values():
        if algorithm.has_step("insert") and algorithm.is_compiled and settings.takes(algorithm):
            yield Task(algorithm.name, partial(_latency, settings, algorithm))


def _clock(settings: AlgorithmSettings) -> Iterator[Record]:
    algorithm = ALGORITHMS["recalculate"]
    runs = np.ones((settings.latency_runs, settings.latency_rows), np.int64)
    for cycles in runs:
        _empty(bind_for(algorithm, suited(algorithm)), cycles)
    step = np.diff(np.unique(runs[-1])).min(initial=1) / cycles_per_second() * 1e9
    note = f"the time of two readings of the counter, which moves in steps of {step:.1f} ns"
    yield from _distribution("latency", "clock alone", "", settings.latency_windows[0], runs, note)


def _latency(settings: AlgorithmSettings, algorithm: Algorithm) -> Iterator[Record]:
    workload = suited(algorithm)
    costs = (algorithm.facts.insert, algorithm.facts.evict, algorithm.facts.query)
    for window in settings.latency_windows:
        if sum(cost.average.at(window) for cost in costs) > MOST_COMBINES:
            note = "left out: every answer folds the whole window"
            yield Record(
                "latency", algorithm.name, "median", None, "ns", workload.name, parameters(window=window), None, note
            )
            continue
        runs = _cycles(algorithm, workload, window, settings.latency_rows, settings.latency_runs)
        yield from _distribution("latency", algorithm.name, workload.name, window, runs, "")


def _cycles(algorithm: Algorithm, workload: Workload, window: int, rows: int, count: int) -> Cycles:
    """Return the cycles of each answer of full windows, for each of several runs over the same rows."""
    monoid = bind_for(algorithm, workload)
    answer = monoid.allocate(1)
    filling = 2 * window  # touches every page
    inputs = to_inputs(monoid, columns_of(workload, rows + filling))
    runs = np.ones((count, rows + filling), np.int64)
    for cycles in runs:
        state = algorithm.steps.start(monoid, window, (window,))
        _time_answers(algorithm, monoid, state, inputs, window, cycles, answer)
    return runs[:, filling:]


def _distribution(
    experiment: str, subject: str, aggregate: str, window: int, runs: Cycles, note: str
) -> Iterator[Record]:
    ns = runs[1 if len(runs) > 1 else 0] / cycles_per_second() * 1e9  # the first run also warms the caches
    steady = runs.min(axis=0).max() / cycles_per_second() * 1e9
    values = {name: float(np.percentile(ns, each)) for name, each in QUANTILES.items()}
    values |= {"mean": float(ns.mean()), "steady max": float(steady), "standard deviation": float(ns.std())}
    for metric, value in values.items():
        yield Record(experiment, subject, metric, value, "ns", aggregate, parameters(window=window), None, note)


# --- the operators of the paper on DABA ------------------------------------------------------------

QUEUES = ("two_stacks", "foa", "ioa", "daba")
IN_TIME = ("sum", "geometric_mean", "bloom_filter")  # cheap, medium and expensive
PARTS = 128  # of a run


def operator_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure the paper's queues with its operators, over one window."""
    if counts_cycles():
        for name in settings.operators:
            for queue in QUEUES:
                yield Task(f"{queue} {name}", partial(_operator, settings, SUBJECTS[queue], AGGREGATES[name]))


def _operator(settings: AlgorithmSettings, algorithm: Algorithm, workload: Workload) -> Iterator[Record]:
    window = settings.operator_window
    rows = min(settings.latency_rows, 4 * workload.most_rows)
    runs = _cycles(algorithm, workload, window, rows, min(3, settings.latency_runs))
    yield from _distribution("operators", algorithm.name, workload.name, window, runs, f"{rows} answers")
    if workload.name in IN_TIME:
        ns = np.array_split(runs[-1] / cycles_per_second() * 1e9, PARTS)
        for place, part in enumerate(ns):
            shape = parameters(window=window, answer=(place + 1) * rows // PARTS)
            for metric, value in (("median of a part", np.median(part)), ("slowest of a part", part.max())):
                yield Record("operators", algorithm.name, metric, float(value), "ns", workload.name, shape)
