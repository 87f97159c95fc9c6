"""Variances over arrays, against two exact passes over every window."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash

RANDOM = np.random.default_rng(19)
SHAPES = [(1, 1), (40, 1), (60, 3), (80, 7), (700, 32), (900, 40), (1100, 512), (1300, 600), (300, 2000)]


def noise(rows: int) -> Any:
    return RANDOM.normal(size=rows)


def sprinkled(rows: int, value: float) -> Any:
    return np.where(RANDOM.random(rows) < 0.02, value, noise(rows))


SERIES: dict[str, Callable[[int], Any]] = {
    "noise": noise,
    "large mean": lambda rows: noise(rows) + 1e9,
    "jump": lambda rows: np.where(np.arange(rows) < rows // 2, 0.0, 1e9) + noise(rows),
    "constant": lambda rows: np.full(rows, 0.1),
    "line": lambda rows: np.arange(rows) * 3.0,
    "walk": lambda rows: noise(rows).cumsum(),
    "outliers": lambda rows: sprinkled(rows, 1e12),
    "NaN": lambda rows: sprinkled(rows, math.nan),
    "infinities": lambda rows: sprinkled(rows, math.inf),
}
INTEGERS: dict[str, Callable[[int], Any]] = {
    "small": lambda rows: RANDOM.integers(-100, 100, rows),
    "large": lambda rows: RANDOM.integers(-(2**63), 2**63 - 1, rows),
    "unsigned": lambda rows: RANDOM.integers(0, 2**64 - 1, rows, dtype=np.uint64),
}


def variance(values: list[Any]) -> float | None:
    count = len(values)
    if count < 2:
        return None
    if isinstance(values[0], int):
        return float((count * sum(x * x for x in values) - sum(values) ** 2) / count / (count - 1))
    if not all(map(math.isfinite, values)):
        return math.nan
    near = [x - values[0] for x in values]
    mean = math.fsum(near) / count
    rest = math.fsum(x - mean for x in near)
    return (math.fsum((x - mean) ** 2 for x in near) - rest * rest / count) / (count - 1)


def agree(data: Any, valid: Any, size: int, results: list[Any], tolerance: float) -> None:
    values = data.tolist()
    for row in sorted({0, len(values) - 1, *RANDOM.integers(0, len(values), 15).tolist()}):
        span = range(max(0, row + 1 - size), row + 1)
        expected, found = variance([values[k] for k in span if valid[k]]), results[row]
        if expected is None or found is None:
            assert expected is None and found is None
        else:
            assert math.isclose(found, expected, rel_tol=tolerance, abs_tol=1e-300) or (
                found != found and expected != expected
            )


@pytest.mark.compiled
@pytest.mark.parametrize("name", SERIES)
def test_floats_with_and_without_nulls(name: str) -> None:
    for rows, size in SHAPES:
        data = SERIES[name](rows)
        valid = RANDOM.random(rows) > 0.3
        with_nulls = sash.swag.slide(pa.array(data, mask=~valid), size, sash.variance(), threads=1)
        without = sash.swag.slide(pa.array(data), size, sash.variance(), threads=1)
        # A window that SBA computes has its accuracy: 1e-16 times the mean over the deviation.
        tolerance = 1e-6 if name in ("large mean", "jump") else 1e-11
        agree(data, valid, size, with_nulls.to_pylist(), tolerance)
        agree(data, np.ones(rows, bool), size, without.to_pylist(), tolerance)


@pytest.mark.parametrize("name", [pytest.param("large", marks=pytest.mark.compiled), "small", "unsigned"])
def test_integers_whose_differences_exceed_64_bits(name: str) -> None:
    for rows, size in SHAPES[:-1]:
        data = INTEGERS[name](rows)
        results = sash.swag.slide(pa.array(data), size, sash.variance(), threads=1)
        agree(data, np.ones(rows, bool), size, results.to_pylist(), 1e-9)


def test_the_deviation_of_a_large_mean_keeps_its_digits() -> None:
    steps = RANDOM.integers(0, 16, 3000)
    for size in (10, 200, 1000):
        near, far = (sash.swag.slide(each, size, sash.stddev()) for each in (steps * 1.0, steps + 2.0**49))
        assert np.array_equal(near[size:], far[size:])


def test_count_sum_and_mean_come_from_the_same_sums() -> None:
    data = RANDOM.integers(-9, 9, 1500) * 1.0
    wanted = {"n": sash.count(), "s": sash.sum(), "m": sash.mean(), "v": sash.variance(), "d": sash.stddev()}
    assert ": shifted\n" in str(sash.swag.explain(wanted, 100))
    assert ": sba\n" in str(sash.swag.explain(wanted, 100, dtype="int64"))
    for size in (9, 100, 600):
        together = sash.swag.slide(data, size, wanted)
        for name, each in wanted.items():
            assert np.allclose(
                together[name], sash.swag.slide(data, size, each, algorithm="sba"), 1e-12, equal_nan=True
            )
        assert np.array_equal(together["s"], sash.swag.slide(data, size, sash.sum()))


def test_the_sum_of_a_window_may_exceed_a_float() -> None:
    results = sash.swag.slide([1e308, 1e308, 1e308, 1.0], 2, sash.stddev())
    assert results[0] is None and results[1:3] == [math.inf, math.inf]


def test_threads_do_not_change_results() -> None:
    data = sprinkled(5000, 1e12)
    for size in (10, 100, 700):
        one, three = (sash.swag.slide(data, size, sash.stddev(), threads=each) for each in (1, 3))
        assert np.allclose(one, three, rtol=1e-9, equal_nan=True)
