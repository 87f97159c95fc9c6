"""What is forgotten when no window needs it: slices, keys, emitted windows; and when it is looked for."""

from typing import Any

import pytest

import sash
from sash.limits import LIMITS, Limits
from tests.limits import LOW, stream_with

N = {"n": sash.count()}


def begun(window: Any, limits: Limits, **options: Any) -> "sash.Stream":
    stream = stream_with(limits, sash.query("q", window, **N), on="t", by="k", **options)
    stream.push({"t": list(range(0, 60, 2)), "k": ["a", "b"] * 15})
    return stream


def held(stream: "sash.Stream") -> tuple[int, int]:
    assert stream.state is not None
    return stream.state.slices.used, len(stream.state.keys)


def test_slices_of_closed_windows_are_dropped_and_those_of_open_ones_stay() -> None:
    stream = begun(sash.tumbling(10), LOW)
    assert held(stream) == (12, 2)
    stream.push({}, watermark=30)
    assert held(stream) == (6, 2)


def test_few_slices_are_not_swept() -> None:
    for few, left in ((LIMITS.sweep_slices, 12), (12, 12), (11, 6)):
        stream = begun(sash.tumbling(10), Limits(sweep_slices=few), watermark=28)
        assert stream.watermark == 30 and held(stream) == (left, 2)


def test_slices_that_late_rows_may_still_change_stay() -> None:
    stream = begun(sash.tumbling(10), LOW, allowed_lateness=20)
    stream.push({}, watermark=30)
    assert held(stream) == (10, 2)


def test_a_key_of_which_nothing_is_left_is_forgotten() -> None:
    stream = begun(sash.tumbling(10), LOW)
    stream.push({"t": [70], "k": ["b"]}, watermark=65)
    assert held(stream) == (1, 1)
    assert stream.push({"t": [71], "k": ["a"]}, watermark=80).column("k").to_pylist() in (["b", "a"], ["a", "b"])


@pytest.mark.parametrize("window", [sash.tumbling(rows=4), sash.sliding(rows=3, every=10)], ids=str)
def test_a_key_whose_rows_are_still_counted_is_not_forgotten(window: Any) -> None:
    stream = begun(window, LOW)
    stream.push({}, watermark=200)
    assert held(stream)[1] == 2


def test_emitted_windows_are_remembered_until_they_are_final() -> None:
    stream = begun(sash.tumbling(10), LOW, allowed_lateness=20)
    assert stream.state is not None
    stream.push({}, watermark=30)
    assert sorted(set(stream.state.emitted["q"].ends.tolist())) == [20, 30]
    stream.push({}, watermark=50)
    assert sorted(set(stream.state.emitted["q"].ends.tolist())) == [40, 50]
