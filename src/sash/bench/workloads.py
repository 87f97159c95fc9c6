"""Signals to measure on: seeded, so that two runs see the same values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import sash
from sash.algebra.aggregate import Template
from sash.swag.contract import Algorithm

__all__ = ["AGGREGATES", "Workload", "noise", "sensor", "suited"]

SEED = 20210814


def noise(rows: int, seed: int = SEED) -> np.ndarray[Any, Any]:
    """Normal noise around 100: positive, without order.

    >>> noise(3).round(1).tolist() == noise(3).round(1).tolist()
    True
    """
    return np.random.default_rng(seed).normal(100.0, 10.0, rows)


def sensor(rows: int, day: int = 1440, seed: int = SEED) -> np.ndarray[Any, Any]:
    """A reading per minute: a daily rhythm, drift, noise, a spike now and then.

    Readings are multiples of 1/64, so that their sums are exact and `==` may judge them.

    >>> bool((sensor(100) * 64 % 1 == 0).all())
    True
    """
    random = np.random.default_rng(seed)
    minute = np.arange(rows)
    daily = 8 * np.sin(2 * np.pi * minute / day - np.pi / 2)
    drift = 4 * np.sin(2 * np.pi * minute / (day * 9.7))
    spikes = (random.random(rows) < 0.3 / day) * random.uniform(10, 25, rows)
    readings: np.ndarray[Any, Any] = np.round((20 + daily + drift + random.normal(0, 0.6, rows) + spikes) * 64) / 64
    return readings


@dataclass(frozen=True)
class Workload:
    """An aggregate to slide, and the columns that it takes."""

    name: str
    aggregate: Callable[[], Template]
    columns: Callable[[int], Any]
    heavy: bool = False  # partials of hundreds of bytes: fewer rows, smaller windows

    def admitted_by(self, algorithm: Algorithm) -> bool:
        """Whether the algorithm can slide it."""
        template = self.aggregate()
        return algorithm.admits(template.invertible, template.selective, template.name in ("median", "quantile"))


def _numbered(rows: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return noise(rows), np.arange(rows)


AGGREGATES: Mapping[str, Workload] = {
    each.name: each
    for each in (
        Workload("max", sash.max, noise),
        Workload("sum", sash.sum, noise),
        Workload("median", sash.median, noise),
        Workload("argmax", sash.argmax, _numbered),
        Workload("stddev", sash.stddev, noise),
        Workload("geometric_mean", sash.geometric_mean, noise),
        Workload("bloom_filter", sash.bloom_filter, noise, heavy=True),
        Workload("moment_sketch", sash.moment_sketch, noise, heavy=True),
    )
}


def suited(algorithm: Algorithm) -> Workload:
    """The plainest aggregate that the algorithm can slide: max, or sum, or the median.

    >>> suited(sash.swag.ALGORITHMS["subtract_on_evict"]).name
    'sum'
    """
    return next(AGGREGATES[name] for name in ("max", "sum", "median") if AGGREGATES[name].admitted_by(algorithm))
