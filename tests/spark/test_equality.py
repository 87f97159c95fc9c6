"""What Spark's own window(), session_window() and OVER can say, sash answers with the same rows and values."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import sash
from sash.engine.options import CallOptions
from sash.limits import LIMITS, Limits
from sash.spark.driver import batch
from tests.sample import sample, with_compat
from tests.spark.cases import case
from tests.spark.native import answers, difference, native_frames, native_windows, of_sash, types

FEW = Limits(task_rows=50, packed_rows=40, piece_rows=10)
EDGES = ("query", "window_start", "window_end")
SEEDS = (
    pytest.param(0, marks=pytest.mark.compiled),
    pytest.param(1, marks=pytest.mark.compat),
    pytest.param(2, marks=pytest.mark.long),
)
SEEDS_OF_FRAMES = (pytest.param(1, marks=[pytest.mark.compiled, pytest.mark.compat]), 4)  # of the same rows
MORE = [pytest.param(seed, marks=pytest.mark.long) for seed in range(5, 17)]


def by_name(by: tuple[str, ...]) -> Any:
    return None if not by else by[0] if len(by) == 1 else list(by)


@pytest.mark.parametrize("seed", [*SEEDS, *MORE])
def test_windows_are_those_of_spark_on_every_path(spark: Any, seed: int) -> None:
    given = case(seed, null_times=True)
    rows = given.table(spark)
    windows = given.grids | given.sessions
    native = native_windows(rows, windows, given.values, "t", given.by)
    wanted = answers(native, (*given.by, *EDGES))
    by = by_name(given.by)
    everything = of_sash(windows, given.values, given.length())
    grids = of_sash(given.grids, given.values, given.length())
    ways: dict[str, DataFrame] = {
        "packed": batch.aggregate(rows, everything, CallOptions("t", by), path="packed"),
        "packed, few rows at once": batch.aggregate(rows, everything, CallOptions("t", by, limits=FEW), path="packed"),
    }
    if given.on_kind != "timestamp_ntz":  # Spark cannot tell its microseconds
        ways["jvm"] = batch.aggregate(rows, grids, CallOptions("t", by, limits=FEW if seed % 3 else LIMITS), path="jvm")
    names = [each.name for each in given.values]
    for way, found in ways.items():
        assert types(found, [*given.by, *names]) == types(native, [*given.by, *names]), way
        asked = grids if way.startswith("jvm") else everything
        own = {key: value for key, value in wanted.items() if key[-3] in {each.name for each in asked}}
        wrong = difference(answers(found, (*given.by, *EDGES)), own)
        assert not wrong, f"{way}\n{wrong}"


@pytest.mark.parametrize("of_session", sample(["UTC", "America/New_York"], ["America/New_York"]))
def test_tumbling_windows_that_spark_finishes_itself_are_the_same(spark: Any, zone: Any, of_session: str) -> None:
    zone(of_session)
    rows = spark.range(400).select(
        F.timestamp_micros((F.col("id") * 7919 % 401 - 200) * 1_300_000).alias("t"),
        F.when(F.col("id") % 5 != 0, F.col("id") % 3).alias("k"),
        F.when(F.col("id") % 7 != 0, F.col("id").cast("int")).alias("i"),
        F.when(F.col("id") % 11 != 0, F.sqrt("id")).alias("x"),
    )
    values: dict[str, Any] = {"n": sash.count(), "s": sash.sum("i"), "m": sash.mean("x"), "low": sash.min("i")}
    values |= {"v": sash.variance("x"), "d": sash.stddev("i", population=True), "high": sash.max("x")}
    query = sash.query("ten", sash.tumbling("10 seconds", offset="3 seconds"), **values)
    assert batch.explain(rows, query, CallOptions("t", "k")).path.choice == "spark"
    found = sash.aggregate(rows, query, on="t", by="k")
    wanted = batch.aggregate(rows, query, CallOptions("t", "k"), path="packed")
    assert found.dtypes == wanted.dtypes
    key = ("k", *EDGES)
    assert not (wrong := difference(answers(found, key), answers(wanted, key))), wrong


@pytest.mark.parametrize("seed", [*SEEDS_OF_FRAMES, *MORE])
def test_frames_are_those_of_over(spark: Any, seed: int) -> None:
    given = case(seed, null_times=False)
    rows = given.table(spark)
    native = native_frames(rows, given.frames, given.values, "t", given.by, "arrival")
    wanted = answers(native, ["arrival"])
    frames = [each.of_sash(given.values, given.length()) for each in given.frames]
    ways = {
        "as it comes": sash.rolling(rows, *frames, on="t", by=by_name(given.by)),
        "few rows at once": batch.rolling(rows, (*frames,), CallOptions("t", by_name(given.by), limits=FEW)),
    }
    for way, found in ways.items():
        assert types(found, found.columns) == types(native, native.columns), way
        wrong = difference(answers(found, ["arrival"]), wanted)
        assert not wrong, f"{way}\n{wrong}"


@pytest.mark.parametrize("limits", [LIMITS, FEW], ids=["all rows at once", "few rows at once"])
def test_frames_of_floats_begin_where_those_of_over_do(spark: Any, limits: Limits) -> None:
    """Tenths are not exact: -8.1 - 0.3 is -8.4, and -8.1 - -8.4 is more than 0.3."""
    tenths = (F.col("id") * 7919 % 400 - 200) / 10
    rows = spark.range(600, numPartitions=3).select("id", F.round(tenths, 1).alias("t"), (F.col("id") % 3).alias("k"))
    for length in (0.3, 0.7, 2.3):
        over = f"OVER (PARTITION BY k ORDER BY t RANGE BETWEEN {length}D PRECEDING AND CURRENT ROW)"
        native = rows.selectExpr("id", f"count(*) {over} AS n", f"sum(id) {over} AS s")
        wanted = {row["id"]: (row["n"], row["s"]) for row in native.collect()}
        framed = batch.rolling(
            rows, (sash.frame(range=length, n=sash.count(), s=sash.sum("id")),), CallOptions("t", "k", limits=limits)
        )
        assert {row["id"]: (row["n"], row["s"]) for row in framed.collect()} == wanted, length
    empty = batch.rolling(
        rows, (sash.frame(range=0.0, closed="right", n=sash.count()),), CallOptions("t", "k", limits=limits)
    )
    assert {row["n"] for row in empty.collect()} == {0}


def test_rows_exactly_a_gap_apart_are_one_session_in_both(spark: Any) -> None:
    """The contract says that they join; Spark's batch joins them as well."""
    rows = spark.range(0, 1).select(F.explode(F.array(*map(F.lit, (0, 10, 21, 5)))).alias("s"))
    rows = rows.select(F.timestamp_seconds("s").alias("t"))
    native = rows.groupBy(F.session_window("t", "10 seconds").alias("w")).count()
    wanted = {(row["w"]["start"], row["w"]["end"], row["count"]) for row in native.collect()}
    found = sash.aggregate(rows, sash.query("q", sash.session(gap="10s"), n=sash.count()), on="t").collect()
    assert {(row["window_start"], row["window_end"], row["n"]) for row in found} == wanted
    assert sorted(count for *_, count in wanted) == [1, 3]


@pytest.mark.compat
def test_an_empty_table_has_no_window_and_no_frame(spark: Any) -> None:
    rows = spark.createDataFrame([], "t timestamp, k string, x double")
    queries = [
        sash.query("grid", sash.tumbling("1s"), s=sash.sum("x")),
        sash.query("visit", sash.session(gap="1s"), s=sash.sum("x")),
    ]
    for path in ("auto", "packed"):
        assert batch.aggregate(rows, queries, CallOptions("t", "k"), path=path).collect() == []
    assert sash.rolling(rows, on="t", by="k", rows=3, s=sash.sum("x")).collect() == []


def test_windows_further_apart_than_they_are_long_leave_rows_out_on_every_path(spark: Any) -> None:
    """Spark's window() refuses a slide that is larger than the size; the rows of each window are still plain to say."""
    rows = spark.range(-50, 50).select(F.timestamp_seconds("id").alias("t"), F.col("id").alias("x"))
    query = sash.query("q", sash.sliding("3s", every="10s", offset="1s"), n=sash.count(), s=sash.sum("x"))
    wanted = {}
    for start in range(-59, 50, 10):
        own = [each for each in range(-50, 50) if start <= each < start + 3]
        if own:
            wanted[("q", start * 1_000_000, (start + 3) * 1_000_000)] = {"n": len(own), "s": sum(own)}
    for path in ("packed", "jvm"):
        for limits in (LIMITS, FEW):
            found = answers(batch.aggregate(rows, query, CallOptions("t", limits=limits), path=path), EDGES)
            assert not (wrong := difference(found, wanted)), f"{path}\n{wrong}"


def test_a_result_can_be_asked_further_as_any_dataframe(spark: Any) -> None:
    rows = spark.range(100).select(F.timestamp_seconds("id").alias("t"), (F.col("id") % 3).alias("k"))
    query = sash.query("q", sash.tumbling("10s"), n=sash.count())
    total = sash.aggregate(rows, query, on="t", by="k").groupBy("k").agg(F.sum("n").alias("n")).orderBy("k").collect()
    assert [(row["k"], row["n"]) for row in total] == [(0, 34), (1, 33), (2, 33)]


@pytest.mark.compat
@pytest.mark.parametrize("limits", [LIMITS, FEW], ids=["all rows at once", "few rows at once"])
def test_rows_at_one_position_are_in_the_order_of_arrival(spark: Any, limits: Limits) -> None:
    """Ten rows stand at each of 24 positions, in three partitions; Spark numbers partitions as they are given."""
    rows = spark.range(240, numPartitions=3).select(
        (F.col("id") * 7 % 24).alias("t"), F.col("id").alias("x"), F.lit("a").alias("k")
    )
    order = sorted(range(240), key=lambda each: (each * 7 % 24, each))
    five = {start: [each for each in order if start <= each * 7 % 24 < start + 5] for start in range(0, 24, 5)}
    ends = {start: (own[0], own[-1]) for start, own in five.items()}

    by_time = sash.query("five", sash.tumbling(5), a=sash.first("x"), b=sash.last("x"), all=sash.collect("x"))
    by_count = sash.query("seven", sash.tumbling(rows=7), all=sash.collect("x"))
    found = batch.aggregate(rows, [by_time, by_count], CallOptions("t", "k", limits=limits), path="packed").collect()
    assert {row["window_start"]: row["all"] for row in found if row["query"] == "five"} == five
    assert {row["window_start"]: (row["a"], row["b"]) for row in found if row["query"] == "five"} == ends
    sevens = {start: order[start : start + 7] for start in range(0, 238, 7)}
    assert {row["rank_start"]: row["all"] for row in found if row["query"] == "seven"} == sevens

    short = sash.query("five", sash.tumbling(5), a=sash.first("x"), b=sash.last("x"))
    found = batch.aggregate(rows, short, CallOptions("t", "k", limits=limits), path="jvm").collect()
    assert {row["window_start"]: (row["a"], row["b"]) for row in found} == ends

    framed = batch.rolling(
        rows, (sash.frame(rows=3, last=sash.collect("x")),), CallOptions("t", "k", limits=limits)
    ).collect()
    wanted = {each: order[max(0, at - 2) : at + 1] for at, each in enumerate(order)}
    assert {row["x"]: row["last"] for row in framed} == wanted


@pytest.mark.parametrize(
    "unit", [*sample(["day", "week", "quarter", "year"], ["week"]), *with_compat(["month"], ["month"])]
)
def test_windows_of_the_calendar_are_those_of_date_trunc(spark: Any, unit: str) -> None:
    zone = "America/New_York"
    seconds = F.lit(1_700_000_000) + F.col("id") * 4321
    rows = spark.range(9000).select(F.timestamp_seconds(seconds).alias("t"), (F.col("id") % 3).alias("k"), "id")
    begins = F.to_utc_timestamp(F.date_trunc(unit, F.from_utc_timestamp("t", zone)), zone)
    wanted = rows.groupBy("k", begins.alias("start")).agg(F.sum("id").alias("total"), F.count("*").alias("n"))
    query = sash.query("q", sash.tumbling(f"1 {unit}", zone=zone), total=sash.sum("id"), n=sash.count())
    for path in ("jvm", "packed"):
        found = batch.aggregate(rows, query, CallOptions("t", "k"), path=path).select("k", "window_start", "total", "n")
        assert sorted(map(tuple, found.collect())) == sorted(map(tuple, wanted.collect())), path


@pytest.mark.parametrize("seed", sample(range(2), [0]))
def test_windows_of_the_calendar_are_the_same_on_every_path(spark: Any, seed: int) -> None:
    """Rows of 170 years and sentinels of the years 1 and 9999 lie inside and outside of the table that Spark joins."""
    dice = F.pmod(F.col("id") * 9_876_543_211_123 + 7_000_000_000 * seed, F.lit(5_500_000_000_000_000))
    times = F.timestamp_micros(dice - 1_000_000_000_000_000)
    rows = spark.range(1500).select(times.alias("t"), (F.col("id") % 3).alias("k"), "id", F.sqrt("id").alias("x"))
    sentinels = ("0001-01-01 00:00:00Z", "9999-12-31 00:00:00Z", None)
    strays = spark.createDataFrame([(each, 1, 7, 1.0) for each in sentinels], "t string, k bigint, id bigint, x double")
    rows = rows.union(strays.withColumn("t", F.to_timestamp("t")))
    opening = [datetime(2000, 1, day, hour, 30, tzinfo=UTC) for day in range(3, 30) for hour in (9, 16)]
    windows = {
        "day": sash.tumbling("1 day", zone="Europe/Berlin"),
        "months": sash.sliding("3 months", every="1 month", zone="America/New_York"),
        "odd": sash.sliding("45 days", every="1 month", offset="6 hours", zone="Asia/Kolkata"),
        "week": sash.tumbling("1 week", zone="Africa/Monrovia"),
        "grown": sash.cumulative("1 month", every="1 day", zone="Pacific/Apia"),
        "hours": sash.cumulative("1 day", every="6 hours", zone="UTC"),
        "market": sash.calendar(opening),
        "plain": sash.sliding("90 days", every="30 days"),
    }
    values = {"n": sash.count(), "total": sash.sum("id"), "first": sash.first("x"), "peak": sash.max("x")}
    queries = [sash.query(name, window, **values) for name, window in windows.items()]
    asked = queries if seed else queries[:2]
    found = [
        sorted(
            tuple(map(str, row))
            for row in batch.aggregate(rows, asked, CallOptions("t", "k"), path=path)
            .withColumns({name: F.unix_micros(name) for name in ("window_start", "window_end")})
            .collect()
        )
        for path in ("packed", "jvm")
    ]
    assert found[0] == found[1] and len(found[0]) > 1000
