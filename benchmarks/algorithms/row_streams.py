"""Algorithms as streams: rows arrive one by one, and nothing is known of those to come."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.algorithms.timed_calls import bind_for, room_for_answers, to_inputs
from benchmarks.algorithms.workloads import AGGREGATES, Workload
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from sash.swag import ALGORITHMS, loops
from sash.swag.contract import Algorithm
from sash.swag.pba_stream import BoundaryStream

__all__ = ["parallel_stream_tasks", "row_by_row_tasks"]

ROUNDS = 5
BATCH = 1 << 16  # rows that arrive at a time


@dataclass(frozen=True)
class Run:
    """One run: the wall time, and the processor time of the calling thread and of all others."""

    wall: float
    caller: float
    others: float

    @property
    def cores_busy(self) -> float:
        """Return how many cores were busy."""
        return (self.caller + self.others) / self.wall

    @property
    def longest(self) -> float:
        """Return the processor time of the busiest thread: the wall time, if every thread has a core and none waits."""
        return max(self.caller, self.others)


def _timed(call: Callable[[], Any]) -> Run:
    wall, every_thread, caller = time.perf_counter(), time.process_time(), time.thread_time()
    call()
    wall, caller = time.perf_counter() - wall, time.thread_time() - caller
    return Run(wall, caller, max(0.0, time.process_time() - every_thread - caller))


def _runs(calls: dict[str, Callable[[], Any]]) -> dict[str, list[Run]]:
    """Run the calls in turns, so that a busy machine slows all of them alike; the first round compiles."""
    for call in calls.values():
        call()
    runs: dict[str, list[Run]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            runs[name].append(_timed(call))
    return runs


def _row_by_row(algorithm: Algorithm, workload: Workload, rows: int, window: int) -> Callable[[], Any]:
    """Return a call that evicts, inserts and queries for each row."""
    monoid = bind_for(algorithm, workload)
    inputs, room = to_inputs(monoid, workload.columns(rows)), room_for_answers(monoid, rows)

    def call() -> None:
        state = algorithm.steps.start(monoid, window, (window,))
        loops._rows(algorithm, monoid, state, inputs, window, 0, rows, room)

    return call


def _by_boundaries(workload: Workload, rows: int, window: int, threads: int) -> Callable[[], Any]:
    """Return a call that inserts batches into PBA's stream."""
    monoid = bind_for(ALGORITHMS["pba"], workload)
    inputs, (results, presences) = to_inputs(monoid, workload.columns(rows)), room_for_answers(monoid, rows)

    def call() -> None:
        stream = BoundaryStream(monoid, window, threads=threads)
        for begin in range(0, rows, BATCH):
            part = slice(begin, min(rows, begin + BATCH))
            out = tuple(each[part] for each in results), tuple(each[part] for each in presences)
            stream.insert(tuple(each[part] for each in inputs), out)
        stream.close()

    return call


# --- a helper thread ---------------------------------------------------------------------------------


def parallel_stream_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Compare SBA row by row with PBA as a stream, on one thread and with a helper."""
    yield Task("streams by sba and pba, moment_sketch", partial(_parallel_stream, settings))


def _parallel_stream(settings: AlgorithmSettings) -> Iterator[Record]:
    workload, window = AGGREGATES["moment_sketch"], settings.parallel_window
    rows = window * settings.parallel_chunks
    calls = {
        "sba": _row_by_row(ALGORITHMS["sba"], workload, rows, window),
        "pba, one thread": _by_boundaries(workload, rows, window, threads=1),
        "pba": _by_boundaries(workload, rows, window, threads=2),
    }
    shape = parameters(window=window, rows=rows)
    for subject, runs in _runs(calls).items():
        best = min(runs, key=lambda run: run.wall)
        busy = f"best of {ROUNDS}, {best.cores_busy:.2f} cores busy, load {os.getloadavg()[0]:.1f}"
        yield _rate("parallel_stream", subject, "rows", rows / best.wall, workload.name, shape, busy)
        yield Record("parallel_stream", subject, "cores busy", best.cores_busy, "cores", workload.name, shape)
        longest = rows / min(run.longest for run in runs)
        yield _rate("parallel_stream", subject, "rows, busiest thread", longest, workload.name, shape)


# --- row by row --------------------------------------------------------------------------------------


def row_by_row_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Compare SBA with other queues where each row is one evict, one insert and one query."""
    for window in settings.peer_windows:
        yield Task(f"max, window {window}", partial(_queues, settings, window))


def _queues(settings: AlgorithmSettings, window: int) -> Iterator[Record]:
    workload, rows = AGGREGATES["max"], settings.rows
    names = ("sba", "two_stacks", "two_stacks_lite", "daba_lite")
    runs = _runs({name: _row_by_row(ALGORITHMS[name], workload, rows, window) for name in names})
    for subject in names:
        best = min(run.caller for run in runs[subject])
        shape = parameters(window=window, rows=rows)
        yield _rate("row_by_row", subject, "rows", rows / best, workload.name, shape, "processor time")


def _rate(
    experiment: str, subject: str, metric: str, rate: float, aggregate: str, shape: Any, note: str = ""
) -> Record:
    return Record(experiment, subject, metric, rate / 1e6, "million rows/s", aggregate, shape, None, note)
