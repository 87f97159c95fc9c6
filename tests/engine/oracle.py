"""What windows mean, told so simply that it cannot be wrong.

Keeps      every accepted row for ever, and everything that was sent.
Answers    after each push, all windows of all queries and keys are made anew from all rows; the ones that
           are due and differ from what was sent are sent.
Knows      no slices, no partials, no NumPy: a window is a list of rows, an aggregate a function of a list.

Positions are plain numbers here: times are microseconds since 1970, durations are microseconds.
"""

import math
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

__all__ = ["Call", "Oracle", "Query", "Row", "Sent", "Window", "alike", "number", "parse", "rolling"]

Number: TypeAlias = int | float
Key: TypeAlias = tuple[Any, ...]

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
DURATION = re.compile(r"(-?\d+)(us|ms|s|m|h|d)")


# --- descriptions: text → plain data ---------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """`sliding 10 every 4 offset 1` as a kind and its words; values as written: numbers, durations, times."""

    kind: str
    words: tuple[tuple[str, Any], ...]

    @cached_property
    def _by_name(self) -> dict[str, Any]:
        return dict(self.words)

    def __getitem__(self, word: str) -> Any:
        return self._by_name.get(word)

    def of(self, word: str, default: Number = 0) -> Number:
        return number(self[word]) if self[word] is not None else default

    @cached_property
    def by_count(self) -> bool:
        return (self["rows"] is not None and not self.is_multi_measure) or self["every_rows"] is not None

    @cached_property
    def is_multi_measure(self) -> bool:
        return self["rows"] is not None and isinstance(self["every"], str | float)

    @cached_property
    def by_overlap(self) -> bool:
        """Late rows move its edges, so that only overlap tells which windows are the same."""
        return self.kind in ("session", "punctuated", "elevens", "parities", "switches", "echoes")


@dataclass(frozen=True)
class Call:
    """`quantile(x, 0.9)`: a function, the columns or parameters that it is given, the name of its result."""

    function: str
    arguments: tuple[Any, ...]
    name: str


@dataclass(frozen=True)
class Query:
    window: Window
    calls: tuple[Call, ...]
    text: str


def number(value: Any) -> Number:
    """A position, a time or a duration as a number.

    >>> number("2s"), number(datetime(1970, 1, 1, 0, 0, 1)), number(2.5)
    (2000000, 1000000, 2.5)
    """
    if isinstance(value, str):
        written = DURATION.fullmatch(value)
        assert written, f"{value!r} is no duration such as 10s"
        return int(written[1]) * UNITS[written[2]]
    if isinstance(value, datetime):
        since = value.replace(tzinfo=value.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    assert isinstance(value, int | float), value
    return value


def parse(text: str) -> Query:
    """A query as the transcripts write it.

    >>> parse("sum(x), count() over sliding 10 every 4").window
    Window(kind='sliding', words=(('size', 10), ('every', 4)))
    >>> [call.name for call in parse("sum(x), count(), quantile(x, 0.9) over session gap 5s").calls]
    ['sum_x', 'count', 'quantile_x']
    """
    aggregates, _, window = text.partition(" over ")
    return Query(_window(window.split()), calls(aggregates), text)


def calls(text: str) -> tuple[Call, ...]:
    found = []
    for function, inside in re.findall(r"(\w+)\(([^)]*)\)", text):
        arguments = tuple(_word(word.strip()) for word in inside.split(",") if word.strip())
        columns = [word for word in arguments if isinstance(word, str) and word.isidentifier()]
        found.append(Call(function, arguments, "_".join([function, *columns])))
    return tuple(found)


def _window(words: Sequence[str]) -> Window:
    kind, *rest = words
    unnamed = {"punctuated": "column"}.get(kind, "size")
    if len(rest) % 2:
        rest = [unnamed, *rest]
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return Window(kind, tuple((name, value if name == "column" else _word(value)) for name, value in pairs))


def _word(text: str) -> Any:
    for read in (int, float, datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    return text


# --- aggregates: a list of values, oldest first → a value ------------------------------------------


def by_size(value: Any) -> Any:
    """NaN is the largest number, and equal to itself."""
    return (value != value, 0 if value != value else value)


def _total(values: list[Any]) -> Any:
    if isinstance(values[0], Decimal):
        with localcontext(prec=80):
            return sum(values)
    return sum(values) if all(isinstance(value, int | Decimal) for value in values) else math.fsum(values)


def _finite(values: list[Any]) -> bool:
    return all(math.isfinite(value) for value in values)


def _sum(values: list[Any]) -> Any:
    return _total(values) if _finite(values) else sum(values)


def _mean(values: list[Any]) -> Any:
    if isinstance(values[0], Decimal):  # four digits more, as Spark has it
        digit = Decimal(1).scaleb(int(values[0].as_tuple().exponent) - 4)
        with localcontext(prec=80):
            return (_sum(values) / len(values)).quantize(digit, ROUND_HALF_UP)
    return _sum(values) / len(values)


def _variance(values: list[Any]) -> Any:
    if len(values) < 2:
        return None
    return float(statistics.variance(values)) if _finite(values) else math.nan


def _stddev(values: list[Any]) -> Any:
    spread = _variance(values)
    return None if spread is None else math.sqrt(spread)


def _quantile(values: list[Any], q: float) -> float:
    ranked = [float(each) if isinstance(each, Decimal) else each for each in sorted(values, key=by_size)]
    place = q * (len(ranked) - 1)
    below = math.floor(place)
    low, high, share = ranked[below], ranked[min(below + 1, len(ranked) - 1)], place - below
    return float(low) if share == 0 or low == high else (1 - share) * low + share * high


def _distinct(values: list[Any]) -> list[Any]:
    return [math.nan if is_nan else value for is_nan, value in sorted({by_size(value) for value in values})]


def _mode(values: list[Any]) -> Any:
    """The most frequent value, the smallest on ties; 0.0 for -0.0."""
    keys = [by_size(value) for value in values]
    is_nan, value = min(keys, key=lambda key: (-keys.count(key), key))
    return math.nan if is_nan else value + 0.0 if isinstance(value, float) else value


def _geometric_mean(values: list[Any]) -> float:
    if any(value != value or value < 0 for value in values):
        return math.nan
    return 0.0 if 0 in values else math.exp(math.fsum(math.log(value) for value in values) / len(values))


def turns(values: Iterable[int]) -> int:
    """Affine maps modulo 97, one after the other: exact, associative, and not commutative."""
    a, b = 1, 0
    for x in values:
        c, d = x * x % 97 + 1, (x + 50) % 97
        a, b = a * c % 97, (b * c + d) % 97
    return a * 100 + b


def residues(values: Iterable[int]) -> list[int]:
    """How many values leave 0, 1 and 2 when divided by three."""
    counts = [0, 0, 0]
    for value in values:
        counts[value % 3] += 1
    return counts


OF_VALUES: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "mean": _mean,
    "min": lambda values: min(values, key=by_size),
    "max": lambda values: max(values, key=by_size),
    "range": lambda values: max(values, key=by_size) - min(values, key=by_size),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "variance": _variance,
    "stddev": _stddev,
    "product": math.prod,
    "median": lambda values: _quantile(values, 0.5),
    "quantile": _quantile,
    "string_agg": lambda values, separator: separator.join(values),
    "max_count": lambda values: [by_size(value) for value in values].count(max(by_size(value) for value in values)),
    "min_count": lambda values: [by_size(value) for value in values].count(min(by_size(value) for value in values)),
    "geometric_mean": _geometric_mean,
    "mode": _mode,
    "turns": turns,
    "path": lambda values: ">".join(map(str, values)),
    "bag": lambda values: " ".join(map(str, sorted(values))),
    "residues": residues,
    # So few distinct values do not collide: the estimate is their number, but for its third digit.
    "hyperloglog": lambda values: len(_distinct(values)) + 0.0,
}
OF_ANY_NUMBER_OF_VALUES: dict[str, Callable[..., Any]] = {
    "count": len,
    "collect": list,
    "collect_distinct": _distinct,
    "count_distinct": lambda values: len(_distinct(values)),
}


def evaluate(call: Call, rows: "Sequence[Row]") -> Any:
    """The aggregate of these rows, which are in the order (position, arrival)."""
    if call.function == "count" and not call.arguments:
        return len(rows)
    column, *more = call.arguments
    if call.function in ("argmax", "argmin"):
        known = [row.columns for row in rows if row.columns[column] is not None]
        choose = max if call.function == "argmax" else min  # the first on ties, both
        return choose(known, key=lambda each: by_size(each[column]))[more[0]] if known else None
    values = [row.columns[column] for row in rows if row.columns[column] is not None]
    if call.function in OF_ANY_NUMBER_OF_VALUES:
        return OF_ANY_NUMBER_OF_VALUES[call.function](values)
    return OF_VALUES[call.function](values, *more) if values else None


# --- rows and windows ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    position: Number
    arrival: int
    key: Key
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class Extent:
    """One window of one key, with its rows; `end` is None where it never closes."""

    start: Number
    end: Number | None
    rows: tuple[Row, ...]
    due: bool
    early: bool = True  # sent before it is due under emit="updates"


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


@dataclass(frozen=True)
class Now:
    """How far the stream is when windows are made."""

    watermark: Number
    told: Number  # the largest watermark that is not infinite
    largest: Number  # of all accepted positions, of all keys
    in_order: bool = False
    partial: bool = False


def extents(window: Window, rows: Sequence[Row], now: Now) -> list[Extent]:
    """All windows of one key that hold a row; `rows` are ordered by (position, arrival)."""
    if window.is_multi_measure:
        return _by_count_told_by_time(window, rows, now)
    if window["every_rows"] is not None:
        return _by_time_told_by_count(window, rows, now)
    if window.by_count:
        return _by_count(window, rows, now)
    if window.kind == "session":
        return _sessions(rows, window.of("gap"), now)
    edges: Sequence[tuple[Number, Number | None]]
    if window.kind == "punctuated":
        edges = _punctuated(window, rows)
    elif window.kind == "elevens":
        found = sorted({row.position for row in rows if row.position % 11 == 0})
        edges = list(pairwise(found))
    elif window.kind in ("parities", "switches"):
        edges = _parities(rows)
    elif window.kind == "echoes":
        edges = [(p, p + 8) for p in sorted({row.position for row in rows if row.position % 5 == 0})]
    else:
        edges = _fixed(window, rows)
    return [
        Extent(
            start,
            end,
            tuple(row for row in rows if start <= row.position and (end is None or row.position < end)),
            due=now.watermark >= (math.inf if end is None else end),
        )
        for start, end in edges
    ]


def meant(value: Number) -> Fraction:
    """A float is the decimal or the simple fraction that it is nearest to.

    >>> meant(0.1), meant(1 / 3), meant(7), meant(0.30000000000000004) == Fraction(0.30000000000000004)
    (Fraction(1, 10), Fraction(1, 3), Fraction(7, 1), True)
    """
    exact = Fraction(value)
    for simple in (Fraction(f"{value:.15g}"), exact.limit_denominator(2**16)):
        if isinstance(value, float) and float(simple) == value:
            return simple
    return exact


def nearest(edge: Fraction, position: Number) -> Number:
    """An edge as a position like this one."""
    return float(edge) if isinstance(position, float) else int(edge)


def _fixed(window: Window, rows: Sequence[Row]) -> list[tuple[Number, Number]]:
    """Edges that no row moves, of the windows that hold one of these rows."""
    return sorted({extent for p in {row.position for row in rows} for extent in _holding(window, p)})


@lru_cache(maxsize=1 << 16, typed=True)  # an integer and the float of the same value have edges of their own type
def _holding(window: Window, p: Number) -> tuple[tuple[Number, Number], ...]:
    """The windows of edges that no row moves that hold a position."""
    size, offset = meant(window.of("size")), meant(window.of("offset"))
    every = meant(window.of("every")) if window["every"] is not None else size
    if size and abs(size / every - round(size / every)) <= Fraction(1, 2**50) * size / every:
        size = round(size / every) * every  # a multiple, up to rounding
    if window.kind == "landmark":
        candidates = [(window.of("start"), window.of("end"))]
    elif window.kind == "cumulative":
        first = (meant(p) - offset) // size
        candidates = [
            (nearest(offset + k * size, p), nearest(offset + k * size + step * every, p))
            for k in (first - 1, first, first + 1)
            for step in range(1, int(size / every) + 1)
        ]
    elif window.kind in CALENDARS:
        candidates = list(CALENDARS[window.kind](p))
    elif window.kind == "weeks":
        start = p // 7 * 7
        candidates = [(start - 7, start + 7), (start, start + 14)]
    else:
        last = (meant(p) - offset) // every
        candidates = [
            (nearest(offset + k * every, p), nearest(offset + k * every + size, p))
            for k in range(last - int(size / every) - 2, last + 2)
        ]
    return tuple((start, end) for start, end in candidates if start <= p < end)


def _midnight(day: date, zone: Any, hours: int = 0) -> int:
    """Where a day starts, or some hours on the clock later."""
    return int(number(datetime(day.year, day.month, day.day, hours, tzinfo=zone).astimezone(UTC)))


def _local(position: Number, zone: Any, hours: int = 0) -> date:
    """The day of a position, where days start at an hour of the clock."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(position))
    return (at.astimezone(zone).replace(tzinfo=None) - timedelta(hours=hours)).date()


def _berlin_days(p: Number) -> list[tuple[int, int]]:
    day = _local(p, BERLIN, 6)
    return [(_midnight(day, BERLIN, 6), _midnight(day + timedelta(1), BERLIN, 6))]


def _berlin_weeks(p: Number) -> list[tuple[int, int]]:
    day = _local(p, BERLIN)
    monday = day - timedelta(day.weekday())
    starts = (monday - timedelta(7), monday)
    return [(_midnight(each, BERLIN), _midnight(each + timedelta(14), BERLIN)) for each in starts]


def _months(p: Number) -> list[tuple[int, int]]:
    day = _local(p, UTC)
    first = 12 * day.year + day.month - 1
    edges = [_midnight(date(k // 12, k % 12 + 1, 1), UTC) for k in range(first - 1, first + 3)]
    return [(edges[0], edges[2]), (edges[1], edges[3])]


def _growing_days(p: Number) -> list[tuple[int, int]]:
    day = _local(p, BERLIN)
    start, end = _midnight(day, BERLIN), _midnight(day + timedelta(1), BERLIN)
    return [(start, min(start + k * int(number("8h")), end)) for k in range(1, 5)]


def _listed(p: Number) -> list[tuple[int, int]]:
    return list(pairwise(int(number(each)) for each in LISTED))


BERLIN = ZoneInfo("Europe/Berlin")
LISTED = tuple(datetime(2024, 3, 27) + timedelta(hours=hours) for hours in (0, 9, 33, 36, 96, 100, 400))
CALENDARS: dict[str, Callable[[Number], Sequence[tuple[int, int]]]] = {
    "berlin_days": _berlin_days,
    "berlin_weeks": _berlin_weeks,
    "months": _months,
    "growing_days": _growing_days,
    "listed": _listed,
}


def _punctuated(window: Window, rows: Sequence[Row]) -> list[tuple[Number, Number | None]]:
    starts = {row.position for row in rows if row.columns[window["column"]] is True}
    ends = {row.position for row in rows if window["end"] is not None and row.columns[window["end"]] is True}
    first = rows[0].position
    if first not in ends:  # rows before the first mark form a window
        starts.add(first)
    edges = sorted(starts | ends)
    return [(start, end) for start, end in zip(edges, [*edges[1:], None], strict=True) if start in starts]


def _parities(rows: Sequence[Row]) -> list[tuple[Number, Number | None]]:
    """A window starts at each row whose x is not even, odd or null as the row before."""
    parities = [None if row.columns["x"] is None else row.columns["x"] % 2 for row in rows]
    changes = [row.position for row, now, was in zip(rows, parities, [-1, *parities], strict=False) if now != was]
    starts = sorted(set(changes))
    return list(zip(starts, [*starts[1:], None], strict=True))


def _sessions(rows: Sequence[Row], gap: Number, now: Now) -> list[Extent]:
    groups: list[list[Row]] = []
    for row in rows:
        if groups and row.position <= groups[-1][-1].position + gap:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [
        Extent(group[0].position, group[-1].position + gap, tuple(group), now.watermark > group[-1].position + gap)
        for group in groups
    ]


def _by_count(window: Window, rows: Sequence[Row], now: Now) -> list[Extent]:
    size = window["rows"]
    every = window["every"] or size
    found = []
    for start in range(0, len(rows), every):
        held = tuple(rows[start : start + size])
        complete = len(held) == size
        if complete or now.partial:
            due = now.in_order or held[-1].position < now.watermark
            found.append(Extent(start, start + size, held, due))
    return found


def _by_time_told_by_count(window: Window, rows: Sequence[Row], now: Now) -> list[Extent]:
    size, every = window.of("size"), window["every_rows"]
    found = []
    for end in range(every, len(rows) + 1, every):
        last = rows[end - 1].position
        start = next(rank for rank, row in enumerate(rows) if row.position > last - size)
        found.append(Extent(start, end, tuple(rows[start:end]), now.in_order or last < now.watermark))
    return found


def _by_count_told_by_time(window: Window, rows: Sequence[Row], now: Now) -> list[Extent]:
    size, every, offset = window["rows"], meant(window.of("every")), meant(window.of("offset"))

    def multiple_after(position: Number) -> Number:
        about = (meant(position) - offset) // every
        edges = (nearest(offset + k * every, position) for k in range(about - 1, about + 3))
        return next(edge for edge in edges if edge > position)

    last = now.watermark
    if now.watermark == math.inf:
        last = max(now.told, multiple_after(now.largest))
    found = []
    told = multiple_after(rows[0].position)
    while told <= last:
        held = [row for row in rows if row.position < told][-size:]
        found.append(Extent(held[0].position, told, tuple(held), due=True))
        told = multiple_after(told)
    return found


# --- the stream ------------------------------------------------------------------------------------


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
