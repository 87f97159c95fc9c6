"""Which rows a watermark accepts, and how it moves."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sash.engine.watermark import Watermarks, is_ascending
from sash.windows.measure import Measure

INTEGER, FLOAT = Measure.of(pa.int64()), Measure.of(pa.float64())


def rejected(rules: Watermarks, watermark: Any, positions: list[Any], valid: list[bool] | None = None) -> list[int]:
    mask = None if valid is None else np.array(valid)
    return list(rules.accept(watermark, np.array(positions, rules.measure.dtype), mask).rejected.tolist())


def test_a_row_at_the_watermark_is_accepted_and_one_before_it_is_not() -> None:
    assert rejected(Watermarks(INTEGER), 10, [9, 10, 11, 3]) == [0, 3]


def test_rows_may_be_as_late_as_the_lateness_says() -> None:
    assert rejected(Watermarks(INTEGER, lateness=4), 10, [5, 6, 10]) == [0]


def test_a_row_without_a_position_is_rejected_whatever_stands_there() -> None:
    assert rejected(Watermarks(INTEGER), 10, [50, 60], [False, True]) == [0]


def test_where_all_rows_are_accepted_no_places_are_listed() -> None:
    for rules in (Watermarks(INTEGER), Watermarks(INTEGER, in_order=True)):
        assert rules.accept(1, np.array([1, 2, 2]), None).accepted is None


def test_in_an_ordered_stream_each_row_is_judged_by_those_before_it() -> None:
    ordered = Watermarks(INTEGER, in_order=True)
    assert rejected(ordered, 5, [4, 6, 5, 6, 7]) == [0, 2]
    # A row without a position says nothing of those after it.
    assert rejected(ordered, 5, [6, 99, 7], [True, False, True]) == [1]


@pytest.mark.parametrize(
    ("rules", "newest", "given", "after"),
    [
        (Watermarks(INTEGER), 50, None, 10),
        (Watermarks(INTEGER), 50, 20, 20),
        (Watermarks(INTEGER), 50, 5, 10),
        (Watermarks(INTEGER, delay=7), 50, None, 43),
        (Watermarks(INTEGER, delay=7), 12, None, 10),
        (Watermarks(INTEGER, delay=7), 50, 45, 45),
        (Watermarks(INTEGER, delay=7), INTEGER.lowest, None, 10),
        (Watermarks(INTEGER, in_order=True), 50, None, 50),
        (Watermarks(FLOAT), 50.0, math.inf, math.inf),
    ],
)
def test_a_watermark_follows_what_is_given_or_the_newest_row_and_never_goes_back(
    rules: Watermarks, newest: Any, given: Any, after: Any
) -> None:
    assert rules.after(10, newest, given) == after


def test_before_the_first_watermark_and_after_the_end_lateness_changes_nothing() -> None:
    rules = Watermarks(INTEGER, lateness=5)
    assert [rules.final(each) for each in (INTEGER.lowest, 10, INTEGER.highest)] == [INTEGER.lowest, 5, INTEGER.highest]


@pytest.mark.parametrize(("positions", "is_so"), [([3, 3, 5], True), ([2, 4], False), ([3, 6, 5], False)])
def test_positions_that_go_back_or_begin_too_early_do_not_ascend(positions: list[int], is_so: bool) -> None:
    assert is_ascending(np.array(positions), 3) is is_so
