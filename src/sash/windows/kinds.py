"""Windows as users write them: frozen descriptions, in units of `on`, of rows, or of both.

Context   how much of the stream one must have seen to know where windows start and end (Li et al., 2005):
            free           nothing: tumbling, sliding, cumulative, landmark, and count windows by rank
            forward-free   all rows before a position tell all edges before it: punctuated, session
            forward-aware  rows after a position may still tell of an edge before it: the last rows every so often
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from html import escape
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from sash.errors import InvalidWindow
from sash.windows.duration import Duration, duration
from sash.windows.grid import Grid, whole_parts
from sash.windows.measure import Measure, MeasureKind

__all__ = [
    "Context",
    "ContextAwareWindow",
    "ContextFreeWindow",
    "Cumulative",
    "Landmark",
    "LastRows",
    "Length",
    "OpenWindows",
    "Punctuated",
    "Rows",
    "Session",
    "Sliding",
    "Window",
    "cumulative",
    "is_number",
    "landmark",
    "length_on",
    "punctuated",
    "session",
    "sliding",
    "tumbling",
]

Length: TypeAlias = int | float | Duration
W = TypeVar("W", bound="Window")

# Sums of a position and a length must not wrap: positions stay within 2⁶¹, and so do lengths.
LONGEST = 2**61


class Context(Enum):
    """What one must know of the stream to tell the edges of windows."""

    FREE = "context-free"
    FORWARD_FREE = "forward-context-free"
    FORWARD_AWARE = "forward-context-aware"


@dataclass(frozen=True)
class Window(ABC):
    """What every window says of itself."""

    kind: ClassVar[str]
    context: ClassVar[Context]
    by_count: ClassVar[bool] = False  # its edges are ranks of rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide where it starts and ends, besides `on`."""
        return ()

    def on(self: W, measure: Measure) -> W:
        """The same window in positions; a length that does not fit the measure is refused."""
        return self

    @abstractmethod
    def __str__(self) -> str: ...

    def _repr_html_(self) -> str:
        """In a notebook: as it is written."""
        return f"<code>{escape(str(self))}</code>"


def is_number(value: Any) -> bool:
    """Whether a length is given as a bare number; NumPy takes its durations for integers."""
    numbers = isinstance(value, int | float | np.integer | np.floating)
    return numbers and not isinstance(value, bool | np.timedelta64)


def _length(window: str, what: str, value: Any, least: str = "positive") -> Length:
    """A length as given: a duration if it is one in any of its spellings, else a number."""
    if not is_number(value):
        if value is None:
            raise InvalidWindow.missing(window, what)
        found: Length = duration(value)
    else:
        found = value.item() if isinstance(value, np.generic) else value
    number = found.microseconds if isinstance(found, Duration) else found
    if number != number or (least == "positive" and not number > 0) or abs(number) >= LONGEST:
        raise InvalidWindow.length(window, what, value)
    return found


def _count(window: str, what: str, value: Any) -> int:
    if not is_number(value) or not isinstance(value, int | np.integer) or not 0 < value < LONGEST:
        raise InvalidWindow.count(window, what, value)
    return int(value)


def _in(measure: Measure, window: str, what: str, value: Length) -> Any:
    """A length in positions of this measure."""
    if isinstance(value, Duration):
        if measure.kind is MeasureKind.FLOAT:
            raise InvalidWindow.duration_on_number(window, what, value)
        return value.microseconds
    if measure.kind is MeasureKind.TIME:
        if value == 0:
            return 0
        raise InvalidWindow.number_on_time(window, what, value)
    if measure.kind is MeasureKind.FLOAT:
        return float(value)
    if value != int(value):
        raise InvalidWindow.fraction(window, what, value)
    return int(value)


def _first(offset: Any, period: Any) -> Any:
    """The first edge that is not negative; that of floats would be rounded here, and their grid rounds once."""
    return offset % period if isinstance(period, int) else offset


def length_on(measure: Measure, what: str, value: Any) -> Any:
    """A lateness or delay in positions: a duration or a number, not negative."""
    if not is_number(value):
        given: Length = duration(value)
    else:
        given = value.item() if isinstance(value, np.generic) else value
    number = given.microseconds if isinstance(given, Duration) else given
    if not 0 <= number < LONGEST:
        raise InvalidWindow.not_negative(what, value)
    if isinstance(given, Duration) and measure.kind is MeasureKind.FLOAT and number == 0:
        return 0.0
    return _in(measure, what, "length", given)


@dataclass(frozen=True)
class Sliding(Window):
    """Windows [offset + k · every, offset + k · every + size) for every whole k; tumbling where every = size.

    Its edges in positions are those of `grid`.
    """

    kind: ClassVar[str] = "grid"
    context: ClassVar[Context] = Context.FREE
    size: Length
    every: Length
    offset: Length = 0

    def on(self, measure: Measure) -> "Sliding":
        size, every, offset = (
            _in(measure, self._name, what, getattr(self, what)) for what in ("size", "every", "offset")
        )
        return Sliding(size, every, _first(offset, every))

    @cached_property
    def grid(self) -> Grid:
        """Its edges, where its lengths are positions."""
        return Grid.of(self.size, self.every, self.offset)

    @property
    def _name(self) -> str:
        return "tumbling" if self.size == self.every else "sliding"

    def __str__(self) -> str:
        slide = "" if self.size == self.every else f" every {self.every}"
        return f"{self._name} {self.size}{slide}{f' offset {self.offset}' if self.offset != 0 else ''}"


@dataclass(frozen=True)
class Cumulative(Window):
    """Windows that start every `size` and grow by `every` until the next start."""

    kind: ClassVar[str] = "cumulative"
    context: ClassVar[Context] = Context.FREE
    size: Length
    every: Length
    offset: Length = 0

    def on(self, measure: Measure) -> "Cumulative":
        size, every, offset = (
            _in(measure, "cumulative", what, getattr(self, what)) for what in ("size", "every", "offset")
        )
        if not _divides(size, every):
            raise InvalidWindow.not_whole(self.size, self.every)
        return Cumulative(size, every, _first(offset, size))

    @cached_property
    def grid(self) -> Grid:
        """Its edges, where its lengths are positions: one whose number `whole` divides is a start."""
        return Grid.of(self.size, self.every, self.offset, period=self.size)

    def __str__(self) -> str:
        return f"cumulative {self.size} every {self.every}{f' offset {self.offset}' if self.offset != 0 else ''}"


@dataclass(frozen=True)
class Landmark(Window):
    """One window, [start, end)."""

    kind: ClassVar[str] = "landmark"
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


@dataclass(frozen=True)
class Session(Window):
    """Rows that follow each other within `gap`: [first, last + gap)."""

    kind: ClassVar[str] = "session"
    context: ClassVar[Context] = Context.FORWARD_FREE
    gap: Length

    def on(self, measure: Measure) -> "Session":
        return Session(_in(measure, "session", "gap", self.gap))

    def __str__(self) -> str:
        return f"session gap {self.gap}"


@dataclass(frozen=True)
class Punctuated(Window):
    """A true value in a boolean column opens the next window."""

    kind: ClassVar[str] = "punctuated"
    context: ClassVar[Context] = Context.FORWARD_FREE
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def __str__(self) -> str:
        return f"punctuated by {self.column}"


@dataclass(frozen=True)
class Rows(Window):
    """Windows of ranks [k · every, k · every + size): rows counted in the order of their positions."""

    kind: ClassVar[str] = "rows"
    context: ClassVar[Context] = Context.FREE
    by_count: ClassVar[bool] = True
    size: int
    every: int

    def __str__(self) -> str:
        name = "tumbling" if self.size == self.every else "sliding"
        return f"{name} {self.size} rows{'' if self.size == self.every else f' every {self.every}'}"


@dataclass(frozen=True)
class LastRows(Window):
    """At each multiple of `every`, the last `rows` rows before it: counted in rows, told by position."""

    kind: ClassVar[str] = "last_rows"
    context: ClassVar[Context] = Context.FORWARD_AWARE
    rows: int
    every: Length
    offset: Length = 0

    def on(self, measure: Measure) -> "LastRows":
        every, offset = (_in(measure, "sliding", what, getattr(self, what)) for what in ("every", "offset"))
        return LastRows(self.rows, every, _first(offset, every))

    @cached_property
    def grid(self) -> Grid:
        """Where it is told, if its lengths are positions."""
        return Grid.of(self.every, self.every, self.offset)

    def __str__(self) -> str:
        return f"last {self.rows} rows every {self.every}{f' offset {self.offset}' if self.offset != 0 else ''}"


# --- windows of users' own -----------------------------------------------------------------------


class ContextFreeWindow(Window):
    """A window of your own whose edges depend on nothing but positions: derive a class and give two functions.

    `next_edge(position)` is the first start or end of a window after a position, `ended(after, until)` are all windows
    (start, end) with after < end ≤ until. Positions are whole microseconds for times, else the numbers of `on`. Python
    is called once per slice, not once per row. `reach` says how long a window can be: what is older is not kept.

    >>> import sash
    >>> class Squares(sash.ContextFreeWindow):
    ...     def next_edge(self, position):
    ...         return next(k * k for k in range(10 ** 6) if k * k > position)
    ...     def ended(self, after, until):
    ...         return [((k - 1) ** 2, k * k) for k in range(1, 100) if after < k * k <= until]
    >>> squares = sash.query("squares", Squares(), rows=sash.count())
    >>> sash.aggregate({"n": [1, 2, 3, 4, 9]}, [squares], on="n").select(["window_start", "rows"]).to_pylist()
    [{'window_start': 1, 'rows': 3}, {'window_start': 4, 'rows': 1}, {'window_start': 9, 'rows': 1}]
    """

    kind: ClassVar[str] = "user_free"
    context: ClassVar[Context] = Context.FREE
    reach: Any = None  # how far before its end a window may start; None: no limit, so every slice is kept

    @abstractmethod
    def next_edge(self, position: Any) -> Any:
        """The first edge after a position."""

    @abstractmethod
    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        """The windows whose end is after `after`, and not after `until`."""

    def __str__(self) -> str:
        return _described(self)


@dataclass
class OpenWindows:
    """What a context-aware window of one key knows: its windows, and whatever else it wants to remember."""

    windows: list[tuple[Any, Any]]
    memory: dict[str, Any]

    def add(self, start: Any, end: Any) -> None:
        """From now on there is a window [start, end)."""
        self.windows.append((start, end))

    def remove(self, start: Any, end: Any) -> None:
        """There is no such window after all."""
        self.windows.remove((start, end))


class ContextAwareWindow(Window):
    """A window of your own whose edges depend on rows: derive a class and give one function.

    `notify(context, positions, columns)` is told of the rows of one key, in order, once each, as soon as no earlier
    row can come; it adds windows to the context and removes them again, as long as they have not been sent. A window
    is sent when the watermark has passed its end. `reads` names the columns that it wants to see.

    >>> import sash
    >>> class Rises(sash.ContextAwareWindow):                # from the first row above 10 to the first that is not
    ...     reads = ("x",)
    ...     def notify(self, context, positions, columns):
    ...         for position, x in zip(positions, columns["x"]):
    ...             start = context.memory.get("since")
    ...             if x > 10 and start is None:
    ...                 context.memory["since"] = position
    ...             elif x <= 10 and start is not None:
    ...                 context.add(start, position)
    ...                 context.memory["since"] = None
    >>> rises = sash.query("rises", Rises(), peak=sash.max("x"))
    >>> rows = {"t": [1, 2, 3, 4, 5], "x": [5, 11, 12, 7, 30]}
    >>> sash.aggregate(rows, [rises], on="t").select(["window_start", "window_end", "peak"]).to_pylist()
    [{'window_start': 2, 'window_end': 4, 'peak': 12}]
    """

    kind: ClassVar[str] = "user_aware"
    context: ClassVar[Context] = Context.FORWARD_AWARE
    reads: tuple[str, ...] = ()
    reach: Any = None  # how far before its last row a new window may start; None: no limit, so every row is kept

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return tuple(self.reads)

    @abstractmethod
    def notify(self, context: OpenWindows, positions: Any, columns: dict[str, Any]) -> None:
        """Add and remove windows as these rows tell."""

    def __str__(self) -> str:
        return _described(self)


def _described(window: Window) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in sorted(vars(window).items()))
    return f"{type(window).__name__}({given})"


# --- the door ------------------------------------------------------------------------------------


def tumbling(size: Any = None, *, rows: int | None = None, offset: Any = 0) -> Window:
    """Windows of equal size, one after the other, by position or by count of rows.

    >>> import sash
    >>> print(sash.tumbling("10 minutes"), "|", sash.tumbling(rows=100))
    tumbling 10m | tumbling 100 rows
    """
    if rows is not None:
        if size is not None:
            raise InvalidWindow.both("tumbling", size, rows)
        count = _count("tumbling", "rows", rows)
        _no_offset("tumbling", offset)
        return Rows(count, count)
    found = _length("tumbling", "size", size)
    return Sliding(found, found, _length("tumbling", "offset", offset, least="any"))


def sliding(size: Any = None, *, every: Any = None, rows: int | None = None, offset: Any = 0) -> Window:
    """Windows of one size that start every so often; of rows, or the last rows every so often.

    >>> import sash
    >>> print(sash.sliding("1 hour", every="1 minute", offset="15 seconds"))
    sliding 1h every 1m offset 15s
    >>> print(sash.sliding(rows=1000, every=100), "|", sash.sliding(rows=10, every="5 seconds"))
    sliding 1000 rows every 100 | last 10 rows every 5s
    """
    if rows is None:
        found = _length("sliding", "size", size), _length("sliding", "every", every)
        return Sliding(*found, _length("sliding", "offset", offset, least="any"))
    if size is not None:
        raise InvalidWindow.both("sliding", size, rows)
    count = _count("sliding", "rows", rows)
    if is_number(every) and isinstance(every, int | np.integer):
        _no_offset("sliding", offset)
        return Rows(count, _count("sliding", "every", every))
    return LastRows(count, _length("sliding", "every", every), _length("sliding", "offset", offset, least="any"))


def _no_offset(window: str, offset: Any) -> None:
    if isinstance(offset, bool) or offset != 0:
        raise InvalidWindow.no_offset(window, offset)


def cumulative(size: Any, *, every: Any, offset: Any = 0) -> Window:
    """Windows that grow by `every` and start anew every `size`.

    >>> import sash
    >>> print(sash.cumulative("1 day", every="1 hour"))
    cumulative 1d every 1h
    """
    found = _length("cumulative", "size", size), _length("cumulative", "every", every)
    lengths = [each.microseconds if isinstance(each, Duration) else each for each in found]
    if isinstance(found[0], Duration) is isinstance(found[1], Duration) and not _divides(*lengths):
        raise InvalidWindow.not_whole(size, every)
    return Cumulative(*found, _length("cumulative", "offset", offset, least="any"))


def _divides(size: Any, every: Any) -> bool:
    """Whether windows can grow to a size by such steps: at least one, and no rest."""
    whole, rest = whole_parts(size, every)
    return whole > 0 and rest == 0


def session(*, gap: Any) -> Window:
    """Rows that follow each other within a gap.

    >>> import sash
    >>> print(sash.session(gap="30 seconds"))
    session gap 30s
    """
    return Session(_length("session", "gap", gap))


def punctuated(column: str) -> Window:
    """Windows that a true value in a boolean column opens.

    >>> import sash
    >>> print(sash.punctuated("is_start"))
    punctuated by is_start
    """
    if not isinstance(column, str) or not column:
        raise InvalidWindow.column("punctuated", column)
    return Punctuated(column)


def landmark(*, start: Any, end: Any) -> Window:
    """One window between two positions.

    >>> import sash
    >>> print(sash.landmark(start=0, end=100))
    landmark 0 to 100
    """
    for what, value in (("start", start), ("end", end)):
        if value is None:
            raise InvalidWindow.missing("landmark", what)
    return Landmark(start, end)
