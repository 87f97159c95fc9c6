"""Distinct counts over ranges of rows, against sets."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.swag.range_distinct import check, distinct_counts, list_codes, slide, slide_lists, start


@st.composite
def codes_and_ranges(draw: Any) -> tuple[list[int], list[int], list[int]]:
    codes = draw(st.lists(st.integers(-1, 4), max_size=30))
    starts, ends = [], []
    low = high = 0
    for _ in range(draw(st.integers(0, 12))):
        high = draw(st.integers(high, len(codes)))
        low = draw(st.integers(low, high))
        starts.append(low)
        ends.append(high)
    return codes, starts, ends


@settings(max_examples=200)
@given(case=codes_and_ranges())
def test_distinct_counts_agree_with_sets(case: Any) -> None:
    codes, starts, ends = case
    found = distinct_counts(np.array(codes, np.int64), 5, np.array(starts, np.int64), np.array(ends, np.int64))
    ranges = zip(starts, ends, strict=True)
    assert found.tolist() == [len({code for code in codes[low:high] if code >= 0}) for low, high in ranges]


@settings(max_examples=100)
@given(case=codes_and_ranges())
def test_lists_of_codes_agree_with_sets_and_keep_their_set(case: Any) -> None:
    codes, starts, ends = case
    data, state = np.array(codes, np.int64), start(5, has_set=True)
    counts = distinct_counts(data, 5, np.array(starts, np.int64), np.array(ends, np.int64))
    places = np.cumsum(counts) - counts
    listed = list_codes(data, 5, np.array(starts, np.int64), np.array(ends, np.int64), counts, places)
    for low, high, count, place in zip(starts, ends, counts, places, strict=True):
        assert listed[place : place + count].tolist() == sorted({code for code in codes[low:high] if code >= 0})
        found = np.zeros(5, np.int64)
        one = np.array([count]), np.zeros(1, np.int64)
        slide_lists(state, data, np.array([[low]]), np.array([[high]]), *one, found)
        check(state, data, int(count))


@settings(max_examples=100)
@given(case=codes_and_ranges())
def test_the_state_is_right_after_every_range(case: Any) -> None:
    codes, starts, ends = case
    data, state = np.array(codes, np.int64), start(5)
    for low, high in zip(starts, ends, strict=True):
        found = np.zeros(1, np.int64)
        slide(state, data, np.array([[low]]), np.array([[high]]), found)
        check(state, data, int(found[0]))
