"""Windows for the oracle: all rows of a key → the windows that hold one, each with its rows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from tests.engine.descriptions import Number, Row, Window, number

__all__ = ["LISTED", "Extent", "Now", "extents", "meant", "nearest"]


@dataclass(frozen=True)
class Extent:
    """One window of one key, with its rows; `end` is None where it never closes."""

    start: Number
    end: Number | None
    rows: tuple[Row, ...]
    due: bool
    early: bool = True  # sent before it is due under emit="updates"


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
