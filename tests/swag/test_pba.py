"""The length of a chunk: Theorems 1 and 2 of the PBA paper, in whole numbers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.swag.pba import best_chunk, best_chunk_in_time

SECOND = 10**9  # in nanoseconds


def test_a_chunk_of_an_hour_is_not_a_slice_short() -> None:
    # In floats, 3600 // 0.01 is 359,999 slices, and the chunk came out as 359,998.
    for combine_time in range(29, 56):
        assert best_chunk_in_time(3600 * SECOND, SECOND // 100, combine_time) == 359_999
    assert best_chunk_in_time(3600 * SECOND, SECOND // 100, 27) == 360_000


@pytest.mark.parametrize(("size", "every", "chunk"), [(10, 2, 4), (16, 1, 9), (1024, 1, 513), (10, 5, 2), (11, 3, 3)])
def test_theorem_1_by_hand(size: int, every: int, chunk: int) -> None:
    assert best_chunk(size, every) == chunk


@given(size=st.integers(1, 10**15), every=st.integers(1, 10**9))
def test_theorem_1_gives_one_whole_chunk_per_window_at_most(size: int, every: int) -> None:
    every = min(size, every)
    slices = size // every
    chunk = best_chunk(size, every)
    assert 1 <= chunk <= slices
    assert slices // chunk == 1


@given(size=st.integers(1, 10**12), every=st.integers(1, 10**9), combine_time=st.integers(1, 10**6))
def test_theorem_2_is_exact(size: int, every: int, combine_time: int) -> None:
    """The formula of the paper in fractions; C is a time, so `rest` is not multiplied by the slide."""
    every = min(size, every)
    slices, rest = size // every, size % every
    s, t = Fraction(every), Fraction(combine_time)
    c = rest + t if rest else Fraction(0)
    expected = slices if slices <= (s + 2 * t + c) / t else (slices * (s + t) + s + 2 * t + c) // (s + 2 * t)
    assert best_chunk_in_time(size, every, combine_time) == expected
    assert best_chunk_in_time(1000 * size, 1000 * every, 1000 * combine_time) == expected, "another unit of time"


def test_a_slow_combine_makes_chunks_of_half_a_window() -> None:
    assert best_chunk_in_time(3600 * SECOND, SECOND, 1) == 3600
    assert best_chunk_in_time(3600 * SECOND, SECOND, 10**6 * SECOND) == 1801
