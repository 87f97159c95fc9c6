"""Modes over ranges of rows, against counts of each range."""

from typing import Any

import numpy as np
from hypothesis import given, settings

from sash.swag.range_modes import check, modes, slide, start
from tests.swag.test_range_distinct import codes_and_ranges


def most_frequent(codes: list[int]) -> int:
    known = [code for code in codes if code >= 0]
    return min(known, key=lambda code: (-known.count(code), code), default=-1)


@settings(max_examples=200)
@given(case=codes_and_ranges())
def test_modes_agree_with_counts(case: Any) -> None:
    codes, starts, ends = case
    found = modes(np.array(codes, np.int64), 5, np.array(starts, np.int64), np.array(ends, np.int64))
    assert found.tolist() == [most_frequent(codes[low:high]) for low, high in zip(starts, ends, strict=True)]


@settings(max_examples=100)
@given(case=codes_and_ranges())
def test_the_state_is_right_after_every_range(case: Any) -> None:
    codes, starts, ends = case
    data, state = np.array(codes, np.int64), start(5)
    for low, high in zip(starts, ends, strict=True):
        found = np.zeros(1, np.int64)
        slide(state, data, np.array([[low]]), np.array([[high]]), found)
        check(state, data)
        assert found[0] == most_frequent(codes[low:high])


def test_parts_of_a_range_count_together() -> None:
    codes = np.array([2, 1, 0, 0, 1])
    starts, ends = np.array([[0, 0], [3, 4]]), np.array([[1, 2], [4, 5]])
    assert modes(codes, 3, starts, ends).tolist() == [0, 1]


def test_no_codes_have_no_mode() -> None:
    assert modes(np.array([-1, -1]), 0, np.array([0]), np.array([2])).tolist() == [-1]
    assert modes(np.array([], np.int64), 0, np.array([], np.int64), np.array([], np.int64)).tolist() == []
