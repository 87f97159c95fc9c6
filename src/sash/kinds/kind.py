"""The questions that every kind of window answers.

`plan`, `engine`, `spark` and the command line ask these questions and never compare the name of a kind. A kind is bound
to one window, whose lengths are positions, and to the stream around it. It holds no state: what a query must remember
besides slices is its `own`, which the state of the stream keeps and passes in. Most kinds remember nothing.

To add a kind: derive a class from `Kind` (or from `RegularKind`, if its windows start and end at known positions), and
list it in `catalog.KINDS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
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

__all__ = ["Kind", "Moment", "PerKey", "Push", "Same", "Setting", "StreamView", "Stretch", "before"]


class Same(IntEnum):
    """How an emitted window is recognised for its next revision."""

    EXTENT = 0  # the same start and the same end
    END = 1  # the same end
    OVERLAP = 2  # any window that it overlaps


@dataclass(frozen=True)
class Setting:
    """What a kind knows of the stream around it."""

    lowest: Any  # before every position
    highest: Any  # after every position
    dtype: Any  # of positions
    in_order: bool = False
    has_revisions: bool = False
    shows_open: bool = False  # emit="updates": windows are sent before they are closed
    emits_partial: bool = False  # at the end, count windows that are not full are sent, too
    flags: tuple[str, ...] = ()  # boolean columns that open windows; each is a bit of a slice


class StreamView(NamedTuple):
    """What a stream holds when it asks for windows."""

    slices: Slices
    watermark: Any
    newest: Any  # the largest position of a row that was accepted
    has_rows: bool  # ever
    each_row_since: Any  # after it, each row is a slice of its own, where a window needs that

    def last_position(self, slots: Array) -> Any:
        """Return the largest position of a row of these keys, None if they hold none."""
        held = slots[self.slices.count[slots] > 0]
        if not len(held):
            return None
        newest = self.slices.order[(self.slices.begin + self.slices.count - 1)[held]]
        return self.slices.lasts[newest].max().item()


class Moment(NamedTuple):
    """Between which watermarks windows are asked for, and whether the stream ends here."""

    slots: Array
    after: Any
    until: Any
    is_end: bool = False
    again: bool = False  # windows that were due before are asked for once more


class Push(NamedTuple):
    """What happened since windows were last asked for."""

    before: Any  # the watermark
    after: Any
    final_before: Any  # no row could change what lies before it
    is_end: bool
    slots: Array  # all keys
    touched: Array  # keys with new rows, where a kind asks for them
    behind: Array  # keys with accepted rows before the watermark

    @property
    def is_moved(self) -> bool:
        return bool(self.after > self.before)


@dataclass(frozen=True)
class Stretch:
    """All edges of a stretch of positions, ascending, from its first position to its last one."""

    edges: Array
    beyond: int | None  # edges elsewhere are multiples of this; None if there are no others


def before(position: Any, setting: Setting) -> Any:
    """Return the last position before another one."""
    if position == setting.lowest:
        return position
    return position - 1 if setting.dtype.kind == "i" else np.nextafter(position, -np.inf).item()


class Kind(ABC):
    """One window of a query, bound to its stream."""

    describes: ClassVar[type[Window]]
    rebuild: ClassVar[Callable[..., Window] | None] = None  # makes a saved window of its fields; None: users give it
    same_window: ClassVar[Same] = Same.EXTENT
    shows_open: ClassVar[bool] = True  # its open windows are known before they are closed
    parts_at_gaps: ClassVar[bool] = False  # its edges lie only where there are no rows
    keeps_keys: ClassVar[bool] = False  # what it remembers of a key must outlive the key's slices
    reads_rows: ClassVar[bool] = False  # it reads rows, in order
    calls_user: ClassVar[bool] = False  # functions of users decide, which may fail
    needs_newest: ClassVar[bool] = False  # windows of one key depend on the newest row of all keys
    has_own_edges: ClassVar[bool] = False  # `edges_of` gives edges besides progressions and points
    spark_slices: ClassVar[bool] = False  # Spark can tell the slice of a row from its position alone
    most_windows: ClassVar[int] = 10_000_000  # that hold one row: more is a mistake in a unit
    is_one_slice: bool = False  # each window is one slice of its own

    def __init__(self, window: Any, setting: Setting) -> None:
        self.window = window
        self.setting = setting

    # --- where rows are cut --------------------------------------------------------------------------

    def progressions(self) -> list[Progression]:
        """Return edges that repeat for ever."""
        return []

    def points(self) -> list[Any]:
        """Return single edges."""
        return []

    def edges_of(self, positions: Array) -> Array:
        """Return other edges: at least the first one after each of these positions; only if it `has_own_edges`."""
        return np.zeros(0, self.setting.dtype)

    def stretch(self) -> Stretch | None:
        """Return the edges of the positions that rows usually have; None if they are too many to be listed."""
        return None

    def rank_cuts(self) -> list[tuple[int, int]]:
        """Return edges between ranks, as (every, phase)."""
        return []

    def gap(self) -> Any:
        """Return the distance of rows beyond which there is an edge, None if distance does not matter."""
        return None

    def slices_per_window(self, edges_per_unit: float) -> float:
        """Return how many slices a window has if there are rows everywhere."""
        return 1.0

    @property
    def shared_grid(self) -> Grid | None:
        """The regular grid of its windows: queries on grids are answered together, in one pass."""
        return None

    @property
    def windows_per_row(self) -> float:
        """How many windows hold one row; 0 if that depends on rows."""
        return 0.0

    @property
    def lookback(self) -> Any:
        """How far before its end a window can start; None if rows decide."""
        return None

    # --- what a query remembers besides slices -------------------------------------------------------

    def start(self, keys: int, watermark: Any) -> Any:
        """Return what a query remembers that starts at a watermark, with room for so many keys."""
        return None

    def start_among(self, held: StreamView, own: Any, gaps: Mapping[Any, Any]) -> tuple[Any, Any]:
        """Return what a query remembers that is added to a running stream, and the newest row whose edges it lacks.

        `own` is what `start` gave; `gaps` are the gaps by which rows are cut already, each with the newest row that was
        not. The newest row is None if all rows that are held are cut as this kind needs it.
        """
        return own, None

    def with_room(self, own: Any, keys: int, since: Any) -> Any:
        """Return it with room for more keys; of a query that was added at the watermark `since`."""
        return own

    def copy(self, own: Any) -> Any:
        """Return a copy that shares nothing with it."""
        return own

    def size(self, own: Any) -> int:
        """Return how many bytes its arrays take."""
        return 0

    def save(self, own: Any) -> Any:
        """Return it as numbers, texts, arrays, and lists, tuples and dicts of them."""
        return own

    def restore(self, given: Any, slices: Slices, has_key: Array) -> Any:
        """Return what `save` gave, checked: `has_key` tells which slots have a key."""
        if given is not None:
            raise InvalidState.damaged("a query remembers what its windows never do")
        return None

    # --- what rows change ----------------------------------------------------------------------------

    def place(self, own: Any, oldest: Any) -> None:  # noqa: B027
        """Note that rows were placed, the oldest of them at this position."""

    def notify(self, own: Any, slots: Array, positions: Array, columns: Mapping[str, Any]) -> None:  # noqa: B027
        """Read rows that are in order; only if it `reads_rows`."""

    def provisional(self, own: Any, slots: Array) -> Any:
        """Return a copy that rows of these keys may change, while their order is not final."""
        return own

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        """Return what to ask for after a push: windows that are newly due, those that rows behind the watermark may
        have changed, and, where updates are wanted, open ones. `added` is the watermark at which the query came.
        """
        found = []
        if push.is_moved:
            found.append(Moment(push.slots, push.before, push.after, push.is_end))
        if len(push.behind):
            found.append(Moment(push.behind, max(push.final_before, added), push.before, again=True))
        return found + self.open_moments(held, push)

    def open_moments(self, held: StreamView, push: Push) -> list[Moment]:
        """Return what to ask for to show windows that are still open."""
        if not self.setting.shows_open or not self.shows_open or not len(push.touched) or push.is_end:
            return []
        return [Moment(push.touched, push.after, self.open_until(held, push.touched), again=True)]

    @abstractmethod
    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        """Return the windows that the second watermark closes and the first did not."""

    def remember(self, own: Any, ended: Ended, push: Push) -> None:  # noqa: B027
        """Note what was sent, where the watermark alone does not tell."""

    # --- what is needed for windows that are not final -----------------------------------------------

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        """Return from where on slices are needed, and from where on with all their edges, if no row before `final` can
        come any more.
        """
        return self.setting.highest, self.setting.highest

    def keep_places(self, slices: Slices, own: Any, final: Any, first: Array) -> None:  # noqa: B027
        """Lower the first place of each key's order that is needed, whatever its position."""

    def find_final(self, slices: Slices, own: Any, final: Any, emitted: Any) -> Array:
        """Return which emitted windows can neither change any more nor become part of another one."""
        return np.asarray(emitted.ends <= final)

    def forget(self, own: Any, final: Any) -> None:  # noqa: B027
        """Forget what no window needs that is not final."""

    # --- inspection ----------------------------------------------------------------------------------

    def open_until(self, held: StreamView, slots: Array) -> Any:
        """Return a position after which no window ends that holds a row of these keys, or just before the highest."""
        highest = self.setting.highest
        return highest - 1 if self.setting.dtype.kind == "i" else np.finfo(np.float64).max

    def open_count(self, held: StreamView, oldest: Array, newest: Array) -> int:
        """Return how many windows are open, given the oldest and the newest row of each key: one per key at least."""
        return len(oldest)

    def next_end(self, held: StreamView) -> Any:
        """Return the first position after the watermark at which a window with rows ends; None if rows decide."""
        return None


class PerKey(Kind):
    """A kind that remembers one number per key, in an array."""

    keeps: ClassVar[str]  # what it is, in words

    def own_type(self) -> Any:
        """The type of the numbers."""
        return np.int64

    def fill(self, watermark: Any) -> Any:
        """The number of a key that comes when the query starts at a watermark."""
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
        """Return which numbers can be; others come from damaged bytes."""
