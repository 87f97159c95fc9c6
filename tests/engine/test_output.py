"""Results are like the rows: kind of table, index, types of columns."""

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash

TENS = sash.query("tens", sash.tumbling(10), n=sash.count(), peak=sash.max("x"))
RECENT: dict[str, Any] = {"t": [1, 2, 12], "k": ["a", "b", "a"], "x": [1, None, 3]}

# --- the index of pandas -----------------------------------------------------------------------------


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """A DataFrame with any index: filtered, shuffled, with duplicates, of several levels, of strings or times."""
    count = draw(st.integers(0, 12))
    numbers = st.lists(st.integers(-5, 5), min_size=count, max_size=count)
    times, values, keys = draw(numbers), draw(numbers), draw(numbers)
    table = pd.DataFrame({"t": times, "x": [float(each) for each in values], "k": [each % 2 for each in keys]})
    labels = draw(numbers)
    kind = draw(st.sampled_from(["range", "filtered", "shuffled", "duplicated", "levels", "strings", "times"]))
    if kind == "filtered":
        return table[table.x > 0]
    if kind == "shuffled":
        return table.iloc[draw(st.permutations(range(count)))]
    if kind == "levels":
        table.index = pd.MultiIndex.from_arrays([labels, [str(each) for each in keys]], names=["one", None])
    elif kind == "strings":
        table.index = pd.Index([f"row {each}" for each in labels], name="row", dtype=object)
    elif kind == "times":
        table.index = pd.to_datetime(labels, unit="D")
    elif kind == "duplicated":
        table.index = pd.Index(labels, dtype="int64")
    return table


def sum_of_last(table: pd.DataFrame, rows: int) -> list[float]:
    """The sums of the last rows of each key, in the order of t and of arrival, by a plain loop."""
    given = list(zip(table.t, table.k, table.x, strict=True))
    found = []
    for place, (t, key, _) in enumerate(given):
        before = [(u, at, x) for at, (u, other, x) in enumerate(given) if other == key and (u, at) <= (t, place)]
        found.append(sum(x for _, _, x in sorted(before)[-rows:]))
    return found


@settings(max_examples=60, deadline=None)
@given(table=frames(), rows=st.integers(1, 4))
def test_a_result_is_assigned_to_its_row_whatever_the_index(table: pd.DataFrame, rows: int) -> None:
    expected = sum_of_last(table, rows)
    before = table.copy()
    result = sash.rolling(table, on="t", by="k", rows=rows, f=sash.sum("x"))
    assert result.index.equals(table.index) and result.index.names == table.index.names
    table = table.copy()
    table["f"] = result["f"]
    assert table["f"].tolist() == expected
    pd.testing.assert_frame_equal(table.drop(columns="f"), before)
    joined = sash.join(table, sash.lookback(before, rows=rows, closed="both", g=sash.count()), on="t", by="k")
    assert joined.index.equals(table.index)


# --- types of columns --------------------------------------------------------------------------------

TYPED = pd.DataFrame(
    {
        "t": pd.to_datetime([1, 2, 20], unit="s").tz_localize("Europe/Berlin"),
        "k": pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"], ordered=True),
        "whole": pd.array([1, None, 3], dtype="Int32"),
        "text": pd.array(["x", None, "z"], dtype="string"),
        "plain": [1, 2, 3],
        "flag": [True, False, True],
        "arrow": pd.array([1, 2, None], dtype="int64[pyarrow]"),
    }
)
WINDOWS = sash.query(
    "q",
    sash.tumbling("10s"),
    rows=sash.count(),
    total=sash.sum("whole"),
    text=sash.max("text"),
    first=sash.first("k"),
    late=sash.sum("plain", where="plain > 2"),
    is_late=sash.last("flag", where="plain > 2"),
    mean=sash.mean("arrow"),
    top=sash.max("arrow"),
)


def test_columns_of_pandas_have_the_types_of_the_columns_that_they_read() -> None:
    result = sash.aggregate(TYPED, WINDOWS, on="t", by="k")
    types = {name: str(kind) for name, kind in result.dtypes.items()}
    assert result["k"].dtype == TYPED["k"].dtype and result["first"].dtype == TYPED["k"].dtype
    assert types["window_start"] == types["window_end"] == str(TYPED["t"].dtype)
    assert types["total"] == "Int64" and types["text"] == "string"
    assert types["rows"] == "int64"
    assert types["late"] == "Int64" and types["is_late"] == "boolean"  # whole numbers and booleans beside nulls
    assert types["mean"] == "double[pyarrow]" and types["top"] == "int64[pyarrow]"
    assert sorted(result["late"].dropna().tolist()) == [3]


def test_numbers_about_the_text_of_pandas_3_have_types_of_numpy() -> None:
    """Its text has NaN as the null, so it is no nullable type; pandas 2.2 and 2.3 have it as an option."""
    with pd.option_context("future.infer_string", True):
        rows = pd.DataFrame({"t": [1, 2, 12], "s": ["x", None, "y"]})
    assert isinstance(rows["s"].dtype, pd.StringDtype)
    asked: dict[str, Any] = {"n": sash.count("s"), "kinds": sash.count_distinct("s"), "most": sash.max("s")}
    windows = sash.aggregate(rows, sash.query("q", sash.tumbling(10), **asked), on="t")
    frames = sash.rolling(rows, on="t", rows=1, **asked)
    for result, counts in ((windows, [1, 1]), (frames, [1, 0, 1])):
        assert result["most"].dtype == rows["s"].dtype
        for name in ("n", "kinds"):
            assert (str(result[name].dtype), result[name].tolist()) == ("int64", counts)


def test_rows_of_pandas_keep_their_types_and_get_such() -> None:
    result = sash.rolling(
        TYPED, on="t", rows=(-2, -1), whole_before=sash.last("whole"), kind=sash.last("k"), n=sash.count()
    )
    assert (result.dtypes[TYPED.columns] == TYPED.dtypes).all()
    assert list(result.columns) == [*TYPED.columns, "whole_before", "kind", "n"]
    assert str(result["whole_before"].dtype) == "Int32" and result["kind"].dtype == TYPED["k"].dtype
    assert result["n"].tolist() == [0, 1, 2] and str(result["n"].dtype) == "int64"


def test_query_text_returns_the_types_of_pandas() -> None:
    text = "SELECT k, whole, LAST(whole) OVER (ORDER BY t ROWS 1 PRECEDING) AS l FROM rows WHERE plain > 1"
    shuffled = TYPED.set_index(pd.Index([7, 7, 3]))
    result = sash.sql(text, rows=shuffled)
    assert result["k"].dtype == TYPED["k"].dtype and str(result["whole"].dtype) == str(result["l"].dtype) == "Int32"
    assert result.index.tolist() == [7, 3]
    text = "SELECT k, COUNT(*) AS n FROM rows [RANGE 10 SECONDS SLIDE 10 SECONDS] WHERE plain > 0 GROUP BY k"
    windows = sash.sql(text, rows=shuffled, on="t")
    assert windows["k"].dtype == TYPED["k"].dtype


def test_categories_of_polars_and_of_arrow_stay_categories() -> None:
    kinds = pl.Enum(["a", "b"])
    rows = pl.DataFrame(RECENT).with_columns(pl.col("k").cast(kinds))
    result = sash.aggregate(rows, TENS, on="t", by="k")
    assert result.schema["k"] == kinds
    assert sash.rolling(rows, on="t", rows=1, last=sash.last("k")).schema["last"] == kinds
    table = pa.table({**RECENT, "k": pa.array(RECENT["k"]).dictionary_encode()})
    assert sash.aggregate(table, TENS, on="t", by="k").schema.field("k").type == table.schema.field("k").type


# --- kinds of tables -----------------------------------------------------------------------------------

CALLS: dict[str, Any] = {
    "aggregate": lambda rows: sash.aggregate(rows, TENS, on="t", by="k"),
    "rolling": lambda rows: sash.rolling(rows, on="t", by="k", rows=2, n=sash.count()),
    "join": lambda rows: sash.join(rows, sash.lookback(rows, range=20, n=sash.count()), on="t", by="k"),
    "windowed": lambda rows: sash.windowed(TENS, on="t", by="k")(rows),
    "sql": lambda rows: sash.sql("SELECT k, MAX(x) AS m FROM r [RANGE 10 SLIDE 10] GROUP BY k", r=rows, on="t"),
    "sql with a condition": lambda rows: sash.sql(
        "SELECT k, MAX(x) AS m FROM r [RANGE 10 SLIDE 10] WHERE x > 0 GROUP BY k", r=rows, on="t"
    ),
    "sql per row": lambda rows: sash.sql("SELECT k, SUM(x) OVER (ORDER BY t ROWS 1 PRECEDING) AS s FROM r", r=rows),
}


@pytest.mark.parametrize("call", list(CALLS))
def test_lazy_frames_stay_lazy_and_relations_stay_relations(call: str) -> None:
    expected = CALLS[call](pa.table(RECENT)).to_pylist()
    lazy = CALLS[call](pl.LazyFrame(RECENT))
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().to_dicts() == expected
    with duckdb.connect() as connection:
        connection.register("given", pa.table(RECENT))
        relation = CALLS[call](connection.table("given"))
        assert isinstance(relation, duckdb.DuckDBPyRelation)
        names = list(expected[0])
        found = [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
        assert found == expected and relation.columns == names
        assert relation.union(relation).fetchall()  # of the same connection


def test_a_lazy_frame_is_computed_once() -> None:
    runs = []

    def count(rows: pl.DataFrame) -> pl.DataFrame:
        runs.append(rows.height)
        return rows

    lazy = pl.LazyFrame(RECENT).map_batches(count, schema=pl.LazyFrame(RECENT).collect_schema())
    sash.rolling(lazy, on="t", rows=2, n=sash.count()).collect()
    assert runs == [3]
