"""Transcripts: what goes into a stream and what must come out, as data; and how sash and the oracle are given them.

    name: a late row within lateness corrects a result already sent
    columns: [t, x]                      # the first is `on`; this is the default
    queries:
      ten: sum(x), count() over tumbling 10
    lateness: 5
    events:
      - {rows: [[1, 4], [7, 2]], watermark: 13, expect: [[0, 10, 6, 2, 0]]}
      - {rows: [[9, 5]], expect: [[0, 10, 11, 3, 1]]}

A row of `expect` is: the query if there are several, the key, start, end, each aggregate, the revision where updates
can occur. `late` counts an event's late rows. An event may also `add` queries or `remove` one. Times are ISO,
durations 10s, 5m, 1h. `no_batch` says why a table of the accepted rows has other windows than the stream sent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

import sash
from sash.limits import LIMITS, Limits
from tests.engine.descriptions import Call, Query, Window, calls, number, parse
from tests.engine.oracle import Oracle, Sent, alike, key_of, rolling
from tests.engine.users_own import AGGREGATES, WINDOWS
from tests.limits import stream_with

__all__ = ["FRAMES", "TRANSCRIPTS", "Event", "Frame", "Transcript", "difference", "edges_of"]

HERE = Path(__file__).parent.parent / "transcripts"
OPTIONS = {"name", "columns", "queries", "by", "lateness", "delay", "in_order", "emit", "partial", "events", "no_batch"}


@dataclass(frozen=True)
class Event:
    rows: tuple[Mapping[str, Any], ...]
    watermark: Any
    expect: tuple[Sent, ...]
    late: int
    add: Mapping[str, Query]
    remove: str | None


@dataclass(frozen=True)
class Transcript:
    name: str
    columns: tuple[str, ...]
    queries: Mapping[str, Query]
    events: tuple[Event, ...]
    by: tuple[str, ...] = ()
    lateness: Any = 0
    delay: Any = None
    in_order: bool = False
    emit: Any = "final"
    partial: bool = False
    no_batch: str | None = None
    types: Mapping[str, Any] | None = None  # of Arrow; by the values where not given

    @property
    def on(self) -> str:
        return self.columns[0]

    @property
    def has_revisions(self) -> bool:
        return bool(self.lateness) or self.emit == "updates"

    @property
    def may_be_cut(self) -> bool:
        """Whether a push in two pieces sends what one push does.

        A watermark taken from the rows would move between the pieces, and where results are corrected the first
        piece would be answered by itself.
        """
        return self.delay is None and not self.has_revisions

    @property
    def all_queries(self) -> dict[str, Query]:
        found = dict(self.queries)
        for event in self.events:
            found |= event.add
        return found

    def oracle(self) -> Oracle:
        return Oracle(
            self.queries,
            self.on,
            self.by,
            lateness=number(self.lateness),
            delay=None if self.delay is None else number(self.delay),
            in_order=self.in_order,
            updates=self.emit == "updates",
            partial=self.partial,
        )

    def stream(self, late: Any = "count", limits: Limits = LIMITS) -> "sash.Stream":
        return stream_with(
            limits,
            subjects(self.queries),
            on=self.on,
            by=key_columns(self.by),
            allowed_lateness=written(self.lateness),
            watermark=written(self.delay),
            in_order=self.in_order,
            emit=self.emit,
            late=late,
        )

    def table(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Rows as columns, of the type that the column has in the whole transcript."""
        rows = list(rows)
        if not rows:
            return {}
        return {name: column([row[name] for row in rows], self._types[name]) for name in self.columns}

    @property
    def _types(self) -> Mapping[str, Any]:
        return self.types or {
            name: type_of(row[name] for event in self.events for row in event.rows) for name in self.columns
        }

    def read(self, results: pa.Table, has_revisions: bool | None = None) -> list[Sent]:
        """What sash sent, as the oracle says it."""
        found = []
        for row in results.to_pylist():
            query = self.all_queries[row["query"]]
            names = [call.name for call in query.calls]
            others = {call.name for each in self.all_queries.values() for call in each.calls} - set(names)
            assert all(row[name] is None for name in others if name in row), f"{row} has another query's values"
            start, end, extent = edges_of(row, query)
            assert ("revision" in row) == (self.has_revisions if has_revisions is None else has_revisions)
            values = tuple(row[name] for name in names)
            revision = row.get("revision", 0)
            found.append(Sent(row["query"], key_of(row, self.by), start, end, values, revision, extent=extent))
        return found


def edges_of(row: Mapping[str, Any], query: Query) -> tuple[Any, Any, Any]:
    """Start, end and extent of a result as the oracle says them: ranks where rows are counted, and where these lie."""
    start, end = (None if row[name] is None else number(row[name]) for name in ("window_start", "window_end"))
    assert start is not None, f"{row} has no start"
    if query.window.by_count:
        return row["rank_start"], row["rank_end"], (start, end)
    assert row.get("rank_start") is None and row.get("rank_end") is None, f"{row} has ranks"
    return start, end, None


@dataclass(frozen=True)
class Frame:
    """A transcript of `rolling`: rows, and what stands beside each."""

    name: str
    columns: tuple[str, ...]
    calls: tuple[Call, ...]
    rows: tuple[Mapping[str, Any], ...]
    expect: tuple[tuple[Any, ...], ...]
    by: tuple[str, ...]
    count: int | None
    width: Any
    closed: Any
    min_samples: int
    types: Mapping[str, Any] | None = None

    def wanted(self) -> list[list[Any]]:
        """What the oracle says of each row."""
        answers = rolling(
            self.rows,
            self.calls,
            on=self.columns[0],
            by=self.by,
            count=self.count,
            width=None if self.width is None else number(self.width),
            closed=self.closed,
            min_samples=self.min_samples,
        )
        return [list(each) for each in answers]

    def found(self) -> list[list[Any]]:
        """What sash says of each row."""
        values = {name: [row[name] for row in self.rows] for name in self.columns}
        types = self.types or {name: type_of(values[name]) for name in self.columns}
        table = pa.table({name: column(values[name], types[name]) for name in self.columns})
        extent: dict[str, Any] = {"rows": self.count} if self.count is not None else {"range": written(self.width)}
        results = sash.rolling(
            table,
            on=self.columns[0],
            by=key_columns(self.by),
            closed=self.closed,
            min_samples=self.min_samples,
            **extent,
            **{call.name: subject_aggregate(call) for call in self.calls},
        )
        answers = results.to_pylist()
        assert all(alike([row[name] for row in answers], values[name]) for name in self.columns)
        return [[row[call.name] for call in self.calls] for row in answers]


# --- as sash is told -------------------------------------------------------------------------------


def written(value: Any) -> Any:
    """A duration of microseconds has no spelling that needs testing here; the others stay text."""
    return timedelta(microseconds=number(value)) if isinstance(value, str) and value.endswith("us") else value


def subject_window(window: Window) -> Any:
    words = {name: written(value) for name, value in window.words}
    if window.kind in WINDOWS:
        return WINDOWS[window.kind]()
    if window.kind == "punctuated":
        return sash.punctuated(words["column"], words.get("end"))
    size = (words.pop("size"),) if "size" in words else ()
    return getattr(sash, window.kind)(*size, **words)


def subject_aggregate(call: Call) -> Any:
    if call.function in AGGREGATES:
        return AGGREGATES[call.function](*call.arguments)
    column, *more = call.arguments or (None,)
    if call.function == "quantile":
        return sash.quantile(column, more[0])
    if call.function == "string_agg":
        return sash.string_agg(column, separator=more[0])
    return getattr(sash, call.function)(*call.arguments)


def subject(name: str, query: Query) -> Any:
    aggregates = {call.name: subject_aggregate(call) for call in query.calls}
    return sash.query(name, subject_window(query.window), **aggregates)


def subjects(queries: Mapping[str, Query]) -> list[Any]:
    return [subject(name, query) for name, query in queries.items()]


def key_columns(by: Sequence[str]) -> Any:
    return None if not by else by[0] if len(by) == 1 else list(by)


def type_of(values: Iterable[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    for kind, arrow in ((datetime, None), (float, pa.float64()), (int, pa.int64()), (bool, pa.bool_())):
        if kind in kinds:
            return arrow
    return pa.string()


def column(values: list[Any], type: Any) -> Any:
    """A list, as a user has it; with its type where the list alone does not tell."""
    if type is None or (type != pa.float64() and any(value is not None for value in values)):
        return values
    return pa.array(values, type)


# --- comparing -------------------------------------------------------------------------------------


def difference(found: Iterable[Any], wanted: Iterable[Any]) -> str:
    """What is missing and what is too much; empty if nothing is. Rows of one push come in any order."""
    left = list(found)
    missing = []
    for row in wanted:
        match = next((k for k, other in enumerate(left) if _alike(row, other)), None)
        if match is None:
            missing.append(row)
        else:
            left.pop(match)
    lines = [f"missing   {row}" for row in missing] + [f"too much  {row}" for row in left]
    return "\n".join(lines)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, Sent) and isinstance(b, Sent):
        same = (a.query, a.key, a.start, a.end, a.revision) == (b.query, b.key, b.start, b.end, b.revision)
        return same and alike(a.values, b.values) and (None in (a.extent, b.extent) or a.extent == b.extent)
    return alike(a, b)


# --- reading the files -----------------------------------------------------------------------------


def _event(given: Mapping[str, Any], columns: Sequence[str], of: "_Shape") -> Event:
    assert not set(given) - {"rows", "watermark", "expect", "late", "add", "remove"}, given
    return Event(
        rows=tuple(dict(zip(columns, row, strict=True)) for row in given.get("rows", [])),
        watermark=given.get("watermark"),
        expect=tuple(of.sent(row) for row in given.get("expect", [])),
        late=given.get("late", 0),
        add={name: parse(text) for name, text in given.get("add", {}).items()},
        remove=given.get("remove"),
    )


@dataclass(frozen=True)
class _Shape:
    """How rows of `expect` are laid out in one transcript."""

    queries: Mapping[str, Query]
    by: tuple[str, ...]
    has_revisions: bool

    def sent(self, row: Sequence[Any]) -> Sent:
        rest = list(row)
        query = rest.pop(0) if len(self.queries) > 1 else next(iter(self.queries))
        keys = {name: rest.pop(0) for name in self.by}
        start, end = (None if each is None else number(each) for each in (rest.pop(0), rest.pop(0)))
        revision = rest.pop() if self.has_revisions else 0
        assert start is not None and len(rest) == len(self.queries[query].calls), f"{row} does not fit {query}"
        return Sent(query, key_of(keys, self.by), start, end, tuple(rest), revision)


def _transcript(given: Mapping[str, Any]) -> Transcript:
    assert not set(given) - OPTIONS, f"{given['name']}: {set(given) - OPTIONS}"
    columns = tuple(given.get("columns", ("t", "x")))
    by = given.get("by", ())
    by = (by,) if isinstance(by, str) else tuple(by)
    queries = {name: parse(text) for name, text in given["queries"].items()}
    named = dict(queries)
    for event in given["events"]:
        named |= {name: parse(text) for name, text in event.get("add", {}).items()}
    has_revisions = bool(given.get("lateness")) or given.get("emit") == "updates"
    options = {name: given[name] for name in OPTIONS - {"columns", "queries", "by", "events"} if name in given}
    events = tuple(_event(event, columns, _Shape(named, by, has_revisions)) for event in given["events"])
    return Transcript(columns=columns, by=by, queries=queries, events=events, **options)


def _frame(given: Mapping[str, Any]) -> Frame:
    columns = tuple(given.get("columns", ("t", "x")))
    by = given.get("by", ())
    frame = given["rolling"]
    return Frame(
        name=given["name"],
        columns=columns,
        calls=calls(given["aggregates"]),
        rows=tuple(dict(zip(columns, row[: len(columns)], strict=True)) for row in given["rows"]),
        expect=tuple(tuple(row[len(columns) :]) for row in given["rows"]),
        by=(by,) if isinstance(by, str) else tuple(by),
        count=frame.get("rows"),
        width=frame.get("range"),
        closed=frame.get("closed", "both"),
        min_samples=frame.get("min_samples", 1),
    )


def _documents() -> list[Mapping[str, Any]]:
    """Read the files by libyaml where it is there, which takes a tenth of the time."""
    files = sorted(HERE.glob("*.yaml"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [each for file in files for each in yaml.load_all(file.read_text("utf-8"), loader) if each]


DOCUMENTS = _documents()
TRANSCRIPTS: tuple[Transcript, ...] = tuple(_transcript(each) for each in DOCUMENTS if "events" in each)
FRAMES: tuple[Frame, ...] = tuple(_frame(each) for each in DOCUMENTS if "rolling" in each)
