"""A life, lived by sash and by the oracle: what one sends after each push, the other does."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

import sash
from sash.limits import LIMITS, Limits
from tests.engine.descriptions import Query, number, parse
from tests.engine.oracle import Oracle, Sent, alike, key_of
from tests.engine.transcripts import difference, edges_of, key_columns, subject, subjects, written
from tests.limits import LOW, restored, stream_with
from tests.lives.life import COLUMNS, NIGHT, Action, Add, Life, Push, Remove, Restore

__all__ = ["Difference", "compare", "length", "limits_of", "oracle_of", "position", "rows_of", "run", "table"]

EPOCH = dt.datetime(1970, 1, 1)
TYPES = {
    "k": pa.string(),
    "g": pa.int64(),
    "new": pa.bool_(),
    "end": pa.bool_(),
    "x": pa.int64(),
    "y": pa.float64(),
    "s": pa.string(),
    "b": pa.binary(),
    "d": pa.decimal128(10, 2),
    "w": pa.decimal128(38, 10),
}
ON = {"whole": pa.int64(), "half": pa.float64(), "time": pa.timestamp("us"), "hours": pa.timestamp("us")}


class Difference(AssertionError):
    """sash and the oracle do not send the same."""


def position(life: Life, at: Any) -> Any:
    """Where a row or a watermark is, in the unit of `on`."""
    if at is None or at == math.inf:
        return at
    if life.unit == "hours":
        return NIGHT + dt.timedelta(hours=6 * at)
    return EPOCH + dt.timedelta(microseconds=at) if life.unit == "time" else at / 2 if life.unit == "half" else at


def length(life: Life, value: int | None) -> Any:
    if life.unit == "hours":
        return None if value is None else f"{6 * value}h"
    return (
        None if value is None else f"{value}us" if life.unit == "time" else value / 2 if life.unit == "half" else value
    )


def rows_of(life: Life, push: Push) -> list[dict[str, Any]]:
    return [{**row, "t": position(life, row["t"])} for row in push.rows]


def table(life: Life, rows: Sequence[Mapping[str, Any]]) -> Any:
    types = {"t": ON[life.unit], **TYPES}
    return pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in COLUMNS}) if rows else {}


def oracle_of(life: Life) -> Oracle:
    return Oracle(
        {name: parse(text) for name, text in life.queries},
        "t",
        life.by,
        lateness=number(length(life, life.lateness)),
        delay=None if life.delay is None else number(length(life, life.delay)),
        in_order=life.in_order,
        updates=life.emit == "updates",
    )


def stream_of(life: Life) -> sash.Stream:
    return stream_with(
        limits_of(life),
        subjects({name: parse(text) for name, text in life.queries}),
        on="t",
        by=key_columns(life.by),
        allowed_lateness=written(length(life, life.lateness)),
        watermark=written(length(life, life.delay)),
        in_order=life.in_order,
        emit=life.emit,
        late="keep",
        store=life.store,
    )


def read(life: Life, results: pa.Table, queries: Mapping[str, Query]) -> list[Sent]:
    """What sash sent, as the oracle says it."""
    found = []
    for row in results.to_pylist():
        calls = queries[row["query"]].calls
        own = {call.name for call in calls}
        others = {call.name for each in queries.values() for call in each.calls} - own
        if any(row[name] is not None for name in others):
            raise Difference(f"{row} has another query's values")
        values = tuple(
            round(row[call.name]) if call.function == "hyperloglog" and row[call.name] is not None else row[call.name]
            for call in calls
        )
        start, end, extent = edges_of(row, queries[row["query"]])
        revision = row.get("revision", 0)
        found.append(Sent(row["query"], key_of(row, life.by), start, end, values, revision, extent=extent))
    return found


def compare(oracle: Oracle, found: Sequence[Sent], wanted: Sequence[Sent]) -> None:
    """All that is certain was sent, and nothing but what it was, or may be of rows before its query."""
    certain = [each for each in wanted if each.certain]
    sure = [each for each in found if not _may_be(oracle, each, wanted)]
    if wrong := difference(sure, certain):
        raise Difference(wrong)


def _may_be(oracle: Oracle, sent: Sent, wanted: Sequence[Sent]) -> bool:
    """Whether rows before its query may have a part in a window, and it holds no row that was never there."""
    live = oracle.live[sent.query]
    if live.after == -math.inf:
        return False
    if any(
        each.certain and (each.query, each.key, each.start, each.end) == (sent.query, sent.key, sent.start, sent.end)
        for each in wanted
    ):
        return False
    window = live.query.window
    if not window.by_count and not window.is_multi_measure:
        is_before = sent.start - (window.of("gap") if window.kind == "session" else 0) <= live.after
        is_revised = any(
            sent.end is None or old.start < sent.end for old in live.sent.get(sent.key, []) if not old.certain
        )
        if not is_before and not is_revised and not _begins_unmarked(oracle, sent):
            return False
    counts = [value for call, value in zip(live.query.calls, sent.values, strict=True) if call.name == "count"]
    held = [row for row in oracle.rows if row.key == sent.key]
    if not window.by_count:
        held = [row for row in held if sent.start <= row.position and (sent.end is None or row.position < sent.end)]
    return not counts or counts[0] <= len(held)


def _begins_unmarked(oracle: Oracle, sent: Sent) -> bool:
    """Whether it starts with the first row of its key since its query, which does not know the rows before."""
    live = oracle.live[sent.query]
    since = [row.position for row in oracle.rows if row.key == sent.key and row.position > live.after]
    return live.query.window.kind in ("punctuated", "parities", "switches") and sent.start == min(since, default=None)


def limits_of(life: Life) -> Limits:
    return LOW if life.low_limits else LIMITS


def change(oracle: Oracle, action: Action) -> None:
    """Queries that come and go, for the oracle."""
    if isinstance(action, Remove):
        oracle.remove(action.name)
    elif isinstance(action, Add):
        oracle.add(action.name, parse(action.query))
    elif isinstance(action, Restore):
        wanted = dict(action.queries)
        for name in set(oracle.live) - set(wanted):
            oracle.remove(name)
        for name in wanted:
            if name not in oracle.live:
                oracle.add(name, parse(wanted[name]))


def run(life: Life) -> None:
    """Live it; a difference is raised where it shows."""
    oracle, stream = oracle_of(life), stream_of(life)
    for action in life.actions:
        change(oracle, action)
        if isinstance(action, Push):
            rows = rows_of(life, action)
            mark = position(life, action.watermark)
            wanted = oracle.push(rows, None if mark is None else number(mark))
            results = stream.push(table(life, rows), watermark=mark)
            compare(oracle, read(life, results, {name: each.query for name, each in oracle.live.items()}), wanted)
            if stream.late_count != len(oracle.late):
                raise Difference(f"{stream.late_count} rows are late, and should be {len(oracle.late)}")
        elif isinstance(action, Remove):
            stream.remove(action.name)
        elif isinstance(action, Add):
            stream.add(subject(action.name, parse(action.query)))
        else:
            queries = subjects({name: parse(text) for name, text in action.queries})
            stream = restored(stream, queries, limits_of(life))
        if stream.state is not None:
            stream.state.slices.check()
    late = [[row[name] for name in COLUMNS] for row in stream.late().to_pylist()]
    if not alike(late, [[row[name] for name in COLUMNS] for row in oracle.late]):
        raise Difference(f"late rows are {late}")
