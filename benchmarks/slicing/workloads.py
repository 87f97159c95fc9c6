"""Rows of a sensor at a football match, in order or late, and the aggregates over them.

Picture     12 s = 10.5 s of rows + 1.5 s of silence:  five gaps per minute, each longer than the gap of a session
            a late row keeps its position and arrives less than `delay` later:  no row is behind the watermark,
            which is the largest position minus `delay`
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import sash
from benchmarks.algorithms.workloads import SEED
from sash.algebra.aggregate import Template

__all__ = ["FUNCTIONS", "SECOND", "Function", "Sensor", "lengths", "rows_of"]

SECOND = 1_000_000  # positions are microseconds
CYCLE, SILENCE = 12 * SECOND, 3 * SECOND // 2
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sensor:
    """The properties of a stream."""

    rows: int
    rate: int = 2000  # rows per second
    late: float = 0.0  # share of late rows
    delay: int = 0  # of late rows, at most, in microseconds
    distinct: int = 0  # number of different values; 0: almost all are different


def rows_of(sensor: Sensor) -> tuple[Array, Array]:
    """Return positions and values in the order of arrival.

    >>> positions, values = rows_of(Sensor(30_000))
    >>> int(np.diff(positions).max()), int(np.diff(positions).min())
    (1500500, 500)
    >>> positions, _ = rows_of(Sensor(30_000, late=0.2, delay=2 * SECOND))
    >>> 0 < int((np.maximum.accumulate(positions) - positions).max()) < 2 * SECOND
    True
    """
    random = np.random.default_rng(SEED)
    step = SECOND // sensor.rate
    number = np.arange(sensor.rows)
    positions = number * step + number // ((CYCLE - SILENCE) // step) * SILENCE
    if sensor.distinct:
        values = random.integers(0, sensor.distinct, sensor.rows).astype(np.float64)
    else:
        values = random.normal(100.0, 10.0, sensor.rows)
    if sensor.late and sensor.delay:
        is_late = random.random(sensor.rows) < sensor.late
        order = np.argsort(positions + is_late * random.integers(0, sensor.delay, sensor.rows), kind="stable")
        positions, values = positions[order], values[order]
    return positions, values


def lengths(windows: int) -> list[int]:
    """Return window lengths in milliseconds, evenly spaced from 1 to 20 seconds.

    >>> lengths(20) == [1000 * n for n in range(1, 21)], lengths(1)
    (True, [1000])
    """
    spread: list[int] = np.round(np.linspace(1000, 20_000, windows)).astype(int).tolist()
    return spread


@dataclass(frozen=True)
class Function:
    """An aggregate of the value, or of the value and the number of the row."""

    name: str
    make: Callable[..., Template]
    columns: tuple[str, ...] = ("x",)
    holistic: bool = False  # partials are Python objects that grow
    invertible: bool = True  # whether to use its inverse, if it has one

    def template(self) -> Template:
        return self.make(*self.columns)


def _ninetieth(column: str) -> Template:
    return sash.quantile(column, 0.9)


def _all() -> Iterator[Function]:
    yield Function("sum", sash.sum)
    yield Function("sum without invert", sash.sum, invertible=False)
    for make in (sash.count, sash.mean, sash.stddev, sash.variance, sash.geometric_mean):
        yield Function(make.__name__, make)
    for make in (sash.min, sash.max, sash.min_count, sash.max_count):
        yield Function(make.__name__, make)
    for make in (sash.argmin, sash.argmax):
        yield Function(make.__name__, make, ("x", "n"))
    for make in (sash.first, sash.last, sash.m4):
        yield Function(make.__name__, make)
    yield Function("median", sash.median, holistic=True)
    yield Function("quantile 0.9", _ninetieth, holistic=True)
    yield Function("count_distinct", sash.count_distinct, holistic=True)
    yield Function("collect", sash.collect, holistic=True)


FUNCTIONS: Mapping[str, Function] = {each.name: each for each in _all()}
