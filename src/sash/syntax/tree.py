"""The syntax tree: statements as written, not yet checked."""

from dataclasses import dataclass, field

from sash.syntax.expressions import Column, Expression
from sash.windows.calendar import Span
from sash.windows.duration import Duration

__all__ = [
    "Argument",
    "Bound",
    "Bracket",
    "FrameSpec",
    "Function",
    "Item",
    "Join",
    "Length",
    "Ordering",
    "Over",
    "Pair",
    "Sorting",
    "Statement",
]


@dataclass(frozen=True)
class Length:
    """A duration, months of the calendar, or a number in the unit of `on` or of rows."""

    value: int | float | Duration | Span
    place: int
    text: str | None = None  # what the user wrote, if it is not a number
    counts_rows: bool = False  # a slide that was written with ROWS


@dataclass(frozen=True)
class Bound:
    """The start or end of a frame: a length, the current row (None), or unbounded."""

    length: Length | None
    is_unbounded: bool
    is_following: bool
    place: int


@dataclass(frozen=True)
class Ordering:
    """A column of ORDER BY."""

    column: Column
    is_descending: bool


@dataclass(frozen=True)
class FrameSpec:
    """The content of the parentheses of OVER."""

    keys: tuple[Column, ...] | None
    order: tuple[Ordering, ...]
    unit: str | None  # ROWS, RANGE or GROUPS
    start: Bound | None
    end: Bound | None
    exclude: str | None = None


@dataclass(frozen=True)
class Over:
    """OVER, with a frame or the name of one."""

    frame: FrameSpec | None
    name: Column | None
    place: int


@dataclass(frozen=True)
class Item:
    """An entry of the select list; None for `*`."""

    expression: Expression | None
    alias: Column | None
    place: int


@dataclass(frozen=True)
class Sorting:
    """A key by which results are sorted."""

    expression: Expression
    is_descending: bool
    nulls_first: bool | None  # None: not written, so first if ascending


@dataclass(frozen=True)
class Bracket:
    """A window in brackets, as in CQL."""

    kind: str  # range, rows, unbounded, session, punctuated
    length: Length | None
    slide: Length | None
    offset: Length | None
    columns: tuple[Column, ...]  # of punctuations: where windows start, and where they end
    keys: tuple[Column, ...] | None
    place: int
    zone: str | None = None


@dataclass(frozen=True)
class Argument:
    """An argument of a window table function: a table, a column, a length, or a zone; maybe by name."""

    name: Column | None
    table: Column | None = None
    keys: tuple[Column, ...] | None = None
    column: Column | None = None
    length: Length | None = None
    zone: str | None = None
    place: int = 0


@dataclass(frozen=True)
class Function:
    """A window table function."""

    name: Column
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Pair:
    """A pair of columns of ON: equal keys, or the times of a label and of an event."""

    label: Column
    sign: str
    event: Column
    delay: Length | None
    place: int  # of the sign


@dataclass(frozen=True)
class Join:
    """WINDOW JOIN: the table of the events, which of them a label sees, and the columns that both tables share."""

    table: Column
    bracket: Bracket | None
    pairs: tuple[Pair, ...]
    alias: Column | None = None


@dataclass(frozen=True)
class Statement:
    """One statement."""

    label: Column | None
    items: tuple[Item, ...]
    table: Column | None  # with a window in brackets, or none
    alias: Column | None  # of the table
    bracket: Bracket | None
    function: Function | None
    join: Join | None
    where: Expression | None
    groups: tuple[Expression, ...] | None  # GROUP BY
    windows: tuple[tuple[Column, FrameSpec], ...]
    place: int = field(compare=False)
    is_distinct: bool = False
    having: Expression | None = None
    qualify: Expression | None = None
    sortings: tuple[Sorting, ...] = ()
    limit: tuple[int, int, int] | None = None  # rows, rows to skip, and the place
    inputs: tuple["Statement", ...] = ()  # WITH
