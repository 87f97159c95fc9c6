"""Results have Spark's own types and values; `on` is any column that advances; instants do not depend on the zone."""

from collections.abc import Callable
from datetime import time
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import sash
from sash.engine.options import CallOptions
from sash.spark.driver import batch
from tests.sample import sample, with_compat
from tests.spark.native import Frame, Grid, Value, answers, difference, micros, native_frames, native_windows, types

EDGES = ("query", "window_start", "window_end")
SECOND = 1_000_000
NUMBERS = ("count", "sum", "mean", "min", "max")
OTHERS = ("count", "min", "max")

# Column types of one kind, what is asked of them, and how a value is made from a number between -8 and 8.
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Any, str], Any]]] = {
    "integers": (("tinyint", "smallint", "int", "bigint"), NUMBERS, lambda n, kind: n.cast(kind)),
    "fractions": (
        ("float", "double"),
        NUMBERS,
        lambda n, kind: F.when(n == 7, F.lit("NaN")).otherwise((n * 0.3).cast("string")).cast(kind),
    ),
    "decimals": (
        ("decimal(10,2)", "decimal(38,10)"),
        NUMBERS,
        lambda n, kind: (n * F.lit("12345678.91" if kind == "decimal(38,10)" else "1.23").cast("decimal(20,2)")).cast(
            kind
        ),
    ),
    "text and truth": (("string", "boolean"), OTHERS, lambda n, kind: (n % 2 == 0) if kind == "boolean" else _text(n)),
    "times": (("date", "timestamp", "timestamp_ntz"), OTHERS, lambda n, kind: _time(n).cast(kind)),
}


def _text(n: Any) -> Any:
    """Of several lengths and alphabets, the empty one among them."""
    return F.element_at(F.array(*map(F.lit, ("", "a", "ab", "é", "z", "🙂", "Z"))), F.abs(n % 7) + 1)


def _time(n: Any) -> Any:
    """Instants on either side of 1970, in fractions of seconds."""
    return F.timestamp_micros(n * 40_000_000_000_123)


def _named(kind: str) -> str:
    return "x_" + kind.partition("(")[0] + "".join(each for each in kind if each.isdigit())


def table(spark: Any, kind: str) -> tuple[DataFrame, list[Value]]:
    """Forty rows of two keys over forty seconds, one value in five null; a key of which all values are null."""
    columns, functions, make = KINDS[kind]
    n = (F.col("id") * 7919 % 17 - 8).cast("int")
    known = (F.col("id") % 5 != 3) & (F.col("k") != "nothing")
    rows = spark.range(40, numPartitions=2).withColumn(
        "k", F.element_at(F.array(*map(F.lit, ("a", "b", "a", "b", "a", "nothing"))), (F.col("id") % 6 + 1).cast("int"))
    )
    rows = rows.withColumn("t", F.timestamp_seconds("id"))
    for each in columns:
        rows = rows.withColumn(_named(each), F.when(known, make(n, each)))
    return rows, [Value(function, _named(each)) for each in columns for function in functions]


@pytest.mark.parametrize("kind", with_compat(KINDS, ["decimals", "text and truth"]))
def test_results_of_windows_have_sparks_own_types_and_values(spark: Any, kind: str) -> None:
    rows, values = table(spark, kind)
    windows = {"q": Grid(10 * SECOND, 4 * SECOND)}
    native = native_windows(rows, windows, values, "t", ["k"])
    names = [each.name for each in values]
    wanted = answers(native, ("k", *EDGES))
    query = sash.query("q", windows["q"].of_sash(micros), **{each.name: each.of_sash() for each in values})
    for path in ("packed",) if kind == "decimals" else ("packed", "jvm"):  # Spark has no exact partials of decimals
        found = batch.aggregate(rows, query, CallOptions("t", "k"), path=path)
        assert types(found, names) == types(native, names), path
        assert not (wrong := difference(answers(found, ("k", *EDGES)), wanted)), f"{path}\n{wrong}"


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_frames_have_sparks_own_types_and_values(spark: Any, kind: str) -> None:
    rows, values = table(spark, kind)
    frames = [Frame("rows", rows=5), Frame("range", range=7 * SECOND)]
    native = native_frames(rows, frames, values, "t", ["k"], "id")
    found = sash.rolling(rows, *(each.of_sash(values, micros) for each in frames), on="t", by="k")
    assert types(found, found.columns) == types(native, native.columns)
    assert not (wrong := difference(answers(found, ["id"]), answers(native, ["id"]))), wrong


def test_the_names_of_sparks_result_types_are_the_documented_ones(spark: Any) -> None:
    """The types by themselves, so that no mistake of the comparison can hide one."""
    wanted = {
        "integers": {"sum_x_tinyint": "bigint", "mean_x_int": "double", "max_x_smallint": "smallint"},
        "fractions": {"sum_x_float": "double", "mean_x_float": "double", "max_x_float": "float"},
        "decimals": {
            "sum_x_decimal102": "decimal(20,2)",
            "mean_x_decimal102": "decimal(14,6)",
            "max_x_decimal102": "decimal(10,2)",
            "sum_x_decimal3810": "decimal(38,10)",
            "mean_x_decimal3810": "decimal(38,14)",
        },
        "text and truth": {"max_x_string": "string", "min_x_boolean": "boolean", "count_x_string": "bigint"},
        "times": {"max_x_date": "date", "min_x_timestamp": "timestamp", "max_x_timestamp_ntz": "timestamp_ntz"},
    }
    for kind, results in wanted.items():
        rows, values = table(spark, kind)
        query = sash.query("q", sash.tumbling("10s"), **{each.name: each.of_sash() for each in values})
        assert types(sash.aggregate(rows, query, on="t"), results) == results
        frames = sash.rolling(rows, on="t", rows=3, **{each.name: each.of_sash() for each in values})
        assert types(frames, results) == results


# --- what rows advance by --------------------------------------------------------------------------

DAY = 86_400 * SECOND
ADVANCE: dict[str, tuple[Callable[[Any], Any], Callable[[int], Any]]] = {
    "timestamp": (lambda n: F.timestamp_micros(n * DAY), lambda n: f"{n} days"),
    "timestamp_ntz": (lambda n: F.timestamp_micros(n * DAY).cast("timestamp_ntz"), lambda n: f"{n} days"),
    "date": (lambda n: F.date_add(F.lit("1970-01-01").cast("date"), n.cast("int")), lambda n: f"{n} days"),
    "int": (lambda n: n.cast("int"), int),
    "bigint": (lambda n: n.cast("bigint"), int),
    "smallint": (lambda n: n.cast("smallint"), int),
    "double": (lambda n: n * 0.5, lambda n: n * 0.5),
    "float": (lambda n: (n * 0.5).cast("float"), lambda n: n * 0.5),
}


@pytest.mark.parametrize("kind", ADVANCE)
def test_rows_advance_by_any_column_of_times_or_numbers(spark: Any, kind: str) -> None:
    """One row in each of 60 places, on either side of zero: windows of 5 every 3 and ranges are plain to count."""
    make, length = ADVANCE[kind]
    rows = spark.range(-30, 30, numPartitions=3).select(
        F.col("id").alias("n"), make(F.col("id")).alias("t"), F.col("id").alias("x")
    )
    query = sash.query("q", sash.sliding(length(5), every=length(3)), s=sash.sum("x"), n=sash.count())
    wanted = {}
    for start in range(-36, 30, 3):
        own = [each for each in range(start, start + 5) if -30 <= each < 30]
        if own:
            wanted[(start, start + 5)] = (sum(own), len(own))
    epoch = F.lit("1970-01-01").cast("date")
    places: dict[str, Callable[[Any], Any]] = {
        "date": lambda t: F.datediff(t.cast("date"), epoch),
        "timestamp": lambda t: F.unix_micros(t) / DAY,
        "timestamp_ntz": lambda t: F.unix_micros(t.cast("timestamp")) / DAY,
    }
    place = places.get(kind, lambda t: t / length(1))
    for path in ("packed",) if kind in ("timestamp_ntz", "double", "float") else ("packed", "jvm"):
        found = batch.aggregate(rows, query, CallOptions("t"), path=path)
        edges = found.select(place(F.col("window_start")).alias("a"), place(F.col("window_end")).alias("b"), "s", "n")
        assert {(row["a"], row["b"]): (row["s"], row["n"]) for row in edges.collect()} == wanted, path
    framed = sash.rolling(rows, on="t", range=length(4), s=sash.sum("x"))
    sums = {row["n"]: row["s"] for row in framed.select("n", "s").collect()}
    assert sums == {n: sum(range(max(-30, n - 4), n + 1)) for n in range(-30, 30)}
    assert framed.schema["t"] == rows.schema["t"]


def test_edges_have_the_type_of_on(spark: Any) -> None:
    """A date has its windows in times, for windows may be shorter than a day, as Spark's own window() gives them."""
    wanted = {"timestamp": "timestamp", "timestamp_ntz": "timestamp_ntz", "bigint": "bigint", "double": "double"}
    for kind, edge in wanted.items():
        make, length = ADVANCE[kind]
        rows = spark.range(3).select(make(F.col("id")).alias("t"))
        query = sash.query("q", sash.tumbling(length(5)), n=sash.count())
        found = sash.aggregate(rows, query, on="t")
        assert types(found, ["window_start", "window_end"]) == {"window_start": edge, "window_end": edge}


# --- time zones ------------------------------------------------------------------------------------


@pytest.mark.parametrize("day", sample(["2024-03-10", "2024-11-03"], ["2024-03-10"]))
def test_instants_do_not_depend_on_the_zone_of_the_session(spark: Any, zone: Any, day: str) -> None:
    """In New York the first of these days has 23 hours and the second 25; windows are as long as on any day."""
    zone("UTC")
    midnight = spark.sql(f"select unix_micros(timestamp '{day} 00:00:00')").first()[0]
    rows = spark.range(0, 48 * 6, numPartitions=2).select(
        "id", F.timestamp_micros(F.col("id") * 600 * SECOND + midnight - 6 * 3_600 * SECOND).alias("t")
    )
    windows = {"hours": Grid(3_600 * SECOND, 1_800 * SECOND, 900 * SECOND), "days": Grid(DAY, DAY, -5 * 3_600 * SECOND)}
    values = [Value("count"), Value("max", "id"), Value("max", "t")]
    queries = [
        sash.query(name, each.of_sash(micros), **{value.name: value.of_sash() for value in values})
        for name, each in windows.items()
    ]
    found: dict[str, Any] = {}
    for name in ("UTC", "America/New_York"):
        zone(name)
        found[f"native {name}"] = answers(native_windows(rows, windows, values, "t", []), EDGES)
        for path in ("packed", "jvm"):
            found[f"{path} {name}"] = answers(batch.aggregate(rows, queries, CallOptions("t"), path=path), EDGES)
        framed = sash.rolling(rows, on="t", range="2 hours", n=sash.count(), last=sash.max("t"))
        counts = answers(framed.select("id", "n", "last"), ["id"])
        assert {key[0]: row["n"] for key, row in counts.items()} == {n: min(n, 12) + 1 for n in range(48 * 6)}
        own = answers(rows, ["id"])
        assert {key: row["last"] for key, row in counts.items()} == {key: row["t"] for key, row in own.items()}
    wanted = found["native UTC"]
    assert len(wanted) > 90
    for name, each in found.items():
        assert not (wrong := difference(each, wanted)), f"{name}\n{wrong}"


def test_wall_clock_times_stay_as_they_are_in_any_zone(spark: Any, zone: Any) -> None:
    """A timestamp_ntz of an hour that New York skipped is a time like any other."""
    texts = [f"2024-03-10 0{hour}:30:00" for hour in range(5)]
    zone("America/New_York")
    rows = spark.createDataFrame([(each,) for each in texts], "s string").select(
        "s", F.col("s").cast("timestamp_ntz").alias("t")
    )
    query = sash.query("q", sash.tumbling("1 hour"), n=sash.count(), at=sash.max("t"))
    found = sash.aggregate(rows, query, on="t").select(
        F.col("window_start").cast("string").alias("start"), F.col("at").cast("string"), "n"
    )
    assert sorted(tuple(row) for row in found.collect()) == [(each.replace("30", "00", 1), each, 1) for each in texts]


def test_times_of_day_are_aggregated_by_packed_rows(spark: Any) -> None:
    """Spark's own aggregates refuse them."""
    day = F.expr("CASE WHEN id % 2 = 0 THEN time'12:30:00' ELSE time'08:15:00.5' END")
    rows = spark.range(6).select("id", day.alias("v"))
    for window in (sash.tumbling(4), sash.sliding(4, every=2)):
        query = sash.query("q", window, n=sash.count(), most=sash.max("v"))
        found = sash.aggregate(rows, query, on="id", by="v").where("window_start = 0").orderBy("v")
        assert [tuple(row) for row in found.select("v", "n", "most").collect()] == [
            (time(8, 15, 0, 500_000), 2, time(8, 15, 0, 500_000)),
            (time(12, 30), 2, time(12, 30)),
        ]
        assert "times of day of 'v'" in str(sash.explain(rows, query, on="id"))
