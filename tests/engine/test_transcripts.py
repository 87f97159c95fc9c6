"""Every transcript, replayed: by the oracle, by a stream, by a stream that is cut, saved and restored, by a table."""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

import sash
from sash.algebra.compiler import JIT_DISABLED
from tests.engine.descriptions import Query, number
from tests.engine.oracle import Oracle, Sent
from tests.engine.transcripts import (
    FRAMES,
    TRANSCRIPTS,
    Event,
    Frame,
    Transcript,
    difference,
    key_columns,
    subject,
    subjects,
    type_of,
)

Rows: TypeAlias = tuple[Mapping[str, Any], ...]
Stream: TypeAlias = "sash.Stream"
Between: TypeAlias = Callable[[Stream, Mapping[str, Query]], Stream]


def shapes(transcript: Transcript) -> set[Any]:
    """What kernels see of a transcript: its kinds of windows, beside others or not, its options, and its measure."""
    several = len(transcript.queries) > 1
    options = transcript.has_revisions, transcript.emit, transcript.in_order, bool(transcript.by)
    measure = type_of(row[transcript.on] for event in transcript.events for row in event.rows)
    windows = [query.window for query in transcript.all_queries.values()]
    kinds = {(each.kind, *sorted(name for name, _ in each.words)) for each in windows}
    return {("kind", *kind, several) for kind in kinds} | {("options", *options), ("measure", measure)}


def first_of_their_shape() -> set[str]:
    seen: set[Any] = set()
    found = set()
    for transcript in TRANSCRIPTS:
        # Users' own functions, lists and medians have no kernels, or are compiled by tests of their own.
        calls = {call.function for query in transcript.all_queries.values() for call in query.calls}
        if calls <= {"sum", "count"} and shapes(transcript) - seen:
            seen |= shapes(transcript)
            found.add(transcript.name)
    return found


COMPILED = first_of_their_shape()


def marks_of(transcript: Transcript) -> list[Any]:
    """Compile only for transcripts that show kernels something new; the interpreter replays all of them."""
    return [pytest.mark.compiled] if transcript.name in COMPILED else []


REPLAYED = [pytest.param(each, id=each.name) for each in TRANSCRIPTS]
STREAMED = [pytest.param(each, id=each.name) for each in TRANSCRIPTS if not each.partial]
FOR_KERNELS = [pytest.param(each, id=each.name, marks=marks_of(each)) for each in TRANSCRIPTS if not each.partial]
BATCHED = [pytest.param(each, id=each.name) for each in TRANSCRIPTS if each.no_batch is None]
ROLLED = [pytest.param(each, id=each.name) for each in FRAMES]
SEEDS = range(3 if JIT_DISABLED else 1)  # what is cut where does not depend on the compiler


def test_every_transcript_has_a_sentence_of_its_own() -> None:
    names = [each.name for each in TRANSCRIPTS] + [each.name for each in FRAMES]
    assert len(set(names)) == len(names) >= 65


def tell(oracle: Oracle, event: Event) -> list[Sent]:
    for name, query in event.add.items():
        oracle.add(name, query)
    if event.remove:
        oracle.remove(event.remove)
    watermark = None if event.watermark is None else number(event.watermark)
    return oracle.push(event.rows, watermark)


# --- the oracle against what was worked out by hand ------------------------------------------------


@pytest.mark.parametrize("transcript", REPLAYED)
def test_oracle_keeps_to_the_transcript(transcript: Transcript) -> None:
    oracle = transcript.oracle()
    for at, event in enumerate(transcript.events):
        before = len(oracle.late)
        sent = tell(oracle, event)
        assert not (wrong := difference(sent, event.expect)), f"event {at}\n{wrong}"
        assert len(oracle.late) - before == event.late, f"event {at}"


# --- streams ---------------------------------------------------------------------------------------


def pieces(rows: Rows, dice: random.Random | None) -> Iterator[Rows]:
    """The rows, cut at random places."""
    cuts = sorted(dice.randrange(len(rows) + 1) for _ in range(dice.randrange(4))) if dice else []
    for start, end in pairwise([0, *cuts, len(rows)]):
        yield rows[start:end]


def replay(transcript: Transcript, stream: Stream, between: Between, dice: random.Random | None = None) -> Stream:
    """Each event pushed and compared; `between` is done to the stream before each push."""
    running = dict(transcript.queries)
    late = 0
    for at, event in enumerate(transcript.events):
        for name, query in event.add.items():
            stream.add(subject(name, query))
        if event.remove:
            stream.remove(event.remove)
            del running[event.remove]
        running |= event.add
        late += event.late
        sent: list[Sent] = []
        *first, last = pieces(event.rows, dice if transcript.may_be_cut else None)
        for piece in first:
            stream = between(stream, running)
            sent += transcript.read(stream.push(transcript.table(piece)))
        stream = between(stream, running)
        if event.watermark == math.inf and not last:
            sent += transcript.read(stream.finish())
        else:
            sent += transcript.read(stream.push(transcript.table(last), watermark=event.watermark))
        assert not (wrong := difference(sent, event.expect)), f"event {at}\n{wrong}"
        assert stream.late_count == late, f"event {at}"
    return stream


@pytest.mark.parametrize("transcript", FOR_KERNELS)
def test_stream_keeps_to_the_transcript(transcript: Transcript) -> None:
    replay(transcript, transcript.stream(), lambda stream, running: stream)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("transcript", STREAMED)
def test_stream_that_is_cut_saved_and_restored_keeps_to_the_transcript(transcript: Transcript, seed: int) -> None:
    def reborn(stream: Stream, running: Mapping[str, Query]) -> Stream:
        return sash.Stream.restore(stream.save(), subjects(running))

    stream = replay(transcript, transcript.stream(late="keep"), reborn, random.Random(seed))
    kept = [row[name] for row in stream.late().to_pylist() for name in transcript.columns]
    late = [row[name] for row in finished(transcript).late for name in transcript.columns]
    assert not difference([kept], [late])


# --- tables ----------------------------------------------------------------------------------------


def finished(transcript: Transcript) -> Oracle:
    """The oracle after all events and the end of the stream."""
    oracle = transcript.oracle()
    for event in transcript.events:
        tell(oracle, event)
    oracle.push([], math.inf)
    return oracle


@pytest.mark.parametrize("transcript", BATCHED)
def test_table_of_all_accepted_rows_has_the_last_revision_of_each_window(transcript: Transcript) -> None:
    oracle = finished(transcript)
    rows = transcript.table(row.columns for row in oracle.rows)
    found = sash.aggregate(
        pa.table(rows),
        subjects(transcript.queries),
        on=transcript.on,
        by=key_columns(transcript.by),
        partial=transcript.partial,
    )
    wanted = [
        replace(sent, revision=0) for live in oracle.live.values() for each in live.sent.values() for sent in each
    ]
    assert not (wrong := difference(transcript.read(found, has_revisions=False), wanted)), wrong


# --- one result for each row -----------------------------------------------------------------------


@pytest.mark.parametrize("frame", ROLLED)
def test_oracle_keeps_to_the_frames(frame: Frame) -> None:
    assert not (wrong := difference([frame.wanted()], [frame.expect])), wrong


@pytest.mark.parametrize("frame", ROLLED)
def test_rolling_keeps_to_the_frames(frame: Frame) -> None:
    assert not (wrong := difference([frame.found()], [frame.expect])), wrong
