"""SQL that people write, on DataFrames: the results of Arrow tables, and of Spark's own window functions."""

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import sash
from sash.errors import InvalidText
from sash.spark.versions import collect
from tests.sample import sample
from tests.spark.older_spark import table_of
from tests.spark.streams import Feed, ran
from tests.text.test_duckdb import FRAMES, TABLE, same

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
EVENTS = pa.table(
    {
        "ts": pa.array([NOON + dt.timedelta(seconds=41 * each) for each in range(60)], pa.timestamp("us", "UTC")),
        "plug": ["abc"[each * each % 3] for each in range(60)],
        "Load": [None if each % 7 == 6 else float(each * 13 % 29) for each in range(60)],
    }
)
SPARK = [
    (
        "SELECT plug, window.start s, window.end e, MAX(load) - MIN(load) AS x FROM t "
        "GROUP BY window(ts, '10 minutes'), plug"
    ),
    "SELECT window.start s, window.end e, COUNT(*) AS x FROM t GROUP BY window(ts, '30 minutes', '10 minutes')",
    (
        "SELECT window.start s, window.end e, SUM(load) AS x FROM t "
        "GROUP BY window(ts, '30 minutes', '10 minutes', '7 minutes') HAVING COUNT(*) > 8"
    ),
    (
        "SELECT plug, session_window.start s, session_window.end e, COUNT(DISTINCT load) AS x FROM t "
        "GROUP BY plug, session_window(ts, '2 minutes')"
    ),
    (
        "SELECT window.start s, window.end e, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY load) AS x FROM t "
        "GROUP BY window(ts, '10 minutes')"
    ),
]


def rows_of(table: Any, names: list[str]) -> list[list[Any]]:
    return sorted(([row[name] for name in names] for row in table.to_pylist()), key=repr)


def alike(found: list[list[Any]], wanted: list[list[Any]]) -> bool:
    return len(found) == len(wanted) and all(
        all(map(same, one, other)) for one, other in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize("text", sample(SPARK, [SPARK[2], SPARK[3]]))
def test_windows_in_group_by_are_those_of_spark(spark: SparkSession, text: str) -> None:
    rows = table_of(spark, EVENTS)
    rows.createOrReplaceTempView("t")
    wanted = collect(spark.sql(text))
    found = collect(sash.sql(text, t=rows))
    names = wanted.column_names
    assert alike(rows_of(found, names), rows_of(wanted, names))
    assert alike(rows_of(sash.sql(text, t=EVENTS), names), rows_of(wanted, names))


@pytest.mark.parametrize("text", sample(FRAMES, [FRAMES[1], FRAMES[20]]))
def test_a_result_per_row_is_that_of_arrow(spark: SparkSession, text: str) -> None:
    found, wanted = collect(sash.sql(text, t=table_of(spark, TABLE))), sash.sql(text, t=TABLE)
    assert found.column_names == wanted.column_names
    ours, theirs = ([list(row.values()) for row in each.to_pylist()] for each in (found, wanted))
    if "LIMIT" not in text:
        ours, theirs = sorted(ours, key=repr), sorted(theirs, key=repr)
    assert alike(ours, theirs)


def test_a_stream_computes_filters_and_refuses_to_sort(spark: SparkSession, tmp_path: Path) -> None:
    text = (
        "WITH used AS (SELECT ts, plug AS name, load FROM t WHERE load IS NOT NULL) "
        "SELECT name, ROUND(MAX(load) - MIN(load), 1) width FROM used GROUP BY window(ts, '10 minutes'), name "
        "HAVING COUNT(*) > 2"
    )
    feed = Feed(spark, tmp_path, "ts timestamp, plug string, Load double")
    feed.add(EVENTS.slice(0, 25), EVENTS.slice(25))
    live = sash.sql(text, t=feed.stream(), watermark="1 minute", flush="at_end")
    wanted = sash.sql(text, t=EVENTS)
    assert live.columns == wanted.column_names == ["name", "query", "window_start", "window_end", "width"]
    names = ["name", "window_start", "width"]
    assert alike(rows_of(pa.Table.from_pylist(ran(feed, live).all()), names), rows_of(wanted, names))
    with pytest.raises(InvalidText, match="ORDER BY needs all results, and a stream has no end"):
        sash.sql(f"{text} ORDER BY width", t=feed.stream(), watermark="1 minute")
    with pytest.raises(InvalidText, match="LIMIT needs all results"):
        sash.sql(f"{text} LIMIT 3", t=feed.stream(), watermark="1 minute")
    with pytest.raises(InvalidText, match="HAVING would leave out a revision"):
        sash.sql(text, t=feed.stream(), watermark="1 minute", emit="updates")


def test_types_and_names_are_refused_on_the_driver(spark: SparkSession) -> None:
    rows = table_of(spark, EVENTS)
    for text, says in (
        (
            "SELECT MAX(load) || 'x' AS x FROM t GROUP BY window(ts, '1 hour')",
            r"\|\| does not accept double and string",
        ),
        ("SELECT MAX(load) AS x FROM t GROUP BY window(ts, '1 hour') HAVING x", "HAVING or QUALIFY takes a condition"),
        ("WITH u AS (SELECT * FROM t WHERE lod > 1) SELECT MAX(load) FROM u [ROWS 5]", "There is no column 'lod'"),
        ("SELECT MAX(CAST(ts AS DOUBLE)) FROM t GROUP BY window(ts, '1 hour')", "CAST to double does not accept"),
    ):
        with pytest.raises(InvalidText, match=says):
            sash.sql(text, t=rows)
