"""Which slices are dropped and which are merged, when no window needs them or an edge between them."""

from typing import Any

import numpy as np
import pytest

import sash
from sash.slicing import slice_manager, sweeper
from sash.slicing.cuts import Cuts
from sash.slicing.slices import NO_CUT, Slices
from tests.limits import LOW, stream_with
from tests.slicing.made import made

EDGES = [10, 20, 30, 40]
ROWS = [(0, 1), (0, 11), (0, 21), (0, 31), (1, 12), (1, 38)]  # a slice each


def swept(slices: Slices, keep_from: int, fine_from: int, cuts: Cuts | None = None, **given: Any) -> list[list[Any]]:
    """Sweep, and return the first and the last position of each slice that is left, by key."""
    first = np.full(slices.keys, given.get("first_needed", NO_CUT))
    points = np.array(given.get("points", []), np.int64)
    dropped, merged = sweeper.drop(slices, keep_from, fine_from, first, points, cuts or Cuts.none())
    slice_manager.release(slices, dropped)
    slice_manager.release(slices, merged[:, 1])
    slices.check()
    left = [slices.of_key(key) for key in range(2)]
    assert slices.used == sum(map(len, left))
    return [[(int(slices.firsts[each]), int(slices.lasts[each])) for each in own] for own in left]


def test_slices_that_end_before_all_windows_are_dropped() -> None:
    assert swept(made(ROWS, EDGES), keep_from=20, fine_from=20) == [[(21, 21), (31, 31)], [(38, 38)]]


def test_a_slice_that_ends_after_the_first_position_needed_stays() -> None:
    assert swept(made(ROWS, EDGES), keep_from=19, fine_from=0)[0] == [(11, 11), (21, 21), (31, 31)]


def test_a_slice_that_a_key_needs_by_its_place_stays() -> None:
    assert swept(made(ROWS, EDGES), keep_from=40, fine_from=0, first_needed=2) == [[(21, 21), (31, 31)], []]


def test_slices_before_the_first_edge_needed_are_merged() -> None:
    assert swept(made(ROWS, EDGES), keep_from=0, fine_from=30) == [[(1, 21), (31, 31)], [(12, 12), (38, 38)]]


def test_slices_on_two_sides_of_a_fixed_edge_stay_apart() -> None:
    assert swept(made(ROWS, EDGES), keep_from=0, fine_from=30, points=[11])[0] == [(1, 1), (11, 21), (31, 31)]


def test_slices_further_apart_than_the_gap_of_a_session_stay_apart() -> None:
    cuts = Cuts(np.zeros(0, np.int64), np.zeros(0, np.int64), 15)
    rows = [(0, 1), (0, 11), (0, 29), (0, 31)]
    assert swept(made(rows, EDGES, cuts), keep_from=0, fine_from=40, cuts=cuts)[0] == [(1, 11), (29, 31)]


def test_slices_stay_apart_at_the_ranks_where_count_windows_begin() -> None:
    cuts = Cuts(np.array([2]), np.array([0]), -1)
    assert swept(made(ROWS, EDGES, cuts), keep_from=0, fine_from=40, cuts=cuts)[0] == [(1, 11), (21, 31)]


@pytest.mark.parametrize("is_each_row", [False, True])
def test_slices_of_one_row_each_are_never_merged(is_each_row: bool) -> None:
    cuts = Cuts(np.zeros(0, np.int64), np.zeros(0, np.int64), -1, is_each_row)
    left = swept(made(ROWS, EDGES, cuts), keep_from=0, fine_from=40, cuts=cuts)
    assert [len(own) for own in left] == ([4, 2] if is_each_row else [1, 1])


@pytest.mark.parametrize(
    ("window", "starts", "most"),
    [
        (sash.sliding(10, every=3), range(0, 500, 3), 4),  # Pairs have 7 slices per window
        (sash.sliding(9, every=3), range(0, 500, 3), 3),
        (sash.sliding(3, every=10), range(0, 500, 10), 1),
        (sash.cumulative(24, every=4), range(0, 500, 24), 1),
    ],
)
@pytest.mark.parametrize("rows", [1, 7, 50])
def test_slices_of_an_ordered_stream_start_where_windows_start(
    window: Any, starts: range, most: int, rows: int
) -> None:
    """Cutty: one slice from each start to the next, however many rows a push has; the last one is open."""
    stream = stream_with(LOW, sash.query("q", window, last=sash.last("x"), n=sash.count()), on="t", in_order=True)
    for begin in range(0, 100, rows):
        at = [*range(begin, begin + rows)]
        stream.push({"t": at, "x": at})
        assert stream.state is not None
        kept = stream.state.slices.firsts[stream.state.slices.of_key(0)].tolist()
        assert all(first in starts for first in kept) and len(kept) <= most + 1
