import datetime as dt
import decimal
import math
import subprocess
import sys
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.engine.keys import Keys
from sash.engine.output import open_table
from sash.engine.tables import Kind, kind_of, read_positions, read_rows, to_arrow
from sash.errors import InvalidInput, UnknownName
from sash.swag.values import read_one
from sash.windows.measure import Measure

COLUMNS: dict[str, list[Any]] = {
    "ts": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), None],
    "plug": ["a", None, "b"],
    "x": [0.5, 1.5, None],
    "n": [1, 2, 3],
}
TABLE = pa.table(COLUMNS)

SAME_ROWS: dict[str, Any] = {
    "dict of lists": COLUMNS,
    "dict of tuples": {name: tuple(values) for name, values in COLUMNS.items()},
    "dict of Arrow arrays": {name: pa.array(values) for name, values in COLUMNS.items()},
    "dict of chunked arrays": {name: TABLE.column(name) for name in COLUMNS},
    "dict of pandas series": {name: pd.Series(values) for name, values in COLUMNS.items()},
    "dict of Polars series": {name: pl.Series(values) for name, values in COLUMNS.items()},
    "dict of object arrays": {name: np.array(values, object) for name, values in COLUMNS.items()},
    "Arrow table": TABLE,
    "record batch": TABLE.to_batches()[0],
    "reader": TABLE.to_reader,
    "pandas": pd.DataFrame(COLUMNS),
    "pandas with an index": pd.DataFrame(COLUMNS, index=[7, 8, 9]),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas on Arrow": TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.DataFrame(COLUMNS),
    "DuckDB": duckdb.from_arrow(TABLE),
}


@pytest.mark.parametrize("name", SAME_ROWS)
def test_rows_are_the_same_whatever_they_come_as(name: str) -> None:
    given_ = SAME_ROWS[name]() if callable(SAME_ROWS[name]) else SAME_ROWS[name]
    rows = read_rows(given_)
    assert rows.count == len(rows) == 3
    assert rows.names == tuple(COLUMNS)
    assert rows.table().to_pydict() == COLUMNS
    assert rows.column("x").valid is not None
    assert rows.column("x").data[:2].tolist() == [0.5, 1.5]
    assert rows.column("n").data.tolist() == [1, 2, 3]
    assert rows.column("plug").data == ["a", None, "b"]
    measure = rows.measure("ts")
    positions, valid = rows.positions("ts", measure)
    assert positions.tolist() == [1_704_067_200_000_000, 1_704_153_600_000_000, 0]
    assert valid is not None and valid.tolist() == [True, True, False]
    assert Keys([rows.arrow("plug").type]).slots([rows.key("plug")], 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ({"x": [1]}, Kind.DICT),
        (TABLE, Kind.ARROW),
        (TABLE.to_batches()[0], Kind.ARROW),
        (pd.DataFrame({"x": [1]}), Kind.PANDAS),
        (pl.DataFrame({"x": [1]}), Kind.POLARS),
        (pl.LazyFrame({"x": [1]}), Kind.LAZY),
        (duckdb.sql("select 1 as x"), Kind.DUCKDB),
    ],
    ids=lambda each: type(each).__name__,
)
def test_results_come_back_as_what_the_rows_were(rows: Any, kind: Kind) -> None:
    assert kind_of(rows) is kind
    result = open_table(rows).like(pa.table({"y": [1, 2]}), {})
    assert isinstance(result, pa.Table if kind in (Kind.ARROW, Kind.DICT) else type(rows))
    assert to_arrow(result).to_pydict() == {"y": [1, 2]}


@pytest.mark.parametrize(
    ("rows", "fix"),
    [
        (pl.Series([1]), "a DataFrame"),
        (pd.Series([1]), "name the column in a dict"),
        (pa.array([1]), "in a dict, under a name"),
        ([{"x": 1}], "from_pylist"),
        ([1, 2], "convert"),
        (None, "convert"),
        ("ts", "convert"),
        (7, "convert"),
        ({1: [2]}, "must be strings"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_is_no_table_is_refused_with_a_fix(rows: Any, fix: str) -> None:
    with pytest.raises(InvalidInput, match=fix):
        read_rows(rows)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (1, "it is 1"),
        ("abc", "it is 'abc'"),
        (None, "it is None"),
        ({1, 2}, "one list"),
        (np.zeros((2, 2)), r"it is \(2, 2\)"),
        (np.array(5), "one list"),
        (pd.DataFrame({"x": [1]}), "one list"),
    ],
    ids=str,
)
def test_what_is_no_column_is_refused_by_name(column: Any, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"'x' cannot be read: .*{reason}"):
        read_rows({"x": column})


def test_ragged_columns_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"same length, but have \{'a': 1, 'b': 2\}"):
        read_rows({"a": [1], "b": [1, 2]})


@pytest.mark.parametrize(
    "values",
    [
        [1, "a"],
        ["a", 1],
        [1, True],
        [True, 1],
        ["a", b"a"],
        [dt.datetime(2024, 1, 1), 5],
        [2**70],
        [object()],
        [1j],
        ["\ud800"],
    ],
    ids=lambda values: " and ".join(type(value).__name__ for value in values),
)
def test_mixed_columns_are_refused_by_name(values: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="'x' cannot be read"):
        read_rows({"y": [1] * len(values), "x": values}).arrow("x")
    with pytest.raises(InvalidInput, match="'x' cannot be read"):
        to_arrow({"x": np.array(values, object)})
    if len(values) > 1:
        with pytest.raises(InvalidInput, match="'x' cannot be read"):
            read_rows({"x": values}).column("x")
        with pytest.raises(InvalidInput, match="'x' cannot be read"):
            to_arrow(pd.DataFrame({"x": pd.Series(values, dtype=object)}))


def test_nested_columns_matter_only_where_they_are_needed() -> None:
    rows = read_rows(pa.table({"x": [[1], [2]], "y": [1, 2]}))
    assert rows.column("y").data.tolist() == [1, 2]
    assert rows.table().num_columns == 2
    with pytest.raises(InvalidInput, match="'x' cannot be read"):
        rows.column("x")
    with pytest.raises(InvalidInput, match="'x'"):
        rows.measure("x")


def test_unknown_and_double_columns_are_refused_by_name() -> None:
    with pytest.raises(UnknownName, match=r"'lod'\. Did you mean 'load'"):
        read_rows({"load": [1]}).column("lod")
    twice = pa.table([[1], [2]], names=["x", "x"])
    assert read_rows(twice).table() is twice
    for rows in (twice, pd.DataFrame([[1, 2]], columns=["x", "x"])):
        with pytest.raises(InvalidInput, match="several columns 'x'"):
            read_rows(rows).column("x")


@pytest.mark.parametrize("rows", [{}, {"ts": []}, pa.table({}), pd.DataFrame(), pl.DataFrame()], ids=str)
def test_there_may_be_no_rows(rows: Any) -> None:
    assert read_rows(rows).count == to_arrow(rows).num_rows == 0


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (np.array(["2024-01-01T05"], "M8[h]"), pa.timestamp("s")),
        (np.array(["2024"], "M8[Y]"), pa.date32()),
        (np.array([5], "m8[m]"), pa.duration("s")),
        (np.arange(3, dtype=">i4"), pa.int32()),
        (np.arange(3, dtype=np.float16), pa.float16()),
        (np.arange(3, dtype=np.longdouble), pa.float64()),
        (np.array(["a", "b"]), pa.string()),
        (np.array([True]), pa.bool_()),
        (np.arange(6)[::2], pa.int64()),
    ],
    ids=str,
)
def test_arrays_of_any_layout_are_read(array: Any, kind: Any) -> None:
    column = to_arrow({"x": array}).column("x")
    assert column.type == kind
    assert column.to_pylist()[0] is not None


def test_masked_values_are_null() -> None:
    masked = np.ma.MaskedArray([1, 2], mask=[False, True])
    assert to_arrow({"x": masked}).to_pydict() == {"x": [1, None]}


@given(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=5)
    | st.lists(st.none() | st.floats(), max_size=5)
    | st.lists(st.integers() | st.floats(), max_size=5)
    | st.lists(st.none() | st.text(), max_size=5)
    | st.lists(st.booleans(), max_size=5)
    | st.lists(st.decimals(allow_nan=False, min_value=0, max_value=9, places=2), max_size=5)
)
def test_lists_are_read_as_the_algorithms_read_them(values: list[Any]) -> None:
    try:
        expected = read_one(values)
    except InvalidInput:
        with pytest.raises(InvalidInput, match="'x'"):
            read_rows({"x": values}).column("x")
        return
    found = read_rows({"x": values}).column("x")
    assert (found.column, found.source, found.logical) == (expected.column, expected.source, expected.logical)
    assert (found.valid is None) == (expected.valid is None)
    if isinstance(expected.data, list):
        assert found.data == expected.data
    else:
        np.testing.assert_array_equal(found.data, expected.data)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12)
    | st.lists(st.floats(), max_size=12)
    | st.lists(st.none() | st.integers(-(2**40), 2**40), max_size=12)
    | st.lists(st.none() | st.floats(), max_size=12)
)
def test_positions_of_a_list_are_those_of_its_arrow_column(values: list[Any]) -> None:
    rows = read_rows({"ts": values})
    measure = rows.measure("ts")
    positions, valid = rows.positions("ts", measure)
    expected, known = read_positions(pa.array(values), measure)
    assert positions.dtype == measure.dtype
    assert positions.tolist() == expected.tolist()
    assert (np.ones(len(values), bool) if valid is None else valid).tolist() == (
        np.ones(len(values), bool) if known is None else known
    ).tolist()


def test_no_column_has_no_positions() -> None:
    positions, valid = read_positions(None, Measure.of(pa.float64()))
    assert len(positions) == 0 and valid is None and positions.dtype == np.float64


def test_nan_is_null_only_to_pandas() -> None:
    assert to_arrow({"x": [math.nan]}).column("x").null_count == 0
    assert to_arrow({"x": np.array([math.nan])}).column("x").null_count == 0
    assert to_arrow(pd.DataFrame({"x": [math.nan]})).column("x").null_count == 1


def test_polars_categories_in_several_chunks_are_keys() -> None:
    first, second = (
        pl.DataFrame({"k": pl.Series(values, dtype=pl.Categorical)}) for values in (["a", "b"], ["c", "a"])
    )
    rows = read_rows(pl.concat([first, second], rechunk=False))
    keys = Keys([rows.arrow("k").type], ["k"])
    assert keys.slots([rows.key("k")], 4).tolist() == [0, 1, 2, 0]
    assert keys.columns(np.array([2, 0]))[0].to_pylist() == ["c", "a"]


def test_decimals_are_values() -> None:
    assert read_rows({"x": [decimal.Decimal("1.5")]}).column("x").data == [decimal.Decimal("1.5")]


def test_neither_pandas_nor_polars_is_imported() -> None:
    # Arrow's own pa.array imports pandas where it is installed, so only the short way is held to this.
    code = (
        "import sys, sash.engine.tables as t; rows = t.read_rows({'x': [1]}); rows.column('x'); "
        "assert not {'pandas', 'polars', 'duckdb'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
