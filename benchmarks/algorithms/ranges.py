"""Many ranges in one pass: at every row, the answers for the newest 1, 2, … n rows."""

from collections.abc import Iterator
from functools import partial

from benchmarks.algorithms.shared_queries import affordable
from benchmarks.algorithms.throughput import columns_of
from benchmarks.algorithms.timed_calls import bytes_of, sliding_all
from benchmarks.algorithms.workloads import suited
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of, copy_seconds
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm

__all__ = ["range_tasks"]


def range_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure every algorithm that answers many ranges."""
    for algorithm in ALGORITHMS.values():
        if algorithm.facts.ranges and algorithm.is_compiled and settings.takes(algorithm):
            yield Task(algorithm.name, partial(_all_ranges, settings, algorithm))


def _all_ranges(settings: AlgorithmSettings, algorithm: Algorithm) -> Iterator[Record]:
    workload = suited(algorithm)
    for most in settings.ranges:
        rows = affordable(algorithm, most, settings.range_answers)
        columns = columns_of(workload, rows)
        sliding_all(algorithm, workload, columns[:most], most)()
        timing = best_of(sliding_all(algorithm, workload, columns, most), 3, settings.point_seconds)
        rate = rows * most / timing.seconds
        copied = rows * most / copy_seconds(bytes_of(columns) * most)  # a copy of as many answers
        shape = parameters(ranges=most)
        yield Record(
            "ranges",
            algorithm.name,
            "answers",
            rate / 1e6,
            "million answers/s",
            workload.name,
            shape,
            rate / copied,
            f"{rows:,} rows",
        )
