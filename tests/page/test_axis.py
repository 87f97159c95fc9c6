"""Counts on the axis of positions: no row is lost while buckets grow, and a delay covers what it says."""

import math
import random

import numpy as np
import pytest

from sash.page.axis import MOST_BUCKETS, ArrivalCounts, LatenessCounts
from sash.page.records import Arrivals

ERROR = 2 ** (1 / 16)  # a bin of lateness is a sixteenth of an octave


def arrivals(positions: list[float], newest_before: float | None = None, weight: float = 1.0) -> Arrivals:
    return Arrivals(np.array(positions), newest_before, weight)


def drawn(seed: int, scale: float, drift: float) -> list[list[float]]:
    dice = random.Random(seed)
    return [[(at * drift + dice.gauss(0, 3)) * scale for _ in range(20)] for at in range(30)]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("drift", [0.0, 0.1, 1.0])
def test_each_row_is_in_its_bucket(scale: float, drift: float) -> None:
    counts, rows = ArrivalCounts(), list[float]()
    counts.reach(100 * scale)
    for positions in drawn(3, scale, drift):
        counts.add(arrivals(positions))
        rows += positions
        buckets, length = counts.counts(max(rows))
        assert len(buckets) <= MOST_BUCKETS
        wanted = dict(zip(*np.unique(np.floor(np.array(rows) / length), return_counts=True), strict=True))
        # Lengths are doubled, so that a row near an edge stays on its side of it.
        assert {round(start / length): count for start, count in buckets} == wanted


def test_buckets_that_grow_cover_the_reach_and_keep_their_rows() -> None:
    counts = ArrivalCounts()
    counts.add(arrivals([0.0, 1.0, 5.0, 17.0]))
    _, before = counts.counts(17.0)
    counts.reach(1e6)
    buckets, length = counts.counts(17.0)
    assert length * MOST_BUCKETS / 2 >= 1e6 and math.log2(length / before).is_integer()
    assert sum(rows for _, rows in buckets) == 4


def test_rows_that_are_far_behind_leave_the_picture() -> None:
    counts = ArrivalCounts()
    counts.reach(MOST_BUCKETS / 2)  # buckets of length 1
    for since, until in ((0, 100), (100, 200), (300, 301)):
        counts.add(arrivals([float(at) for at in range(since, until)]))
    buckets, length = counts.counts(300.0)
    assert length == 1.0
    assert [start for start, _ in buckets] == [*(float(at) for at in range(300 - MOST_BUCKETS + 1, 200)), 300.0]


def test_rows_without_a_position_are_not_counted_and_others_by_their_weight() -> None:
    counts = ArrivalCounts()
    counts.add(arrivals([math.nan, math.inf]))
    assert counts.counts(None)[0] == []
    counts.add(arrivals([1.0, math.nan, 1.0], weight=2.5))
    assert [rows for _, rows in counts.counts(1.0)[0]] == [5]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_delay_covers_its_share_of_the_rows_and_is_hardly_too_large(seed: int, share: float) -> None:
    counts, behind, newest = LatenessCounts(), list[float](), -math.inf
    for positions in drawn(seed, 1.0, 0.5):
        counts.add(arrivals(positions, None if newest == -math.inf else newest))
        for each in positions:
            behind.append(max(0.0, newest - each))
            newest = max(newest, each)
    delay = counts.covering(share)
    assert delay is not None
    assert sum(each <= delay for each in behind) >= share * len(behind)
    exact = sorted(behind)[math.ceil(share * len(behind)) - 1]
    assert exact <= delay <= exact * ERROR * (1 + 1e-9)
    octaves = counts.octaves()
    assert sum(octave["rows"] for octave in octaves) == len(behind)
    for octave in octaves[1:]:
        assert octave["to"] == 2 * octave["from"]
        assert octave["rows"] == sum(octave["from"] <= late < octave["to"] for late in behind if late > 0)


def test_no_rows_have_no_delay_and_rows_in_order_need_none() -> None:
    counts = LatenessCounts()
    assert counts.covering(0.9) is None and counts.octaves() == []
    counts.add(arrivals([1.0, 2.0, 2.0, 3.0]))
    assert counts.covering(1.0) == 0.0
    assert [octave["rows"] for octave in counts.octaves()] == [4]
