"""Query text on DataFrames, bounded and streaming, says what it says on Arrow tables."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import sash
from sash import text
from sash.errors import InvalidText
from sash.spark.driver import expressions
from sash.spark.versions import collect
from sash.syntax.expressions import SCALARS
from tests.spark.older_spark import table_of
from tests.spark.streams import Feed, ran
from tests.text.test_expressions import TABLE, VALUES, same

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EVENTS = pa.table(
    {
        "ts": pa.array([NOON + timedelta(seconds=13 * each) for each in range(60)], pa.timestamp("us", "UTC")),
        "the plug": ["abc"[each % 3] for each in range(60)],
        "load": [None if each % 7 == 6 else float(each * 13 % 29) for each in range(60)],
    }
)
FRAMES = """
    SELECT ts, `the plug`, MAX(load / 10) OVER w AS near, COUNT(*) OVER (PARTITION BY `the plug` ORDER BY ts) AS rows
    FROM t WHERE load IS NOT NULL AND `the plug` IN ('a', 'b')
    WINDOW w AS (PARTITION BY `the plug` ORDER BY ts ROWS 3 PRECEDING)
"""
WINDOWS = """
    SELECT `the plug`, SUM(load * 2) AS total, COUNT(*) AS n FROM t [RANGE 2 MINUTES SLIDE 1 MINUTE]
    WHERE load > 3 AND ts >= TIMESTAMP '2026-01-01 12:01:00' GROUP BY `the plug`;
    recent: SELECT LAST(load) AS total FROM t [ROWS 4 SLIDE 2]
    WHERE load > 3 AND ts >= TIMESTAMP '2026-01-01 12:01:00' GROUP BY `the plug`
"""


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


@pytest.mark.compat
def test_windows_and_frames_of_a_dataframe_are_those_of_a_table(spark: SparkSession) -> None:
    given = table_of(spark, EVENTS)
    for asked, on in ((WINDOWS, "ts"), (FRAMES, None)):
        found, wanted = sash.sql(asked, t=given, on=on), sash.sql(asked, t=EVENTS, on=on)
        assert found.columns == wanted.column_names
        assert rows_of(collect(found)) == rows_of(wanted)


@pytest.mark.compat
def test_every_expression_has_the_value_that_it_has_on_arrow(spark: SparkSession, zone: Any) -> None:
    zone("Europe/Paris")  # that of the column: a time without a zone is in the one in which times are shown
    reader = expressions.OnSpark()
    where = {said: text.parse(f"SELECT MAX(i) FROM t [ROWS 1] WHERE {said}")[0].where for said, _ in VALUES}
    columns = [each.read(reader).alias(str(place)) for place, each in enumerate(where.values()) if each is not None]
    found = collect(table_of(spark, TABLE).coalesce(1).select(*columns))
    for place, (said, wanted) in enumerate(VALUES):
        assert all(map(same, found.column(str(place)).to_pylist(), wanted)), said
    assert set(SCALARS) <= set(expressions._FUNCTIONS)


def test_days_and_times_long_ago_are_literals_too(spark: SparkSession) -> None:
    days = "date'0001-01-01', date'0999-12-31', date'2024-01-01'"
    rows = spark.sql(f"SELECT explode(array({days})) AS d").selectExpr("d", "cast(d AS timestamp_ntz) AS ts")
    for where in (
        "d <= DATE '0999-12-31'",
        "ts <= TIMESTAMP '0999-12-31'",
        "d IN (DATE '0001-01-01', DATE '0999-12-31')",
    ):
        asked = f"SELECT COUNT(*) AS n FROM t [RANGE 10000 DAYS SLIDE 10000 DAYS] WHERE {where}"
        assert sum(row["n"] for row in sash.sql(asked, t=rows, on="ts").select("n").collect()) == 2


def test_a_wrong_text_is_refused_before_spark_runs(spark: SparkSession) -> None:
    given = table_of(spark, EVENTS)
    for wrong, says in (
        ("SELECT MAX(load) FROM t [ROWS 5 SLIDE 5] WHERE lod > 1", "There is no column 'lod'. Did you mean 'load'?"),
        ("SELECT MAX(load) FROM t [ROWS 5 SLIDE 5] WHERE load > 'a'", "> does not accept double and string"),
        ("SELECT MAX(`the plug` + 1) FROM t [ROWS 5 SLIDE 5]", r"\+ does not accept string and int32"),
    ):
        with pytest.raises(InvalidText, match=says):
            sash.sql(wrong, t=given, on="ts")


@pytest.mark.compat_streams
def test_a_stream_is_asked_by_text(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path, "ts timestamp, `the plug` string, load double")
    feed.add(EVENTS.slice(0, 25), EVENTS.slice(25))
    live = sash.sql(WINDOWS, t=feed.stream(), on="ts", watermark="1 minute", flush="at_end")
    assert rows_of(pa.Table.from_pylist(ran(feed, live).all())) == rows_of(sash.sql(WINDOWS, t=EVENTS, on="ts"))
    with pytest.raises(InvalidText, match="would keep every row of a stream"):
        sash.sql(FRAMES, t=feed.stream(), watermark="1 minute")
