"""Aggregates with a condition on Spark: as in one process on every path, and as Spark's own FILTER."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash.engine.options import CallOptions
from sash.errors import InvalidQuery
from sash.spark.driver import batch
from tests.oracles.test_conditions import drawn
from tests.spark.streams import Feed, ran

WHERE = "kind = 'card' OR x > 5"
FEATURES: dict[str, Any] = {
    "n": sash.count(where=WHERE),
    "total": sash.sum("x", where="kind = 'card'"),
    "upper": sash.count(where="kind = 'CARD'"),  # a name that differs in case only
    "most": sash.max("x", where="NOT is_paid"),
}
LISTS: dict[str, Any] = {"all": sash.collect("x", where=WHERE), "kinds": sash.count_distinct("kind", where="is_paid")}


def rows_of(seed: int) -> pa.Table:
    rows = drawn(random.Random(seed), 80)
    rows = rows.set_column(2, "x", rows["x"].cast(pa.int32()))
    return rows.set_column(0, "t", pa.array([t * 1_000_000 for t in rows["t"].to_pylist()], pa.timestamp("us", "UTC")))


def ordered(rows: Any, names: list[str]) -> list[tuple[Any, ...]]:
    return sorted((tuple(row[name] for name in names) for row in rows), key=repr)


@pytest.mark.parametrize("path", ["spark", "jvm", "packed"])
def test_windows_are_those_of_one_process_on_every_path(spark: Any, path: str) -> None:
    rows = rows_of(1)
    query = sash.query("ten", sash.tumbling("10 seconds"), **FEATURES)
    if path != "spark":
        query = sash.query("ten", sash.sliding("10 seconds", every="5 seconds"), **FEATURES)
    found = batch.aggregate(spark.createDataFrame(rows), query, CallOptions("t", "k"), path)
    names = ["k", "window_start", *FEATURES]
    assert ordered(found.toArrow().to_pylist(), names) == ordered(
        sash.aggregate(rows, query, on="t", by="k").to_pylist(), names
    )
    if path == "spark":
        rows_in_spark = spark.createDataFrame(rows)
        rows_in_spark.createOrReplaceTempView("conditions")
        own = spark.sql(
            "SELECT k, window.start AS window_start, count(*) FILTER (WHERE kind = 'card' OR x > 5) AS n, "
            "sum(x) FILTER (WHERE kind = 'card') AS total, count(*) FILTER (WHERE kind = 'CARD') AS upper, "
            "max(x) FILTER (WHERE NOT is_paid) AS most FROM conditions GROUP BY k, window(t, '10 seconds')"
        )
        assert ordered(own.toArrow().to_pylist(), names) == ordered(found.toArrow().to_pylist(), names)


def test_frames_joins_and_text_are_those_of_one_process(spark: Any) -> None:
    rows, labels = rows_of(2), rows_of(3).select(["t", "k", "place"])
    frame, asking = spark.createDataFrame(rows), spark.createDataFrame(labels)
    given: dict[str, Any] = {"on": "t", "by": "k", "range": ("-3 seconds", "2 seconds"), **FEATURES, **LISTS}
    wanted = sash.rolling(rows, **given)
    found = sash.rolling(frame, **given)
    assert found.columns == wanted.column_names
    assert sorted(found.toArrow().to_pylist(), key=lambda row: row["place"]) == wanted.to_pylist()
    both = [
        sash.join(
            left,
            sash.lookback(right, range="5 seconds", **FEATURES),
            sash.lookback(right, rows=3, **LISTS),
            on="t",
            by="k",
        )
        for left, right in ((asking, frame), (labels, rows))
    ]
    assert both[0].columns == both[1].column_names
    assert sorted(both[0].toArrow().to_pylist(), key=lambda row: row["place"]) == both[1].to_pylist()
    text = (
        "SELECT k, SUM(x * 2) FILTER (WHERE kind = 'card') AS a, SUM(x * 2) FILTER (WHERE kind = 'CARD') AS b "
        "FROM rows [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k"
    )
    said = [sash.sql(text, rows=each, on="t") for each in (frame, rows)]
    names = ["k", "window_start", "a", "b"]
    assert ordered(said[0].toArrow().to_pylist(), names) == ordered(said[1].to_pylist(), names)


def test_wrong_conditions_are_refused_before_anything_runs(spark: Any) -> None:
    frame = spark.createDataFrame(rows_of(1))
    for where, said in (("knd = 1", "Query 'ten', n=count"), ("kind = 1", "does not accept"), ("x", "compare it")):
        with pytest.raises(InvalidQuery, match=said):
            sash.aggregate(frame, sash.query("ten", sash.tumbling("1 hour"), n=sash.count(where=where)), on="t")


def test_streams_are_those_of_the_table_and_keep_late_rows_as_they_came(spark: Any, tmp_path: Path) -> None:
    rows = rows_of(4)
    schema = "t timestamp, k string, x int, kind string, is_paid boolean, place long"
    feed = Feed(spark, tmp_path / "windows", schema).add(rows.slice(20, 30), rows.slice(50), rows.slice(0, 1))
    query = sash.query("ten", sash.tumbling("10 seconds"), **FEATURES)
    options: dict[str, Any] = {"on": "t", "by": "k", "watermark": "1 second", "late": "keep", "flush": "at_end"}
    found = sash.aggregate(feed.stream(), query, initial=spark.createDataFrame(rows.slice(0, 20)), **options)
    sent = ran(feed, found).all()
    names = ["k", "window_start", *FEATURES]
    # The rows before the stream end windows, which are not sent again.
    ended = rows["t"][19].as_py() - timedelta(seconds=1)
    windows = sash.aggregate(rows, query, on="t", by="k").to_pylist()
    wanted = [row for row in windows if row["window_end"] > ended]
    assert 0 < len(wanted) < len(windows)
    assert ordered([row for row in sent if row["query"] == "ten"], names) == ordered(wanted, names)
    (late,) = [row["late_row"] for row in sent if row["query"] == "_late"]
    assert late == rows.slice(0, 1).to_pylist()[0]
    other = Feed(spark, tmp_path / "frames", schema).add(rows.slice(0, 40), rows.slice(40))
    given: dict[str, Any] = {"on": "t", "by": "k", "rows": (-2, 1), **FEATURES}
    framed = sash.rolling(other.stream(), watermark="1 second", flush="at_end", **given)
    found_rows = sorted(ran(other, framed).all(), key=lambda row: row["place"])
    assert found_rows == sash.rolling(rows, **given).to_pylist()
