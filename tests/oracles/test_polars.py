"""Frames and windows as Polars has them: rolling, rolling_…_by and group_by_dynamic, for every `closed` that sash has.

Where they differ by design: Polars' sum of no values is 0 and null here; Polars leaves NaN out of max and min, where
NaN is the largest number here, so that there is none in these tables; its windows are labelled by their start alone.
"""

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

import sash

pytestmark = pytest.mark.only_compiled

KINDS = ("integers", "times")
VALUES: dict[str, Any] = {
    "n": sash.count(),
    "known": sash.count("x"),
    "s": sash.sum("x"),
    "low": sash.min("x"),
    "high": sash.max("x"),
    "mean": sash.mean("x"),
    "first": sash.first("i"),
    "last": sash.last("i"),
}
SAME = (
    pl.len().alias("n"),
    pl.col("x").count().alias("known"),
    pl.col("x").sum().alias("s"),
    pl.col("x").min().alias("low"),
    pl.col("x").max().alias("high"),
    pl.col("x").mean().alias("mean"),
    pl.col("i").first().alias("first"),
    pl.col("i").last().alias("last"),
)


def drawn(seed: int, kind: str, count: int = 400) -> pl.DataFrame:
    dice = np.random.default_rng(seed)
    ticks = dice.integers(-100, 150, count)
    x: list[Any] = np.round(dice.normal(10, 3, count), 2).tolist()
    for place in np.flatnonzero(dice.random(count) < 0.15):
        x[place] = None
    t = ticks if kind == "integers" else np.datetime64(0, "us") + (ticks * 1_500_000).astype("m8[us]")
    rows = pl.DataFrame({"t": t, "k": dice.integers(0, 4, count), "x": x, "i": np.arange(count)})
    return rows.sort("t", maintain_order=True)  # Polars takes sorted rows alone


def length(kind: str, ticks: int) -> tuple[Any, str]:
    """As sash has it, and as Polars has it."""
    return (ticks, f"{ticks}i") if kind == "integers" else (dt.timedelta(seconds=1.5 * ticks), f"{1500 * ticks}ms")


def check(found: pl.DataFrame, wanted: pl.DataFrame, names: Any, seed: int) -> None:
    for name in names:
        one, other = found[name], wanted[name]
        if name == "s":
            one = one.fill_null(0.0)  # Polars' sum of no values
        if one.dtype.is_float():
            assert one.is_null().to_list() == other.is_null().to_list(), f"seed {seed}: {name}"
            assert np.allclose(one.fill_null(0), other.fill_null(0), rtol=1e-9, atol=1e-9), f"seed {seed}: {name}"
        else:
            assert one.to_list() == other.to_list(), f"seed {seed}: {name}"


@pytest.mark.parametrize("closed", ["both", "right"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_frames_of_a_length_are_those_of_rolling(seed: int, kind: str, closed: Any) -> None:
    rows = drawn(seed, kind)
    for ticks in (1, 3, 40):
        own, period = length(kind, ticks)
        found = sash.rolling(rows, on="t", range=own, closed=closed, **VALUES)
        check(found, rows.rolling("t", period=period, closed=closed).agg(*SAME), VALUES, seed)
        # By group Polars gives back one group after the other; the rows of each in their order.
        wanted = rows.rolling("t", period=period, closed=closed, group_by="k").agg(
            *SAME, pl.col("i").last().alias("row")
        )
        found = sash.rolling(rows, on="t", by="k", range=own, closed=closed, **VALUES)
        check(found.sort("k", "t", maintain_order=True), wanted.sort("k", "t", maintain_order=True), VALUES, seed)


@pytest.mark.parametrize("closed", ["both", "right"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_frames_of_a_length_are_those_of_rolling_by(seed: int, kind: str, closed: Any) -> None:
    """Rows need not be sorted for these, and come back as they stand."""
    rows = drawn(seed, kind).sample(fraction=1, shuffle=True, seed=seed)
    aggregates = {name: VALUES[name] for name in ("s", "low", "high", "mean")}
    for ticks in (1, 3, 40):
        own, period = length(kind, ticks)
        for least in (1, 3):
            x = pl.col("x")
            options: dict[str, Any] = {"window_size": period, "closed": closed, "min_samples": least}
            wanted = rows.select(
                x.rolling_sum_by("t", **options).alias("s"),
                x.rolling_min_by("t", **options).alias("low"),
                x.rolling_max_by("t", **options).alias("high"),
                x.rolling_mean_by("t", **options).alias("mean"),
            )
            found = sash.rolling(rows, on="t", range=own, closed=closed, min_samples=least, **aggregates)
            # These are null where there are too few values, the sum as well.
            wanted = wanted.with_columns(pl.col("s").fill_null(0.0))
            check(found, wanted, aggregates, seed)


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_rows_are_those_of_rolling_by_count(seed: int) -> None:
    rows = drawn(seed, "integers")
    aggregates = {name: VALUES[name] for name in ("low", "high", "mean")}
    for size, least in ((1, 1), (2, 1), (7, 3), (1000, 1)):
        x = pl.col("x")
        wanted = rows.select(
            x.rolling_min(size, min_samples=least).alias("low"),
            x.rolling_max(size, min_samples=least).alias("high"),
            x.rolling_mean(size, min_samples=least).alias("mean"),
        )
        found = sash.rolling(rows, on="t", rows=size, min_samples=least, **aggregates)
        check(found, wanted, aggregates, seed)


GRIDS = {"tumbling": (6, 6, 0), "sliding": (10, 4, 3), "with gaps": (3, 5, 1), "nearly all": (50, 7, 2)}


@pytest.mark.parametrize(("size", "every", "offset"), GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_grid_windows_are_those_of_group_by_dynamic(seed: int, kind: str, size: int, every: int, offset: int) -> None:
    rows = drawn(seed, kind)
    (own, period), (slide, each), (shift, start) = (length(kind, ticks) for ticks in (size, every, offset))
    query = sash.query("q", sash.sliding(own, every=slide, offset=shift), **VALUES)
    found = sash.aggregate(rows, query, on="t", by="k").sort("k", "window_start")
    options: dict[str, Any] = {"every": each, "period": period, "offset": start, "closed": "left", "label": "left"}
    wanted = rows.group_by_dynamic("t", group_by="k", **options).agg(*SAME).sort("k", "t")
    # Polars begins with the window that the first row of a key truncates to: those before it, which hold the row as
    # well if windows overlap, are not among its results.
    begins = wanted.group_by("k").agg(pl.col("t").min().alias("begin"))
    shared = found.join(begins, on="k").filter(pl.col("window_start") >= pl.col("begin")).sort("k", "window_start")
    assert shared["window_start"].to_list() == wanted["t"].to_list(), f"seed {seed}"
    check(shared, wanted, VALUES, seed)
    if size <= every:
        assert shared.height == found.height
