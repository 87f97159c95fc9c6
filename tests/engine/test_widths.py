"""Columns of narrow numbers use the kernels of wide ones, and their results keep their types."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.engine.input_rows import types_of
from sash.engine.tables import read_rows

NARROW = ["int8", "int16", "int32", "uint8", "uint16", "uint32", "float32"]
KEPT = {"low": sash.min("x"), "high": sash.max("x"), "first": sash.first("x"), "last": sash.last("x")}
KEPT |= {"most": sash.mode("x"), "place": sash.argmax("x", "x")}
WIDE = {"n": sash.count("x"), "total": sash.sum("x"), "mean": sash.mean("x"), "spread": sash.stddev("x")}
WIDE |= {"middle": sash.median("x"), "kinds": sash.count_distinct("x"), "often": sash.max_count("x")}


def rows(dtype: Any) -> pa.Table:
    """Rows with nulls, and with the largest and the smallest number of the type."""
    kind = np.dtype(dtype)
    ends = [np.finfo(kind).max / 8, -np.finfo(kind).max / 8] if kind.kind == "f" else None
    least, most = ends or (np.iinfo(kind).min, np.iinfo(kind).max)
    values = [3, None, most, 1, least, 3, None, 7, most, 2]
    return pa.table({"t": list(range(10)), "x": pa.array([None if v is None else kind.type(v) for v in values])})


def results(table: pa.Table, aggregates: dict[str, Any]) -> list[pa.Table]:
    windows = sash.aggregate(table, sash.query("q", sash.sliding(4, every=2), **aggregates), on="t")
    return [windows, sash.rolling(table, on="t", rows=3, **aggregates).select(list(aggregates))]


@pytest.mark.parametrize("dtype", NARROW)
def test_values_keep_the_type_of_their_column(dtype: str) -> None:
    table = rows(dtype)
    wide = table.set_column(1, "x", table["x"].cast(pa.float64() if dtype == "float32" else pa.int64()))
    for narrow, expected in zip(results(table, KEPT), results(wide, KEPT), strict=True):
        assert {narrow.schema.field(name).type for name in KEPT} == {table.schema.field("x").type}
        assert narrow.select(list(KEPT)).to_pydict() == expected.select(list(KEPT)).to_pydict()


@pytest.mark.parametrize("dtype", NARROW)
def test_other_results_are_those_of_the_wide_type(dtype: str) -> None:
    table = rows(dtype)
    wide = table.set_column(1, "x", table["x"].cast(pa.float64() if dtype == "float32" else pa.int64()))
    for narrow, expected in zip(results(table, WIDE), results(wide, WIDE), strict=True):
        assert narrow.equals(expected)


@pytest.mark.parametrize("dtype", NARROW)
def test_kernels_are_those_of_the_wide_type(dtype: str) -> None:
    query = sash.query("q", sash.tumbling(4), **KEPT, **WIDE)
    kind = types_of([query], read_rows(rows(dtype)), may_change=False)["x"]
    assert kind.column.field.code == ("f8" if dtype == "float32" else "i8")
    assert kind.arrow == pa.from_numpy_dtype(np.dtype(dtype))


@pytest.mark.parametrize("reader", [sash.m4("x"), sash.hyperloglog("x"), sash.collect("x"), sash.range("x")])
def test_a_column_stays_narrow_if_the_width_shows(reader: Any) -> None:
    query = sash.query("q", sash.tumbling(4), value=reader, total=sash.sum("x"))
    assert types_of([query], read_rows(rows("int16")), may_change=False)["x"].column.field.code == "i2"
