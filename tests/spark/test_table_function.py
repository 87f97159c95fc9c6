"""Query text inside Spark SQL gives what `sash.sql` gives for the same DataFrame."""

import os
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as kinds
from pyspark.sql.udtf import AnalyzeArgument

import sash
from sash.algebra.aggregate import Template
from sash.errors import InvalidInput
from sash.spark import register_functions
from sash.spark.driver.function_analysis import function_class
from sash.spark.worker.table_function import _BATCH
from tests.sample import sample
from tests.spark.streams import Feed

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROWS = 90
EVENTS = pa.table(
    {
        "ts": pa.array([NOON + timedelta(seconds=13 * each) for each in range(ROWS)], pa.timestamp("us", "UTC")),
        "plug": [None if each % 5 == 4 else "abc"[each % 3] for each in range(ROWS)],
        "house": pa.array([each % 2 for each in range(ROWS)], pa.int16()),
        "load": [None if each % 7 == 6 else float(each * 13 % 29) for each in range(ROWS)],
        "is_start": [each % 11 == 0 for each in range(ROWS)],
    }
)
TEXTS = [
    ("SELECT MAX(load) AS peak, COUNT(*) AS n FROM events [RANGE 3 MINUTES SLIDE 1 MINUTE PARTITION BY plug]", "ts"),
    ("SELECT MEDIAN(load) AS m, ARGMAX(load, plug) AS who FROM events [ROWS 20 SLIDE 7]", "ts"),
    ("SELECT house, plug, SUM(load) AS s FROM events [SESSION GAP 40 SECONDS] GROUP BY house, plug", "ts"),
    ("SELECT COLLECT(load) AS loads, LAST(ts) AS at FROM events [PUNCTUATED BY is_start]", "ts"),
    ("SELECT LAST(load) AS l FROM events [ROWS 5 SLIDE 1 MINUTE] GROUP BY plug", "ts"),
    ("SELECT MAX(load) AS peak FROM events [ROWS 4] GROUP BY plug", "ts"),
    (
        """SELECT window_start, window_end, plug, SUM(load * 2) AS total FROM TABLE(
               TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) WHERE load > 3 AND plug IN ('a', 'b')
           GROUP BY window_start, window_end, plug""",
        None,
    ),
    (
        """SELECT plug, ts, MAX(load / 10) OVER w AS near, COUNT(*) OVER (PARTITION BY plug ORDER BY ts) AS rows
           FROM events WINDOW w AS (PARTITION BY plug ORDER BY ts ROWS 3 PRECEDING)""",
        None,
    ),
    (
        """SELECT *, AVG(load) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW) AS mean
           FROM events WHERE ts >= TIMESTAMP '2026-01-01 12:05:00'""",
        None,
    ),
    (
        """long: SELECT MAX(load) AS peak FROM events [RANGE 10 MINUTES SLIDE 5 MINUTES] GROUP BY house;
           short: SELECT M4(load) AS shape FROM events [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY house""",
        "ts",
    ),
]


@pytest.fixture(autouse=True)
def function(spark: SparkSession) -> None:
    register_functions(spark)


def called(rows: DataFrame, text: str, on: str | None = None, name: str = "sash") -> DataFrame:
    return rows.sparkSession.sql(
        f"SELECT * FROM {name}(TABLE({{rows}}), :text, :on)", {"text": text, "on": on}, rows=rows
    )


def rows_of(table: DataFrame) -> list[str]:
    return sorted(repr(list(row.items())) for row in table.toArrow().to_pylist())


def check(rows: DataFrame, text: str, on: str | None = None) -> DataFrame:
    """What the function gives, if it is what `sash.sql` gives."""
    found, wanted = called(rows, text, on), sash.sql(text, events=rows, on=on)
    assert found.schema.simpleString() == wanted.schema.simpleString()
    assert rows_of(found) == rows_of(wanted) != []
    return found


@pytest.mark.parametrize(("text", "on"), sample(TEXTS, [TEXTS[0], TEXTS[3], TEXTS[7], TEXTS[9]]))
def test_a_text_says_in_sql_what_it_says_of_a_dataframe(spark: SparkSession, text: str, on: str | None) -> None:
    check(spark.createDataFrame(EVENTS), text, on)


@pytest.mark.compat_streams
def test_arguments_have_names_and_the_key_may_be_one_of_them(spark: SparkSession) -> None:
    events = spark.createDataFrame(EVENTS)
    events.createOrReplaceTempView("readings")
    text = "SELECT MAX(load) AS peak FROM events [ROWS 9 SLIDE 3]"
    said = f"SELECT * FROM sash(rows => TABLE(readings), query => '{text}', on => 'ts', by => array('plug', 'house'))"
    assert rows_of(spark.sql(said)) == rows_of(sash.sql(text, events=events, on="ts", by=["plug", "house"]))


def test_every_type_comes_through(spark: SparkSession) -> None:
    of_three = {
        "t": pa.array([1, 2, 3]),
        "i8": pa.array([-128, None, 127], pa.int8()),
        "f4": pa.array([0.1, float("nan"), None], pa.float32()),
        "f8": [float("-inf"), 0.1, None],
        "d": pa.array([Decimal("-12345678.90"), None, Decimal("0.01")], pa.decimal128(10, 2)),
        "wide": pa.array([Decimal("9" * 38), Decimal(1), None], pa.decimal128(38, 0)),
        "s": ["é", "", None],
        "b": [True, None, False],
        "raw": [b"\x00\xff", b"", None],
        "day": [date(1, 1, 1), None, date(9999, 12, 31)],
        "plain": pa.array([datetime(2026, 3, 8, 2, 30), None, datetime(1969, 1, 1)], pa.timestamp("us")),
        "ts": pa.array([1, None, -1], pa.timestamp("us", "UTC")),
    }
    events = spark.createDataFrame(pa.table(of_three)).withColumn("plain", F.col("plain").cast("timestamp_ntz"))
    check(events, "SELECT *, COUNT(*) OVER (ORDER BY t) AS n FROM events")
    check(events, "SELECT *, COUNT(*) OVER (ORDER BY plain) AS n FROM events")
    others = [name for name in of_three if name not in ("t", "raw", "b")]
    asked = ", ".join(f"MAX({name}) AS `max {name}`, LAST({name}) AS `last {name}`" for name in others)
    check(events, f"SELECT {asked}, SUM(d) AS s, AVG(d) AS m, LAST(raw) AS r FROM events [RANGE 2 SLIDE 1]", "t")
    for key in others:
        check(events, f"SELECT `{key}`, COUNT(*) AS n FROM events [RANGE 2 SLIDE 2] GROUP BY `{key}`", "t")
    text = "SELECT COUNT(*) AS n FROM events [RANGE 1 DAY SLIDE 1 DAY]"
    check(events.where("t = 1"), text, "day")
    with pytest.raises(PythonException, match=r"window_end'.* after 9999, which Python has not: use sash\.sql"):
        called(events, text, "day").collect()


@pytest.mark.parametrize("process", sample(["UTC", "America/New_York"], []))
def test_instants_are_exact_where_clocks_are_turned_back(
    spark: SparkSession, zone: Any, monkeypatch: pytest.MonkeyPatch, process: str
) -> None:
    """01:30 comes twice in New York on November 1st, 2026; Python's local times tell neither from the other."""
    monkeypatch.setitem(spark.sparkContext.environment, "TZ", process)
    zone("America/New_York")
    register_functions(spark)
    assert spark.range(1).select(F.udf(lambda: os.environ["TZ"])()).first()[0] == process  # type: ignore[index]
    before = datetime(2026, 11, 1, 4, tzinfo=UTC)
    times = [before + timedelta(minutes=10 * each, microseconds=each) for each in range(24)]
    events = spark.createDataFrame(pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "x": range(24)}))
    found = check(events, "SELECT COUNT(*) AS n, MAX(ts) AS last FROM events [RANGE 1 HOUR SLIDE 30 MINUTES]", "ts")
    assert found.select("window_start").distinct().count() == 9
    check(events, "SELECT ts, MIN(ts) OVER (ORDER BY ts ROWS 2 PRECEDING) AS near FROM events")
    check(events, "SELECT ts, COUNT(*) OVER (PARTITION BY ts ORDER BY ts) AS n FROM events")
    text = "SELECT COUNT(*) AS n FROM events [RANGE 1 HOUR SLIDE 1 HOUR] WHERE ts > TIMESTAMP '2026-11-01 00:30:00'"
    check(events, text, "ts")


def test_a_key_that_is_no_number_is_one_key(spark: SparkSession) -> None:
    keys = [float("nan"), 0.0, -0.0, None] * 6
    events = spark.createDataFrame(pa.table({"t": range(24), "k": keys})).repartition(3)
    found = check(events, "SELECT k, COUNT(*) AS n FROM events [RANGE 24 SLIDE 24] GROUP BY k", "t")
    assert sorted(row["n"] for row in found.collect()) == [6, 6, 12]


NAMES = ["a.b", "it's", "back`tick`", "`", "k) OR (1=1", "-- k", "\\", "new\nline", "größe"]


@pytest.mark.parametrize("name", sample(NAMES, ["back`tick`", "k) OR (1=1"]))
def test_a_name_may_hold_anything(spark: SparkSession, name: str) -> None:
    events = spark.createDataFrame(pa.table({"t": range(9), name: [each % 2 for each in range(9)]}))
    quoted = "`" + name.replace("`", "``") + "`"
    check(events, f"SELECT COUNT(*) AS n, MAX({quoted}) AS m FROM events [RANGE 3 SLIDE 3] GROUP BY {quoted}", "t")


def test_no_rows_give_no_results(spark: SparkSession) -> None:
    nothing = spark.createDataFrame(EVENTS).where("load > 1000")
    assert called(nothing, *TEXTS[0]).collect() == called(nothing, *TEXTS[1]).collect() == []


def test_rows_beyond_a_batch_are_answered_together() -> None:
    count = 2 * _BATCH + 5
    schema = kinds.StructType([kinds.StructField("t", kinds.LongType()), kinds.StructField("x", kinds.DoubleType())])
    text = "SELECT SUM(x) AS s FROM events [ROWS 1000 SLIDE 70000]"
    given = [AnalyzeArgument(schema, None, True, False)]
    given += [AnalyzeArgument(kinds.StringType(), each, False, True) for each in (text, "t")]
    handler: Any = function_class({})
    bucket = handler(handler.analyze(*given))
    for each in range(count):
        bucket.eval((each, float(each)), text, "t")
    rows = {"t": list(range(count)), "x": [float(each) for each in range(count)]}
    wanted = sash.sql(text, events=rows, on="t").to_pylist()
    assert list(bucket.terminate()) == [tuple(row.values()) for row in wanted] != []


# --- aggregates of users --------------------------------------------------------------------------


def halves(name: str = "halves_of") -> sash.Aggregate:
    def lift(x: float) -> float:
        if x > 20:
            raise ValueError("too large")
        return x / 2

    return sash.Aggregate(name, state="O", identity=0.0, lift=lift, combine=lambda a, b: a + b, result=pa.float64())


def test_aggregates_of_users_travel_with_the_function(spark: SparkSession) -> None:
    events = spark.createDataFrame(EVENTS).where("load < 20")
    sash.register(halves())
    given: dict[str, Template] = {"hv": halves("other")}
    register_functions(spark, name="sash_own", functions=given)
    text = "SELECT HALVES_OF(load) AS a, HV(load) AS b FROM events [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY plug"
    wanted = sash.sql(text, events=events, on="ts", functions=given)
    assert rows_of(called(events, text, "ts", "sash_own")) == rows_of(wanted) != []
    with pytest.raises(AnalysisException, match=r"There is no function 'HV'"):
        called(events, "SELECT HV(load) FROM events [ROWS 5 SLIDE 5]", "ts")


def test_a_function_of_a_user_that_fails_is_told_with_its_key(spark: SparkSession) -> None:
    register_functions(spark, name="sash_own", functions={"hv": halves("other")})
    text = "SELECT HV(load) AS b FROM events [RANGE 1 MINUTE SLIDE 1 MINUTE] GROUP BY plug"
    with pytest.raises(PythonException, match=r"too large[\s\S]*Key: plug=(None|'[abc]')\. Rows: .*load=2\d\.0"):
        called(spark.createDataFrame(EVENTS), text, "ts", "sash_own").collect()


# --- what is refused ------------------------------------------------------------------------------

WINDOW = "FROM events [ROWS 5 SLIDE 5]"
MISTAKES = [
    (f"TABLE(odd), 'SELECT MAX(lod) {WINDOW}', 'ts'", r"Line 1: There is no column 'lod'\. Did you mean 'load'\?"),
    ("TABLE(odd), 'SELECT MAX(load', 'ts'", r"Line 1: Expected \), a comma or an operator"),
    ("TABLE(odd), 'SELECT MAX(load) FROM [ROWS 5]', 'ts'", "Line 1: Expected "),
    (f"TABLE(odd), 'SELECT MAX(load) {WINDOW}', 'when'", r"There is no column 'when'\. The known ones: "),
    (f"TABLE(odd), 'SELECT MAX(load) {WINDOW}', 'ts', 'plog'", r"There is no column 'plog'\. Did you mean 'plug'\?"),
    (f"TABLE(odd), 'SELECT MAX(load) {WINDOW}'", "on must be the name of a column of times or numbers"),
    (f"TABLE(odd), 'SELECT MAX(load) {WINDOW} WHERE load > ''a''', 'ts'", "> does not accept double and string"),
    (f"TABLE(odd), 'SELECT MAX(load) {WINDOW}', 'plug'", "cannot be `on`: it must hold"),
    (f"TABLE(odd), 'SELECT COLLECT(tags) {WINDOW}', 'ts'", "array<int> cannot be sent to a table function"),
    (f"TABLE(odd), 'SELECT COUNT(*) {WINDOW} GROUP BY lower', 'ts'", "string collate UTF8_LCASE cannot be sent"),
    (f"'odd', 'SELECT MAX(load) {WINDOW}', 'ts'", r"The first argument must be a table, as in TABLE\(events\)"),
    ("TABLE(odd), 7, 'ts'", "query must be the text of a query, but is 7"),
    (f"TABLE(odd), 'SELECT MAX(load) {WINDOW}', plug", "on must be a constant"),
]


@pytest.mark.parametrize(("call", "says"), sample(MISTAKES, [MISTAKES[0], *MISTAKES[8:11]]))
def test_what_is_wrong_is_said_by_the_analysis(spark: SparkSession, call: str, says: str) -> None:
    odd = spark.createDataFrame(EVENTS).selectExpr("*", "array(1) AS tags", "plug COLLATE UTF8_LCASE AS lower")
    odd.createOrReplaceTempView("odd")
    with pytest.raises(AnalysisException, match=says):
        spark.sql(
            f"SELECT f.* FROM odd, LATERAL sash({call}) f" if "plug)" in f"{call})" else f"SELECT * FROM sash({call})"
        )


def test_a_name_that_spark_would_fill_in_is_refused(spark: SparkSession) -> None:
    spark.createDataFrame(EVENTS).select("ts", F.col("load").alias("a${load}")).createOrReplaceTempView("odd")
    text = "SELECT *, COUNT(*) OVER (ORDER BY ts ROWS 5 PRECEDING) AS n FROM odd"
    with pytest.raises(AnalysisException, match=r"rename it, or use sash\.sql"):
        spark.sql(f"SELECT * FROM sash(TABLE(odd), '{text}')")


def test_a_stream_is_refused_with_and_without_a_key(spark: SparkSession, tmp_path: Any) -> None:
    feed = Feed(spark, tmp_path, "ts timestamp, plug string, load double").add(EVENTS)
    feed.stream().createOrReplaceTempView("live")
    for by in ("", " GROUP BY plug"):
        live = spark.sql(f"SELECT * FROM sash(TABLE(live), 'SELECT MAX(load) {WINDOW}{by}', 'ts')")
        with pytest.raises(AnalysisException, match="Sorting is not supported on streaming DataFrames"):
            live.writeStream.format("noop").option("checkpointLocation", feed.checkpoint).start()


@pytest.mark.parametrize("name", ["", "a b", "x.y", None])
def test_a_function_needs_a_plain_name(spark: SparkSession, name: Any) -> None:
    with pytest.raises(InvalidInput, match="name must be the name of a function"):
        register_functions(spark, name=name)
