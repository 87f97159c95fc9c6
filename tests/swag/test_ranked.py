"""Exact quantiles over arrays, against sorting every window."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash

pytestmark = pytest.mark.compiled


def quantile(window: list[float], q: float) -> float | None:
    ordered = sorted(window, key=lambda x: (math.isnan(x), x))
    if not ordered:
        return None
    place = (len(ordered) - 1) * q
    low = ordered[math.floor(place)]
    high = ordered[math.ceil(place)]
    return low if low == high or place % 1 == 0 else (1 - place % 1) * low + place % 1 * high


numbers = st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0, math.nan, math.inf, 1e300]) | st.none()


@settings(max_examples=150)
@given(values=st.lists(numbers, max_size=50), size=st.integers(1, 60), q=st.sampled_from([0.0, 0.25, 0.5, 0.95, 1.0]))
def test_small_arrays_of_nasty_numbers(values: list[float | None], size: int, q: float) -> None:
    result = sash.swag.slide(values, size, sash.quantile(q=q))
    for end, value in enumerate(result, 1):
        expected = quantile([x for x in values[max(0, end - size) : end] if x is not None], q)
        assert value == expected or (value is not None and expected is not None and math.isnan(value + expected))


@pytest.mark.parametrize(
    ("rows", "size"), [(3000, 7), (3000, 512), (3000, 513), (2000, 1999), (1500, 1500), (700, 9999)]
)
def test_windows_that_cross_chunks(rows: int, size: int) -> None:
    values = np.random.default_rng(rows + size).integers(0, 50, rows).astype(float)
    for threads in (1, 3):
        result = sash.swag.slide(values, size, sash.median(), threads=threads)
        for row in range(0, rows, 97):
            assert result[row] == np.median(values[max(0, row - size + 1) : row + 1])
    integers = sash.swag.slide(values.astype("i4"), size, sash.median())
    assert np.array_equal(integers, result)
