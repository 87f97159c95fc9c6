"""Frames as pandas has them: by count and by time, under every kind of index.

Where they differ by design: NaN is what pandas has for null, so that it is skipped; pandas' frame by time ends at the
row, without the rows at the same time that stand after it, so that times are all different here.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sash
from tests.engine.test_rolling import COUNT, INDEXES

pytestmark = pytest.mark.only_compiled

VALUES: dict[str, Any] = {
    "s": sash.sum("x"),
    "low": sash.min("x"),
    "high": sash.max("x"),
    "mean": sash.mean("x"),
    "stddev": sash.stddev("x"),
    "known": sash.count("x"),
}


def drawn(seed: int, count: int, index: Any = None) -> pd.DataFrame:
    dice = np.random.default_rng(seed)
    seconds = np.sort(dice.choice(4 * count, count, replace=False)) - count
    x = dice.normal(100, 30, count)
    x[dice.random(count) < 0.15] = np.nan
    times = pd.to_datetime(seconds, unit="s")
    return pd.DataFrame({"ts": times, "k": dice.integers(0, 3, count), "x": x}, index=index)


def same(rolled: Any) -> dict[str, Any]:
    """The values, of something that pandas rolls."""
    return {
        "s": rolled.sum(),
        "low": rolled.min(),
        "high": rolled.max(),
        "mean": rolled.mean(),
        "stddev": rolled.std(),
        "known": rolled.count(),
    }


def check(found: pd.DataFrame, wanted: dict[str, Any], seed: int) -> None:
    for name, series in wanted.items():
        one, other = found[name].astype(np.float64), series.astype(np.float64)
        pd.testing.assert_series_equal(
            one, other, check_names=False, rtol=1e-9, atol=1e-7, obj=f"seed {seed}: {name}", check_freq=False
        )


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_rows_are_those_of_pandas(seed: int) -> None:
    rows = drawn(seed, 500)
    for size, least in ((1, 1), (2, 1), (20, 5), (10_000, 1)):
        found = sash.rolling(rows, on="ts", rows=size, min_samples=least, **VALUES)
        wanted = same(rows["x"].rolling(size, min_periods=least))
        wanted["known"] = wanted["known"].where(wanted["known"] >= least) if least > 1 else wanted["known"].fillna(0)
        check(found, wanted, seed)


@pytest.mark.parametrize("closed", ["both", "right"])
@pytest.mark.parametrize("seed", range(3))
def test_frames_of_a_length_are_those_of_pandas(seed: int, closed: Any) -> None:
    rows = drawn(seed, 500)
    for seconds in (1, 4, 60):
        found = sash.rolling(rows, on="ts", range=f"{seconds}s", closed=closed, **VALUES)
        wanted = same(rows.rolling(f"{seconds}s", on="ts", closed=closed)["x"])
        wanted["known"] = wanted["known"].fillna(0)  # pandas' count of no values is NaN
        check(found, wanted, seed)


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_each_key_are_those_of_a_group(seed: int) -> None:
    """pandas gives back one group after the other, each row under its key and its own index."""
    rows = drawn(seed, 500)
    found = sash.rolling(rows, on="ts", by="k", rows=5, **VALUES)
    wanted = same(rows.groupby("k")["x"].rolling(5, min_periods=1))
    wanted["known"] = wanted["known"].fillna(0)
    check(found, {name: each.droplevel("k").sort_index() for name, each in wanted.items()}, seed)


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_under_every_kind_of_index_a_row_has_its_own_result(index: Any) -> None:
    """Rows stand in any order: pandas rolls them sorted, and takes its results back to where the rows stood."""
    rows = drawn(7, COUNT, index)
    order = np.random.default_rng(8).permutation(COUNT)
    rows = rows.iloc[order]
    by_time = np.argsort(rows["ts"].to_numpy(), kind="stable")
    back = np.argsort(by_time)
    rolled = rows.iloc[by_time].rolling("9s", on="ts")["x"]
    wanted = {name: each.iloc[back] for name, each in same(rolled).items()}
    wanted["known"] = wanted["known"].fillna(0)
    found = sash.rolling(rows, on="ts", range="9s", closed="right", **VALUES)
    check(found, wanted, 7)
    pd.testing.assert_frame_equal(found[["ts", "k", "x"]], rows)
