"""Slides per second of many queries that share slices, as the paper on SlickDeque measures them.

`all ranges` is the paper's multi-query environment: at every row, n queries over the newest 1, 2, … n rows. `mixed` are
n queries with different slides, whose slices are made by Panes, Pairs or Cutty.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.algorithms.throughput import columns_of
from benchmarks.algorithms.timed_calls import bind_for, room_for_answers, to_inputs, warm_up
from benchmarks.algorithms.workloads import AGGREGATES, Workload
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm
from sash.swag.loops import places_of
from sash.swag.shared_plan import SLICES, share
from sash.swag.slide_many import run_plan

__all__ = ["affordable", "shared_query_tasks"]

SUBJECTS = ("slick_deque", "slick_deque_inv", "recalculate", "flat_fat", "b_int", "flat_fit")  # those of the paper
MIXED_SLIDES = (2, 3, 4, 6, 8, 12)


def affordable(algorithm: Algorithm, most: int, answers: int) -> int:
    """Return how many rows to measure: fewer for an algorithm that combines more than once per answer."""
    facts = algorithm.facts.all_ranges
    assert facts is not None
    return max(2 * most, int(answers / max(most, facts.slide.average.at(most))))


def shared_query_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure max and sum with every algorithm of the paper that answers many ranges and admits them."""
    for workload in (AGGREGATES["max"], AGGREGATES["sum"]):
        for algorithm in (ALGORITHMS[name] for name in SUBJECTS):
            if workload.admitted_by(algorithm) and settings.takes(algorithm):
                name = f"{algorithm.name} {workload.name}"
                yield Task(name, partial(_all_ranges, settings, workload, algorithm))
                yield Task(f"{name} mixed", partial(_mixed, settings, workload, algorithm))


def _all_ranges(settings: AlgorithmSettings, workload: Workload, algorithm: Algorithm) -> Iterator[Record]:
    for most in settings.ranges:
        queries = [(size, 1) for size in range(1, most + 1)]
        rows = affordable(algorithm, most, settings.range_answers)
        yield _measured(settings, workload, algorithm, queries, "pairs", rows, "all ranges")


def _mixed(settings: AlgorithmSettings, workload: Workload, algorithm: Algorithm) -> Iterator[Record]:
    most = settings.ranges[-1]
    slides = MIXED_SLIDES * (most // len(MIXED_SLIDES) + 1)
    queries = [(10 * size, slide) for size, slide in zip(range(1, most + 1), slides, strict=False)]
    rows = max(20 * most, 4 * affordable(algorithm, most, settings.range_answers))
    for slices in SLICES:
        yield _measured(settings, workload, algorithm, queries, slices, rows, f"mixed, {slices}")


def _measured(
    settings: AlgorithmSettings,
    workload: Workload,
    algorithm: Algorithm,
    queries: list[tuple[int, int]],
    slices: str,
    rows: int,
    shape: str,
) -> Record:
    columns = columns_of(workload, rows)
    monoid = bind_for(algorithm, workload)

    def make(some: Any) -> Callable[[], Any]:
        inputs = to_inputs(monoid, some)
        places = places_of([len(inputs[0]) // slide for _, slide in queries])
        plan, room = share(queries, slices, len(inputs[0])), room_for_answers(monoid, int(places[-1]))
        return partial(run_plan, algorithm, monoid, inputs, plan, places[:-1], room)

    seconds = best_of(warm_up(make, columns), 3, settings.point_seconds).seconds
    each = {slide for _, slide in queries}
    slides = sum(any(row % slide == 0 for slide in each) for row in range(1, rows + 1))
    return Record(
        "shared_queries",
        algorithm.name,
        "slides",
        slides / seconds / 1e3,
        "thousand slides/s",
        workload.name,
        parameters(ranges=len(queries), shape=shape),
        None,
        f"of all queries together, over {rows:,} rows; plan and memory are ready",
    )
