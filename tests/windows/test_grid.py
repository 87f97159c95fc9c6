"""What the numbers of a grid are: which fraction a float stands for, and when a size is a whole number of slides."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.windows.grid import Grid, whole_parts

TENTH, THIRD = Fraction(1, 10), Fraction(1, 3)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, TENTH),
        (1.1, 11 * TENTH),
        (0.05, TENTH / 2),
        (1 / 3, THIRD),
        (100 / 7, Fraction(100, 7)),
        (0.25, Fraction(1, 4)),
        (1e-5, Fraction(1, 100_000)),
        (123456.789012345, Fraction(123456789012345, 10**9)),
        (math.pi, Fraction(math.pi)),
        (float(np.float32(0.1)), Fraction(float(np.float32(0.1)))),
    ],
)
def test_a_float_stands_for_the_decimal_or_simple_fraction_that_it_is_nearest_to(
    written: float, meant: Fraction
) -> None:
    grid = Grid.of(written, written, 0.0)
    assert Fraction(grid.step) / Fraction(grid.unit) == meant
    assert grid.step / grid.unit == written


@pytest.mark.parametrize("every", [1e-300, 5e-324, 1e-17, 2.0**60, 1.2345678901234567e-4])
def test_a_length_whose_fraction_is_of_no_use_is_taken_as_it_is(every: float) -> None:
    assert Grid.of(every, every, 0.0) == Grid(every, 0.0, 1.0, 1, 0.0)


@pytest.mark.parametrize(
    ("size", "every", "whole"),
    [
        (0.3, 0.1, 3),  # 2.9999999999999996 in floats
        (3 * 0.1, 0.1, 3),  # 0.30000000000000004
        (1.0, 0.1, 10),
        (0.7, 0.1, 7),
        (1.0, 1 / 3, 3),
        (2 * math.pi, math.pi / 6, 12),
        (sum([0.1] * 10), 0.1, 10),  # 0.9999999999999999
        (10, 0.1, 100),
        (12, 3, 4),
    ],
)
def test_a_size_that_is_a_whole_number_of_slides_but_for_rounding_has_no_rest(
    size: Any, every: Any, whole: int
) -> None:
    assert whole_parts(size, every) == (whole, 0)


@pytest.mark.parametrize(
    ("size", "every", "whole", "rest"),
    [
        (1.0, 0.3, 3, TENTH),
        (0.1, 0.3, 0, TENTH),
        (0.3000001, 0.1, 3, Fraction(1, 10**7)),
        (0.2999999, 0.1, 2, Fraction(999999, 10**7)),
        (-0.1, 0.3, -1, 2 * TENTH),
        (10, 4, 2, 2),
    ],
)
def test_any_other_size_has_a_rest(size: Any, every: Any, whole: int, rest: Any) -> None:
    assert whole_parts(size, every) == (whole, rest)


@pytest.mark.parametrize("offset", [0.2, 0.5, -0.1, -0.4, 3.2, 0.1 + 0.1])
def test_offsets_that_differ_by_whole_slides_are_one_grid(offset: float) -> None:
    assert Grid.of(0.3, 0.3, offset) == Grid.of(0.3, 0.3, 0.2)


def test_a_period_decides_which_edge_is_number_nought() -> None:
    assert Grid.of(1.0, 0.25, 0.5, period=1.0).phase == 2.0  # of quarters
    assert Grid.of(1.0, 0.25, 0.5).phase == 0.0
    assert Grid.of(12, 3, -3, period=12).phase == 9


@given(size=st.integers(1, 10**6), every=st.integers(1, 10**6), offset=st.integers(-(10**6), 10**6))
def test_whole_floats_make_the_grid_of_their_integers(size: int, every: int, offset: int) -> None:
    whole, of_floats = Grid.of(size, every, offset), Grid.of(float(size), float(every), float(offset))
    assert of_floats == whole
    assert isinstance(whole.step, int) and isinstance(of_floats.step, float)
