"""The window join on Spark: the same features as in one process, whatever is cut, and never a cross product."""

import random
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash.engine.join import JoinOptions
from sash.errors import InvalidInput
from sash.limits import LIMITS, Limits
from sash.spark.driver import join as driver
from sash.spark.versions import collect
from tests.sample import with_compat
from tests.spark.older_spark import table_of

CUTS = {
    "as shipped": LIMITS,
    "in stretches": Limits(task_rows=60, packed_rows=50, piece_rows=10),
    "in chunks": Limits(probed_rows=50, hot_rows=100, chunk_rows=40, small_bytes=0),
    "in chunks and stretches": Limits(
        probed_rows=50, hot_rows=100, chunk_rows=120, small_bytes=0, task_rows=60, packed_rows=50, piece_rows=10
    ),
}


def drawn(rng: random.Random, count: int, is_event: bool) -> pa.Table:
    """Half of the rows have one key; some keys, positions and values are null."""
    rows: dict[str, Any] = {
        "ts": pa.array([rng.randrange(400) * 1_000_000 if rng.random() < 0.98 else None for _ in range(count)]).cast(
            pa.timestamp("us", "UTC")
        ),
        "user": pa.array([rng.choice(["hot", "hot", "ann", "bob", None]) for _ in range(count)], pa.string()),
        "g": pa.array([rng.randrange(2) for _ in range(count)], pa.int32() if is_event else pa.int64()),
    }
    if is_event:
        rows["x"] = pa.array([rng.randrange(100) if rng.random() < 0.9 else None for _ in range(count)], pa.int64())
        rows["site"] = pa.array([rng.choice(["a", "b", "c"]) for _ in range(count)], pa.string())
    else:
        rows["label"] = pa.array(range(count), pa.int64())
    return pa.table(rows)


def lookbacks(events: Any, paid: Any, has_limits: bool) -> list[sash.Lookback]:
    found = [
        sash.lookback(
            events, range="30 seconds", n=sash.count(), total=sash.sum("x"), sites=sash.count_distinct("site")
        ),
        sash.lookback(events, range="2 minutes", closed="both", most=sash.max("x"), middle=sash.median("x")),
        sash.lookback(paid, range="1 minute", on="at", by={"user": "payer"}, delay="5 seconds", newest=sash.last("x")),
    ]
    if not has_limits:
        found += [
            sash.lookback(events, rows=3, three=sash.sum("x")),
            sash.lookback(paid, on="at", by=["payer", "g"], ever=sash.count()),
        ]
    return found


def check(spark: Any, seed: int, cuts: str) -> None:
    rng = random.Random(seed)
    labels, events = drawn(rng, 150, False), drawn(rng, 500, True)
    paid = drawn(rng, 80, True).rename_columns(["at", "payer", "g", "x", "site"])
    has_limits = "chunks" in cuts
    given = JoinOptions("ts", ["user", "g"], rng.choice(["left", "both", "right", "neither"]), rng.choice(["0s", "9s"]))
    wanted = sash.join(
        labels, *lookbacks(events, paid, has_limits), on="ts", by=given.by, closed=given.closed, delay=given.delay
    )
    frames = [table_of(spark, each) for each in (labels, events, paid)]
    found = driver.join(frames[0], lookbacks(frames[1], frames[2], has_limits), given, CUTS[cuts])
    assert found.columns == wanted.column_names
    rows = sorted(collect(found).to_pylist(), key=lambda row: row["label"])
    assert rows == wanted.to_pylist()


@pytest.mark.parametrize("cuts", with_compat(CUTS, ["as shipped", "in chunks and stretches"]))
def test_features_are_those_of_one_process(spark: Any, cuts: str) -> None:
    check(spark, len(cuts), cuts)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
@pytest.mark.parametrize("cuts", CUTS)
def test_features_of_many_tables_are_those_of_one_process(spark: Any, cuts: str, seed: int) -> None:
    check(spark, seed, cuts)


@pytest.mark.compat
def test_the_window_join_in_text_gives_the_features_of_one_process(spark: Any) -> None:
    rng = random.Random(5)
    labels, events = drawn(rng, 40, False), drawn(rng, 120, True).rename_columns(["at", "visitor", "g", "x", "site"])
    text = """
        SELECT label, SUM(x) AS spent, COUNT(*) FILTER (WHERE site = 'a') AS visits
        FROM labels WINDOW JOIN events [RANGE 1 MINUTE] ON user = visitor AND ts > at
    """
    wanted = sash.sql(text, labels=labels, events=events)
    found = sash.sql(text, labels=table_of(spark, labels), events=table_of(spark, events))
    assert found.columns == wanted.column_names
    rows = sorted(collect(found).to_pylist(), key=lambda row: row["label"])
    assert rows == wanted.to_pylist() and any(row["visits"] for row in rows)


def test_the_public_call_refuses_what_does_not_fit(spark: Any) -> None:
    labels = spark.createDataFrame(pa.table({"ts": [1], "k": ["a"]}))
    events = pa.table({"ts": [1], "k": ["a"]})
    with pytest.raises(InvalidInput, match="must be of one kind, but they are of these: arrow, spark"):
        sash.join(labels, sash.lookback(events, n=sash.count()), on="ts", by="k")
    stream = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    with pytest.raises(InvalidInput, match="stream"):
        sash.join(labels, sash.lookback(stream, n=sash.count()), on="ts")
    other = spark.createDataFrame(pa.table({"ts": [1], "k": [5]}))
    with pytest.raises(
        InvalidInput, match="can never be equal: 'k' of the labels is string, and 'k' of the events is int64"
    ):
        sash.join(labels, sash.lookback(other, n=sash.count()), on="ts", by="k")
