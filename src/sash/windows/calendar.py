"""Windows of the calendar: days, weeks, months, quarters and years of a time zone, and windows between given edges.

A day has 23, 24 or 25 hours where clocks change, a month 28 to 31 days. Windows start at local midnight, on Monday, or
on the first of a month, quarter or year, moved by `offset` on the clock and the calendar of the zone. Where that local
time does not exist, the window starts at the first instant after the gap; where it exists twice, at the first.
"""

import difflib
import re
from dataclasses import dataclass
from typing import Any, ClassVar
from zoneinfo import available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.errors import InvalidInput, InvalidWindow
from sash.keywords import checked
from sash.windows.duration import Duration, duration
from sash.windows.measure import Measure, MeasureKind
from sash.windows.window import Context, Window, call_of

__all__ = [
    "FURTHEST",
    "Calendar",
    "Listed",
    "Span",
    "calendar",
    "calendar_window",
    "instants",
    "is_calendar",
    "restore_calendar",
    "span_of",
]

Array = np.ndarray[Any, Any]

_DAY = 86_400_000_000  # microseconds
_MONTHS = {
    **dict.fromkeys(("mo", "mon", "mons", "month", "months"), 1),
    **dict.fromkeys(("q", "quarter", "quarters"), 3),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), 12),
}
_WEEKS = {"w", "week", "weeks"}
_DAYS = {"d", "day", "days"}
_PART = re.compile(r"\s*([0-9]+)\s*([a-z]+)", re.IGNORECASE)
_ISO = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?", re.IGNORECASE)
_INTERVAL = re.compile(r"interval\s+'?([0-9]+)'?\s*([a-z]+)", re.IGNORECASE)
_MOST_SHOWN = 6  # edges in a repr
_MOST = 100_000  # months or days: far beyond any calendar
FURTHEST = 253_402_300_800_000_000  # microseconds, the end of the year 9999: calendars end there


@dataclass(frozen=True, repr=False)
class Span:
    """A length on the calendar: months, then days, then time of day.

    >>> str(span_of("1 quarter")), str(span_of("2 weeks")), str(span_of("1 year 10 days"))
    ('3 months', '2 weeks', '12 months 10 days')
    """

    months: int = 0
    days: int = 0
    microseconds: int = 0
    of_weeks: bool = False  # its days are whole weeks, which start on Monday

    def __str__(self) -> str:
        days = (self.days // 7, "week") if self.of_weeks else (self.days, "day")
        parts = [f"{count} {unit}{'s' * (count != 1)}" for count, unit in ((self.months, "month"), days) if count]
        parts += [str(Duration(self.microseconds))] if self.microseconds else []
        return " ".join(parts) or "0s"

    def __repr__(self) -> str:
        return repr(str(self))  # the text that a user writes

    def after(self, starts: Array) -> Array:
        """Return local times this span later, in microseconds; a day that the month lacks becomes its last day.

        >>> Span(months=1).after(np.array(["2024-01-31", "2024-02-29"], "datetime64[us]"))
        array(['2024-02-29T00:00:00.000000', '2024-03-29T00:00:00.000000'],
              dtype='datetime64[us]')
        """
        ends = starts
        if self.months:
            days = starts.astype("datetime64[D]")
            month = days.astype("datetime64[M]")
            target = month + self.months
            longest = (target + 1).astype("datetime64[D]") - target.astype("datetime64[D]") - np.timedelta64(1, "D")
            day = np.minimum(days - month.astype("datetime64[D]"), longest)
            ends = (target.astype("datetime64[D]") + day).astype("datetime64[us]") + (starts - days)
        return ends + np.timedelta64(self.days * _DAY + self.microseconds, "us")


def span_of(value: Any) -> Span | None:
    """Return a length on the calendar, or None if it has no days, weeks or months."""
    if isinstance(value, Span):
        return value
    if not isinstance(value, str):
        return None
    text = value.strip()
    sign = -1 if text.startswith("-") else 1
    text = text.lstrip("+-").strip()
    parts: list[Any] = []
    if iso := _ISO.fullmatch(text):
        units = zip(iso.groups(), ("years", "months", "weeks", "days"), strict=True)
        parts = [(amount, unit) for amount, unit in units if amount]
    elif interval := _INTERVAL.fullmatch(text):
        parts = [interval.groups()]
    elif not _PART.sub("", text).strip():
        parts = _PART.findall(text)
    months = days = 0
    rest, named = "", set()
    for amount, unit in parts:
        name = unit.lower()
        if name in _MONTHS:
            months += int(amount) * _MONTHS[name]
        elif name in _WEEKS or name in _DAYS:
            named.add("week" if name in _WEEKS else "day")
            days += int(amount) * (7 if name in _WEEKS else 1)
        else:
            rest += f"{amount}{unit} "
    if not months and not days:
        return None
    microseconds = duration(rest).microseconds if rest else 0
    return Span(sign * months, sign * days, sign * microseconds, named == {"week"} and not months)


def is_calendar(zone: Any, *lengths: Any) -> bool:
    """Return whether a window with these lengths follows the calendar: it has a zone, or months."""
    spans = [span_of(each) for each in lengths]
    return zone is not None or any(span is not None and span.months for span in spans)


@dataclass(frozen=True, repr=False)
class Calendar(Window):
    """Windows that start every so many days, weeks or months of a zone; if `grows`, they grow until the next start."""

    context: ClassVar[Context] = Context.FREE
    size: Span
    every: Span | Duration  # if it grows: by how much; a Duration counts elapsed time, a Span time on the clock
    offset: Span
    zone: str
    grows: bool = False

    def on(self, measure: Measure) -> "Calendar":
        if measure.kind is not MeasureKind.TIME:
            raise InvalidWindow.calendar_on_number(str(self), measure.kind.value)
        return self

    @property
    def furthest(self) -> float:
        return float(FURTHEST)

    @property
    def period(self) -> Span:
        """The distance between starts."""
        if self.grows:
            return self.size
        assert isinstance(self.every, Span)
        return self.every

    def __str__(self) -> str:
        slide = f" every {self.every}" if self._name != "tumbling" else ""
        offset = f" offset {self.offset}" if self.offset != Span() else ""
        return f"{self._name} {self.size}{slide}{offset} in {self.zone}"

    def __repr__(self) -> str:
        every = None if self._name == "tumbling" else self.every
        offset = None if self.offset == Span() else self.offset
        return call_of(self._name, self.size, every=every, offset=offset, zone=self.zone)

    @property
    def _name(self) -> str:
        return "cumulative" if self.grows else "tumbling" if self.size == self.every else "sliding"


@dataclass(frozen=True, repr=False)
class Listed(Window):
    """Windows from each of these edges to the next one."""

    context: ClassVar[Context] = Context.FREE
    edges: tuple[Any, ...]

    def on(self, measure: Measure) -> "Listed":
        positions = tuple(measure.position(each, "an edge of sash.calendar") for each in self.edges)
        for before, after, position, next_position in zip(
            self.edges, self.edges[1:], positions, positions[1:], strict=False
        ):
            if not position < next_position:
                raise InvalidWindow.unsorted_edges(before, after)
        return Listed(positions)

    def __str__(self) -> str:
        return f"calendar of {len(self.edges)} edges from {self.edges[0]} to {self.edges[-1]}"

    def __repr__(self) -> str:
        return call_of("calendar", list(self.edges)) if len(self.edges) <= _MOST_SHOWN else f"<sash.{self}>"


@checked
def calendar(edges: Any) -> Window:
    """Return windows between given edges, such as market hours or business days; at least two edges, sorted.

    >>> import sash
    >>> print(sash.calendar([0, 10, 15, 40]))
    calendar of 4 edges from 0 to 40
    """
    if isinstance(edges, str | bytes) or not hasattr(edges, "__iter__"):
        raise InvalidWindow.edge_list(edges)
    values = edges.tolist() if isinstance(edges, np.ndarray) and edges.dtype.kind not in "mM" else list(edges)
    if len(values) < 2:
        raise InvalidWindow.edge_list(edges)
    return Listed(tuple(values))


def calendar_window(name: str, size: Any, every: Any, offset: Any, zone: Any, grows: bool = False) -> Calendar:
    """Return a window of the calendar; errors about its lengths use the name of the function that the user called."""
    zone = "UTC" if zone is None else zone
    _check_zone(name, zone)
    length, shift = _span(name, "size", size), _offset(offset)
    step = duration(every) if grows and span_of(every) is None else _span(name, "every", every)
    for what, given, span in (("size", size, length), ("every", every, step)):
        if not _is_forward(span):
            raise InvalidWindow.length(name, what, given)
    found = Calendar(length, step, shift, zone, grows)
    for span in (length, shift, found.period):
        if max(abs(span.months), abs(span.days)) > _MOST:
            raise InvalidInput.duration(str(span), "it is longer than any calendar")
    if (found.period.months and found.period.days) or found.period.microseconds:
        raise InvalidWindow.mixed_period(name, str(found.period))
    return found


def _is_forward(length: Span | Duration) -> bool:
    """Return whether a length is positive."""
    if isinstance(length, Duration):
        return length.microseconds > 0
    parts = length.months, length.days, length.microseconds
    return min(parts) >= 0 < max(parts)


def restore_calendar(size: Span, every: Any, offset: Span, zone: str, grows: bool) -> Window:
    """Return a window from its saved fields; raise an error if they are invalid."""
    if not isinstance(grows, bool) or not isinstance(size, Span) or not isinstance(offset, Span):
        raise TypeError("a calendar window is not made of spans")
    return calendar_window("cumulative" if grows else "sliding", size, every, offset, zone, grows)


def _span(name: str, what: str, value: Any) -> Span:
    if value is None:
        raise InvalidWindow.missing(name, what)
    span = span_of(value)
    if span is None:
        raise InvalidWindow.not_on_calendar(name, what, value)
    return span


def _offset(value: Any) -> Span:
    if isinstance(value, int) and value == 0:
        return Span()
    span = span_of(value)
    return Span(microseconds=duration(value).microseconds) if span is None else span


def _check_zone(name: str, zone: Any) -> None:
    """Reject a zone that Arrow does not know."""
    try:
        if not isinstance(zone, str):
            raise pa.ArrowInvalid(zone)
        instants(np.zeros(1, "datetime64[us]"), zone)
    except (pa.ArrowException, OSError) as error:
        near = difflib.get_close_matches(str(zone), sorted(available_timezones() - {str(zone)}), n=1)
        raise InvalidWindow.unknown_zone(name, zone, f" Did you mean {near[0]!r}?" if near else "") from error


def instants(local: Array, zone: str) -> Array:
    """Return local times of a zone as instants, in microseconds since 1970. The clocks of Havana change at midnight.

    >>> instants(np.array(["2024-03-10", "2024-11-03"], "datetime64[us]"), "America/Havana")
    array([1710046800000000, 1730606400000000])
    """
    given = pa.array(local.astype("datetime64[us]"))
    found = pc.assume_timezone(given, zone, ambiguous="earliest", nonexistent="latest")
    return np.asarray(found.cast(pa.int64()).to_numpy(zero_copy_only=False))
