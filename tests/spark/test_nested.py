"""Nested fields, references to columns, and DataFrames of pyspark.pandas on Spark: the results of one process."""

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from sash.errors import InvalidInput, UnknownName
from tests.spark.streams import Feed, ran

NOON = dt.datetime(2026, 1, 1, 12)
SCHEMA = "event struct<ts: timestamp_ntz>, meta struct<device: string, load: double>, x long"


def at(second: int) -> dt.datetime:
    return NOON + dt.timedelta(seconds=second)


ROWS: dict[str, list[Any]] = {
    "event": [{"ts": at(second)} for second in (1, 2, 12, 13, 25)],
    "meta": [{"device": "a", "load": 3.0}, None, {"device": "a", "load": 5.0}, *[{"device": "b", "load": 1.0}] * 2],
    "x": [1, 2, 3, 4, 5],
}
QUERY = sash.query(
    "q",
    sash.tumbling("10 seconds"),
    peak=sash.max("meta.load"),
    many=sash.count(where="`meta.load` > 2"),
    middle=sash.median("x"),
)
NESTED: dict[str, Any] = {"on": "event.ts", "by": "meta.device"}


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    return spark.createDataFrame([tuple(row) for row in zip(*ROWS.values(), strict=True)], SCHEMA)


def sorted_rows(table: Any) -> list[dict[str, Any]]:
    return sorted((pa.table(table).to_pylist()), key=str)


def test_windows_of_nested_fields_are_those_of_one_process(rows: Any) -> None:
    expected = sash.aggregate(ROWS, QUERY, **NESTED)
    assert expected.column_names[0] == "device"
    assert sorted_rows(sash.aggregate(rows, QUERY, **NESTED).toArrow()) == sorted_rows(expected)
    simple = sash.query("q", sash.tumbling("10 seconds"), peak=sash.max("meta.load"))  # Spark aggregates it alone
    for on, by in ((F.col("event.ts"), rows["meta.device"]), (rows.event.ts, F.col("meta").getField("device"))):
        found = sash.aggregate(rows, simple, on=on, by=[by])
        assert sorted_rows(found.toArrow()) == sorted_rows(sash.aggregate(ROWS, simple, **NESTED))


def test_frames_and_joins_read_nested_fields_and_return_the_columns_of_the_rows(rows: Any) -> None:
    frame: dict[str, Any] = {"rows": 2, "total": sash.sum("meta.load")}
    found = sash.rolling(rows, **NESTED, **frame)
    assert found.columns == ["event", "meta", "x", "total"]
    assert sorted_rows(found.toArrow()) == sorted_rows(sash.rolling(ROWS, **NESTED, **frame))
    back: dict[str, Any] = {"range": "20 seconds", "total": sash.sum("meta.load")}
    found = sash.join(rows, sash.lookback(rows, **back), **NESTED)
    assert found.columns == ["event", "meta", "x", "total"]
    assert sorted_rows(found.toArrow()) == sorted_rows(sash.join(ROWS, sash.lookback(ROWS, **back), **NESTED))


def test_stream_reads_nested_fields_and_keeps_late_rows_as_they_came(spark: Any, tmp_path: Path) -> None:
    table = pa.table(ROWS)
    feed = Feed(spark, tmp_path, SCHEMA).add(table.slice(2), table.slice(0, 2))
    stream = feed.stream()
    found = sash.aggregate(stream, QUERY, **NESTED, watermark="0 seconds", late="keep", flush="at_end")
    assert found.columns[0] == "device"
    kept = ran(feed, found).all()
    late = [row["late_row"] for row in kept if row["query"] == "_late"]
    assert sorted(late, key=str) == sorted(table.slice(0, 2).to_pylist(), key=str)
    windows = [{name: row[name] for name in ("device", "window_start", "peak", "many")} for row in kept if row["peak"]]
    expected = sash.aggregate(table.slice(2), QUERY, **NESTED).select(["device", "window_start", "peak", "many"])
    assert sorted(windows, key=str) == sorted(expected.to_pylist(), key=str)


def test_wrong_nested_field_is_refused_with_the_right_one(rows: Any) -> None:
    with pytest.raises(UnknownName, match=r"Did you mean 'meta\.load'"):
        sash.aggregate(rows, sash.query("q", sash.tumbling("1s"), m=sash.max("meta.lod")), on="event.ts")
    with pytest.raises(InvalidInput, match="select it first under a name"):
        sash.aggregate(rows, QUERY, on="event.ts", by=F.upper("meta.device"))


@pytest.mark.filterwarnings("ignore:.*to_pandas")  # Spark advises against it
def test_dataframes_of_pyspark_pandas_come_back_as_such(spark: Any) -> None:
    import pyspark.pandas as ps

    table = pd.DataFrame({"t": [3, 1, 2, 12], "k": ["a", "b", "a", "a"], "x": [1.0, 2.0, 3.0, 4.0]}, index=[7, 5, 5, 1])
    table.index.name = "row"
    given = ps.from_pandas(table)
    tens = sash.query("tens", sash.tumbling(10), peak=sash.max("x"))
    found = sash.aggregate(given, tens, on="t", by="k")
    assert isinstance(found, ps.DataFrame)
    columns = ["k", "window_start"]
    expected = sash.aggregate(table, tens, on="t", by="k").sort_values(columns)
    assert found.to_pandas().sort_values(columns).to_dict("records") == expected.to_dict("records")
    framed = sash.rolling(given, on="t", by="k", rows=2, total=sash.sum("x"))
    assert isinstance(framed, ps.DataFrame) and framed.index.name == "row"
    wanted = sash.rolling(table, on="t", by="k", rows=2, total=sash.sum("x"))
    pd.testing.assert_frame_equal(framed.to_pandas().sort_values("t"), wanted.sort_values("t"))
