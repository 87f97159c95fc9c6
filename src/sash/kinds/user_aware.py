"""Context-aware windows of users: functions of rows compute where they start and end."""

import math
from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sash.errors import InvalidState
from sash.kinds.kind import Kind, Moment, Push, Same, StreamView
from sash.kinds.user_windows import call_user, check_windows
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended, given_windows
from sash.windows.user import ContextAwareWindow, OpenWindows

__all__ = ["UserAwareKind"]

Contexts = dict[int, OpenWindows]


class UserAwareKind(Kind):
    """A ContextAwareWindow. The state is, per key, the windows that the user added and the user's `memory`."""

    describes = ContextAwareWindow
    same_window: ClassVar[Same] = Same.OVERLAP
    shows_open: ClassVar[bool] = False
    keeps_keys: ClassVar[bool] = True
    reads_rows: ClassVar[bool] = True
    calls_user: ClassVar[bool] = True
    calls_user_first: ClassVar[bool] = True

    def slices_per_window(self, edges_per_unit: float) -> float:
        return math.inf

    # --- state ---------------------------------------------------------------------------------------

    def start(self, keys: int, watermark: Any) -> Contexts:
        return {}

    def copy(self, own: Contexts) -> Contexts:
        return deepcopy(own)

    def provisional(self, own: Contexts, slots: Array) -> Contexts:
        touched = set(slots.tolist())
        return {slot: deepcopy(each) if slot in touched else each for slot, each in own.items()}

    def save(self, own: Contexts) -> dict[int, tuple[Any, Any]]:
        return {slot: (each.windows, each.memory) for slot, each in own.items()}

    def restore(self, given: Any, slices: Slices, has_key: Array) -> Contexts:
        if not isinstance(given, Mapping):
            raise InvalidState.damaged("what a window of your own remembers is not told by keys")
        found = {}
        for slot, context in given.items():
            if type(slot) is not int or not 0 <= slot < len(has_key) or not has_key[slot]:
                raise InvalidState.damaged("a window of your own remembers a key that is not known")
            if not isinstance(context, tuple) or len(context) != 2 or not isinstance(context[1], dict):
                raise InvalidState.damaged("what a window of your own remembers is not whole")
            windows = context[0]
            if not isinstance(windows, list) or not all(self._is_band(each) for each in windows):
                raise InvalidState.damaged("a window of your own has no start before its end")
            found[slot] = OpenWindows(list(windows), context[1])
        return found

    def _is_band(self, pair: Any) -> bool:
        """Return whether it is a start before an end; whole floats are accepted as integers."""
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            return False
        numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in pair)
        return numbers and bool(self.setting.lowest <= pair[0] < pair[1] <= self.setting.highest)

    def notify(self, own: Contexts, slots: Array, positions: Array, columns: Mapping[str, Any]) -> None:
        order = np.argsort(slots, kind="stable")
        sorted_slots = slots[order]
        begins = np.flatnonzero(np.concatenate([[True], sorted_slots[1:] != sorted_slots[:-1]]))
        for begin, end in zip(begins, [*begins[1:], len(slots)], strict=True):
            rows = order[begin:end]
            context = own.setdefault(int(sorted_slots[begin]), OpenWindows([], {}))
            values = {name: _values(columns[name], rows) for name in self.window.columns}
            call = partial(self.window.notify, context, positions[rows].tolist(), values)
            call_user(self.window, "notify", call)
            check_windows(self.window, context.windows, self.setting.dtype)

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        if not push.is_moved and not len(push.touched):
            return []
        until = self.setting.highest if self.setting.shows_open else push.after
        return [Moment(push.slots, push.before, until, push.is_end)]

    def due(self, held: StreamView, own: Contexts, moment: Moment) -> Ended:
        dtype = self.setting.dtype
        found = [
            (slot, start, end)
            for slot in moment.slots.tolist()
            if slot in own
            for start, end in sorted(own[slot].windows)
            if end <= moment.until
        ]
        if not found:
            return Ended.none(dtype)
        slots, starts, ends = zip(*found, strict=True)
        return given_windows(held.slices, np.array(slots), np.array(starts, dtype), np.array(ends, dtype))

    # --- retention -----------------------------------------------------------------------------------

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        highest, lowest = self.setting.highest, self.setting.lowest
        return (highest, highest) if self.window.reach is not None else (lowest, lowest)

    def keep_places(self, slices: Slices, own: Contexts, final: Any, first: Array) -> None:
        if self.window.reach is None:
            return
        for slot in np.flatnonzero(slices.count).tolist():
            firsts = slices.firsts[slices.of_key(slot)]
            starts = [start for start, _ in own[slot].windows] if slot in own else []
            starts.append(firsts[-1].item() - self.window.reach)
            first[slot] = min(first[slot], int(np.searchsorted(firsts, min(starts))))

    def find_final(self, slices: Slices, own: Contexts, final: Any, emitted: Any) -> Array:
        is_final: Array = emitted.ends < final
        for k in np.flatnonzero(is_final).tolist():
            context = own.get(int(emitted.slots[k]))
            known = [] if context is None else context.windows
            is_final[k] = _is_final(known, self.window.reach, final, emitted.starts[k], emitted.ends[k])
        return is_final

    def forget(self, own: Contexts, final: Any) -> None:
        # With revisions, a row at the very end of a window may still change it.
        at_end = self.setting.has_revisions
        for context in own.values():
            context.windows = [each for each in context.windows if each[1] > final or (at_end and each[1] == final)]


def _values(column: tuple[Array, Array], rows: Array) -> list[Any]:
    """Return the values of rows as Python objects, None for nulls."""
    data, valid = column
    pairs = zip(data[rows].tolist(), valid[rows].tolist(), strict=True)
    return [value if known else None for value, known in pairs]


def _is_final(known: list[Any], reach: Any, final: Any, start: Any, end: Any) -> bool:
    """Return whether an emitted window is still one of the user's windows, or can no longer be added or replaced."""
    if any(start == each[0] and end == each[1] for each in known):
        return True
    overlaps = any(start < each[1] and each[0] < end for each in known)
    return reach is not None and end <= final - reach and not overlaps
