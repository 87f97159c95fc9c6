"""Numbers that overflow and functions of users that raise: each is named, and what can go on goes on."""

from typing import Any

import pytest

import sash
from sash.errors import BrokenStream, NumberOverflow, SashError
from tests.engine.test_bad_input import TEN, VALUES


def test_an_overflowing_sum_is_named_and_the_stream_says_that_it_must_be_restored() -> None:
    stream = sash.Stream(TEN, on="t", by="k")
    stream.push({"t": [1, 2], "k": ["a", "a"], "x": [2**62, 2**62]})
    before = stream.save()
    with pytest.raises(NumberOverflow, match=r"'ten.s' overflows 64-bit integers"):
        stream.push({"t": [11], "k": ["new"], "x": [1]}, watermark=10)
    for use in (lambda: stream.push({"t": [12], "k": ["a"], "x": [1]}), stream.save):
        with pytest.raises(BrokenStream, match=r"no longer usable.*Restore it from its last save"):
            use()
    assert sash.Stream.restore(before, TEN).save() == before


def test_an_overflowing_sum_in_a_table_is_named() -> None:
    rows = {"t": [1, 2], "x": [2**62, 2**62]}
    with pytest.raises(NumberOverflow, match=r"'ten.s' overflows"):
        sash.aggregate(rows, TEN, on="t")
    with pytest.raises(NumberOverflow, match=r"'rolling.s' overflows"):
        sash.rolling(rows, on="t", rows=2, **VALUES)


def unlucky(x: Any) -> Any:
    if x == 13:
        raise ValueError("unlucky")
    return (x,)


def total(**functions: Any) -> Any:
    given_: dict[str, Any] = {
        "state": ("O",),
        "identity": (0,),
        "lift": lambda x: (x,),
        "combine": lambda a, b: (a[0] + b[0],),
        "lower": lambda p: p[0],
        **functions,
    }
    return sash.Aggregate("total", **given_)("x")


def quarrels(a: Any, b: Any) -> Any:
    if 13 in (a[0], b[0]):
        raise ValueError("unlucky")
    return (a[0] + b[0],)


@pytest.mark.parametrize(
    "aggregate",
    [total(lift=unlucky), total(combine=quarrels), total(lower=lambda p: unlucky(p[0])[0])],
    ids=["lift", "combine", "lower"],
)
def test_a_function_that_raises_is_named_and_changes_nothing(aggregate: Any) -> None:
    stream = sash.Stream(sash.query("q", sash.tumbling(10), v=aggregate, n=sash.count()), on="t", by="k")
    stream.push({"t": [1], "k": ["a"], "x": [2]})
    before = stream.save()
    with pytest.raises(SashError, match=r"total.*ValueError: unlucky"):
        stream.push({"t": [15, 16], "k": ["c", "c"], "x": [13, 0]}, watermark=20)
    assert stream.save() == before
    (row,) = stream.push({"t": [2], "k": ["a"], "x": [5]}, watermark=10).to_pylist()
    assert (row["v"], row["n"]) == (7, 2)


@pytest.mark.parametrize("aggregate", [total(lift=unlucky), total(combine=quarrels)], ids=["lift", "combine"])
def test_a_function_that_raises_on_a_table_is_named(aggregate: Any) -> None:
    rows = {"t": [1, 2], "x": [13, 1]}
    uses: list[Any] = [
        lambda: sash.aggregate(rows, sash.query("q", sash.tumbling(10), v=aggregate), on="t"),
        lambda: sash.rolling(rows, on="t", rows=2, v=aggregate),
    ]
    for use in uses:
        with pytest.raises(SashError, match=r"total.*ValueError: unlucky"):
            use()
