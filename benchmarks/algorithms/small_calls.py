"""The cost of a call that does little: a window moved by hand, a slide of a hundred values; and FiBA row by row."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sash
from benchmarks.algorithms.throughput import columns_of
from benchmarks.algorithms.timed_calls import bytes_of, sliding, warm_up
from benchmarks.algorithms.workloads import AGGREGATES, noise
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of, copy_seconds
from sash.swag import ALGORITHMS

__all__ = ["in_order_tasks", "small_call_tasks"]

VALUES = 100  # of a short slide
ROUNDS = 5


def small_call_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure the calls of a window that is moved by hand, and a slide of few values."""
    yield Task("a window moved by hand", partial(_by_hand, settings))
    yield Task(f"a slide of {VALUES} values", partial(_short_slide, settings))


def _by_hand(settings: AlgorithmSettings) -> Iterator[Record]:
    """Insert, query and evict as often as there are calls; the first round compiles."""
    calls = settings.small_calls
    window = sash.swag.open("daba_lite", sash.sum())
    values = noise(calls).tolist()

    def insert() -> None:
        for value in values:
            window.insert(value)

    def query() -> None:
        for _ in values:
            window.query()

    def evict() -> None:
        for _ in values:
            window.evict()

    steps: dict[str, Callable[[], None]] = {"insert": insert, "query": query, "evict": evict}
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):
        for name, step in steps.items():
            best[name] = min(best[name], best_of(step, 1).seconds)
    for name, seconds in best.items():
        yield _call(name, "sum", seconds / calls * 1e6, f"{calls} calls, the best of {ROUNDS} rounds")


def _short_slide(settings: AlgorithmSettings) -> Iterator[Record]:
    values, template = noise(VALUES), sash.sum()

    def slide() -> None:
        for _ in range(10):
            sash.swag.slide(values, 10, template)

    slide()
    seconds = best_of(slide, settings.small_calls // 10, 1.0).seconds / 10
    yield _call(f"slide of {VALUES} values", "sum", seconds * 1e6, "best of many calls, after the first ones")


def _call(metric: str, aggregate: str, microseconds: float, note: str) -> Record:
    return Record("small_calls", "sash", metric, microseconds, "µs", aggregate, (), None, note)


# --- a tree in order ---------------------------------------------------------------------------------


def in_order_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Slide FiBA, which also takes rows out of order, over rows in order."""
    yield Task(f"fiba, window {settings.in_order_window}", partial(_in_order, settings))


def _in_order(settings: AlgorithmSettings) -> Iterator[Record]:
    workload, window = AGGREGATES["sum"], settings.in_order_window
    rows = 64 * window  # so that the copy does not fit into the caches
    columns: Any = columns_of(workload, rows)
    call = warm_up(lambda some: sliding(ALGORITHMS["fiba"], workload, some, window), columns)
    rate = rows / best_of(call, 3, 8 * settings.point_seconds).seconds
    copied = rows / copy_seconds(bytes_of(columns))
    shape = parameters(window=window, rows=rows)
    yield Record("in_order", "copy", "rows", copied / 1e6, "million rows/s", workload.name, shape, 1.0)
    yield Record("in_order", "fiba", "rows", rate / 1e6, "million rows/s", workload.name, shape, rate / copied)
