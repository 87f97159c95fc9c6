"""Algorithms as streams: rows arrive one by one, and nothing is known of those to come."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.algorithms.timed_calls import bind_for, room_for_answers, to_inputs
from benchmarks.algorithms.workloads import AGGREGATES, Workload
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length, load
from sash.algebra.monoid import Monoid, combine, emit, identity, lift, of_partials
from sash.swag import ALGORITHMS, loops
from sash.swag.contract import Algorithm, Answer, evict, insert, query
from sash.swag.pba_stream import BoundaryStream

__all__ = ["parallel_stream_tasks", "row_by_row_tasks", "row_slide_tasks", "time_window_tasks"]

ROUNDS = 3
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


def _by_boundaries(workload: Workload, rows: int, window: int, threads: int, every: int = 1) -> Callable[[], Any]:
    """Return a call that inserts batches into PBA's stream."""
    monoid = bind_for(ALGORITHMS["pba"], workload)
    inputs, room = to_inputs(monoid, workload.columns(rows)), room_for_answers(monoid, rows)
    return lambda: _insert_batches(BoundaryStream(monoid, window, every, threads=threads), inputs, rows, room)


def _insert_batches(stream: BoundaryStream, inputs: Fields, rows: int, room: Answer) -> None:
    results, presences = room
    for begin in range(0, rows, BATCH):
        part = slice(begin, min(rows, begin + BATCH))
        out = tuple(each[part] for each in results), tuple(each[part] for each in presences)
        stream.insert(tuple(each[part] for each in inputs), out)
    stream.close()


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
    runs = _runs(calls)
    yield from _rates("parallel_stream", workload.name, rows, runs, {"window": window})
    for subject, own in runs.items():
        busy, shape = min(own, key=lambda run: run.wall).cores_busy, parameters(window=window, rows=rows)
        yield Record("parallel_stream", subject, "cores busy", busy, "cores", workload.name, shape)


# --- row by row --------------------------------------------------------------------------------------

QUEUES = ("sba", "two_stacks", "two_stacks_lite", "daba_lite", "slick_deque")
OF_PBA = ("sba", "two_stacks", "slick_deque")  # the rivals in the paper on PBA


def row_by_row_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Compare queues where each row is one evict, one insert and one query, and PBA as a stream with its helper."""
    for window in settings.row_windows:
        yield Task(f"max, window {window}", partial(_queues, settings, window))


def _queues(settings: AlgorithmSettings, window: int) -> Iterator[Record]:
    workload, rows = AGGREGATES["max"], max(settings.rows, 4 * window)
    calls = {name: _row_by_row(ALGORITHMS[name], workload, rows, window) for name in QUEUES}
    calls["pba"] = _by_boundaries(workload, rows, window, threads=2)
    yield from _rates("row_by_row", workload.name, rows, _runs(calls), {"window": window})


def row_slide_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Vary the slide: rows are folded into slices, and queues slide over slices."""
    for slide in settings.slides:
        yield Task(f"max, slide {slide}", partial(_slides, settings, slide))


@kernel
def _slices(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Fields, slices: int, slide: int, out: Answer
) -> None:
    results, presences = out
    for place in range(length(inputs) // slide):
        folded = identity(aggregate)
        for row in range(place * slide, (place + 1) * slide):
            folded = combine(aggregate, folded, lift(aggregate, load(inputs, row)))
        if place >= slices:
            evict(algorithm, aggregate, state)
        insert(algorithm, aggregate, state, folded)
        emit(aggregate, results, presences, place, query(algorithm, aggregate, state))


def _slides(settings: AlgorithmSettings, slide: int) -> Iterator[Record]:
    workload, window = AGGREGATES["max"], settings.slide_range // slide * slide
    rows = max(settings.rows, 4 * window)

    def of_queue(algorithm: Algorithm) -> Callable[[], Any]:
        monoid = bind_for(algorithm, workload)
        inputs, room = to_inputs(monoid, workload.columns(rows)), room_for_answers(monoid, rows)

        def call() -> None:
            state = algorithm.steps.start(monoid, window // slide, (window // slide,))
            _slices(algorithm, monoid, state, inputs, window // slide, slide, room)

        return call

    calls = {name: of_queue(ALGORITHMS[name]) for name in OF_PBA}
    calls["pba"] = _by_boundaries(workload, rows, window, threads=2, every=slide)
    yield from _rates("row_slides", workload.name, rows, _runs(calls), {"window": window, "slide": slide})


# --- windows of time ---------------------------------------------------------------------------------

SLICE_MS = 10
RATE = 1.0  # rows per 10 milliseconds on average
SEED = 6


def time_window_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Rows arrive at random and are folded into slices of time; vary the range with one slide, then the slide."""
    for minutes in settings.time_ranges:
        yield Task(f"max, {minutes} minutes", partial(_timed_slices, settings, minutes, SLICE_MS))
    for slide in settings.slides[1:]:
        yield Task(f"max, slide {slide}", partial(_timed_slices, settings, settings.time_ranges[-1], slide * SLICE_MS))


def _edges(rows: int, slide_ms: int) -> Any:
    """Return where the slices of rows begin that arrive at random; the last edge is the number of rows."""
    times = np.random.default_rng(SEED).exponential(SLICE_MS / RATE, rows).cumsum()
    return np.append(np.searchsorted(times, np.arange(0, int(times[-1]) + 1, slide_ms)), rows)


def _timed_slices(settings: AlgorithmSettings, minutes: int, slide_ms: int) -> Iterator[Record]:
    workload, slices = AGGREGATES["max"], minutes * 60_000 // slide_ms
    rows = max(settings.rows, int(2 * minutes * 60_000 / SLICE_MS * RATE))
    edges = _edges(rows, slide_ms)

    def made(name: str) -> Callable[[], Any]:
        monoid = bind_for(ALGORITHMS[name], workload)
        inputs, room = to_inputs(monoid, workload.columns(rows)), room_for_answers(monoid, len(edges) - 1)
        plain = of_partials(monoid)

        def call() -> None:
            partials = loops.fold_fragments(monoid, inputs, edges)
            if name == "pba":
                _insert_batches(BoundaryStream(plain, slices), partials, len(edges) - 1, room)
            else:
                state = ALGORITHMS[name].steps.start(plain, slices, (slices,))
                loops._rows(ALGORITHMS[name], plain, state, partials, slices, 0, len(edges) - 1, room)

        return call

    runs = _runs({name: made(name) for name in (*OF_PBA, "pba")})
    yield from _rates("time_windows", workload.name, rows, runs, {"minutes": minutes, "slide_ms": slide_ms})


# --- as records --------------------------------------------------------------------------------------


def _rates(
    experiment: str, aggregate: str, rows: int, runs: dict[str, list[Run]], shape: dict[str, int]
) -> Iterator[Record]:
    """Return the best rate of each subject by the wall clock, and by the processor time of its busiest thread."""
    where = parameters(rows=rows, **shape)
    for subject, own in runs.items():
        best = min(own, key=lambda run: run.wall)
        note = f"best of {len(own)}, {best.cores_busy:.2f} cores busy"
        yield _rate(experiment, subject, "rows", rows / best.wall, aggregate, where, note)
        longest = min(run.longest for run in own)
        yield _rate(experiment, subject, "rows, busiest thread", rows / longest, aggregate, where)


def _rate(
    experiment: str, subject: str, metric: str, rate: float, aggregate: str, shape: Any, note: str = ""
) -> Record:
    return Record(experiment, subject, metric, rate / 1e6, "million rows/s", aggregate, shape, None, note)
