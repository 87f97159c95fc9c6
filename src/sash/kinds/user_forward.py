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
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import kernel
from sash.errors import InvalidState, InvalidWindow
from sash.kinds.kind import Kind, Moment, Push, Same, StreamView
from sash.kinds.user_windows import call_user, is_position
from sash.slicing.slices import Array, Slices, check_array
from sash.slicing.window_manager import Ended, find_first, given_windows, view_of
from sash.windows.user import ForwardContext, ForwardFreeWindow

__all__ = ["UserForwardKind"]

_PLAIN = (int, float, str, bool, bytes, type(None), np.generic)  # what a copy of a dict may share


@dataclass(frozen=True)
class KeyContext:
    """What the windows of one key know between two calls. It never changes: each call makes a new one."""

    newest: Any  # the last row that was read
    opened: tuple[Any, ...] = ()  # starts of windows without an end
    pending: tuple[Any, ...] = ()  # edges after the newest row
    memory: Mapping[str, Any] | None = None


@dataclass
class ForwardWindows:
    """The windows of all keys: those that have an end, and what is known of each key."""

    slots: Array
    starts: Array
    ends: Array
    contexts: dict[int, KeyContext]

    def take(self, places: Array) -> None:
        """Keep only the windows at these places."""
        self.slots, self.starts, self.ends = self.slots[places], self.starts[places], self.ends[places]

    def add(self, windows: list[tuple[int, Array]]) -> None:
        """Add windows, given as rows of (start, end) by slot."""
        if windows:
            slots = np.repeat([slot for slot, _ in windows], [len(own) for _, own in windows])
            edges = np.concatenate([own for _, own in windows])
            self.slots = np.concatenate([self.slots, slots])
            self.starts, self.ends = (
                np.concatenate([self.starts, edges[:, 0]]),
                np.concatenate([self.ends, edges[:, 1]]),
            )


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

    describes = ForwardFreeWindow
    same_window: ClassVar[Same] = Same.OVERLAP
    shows_open: ClassVar[bool] = False
    keeps_keys: ClassVar[bool] = True
    reads_rows: ClassVar[bool] = True
    marks_edges: ClassVar[bool] = True
    calls_user: ClassVar[bool] = True
    calls_user_first: ClassVar[bool] = True

    # --- state ---------------------------------------------------------------------------------------

    def start(self, keys: int, watermark: Any) -> ForwardWindows:
        none = np.zeros(0, self.setting.dtype)
        return ForwardWindows(np.zeros(0, np.int64), none, none, {})

    def start_among(self, held: StreamView, own: ForwardWindows, gaps: Mapping[Any, Any]) -> tuple[Any, Any]:
        return own, held.newest

    def copy(self, own: ForwardWindows) -> ForwardWindows:
        return replace(own, contexts=dict(own.contexts))

    def provisional(self, own: ForwardWindows, slots: Array) -> ForwardWindows:
        return self.copy(own)

    def size(self, own: ForwardWindows) -> int:
        return int(own.slots.nbytes + own.starts.nbytes + own.ends.nbytes)

    def save(self, own: ForwardWindows) -> Any:
        contexts = {
            slot: (each.newest, each.opened, each.pending, dict(each.memory or {}))
            for slot, each in own.contexts.items()
        }
        return own.slots, own.starts, own.ends, contexts

    def restore(self, given: Any, slices: Slices, has_key: Array) -> ForwardWindows:
        if not isinstance(given, tuple) or len(given) != 4 or not isinstance(given[3], dict):
            raise InvalidState.damaged("what a window of your own remembers is not whole")
        dtype = self.setting.dtype
        slots = check_array(given[0], np.int64, "slots of your own windows")
        starts, ends = (check_array(each, dtype, "edges of your own windows", len(slots)) for each in given[1:3])
        if not (starts < ends).all() or (len(slots) and not 0 <= slots.min() <= slots.max() < len(has_key)):
            raise InvalidState.damaged("a window of your own has no key, or no start before its end")
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
        return ForwardWindows(slots.copy(), starts.copy(), ends.copy(), contexts)

    def _is_possible(self, position: Any) -> bool:
        """Return whether it is a position, or lies before all of them."""
        if isinstance(position, bool) or not isinstance(position, int | float) or position != position:
            return False
        return bool(self.setting.lowest <= position <= self.setting.highest)

    # --- new rows ------------------------------------------------------------------------------------

    def notify(self, own: ForwardWindows, slots: Array, positions: Array, columns: Mapping[str, Any]) -> Array:
        order = _by_key(slots)
        if order is not None:
            slots, positions = slots[order], positions[order]
        values = {name: _in_order(columns[name], order) for name in self.window.columns}
        begins = np.flatnonzero(np.concatenate([[True], slots[1:] != slots[:-1]])).tolist()
        marks = np.zeros(len(slots), np.bool_)
        windows: list[tuple[int, Array]] = []
        for begin, end in zip(begins, [*begins[1:], len(slots)], strict=True):
            slot = int(slots[begin])
            rows = positions[begin:end]
            rows.flags.writeable = False
            known = own.contexts.get(slot, KeyContext(self.setting.lowest))
            context = ForwardContext(list(known.opened), _copy_memory(known.memory))
            read = {name: _part(*column, begin, end) for name, column in values.items()}
            call_user(self.window, "notify", partial(self.window.notify, context, rows, read))
            pending: tuple[Any, ...] = ()
            if context.edges or known.pending or context.opened != list(known.opened):
                edges, closed = self._check(context, known.newest, rows)
                edges = np.concatenate([np.array(known.pending, rows.dtype), edges])
                places = np.searchsorted(rows, edges)
                marks[begin + places[places < len(rows)]] = True
                pending = tuple(edges[places == len(rows)].tolist())
                if len(closed):
                    windows.append((slot, closed))
            own.contexts[slot] = KeyContext(rows[-1].item(), tuple(context.opened), pending, context.memory)
        own.add(windows)
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

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        if not push.is_moved and not len(push.touched):
            return []
        until = self.setting.highest if self.setting.shows_open else push.after
        return [Moment(push.slots, added, until, push.is_end)]

    def due(self, held: StreamView, own: ForwardWindows, moment: Moment) -> Ended:
        closed = (moment.after < own.ends) & (own.ends <= moment.until)
        slots, starts, ends = own.slots[closed], own.starts[closed], own.ends[closed]
        if moment.is_end:
            still = [(slot, start) for slot, each in own.contexts.items() for start in each.opened]
            slots = np.concatenate([slots, np.array([slot for slot, _ in still], np.int64)])
            starts = np.concatenate([starts, np.array([start for _, start in still], starts.dtype)])
            ends = np.concatenate([ends, np.full(len(still), self.setting.highest, ends.dtype)])
        if not len(slots):
            return Ended.none(self.setting.dtype)
        order = np.lexsort((ends, starts, slots))
        return given_windows(held.slices, slots[order], starts[order], ends[order])

    # --- retention -----------------------------------------------------------------------------------

    def keep_places(self, slices: Slices, own: ForwardWindows, final: Any, first: Array) -> None:
        oldest = np.full(slices.keys, self.setting.highest, self.setting.dtype)
        np.minimum.at(oldest, own.slots, own.starts)
        for slot, context in own.contexts.items():
            for start in context.opened:
                oldest[slot] = min(oldest[slot], start)
        _keep_since(view_of(slices), oldest, first)

    def find_final(self, slices: Slices, own: ForwardWindows, final: Any, emitted: Any) -> Array:
        """Return which windows ended before all rows to come, and are not part of another window now (F2)."""
        is_final: Array = emitted.ends < final
        known = set(zip(own.slots.tolist(), own.starts.tolist(), own.ends.tolist(), strict=True))
        for k in np.flatnonzero(is_final).tolist():
            slot, start, end = int(emitted.slots[k]), emitted.starts[k].item(), emitted.ends[k].item()
            if (slot, start, end) not in known:
                opened = own.contexts[slot].opened if slot in own.contexts else ()
                others = (own.slots == slot) & (own.starts < end) & (start < own.ends)
                is_final[k] = not any(each < end for each in opened) and not others.any()
        return is_final

    def forget(self, own: ForwardWindows, final: Any) -> None:
        # With revisions, a row at the very end of a window may still change it.
        is_kept = own.ends >= final if self.setting.has_revisions else own.ends > final
        if not is_kept.all():
            own.take(np.flatnonzero(is_kept))


def _by_key(slots: Array) -> Array | None:
    """Return the places of rows grouped by key, each key in order; None if they are grouped already."""
    if (slots[1:] >= slots[:-1]).all():
        return None
    # NumPy sorts 16 bits by radix, which is several times as fast.
    narrow = slots.astype(np.uint16) if slots.max() < 1 << 16 else slots
    return np.argsort(narrow, kind="stable")


def _in_order(column: tuple[Array, Array], order: Array | None) -> tuple[Array, Array, bool]:
    """Return a column's values and validity in an order, and whether it has no nulls."""
    data, valid = column if order is None else (column[0][order], column[1][order])
    return data, valid, bool(valid.all())


def _part(data: Array, valid: Array, is_whole: bool, begin: int, end: int) -> Array:
    """Return some rows of a column for a user's function: an array of objects, None for null, if there are nulls."""
    part, known = data[begin:end], valid[begin:end]
    if not is_whole and not known.all():
        objects = part.astype(object)
        objects[~known] = None
        return objects
    part.flags.writeable = False
    return part


def _copy_memory(memory: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of a user's dict, so that a call that fails changes nothing."""
    if not memory:
        return {}
    if all(isinstance(each, _PLAIN) for each in memory.values()):
        return dict(memory)
    return deepcopy(dict(memory))
