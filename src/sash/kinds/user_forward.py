"""Forward-context-free windows of users: functions of the rows so far compute where they start and end.

Idea      The user's function reads rows before they are placed. It tells edges after the rows that it read before, so
          the first row after an edge can be marked, and begins a slice. Slices are cut only at edges, and a window is
          a range of slices.
Keeps     F1  an edge that is told lies after all rows that were read before, or is pending: after all rows so far
          F2  windows without an end are `opened`; windows with an end are listed until no row can change them
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sash.algebra.compiler import kernel
from sash.errors import InvalidState, InvalidWindow
from sash.kinds.kind import Kind, Moment, Push, Same, StreamView
from sash.kinds.user_windows import call_user, is_position
from sash.slicing.slices import Array, Slices, check_array
from sash.slicing.window_manager import Ended, find_first, given_windows, view_of
from sash.windows.user import ForwardContext, ForwardFreeWindow
from sash.windows.window import Window

__all__ = ["EndedWindows", "UserForwardKind", "by_key", "in_order"]

# What a copy of a dict may share.
_PLAIN = frozenset({int, float, str, bool, bytes, type(None), *np.sctypeDict.values()})


class KeyContext(NamedTuple):  # made for each key and push: a dataclass takes three times as long
    """What the windows of one key know between two calls. It never changes: each call makes a new one."""

    newest: Any  # the last row that was read
    opened: tuple[Any, ...] = ()  # starts of windows without an end
    pending: tuple[Any, ...] = ()  # edges after the newest row
    memory: Mapping[str, Any] = MappingProxyType({})


@dataclass
class EndedWindows:
    """The windows of all keys that have an end."""

    slots: Array
    starts: Array
    ends: Array

    def take(self, places: Array) -> None:
        """Keep only the windows at these places."""
        self.slots, self.starts, self.ends = self.slots[places], self.starts[places], self.ends[places]

    def add(self, slots: Array, starts: Array, ends: Array) -> None:
        """Add windows."""
        if len(slots):
            self.slots = np.concatenate([self.slots, slots])
            self.starts, self.ends = np.concatenate([self.starts, starts]), np.concatenate([self.ends, ends])


@dataclass
class ForwardWindows(EndedWindows):
    """The windows of all keys: those that have an end, and what is known of each key."""

    contexts: dict[int, KeyContext]


@kernel
def _keep_since(arrays: Any, oldest: Any, first: Any) -> None:
    """Keep the slices from the oldest needed position of each key on, and its last one: an edge may come there."""
    begins, counts, firsts, _lasts, order = arrays
    for slot in range(len(begins)):
        count = counts[slot]
        if count > 0:
            place = find_first(firsts, order, begins[slot], count, oldest[slot])
            first[slot] = min(first[slot], min(place, count - 1))


class UserForwardKind(Kind):
    """A ForwardFreeWindow of a user."""

    describes: ClassVar[type[Window]] = ForwardFreeWindow
    same_window: ClassVar[Same] = Same.OVERLAP
    shows_open: ClassVar[bool] = False
    keeps_keys: ClassVar[bool] = True
    reads_rows: ClassVar[bool] = True
    marks_edges: ClassVar[bool] = True
    calls_user: ClassVar[bool] = True
    calls_user_first: ClassVar[bool] = True

    # --- state ---------------------------------------------------------------------------------------

    def start(self, keys: int, watermark: Any) -> Any:
        none = np.zeros(0, self.setting.dtype)
        return ForwardWindows(np.zeros(0, np.int64), none, none, {})

    def start_among(self, held: StreamView, own: Any, gaps: Mapping[Any, Any]) -> tuple[Any, Any]:
        return own, held.newest

    def copy(self, own: Any) -> Any:
        return replace(own, contexts=dict(own.contexts))

    def provisional(self, own: Any, slots: Array) -> Any:
        return self.copy(own)

    def size(self, own: Any) -> int:
        return int(own.slots.nbytes + own.starts.nbytes + own.ends.nbytes)

    def save(self, own: Any) -> Any:
        contexts = {
            slot: (each.newest, each.opened, each.pending, dict(each.memory)) for slot, each in own.contexts.items()
        }
        return own.slots, own.starts, own.ends, contexts

    def restore(self, given: Any, slices: Slices, has_key: Array) -> Any:
        if not isinstance(given, tuple) or len(given) != 4 or not isinstance(given[3], dict):
            raise InvalidState.damaged("what a window of your own remembers is not whole")
        windows = self.check_windows(given[:3], len(has_key))
        contexts = {}
        for slot, context in given[3].items():
            if type(slot) is not int or not 0 <= slot < len(has_key) or not has_key[slot]:
                raise InvalidState.damaged("a window of your own remembers a key that is not known")
            if not isinstance(context, tuple) or len(context) != 4 or not isinstance(context[3], dict):
                raise InvalidState.damaged("what a window of your own remembers is not whole")
            newest, opened, pending, memory = context
            if not isinstance(opened, tuple) or not isinstance(pending, tuple):
                raise InvalidState.damaged("the open windows of your own are not whole")
            if not all(self._is_possible(each) for each in (newest, *opened, *pending)):
                raise InvalidState.damaged("an edge of a window of your own is not a position")
            contexts[slot] = KeyContext(newest, opened, pending, memory)
        return ForwardWindows(*windows, contexts)

    def check_windows(self, given: Any, keys: int) -> tuple[Array, Array, Array]:
        """Return a copy of the saved windows that have an end: keys, starts and ends."""
        dtype = self.setting.dtype
        slots = check_array(given[0], np.int64, "slots of your own windows")
        starts, ends = (check_array(each, dtype, "edges of your own windows", len(slots)) for each in given[1:3])
        if not (starts < ends).all() or (len(slots) and not 0 <= slots.min() <= slots.max() < keys):
            raise InvalidState.damaged("a window of your own has no key, or no start before its end")
        return slots.copy(), starts.copy(), ends.copy()

    def _is_possible(self, position: Any) -> bool:
        """Return whether it is a position, or lies before all of them."""
        if isinstance(position, bool) or not isinstance(position, int | float) or position != position:
            return False
        return bool(self.setting.lowest <= position <= self.setting.highest)

    # --- new rows ------------------------------------------------------------------------------------

    def notify(self, own: Any, slots: Array, positions: Array, columns: Mapping[str, Any]) -> Array:
        order = by_key(slots)
        if order is not None:
            slots, positions = slots[order], positions[order]
        values = {name: in_order(columns[name], order) for name in self.window.columns}
        positions = positions.view()
        positions.flags.writeable = False  # of the parts that users get, too
        first = np.flatnonzero(np.concatenate([[True], slots[1:] != slots[:-1]]))
        begins, ends = first.tolist(), [*first[1:].tolist(), len(slots)]
        keys, newest = slots[first].tolist(), positions[np.array(ends) - 1].tolist()
        marks = np.zeros(len(slots), np.bool_)
        windows: list[tuple[int, Array]] = []
        contexts, unknown, notify = own.contexts, KeyContext(self.setting.lowest), self.window.notify
        for slot, begin, end, last in zip(keys, begins, ends, newest, strict=True):
            rows = positions[begin:end]
            known = contexts.get(slot, unknown)
            context = ForwardContext(list(known.opened), _copy_memory(known.memory))
            read = {name: _part(*column, begin, end) for name, column in values.items()}
            call_user(self.window, "notify", notify, context, rows, read)
            pending: tuple[Any, ...] = ()
            if context.edges or known.pending or context.opened != list(known.opened):
                edges, closed = self._check(context, known.newest, rows)
                edges = np.concatenate([np.array(known.pending, rows.dtype), edges])
                places = np.searchsorted(rows, edges)
                marks[begin + places[places < len(rows)]] = True
                pending = tuple(edges[places == len(rows)].tolist())
                if len(closed):
                    windows.append((slot, closed))
            contexts[slot] = KeyContext(last, tuple(context.opened), pending, context.memory)
        if windows:
            edges = np.concatenate([closed for _, closed in windows])
            slots = np.repeat([slot for slot, _ in windows], [len(closed) for _, closed in windows])
            own.add(slots, edges[:, 0], edges[:, 1])
        if order is None:
            return marks
        found = np.empty_like(marks)
        found[order] = marks
        return found

    def _check(self, context: ForwardContext, newest: Any, rows: Array) -> tuple[Array, Array]:
        """Return the edges that a call told, and the windows that it closed.

        Refuse edges that are no positions, or lie among rows that were read before (F1).
        """
        dtype = rows.dtype
        if not isinstance(context.opened, list):
            raise InvalidWindow.edges(self.window, f"context.opened must stay a list, but is {context.opened!r}")
        for edge in (*context.edges, *context.opened):
            if not is_position(edge, dtype):
                raise InvalidWindow.edges(self.window, f"its edge {edge!r} is not a number as `on` is")
        closed = np.array(context.closed, dtype).reshape(-1, 2)
        if not (closed[:, 0] < closed[:, 1]).all():
            start, end = closed[closed[:, 0] >= closed[:, 1]][0].tolist()
            raise InvalidWindow.edges(self.window, f"it added [{start}, {end}), which is empty")
        edges = np.array(context.edges, dtype)
        behind = edges[(edges <= newest) & (edges < rows[0])]
        if len(behind):
            raise InvalidWindow.edge_behind(self.window, behind[0].item(), newest)
        return edges, closed

    def opened_windows(self, own: Any) -> tuple[Array, Array]:
        """Return the keys and the starts of windows without an end."""
        still = [(slot, start) for slot, each in own.contexts.items() for start in each.opened]
        return np.array([slot for slot, _ in still], np.int64), np.array([s for _, s in still], self.setting.dtype)

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        if not push.is_moved and not len(push.touched):
            return []
        until = self.setting.highest if self.setting.shows_open else push.after
        return [Moment(push.slots, added, until, push.is_end)]

    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        closed = (moment.after < own.ends) & (own.ends <= moment.until)
        slots, starts, ends = own.slots[closed], own.starts[closed], own.ends[closed]
        if moment.is_end:
            open_slots, open_starts = self.opened_windows(own)
            slots, starts = np.concatenate([slots, open_slots]), np.concatenate([starts, open_starts])
            ends = np.concatenate([ends, np.full(len(open_slots), self.setting.highest, ends.dtype)])
        if not len(slots):
            return Ended.none(self.setting.dtype)
        order = np.lexsort((ends, starts, slots))
        return given_windows(held.slices, slots[order], starts[order], ends[order])

    # --- retention -----------------------------------------------------------------------------------

    def keep_places(self, slices: Slices, own: Any, final: Any, first: Array) -> None:
        oldest = np.full(slices.keys, self.setting.highest, self.setting.dtype)
        np.minimum.at(oldest, own.slots, own.starts)
        np.minimum.at(oldest, *self.opened_windows(own))
        _keep_since(view_of(slices), oldest, first)

    def find_final(self, slices: Slices, own: Any, final: Any, emitted: Any) -> Array:
        """Return which windows ended before all rows to come, and are not part of another window now (F2)."""
        is_final: Array = emitted.ends < final
        known = set(zip(own.slots.tolist(), own.starts.tolist(), own.ends.tolist(), strict=True))
        open_slots, open_starts = self.opened_windows(own)
        for k in np.flatnonzero(is_final).tolist():
            slot, start, end = int(emitted.slots[k]), emitted.starts[k].item(), emitted.ends[k].item()
            if (slot, start, end) not in known:
                still = (open_slots == slot) & (open_starts < end)
                others = (own.slots == slot) & (own.starts < end) & (start < own.ends)
                is_final[k] = not still.any() and not others.any()
        return is_final

    def forget(self, own: Any, final: Any) -> None:
        # With revisions, a row at the very end of a window may still change it.
        is_kept = own.ends >= final if self.setting.has_revisions else own.ends > final
        if not is_kept.all():
            own.take(np.flatnonzero(is_kept))


def by_key(slots: Array) -> Array | None:
    """Return the places of rows grouped by key, each key in order; None if they are grouped already."""
    if (slots[1:] >= slots[:-1]).all():
        return None
    # NumPy sorts 16 bits by radix, which is several times as fast.
    narrow = slots.astype(np.uint16) if slots.max() < 1 << 16 else slots
    return np.argsort(narrow, kind="stable")


def in_order(column: tuple[Array, Array], order: Array | None) -> tuple[Array, Array, bool]:
    """Return a column's values and validity in an order, and whether it has no nulls."""
    data, valid = column if order is None else (column[0][order], column[1][order])
    data = data.view()
    data.flags.writeable = False
    return data, valid, bool(valid.all())


def _part(data: Array, valid: Array, is_whole: bool, begin: int, end: int) -> Array:
    """Return some rows of a column for a user's function: an array of objects, None for null, if there are nulls."""
    part = data[begin:end]
    if is_whole:
        return part
    known = valid[begin:end]
    if known.all():
        return part
    objects = part.astype(object)
    objects[~known] = None
    return objects


def _copy_memory(memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a user's dict, so that a call that fails changes nothing."""
    copied = dict(memory)
    for each in copied.values():
        if type(each) not in _PLAIN:
            return deepcopy(copied)
    return copied
