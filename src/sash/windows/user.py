"""Base classes of windows that users write: derive a class and define one or two methods."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sash.windows.window import Context, Window

__all__ = [
    "ContextAwareWindow",
    "ContextFreeWindow",
    "ForwardContext",
    "ForwardFreeWindow",
    "MarkedRows",
    "MarkedWindow",
    "OpenWindows",
    "UserWindow",
]


class UserWindow(Window):
    """A window that a user writes: its columns are those that it `reads`, and its text is the call that makes it."""

    reads: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the method of the window gets."""
        return tuple(self.reads)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(vars(self).items()))
        return f"{type(self).__name__}({given})"

    __repr__ = __str__


class ContextFreeWindow(UserWindow):
    """A window of your own whose edges depend only on positions: derive a class and define two methods.

    `next_edge(position)` returns the first start or end of a window after a position. `ended(after, until)` returns all
    windows (start, end) with after < end ≤ until. Positions are whole microseconds for times, else the numbers of `on`.
    sash calls these methods once per slice, not once per row. `reach` is the longest length of a window: older rows are
    dropped.

    >>> import sash
    >>> class Squares(sash.ContextFreeWindow):
    ...     def next_edge(self, position):
    ...         return next(k * k for k in range(10**6) if k * k > position)
    ...
    ...     def ended(self, after, until):
    ...         return [
    ...             ((k - 1) ** 2, k * k) for k in range(1, 100) if after < k * k <= until
    ...         ]
    >>> squares = sash.query("squares", Squares(), rows=sash.count())
    >>> sash.aggregate({"n": [1, 2, 3, 4, 9]}, [squares], on="n").select(
    ...     ["window_start", "rows"]
    ... ).to_pylist()
    [{'window_start': 1, 'rows': 3}, {'window_start': 4, 'rows': 1},
     {'window_start': 9, 'rows': 1}]
    """

    context: ClassVar[Context] = Context.FREE
    reach: Any = None  # how far before its end a window may start; None: no limit, so every slice is kept

    @abstractmethod
    def next_edge(self, position: Any) -> Any:
        """Return the first edge after a position."""

    @abstractmethod
    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        """Return the windows whose end is after `after` and not after `until`."""


@dataclass
class OpenWindows:
    """The state of a context-aware window for one key: its windows, and a dict for your own use."""

    windows: list[tuple[Any, Any]]
    memory: dict[str, Any]

    def add(self, start: Any, end: Any) -> None:
        """Add the window [start, end)."""
        self.windows.append((start, end))

    def remove(self, start: Any, end: Any) -> None:
        """Remove the window [start, end)."""
        self.windows.remove((start, end))


class ContextAwareWindow(UserWindow):
    """A window of your own whose edges depend on rows: derive a class and define one method.

    `notify(context, positions, columns)` gets the rows of one key, in order, each once, as soon as no earlier row can
    come. It adds windows to the context, and can remove windows that were not emitted. A window is emitted when the
    watermark has passed its end. `reads` names the columns that `notify` gets.

    >>> import sash
    >>> class Rises(
    ...     sash.ContextAwareWindow
    ... ):  # from the first row above 10 to the first that is not
    ...     reads = ("x",)
    ...
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
    >>> sash.aggregate(rows, [rises], on="t").select(
    ...     ["window_start", "window_end", "peak"]
    ... ).to_pylist()
    [{'window_start': 2, 'window_end': 4, 'peak': 12}]
    """

    context: ClassVar[Context] = Context.FORWARD_AWARE
    reach: Any = None  # how far before its last row a new window may start; None: no limit, so every row is kept

    @abstractmethod
    def notify(self, context: OpenWindows, positions: Any, columns: dict[str, Any]) -> None:
        """Add and remove windows according to these rows."""


@dataclass
class ForwardContext:
    """What a forward-free window knows of one key: the starts of its open windows, and a dict for your own use."""

    opened: list[Any]
    memory: dict[str, Any]
    closed: list[tuple[Any, Any]] = field(default_factory=list)  # by this call
    edges: list[Any] = field(default_factory=list)  # of this call

    def open(self, start: Any) -> None:
        """Open a window that starts here; of several at one start, there is one."""
        if start not in self.opened:
            self.opened.append(start)
            self.edges.append(start)

    def close(self, end: Any) -> None:
        """Close all open windows that start before this end."""
        ended = [start for start in self.opened if start < end]
        if ended:
            self.opened = [start for start in self.opened if not start < end]
            self.closed += [(start, end) for start in ended]
            self.edges.append(end)

    def add(self, start: Any, end: Any) -> None:
        """Add the window [start, end), whose end is known when it starts, or whose start is known when it ends."""
        self.opened = [each for each in self.opened if each != start]
        self.closed.append((start, end))
        self.edges += [start, end]


class ForwardFreeWindow(UserWindow):
    """A window of your own whose edges follow from the rows so far: derive a class and define one method.

    `notify(context, positions, columns)` gets the rows of one key, in order, each once, as NumPy arrays, as soon as
    no earlier row can come. It calls `context.open(start)` where a window starts and `context.close(end)` where the
    open ones end, or `context.add(start, end)` if both edges are known. `notify` can report an edge in the call that
    contains the first row at or after the edge, or in an earlier call. A later call is an error. sash cuts rows only
    at these edges. For a `ContextAwareWindow`, sash makes a slice of each row. At the end of the stream, open windows
    are emitted without an end. `reads` names the columns that `notify` gets; one with nulls is an array of objects.
    `context.memory` is a dict for your own use.

    >>> import sash
    >>> class Phases(sash.ForwardFreeWindow):  # a window for as long as `state` is the same
    ...     reads = ("state",)
    ...     def notify(self, context, positions, columns):
    ...         for position, state in zip(positions, columns["state"]):
    ...             if state != context.memory.get("state"):
    ...                 context.close(position)
    ...                 context.open(position)
    ...             context.memory["state"] = state
    >>> phases = sash.query("phases", Phases(), rows=sash.count())
    >>> rows = {"t": [1, 2, 5, 6, 9], "state": ["on", "on", "off", "off", "on"]}
    >>> table = sash.aggregate(rows, phases, on="t")
    >>> table.select(["window_start", "window_end", "rows"]).to_pylist()
    [{'window_start': 1, 'window_end': 5, 'rows': 2},
     {'window_start': 5, 'window_end': 9, 'rows': 2},
     {'window_start': 9, 'window_end': None, 'rows': 1}]
    """

    context: ClassVar[Context] = Context.FORWARD_FREE

    @abstractmethod
    def notify(self, context: ForwardContext, positions: Any, columns: dict[str, Any]) -> None:
        """Open and close windows according to these rows."""


@dataclass(frozen=True)
class MarkedRows:
    """New rows of many keys, for a `MarkedWindow`. The rows of one key follow each other, in order."""

    positions: Any
    columns: dict[str, Any]  # those that the window reads; one with nulls is an array of objects
    is_first: Any  # whether a row is the first of its key
    before: dict[str, Any]

    def previous(self, column: str) -> Any:
        """Return the value of the row before each row, of the same key; of a first row, its own value."""
        return self.before[column]


class MarkedWindow(UserWindow):
    """A window of your own that starts and ends at rows: derive a class and define one method.

    `mark(rows)` gets the new rows of all keys in one call, as NumPy arrays: `rows.positions`, `rows.columns`,
    `rows.is_first` and `rows.previous(column)`. It returns at which rows windows start, as an array of booleans, or two
    such arrays, for starts and for ends. A window ends where the next one starts, or at an end. It does not contain
    the rows at its end. Rows outside of windows have no results. `reads` names the columns that `mark` gets. With many
    keys, it is several times as fast as a `ForwardFreeWindow`, which is called for each key.

    >>> import sash
    >>> class Phases(sash.MarkedWindow):  # a window for as long as `state` is the same
    ...     reads = ("state",)
    ...     def mark(self, rows):
    ...         return rows.is_first | (rows.columns["state"] != rows.previous("state"))
    >>> phases = sash.query("phases", Phases(), rows=sash.count())
    >>> rows = {"t": [1, 2, 5, 6, 9], "state": ["on", "on", "off", "off", "on"]}
    >>> table = sash.aggregate(rows, phases, on="t")
    >>> table.select(["window_start", "window_end", "rows"]).to_pylist()
    [{'window_start': 1, 'window_end': 5, 'rows': 2},
     {'window_start': 5, 'window_end': 9, 'rows': 2},
     {'window_start': 9, 'window_end': None, 'rows': 1}]
    """

    context: ClassVar[Context] = Context.FORWARD_FREE

    @abstractmethod
    def mark(self, rows: MarkedRows) -> Any:
        """Return at which rows windows start, or a tuple: at which they start, and at which they end."""
