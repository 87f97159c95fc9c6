"""Windows of time: rows arrive at random, are folded into slices of time, and algorithms slide over the slices."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.algorithms.timed_calls import bind_for, room_for_answers, to_inputs
from benchmarks.algorithms.workloads import AGGREGATES, noise
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of
from sash.algebra.monoid import of_partials
from sash.swag import ALGORITHMS, loops

__all__ = ["time_window_tasks"]

SUBJECTS = ("sba", "pba", "two_stacks", "slick_deque")
RATE = 4.0  # rows per slice on average
SEED = 6


def time_window_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure SBA, PBA and the rivals of their paper, by the slices of a window."""
    for name in SUBJECTS:
        yield Task(f"{name} max", partial(_by_window, settings, name))


def _edges(rows: int) -> Any:
    """Return where the slices of rows begin that arrive at random; the last edge is the number of rows."""
    times = np.random.default_rng(SEED).exponential(1 / RATE, rows).cumsum()
    return np.append(np.searchsorted(times, np.arange(int(times[-1]) + 1)), rows)


def _by_window(settings: AlgorithmSettings, name: str) -> Iterator[Record]:
    algorithm, workload = ALGORITHMS[name], AGGREGATES["max"]
    monoid = bind_for(algorithm, workload)
    inputs, edges = to_inputs(monoid, noise(settings.rows)), _edges(settings.rows)
    room = room_for_answers(monoid, len(edges) - 1)

    def call(window: int) -> None:
        partials = loops.fold_fragments(monoid, inputs, edges)
        loops.over_rows(algorithm, of_partials(monoid), partials, window, *room, 1)

    for window in settings.windows:
        if 4 * window <= len(edges):
            run: Callable[[], None] = partial(call, window)
            run()
            rate = settings.rows / best_of(run, 3, settings.point_seconds).seconds / 1e6
            shape, note = parameters(window=window, rows=settings.rows), f"a slice has {RATE:g} rows on average"
            yield Record("time_windows", name, "rows", rate, "million rows/s", workload.name, shape, None, note)
