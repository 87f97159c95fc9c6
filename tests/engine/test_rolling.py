"""Frames at their edges, and what comes back: the rows as they were, under their own index."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash.algebra.compiler import JIT_DISABLED
from sash.errors import InvalidText, UnknownName
from sash.swag import loops

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


@pytest.mark.parametrize("dtype", [np.int64, pytest.param(np.float64, marks=pytest.mark.compiled)])
@pytest.mark.parametrize("keys", [[0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 2], [2, 1, 0, 2, 1, 0]])
@pytest.mark.parametrize("positions", [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [7, 7, 7, 7, 7, 7], [1, 1, 2, 2, 1, 1]])
def test_a_frame_without_rows_is_a_frame(positions: list[int], keys: list[int], dtype: Any) -> None:
    rows = table(np.array(positions, dtype), keys)
    found = sash.rolling(rows, on="t", by="k", range=0, closed="right", **{n: each for n, (each, _) in EMPTY.items()})
    for name, (_, nothing) in EMPTY.items():
        assert found.column(name).to_pylist() == [nothing] * len(positions), name


@pytest.mark.compiled
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
def test_frames_of_floats_are_those_from_p_minus_range_on(closed: Any, seed: int) -> None:
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


# --- the index -------------------------------------------------------------------------------------------------------

COUNT = 12
HOURS = pd.date_range("2024-03-30 20:00", periods=COUNT, freq="h", tz="Europe/Berlin")  # over a change of the clock
INDEXES: dict[str, Any] = {
    "of a filter": pd.Index(np.arange(COUNT) * 3 + 7),
    "reversed": pd.RangeIndex(COUNT, 0, -1),
    "shuffled": pd.Index(np.random.default_rng(1).permutation(COUNT), name="row"),
    "with duplicates": pd.Index([5] * COUNT),
    "of strings": pd.Index([f"r{k % 5}" for k in range(COUNT)], name="label"),
    "of nulls": pd.Index([None, np.nan] * (COUNT // 2), dtype=object),
    "of floats": pd.Index([np.nan, -0.0, 0.0] * (COUNT // 3)),
    "of times": pd.date_range("2024-01-01", periods=COUNT, freq="h", name="when"),
    "of times in a zone": HOURS,
    "of periods": pd.period_range("2024-01", periods=COUNT, freq="M"),
    "of spans": pd.timedelta_range("1h", periods=COUNT),
    "of intervals": pd.interval_range(0, COUNT),
    "of categories": pd.CategoricalIndex(["b", "a", "c"] * (COUNT // 3), categories=["c", "b", "a"], ordered=True),
    "of two levels": pd.MultiIndex.from_product([["x", "y"], range(COUNT // 2)], names=["side", None]),
    "named as a column": pd.Index(range(COUNT), name="x"),
}


def frame_with(index: Any) -> pd.DataFrame:
    dice = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "t": dice.permutation(COUNT),
            "x": dice.normal(size=COUNT),
            "kept": pd.Categorical(["u", "v", None] * (COUNT // 3)),
            "whole": pd.array([1, None, 3] * (COUNT // 3), "Int64"),
            "at": HOURS.to_numpy(),
            3: ["a name that is a number"] * COUNT,
        },
        index=index,
    )


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_a_dataframe_comes_back_as_it_was_under_its_own_index(index: Any) -> None:
    rows = frame_with(index)
    before = rows.copy()
    found = sash.rolling(rows, on="t", rows=1, m=sash.max("x"), n=sash.count())
    pd.testing.assert_index_equal(found.index, before.index, exact="equiv")
    pd.testing.assert_frame_equal(found[list(before.columns)], before)
    pd.testing.assert_frame_equal(rows, before)
    assert found["m"].tolist() == before["x"].tolist()
    assert list(found.columns) == [*before.columns, "m", "n"]
    if index.is_unique:
        rows["feature"] = found["m"]
        assert rows["feature"].tolist() == rows["x"].tolist()


@pytest.mark.parametrize("change", ["filter", "sort", "shuffle", "concat", "none left"])
def test_a_feature_lands_on_its_own_row_whatever_was_done_to_the_frame(change: str) -> None:
    rows = frame_with(None)
    rows = {
        "filter": lambda: rows[rows["x"] > 0].copy(),
        "sort": lambda: rows.sort_values("x"),
        "shuffle": lambda: rows.sample(frac=1, random_state=3),
        "concat": lambda: pd.concat([rows, rows.assign(t=rows["t"] + 100)]),
        "none left": lambda: rows[rows["x"] > 1e9].copy(),
    }[change]()
    if rows.index.is_unique:
        rows["f"] = sash.rolling(rows, on="t", rows=1, m=sash.max("x"))["m"]
        assert rows["f"].tolist() == rows["x"].tolist()
    two = sash.rolling(rows, on="t", range=3, m=sash.max("x"))
    at, x = rows["t"].to_numpy(), rows["x"].to_numpy()
    wanted = [x[(at >= p - 3) & (at <= p)].max() for p in at]
    assert two["m"].tolist() == wanted


def test_what_comes_back_shares_no_memory_with_what_was_given() -> None:
    rows = frame_with(None)
    found = sash.rolling(rows, on="t", rows=2, m=sash.max("x"))
    found.loc[0, "x"] = 77.0
    assert rows.loc[0, "x"] != 77.0


def test_columns_of_several_levels_and_attributes_are_kept() -> None:
    columns = pd.MultiIndex.from_tuples([("t", ""), ("x", "raw")], names=["what", "how"])
    rows = pd.DataFrame([[2, 1.5], [1, 2.5]], columns=columns, index=[8, 9])
    rows.attrs["source"] = "a file"
    found = sash.rolling(rows, on="('t', '')", rows=1, m=sash.max("('x', 'raw')"))
    assert found["m", ""].tolist() == [1.5, 2.5]
    assert found.columns.names == ["what", "how"] and list(found.columns)[:2] == list(columns)
    assert found.attrs == {"source": "a file"} and found.index.tolist() == [8, 9]


class OwnFrame(pd.DataFrame):  # type: ignore[misc]
    @property
    def _constructor(self) -> type:
        return OwnFrame


def test_a_subclass_of_a_dataframe_is_a_dataframe() -> None:
    rows = OwnFrame(frame_with(INDEXES["of strings"]))
    found = sash.rolling(rows, on="t", rows=1, m=sash.max("x"))
    assert isinstance(found, OwnFrame) and found.index.equals(rows.index)
    windows = sash.aggregate(rows, sash.query("q", sash.tumbling(4), n=sash.count()), on="t")
    assert isinstance(windows, pd.DataFrame) and list(windows["n"]) == [4, 4, 4]


def test_a_window_is_no_row_of_the_input_and_has_a_fresh_index() -> None:
    rows = frame_with(INDEXES["of two levels"])
    for found in (
        sash.aggregate(rows, sash.query("q", sash.tumbling(4), m=sash.max("x")), on="t"),
        sash.windowed(sash.query("q", sash.tumbling(4), m=sash.max("x")), on="t")(rows),
        sash.sql("SELECT MAX(x) AS m FROM rows [RANGE 4 SLIDE 4]", rows=rows, on="t"),
    ):
        assert isinstance(found.index, pd.RangeIndex) and found.index.tolist() == [0, 1, 2]
        assert list(found.columns) == ["query", "window_start", "window_end", "m"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rows, query: sash.rolling(rows, on="when", rows=2, n=sash.count()),
        lambda rows, query: sash.rolling(rows, on="t", by="when", rows=2, n=sash.count()),
        lambda rows, query: sash.rolling(rows, on="t", rows=2, n=sash.max("when")),
        lambda rows, query: sash.aggregate(rows, query, on="when"),
        lambda rows, query: sash.aggregate(rows, query, on="t", by=["x", "when"]),
        lambda rows, query: sash.explain(rows, query, on="when"),
        lambda rows, query: sash.Stream(query, on="when").push(rows),
    ],
)
def test_a_level_of_the_index_is_no_column_and_the_error_says_what_to_do(wrong: Any) -> None:
    rows = frame_with(INDEXES["of times"])
    with pytest.raises(UnknownName, match=r"'when' is a level of the index.*df\.reset_index\('when'\)"):
        wrong(rows, sash.query("q", sash.tumbling(4), n=sash.count()))


def test_text_that_names_a_level_of_the_index_is_told_what_to_do() -> None:
    rows = frame_with(INDEXES["of times"])
    text = "SELECT COUNT(*) OVER (ORDER BY when ROWS 2 PRECEDING) AS n FROM rows"
    with pytest.raises(InvalidText, match=r"'when' is a level of the index.*df\.reset_index\('when'\)"):
        sash.sql(text, rows=rows)


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_text_with_over_keeps_the_index_of_the_rows_that_where_keeps(index: Any) -> None:
    rows = frame_with(index)
    text = "SELECT t, x, MAX(x) OVER (ORDER BY t ROWS 0 PRECEDING) AS m FROM rows"
    found = sash.sql(text, rows=rows)
    pd.testing.assert_index_equal(found.index, rows.index, exact="equiv")
    assert found["m"].tolist() == rows["x"].tolist()
    found = sash.sql(text + " WHERE x > 0", rows=rows)
    pd.testing.assert_index_equal(found.index, rows.index[rows["x"] > 0], exact="equiv")
    assert found["m"].tolist() == rows["x"][rows["x"] > 0].tolist()


def test_polars_keeps_its_order_and_types() -> None:
    rows = pl.DataFrame(
        {
            "t": [3, 1, 2],
            "x": [1.0, 2.0, 3.0],
            "e": pl.Series(["a", "b", "a"], dtype=pl.Enum(["b", "a"])),
            "c": pl.Series(["u", "v", None], dtype=pl.Categorical),
        }
    )
    found = sash.rolling(rows, on="t", rows=1, m=sash.max("x"))
    assert found.drop("m").equals(rows) and found.schema == {**rows.schema, "m": pl.Float64()}
    assert found["m"].to_list() == [1.0, 2.0, 3.0]


# --- on all cores --------------------------------------------------------------------------------------


@pytest.mark.only_compiled
@pytest.mark.parametrize("keys", [1, 40])
def test_frames_and_joins_are_the_same_to_the_last_bit_on_any_number_of_cores(
    keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(keys)
    count = 3000
    rows = pa.table(
        {
            "t": np.arange(count),
            "k": rng.integers(0, keys, count),
            "x": rng.normal(0.0, 10.0 ** rng.integers(0, 12, count)),
        }
    )
    parts: list[int] = []
    in_threads = loops._in_threads

    def counted(run: Any, cuts: Any) -> None:
        parts.append(len(set(cuts)) - 1)
        in_threads(run, cuts)

    def computed(cores: int) -> tuple[pa.Table, pa.Table]:
        monkeypatch.setattr(loops, "cores", lambda: cores)
        features = sash.lookback(rows, rows=25, total=sash.sum("x"))
        frames = sash.rolling(rows, on="t", by="k", rows=20, total=sash.sum("x"))
        return frames, sash.join(rows.select(["t", "k"]), features, on="t", by="k")

    monkeypatch.setattr(loops, "RANGE_BYTES", 64)
    monkeypatch.setattr(loops, "_in_threads", counted)
    alone = computed(1)
    assert not parts
    together = computed(3)
    assert parts == [3, 3]
    assert all(one.equals(other) for one, other in zip(together, alone, strict=True))
