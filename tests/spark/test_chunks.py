"""A key that most rows have is cut by time into chunks for several tasks, and nothing shows that it was."""

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import sash
from sash.spark import batch, chunks
from sash.windows.measure import Measure
from tests.spark.native import Frame, Grid, Value, answers, difference, micros, native_frames, native_windows, of_sash

SECOND = 1_000_000
VALUES = [Value("count"), Value("sum", "x"), Value("max", "x")]
EDGES = ("query", "window_start", "window_end")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are many: what is cut from a million rows on is cut from a hundred on."""
    monkeypatch.setattr(chunks, "_PROBED", 50)
    monkeypatch.setattr(chunks, "_LARGE", 100)
    monkeypatch.setattr(chunks, "_LEAST_ROWS", 40)
    monkeypatch.setattr(batch, "_SMALL_BYTES", 0)


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
    found = chunks.find_hot(rows, by, "t", measure, chunks.Reach(60 * SECOND, 0), 2, 128)
    return sum(len(each.chunks) for each in found)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("by", [[], ["k"]], ids=["no key", "a key that most rows have"])
def test_windows_and_frames_are_the_same_across_chunks(spark: Any, by: list[str]) -> None:
    rows = table(spark)
    assert chunks_of(rows, by) > 2
    windows = {"sliding": Grid(60 * SECOND, 7 * SECOND, 2 * SECOND), "tumbling": Grid(9 * SECOND, 9 * SECOND)}
    wanted = answers(native_windows(rows, windows, VALUES, "t", by), (*by, *EDGES))
    given: Any = by or None
    found = batch.aggregate(rows, of_sash(windows, VALUES), on="t", by=given, path="packed")
    assert not (wrong := difference(answers(found, (*by, *EDGES)), wanted)), wrong
    for frames in ([Frame("range", range=60 * SECOND)], [Frame("rows", rows=20), Frame("near", range=5 * SECOND)]):
        wanted = answers(native_frames(rows, frames, VALUES, "t", by, "id"), ["id"])
        framed = sash.rolling(rows, *(each.of_sash(VALUES, micros) for each in frames), on="t", by=given)
        assert not (wrong := difference(answers(framed, ["id"]), wanted)), wrong
    rows.unpersist()
