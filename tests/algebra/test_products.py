"""Products that can divide again, against fractions."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sash
from sash.errors import NumberOverflow

RANDOM = np.random.default_rng(17)
LIMITS = [
    [2**62, 2],
    [2**62, -2],
    [-(2**63)],
    [-(2**63), -1],
    [7, 7, 188232082384791343],
    [7, -7, 188232082384791343],
    [3037000500, 3037000500],
    [3037000499, 3037000499],
    [2**62, 2**62, 0],
]


def product(values: list[float]) -> float:
    """Multiply as NumPy does, but without any rounding on the way."""
    has_zero, has_infinity = 0.0 in values, any(map(math.isinf, values))
    if any(x != x for x in values) or (has_zero and has_infinity):
        return math.nan
    sign = -1.0 if sum(math.copysign(1.0, x) < 0 for x in values) % 2 else 1.0
    if has_infinity:
        return sign * math.inf
    exact = math.prod(abs(Fraction(x)) for x in values)
    return sign * float(exact) if exact < 2**1024 else sign * math.inf


def series(rows: int) -> Any:
    values = np.exp(RANDOM.normal(size=rows) * 60) * RANDOM.choice([-1, 1], rows)
    for odd in (0.0, -0.0, math.nan, math.inf, -math.inf, 1e300, 5e-324):
        values[RANDOM.random(rows) < 0.03] = odd
    return values


@pytest.mark.compiled
@pytest.mark.parametrize("size", [1, 3, 20])
def test_a_factor_that_leaves_takes_its_zero_nan_infinity_and_overflow_with_it(size: int) -> None:
    data = series(600)
    found = sash.swag.slide(data, size, sash.product(), algorithm="subtract_on_evict")
    for row, value in enumerate(found.tolist()):
        expected = product(data[max(0, row + 1 - size) : row + 1].tolist())
        assert math.isclose(value, expected, rel_tol=1e-14, abs_tol=1e-320) or (value != value and expected != expected)


@pytest.mark.compiled
def test_errors_do_not_add_up_while_a_window_slides() -> None:
    data = np.exp(RANDOM.normal(size=20_000))
    found = sash.swag.slide(data, 5, sash.product(), algorithm="subtract_on_evict")
    assert math.isclose(found[-1], product(data[-5:].tolist()), rel_tol=1e-15)


@pytest.mark.compiled
@pytest.mark.parametrize("values", LIMITS, ids=str)
def test_integers_are_exact_up_to_the_last_one_that_fits(values: list[int]) -> None:
    expected = math.prod(values)
    for algorithm in ("subtract_on_evict", "two_stacks_lite"):
        if -(2**63) <= expected < 2**63:
            found = sash.swag.fold(values, [0], [len(values)], sash.product(), algorithm=algorithm)
            assert found == [expected]
        else:
            with pytest.raises(NumberOverflow, match="'product'"):
                sash.swag.slide(np.array(values), len(values), sash.product(), algorithm=algorithm)


def test_an_unsigned_integer_above_a_signed_one_is_an_overflow() -> None:
    largest = np.array([2**63 - 1, 1, 1], np.uint64)
    assert sash.swag.slide(largest, 2, sash.product(), algorithm="subtract_on_evict").tolist() == [2**63 - 1] * 2 + [1]
    with pytest.raises(NumberOverflow):
        sash.swag.slide(np.array([2**63], np.uint64), 1, sash.product(), algorithm="subtract_on_evict")


def test_a_product_fits_again_after_a_large_factor_has_left() -> None:
    window = sash.swag.open("subtract_on_evict", sash.product(), dtype="int64")
    for value in (2**62, 2**62 + 1, 3, -5):
        window.insert(value)
    with pytest.raises(NumberOverflow):
        window.query()
    window.evict()
    window.evict()
    assert window.query() == -15
