"""Values of slices in order of arrival, compared with Python lists."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import InvalidState
from sash.slicing.lists import Lists
from sash.slicing.row_lists import RowLists

SLICES = 5
STEPS = st.lists(
    st.one_of(
        st.lists(st.tuples(st.integers(0, SLICES - 1), st.one_of(st.none(), st.integers(-9, 9))), max_size=12),
        st.permutations(range(SLICES)).map(lambda each: ("merge", each[0], each[1])),
        st.integers(0, SLICES - 1).map(lambda each: ("forget", each)),
        st.just(("restore",)),
    ),
    max_size=12,
)


def windows_of(lists: RowLists, windows: list[tuple[int, int]]) -> list[list[Any]]:
    lows, highs = (np.array([each[k] for each in windows], np.int64) for k in range(2))

    class Windows(SimpleNamespace):
        def __len__(self) -> int:
            return len(windows)

    return lists.lists(SimpleNamespace(order=np.arange(SLICES)), Windows(lows=lows, highs=highs)).tolist()  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["i8", "f8", "i4", "u2", "b1"])
@given(steps=STEPS, windows=st.lists(st.tuples(st.integers(0, SLICES), st.integers(0, SLICES)).map(sorted), max_size=4))
def test_windows_are_the_values_of_their_slices(dtype: str, steps: list[Any], windows: list[Any]) -> None:
    kind = np.dtype(dtype)
    lists, expected = RowLists(kind, SLICES), [[] for _ in range(SLICES)]  # type: ignore[var-annotated]
    for step in steps:
        if isinstance(step, list):
            values = [kind.type(0 if value is None else abs(value)) for _, value in step]
            valid = np.array([value is not None for _, value in step], np.bool_)
            lists.add(np.array([number for number, _ in step], np.int64), (np.array(values, kind), valid))
            for (number, given), value in zip(step, values, strict=True):
                if given is not None:
                    expected[number].append(value.item())
        elif step[0] == "merge":
            lists.merge(np.array([step[1:]]))
            expected[step[1]], expected[step[2]] = expected[step[1]] + expected[step[2]], []
        elif step[0] == "forget":
            lists.forget(np.array([step[1]]))
            expected[step[1]] = []
        else:
            saved = lists.save(np.arange(SLICES))
            lists = RowLists(kind)
            lists.restore(saved, SLICES)
        lists.check()
        twin = lists.copy()
        twin.replace_values(lambda each: each)
        wanted = [[value for each in expected[low:high] for value in each] for low, high in windows]
        assert windows_of(lists, windows) == windows_of(twin, windows) == wanted


@pytest.mark.parametrize(
    "saved",
    [
        (np.array([2, -1]), np.array([1])),
        (np.array([1, 1]), np.array([1])),
        (np.array([1]), np.array([1])),
        (np.array([1, 0]), np.array([1.0])),
        (np.array([2**62, 2**62]), np.array([1])),
    ],
)
def test_lists_that_are_none_are_refused(saved: Any) -> None:
    with pytest.raises(InvalidState):
        RowLists(np.int64).restore(saved, 2)


def test_lists_are_equal_if_their_values_are() -> None:
    nan = np.nan
    one = Lists(np.array([0, 2, 3, 3, 4]), np.array([1.0, nan, 2.0, 5.0]))
    other = Lists(np.array([0, 2, 2, 2, 3]), np.array([nan, 1.0, 6.0]), np.array([1, 0, 2]))
    assert one.equal(other).tolist() == [True, False, True, False]
    assert one.concat(other).take(np.array([4, 0])).equal(one.take(np.array([0, 0]))).all()
