"""The windows of the matrix: an example of every kind in the catalog, and frames; each as long as n rows of a key.

Rows of a key are a second apart. Windows that overlap start every ten seconds, whatever their length: so there are as
many results from short windows as from long ones, and only what a window costs can grow.

    t  (start + place in the key) seconds       p  true at every n-th row of a key
    g  as t, with a pause after n rows          d  as t, with 864 seconds between rows: 100 rows in a day
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

import sash
from sash.kinds import catalog
from sash.kinds.kind import Kind

__all__ = ["EVERY", "FRAMES", "PAUSE", "START", "Shape", "examples", "missing_kinds", "shapes"]

START = datetime(2026, 1, 1, tzinfo=UTC)
EVERY = 10  # rows of a key from one window to the next, and rows of a day
PAUSE = 3600  # seconds between sessions
REACH = 1_000_000  # seconds: further than the rows of any table
SECOND = 1_000_000


@dataclass(frozen=True)
class Shape:
    """A kind of window or frame that takes a length in rows of a key."""

    name: str
    window: Callable[[int], Any] | None = None  # None for frames
    frame: Callable[[int], dict[str, Any]] | None = None
    on: str = "t"
    results: float = 1 / EVERY  # per row

    @property
    def is_frame(self) -> bool:
        """Return whether there is a result for each row."""
        return self.frame is not None


class Blocks(sash.ContextFreeWindow):
    """A user's window: blocks of equal length."""

    def __init__(self, seconds: int) -> None:
        self.length = seconds * SECOND
        self.reach = self.length

    def next_edge(self, position: Any) -> Any:
        """Return the end of the block of a position."""
        return (position // self.length + 1) * self.length

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        """Return the blocks that end in an interval."""
        first, last = after // self.length + 1, until // self.length
        return [((k - 1) * self.length, k * self.length) for k in range(first, last + 1)]


class Laps(sash.ForwardFreeWindow):
    """A user's window: from each true value of p to the next, as sash.punctuated("p")."""

    reads = ("p",)

    def notify(self, context: Any, positions: Any, columns: dict[str, Any]) -> None:
        """Close the window at each true value, and open the next one."""
        if not context.memory:
            context.open(positions[0])
            context.memory["has_begun"] = True
        for position in positions[columns["p"]].tolist():
            context.close(position)
            context.open(position)


class Marks(sash.MarkedWindow):
    """The same window, for all keys in one call."""

    reads = ("p",)

    def mark(self, rows: Any) -> Any:
        """Start a window at each true value, and at the first row of a key."""
        return rows.is_first | rows.columns["p"]


class Runs(sash.ContextAwareWindow):
    """A user's window: from each true value of p to the next."""

    reads = ("p",)

    def __init__(self, seconds: int) -> None:
        self.reach = 2 * seconds * SECOND

    def notify(self, context: Any, positions: Any, columns: dict[str, Any]) -> None:
        """Close the window at each true value, and open the next one."""
        for place in np.flatnonzero(columns["p"]):
            since = context.memory.get("since")
            if since is not None:
                context.add(since, int(positions[place]))
            context.memory["since"] = int(positions[place])


def _seconds(number: float) -> str:
    return f"{number:.0f} seconds"


def _edges(length: int) -> list[datetime]:
    most = max(3, min(2000, REACH // length))
    return [START + timedelta(seconds=length * k) for k in range(most)]


# Examples by the class of their window; a kind that is not here is reported as missing.
_EXAMPLES: Mapping[str, tuple[Shape, ...]] = {
    "Sliding": (
        Shape("tumbling", lambda n: sash.tumbling(_seconds(n)), results=0),
        Shape("sliding", lambda n: sash.sliding(_seconds(n), every=_seconds(EVERY))),
    ),
    "Cumulative": (Shape("cumulative", lambda n: sash.cumulative(_seconds(n), every=_seconds(EVERY))),),
    "Landmark": (Shape("landmark", lambda n: sash.landmark(start=START, end=START + timedelta(seconds=n)), results=0),),
    "Session": (Shape("session", lambda n: sash.session(gap=_seconds(PAUSE / 2)), on="g", results=0),),
    "Punctuated": (Shape("punctuated", lambda n: sash.punctuated("p"), results=0),),
    "Rows": (Shape("count_window", lambda n: sash.sliding(rows=n, every=EVERY)),),
    "LastRows": (Shape("last_rows", lambda n: sash.sliding(rows=n, every=_seconds(EVERY))),),
    "LastTime": (Shape("last_time", lambda n: sash.sliding(_seconds(n), every_rows=EVERY)),),
    "Calendar": (
        Shape(
            "calendar",
            lambda n: sash.sliding(f"{max(1, n // EVERY)} days", every="1 day", zone="Europe/Berlin"),
            on="d",
        ),
    ),
    "Listed": (Shape("listed", lambda n: sash.calendar(_edges(n)), results=0),),
    "ContextFreeWindow": (Shape("own_free", lambda n: Blocks(n), results=0),),
    "MarkedWindow": (Shape("own_marked", lambda n: Marks(), results=0),),
    "ForwardFreeWindow": (Shape("own_forward", lambda n: Laps(), results=0),),
    "ContextAwareWindow": (Shape("own_aware", lambda n: Runs(n), results=0),),
}
FRAMES = (
    Shape("rows_frame", frame=lambda n: {"rows": n}, results=1),
    Shape("range_frame", frame=lambda n: {"range": _seconds(n - 1)}, results=1),
)


def examples(kind: type[Kind]) -> tuple[Shape, ...]:
    """Return the windows of a kind."""
    return _EXAMPLES.get(kind.describes.__name__, ())


def shapes() -> Iterator[Shape]:
    """Yield frames, and the windows of every kind in the catalog."""
    yield from FRAMES
    for kind in catalog.KINDS:
        yield from examples(kind)


def missing_kinds() -> list[str]:
    """Return the kinds of the catalog that have no example here."""
    return [kind.describes.__name__ for kind in catalog.KINDS if not examples(kind)]
