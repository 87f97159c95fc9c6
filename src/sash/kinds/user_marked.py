"""Windows of users that start and end at rows: one call of their function marks the rows of many keys.

Idea      The user's function gets all rows of a push at once, key after key, and says at which of them windows start
          and end. What it knows of earlier rows is the row before each row. So a push costs one call, whatever the
          number of keys, and what is known of keys is in arrays.
Keeps     M1  a key has at most one open window: a start ends the window before it
          M2  windows that have an end are listed, as those of `user_forward`
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.errors import InvalidState, InvalidWindow
from sash.kinds.user_forward import EndedWindows, UserForwardKind, by_key, in_order
from sash.kinds.user_windows import call_user
from sash.slicing.slices import Array, Slices, check_array, with_room
from sash.windows.user import MarkedRows, MarkedWindow

__all__ = ["UserMarkedKind"]


@dataclass
class MarkedWindows(EndedWindows):
    """The windows of all keys: those that have an end, and what is known of each key, in arrays."""

    is_known: Array  # keys that had a row
    is_open: Array  # keys with an open window
    opened: Array  # its start
    before: dict[str, Array]  # of each column that is read, the value of the key's last row

    @property
    def by_key(self) -> dict[str, Array]:
        """The arrays that have an entry for each key."""
        return {"is_known": self.is_known, "is_open": self.is_open, "opened": self.opened}


class UserMarkedKind(UserForwardKind):
    """A MarkedWindow of a user."""

    describes = MarkedWindow

    # --- state ---------------------------------------------------------------------------------------

    def start(self, keys: int, watermark: Any) -> Any:
        none = np.zeros(0, self.setting.dtype)
        flags = np.zeros(keys, np.bool_), np.zeros(keys, np.bool_)
        before = {name: np.empty(keys, object) for name in self.window.columns}
        return MarkedWindows(np.zeros(0, np.int64), none, none, *flags, np.zeros(keys, self.setting.dtype), before)

    def with_room(self, own: MarkedWindows, keys: int, since: Any) -> Any:
        if len(own.is_known) >= keys:
            return own
        more = {name: _widened(array, keys) for name, array in own.by_key.items()}
        return replace(own, **more, before={name: _widened(array, keys) for name, array in own.before.items()})

    def copy(self, own: MarkedWindows) -> Any:
        copies = {name: array.copy() for name, array in own.by_key.items()}
        return replace(own, **copies, before={name: array.copy() for name, array in own.before.items()})

    def size(self, own: MarkedWindows) -> int:
        arrays = (own.slots, own.starts, own.ends, *own.by_key.values(), *own.before.values())
        return int(sum(each.nbytes for each in arrays))

    def save(self, own: MarkedWindows) -> Any:
        before = {name: array.tolist() for name, array in own.before.items()}
        return own.slots, own.starts, own.ends, own.is_known, own.is_open, own.opened, before

    def restore(self, given: Any, slices: Slices, has_key: Array) -> Any:
        if not isinstance(given, tuple) or len(given) != 7 or not isinstance(given[6], dict):
            raise InvalidState.damaged("what a window of your own remembers is not whole")
        windows = self.check_windows(given[:3], len(has_key))
        keys = len(given[3]) if isinstance(given[3], np.ndarray) else 0
        flags = [check_array(each, np.bool_, "marks of your own windows", keys) for each in given[3:5]]
        opened = check_array(given[5], self.setting.dtype, "starts of your own windows", keys)
        before = given[6]
        if keys > slices.keys or set(before) != set(self.window.columns):
            raise InvalidState.damaged("what a window of your own remembers does not fit its keys and columns")
        if any(not isinstance(each, list) or len(each) != keys for each in before.values()):
            raise InvalidState.damaged("a window of your own does not remember a row of each key")
        columns = {name: _objects(values) for name, values in before.items()}
        return MarkedWindows(*windows, flags[0].copy(), flags[1].copy(), opened.copy(), columns)

    def opened_windows(self, own: MarkedWindows) -> tuple[Array, Array]:
        slots = np.flatnonzero(own.is_open)
        return slots, own.opened[slots]

    # --- new rows ------------------------------------------------------------------------------------

    def notify(self, own: MarkedWindows, slots: Array, positions: Array, columns: Mapping[str, Any]) -> Array:
        order = by_key(slots)
        if order is not None:
            slots, positions = slots[order], positions[order]
        positions = positions.view()
        positions.flags.writeable = False
        begins = np.flatnonzero(np.concatenate([[True], slots[1:] != slots[:-1]]))
        keys, last = slots[begins], np.append(begins[1:], len(slots)) - 1
        values = {name: _values(*in_order(columns[name], order)) for name in self.window.columns}
        is_first = np.zeros(len(slots), np.bool_)
        is_first[begins] = ~own.is_known[keys]
        previous = {name: _previous(data, begins, own.before[name][keys], is_first) for name, data in values.items()}
        rows = MarkedRows(positions, values, is_first, previous)
        starts, ends = self._check_marks(call_user(self.window, "mark", self.window.mark, rows), len(slots))
        marks = self._place(own, slots, positions, starts, ends)
        own.is_known[keys] = True
        for name, data in values.items():
            own.before[name][keys] = _objects(data[last].tolist())
        if order is None:
            return marks
        found = np.empty_like(marks)
        found[order] = marks
        return found

    def _check_marks(self, given: Any, rows: int) -> tuple[Array, Array]:
        """Return where windows start and end, as a user's function said."""
        pair = given if isinstance(given, tuple) else (given, np.zeros(rows, np.bool_))
        arrays = [np.asarray(each) for each in pair]
        if len(pair) != 2 or any(each.dtype != np.bool_ or each.shape != (rows,) for each in arrays):
            raise InvalidWindow.marks(self.window, rows)
        return arrays[0], arrays[1]

    def _place(self, own: MarkedWindows, slots: Array, positions: Array, starts: Array, ends: Array) -> Array:
        """Open and close windows at marked rows, and return the first row at each edge."""
        is_edge = np.concatenate([[True], (slots[1:] != slots[:-1]) | (positions[1:] != positions[:-1])])
        first_of_equals = np.flatnonzero(is_edge)[np.cumsum(is_edge) - 1]
        marked = np.flatnonzero(starts | ends)
        places, which = np.unique(first_of_equals[marked], return_inverse=True)
        opens = np.zeros(len(places), np.bool_)
        np.logical_or.at(opens, which, starts[marked])
        marks = np.zeros(len(slots), np.bool_)
        marks[places] = True
        if len(places):
            self._close(own, slots[places], positions[places], opens)
        return marks

    def _close(self, own: MarkedWindows, slots: Array, edges: Array, opens: Array) -> None:
        """Close and open windows at edges, which are ordered by key and position."""
        keys = np.unique(slots)
        open_keys = keys[own.is_open[keys]]
        slots = np.concatenate([open_keys, slots])
        edges = np.concatenate([own.opened[open_keys], edges])
        opens = np.concatenate([np.ones(len(open_keys), np.bool_), opens])
        order = np.lexsort((edges, slots))  # stable: of equal positions, the window that is open comes first
        slots, edges, opens = slots[order], edges[order], opens[order]
        is_other = np.concatenate([[True], (slots[1:] != slots[:-1]) | (edges[1:] != edges[:-1])])
        slots, edges, opens = slots[is_other], edges[is_other], opens[is_other]
        is_closed = opens[:-1] & (slots[1:] == slots[:-1])
        own.add(slots[:-1][is_closed], edges[:-1][is_closed], edges[1:][is_closed])
        is_last = np.concatenate([slots[1:] != slots[:-1], [True]])
        own.is_open[slots[is_last]] = opens[is_last]
        own.opened[slots[is_last]] = edges[is_last]


def _objects(values: list[Any]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _widened(array: Array, keys: int) -> Array:
    if array.dtype != object:
        return with_room(array, keys)
    wider = np.empty(max(keys, 2 * len(array)), object)
    wider[: len(array)] = array
    return wider


def _values(data: Array, valid: Array, is_whole: bool) -> Array:
    """Return a column as a user's function reads it: an array of objects, None for null, if there are nulls."""
    if is_whole:
        return data
    objects = data.astype(object)
    objects[~valid] = None
    return objects


def _previous(data: Array, begins: Array, before: Array, is_first: Array) -> Array:
    """Return the value of the row before each row, of the same key; that of the row itself where there is none."""
    own = before.tolist()
    kind = object if any(each is None for each in own) else data.dtype
    found = np.empty(len(data), kind)
    found[1:] = data[:-1]
    found[begins] = own if kind is object else np.array(own, data.dtype)
    found[is_first] = data[is_first]
    return found
