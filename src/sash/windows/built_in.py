"""The built-in windows as frozen descriptions, with lengths in units of `on` or in rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sash.errors import InvalidWindow
from sash.keywords import checked
from sash.windows.calendar import calendar_window, is_calendar
from sash.windows.duration import Duration
from sash.windows.grid import Grid, whole_parts
from sash.windows.lengths import Length, count_of, in_positions, is_number, length_of, shortest
from sash.windows.measure import Measure
from sash.windows.window import Context, Window, call_of

__all__ = [
    "Cumulative",
    "Landmark",
    "LastRows",
    "LastTime",
    "Punctuated",
    "Rows",
    "Session",
    "Sliding",
    "cumulative",
    "landmark",
    "punctuated",
    "session",
    "sliding",
    "tumbling",
]


def _in_positions(window: Window, measure: Measure, name: str, *lengths: str) -> list[Any]:
    """Return these lengths of a window in positions."""
    return [in_positions(measure, name, what, getattr(window, what)) for what in lengths]


def _first_edge(offset: Any, period: Any) -> Any:
    """Return the first edge that is not negative; a float offset is returned as it is, so that only the grid rounds."""
    return offset % period if isinstance(period, int) else offset


def _unless_zero(offset: Length) -> Length | None:
    """Return an offset, or None for the default."""
    return None if offset == 0 else offset


@dataclass(frozen=True, repr=False)
class _RegularWindow(Window):
    """Windows of a size that start at regular distances."""

    context: ClassVar[Context] = Context.FREE
    size: Length
    every: Length
    offset: Length = 0

    @property
    def finest(self) -> float:
        return shortest(self.size, self.every)


@dataclass(frozen=True, repr=False)
class Sliding(_RegularWindow):
    """Windows [offset + k · every, offset + k · every + size) for every whole k; tumbling where every = size.

    Its edges in positions are those of `grid`.
    """

    def on(self, measure: Measure) -> "Sliding":
        size, every, offset = _in_positions(self, measure, self._name, "size", "every", "offset")
        return Sliding(size, every, _first_edge(offset, every))

    @cached_property
    def grid(self) -> Grid:
        """The grid of its edges; its lengths must be positions."""
        return Grid.of(self.size, self.every, self.offset)

    @property
    def _name(self) -> str:
        return "tumbling" if self.size == self.every else "sliding"

    def __str__(self) -> str:
        slide = "" if self.size == self.every else f" every {self.every}"
        return f"{self._name} {self.size}{slide}{f' offset {self.offset}' if self.offset != 0 else ''}"

    def __repr__(self) -> str:
        every = None if self._name == "tumbling" else self.every
        return call_of(self._name, self.size, every=every, offset=_unless_zero(self.offset))


@dataclass(frozen=True, repr=False)
class Cumulative(_RegularWindow):
    """Windows that start every `size` and grow by `every` until the next start."""

    def on(self, measure: Measure) -> "Cumulative":
        size, every, offset = _in_positions(self, measure, "cumulative", "size", "every", "offset")
        if not _divides(size, every):
            raise InvalidWindow.not_whole(self.size, self.every)
        return Cumulative(size, every, _first_edge(offset, size))

    @cached_property
    def grid(self) -> Grid:
        """The grid of its edges; its lengths must be positions. Edges whose number `whole` divides are starts."""
        return Grid.of(self.size, self.every, self.offset, period=self.size)

    def __str__(self) -> str:
        return f"cumulative {self.size} every {self.every}{f' offset {self.offset}' if self.offset != 0 else ''}"

    def __repr__(self) -> str:
        return call_of("cumulative", self.size, every=self.every, offset=_unless_zero(self.offset))


@dataclass(frozen=True, repr=False)
class Landmark(Window):
    """One window, [start, end)."""

    context: ClassVar[Context] = Context.FREE
    start: Any
    end: Any

    def on(self, measure: Measure) -> "Landmark":
        start, end = (measure.position(getattr(self, what), f"landmark {what}") for what in ("start", "end"))
        if not start < end:
            raise InvalidWindow.empty_band(self.start, self.end)
        return Landmark(start, end)

    def __str__(self) -> str:
        return f"landmark {self.start} to {self.end}"

    def __repr__(self) -> str:
        return call_of("landmark", start=self.start, end=self.end)


@dataclass(frozen=True, repr=False)
class Session(Window):
    """Rows at most `gap` apart: [first, last + gap)."""

    context: ClassVar[Context] = Context.FORWARD_FREE
    gap: Length

    def on(self, measure: Measure) -> "Session":
        return Session(in_positions(measure, "session", "gap", self.gap))

    @property
    def finest(self) -> float:
        return shortest(self.gap)

    def __str__(self) -> str:
        return f"session gap {self.gap}"

    def __repr__(self) -> str:
        return call_of("session", gap=self.gap)


@dataclass(frozen=True, repr=False)
class Punctuated(Window):
    """A true value in a boolean column opens the next window, and one in the column `end` closes it."""

    context: ClassVar[Context] = Context.FORWARD_FREE
    column: str
    end: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,) if self.end is None else (self.column, self.end)

    @property
    def flags(self) -> tuple[str, ...]:
        return self.columns

    def __str__(self) -> str:
        return f"punctuated by {', '.join(self.columns)}"

    def __repr__(self) -> str:
        return call_of("punctuated", self.column, self.end)


@dataclass(frozen=True, repr=False)
class Rows(Window):
    """Windows of ranks [k · every, k · every + size): rows counted in the order of their positions."""

    context: ClassVar[Context] = Context.FREE
    by_count: ClassVar[bool] = True
    size: int
    every: int

    def __str__(self) -> str:
        name = "tumbling" if self.size == self.every else "sliding"
        return f"{name} {self.size} rows{'' if self.size == self.every else f' every {self.every}'}"

    def __repr__(self) -> str:
        every = None if self.size == self.every else self.every
        return call_of("tumbling" if every is None else "sliding", rows=self.size, every=every)


@dataclass(frozen=True, repr=False)
class LastRows(Window):
    """At each multiple of `every`, the last `rows` rows before it."""

    context: ClassVar[Context] = Context.FORWARD_AWARE
    rows: int
    every: Length
    offset: Length = 0

    def on(self, measure: Measure) -> "LastRows":
        every, offset = _in_positions(self, measure, "sliding", "every", "offset")
        return LastRows(self.rows, every, _first_edge(offset, every))

    @property
    def finest(self) -> float:
        return shortest(self.every)

    @cached_property
    def grid(self) -> Grid:
        """The grid of its ends; its lengths must be positions."""
        return Grid.of(self.every, self.every, self.offset)

    def __str__(self) -> str:
        return f"last {self.rows} rows every {self.every}{f' offset {self.offset}' if self.offset != 0 else ''}"

    def __repr__(self) -> str:
        return call_of("sliding", rows=self.rows, every=self.every, offset=_unless_zero(self.offset))


@dataclass(frozen=True, repr=False)
class LastTime(Window):
    """After every `every_rows` rows, the rows up to the last of them that are less than `size` before it."""

    context: ClassVar[Context] = Context.FORWARD_AWARE
    by_count: ClassVar[bool] = True
    size: Length
    every_rows: int

    def on(self, measure: Measure) -> "LastTime":
        (size,) = _in_positions(self, measure, "sliding", "size")
        return LastTime(size, self.every_rows)

    @property
    def finest(self) -> float:
        return shortest(self.size)

    def __str__(self) -> str:
        return f"last {self.size} every {self.every_rows} rows"

    def __repr__(self) -> str:
        return call_of("sliding", self.size, every_rows=self.every_rows)


# --- constructors --------------------------------------------------------------------------------


@checked
def tumbling(size: Any = None, *, rows: int | None = None, offset: Any = 0, zone: str | None = None) -> Window:
    """Return windows of equal size, one after the other, by position or by number of rows.

    Months, quarters and years follow the calendar. With a `zone`, days do too, and weeks, which start on Monday.

    >>> import sash
    >>> print(
    ...     sash.tumbling("10 minutes"),
    ...     "|",
    ...     sash.tumbling(rows=100),
    ...     "|",
    ...     sash.tumbling("1 month"),
    ... )
    tumbling 10m | tumbling 100 rows | tumbling 1 month in UTC
    """
    if rows is None and is_calendar(zone, size, offset):
        return calendar_window("tumbling", size, size, offset, zone)
    if rows is not None:
        if size is not None:
            raise InvalidWindow.both("tumbling", size, rows)
        count = count_of("tumbling", "rows", rows)
        _check_rows("tumbling", offset, zone)
        return Rows(count, count)
    found = length_of("tumbling", "size", size)
    return Sliding(found, found, length_of("tumbling", "offset", offset, least="any"))


@checked
def sliding(
    size: Any = None,
    *,
    every: Any = None,
    rows: int | None = None,
    every_rows: int | None = None,
    offset: Any = 0,
    zone: str | None = None,
) -> Window:
    """Return windows of one size that start at regular distances, by position or by number of rows.

    With `rows` and a duration as `every`, a window contains the last rows before each multiple of `every`. With a
    `size` and `every_rows`, there is a window after every so many rows: the rows of the last `size`. With months,
    quarters or years, or with a `zone`, windows follow the calendar.

    >>> import sash
    >>> print(sash.sliding("1 hour", every="1 minute", offset="15 seconds"))
    sliding 1h every 1m offset 15s
    >>> print(
    ...     sash.sliding(rows=1000, every=100),
    ...     "|",
    ...     sash.sliding(rows=10, every="5 seconds"),
    ... )
    sliding 1000 rows every 100 | last 10 rows every 5s
    >>> print(sash.sliding("5 seconds", every_rows=10))
    last 5s every 10 rows
    """
    if every_rows is not None:
        return _last_time(size, every, rows, every_rows, offset, zone)
    if rows is None and is_calendar(zone, size, every, offset):
        return calendar_window("sliding", size, every, offset, zone)
    if rows is None:
        found = length_of("sliding", "size", size), length_of("sliding", "every", every)
        return Sliding(*found, length_of("sliding", "offset", offset, least="any"))
    if size is not None:
        raise InvalidWindow.both("sliding", size, rows)
    count = count_of("sliding", "rows", rows)
    if is_number(every) and isinstance(every, int | np.integer):
        _check_rows("sliding", offset, zone)
        return Rows(count, count_of("sliding", "every", every))
    if zone is not None:
        raise InvalidWindow.no_zone("sliding", zone)
    return LastRows(count, length_of("sliding", "every", every), length_of("sliding", "offset", offset, least="any"))


def _last_time(size: Any, every: Any, rows: Any, every_rows: Any, offset: Any, zone: Any) -> Window:
    for what, value in (("every", every), ("rows", rows)):
        if value is not None:
            raise InvalidWindow.every_rows_conflict(every_rows, what, value)
    count = count_of("sliding", "every_rows", every_rows)
    _check_rows("sliding", offset, zone)
    return LastTime(length_of("sliding", "size", size), count)


def _check_rows(window: str, offset: Any, zone: Any) -> None:
    """Reject options that windows of rows do not have."""
    if isinstance(offset, bool) or offset != 0:
        raise InvalidWindow.no_offset(window, offset)
    if zone is not None:
        raise InvalidWindow.no_zone(window, zone)


@checked
def cumulative(size: Any, *, every: Any, offset: Any = 0, zone: str | None = None) -> Window:
    """Return windows that start every `size` and grow by `every` until the next start.

    With months, quarters or years, or with a `zone`, they start with days, weeks or months of the calendar.

    >>> import sash
    >>> print(sash.cumulative("1 day", every="1 hour"))
    cumulative 1d every 1h
    """
    if is_calendar(zone, size, every, offset):
        return calendar_window("cumulative", size, every, offset, zone, grows=True)
    found = length_of("cumulative", "size", size), length_of("cumulative", "every", every)
    lengths = [each.microseconds if isinstance(each, Duration) else each for each in found]
    if isinstance(found[0], Duration) is isinstance(found[1], Duration) and not _divides(*lengths):
        raise InvalidWindow.not_whole(size, every)
    return Cumulative(*found, length_of("cumulative", "offset", offset, least="any"))


def _divides(size: Any, every: Any) -> bool:
    """Return whether a size is a whole number of steps, at least one."""
    whole, rest = whole_parts(size, every)
    return whole > 0 and rest == 0


@checked
def session(*, gap: Any) -> Window:
    """Return sessions: windows in which the distance from each row to the next is at most `gap`.

    >>> import sash
    >>> print(sash.session(gap="30 seconds"))
    session gap 30s
    """
    return Session(length_of("session", "gap", gap))


@checked
def punctuated(column: str, end: str | None = None) -> Window:
    """Return windows that start at each true value in a boolean column.

    A window ends where the next one starts, or at a true value in the boolean column `end`. Rows from such an end to
    the next start are in no window.

    >>> import sash
    >>> print(sash.punctuated("is_start"), "|", sash.punctuated("is_start", "is_end"))
    punctuated by is_start | punctuated by is_start, is_end
    """
    for name in (column,) if end is None else (column, end):
        if not isinstance(name, str) or not name:
            raise InvalidWindow.column("punctuated", name)
    return Punctuated(column, end)


@checked
def landmark(*, start: Any, end: Any) -> Window:
    """Return one window between two positions.

    >>> import sash
    >>> print(sash.landmark(start=0, end=100))
    landmark 0 to 100
    """
    for what, value in (("start", start), ("end", end)):
        if value is None:
            raise InvalidWindow.missing("landmark", what)
    return Landmark(start, end)
