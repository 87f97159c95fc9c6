"""Transcripts replayed on Spark, at least one for each thing that any of them shows, in two partitions of rows."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import sash
from tests.engine.descriptions import number
from tests.engine.oracle import Sent, alike
from tests.engine.test_transcripts import finished
from tests.engine.transcripts import (
    FRAMES,
    TRANSCRIPTS,
    Frame,
    Transcript,
    difference,
    key_columns,
    subject_aggregate,
    subjects,
    type_of,
    written,
)

ARRIVAL = "arrival"
Answers: TypeAlias = dict[str, Future[Any]]


def spread(transcripts: Sequence[Transcript]) -> Iterator[Transcript]:
    """Those that show something which none before them does: a question costs a second, and there are many."""
    seen: set[Any] = set()
    for each in transcripts:
        shown: set[Any] = {
            ("types", *(type_of(row.columns[name] for row in finished(each).rows) for name in each.columns))
        }
        for query in each.queries.values():
            window = (query.window.kind, *sorted(name for name, _ in query.window.words))
            shown |= {("window", *window), ("several", query.window.kind, len(each.by), len(each.queries) > 1)}
            shown |= {("aggregate", query.window.by_count, call.function) for call in query.calls}
            shown |= {("sent", query.window.kind, each.partial)}
        if shown - seen:
            seen |= shown
            yield each


CHOSEN = list(spread([each for each in TRANSCRIPTS if each.no_batch is None and finished(each).rows]))


def spark_table(spark: Any, columns: Sequence[str], rows: Sequence[Any]) -> DataFrame:
    """Rows as they arrive; times travel as microseconds, so that no time zone can move them."""
    types = {name: type_of(row[name] for row in rows) for name in columns}
    values = {name: [_cell(row[name], types[name]) for row in rows] for name in columns}
    table = spark.createDataFrame(
        pa.table({name: pa.array(values[name], types[name] or pa.int64()) for name in columns})
    )
    for name in columns:
        if types[name] is None:
            table = table.withColumn(name, F.timestamp_micros(F.col(name)))
    return table


def _cell(value: Any, type: Any) -> Any:
    if value is None:
        return None
    return float(value) if type == pa.float64() else number(value) if type is None else value


@pytest.fixture(scope="module")
def run(spark: Any) -> Iterator[Callable[[Callable[[], Any]], Future[Any]]]:
    """Several questions at once: a question of five rows is mostly waiting."""
    with ThreadPoolExecutor(4) as pool:
        yield pool.submit


@pytest.fixture(scope="module")
def windows(spark: Any, run: Any) -> Answers:
    return {each.name: run(lambda each=each: asked(spark, each)) for each in CHOSEN}


@pytest.fixture(scope="module")
def frames(spark: Any, run: Any) -> Answers:
    return {each.name: run(lambda each=each: rolled(spark, each)) for each in FRAMES}


def asked(spark: Any, transcript: Transcript) -> pa.Table:
    rows = [row.columns for row in finished(transcript).rows]
    return sash.aggregate(
        spark_table(spark, transcript.columns, rows),
        subjects(transcript.queries),
        on=transcript.on,
        by=key_columns(transcript.by),
        partial=transcript.partial,
    ).toArrow()


def rolled(spark: Any, frame: Frame) -> list[dict[str, Any]]:
    rows = [{**row, ARRIVAL: at} for at, row in enumerate(frame.rows)]
    extent: dict[str, Any] = {"rows": frame.count} if frame.count is not None else {"range": written(frame.width)}
    found = sash.rolling(
        spark_table(spark, (*frame.columns, ARRIVAL), rows),
        on=frame.columns[0],
        by=key_columns(frame.by),
        closed=frame.closed,
        min_samples=frame.min_samples,
        **extent,
        **{call.name: subject_aggregate(call) for call in frame.calls},
    )
    answers: list[dict[str, Any]] = found.toArrow().to_pylist()
    return sorted(answers, key=lambda row: int(row[ARRIVAL]))


def test_every_kind_of_window_is_among_the_transcripts() -> None:
    kinds = {query.window.kind for each in CHOSEN for query in each.queries.values()}
    assert kinds == {"tumbling", "sliding", "session", "punctuated", "cumulative", "landmark"}
    assert len(CHOSEN) >= 40


@pytest.mark.parametrize("transcript", [pytest.param(each, id=each.name) for each in CHOSEN])
def test_dataframe_of_all_accepted_rows_has_the_last_revision_of_each_window(
    windows: Answers, transcript: Transcript
) -> None:
    found: list[Sent] = transcript.read(windows[transcript.name].result(), has_revisions=False)
    live = finished(transcript).live.values()
    wanted = [replace(sent, revision=0) for each in live for own in each.sent.values() for sent in own]
    assert not (wrong := difference(found, wanted)), wrong


@pytest.mark.parametrize("frame", [pytest.param(each, id=each.name) for each in FRAMES])
def test_rolling_keeps_to_the_frames_on_a_dataframe(frames: Answers, frame: Frame) -> None:
    found = frames[frame.name].result()
    for name in frame.columns:
        own = [row[name] for row in frame.rows]
        assert alike([_plain(row[name]) for row in found], [_plain(each) for each in own]), f"{name} has changed"
    answers = [[row[call.name] for call in frame.calls] for row in found]
    assert not (wrong := difference([answers], [frame.expect])), wrong


def _plain(value: Any) -> Any:
    return number(value) if isinstance(value, datetime) else value


def test_the_end_of_a_table_is_the_end_of_the_stream() -> None:
    """What the batch is compared with: the oracle sends nothing more after it."""
    for each in CHOSEN:
        assert finished(each).push([], math.inf) == []
