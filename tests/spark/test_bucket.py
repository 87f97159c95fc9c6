"""A bucket without Spark: transcripts and random streams, cut, saved and restored anywhere."""

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sash
from sash.engine import stream_bytes
from sash.engine.options import options_of
from sash.engine.results import schema_of
from sash.engine.rolling import plan_frames
from sash.engine.tables import read_rows
from sash.engine.trigger import Trigger
from sash.errors import InvalidState
from sash.limits import Limits
from sash.spark.state import window_bucket
from sash.spark.state.bucket import Bucket, MicroBatch
from sash.spark.state.frame_bucket import FrameWork
from sash.spark.state.window_bucket import WindowWork
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import as_results
from sash.spark.worker import frames
from tests.engine.descriptions import Query, number
from tests.engine.oracle import Sent
from tests.engine.test_random import PROFILE, transcripts
from tests.engine.test_transcripts import pieces
from tests.engine.test_user_windows import Lapped, Rises, Squares
from tests.engine.transcripts import TRANSCRIPTS, Event, Transcript, difference, key_columns, subjects, written


def always_has_queries(transcript: Transcript) -> bool:
    """Return whether queries are left after every event: a job without queries is none."""
    running = set(transcript.queries)
    for event in transcript.events:
        running = (running | set(event.add)) - {event.remove}
        if not running:
            return False
    return True


# A bucket is never told that rows are in order.
TOLD = [each for each in TRANSCRIPTS if not each.in_order and always_has_queries(each)]


def schema_for(transcript: Transcript) -> pa.Schema:
    if transcript.types:
        return pa.schema([pa.field(name, transcript.types[name]) for name in transcript.columns])
    rows = [row for event in transcript.events for row in event.rows]
    whole = (
        pa.table(transcript.table(rows))
        if rows
        else pa.table({name: pa.array([], pa.int64()) for name in transcript.columns})
    )
    fields = [
        pa.field(each.name, pa.timestamp("us") if pa.types.is_timestamp(each.type) else each.type)
        for each in whole.schema
    ]
    return pa.schema(fields)


def work_of(transcript: Transcript, queries: Mapping[str, Query]) -> WindowWork:
    schema = schema_for(transcript)
    delay = None if transcript.delay is None else written(transcript.delay)
    by, lateness = key_columns(transcript.by), written(transcript.lateness)
    options = options_of(transcript.on, by, lateness, delay, False, transcript.emit, transcript.partial)
    recipe = Recipe(tuple(subjects(queries)), options, schema)
    return WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), keeps_late=False)


def step_of(transcript: Transcript, work: WindowWork, rows: Iterable[Mapping[str, Any]], watermark: Any) -> MicroBatch:
    """Rows and how far the stream has come: by the rows if there is a delay, otherwise as the transcript says."""
    table = transcript.table(list(rows))
    given = pa.table(table).cast(work.schema) if table else work.schema.empty_table()
    newest = None if watermark is None or watermark == math.inf else number(watermark)
    plan = work.recipe.plan()
    if transcript.delay is not None:
        positions, valid = plan.measure.positions(given.column(transcript.on), transcript.on)
        known = positions if valid is None else positions[valid]
        newest = max([*([] if newest is None else [newest + plan.delay]), *known.tolist()], default=None)
    return MicroBatch(given, newest, is_end=watermark == math.inf)


def sent_by(transcript: Transcript, work: WindowWork, live: Bucket, step: MicroBatch) -> list[Sent]:
    return transcript.read(work.output(live.push(step), live.rejected))


def replay(transcript: Transcript, dice: random.Random) -> None:
    """Each event pushed; between two a snapshot is written, or the bucket is restored from a snapshot and a log."""
    running = dict(transcript.queries)
    work = work_of(transcript, running)
    live = work.new_bucket()
    snapshot, steps = live.snapshot(), list[bytes]()
    for at, event in enumerate(transcript.events):
        if event.add or event.remove:
            running = {name: each for name, each in (running | dict(event.add)).items() if name != event.remove}
            work = work_of(transcript, running)
        again = work.restore(snapshot)
        for each in steps:
            again.replay(MicroBatch.from_bytes(each, again.measure))
        if work.update_queries(again) or event.remove or dice.randrange(2):
            snapshot, steps = again.snapshot(), []
        live = again
        sent: list[Sent] = []
        *first, last = pieces(event.rows, dice if transcript.may_be_cut else None)
        given = [
            *(step_of(transcript, work, piece, None) for piece in first),
            step_of(transcript, work, last, event.watermark),
        ]
        before = live.rejected_count
        for step in given:
            sent += sent_by(transcript, work, live, step)
            steps.append(step.to_bytes())
        assert not (wrong := difference(sent, event.expect)), f"event {at}\n{wrong}"
        assert live.rejected_count - before == event.late, f"event {at}"


@pytest.mark.parametrize("transcript", [pytest.param(each, id=each.name) for each in TOLD])
def test_bucket_keeps_to_the_transcript(transcript: Transcript) -> None:
    replay(transcript, random.Random(7))


@given(transcripts(), st.integers(0, 1000))
@settings(PROFILE, max_examples=20)
def test_bucket_agrees_with_the_oracle(transcript: Transcript, seed: int) -> None:
    """Random streams: what the oracle sends after every push is what a bucket sends that was made again before it."""
    transcript = replace(transcript, in_order=False)
    # A bucket has its watermark from rows: one that is told stands for a row, and the last rows every so often are told
    # up to the last row.
    assume(
        transcript.delay is not None or not any(each.window.is_multi_measure for each in transcript.queries.values())
    )
    oracle = transcript.oracle()
    events = []
    for event in transcript.events:
        before = len(oracle.late)
        expect = tuple(oracle.push(event.rows, event.watermark))
        events.append(Event(event.rows, event.watermark, expect, len(oracle.late) - before, {}, None))
    replay(replace(transcript, events=tuple(events)), random.Random(seed))


def test_other_options_and_other_queries_are_refused_with_the_difference() -> None:
    def work(name: str, delay: str) -> WindowWork:
        schema = pa.schema([("ts", pa.timestamp("us")), ("x", pa.float64())])
        query = sash.query(name, sash.tumbling("10 seconds"), n=sash.count())
        recipe = Recipe((query,), options_of("ts", None, 0, delay, False, "final"), schema)
        return WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), keeps_late=False)

    saved = work("ten", "5 seconds").new_bucket().snapshot()
    with pytest.raises(InvalidState, match="watermark was 5s, but is 6s"):
        work("ten", "6 seconds").restore(saved)
    with pytest.raises(InvalidState, match="none of them is among other"):
        work("other", "5 seconds").restore(saved)


@pytest.mark.parametrize(
    "dropped",
    [
        sash.query("dropped", sash.tumbling(10), all=sash.collect("x")),
        sash.query("dropped", sash.sliding(rows=5, every=2), n=sash.count()),
        sash.query("dropped", sash.session(gap=3), first=sash.first("x")),
    ],
    ids=str,
)
@pytest.mark.parametrize("new", [(), (sash.query("added", sash.tumbling(5), n=sash.count()),)], ids=["fewer", "other"])
@pytest.mark.parametrize("steps", range(4))
def test_bucket_that_restarts_with_fewer_or_other_queries_loses_no_row(dropped: Any, steps: int, new: Any) -> None:
    """The snapshot has the rows of some micro-batches, the log since those of the others; one has all of them."""
    schema = pa.schema([("t", pa.int64()), ("x", pa.int64())])
    total = sash.query("total", sash.tumbling(10), s=sash.sum("x"), n=sash.count())

    def work(*queries: Any) -> WindowWork:
        recipe = Recipe(queries, options_of("t", None, 0, 20, False, "final"), schema)
        return WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), keeps_late=False)

    given = [MicroBatch(pa.table({"t": [t], "x": [x]}, schema), t) for t, x in [(3, 8), (0, 1), (5, 2), (31, 0)]]
    live = work(total, dropped).new_bucket()
    for step in given[: 3 - steps]:
        live.push(step)
    snapshot = live.snapshot()
    again = work(total, *new)
    live = again.restore(snapshot)
    for step in given[3 - steps : 3]:
        live.replay(MicroBatch.from_bytes(step.to_bytes(), live.measure))
    assert again.update_queries(live)
    results = live.push(given[3]).to_pylist()
    assert [(row["s"], row["n"]) for row in results if row["query"] == "total"] == [(11, 3)]
    assert live.rejected_count == 0


def test_windows_of_users_own_are_remembered() -> None:
    rows = [{"t": t, "x": x} for t, x in [(1, 9), (4, 7), (6, 2), (9, 8), (13, 1), (30, 0)]]
    queries = [sash.query(each.__name__, each(), n=sash.count(), s=sash.sum("x")) for each in (Squares, Lapped, Rises)]
    schema = pa.schema([("t", pa.int64()), ("x", pa.int64())])
    recipe = Recipe(tuple(queries), options_of("t", None, 0, 2, False, "final"), schema)
    work = WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), keeps_late=False)
    snapshot, found = work.new_bucket().snapshot(), []
    for step in [
        *(MicroBatch(pa.Table.from_pylist([row], schema), row["t"]) for row in rows),
        MicroBatch(schema.empty_table(), None, is_end=True),
    ]:
        live = work.restore(snapshot)
        found += live.push(step).to_pylist()
        snapshot = live.snapshot()
    wanted = sash.aggregate(pa.Table.from_pylist(rows, schema), queries, on="t").to_pylist()
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


def test_frames_of_a_users_aggregate_are_restored_in_another_process() -> None:
    """A function lies elsewhere in each process: what was asked must not depend on that, but on what it does."""

    def work(step: int) -> FrameWork:
        schema = pa.schema([("t", pa.int64()), ("x", pa.int64())])
        own = sash.Aggregate(
            "own",
            state=("i8",),
            identity=(0,),
            lift=(lambda x: (x + 1,)) if step == 1 else (lambda x: (x + 2,)),
            combine=lambda a, b: (a[0] + b[0],),
            lower=lambda p: p[0],
        )
        frames = (sash.frame(rows=2, own=own("x")),)
        plan = plan_frames(read_rows(schema.empty_table()), frames, "t", None)
        return FrameWork(plan, 0, schema, schema.append(pa.field("own", pa.int64())), keeps_late=False)

    saved = work(1).new_bucket().snapshot()
    assert work(1).restore(saved).figures()["keys"] == 0
    with pytest.raises(InvalidState, match="What changed: the code of lift"):
        work(2).restore(saved)


@pytest.mark.parametrize("closed", ["both", "right"])
@pytest.mark.parametrize("seed", range(2))
def test_frames_of_floats_in_a_bucket_are_those_of_the_whole_table(closed: Any, seed: int) -> None:
    """Positions in tenths are not exact: what is kept of the rows before must be what frames ask for, to the bit."""
    dice = random.Random(seed)
    schema = pa.schema([("t", pa.float64()), ("k", pa.int64()), ("x", pa.int64())])
    wanted: dict[int, Any] = {
        length: {f"n{length}": sash.count(), f"s{length}": sash.sum("x")} for length in (0, 3, 7, 20)
    }
    frames = tuple(sash.frame(range=length / 10, closed=closed, **each) for length, each in wanted.items())
    plan = plan_frames(read_rows(schema.empty_table()), frames, "t", "k")
    results = pa.schema([*schema, *(pa.field(name, kind) for name, kind in plan.results())])
    work = FrameWork(plan, 1.5, schema, results, keeps_late=False)
    at = -10.0
    rows = []
    for x in range(200):
        at += dice.choice([0.0, 0.1, 0.3])
        rows.append({"t": round(at - dice.choice([0.0, 0.0, 0.4]), 1), "k": dice.randrange(2), "x": x})
    snapshot, found, newest, end = work.new_bucket().snapshot(), [], -math.inf, 0
    while end < len(rows):
        begin, end = end, end + dice.randrange(1, 9)
        newest = max([newest, *(row["t"] for row in rows[begin:end])])
        live = work.restore(snapshot)
        step = MicroBatch(pa.Table.from_pylist(rows[begin:end], schema), newest, is_end=end >= len(rows))
        found += live.push(step).to_pylist()
        assert live.rejected_count == 0
        snapshot = live.snapshot()
    whole = sash.rolling(pa.Table.from_pylist(rows, schema), *frames, on="t", by="k").to_pylist()
    assert sorted(found, key=lambda row: row["x"]) == whole


def works() -> tuple[WindowWork, FrameWork]:
    schema = pa.schema([("t", pa.int64()), ("x", pa.int64())])
    queries = (
        sash.query("ten", sash.tumbling(10), s=sash.sum("x")),
        sash.query("visit", sash.session(gap=3), n=sash.count()),
    )
    recipe = Recipe(queries, options_of("t", None, 0, 2, False, "final"), schema)
    plan = plan_frames(read_rows(schema.empty_table()), (sash.frame(rows=3, n=sash.count()),), "t", None)
    results = schema.append(pa.field("n", pa.int64()))
    windows = WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), keeps_late=False)
    return windows, FrameWork(plan, 2, schema, results, keeps_late=False)


def test_windows_and_frames_refuse_the_snapshots_of_each_other() -> None:
    windows, frames = works()
    with pytest.raises(InvalidState, match=r"saved with function sash\.rolling, not sash\.aggregate"):
        windows.restore(frames.new_bucket().snapshot())
    with pytest.raises(InvalidState, match=r"saved with function sash\.aggregate, not sash\.rolling"):
        frames.restore(windows.new_bucket().snapshot())


def test_a_snapshot_of_windows_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    work, _ = works()
    bucket = work.new_bucket()
    bucket.push(MicroBatch(pa.table({"t": [3, 9], "x": [1, 2]}, work.schema), 9))
    snapshot = bucket.snapshot()
    decoded, load = [], stream_bytes.load

    def counted(blob: Any, limits: Limits) -> Any:
        decoded.append(blob)
        return load(blob, limits)

    monkeypatch.setattr(stream_bytes, "load", counted)
    monkeypatch.setattr(window_bucket, "load_stream", counted)
    again = work.restore(snapshot)
    assert len(decoded) == 1
    assert again.push(MicroBatch(work.schema.empty_table(), None, is_end=True)).num_rows == 2


def test_replay_of_windows_gives_the_same_state_and_computes_no_results(monkeypatch: pytest.MonkeyPatch) -> None:
    work, _ = works()
    batches = [MicroBatch(pa.table({"t": [t, t - 1], "x": [t, 1]}, work.schema), t) for t in (3, 9, 15, 4, 37)]
    pushed, replayed = work.new_bucket(), work.new_bucket()
    assert sum(pushed.push(batch).num_rows for batch in batches) > 3

    def refuse(*_: Any) -> Any:
        raise AssertionError("results are computed again")

    monkeypatch.setattr(Trigger, "_finish", refuse)
    for batch in batches:
        replayed.replay(batch)
    assert replayed.snapshot() == pushed.snapshot()
    assert replayed.rejected_count == pushed.rejected_count == 2


def test_replay_of_frames_gives_the_same_state_and_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = pa.schema([("t", pa.int64()), ("x", pa.int64())])
    options = (sash.frame(rows=3, n=sash.count()), sash.frame(range=4, s=sash.sum("x")))
    plan = plan_frames(read_rows(schema.empty_table()), options, "t", None)
    results = pa.schema([*schema, *(pa.field(name, kind) for name, kind in plan.results())])
    work = FrameWork(plan, 2, schema, results, keeps_late=False)
    batches = [MicroBatch(pa.table({"t": [t, t - 1], "x": [t, 1]}, schema), t) for t in (3, 9, 10, 4, 17)]
    pushed, replayed = work.new_bucket(), work.new_bucket()
    for batch in batches:
        pushed.push(batch)

    def refuse(*_: Any) -> Any:
        raise AssertionError("frames are computed again")

    monkeypatch.setattr(frames, "compute_frames", refuse)
    for batch in batches:
        replayed.replay(batch)
    assert replayed.snapshot() == pushed.snapshot()
    assert replayed.rejected_count == pushed.rejected_count == 2
