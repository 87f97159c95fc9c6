"""Streams on real Spark: transcripts event by event, native windows row for row, and what a checkpoint is good for."""

import math
import operator
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

import sash
from sash.errors import InvalidAggregate, InvalidInput, SashError, sentence_of
from sash.spark import Listener, Progress
from sash.spark.wire.buckets import _hash, bucket_ids
from tests.algebra.readings import made, settings
from tests.engine.descriptions import number
from tests.engine.transcripts import TRANSCRIPTS, Transcript, difference, subjects, type_of, written
from tests.sample import sample
from tests.spark.native import Grid, Session, Value, answers, native_windows, of_sash
from tests.spark.native import difference as unlike
from tests.spark.streams import Feed, Run, ran, table, until

SECOND = 1_000_000
NAMES, TYPES = ("ts", "k", "x"), (pa.timestamp("us", "UTC"), pa.string(), pa.float64())
SCHEMA = "ts timestamp, k string, x double"


def seconds(*rows: Sequence[Any]) -> pa.Table:
    """Rows of a stream whose times are seconds."""
    return table([(None if t is None else int(t * SECOND), k, x) for t, k, x in rows], NAMES, TYPES)


@pytest.fixture
def feed(spark: Any, tmp_path: Path) -> Feed:
    return Feed(spark, tmp_path, SCHEMA)


ten = sash.query("ten", sash.tumbling("10 seconds"), n=sash.count(), peak=sash.max("x"))
visit = sash.query("visit", sash.session(gap="5 seconds"), n=sash.count())
pair = sash.query("pair", sash.sliding(rows=2, every=1), both=sash.collect("x"))


def windows(run: Run, *names: str) -> list[tuple[Any, ...]]:
    """Results as (key, query, start in seconds, end, values…), sorted."""

    def plain(value: Any) -> Any:
        return (
            (value - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1) if isinstance(value, datetime) else value
        )

    rows = [row for row in run.all() if row["query"] != "_late"]
    return sorted(tuple(plain(row[n]) for n in ("k", "query", "window_start", "window_end", *names)) for row in rows)


# --- transcripts ---------------------------------------------------------------------------------------

# Watermarks that a transcript gives itself are those of a clock: rows of a key of their own, far ahead by the delay.
AHEAD = 1_000_000 * SECOND
LANE = "lane"


def is_told(transcript: Transcript) -> bool:
    """A stream on Spark has a delay, no order, and ends when all is read."""
    ends = [event for event in transcript.events if event.watermark == math.inf]
    last = transcript.events[-1]
    plain = not (transcript.in_order or transcript.partial or any(e.add or e.remove for e in transcript.events))
    has_multi = any(
        q.window.kind == "sliding"
        and "rows" in dict(q.window.words)
        and isinstance(dict(q.window.words).get("every"), str)
        for q in transcript.queries.values()
    )
    return plain and not has_multi and (not ends or (ends == [last] and not last.rows))


def spread(transcripts: Sequence[Transcript]) -> Iterator[Transcript]:
    """Those that show something which none before them does: a micro-batch costs a second."""
    seen: set[Any] = set()
    for each in transcripts:
        shown: set[Any] = {("stream", each.emit, bool(each.lateness), each.delay is None)}
        shown |= {("window", query.window.kind, bool(each.lateness)) for query in each.queries.values()}
        if shown - seen:
            seen |= shown
            yield each


CHOSEN = list(spread([each for each in TRANSCRIPTS if is_told(each) and len(each.events) <= 3]))


def event_table(transcript: Transcript, at: int) -> pa.Table:
    """The rows of an event, and the row of the clock if it moves."""
    event = transcript.events[at]
    rows = [{**row, LANE: 0} for row in event.rows]
    if event.watermark is not None and event.watermark != math.inf:
        clock: dict[str, Any] = dict.fromkeys(transcript.columns)
        ahead = AHEAD if transcript.delay is None else number(transcript.delay)
        rows.append({**clock, transcript.on: number(event.watermark) + ahead, LANE: 1})
    types = {n: type_of(r[n] for e in transcript.events for r in e.rows) for n in transcript.columns}
    columns = {}
    for name in transcript.columns:
        values = [row[name] for row in rows]
        if types[name] is None:
            columns[name] = pa.array([None if v is None else int(number(v)) for v in values], pa.timestamp("us"))
        else:
            columns[name] = pa.array(values, types[name])
    return pa.table({**columns, LANE: pa.array([row[LANE] for row in rows], pa.int64())})


def told(spark: Any, folder: Path, transcript: Transcript) -> Run:
    ends = transcript.events[-1].watermark == math.inf
    events = range(len(transcript.events) - ends)
    tables = [event_table(transcript, at) for at in events]
    schema = spark.createDataFrame(tables[0].schema.empty_table()).schema
    feed = Feed(spark, folder, schema).add(*tables)
    is_time = pa.types.is_timestamp(tables[0].schema.field(transcript.on).type)
    delay = (
        written(transcript.delay)
        if transcript.delay is not None
        else timedelta(microseconds=AHEAD)
        if is_time
        else AHEAD
    )
    results = sash.aggregate(
        feed.stream(),
        subjects(transcript.queries),
        on=transcript.on,
        by=[*transcript.by, LANE],
        watermark=delay,
        allowed_lateness=written(transcript.lateness),
        emit=transcript.emit,
        flush="at_end" if ends else None,
    )
    return ran(feed, results.where(F.col(LANE) == 0).drop(LANE))


@pytest.fixture(scope="module")
def replayed(spark: Any, tmp_path_factory: Any) -> Iterator[Callable[[Transcript], Future[Run]]]:
    """Run two streams at once: a micro-batch of five rows is mostly waiting.

    Not more of them: Spark gives a Python process ten seconds to start.
    """
    with ThreadPoolExecutor(2) as pool:
        started = {t.name: pool.submit(told, spark, tmp_path_factory.mktemp("told"), t) for t in CHOSEN}
        yield lambda transcript: started[transcript.name]


def test_every_kind_of_window_is_among_the_transcripts() -> None:
    kinds = {query.window.kind for each in CHOSEN for query in each.queries.values()}
    assert kinds == {"tumbling", "sliding", "session", "punctuated", "cumulative", "landmark"}
    assert {each.emit for each in CHOSEN} == {"final", "updates"}


@pytest.mark.parametrize("transcript", [pytest.param(each, id=each.name) for each in CHOSEN])
def test_stream_keeps_to_the_transcript(replayed: Any, transcript: Transcript) -> None:
    run = replayed(transcript).result()
    for at, event in enumerate(transcript.events):
        found = transcript.read(run.batches[at]) if at in run.batches else []
        assert not (wrong := difference(found, event.expect)), f"event {at}\n{wrong}"


# --- as Spark itself ---------------------------------------------------------------------------------

VALUES = [Value("max", "x"), Value("count"), Value("sum", "n")]
GRIDS: Mapping[str, Any] = {
    "even": Grid(60 * SECOND, 10 * SECOND),
    "odd": Grid(25 * SECOND, 7 * SECOND, -3 * SECOND),
    "visit": Session(4 * SECOND),
}


def random_batches(seed: int, rows: int, since: int = 0) -> list[pa.Table]:
    """Rows around 1970, out of order by less than the delay, with nulls, cut into micro-batches anywhere."""
    dice = random.Random(seed)
    whole = []
    for place in range(rows):
        at = int((since + place * 0.2 - rows * 0.1 - dice.random() * 9) * SECOND)
        key = dice.choice(["a", "b", "c", "käse", "", None])
        x = dice.choice([None, math.nan, dice.randrange(100) / 4])
        whole.append((at, key, x, dice.choice([None, dice.randrange(-50, 50)])))
    cuts = sorted(dice.sample(range(1, rows), 4))
    parts = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, rows], strict=True)]
    return [table(part, ("ts", "k", "x", "n"), (*TYPES, pa.int64())) for part in parts]


@pytest.mark.compat_streams
@pytest.mark.compiled
@pytest.mark.parametrize("seed", [2])
def test_stream_sends_what_native_windows_of_the_table_are(spark: Any, tmp_path: Path, seed: int) -> None:
    feed = Feed(spark, tmp_path, SCHEMA + ", n long").add(*random_batches(seed, 400))
    queries = of_sash(GRIDS, VALUES)
    results = sash.aggregate(feed.stream(), queries, on="ts", by="k", watermark="10 seconds", flush="at_end")
    run = ran(feed, results)
    assert sash.progress(run.query).late_rows == 0
    found = run.frame(spark)
    whole = spark.read.schema(SCHEMA + ", n long").parquet(str(tmp_path / "rows"))
    wanted = native_windows(whole, GRIDS, VALUES, "ts", ["k"])
    identity = ["k", "query", "window_start", "window_end"]
    wrong = unlike(answers(found, identity), answers(wanted, identity))
    assert not wrong, f"{ ({at: len(each) for at, each in run.batches.items()}) }\n{wrong}"


def test_stream_sends_what_native_streaming_does_in_append_mode(spark: Any, tmp_path: Path) -> None:
    """Without a flush: over a whole run the same windows, though Spark's own are a micro-batch later.

    Spark's watermark begins in 1970, so rows are from later.
    """
    feed = Feed(spark, tmp_path, SCHEMA + ", n long").add(*random_batches(3, 300, since=1_000_000))
    grid = Grid(60 * SECOND, 10 * SECOND)
    ours = ran(
        feed, sash.aggregate(feed.stream(), of_sash({"even": grid}, VALUES), on="ts", by="k", watermark="10 seconds")
    )
    rows = feed.stream().withWatermark("ts", "10 seconds")
    feed.folder = tmp_path  # another checkpoint for Spark's own
    grouped = rows.groupBy("k", grid.of_spark(F.col("ts")).alias("w"))
    native = grouped.agg(F.max("x").alias("max_x"), F.count("*").alias("count"), F.sum("n").alias("sum_n"))
    plain = native.select(
        "k",
        F.lit("even").alias("query"),
        F.col("w.start").alias("window_start"),
        F.col("w.end").alias("window_end"),
        "max_x",
        "count",
        "sum_n",
    )
    theirs: dict[int, pa.Table] = {}
    query = (
        plain.writeStream.foreachBatch(lambda rows, number: theirs.__setitem__(number, rows.toArrow()))
        .option("checkpointLocation", str(tmp_path / "native"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    identity = ["k", "query", "window_start", "window_end"]
    found, wanted = (answers(each.frame(spark), identity) for each in (ours, Run(theirs, query)))
    assert len(wanted) > 10
    assert not (wrong := unlike(found, wanted)), wrong


# --- late rows -----------------------------------------------------------------------------------------


@pytest.mark.compat_streams
def test_late_rows_are_counted_and_sent_on_with_the_reason(feed: Feed) -> None:
    far = (datetime.now(UTC) + timedelta(days=30)).timestamp()
    feed.add(seconds((1, "a", 1.0), (None, "a", 9.0)), seconds((40, "b", 2.0), (far, "b", 7.0)), seconds((3, "a", 5.0)))
    run = ran(
        feed,
        sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="5 seconds", late="keep", max_future="1 day"),
    )
    late = [(r["k"], r["late_row"]["x"], r["late_reason"]) for r in run.all() if r["query"] == "_late"]
    assert sorted(late) == [
        ("a", 5.0, "its position is before the watermark"),
        ("a", 9.0, "it has no position"),
        ("b", 7.0, "it is too far ahead of the clock"),
    ]
    assert windows(run, "n", "peak") == [("a", "ten", 0.0, 10.0, 1, 1.0)]
    done = sash.progress(run.query)
    assert (done.late, done.late_rows) == (1, 3)
    assert "3 rows were rejected" in sash.why(run.query)


def test_the_clock_of_times_without_a_zone_is_the_one_on_the_wall(spark: Any, tmp_path: Path) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        now = datetime.now(ZoneInfo("Asia/Tokyo")).replace(tzinfo=None)
        rows = pa.table({"ts": pa.array([now, now + timedelta(hours=3)], pa.timestamp("us")), "x": [1.0, 2.0]})
        feed = Feed(spark, tmp_path, "ts timestamp_ntz, x double").add(rows)
        query = sash.query("ten", sash.tumbling("10 seconds"), n=sash.count())
        given: dict[str, Any] = {
            "on": "ts",
            "watermark": "0s",
            "max_future": "1 hour",
            "late": "keep",
            "flush": "at_end",
        }
        found = ran(feed, sash.aggregate(feed.stream(), query, **given)).all()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert sorted((row["query"], row["n"], row["late_reason"]) for row in found) == [
        ("_late", None, "it is too far ahead of the clock"),
        ("ten", 1, None),
    ]


def test_late_rows_within_lateness_correct_what_was_sent(feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0)), seconds((30, "b", 2.0)), seconds((3, "a", 5.0)), seconds((31, "a", 5.0)))
    results = sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="5 seconds", allowed_lateness="1 minute")
    assert windows(ran(feed, results), "peak", "revision") == [
        ("a", "ten", 0.0, 10.0, 1.0, 0),
        ("a", "ten", 0.0, 10.0, 5.0, 1),
    ]


# --- the end, and before the beginning -----------------------------------------------------------------


@pytest.mark.compat_streams
def test_flush_sends_the_last_windows_and_idle_keys_have_theirs(feed: Feed) -> None:
    feed.add(seconds((1, "idle", 1.0), (2, "b", 2.0)), seconds((25, "b", 4.0)))
    run = ran(feed, sash.aggregate(feed.stream(), [ten, visit], on="ts", by="k", watermark="0s", flush="at_end"))
    assert windows(run, "n") == [
        ("b", "ten", 0.0, 10.0, 1),
        ("b", "ten", 20.0, 30.0, 1),
        ("b", "visit", 2.0, 7.0, 1),
        ("b", "visit", 25.0, 30.0, 1),
        ("idle", "ten", 0.0, 10.0, 1),
        ("idle", "visit", 1.0, 6.0, 1),
    ]
    assert {row["k"] for row in run.batches[1].to_pylist()} == {"b", "idle"}, "closed when time passed, not at the end"
    assert "flushed" in sash.why(run.query)


def test_windows_of_processing_time_follow_the_time_of_micro_batches(feed: Feed) -> None:
    """The time of arrival is a column that Spark fills; the rows' own times, here far in the past, play no part."""
    feed.add(seconds((5, "a", 1.0), (1, "a", 2.0)), seconds((3, "a", 4.0)))
    arrived = feed.stream().withColumn("arrived", F.current_timestamp())
    recent = sash.query("recent", sash.tumbling("1 ms"), x=sash.collect("x"), first=sash.min("ts"))
    before = datetime.now(UTC)
    run = ran(feed, sash.aggregate(arrived, recent, on="arrived", by="k", watermark="0 seconds", flush="at_end"))
    found = run.all()
    assert [sorted(row["x"]) for row in found] == [[1.0, 2.0], [4.0]]
    starts = [row["window_start"] for row in found]
    assert before - timedelta(seconds=1) <= starts[0] < starts[1] <= datetime.now(UTC)
    assert windows(run, "first")[0][-1] == 1.0


def test_a_run_that_died_before_it_flushed_is_flushed_by_the_next_one(feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0)), seconds((25, "b", 4.0)))

    def run() -> Run:
        return ran(feed, sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="0s", flush="at_end"))

    first = run()
    at_end = max(first.batches)
    sent = first.batches[at_end].to_pylist()
    assert [row["k"] for row in sent] == ["b"]
    for log in ("commits", "offsets"):
        (Path(feed.checkpoint) / log / str(at_end)).unlink()
        (Path(feed.checkpoint) / log / f".{at_end}.crc").unlink(missing_ok=True)
    assert run().all() == sent
    assert run().all() == [], "once"


@pytest.mark.compat_streams
def test_history_makes_windows_right_from_the_first_minute(spark: Any, feed: Feed) -> None:
    feed.add(seconds((101, "a", 1.0)), seconds((125, "a", 2.0), (125, "new", 3.0)))
    history = spark.createDataFrame(seconds((50, "a", 7.0), (95, "a", 5.0), (96, "old", 4.0)))
    minute = sash.query("minute", sash.sliding("1 minute", every="10 seconds"), n=sash.count(), peak=sash.max("x"))
    run = ran(feed, sash.aggregate(feed.stream(), minute, on="ts", by="k", watermark="5 seconds", initial=history))
    assert [row for row in windows(run, "n", "peak") if row[0] != "old"] == [
        ("a", "minute", 40.0, 100.0, 2, 7.0),
        ("a", "minute", 50.0, 110.0, 3, 7.0),
        ("a", "minute", 60.0, 120.0, 2, 5.0),
    ]


# --- a checkpoint --------------------------------------------------------------------------------------


def failure(feed: Feed, results: Any) -> str:
    with pytest.raises(StreamingQueryException) as caught:
        ran(feed, results)
    return sentence_of(caught.value)


def test_queries_come_and_go_across_restarts_and_anything_else_is_refused(spark: Any, feed: Feed) -> None:
    def asked(*queries: Any) -> Any:
        return sash.aggregate(feed.stream(), list(queries), on="ts", by="k", watermark="5 seconds")

    feed.add(seconds((1, "a", 1.0), (7, "b", 2.0)), seconds((12, "a", 3.0)))
    assert windows(ran(feed, asked(ten, visit)), "n") == [("a", "visit", 1.0, 6.0, 1)]
    # `visit` is gone; `twenty` is new, and sees the slices that are still there.
    twenty = sash.query("twenty", sash.tumbling("20 seconds"), peak=sash.max("x"))
    feed.add(seconds((26, "a", 4.0)))
    assert windows(ran(feed, asked(ten, twenty)), "n", "peak") == [
        ("a", "ten", 0.0, 10.0, 1, 1.0),
        ("a", "ten", 10.0, 20.0, 1, 3.0),
        ("a", "twenty", 0.0, 20.0, None, 3.0),
        ("b", "ten", 0.0, 10.0, 1, 2.0),
        ("b", "twenty", 0.0, 20.0, None, 2.0),
    ]
    found = sash.state(feed.checkpoint)
    assert [name for name, _ in found.queries] == ["ten", "twenty"]
    assert [(row["k"], row["query"]) for row in found.windows.to_pylist()] == [("a", "ten"), ("a", "twenty")]
    assert found.slices.num_rows >= 1 and "watermark 1970-01-01 00:00:21" in str(found)
    # Nothing of what is refused is lost: the same rows are there when the right question is asked.
    feed.add(seconds((50, "a", 5.0)))
    other = sash.query("ten", sash.tumbling("20 seconds"), n=sash.count())
    assert "Query 'ten' differs from the saved one" in failure(feed, asked(other))
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    try:
        assert "written with 2 shuffle partitions, but the session now has 3" in failure(feed, asked(ten, twenty))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert ("a", "ten", 20.0, 30.0, 1) in windows(ran(feed, asked(ten, twenty)), "n")


total = sash.query("total", sash.sliding("10 seconds", every="5 seconds"), n=sash.count(), s=sash.sum("x"))
LEAVING: dict[str, sash.Query] = {
    "an ordered one": sash.query("ordered", sash.tumbling("20 seconds"), all=sash.collect("x")),
    "a count window": sash.query("ranked", sash.sliding(rows=3, every=1), all=sash.collect("x")),
    "a session": sash.query("visits", sash.session(gap="8 seconds"), start=sash.first("x")),
}
COMING = [
    sash.query("late_total", sash.tumbling("10 seconds"), s=sash.sum("x")),
    sash.query("late_visits", sash.session(gap="2 seconds"), start=sash.first("x")),
    sash.query("late_ranks", sash.sliding(rows=2, every=2), all=sash.collect("x")),
]


@pytest.mark.parametrize("leaving", sample([*LEAVING, "all of them"], ["all of them"]))
def test_no_row_is_lost_where_queries_leave_and_others_come_between_two_runs(feed: Feed, leaving: str) -> None:
    """State is written whole where queries have changed: the third run reads the rows that wait from the second.

    They, and those that a query that leaves has kept, are still there for the one that stays.
    """
    gone = list(LEAVING.values()) if leaving == "all of them" else [LEAVING[leaving]]
    batches = [
        seconds((1, "a", 1.0), (13, "a", 2.0), (9, "a", 4.0), (14, "b", 8.0), (12, "a", 16.0)),  # watermark 9
        seconds((11, "a", 32.0), (16, "b", 64.0), (17, "a", 128.0)),  # 12
        seconds((13, "b", 256.0), (31, "a", 512.0), (30, "b", 1024.0)),  # 26
        seconds((28, "a", 2048.0), (60, "a", 4096.0), (59, "b", 8192.0)),  # 55
    ]
    asked = ([total], [total, *gone], [total], [total, *COMING])
    runs = []
    for rows, queries in zip(batches, asked, strict=True):
        feed.add(rows)
        stream = sash.aggregate(feed.stream(), list(queries), on="ts", by="k", watermark="5 seconds")
        runs.append(ran(feed, stream))
    assert sent(runs, "total") == ended(batches, total, after=-math.inf)
    # One that comes sees the rows that are still kept, and windows that end after the watermark before it came.
    assert sent(runs, "late_total") == ended(batches, COMING[0], after=26.0)


def sent(runs: Sequence[Run], name: str) -> list[tuple[Any, ...]]:
    return sorted(row for run in runs for row in windows(run, "s") if row[1] == name)


def ended(batches: Sequence[pa.Table], query: sash.Query, after: float) -> list[tuple[Any, ...]]:
    """The windows of all rows together that end after a time, and not after the last watermark."""
    every = sash.aggregate(pa.concat_tables(batches), query, on="ts", by="k")
    return [row for row in windows(Run({0: every}, None), "s") if after < row[3] <= 55.0]


LIFT = """
def f(x):
    if x not in SEEN:
        SEEN[x] = STEP * (1 if PATTERN.match(str(x)) else 2) * Settings.FACTOR
    return SEEN[x]
"""


def own_total(factor: int) -> sash.Aggregate:
    """A user's function that reads objects, and remembers its answers in one of them."""
    read = {"SEEN": {}, "PATTERN": re.compile("1+"), "STEP": Decimal(1), "Settings": settings(factor)}
    lift = made(LIFT, **read)
    return sash.Aggregate(
        "own", state="O", identity=0, lift=lift, combine=operator.add, lower=float, result=pa.float64()
    )


def test_users_functions_go_on_after_a_restart_and_changed_ones_are_refused_by_name(feed: Feed) -> None:
    def asked(factor: int) -> Any:
        query = sash.query("ten", sash.tumbling("10 seconds"), s=own_total(factor)("x"))
        return sash.aggregate(feed.stream(), query, on="ts", by="k", watermark="5 seconds")

    feed.add(seconds((1, "a", 1.0), (7, "b", 2.0)))
    ran(feed, asked(1))
    feed.add(seconds((2, "a", 2.0)), seconds((30, "a", 2.0)))
    assert windows(ran(feed, asked(1)), "s") == [("a", "ten", 0.0, 10.0, 3.0), ("b", "ten", 0.0, 10.0, 2.0)]
    feed.add(seconds((50, "a", 1.0)))
    said = "Query 'ten', s: the aggregate 'own' differs from the saved one. What changed: Settings (read by lift)."
    assert said in failure(feed, asked(2))
    assert windows(ran(feed, asked(1)), "s") == [("a", "ten", 30.0, 40.0, 2.0)]


def test_users_functions_of_frames_go_on_after_a_restart_and_changed_ones_are_refused(feed: Feed) -> None:
    def asked(factor: int) -> Any:
        return sash.rolling(feed.stream(), on="ts", by="k", rows=2, watermark="0s", s=own_total(factor)("x"))

    feed.add(seconds((1, "a", 1.0), (2, "a", 2.0)))
    ran(feed, asked(1))
    feed.add(seconds((3, "a", 1.0), (4, "a", 1.0)))
    assert [row["s"] for row in ran(feed, asked(1)).all()] == [3.0, 3.0]
    feed.add(seconds((5, "a", 1.0)))
    assert "sash.rolling, s: the aggregate 'own' differs from the saved one" in failure(feed, asked(2))


def test_a_function_that_reads_a_lock_is_refused_before_spark_runs(feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0)))
    lift = made("f = lambda x: (LOCK, x)[1]", LOCK=threading.Lock())
    own = sash.Aggregate("own", state="O", identity=0, lift=lift, combine=max, result=pa.float64())("x")
    query = sash.query("ten", sash.tumbling("10 seconds"), m=own)
    with pytest.raises(InvalidAggregate, match="'own': lift reads LOCK"):
        sash.aggregate(feed.stream(), query, on="ts", by="k", watermark="5 seconds")
    with pytest.raises(InvalidAggregate, match="'own': lift reads LOCK"):
        sash.rolling(feed.stream(), on="ts", by="k", rows=2, watermark="5 seconds", m=own)


def test_checkpoint_of_windows_is_not_one_of_frames(feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0)))
    ran(feed, sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="5 seconds"))
    feed.add(seconds((2, "a", 1.0)))
    frames = sash.rolling(feed.stream(), on="ts", by="k", rows=2, watermark="5 seconds", peak=sash.max("x"))
    assert "sash.aggregate, not sash.rolling" in failure(feed, frames)


# --- frames ----------------------------------------------------------------------------------------------


@pytest.mark.compat_streams
@pytest.mark.compiled
def test_frames_of_a_stream_are_those_of_the_table(spark: Any, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path, SCHEMA + ", n long").add(*random_batches(5, 300))
    frames = (
        sash.frame(rows=7, peak=sash.max("x"), lately=sash.collect("n")),
        sash.frame(range="9 seconds", total=sash.sum("n"), count=sash.count()),
    )
    run = ran(feed, sash.rolling(feed.stream(), *frames, on="ts", by="k", watermark="10 seconds", flush="at_end"))
    whole = pa.concat_tables(random_batches(5, 300))
    wanted = sash.rolling(whole, *frames, on="ts", by="k").to_pylist()
    assert sorted(map(repr, run.all())) == sorted(map(repr, wanted))


def test_frames_around_the_row_are_those_of_the_table_and_open_ones_are_refused(spark: Any, tmp_path: Path) -> None:
    rng = random.Random(5)
    rows = [(t, rng.choice("ab"), float(rng.randrange(9))) for t in sorted(rng.randrange(60) for _ in range(90))]
    feed = Feed(spark, tmp_path, SCHEMA).add(*(seconds(*rows[at : at + 30]) for at in (0, 30, 60)))
    frames = [
        sash.frame(rows=(-2, 3), exclude="row", a=sash.collect("x")),
        sash.frame(range=("-5 seconds", "4 seconds"), closed="left", b=sash.sum("x")),
        sash.frame(groups=(-1, 1), exclude="ties", c=sash.sum("x"), low=sash.count(where="x < 4")),
    ]
    given: dict[str, Any] = {"on": "ts", "by": "k", "descending": True}
    framed = sash.rolling(feed.stream(), *frames, **given, watermark="1 second", flush="at_end")
    sent = ran(feed, framed).all()
    wanted = sash.rolling(seconds(*rows), *frames, **given).to_pylist()
    assert sorted(map(repr, sent)) == sorted(map(repr, wanted))
    for ends in ((-2, None), (None, 0)):
        with pytest.raises(InvalidInput, match="open end"):
            sash.rolling(feed.stream(), on="ts", rows=ends, watermark="1 second", n=sash.count())


def test_intervals_that_are_not_asked_for_come_back_from_streams(spark: Any, feed: Feed) -> None:
    """Rows of frames, late rows of windows, and rows from before the stream have them as text on the way."""
    both = ("*", "make_interval(0, 1, 0, 2, 3, 0, x) AS v", "interval '1-2' year to month AS m")
    before = spark.createDataFrame(seconds((1, "a", 0.5))).selectExpr(*both)
    feed.add(seconds((10, "a", 1.5), (20, "a", 2.5)), seconds((2, "a", 3.5), (40, "a", 4.5)))
    stream = feed.stream().selectExpr(*both)
    given: Any = {"on": "ts", "by": "k", "watermark": "5 seconds", "initial": before}
    framed = sash.rolling(stream, rows=2, s=sash.sum("x"), **given)
    assert [each.simpleString() for each in (framed.schema["v"].dataType, framed.schema["m"].dataType)] == [
        "interval",
        "interval year to month",
    ]
    found = ran(feed, framed.selectExpr("s", "cast(v AS string) AS v", "cast(m AS string) AS m")).all()
    assert [(row["s"], row["v"]) for row in found] == [
        (0.5, "1 months 2 days 3 hours 0.5 seconds"),
        (2.0, "1 months 2 days 3 hours 1.5 seconds"),
        (4.0, "1 months 2 days 3 hours 2.5 seconds"),
    ]
    assert {row["m"] for row in found} == {"INTERVAL '1-2' YEAR TO MONTH"}
    windowed = sash.aggregate(stream, ten, late="keep", **given)
    late = windowed.selectExpr("query", "late_row.x AS x", "cast(late_row.v AS string) AS v")
    other = Feed(spark, feed.folder / "windows", SCHEMA)  # a checkpoint of its own
    assert [row for row in ran(other, late).all() if row["query"] == "_late"] == [
        {"query": "_late", "x": 3.5, "v": "1 months 2 days 3 hours 3.5 seconds"}
    ]


def test_late_rows_of_frames_are_sent_without_results(feed: Feed) -> None:
    feed.add(seconds((10, "a", 1.0)), seconds((3, "a", 5.0), (30, "a", 6.0)))
    results = sash.rolling(feed.stream(), on="ts", by="k", rows=2, watermark="0s", late="keep", total=sash.sum("x"))
    rows = [(row["x"], row["total"], row["late_reason"]) for row in ran(feed, results).all()]
    assert sorted(rows) == [(1.0, 1.0, None), (5.0, None, "its position is before the watermark")]


# --- looking in, and what is refused -------------------------------------------------------------------------


def test_progress_tells_rows_watermark_windows_and_state(feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0), (2, "b", 2.0)), seconds((14, "a", 3.0)))
    run = ran(feed, sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="2 seconds"))
    done = sash.progress(run.query)
    assert (done.rows, done.results, done.late, done.keys) == (1, 2, 0, 2)
    assert done.watermark == datetime(1970, 1, 1, 0, 0, 12, tzinfo=UTC)
    assert done.open_windows >= 1 and done.slices >= 1 and done.state_bytes > 0 and done.written_bytes > 0
    assert "The next ends at 1970-01-01 00:00:20+00:00, and closes when a row at 1970-01-01 00:00:22" in sash.why(
        run.query
    )
    assert "2 emitted" in str(done) and "<table>" in done._repr_html_()


def test_a_listener_is_told_the_progress_of_every_micro_batch(spark: Any, feed: Feed) -> None:
    told: dict[str, list[Progress]] = {}
    listener = Listener(lambda name, now: told.setdefault(name, []).append(now))
    spark.streams.addListener(listener)
    try:
        feed.add(seconds((1, "a", 1.0), (2, "b", 2.0)), seconds((14, "a", 3.0)))
        run = ran(feed, sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="2 seconds"))
        native = feed.stream().withWatermark("ts", "2 seconds").groupBy(F.window("ts", "10 seconds")).count()
        native.writeStream.format("noop").trigger(availableNow=True).start().awaitTermination()
        until(lambda: len(told.get(str(run.query.id), [])) == 2)
    finally:
        spark.streams.removeListener(listener)
    assert list(told) == [str(run.query.id)]  # a query of Spark's own has no figures of sash
    assert told[str(run.query.id)][-1] == sash.progress(run.query)
    assert [(each.rows, each.results) for each in told[str(run.query.id)]] == [(2, 0), (1, 2)]
    with pytest.raises(SashError, match="tell must be a function"):
        Listener("print")  # type: ignore[arg-type]


def test_user_function_that_fails_is_reported_with_its_name_key_and_rows(feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0), (2, "b", 0.0)))

    def lift(x: float) -> tuple[float]:
        if x == 0.0:
            raise ValueError("no zero")
        return (1.0 / x,)

    inverse = sash.Aggregate(
        "inverse",
        state=("O",),
        identity=(0.0,),
        lift=lift,
        combine=lambda a, b: (a[0] + b[0],),
        lower=lambda p: p[0],
        result=pa.float64(),
    )
    query = sash.query("own", sash.tumbling("10 seconds"), v=inverse("x"))
    said = failure(feed, sash.aggregate(feed.stream(), query, on="ts", by="k", watermark="5 seconds", flush="at_end"))
    assert "inverse" in said and "k='b'" in said and "x=0.0" in said


def test_what_can_be_known_before_a_stream_starts_is_refused_then(spark: Any, feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0)))
    rows = feed.stream()

    def refused(match: str, frame: Any = None, **options: Any) -> None:
        given = {"on": "ts", "by": "k", "watermark": "5 seconds", **options}
        with pytest.raises(SashError, match=match):
            sash.aggregate(rows if frame is None else frame, ten, **given)

    refused("needs a watermark", watermark=None)
    refused("when", on="when")
    refused("'k'", on="k")
    refused("late must be 'count' or 'keep'", late="drop")
    refused("flush must be 'at_end'", flush="always")
    refused("one watermark per stream", rows.withWatermark("ts", "5 seconds"), flush="at_end")
    refused("initial must be a bounded DataFrame", initial=rows)
    refused("initial must be a bounded DataFrame", initial=seconds())
    refused(
        "it is double in the stream and string in `initial`",
        initial=spark.createDataFrame([], "ts timestamp, k string, x string"),
    )
    number = sash.query("number", sash.tumbling(10), n=sash.count())
    with pytest.raises(InvalidInput, match=r"max_future=.*leave it out"):
        sash.aggregate(rows, number, on="x", by="k", watermark=5, max_future="1 day")
    refused("emit must be", emit="all")
    with pytest.raises(InvalidInput, match="is an option of streams, but these rows are a table"):
        sash.aggregate(spark.createDataFrame(seconds((1, "a", 1.0))), ten, on="ts", by="k", flush="at_end")
    told = sash.aggregate(rows.withWatermark("ts", "5 seconds"), ten, on="ts", by="k")
    assert told.isStreaming, "a delay that Spark was told of is as good"
    assert "in every micro-batch" in str(sash.explain(rows, ten, on="ts", by="k", watermark="5 seconds"))


def test_many_partitions_on_few_cores_are_warned_of(spark: Any, feed: Feed) -> None:
    feed.add(seconds((1, "a", 1.0)))
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        with pytest.warns(UserWarning, match="200 shuffle partitions"):
            sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="5 seconds")
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")


def test_each_bucket_lands_in_a_partition_of_its_own(spark: Any) -> None:
    ids = [*range(50), 2**31 - 1]
    found = [
        row[0] for row in spark.createDataFrame([(each,) for each in ids], "id int").select(F.hash("id")).collect()
    ]
    assert [_hash(each) for each in ids] == found
    for count in (1, 2, 3, 7, 200):
        assert sorted(_hash(each) % count for each in bucket_ids(count)) == list(range(count))
