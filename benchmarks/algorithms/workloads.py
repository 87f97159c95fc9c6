"""Aggregates and their input; the input is seeded, so that two runs read the same values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import sash
from sash.algebra.aggregate import Template
from sash.swag.contract import Algorithm

__all__ = ["AGGREGATES", "OPERATORS", "THROUGHPUT", "Workload", "noise", "suited"]

SEED = 20210814


def noise(rows: int, seed: int = SEED) -> np.ndarray[Any, Any]:
    """Return normally distributed values around 100.

    >>> noise(3).round(1).tolist() == noise(3).round(1).tolist()
    True
    """
    return np.random.default_rng(seed).normal(100.0, 10.0, rows)


@dataclass(frozen=True)
class Workload:
    """An aggregate and the columns that it takes."""

    name: str
    aggregate: Callable[[], Template]
    columns: Callable[[int], Any]
    heavy: bool = False  # partials of hundreds of bytes: fewer rows, smaller windows
    most_rows: int = 1 << 62  # that are measured at once, because each result takes kilobytes
    subjects: tuple[str, ...] | None = None  # of the throughput, where only one paper asks; None: all

    def admitted_by(self, algorithm: Algorithm) -> bool:
        """Return whether the algorithm can slide it."""
        template = self.aggregate()
        quantile, variance = template.name in ("median", "quantile"), template.name in ("variance", "stddev")
        return algorithm.admits(template.invertible, template.selective, quantile, variance)


def _numbered(rows: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return noise(rows), np.arange(rows)


def _bloom_filter() -> Template:
    return sash.bloom_filter(bits=16_384)  # as in the paper on DABA


OF_DABA = ("recalculate", "two_stacks", "daba", "foa", "ioa", "flat_fat")
OF_PBA = ("sba", "pba", "two_stacks", "two_stacks_lite", "daba_lite", "flat_fat")
OF_SLICK_DEQUE = ("slick_deque_inv", "flat_fit", "two_stacks", "daba", "flat_fat", "b_int", "recalculate")
AGGREGATES: Mapping[str, Workload] = {
    each.name: each
    for each in (
        Workload("max", sash.max, noise),
        Workload("sum", sash.sum, noise),
        Workload("median", sash.median, noise),
        Workload("argmax", sash.argmax, _numbered, subjects=()),
        Workload("stddev", sash.stddev, noise),
        Workload("geometric_mean", sash.geometric_mean, noise, subjects=OF_DABA),
        Workload("mean", sash.mean, noise, subjects=OF_SLICK_DEQUE),
        Workload("min_count", sash.min_count, noise, subjects=()),
        Workload("bloom_filter", _bloom_filter, noise, heavy=True, most_rows=1 << 16, subjects=OF_DABA),
        Workload("moment_sketch", sash.moment_sketch, noise, heavy=True, subjects=OF_PBA),
    )
}
# The operators of the paper on DABA; the first six are those of the Reactive Aggregator's Table 3.
OPERATORS = ("sum", "max", "argmax", "min_count", "mean", "stddev", "geometric_mean", "bloom_filter")
THROUGHPUT = tuple(name for name, each in AGGREGATES.items() if each.subjects != ())


def suited(algorithm: Algorithm) -> Workload:
    """Return the first of max, sum, median and stddev that the algorithm can slide.

    >>> suited(sash.swag.ALGORITHMS["subtract_on_evict"]).name
    'sum'
    """
    names = ("max", "sum", "median", "stddev")
    return next(AGGREGATES[name] for name in names if AGGREGATES[name].admitted_by(algorithm))
