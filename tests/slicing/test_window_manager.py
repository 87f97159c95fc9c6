"""Windows that have ended: which slices they hold, and which windows cannot be answered."""

from typing import Any

import numpy as np
import pytest

from sash.errors import InvalidWindow
from sash.slicing.window_manager import Ended, collect, given_windows
from tests.slicing.made import made


def found(ended: Ended) -> list[tuple[int, int, int, int]]:
    """Slot, start, end, and the number of slices."""
    columns = ended.slots, ended.starts, ended.ends, ended.highs - ended.lows
    return list(zip(*(each.tolist() for each in columns), strict=True))


def asked(windows: list[tuple[int, int, int]], edges: list[int]) -> list[tuple[int, int, int, int]]:
    slices = made([(0, 1), (0, 11), (0, 14), (1, 12)], edges)
    return found(given_windows(slices, *(np.array(each, np.int64) for each in zip(*windows, strict=True))))


def test_a_window_holds_the_slices_from_its_start_to_before_its_end() -> None:
    assert asked([(0, 0, 20), (0, 10, 20), (1, 10, 13)], [10, 13, 20]) == [
        (0, 0, 20, 3),
        (0, 10, 20, 2),
        (1, 10, 13, 1),
    ]


def test_a_window_without_rows_is_not_among_them() -> None:
    assert asked([(0, 2, 10), (0, 20, 30), (1, 0, 10)], [10, 20]) == []


def test_a_window_with_an_edge_inside_a_slice_is_not_among_them() -> None:
    # Rows 11 and 14 of key 0 are one slice: no window can have one of them alone.
    assert asked([(0, 10, 13), (0, 12, 20), (0, 10, 20)], [10, 20]) == [(0, 10, 20, 1)]


def test_a_kernel_that_lacked_room_runs_again_with_enough() -> None:
    rooms = []

    def run(out: Any) -> int:
        rooms.append(len(out[0]))
        for each in out:
            each[:] = np.arange(len(each))
        return 40

    ended = collect(run, 3, np.int64)
    assert rooms == [16, 40] and len(ended) == 40 and ended.ends.tolist() == list(range(40))


def test_more_windows_than_anyone_wants_are_refused() -> None:
    with pytest.raises(InvalidWindow, match=r"100,?000,?000"):
        collect(lambda out: -1, 0, np.int64)


def test_windows_of_several_parts_stay_in_order() -> None:
    one, other = (given_windows(made([(0, 1)], [5]), *np.array([[0], [start], [5]])) for start in (0, 1))
    assert Ended.concat([one, Ended.none(np.int64), other], np.int64).starts.tolist() == [0, 1]
    assert len(Ended.concat([], np.int64)) == 0
    assert Ended.concat([one, other], np.int64).take(np.array([1])).starts.tolist() == [1]
