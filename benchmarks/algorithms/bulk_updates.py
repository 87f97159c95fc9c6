"""Windows that rows enter and leave in bulk: many rows per slide up to a tumbling window, and windows that resize.

A slide is one `evict_many`, one `insert_many` and one `query`, in a kernel. Windows that resize are called from Python,
because a window that is full gets a new state there.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sash
from benchmarks.algorithms.timed_calls import bind_for, to_inputs
from benchmarks.algorithms.workloads import AGGREGATES, Workload, noise
from benchmarks.records import Record, Value, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of, best_of_each
from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length, load, store
from sash.algebra.monoid import Monoid, lift
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm, evict_many, insert_many, query

__all__ = ["bulk_update_tasks"]

SUBJECTS = ("flat_fat", "recalculate")
FUNCTIONS = ("max", "stddev")  # those of the paper's figures
IN_A_KERNEL = "evict_many, insert_many and query"
PART = 64  # rows that enter or leave at a time, where windows resize
# The rows of a slide, in windows of n rows.
SLIDES: dict[str, Callable[[int], int]] = {
    "1": lambda n: 1,
    "4": lambda n: 4,
    "64": lambda n: 64,
    "n / 16": lambda n: n // 16,
    "n / 4": lambda n: n // 4,
    "n": lambda n: n,
}


@kernel
def _slide(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Fields, size: int, part: Fields, answer: Fields
) -> None:
    slide = length(part)
    for row in range(0, length(inputs) - slide + 1, slide):
        for place in range(slide):
            store(part, place, lift(aggregate, load(inputs, row + place)))
        if row >= size:
            evict_many(algorithm, aggregate, state, slide)
        insert_many(algorithm, aggregate, state, part, slide)
        store(answer, 0, query(algorithm, aggregate, state))


def bulk_update_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Vary the rows per slide, up to a tumbling window; and compare a window that resizes with one that does not."""
    for function in FUNCTIONS:
        for subject in SUBJECTS:
            task = partial(_slides, settings, ALGORITHMS[subject], AGGREGATES[function])
            yield Task(f"{subject} {function}", task)
        yield Task(f"resizing {function}", partial(_resizing, settings, function))


def _slides(settings: AlgorithmSettings, algorithm: Algorithm, workload: Workload) -> Iterator[Record]:
    monoid = bind_for(algorithm, workload)
    answer = monoid.allocate(1)
    for size in settings.bulk_windows:
        for name, rows_of in SLIDES.items():
            slide = min(size, max(1, rows_of(size)))
            slides = settings.bulk_steps // (size if algorithm.name == "recalculate" else slide)
            rows = size + slide * max(4, slides)
            inputs = to_inputs(monoid, workload.columns(rows))
            part = monoid.allocate(slide)

            def call(size: int = size, inputs: Fields = inputs, part: Fields = part) -> None:
                state = algorithm.steps.start(monoid, size, (size,))
                _slide(algorithm, monoid, state, inputs, size, part, answer)

            call()
            seconds = best_of(call, 3, settings.point_seconds).seconds
            shape: dict[str, Value] = {"window": size, "slide": slide, "of": name}
            yield _record(workload.name, algorithm.name, "rows", rows / seconds, IN_A_KERNEL, shape)


# --- windows that resize -----------------------------------------------------------------------------


def _opened(function: str, rows: int) -> Any:
    window = sash.swag.open("flat_fat", AGGREGATES[function].aggregate(), dtype="float64")
    window.insert_many(noise(rows))
    return window


def _resizing(settings: AlgorithmSettings, function: str) -> Iterator[Record]:
    """Insert, evict and query as often in both: only the size of one goes up and down, by a factor of 16."""
    size = settings.bulk_windows[-1]
    values = noise(15 * size)
    parts = [values[begin : begin + PART] for begin in range(0, len(values), PART)]
    fixed_window, window = _opened(function, 4 * size), _opened(function, size)

    def fixed() -> None:
        for part in parts:
            fixed_window.evict(len(part))
            fixed_window.insert_many(part)
            fixed_window.query()

    def resizing() -> None:
        for part in parts:
            window.insert_many(part)
            window.query()
        for part in parts:
            window.evict(len(part))

    for metric, timing in best_of_each({"fixed": fixed, "resizing": resizing}, 3, 4 * settings.point_seconds).items():
        note = "insert_many, evict(n) and query of sash.swag.open, called from Python"
        yield _record(function, "flat_fat", metric, len(values) / timing.seconds, note, {"window": size})


def _record(aggregate: str, subject: str, metric: str, rate: float, note: str, shape: dict[str, Value]) -> Record:
    where = parameters(**shape)
    return Record("bulk_updates", subject, metric, rate / 1e6, "million rows/s", aggregate, where, None, note)
