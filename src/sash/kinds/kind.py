"""The interface of a kind of window.

`plan`, `engine`, `spark` and the command line call these methods and never compare the name of a kind. A kind is bound
to one window, whose lengths are positions, and to the settings of its stream. It holds no state. If a query needs state
besides slices, the state of the stream holds it and passes it to these methods as `own`. For most kinds it is None.

To add a kind: derive a class from `Kind`, and list it in `catalog.KINDS`. Derive it from `GridKind` if its windows lie
on a regular grid, from `TableKind` if they can be listed, and from `PerKey` if its state is one number per key.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sash.errors import InvalidState
from sash.slicing.slicer import Progression
from sash.slicing.slices import Array, Slices, check_array, with_room
from sash.slicing.window_manager import Ended
from sash.windows.grid import Grid
from sash.windows.window import Window

__all__ = ["Family", "Kind", "Moment", "PerKey", "Push", "Same", "Setting", "StreamView", "Stretch", "before"]


class Same(IntEnum):
    """How an emitted window is recognised for its next revision."""

    EXTENT = 0  # the same start and the same end
    END = 1  # the same end
    OVERLAP = 2  # any window that it overlaps


@dataclass(frozen=True)
class Setting:
    """The settings of a stream that a kind needs."""

    lowest: Any  # before every position
    highest: Any  # after every position
    dtype: Any  # of positions
    in_order: bool = False
    has_revisions: bool = False
    shows_open: bool = False  # emit="updates": windows are emitted before they are closed
    emits_partial: bool = False  # at the end, count windows that are not full are emitted, too
    flags: tuple[str, ...] = ()  # boolean columns that open windows; each has a bit in `Slices.opens`


class StreamView(NamedTuple):
    """The part of a stream's state that a kind reads."""

    slices: Slices
    watermark: Any
    newest: Any  # the largest position of an accepted row
    has_rows: bool  # whether a row was ever accepted
    each_row_since: Any  # if a window needs each row as a slice of its own: rows after this position are

    def last_position(self, slots: Array) -> Any:
        """Return the largest position of a row of these keys, None if they hold no row."""
        held = slots[self.slices.count[slots] > 0]
        if not len(held):
            return None
        newest = self.slices.order[(self.slices.begin + self.slices.count - 1)[held]]
        return self.slices.lasts[newest].max().item()


class Moment(NamedTuple):
    """A range of watermarks: windows with after < end ≤ until are due."""

    slots: Array
    after: Any
    until: Any
    is_end: bool = False
    again: bool = False  # these windows were due before; they may have changed


class Push(NamedTuple):
    """What changed since windows were last emitted."""

    before: Any  # the watermark
    after: Any
    final_before: Any  # before this push, no row before this position could come
    is_end: bool
    slots: Array  # all keys
    touched: Array  # keys with new rows, if a kind needs them
    behind: Array  # keys with accepted rows before the watermark

    @property
    def is_moved(self) -> bool:
        """Whether the watermark moved."""
        return bool(self.after > self.before)


@dataclass(frozen=True)
class Stretch:
    """All edges of a range of positions, ascending, from its first position to its last."""

    edges: Array
    beyond: int | None  # edges elsewhere are multiples of this; None if there are no others


def before(position: Any, setting: Setting) -> Any:
    """Return the last position before another one."""
    if position == setting.lowest:
        return position
    return position - 1 if setting.dtype.kind == "i" else np.nextafter(position, -np.inf).item()


class Kind(ABC):
    """One window of a query, bound to its stream."""

    describes: ClassVar[type[Window]]  # the class of its windows
    rebuild: ClassVar[Callable[..., Window] | None] = (
        None  # a saved window from its fields; None: users pass the window
    )
    same_window: ClassVar[Same] = Same.EXTENT
    shows_open: ClassVar[bool] = True  # `open_moments` finds its open windows
    parts_at_gaps: ClassVar[bool] = False  # its edges lie only in gaps between rows
    keeps_keys: ClassVar[bool] = False  # its state of a key must outlive the key's slices
    reads_rows: ClassVar[bool] = False  # `notify` gets all rows, in order
    marks_edges: ClassVar[bool] = False  # `notify` returns which rows are the first after an edge
    calls_user: ClassVar[bool] = False  # it calls functions of users, which may fail
    calls_user_first: ClassVar[bool] = False  # only in `notify`, before rows are placed
    needs_newest: ClassVar[bool] = False  # windows of one key depend on the newest row of all keys
    has_own_edges: ClassVar[bool] = False  # `edges_of` returns edges besides progressions and points
    spark_slices: ClassVar[bool] = False  # the slice of a row follows from its position alone, so Spark can compute it
    most_windows: ClassVar[int] = 10_000_000  # per row; more is probably a wrong unit
    family: ClassVar["type[Family] | None"] = None  # serves several queries of this kind in one pass
    is_one_slice: bool = False  # each window is one slice

    def __init__(self, window: Any, setting: Setting) -> None:
        self.window = window
        self.setting = setting

    # --- where rows are cut --------------------------------------------------------------------------

    def progressions(self) -> list[Progression]:
        """Return edges that repeat at regular distances."""
        return []

    def starts(self) -> list[Progression] | None:
        """Return the edges at which windows start; None if they are not at regular distances."""
        return None

    def points(self) -> list[Any]:
        """Return single edges."""
        return []

    def edges_of(self, positions: Array) -> Array:
        """Return other edges, at least the next one after each position; called only if `has_own_edges`."""
        return np.zeros(0, self.setting.dtype)

    def stretch(self) -> Stretch | None:
        """Return the edges among the positions that rows usually have; None if there are too many to list."""
        return None

    def rank_cuts(self) -> list[tuple[int, int]]:
        """Return the ranks at which rows are cut, as (every, phase)."""
        return []

    def gap(self) -> Any:
        """Return the distance of rows beyond which they are cut, None if distance does not matter."""
        return None

    def slices_per_window(self, edges_per_unit: float) -> float:
        """Return how many slices a window has if there are rows everywhere."""
        return 1.0

    @property
    def shared_grid(self) -> Grid | None:
        """The regular grid of its windows, None if there is none; one kernel call serves all queries with grids."""
        return None

    @property
    def windows_per_row(self) -> float:
        """The number of windows that hold one row; 0 if it depends on rows."""
        return 0.0

    @property
    def lookback(self) -> Any:
        """The largest distance between the start and the end of a window; None if it depends on rows."""
        return None

    # --- state besides slices ------------------------------------------------------------------------

    def start(self, keys: int, watermark: Any) -> Any:
        """Return the state of a query that starts at a watermark, with room for this many keys."""
        return None

    def start_among(self, held: StreamView, own: Any, gaps: Mapping[Any, Any]) -> tuple[Any, Any]:
        """Return the state of a query that is added to a running stream, and the newest row that is not cut for it.

        `own` is what `start` returned. `gaps` maps each gap by which rows are cut already to the newest row that was
        not cut by it. The newest row is None if all rows in slices are cut as this kind needs.
        """
        return own, None

    def with_room(self, own: Any, keys: int, since: Any) -> Any:
        """Return the state with room for this many keys; the query was added at the watermark `since`."""
        return own

    def copy(self, own: Any) -> Any:
        """Return a copy of the state that shares nothing with it."""
        return own

    def size(self, own: Any) -> int:
        """Return the size of its arrays in bytes."""
        return 0

    def save(self, own: Any) -> Any:
        """Return the state as numbers, texts, arrays, and lists, tuples and dicts of them."""
        return own

    def restore(self, given: Any, slices: Slices, has_key: Array) -> Any:
        """Return the state from what `save` returned, checked; `has_key` tells which slots have a key."""
        if given is not None:
            raise InvalidState.damaged("a query remembers what its windows never do")
        return None

    # --- new rows ------------------------------------------------------------------------------------

    def place(self, own: Any, oldest: Any) -> None:  # noqa: B027
        """Note that rows were placed, the oldest of them at this position."""

    def notify(self, own: Any, slots: Array, positions: Array, columns: Mapping[str, Any]) -> Array | None:
        """Read rows, in order, before they are placed; called only if `reads_rows`.

        If `marks_edges`, return which rows are the first of their key at or after an edge.
        """
        return None

    def provisional(self, own: Any, slots: Array) -> Any:
        """Return a copy of the state that may change for these keys, for rows whose order is not final."""
        return own

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        """Return the ranges of windows to emit after a push.

        These are windows that became due, windows that rows behind the watermark may have changed, and, for
        emit="updates", open windows. `added` is the watermark at which the query was added.
        """
        found = []
        if push.is_moved:
            found.append(Moment(push.slots, push.before, push.after, push.is_end))
        if len(push.behind):
            found.append(Moment(push.behind, max(push.final_before, added), push.before, again=True))
        return found + self.open_moments(held, push)

    def open_moments(self, held: StreamView, push: Push) -> list[Moment]:
        """Return the ranges of open windows to emit, for emit="updates"."""
        if not self.setting.shows_open or not self.shows_open or not len(push.touched) or push.is_end:
            return []
        return [Moment(push.touched, push.after, self.open_until(held, push.touched), again=True)]

    @abstractmethod
    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        """Return the windows that are due: after < end ≤ until."""

    def remember(self, own: Any, ended: Ended, push: Push) -> None:  # noqa: B027
        """Note which windows were emitted, if the watermark alone does not tell."""

    # --- retention: slices that windows still need ---------------------------------------------------

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        """Return the position from which on slices are needed, and the one from which on all edges are needed.

        No row before `final` can come any more.
        """
        return self.setting.highest, self.setting.highest

    def keep_places(self, slices: Slices, own: Any, final: Any, first: Array) -> None:  # noqa: B027
        """Lower `first`, the first needed place in the order of each key, to what this kind needs."""

    def find_final(self, slices: Slices, own: Any, final: Any, emitted: Any) -> Array:
        """Return which emitted windows are final: they can neither change nor become part of another window."""
        return np.asarray(emitted.ends <= final)

    def forget(self, own: Any, final: Any) -> None:  # noqa: B027
        """Remove state that only final windows need."""

    # --- inspection ----------------------------------------------------------------------------------

    def open_until(self, held: StreamView, slots: Array) -> Any:
        """Return a position by which all windows with rows of these keys end, or the largest below the highest."""
        highest = self.setting.highest
        return highest - 1 if self.setting.dtype.kind == "i" else np.finfo(np.float64).max

    def open_count(self, held: StreamView, oldest: Array, newest: Array) -> int:
        """Return how many windows are open, given the oldest and the newest row of each key; at least one per key."""
        return len(oldest)

    def next_end(self, held: StreamView) -> Any:
        """Return the first end of a window with rows after the watermark; None if it depends on rows."""
        return None


class Family(ABC):
    """Several windows of one kind, whose due windows and needed slices are found in one pass.

    It replaces `due`, `remember` and `keep_places` of their kind, which needs neither `place` nor `forget` nor
    `keep_from`. `owns` are the states of the queries.
    """

    @abstractmethod
    def __init__(self, kinds: Sequence[Any]) -> None:
        """Prepare the pass over these windows."""

    @abstractmethod
    def due(self, held: StreamView, owns: Sequence[Any], moment: Moment, expected: int = 0) -> Ended:
        """Return the windows that are due; `which` numbers the kind of each, `expected` guesses how many there are."""

    @abstractmethod
    def remember(self, owns: Sequence[Any], ended: Ended) -> None:
        """Note which windows were emitted."""

    @abstractmethod
    def keep_places(self, slices: Slices, owns: Sequence[Any], first: Array) -> None:
        """Lower `first`, the first needed place in the order of each key, to what these windows need."""


class PerKey(Kind):
    """A kind whose state is one number per key, in an array."""

    keeps: ClassVar[str]  # what the number means, for messages

    def own_type(self) -> Any:
        """Return the type of the numbers."""
        return np.int64

    def fill(self, watermark: Any) -> Any:
        """Return the number of a new key, for a query that started at a watermark."""
        return 0

    def start(self, keys: int, watermark: Any) -> Array:
        return np.full(keys, self.fill(watermark), self.own_type())

    def with_room(self, own: Array, keys: int, since: Any) -> Array:
        if len(own) >= keys:
            return own
        more = with_room(own, keys)
        more[len(own) :] = self.fill(since)
        return more

    def copy(self, own: Array) -> Array:
        return own.copy()

    def size(self, own: Array) -> int:
        return int(own.nbytes)

    def restore(self, given: Any, slices: Slices, has_key: Array) -> Array:
        array = check_array(given, self.own_type(), self.keeps)
        if len(array) > slices.keys or not self.is_possible(array, slices).all():
            raise InvalidState.damaged(f"the {self.keeps} cannot be")
        return array.copy()

    @abstractmethod
    def is_possible(self, own: Array, slices: Slices) -> Array:
        """Return which numbers are possible; others come from damaged bytes."""
