"""What windows mean, told so simply that it cannot be wrong.

Keeps      every accepted row for ever, and everything that was sent.
Answers    after each push, all windows of all queries and keys are made anew from all rows; the ones that
           are due and differ from what was sent are sent.
Knows      no slices, no partials, no NumPy: a window is a list of rows, an aggregate a function of a list.

Queries are described in `descriptions.py`, windows made in `extents.py`, aggregates computed in `evaluation.py`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.engine.descriptions import Call, Key, Number, Query, Row, Window, number
from tests.engine.evaluation import evaluate
from tests.engine.extents import Extent, Now, extents

__all__ = ["Oracle", "Sent", "alike", "rolling"]


@dataclass(frozen=True)
class Sent:
    query: str
    key: Key
    start: Number
    end: Number | None
    values: tuple[Any, ...]
    revision: int
    certain: bool = True  # False: it may hold rows that came before its query, which may or may not be kept
    extent: tuple[Number, Number] | None = None  # of a count window, whose start and end are ranks: where its rows lie


def alike(a: Any, b: Any) -> bool:
    """Equal, NaN to NaN, and floats that were rounded on the way nearly."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(alike(one, other) for one, other in zip(a, b, strict=True))
    if isinstance(a, float | int) and isinstance(b, float | int) and a == a and b == b:
        return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return (a is None) == (b is None) and bool(a == b or (a != a and b != b))


def key_of(columns: Mapping[str, Any], by: Sequence[str]) -> Key:
    """NaN is one key, as null is; -0.0 is 0.0."""
    return tuple("NaN" if columns[name] != columns[name] else columns[name] for name in by)


@dataclass
class Live:
    """A query while the stream runs: what it has told of each key, without what newer windows replaced."""

    query: Query
    since: Number = -math.inf  # it reports windows that end after this
    after: Number = -math.inf  # it has seen all rows after this
    sent: dict[Key, list[Sent]] = field(default_factory=dict)


@dataclass
class Oracle:
    queries: Mapping[str, Query]
    on: str
    by: Sequence[str] = ()
    lateness: Number = 0
    delay: Number | None = None
    in_order: bool = False
    updates: bool = False
    partial: bool = False
    watermark: Number = -math.inf
    rows: list[Row] = field(default_factory=list)
    late: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.live = {name: Live(query) for name, query in self.queries.items()}
        self.told: Number = -math.inf
        self.largest: Number = -math.inf  # accepted or not
        self.has_begun = False
        self.heard: Number = -math.inf  # the largest position of rows that went elsewhere

    def add(self, name: str, query: Query) -> None:
        """Before the first rows, it is as if it had been there from the beginning."""
        self.live[name] = Live(query)
        if self.has_begun:
            self.live[name] = Live(query, since=self.watermark, after=max(self.largest, self.heard))

    def remove(self, name: str) -> None:
        del self.live[name]

    def push(self, rows: Iterable[Mapping[str, Any]], watermark: Number | None = None) -> list[Sent]:
        """Rows are judged by the watermark before them, then it moves, then windows are sent."""
        oldest = self.watermark - self.lateness
        for columns in rows:
            self.has_begun = True
            if columns[self.on] is None or columns[self.on] != columns[self.on]:
                self.late.append(columns)
                continue
            position = number(columns[self.on])
            if self.in_order:
                oldest = max(oldest, self.largest - self.lateness)
            self.largest = max(self.largest, position)
            if position < oldest:
                self.late.append(columns)
            else:
                self.rows.append(Row(position, len(self.rows), key_of(columns, self.by), columns))
        moved = [self.watermark]
        if watermark is not None:
            moved.append(watermark)
        if self.in_order:
            moved.append(self.largest)
        if self.delay is not None:
            moved.append(self.largest - self.delay)
        self.watermark = max(moved)
        if self.watermark < math.inf:
            self.told = self.watermark
        return [sent for name in self.live for sent in self._send(name)]

    def _send(self, name: str) -> list[Sent]:
        live = self.live[name]
        rows_of: dict[Key, list[Row]] = {}
        for row in sorted(self.rows, key=lambda row: (row.position, row.arrival)):
            rows_of.setdefault(row.key, []).append(row)
        largest = max((row.position for row in self.rows), default=-math.inf)
        largest = max(largest, self.heard)
        now = Now(self.watermark, self.told, largest, self.in_order, self.partial)
        news = []
        for key, rows in rows_of.items():
            before = live.sent.setdefault(key, [])
            replaced, sent = [], []
            made = extents(live.query.window, rows, now)
            valid = {(each.start, each.end) for each in made}
            for extent in made:
                early = self.updates and extent.end is not None  # what has no end yet is not shown
                if not (extent.due or early) or not self._concerns(live, extent):
                    continue
                values = tuple(evaluate(call, extent.rows) for call in live.query.calls)
                same = [old for old in before if self._is_same(live.query.window, old, extent, valid)]
                by_count = live.query.window.by_count
                where = (extent.rows[0].position, extent.rows[-1].position) if by_count else None
                if any(
                    (old.start, old.end, old.extent) == (extent.start, extent.end, where) and alike(old.values, values)
                    for old in same
                ):
                    continue
                revision = 1 + max((old.revision for old in same), default=-1)
                since = next((row.position for row in rows if row.position > live.after), None)
                certain = self._is_certain(live, extent, since) and all(old.certain for old in same)
                sent.append(Sent(name, key, extent.start, extent.end, values, revision, certain, where))
                replaced += same
            live.sent[key] = [old for old in before if old not in replaced] + sent
            news += sent
        return news

    @staticmethod
    def _concerns(live: Live, extent: Extent) -> bool:
        if live.query.window.by_count:
            return extent.rows[-1].position >= live.since
        if live.query.window.kind == "session" and extent.end == live.since:
            return True  # a session ends when the watermark is past its end
        return extent.end is None or extent.end > live.since

    @staticmethod
    def _is_certain(live: Live, extent: Extent, since: Number | None) -> bool:
        """Whether no row that came before its query can have a part in it; `since` is the key's first row after it."""
        window = live.query.window
        if live.after == -math.inf:
            return True
        if window.by_count:
            return False  # ranks go on from rows before
        if window.is_multi_measure:
            return len(extent.rows) == window["rows"] and extent.rows[0].position > live.after
        if window.kind in ("parities", "switches") and extent.start == since:
            return False  # the row before tells whether it starts there
        return extent.start - (window.of("gap") if window.kind == "session" else 0) > live.after

    @staticmethod
    def _is_same(window: Window, old: Sent, new: Extent, valid: set[tuple[Number, Number | None]]) -> bool:
        if window.is_multi_measure or window["every_rows"] is not None:
            return old.end == new.end
        if (old.start, old.end) == (new.start, new.end):
            return True
        if window.by_overlap and (old.start, old.end) not in valid:  # a window that still is one replaces itself
            return (old.end is None or new.start < old.end) and (new.end is None or old.start < new.end)
        return False


def _samples(call: Call, frame: Sequence[Row]) -> int:
    """Rows in which none of the aggregate's values is null."""
    names = [each for each in call.arguments if isinstance(each, str)]
    return len([row for row in frame if all(row.columns.get(name, 0) is not None for name in names)])


def rolling(
    rows: Sequence[Mapping[str, Any]],
    of: Sequence[Call],
    *,
    on: str,
    by: Sequence[str] = (),
    count: int | None = None,
    width: Number | None = None,
    closed: str = "both",
    min_samples: int = 1,
) -> list[tuple[Any, ...]]:
    """For each row, in the order given: its frame's aggregates."""
    ordered = sorted(
        (Row(number(columns[on]), arrival, key_of(columns, by), columns) for arrival, columns in enumerate(rows)),
        key=lambda row: (row.position, row.arrival),
    )
    answers = {}
    for row in ordered:
        peers = [each for each in ordered if each.key == row.key]
        if count is not None:
            upto = peers.index(row) + 1
            frame = peers[max(0, upto - count) : upto]
        else:
            assert width is not None
            oldest = row.position - width
            frame = [
                each
                for each in peers
                if each.position <= row.position
                and (each.position > oldest or (closed == "both" and each.position == oldest))
            ]
        answers[row.arrival] = tuple(
            evaluate(call, frame) if min_samples <= 1 or _samples(call, frame) >= min_samples else None for call in of
        )
    return [answers[arrival] for arrival in range(len(rows))]
