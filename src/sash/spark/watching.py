"""Looking in: what a running query has done and waits for, and what a stopped one remembers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from sash.engine.looking import open_windows, slices_of
from sash.errors import InvalidInput, InvalidState, sentence_of
from sash.plan.plan import as_html, as_text
from sash.plan.query import Query, named_queries
from sash.spark.journal import BASE, HEAD, JOURNAL, STEP, Head
from sash.spark.live import Step, shown
from sash.spark.stateful import FIGURES
from sash.spark.streaming import OBSERVED
from sash.windows.measure import Measure, MeasureKind

__all__ = ["Progress", "Remembered", "of_report", "progress", "state", "why"]

_Entries = dict[tuple[str, int], tuple[bytes, bytes]]  # of a journal: a nonce and data, by kind and number


@dataclass(frozen=True)
class Progress:
    """What a query of sash has done: of its last micro-batch where nothing else is said."""

    batch: int
    rows: int
    rows_per_second: float
    watermark: Any  # in the unit of `on`: a time in UTC, or a number; None before there is one
    newest: Any  # the largest position so far
    results: int
    open_windows: int  # by arithmetic: of keys with gaps a few too many
    late: int
    late_rows: int  # since the query first started
    slices: int
    keys: int
    state_bytes: int
    written_bytes: int  # to the state store
    combines_per_row: float  # about
    next_end: Any = field(repr=False, default=None)

    def lines(self) -> list[tuple[str, str]]:
        return [
            ("batch", f"{self.batch}: {self.rows:,} rows, {self.rows_per_second:,.0f} a second"),
            ("time", f"watermark {_shown(self.watermark)}, newest row {_shown(self.newest)}"),
            ("windows", f"{self.results:,} sent, {self.open_windows:,} open"),
            ("late", f"{self.late:,} rows, {self.late_rows:,} since the query first started"),
            ("state", f"{self.keys:,} keys, {self.slices:,} slices, {self.state_bytes:,} bytes"),
            ("work", f"{self.combines_per_row:.2f} combines a row, {self.written_bytes:,} bytes written"),
        ]

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())


def progress(query: StreamingQuery) -> Progress | None:
    """What a streaming query has done, as of its last micro-batch; None before the first has ended."""
    return next(filter(None, map(of_report, reversed(query.recentProgress))), None)


def why(query: StreamingQuery) -> str:
    """What a query waits for: what it cannot close yet, and what holds the watermark back, in sentences."""
    if not query.isActive:
        failed = query.exception()
        if failed is not None:
            return f"The query has failed: {sentence_of(failed)}"
    now = progress(query)
    if now is None:
        return "No micro-batch has ended yet: " + str(query.status["message"]) + "."
    parts = []
    if now.watermark is None:
        parts.append("There is no watermark yet: no row with a position has come.")
    elif now.watermark == math.inf:
        parts.append("The stream was flushed: everything is closed, and rows that still come are late.")
    else:
        parts.append(
            f"The watermark is {_shown(now.watermark)}: the newest row is at {_shown(now.newest)}, and rows may come "
            f"{_shown(now.newest - now.watermark)} late."
        )
    if now.open_windows and now.watermark != math.inf:
        closing = "None of them has a known end: rows decide it."
        if now.next_end is not None and now.watermark is not None:
            needs = _later(now.next_end, now.newest - now.watermark)
            closing = (
                f"The next ends at {_shown(now.next_end)}, and closes when a row at {_shown(needs)} or later comes."
            )
        parts.append(f"About {now.open_windows:,} windows are open. {closing}")
    if not now.open_windows:
        parts.append("No window is open.")
    if now.late_rows:
        parts.append(f"{now.late_rows:,} rows came too late or had no position; late='keep' sends them on.")
    if not query.isActive:
        parts.append("The query has stopped.")
    elif not query.status["isDataAvailable"]:
        parts.append("The source has no new rows: only rows move the watermark.")
    return " ".join(parts)


@dataclass(frozen=True)
class Remembered:
    """What the checkpoint of a stopped query holds."""

    queries: tuple[tuple[str, str], ...]  # names and texts
    buckets: int
    watermark: Any
    newest: Any
    late_rows: int
    state_bytes: int
    slices: pa.Table  # by key: first and last row, and the edge after them
    windows: pa.Table  # by key: windows that are not closed yet

    def lines(self) -> list[tuple[str, str]]:
        keys = self.slices.select(self.slices.column_names[:-3])
        count = len(keys.group_by(keys.column_names).aggregate([])) if keys.num_columns else min(1, keys.num_rows)
        return [
            *(("query", text) for _, text in self.queries),
            ("time", f"watermark {_shown(self.watermark)}, newest row {_shown(self.newest)}"),
            ("state", f"{count:,} keys in {self.buckets} buckets, {self.state_bytes:,} bytes"),
            ("slices", f"{self.slices.num_rows:,}"),
            ("windows", f"{self.windows.num_rows:,} open"),
            ("late", f"{self.late_rows:,} rows"),
        ]

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())


def state(checkpoint: str, queries: Query | Sequence[Query] | None = None, operator: int = 0) -> Remembered:
    """What a stopped query remembers, read from the state store of its checkpoint: keys, slices and open windows.

    Windows and aggregates of sash are known by their texts. Where users' own are among them, give the `queries`.
    """
    session = SparkSession.getActiveSession()
    if session is None:
        raise InvalidInput.option("sash.state", None, "called while a Spark session is active")
    entries: dict[int, _Entries] = {}  # by bucket
    for row in _read(session, checkpoint, operator):
        kind, number = row["user_map_key"]
        nonce, data = row["user_map_value"]
        entries.setdefault(row["key"][0], {})[kind, number] = bytes(nonce), bytes(data)
    entries = {bucket: own for bucket, own in entries.items() if (HEAD, 0) in own}  # the others wait for rows
    if not entries:
        raise InvalidInput.option("checkpoint", checkpoint, "the checkpoint of a query of sash that has had rows")
    given = () if queries is None else named_queries(queries)
    found = [_memory(entries[each], given) for each in sorted(entries)]
    queries_saved = found[0][1]
    memories = [live for live, _ in found]
    plan = memories[0].plan
    return Remembered(
        tuple(queries_saved),
        len(entries),
        max((_position(each.watermark, plan.measure) for each in memories), key=_order),
        max((_position(each.newest, plan.measure) for each in memories), key=_order),
        sum(each.late_rows for each in memories),
        sum(each.nbytes for each in memories),
        pa.concat_tables([slices_of(each.plan, each.state) for each in memories]),
        pa.concat_tables([open_windows(each.plan, each.state) for each in memories]),
    )


def _memory(entries: _Entries, queries: tuple[Query, ...]) -> Any:
    head = Head.unpacked(*entries[HEAD, 0])
    try:
        base = b"".join(entries[BASE, part][1] for part in range(head.parts))
        steps = [entries[STEP, version][1] for version in range(head.base + 1, head.version + 1)]
    except KeyError as error:
        raise InvalidState.unreadable("a part of it is missing", error) from error
    live, texts = shown(base, queries)
    for step in steps:
        live.push(Step.unpacked(step, live.measure))
    return live, texts


def _read(session: SparkSession, checkpoint: str, operator: int) -> list[Any]:
    source = session.read.format("statestore").option("stateVarName", JOURNAL[0]).option("operatorId", operator)
    try:
        return list(source.load(checkpoint).collect())
    except Exception as error:
        expected = "the checkpoint of a query of sash that has stopped"
        raise InvalidInput.option("checkpoint", checkpoint, f"{expected} ({sentence_of(error)})") from error


# --- figures ------------------------------------------------------------------------------------------


def of_report(report: Any) -> Progress | None:
    """What one of Spark's reports says of sash; a trigger without rows, and a query of others, say nothing."""
    named = report["observedMetrics"]
    for name in named:
        figures = _figures(named[name]) if name.startswith(OBSERVED) else {}
        if figures.get("keys") is not None:
            return _progress(report, Measure(MeasureKind(name.split(" ")[1])), figures)
    return None


def _figures(observed: Any) -> dict[str, Any]:
    """What was observed, by name; a session of Spark Connect gives values apart from the schema that names them."""
    told: dict[str, Any] = observed.asDict()
    if set(told) == {"values", "schema"}:
        return {field["name"]: value for field, value in zip(told["schema"]["fields"], told["values"], strict=True)}
    return told


def _progress(report: Any, measure: Measure, figures: dict[str, Any]) -> Progress:
    rows = figures["rows"] or 0
    return Progress(
        report["batchId"],
        rows,
        round(float(report.get("processedRowsPerSecond") or 0.0), 1),
        _position(figures["watermark"], measure),
        _position(figures["newest"], measure),
        combines_per_row=(figures["combines"] or 0) / rows if rows else 0.0,
        next_end=_position(figures["next_end"], measure),
        **{name: figures[name] or 0 for name in FIGURES if name not in ("rows", "combines")},
    )


def _position(position: Any, measure: Measure) -> Any:
    """A position in the unit of `on`; a time in UTC."""
    if position is None or position <= measure.lowest:
        return None
    if position >= measure.highest:
        return math.inf
    return _time(position) if measure.kind is MeasureKind.TIME else position


_EPOCH, _FIRST, _LAST = (each.replace(tzinfo=UTC) for each in (datetime(1970, 1, 1), datetime.min, datetime.max))


def _time(position: int) -> datetime:
    """A time; one that Python has none for, before the year 1 or after 9999, is the first or the last that it has."""
    try:
        return _EPOCH + timedelta(microseconds=position)
    except OverflowError:
        return _LAST if position > 0 else _FIRST


def _later(position: Any, delay: Any) -> Any:
    try:
        return position + delay
    except OverflowError:
        return _LAST


def _order(position: Any) -> Any:
    return (position is not None, position)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return str(value) if not isinstance(value, datetime) else value.isoformat(sep=" ")
