"""A key that most rows have is cut by time into chunks for several tasks, and nothing shows that it was."""

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import sash
from sash.engine.options import CallOptions
from sash.limits import Limits
from sash.spark.driver import batch, hot_keys
from sash.spark.worker.packing import with_chunks
from sash.windows.measure import Measure
from tests.spark.native import Frame, Grid, Value, answers, difference, micros, native_frames, native_windows, of_sash

SECOND = 1_000_000
VALUES = [Value("count"), Value("sum", "x"), Value("max", "x")]
EDGES = ("query", "window_start", "window_end")
# Few rows are many: what is cut from a million rows on is cut from a hundred on.
FEW = Limits(probed_rows=50, hot_rows=100, chunk_rows=40, small_bytes=0)


@pytest.fixture
def with_times(spark: Any) -> Iterator[None]:
    """Spark 4.3 takes a time of the day, without a date, where it is told to."""
    spark.conf.set("spark.sql.timeType.enabled", "true")
    yield
    spark.conf.unset("spark.sql.timeType.enabled")


def table(spark: Any) -> DataFrame:
    """Nine rows in ten have the key null, some positions are equal, and after a while rows are further apart."""
    at = F.col("id") * 7919 % 700
    return (
        spark.range(800, numPartitions=4)
        .select(
            "id",
            F.timestamp_micros(F.when(at > 350, at * 4).otherwise(at) * SECOND - 100 * SECOND).alias("t"),
            F.when(F.col("id") % 10 == 0, F.lit("rare")).alias("k"),
            F.when(F.col("id") % 7 != 0, F.col("id") % 101).alias("x"),
        )
        .cache()
    )


def chunks_of(rows: DataFrame, by: list[str]) -> int:
    measure = Measure.of(pa.timestamp("us", "UTC"))
    found = hot_keys.find_hot_keys(rows, by, "t", measure, hot_keys.Reach(hot_keys.Distance(60 * SECOND)), 2, 128, FEW)
    return sum(len(each.chunks) for each in found)


@pytest.mark.compat
@pytest.mark.parametrize("by", [[], ["k"]], ids=["no key", "a key that most rows have"])
def test_windows_and_frames_are_the_same_across_chunks(spark: Any, by: list[str]) -> None:
    rows = table(spark)
    assert chunks_of(rows, by) > 2
    windows = {"sliding": Grid(60 * SECOND, 7 * SECOND, 2 * SECOND), "tumbling": Grid(9 * SECOND, 9 * SECOND)}
    wanted = answers(native_windows(rows, windows, VALUES, "t", by), (*by, *EDGES))
    given: Any = by or None
    found = batch.aggregate(rows, of_sash(windows, VALUES), CallOptions("t", given, limits=FEW), path="packed")
    assert not (wrong := difference(answers(found, (*by, *EDGES)), wanted)), wrong
    for frames in ([Frame("range", range=60 * SECOND)], [Frame("rows", rows=20), Frame("near", range=5 * SECOND)]):
        wanted = answers(native_frames(rows, frames, VALUES, "t", by, "id"), ["id"])
        asked = tuple(each.of_sash(VALUES, micros) for each in frames)
        framed = batch.rolling(rows, asked, CallOptions("t", given, limits=FEW))
        assert not (wrong := difference(answers(framed, ["id"]), wanted)), wrong
    rows.unpersist()


# A key of every type that keys have, in the words of Spark's SQL: sentinels, and what Python has no literal for.
HOT: dict[str, str] = {
    "date of the year 1": "date'0001-01-01'",
    "date before the year 1": "date_from_unix_date(-1000000)",
    "date after the year 9999": "date_from_unix_date(4000000)",
    "timestamp of the year 1": "timestamp'0001-01-01'",
    "timestamp after the year 9999": "timestamp_micros(300000000000000000)",
    "timestamp without a zone": "timestamp_ntz'0001-01-01 00:00:00.000001'",
    "time of the day": "time'23:59:59.999999'",
    "interval": "interval '106751991' day",
    "decimal": "cast('-12345678901234567890.12345678' AS decimal(38, 8))",
    "small decimal": "cast('1.50' AS decimal(5, 2))",
    "bytes": "X'00FF27'",
    "text with odd letters": "concat('a\\'`%', char(0), '🙂', decode(X'C3A9', 'UTF-8'))",
    "empty text": "''",
    "NaN": "double('NaN')",
    "zeros of both signs": "if(id % 2 = 0, -0.0D, 0.0D)",
    "infinity": "float('-Infinity')",
    "float": "float('0.1')",
    "least integer": "-9223372036854775808L",
    "tinyint": "-128Y",
    "truth": "true",
    "null among dates": "cast(NULL AS date)",
}


def keyed(spark: Any) -> DataFrame:
    """Four rows in five have these keys; the others have none or, if that is it, a date."""
    others = {kind: "date'2024-01-01'" if "NULL" in hot else "NULL" for kind, hot in HOT.items()}
    keys = (f"if(id % 5 = 0, {others[kind]}, {hot}) AS `{kind}`" for kind, hot in HOT.items())
    return spark.range(400, numPartitions=4).selectExpr("timestamp_seconds(id * 7919 % 700) AS t", *keys)


def check_chunks(rows: DataFrame, by: list[str]) -> None:
    """There are chunks, and a map task sends them their rows."""
    measure = Measure.of(pa.timestamp("us", "UTC"))
    found = hot_keys.find_hot_keys(rows, by, "t", measure, hot_keys.Reach(hot_keys.Distance(SECOND)), 2, 128, FEW)
    assert [len(each.chunks) > 1 for each in found] == [True]
    table = rows.toArrow()
    places, buckets = with_chunks(
        table, by, table["t"].cast(pa.int64()).to_numpy(), np.zeros(400, np.int64), pickle.loads(pickle.dumps(found))
    )
    assert len(np.unique(places[buckets >= 128])) == 320


@pytest.mark.usefixtures("with_times")
@pytest.mark.parametrize("kind", HOT)
def test_a_hot_key_of_any_type_is_cut_into_chunks(spark: Any, kind: str) -> None:
    check_chunks(keyed(spark).select("t", kind), [kind])


@pytest.mark.usefixtures("with_times")
def test_a_hot_key_of_all_types_together_has_the_same_windows_across_chunks(spark: Any) -> None:
    rows, by = keyed(spark), list(HOT)
    check_chunks(rows, by)
    query = sash.query("q", sash.sliding("60 seconds", every="7 seconds"), n=sash.count())
    shown = *(F.xxhash64(kind).alias(kind) for kind in HOT), "window_start", "n"

    def windows(limits: Limits) -> list[Any]:
        given = CallOptions("t", by, limits=limits)
        found = batch.aggregate(rows, query, given, path="packed").select(*shown).toArrow()
        return sorted(map(tuple, zip(*found.to_pydict().values(), strict=True)))

    across = windows(FEW)
    assert across == windows(replace(FEW, small_bytes=1 << 60))
    assert sum(row[-1] for row in across) > 3000
