"""Frames at their edges: empty ones, those of floats, and those at the end of the arrays."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.algebra.compiler import JIT_DISABLED

EMPTY: dict[str, tuple[Any, Any]] = {  # an aggregate, and what it makes of no rows
    "n": (sash.count(), 0),
    "count": (sash.count("x"), 0),
    "distinct": (sash.count_distinct("x"), 0),
    "sum": (sash.sum("x"), None),
    "mean": (sash.mean("x"), None),
    "max": (sash.max("x"), None),
    "first": (sash.first("x"), None),
    "last": (sash.last("s"), None),
    "argmax": (sash.argmax("x", "s"), None),
    "stddev": (sash.stddev("x"), None),
    "median": (sash.median("x"), None),
    "min_s": (sash.min("s"), None),
    "text": (sash.string_agg("s"), None),
    "distinct_s": (sash.count_distinct("s"), 0),
    "max_d": (sash.max("d"), None),
    "sum_d": (sash.sum("d"), None),
    "list": (sash.collect("x"), []),  # as in Spark
    "own": (
        sash.Aggregate(
            "own",
            state=("i8", "f8"),
            identity=(0, 0.0),
            lift=lambda x: (1, x),
            combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
            lower=lambda p: p[1] / p[0],
        )("x"),
        None,
    ),
}


def table(positions: Any, keys: Any) -> pa.Table:
    count = len(positions)
    return pa.table(
        {
            "t": positions,
            "k": keys,
            "x": pa.array(np.arange(count, dtype=np.float64)),
            "s": pa.array([f"s{place}" for place in range(count)]),
            "d": pa.array([Decimal(place) for place in range(count)], pa.decimal128(12, 2)),
        }
    )


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("keys", [[0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 2], [2, 1, 0, 2, 1, 0]])
@pytest.mark.parametrize("positions", [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [7, 7, 7, 7, 7, 7], [1, 1, 2, 2, 1, 1]])
def test_a_frame_without_rows_is_a_frame(positions: list[int], keys: list[int], dtype: Any) -> None:
    rows = table(np.array(positions, dtype), keys)
    found = sash.rolling(rows, on="t", by="k", range=0, closed="right", **{n: each for n, (each, _) in EMPTY.items()})
    for name, (_, nothing) in EMPTY.items():
        assert found.column(name).to_pylist() == [nothing] * len(positions), name


def test_frames_without_rows_at_the_end_of_long_arrays() -> None:
    count = 2_000 if JIT_DISABLED else 100_000
    dice = np.random.default_rng(1)
    rows = {"t": np.sort(dice.integers(0, count, count)), "k": dice.integers(0, 7, count), "x": dice.normal(size=count)}
    found = sash.rolling(rows, on="t", by="k", range=0, closed="right", n=sash.count(), m=sash.max("x"))
    assert set(found["n"].to_pylist()) == {0}
    assert found["m"].null_count == count


@pytest.mark.parametrize("least", [0, 1, 2])
def test_an_empty_frame_has_no_samples(least: int) -> None:
    rows = {"t": [1, 2], "x": [3, 4]}
    found = sash.rolling(rows, on="t", range=0, closed="right", min_samples=least, n=sash.count(), s=sash.sum("x"))
    assert found["n"].to_pylist() == ([0, 0] if least < 2 else [None, None])
    assert found["s"].to_pylist() == [None, None]


def test_a_frame_of_floats_reaches_to_the_row_at_its_very_start() -> None:
    rows = {"t": [-8.4, -8.1], "x": [1.0, 2.0]}
    assert -8.1 - -8.4 > 0.3 and -8.4 >= -8.1 - 0.3  # the same question, but for the last bit
    assert sash.rolling(rows, on="t", range=0.3, n=sash.count())["n"].to_pylist() == [1, 2]
    assert sash.rolling(rows, on="t", range=0.3, closed="right", n=sash.count())["n"].to_pylist() == [1, 1]


@pytest.mark.parametrize("closed", ["both", "right"])
@pytest.mark.parametrize("seed", range(5))
def test_frames_of_floats_are_those_from_p_minus_range_on(closed: str, seed: int) -> None:
    dice = np.random.default_rng(seed)
    for width in (0.0, 0.1, 0.3, 0.7, 2.5):
        at = np.round(dice.uniform(-10, 10, 300), 1)
        found = sash.rolling({"t": at}, on="t", range=width, closed=closed, n=sash.count())["n"].to_numpy()
        start = at[:, None] - width
        inside = (at[None, :] > start) | ((closed == "both") & (at[None, :] == start))
        assert found.tolist() == (inside & (at[None, :] <= at[:, None])).sum(axis=1).tolist(), (seed, width)


def test_the_longest_frame_of_the_farthest_rows_does_not_wrap_around() -> None:
    far = {"t": [-(2**61), -1, 2**61 - 2, 2**61], "x": [1, 2, 4, 8]}
    assert sash.rolling(far, on="t", range=2**61 - 1, s=sash.sum("x"))["s"].to_pylist() == [1, 3, 6, 12]
