"""Sessions: [first, last + gap), rows at most a gap apart. Late rows can extend a session or merge two."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import kernel
from sash.errors import InvalidState
from sash.kinds.kind import Kind, Moment, Same, StreamView
from sash.slicing.slices import Array, Slices, check_array
from sash.slicing.window_manager import Ended, collect, find_first, view_of, write
from sash.windows.built_in import Session, session

__all__ = ["SessionKind"]


@kernel
def _ended_sessions(arrays: Any, slots: Any, gap: Any, after: Any, until: Any, out: Any, due: Any) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        place = find_first(lasts, order, begin, count, after - gap)
        while place > 0 and lasts[order[begin + place - 1]] + gap >= after:  # floats: `after - gap` may be rounded up
            place -= 1
        while place > 0 and place < count:
            if firsts[order[begin + place]] > lasts[order[begin + place - 1]] + gap:
                break
            place -= 1
        while place < count:
            low = place
            place += 1
            while place < count and firsts[order[begin + place]] <= lasts[order[begin + place - 1]] + gap:
                place += 1
            last = lasts[order[begin + place - 1]]
            if last + gap >= until:
                due[0] = min(due[0], last + gap)
            elif last + gap >= after:
                written = write(out, written, slot, firsts[order[begin + low]], last + gap, begin + low, begin + place)
    return written


@kernel
def _keep_sessions(arrays: Any, gap: Any, final: Any, first: Any) -> None:
    begins, counts, firsts, lasts, order = arrays
    for slot in range(len(begins)):
        begin, count = begins[slot], counts[slot]
        place = 0
        while place < count:
            low = place
            place += 1
            while place < count and firsts[order[begin + place]] <= lasts[order[begin + place - 1]] + gap:
                place += 1
            if lasts[order[begin + place - 1]] + gap >= final:
                first[slot] = min(first[slot], low)
                break


@kernel
def _in_open_sessions(arrays: Any, slots: Any, positions: Any, gap: Any, final: Any, found: Any) -> None:
    begins, counts, firsts, lasts, order = arrays
    for k in range(len(slots)):
        begin, count = begins[slots[k]], counts[slots[k]]
        low, high = 0, count  # find the last slice that does not begin after the row
        while low < high:
            middle = (low + high) // 2
            if firsts[order[begin + middle]] <= positions[k]:
                low = middle + 1
            else:
                high = middle
        found[k] = False
        if low == 0:  # the slice of the row was dropped
            continue
        place = low - 1
        found[k] = lasts[order[begin + place]] + gap >= final
        while not found[k] and place + 1 < count:
            place += 1
            if firsts[order[begin + place]] > lasts[order[begin + place - 1]] + gap:
                break
            found[k] = lasts[order[begin + place]] + gap >= final


class SessionKind(Kind):
    """Rows at most a gap apart. The state is one position: no watermark before it closes a session."""

    describes = Session
    rebuild = staticmethod(session)
    same_window: ClassVar[Same] = Same.OVERLAP
    parts_at_gaps: ClassVar[bool] = True

    def gap(self) -> Any:
        return self.window.gap

    # --- state ---------------------------------------------------------------------------------------

    def start(self, keys: int, watermark: Any) -> Array:
        return np.full(1, watermark, self.setting.dtype)

    def start_among(self, held: StreamView, own: Array, gaps: Mapping[Any, Any]) -> tuple[Array, Any]:
        # A query with a smaller gap has cut rows wherever this one needs it, except rows from before it was added.
        return own, min((unseen for gap, unseen in gaps.items() if gap <= self.window.gap), default=held.newest)

    def copy(self, own: Array) -> Array:
        return own.copy()

    def restore(self, given: Any, slices: Slices, has_key: Array) -> Array:
        array = check_array(given, self.setting.dtype, "ends of sessions", 1)
        if not (self.setting.lowest <= array[0] <= self.setting.highest):
            raise InvalidState.damaged("the next end of a session is no position")
        return array.copy()

    def place(self, own: Array, oldest: Any) -> None:
        own[0] = min(own[0], oldest + self.window.gap)

    # --- which windows are due -----------------------------------------------------------------------

    def due(self, held: StreamView, own: Array, moment: Moment) -> Ended:
        slices, dtype = held.slices, held.slices.firsts.dtype
        has_all_keys = len(moment.slots) == slices.keys
        if moment.until <= own[0] and has_all_keys:
            return Ended.none(dtype)
        next_due = np.full(1, self.setting.highest, dtype)
        gap, after, until = (dtype.type(each) for each in (self.window.gap, moment.after, moment.until))
        ended = collect(
            lambda out: _ended_sessions(view_of(slices), moment.slots, gap, after, until, out, next_due),
            len(moment.slots),
            dtype,
        )
        if has_all_keys:
            own[0] = next_due[0]
        return ended

    # --- retention -----------------------------------------------------------------------------------

    def keep_places(self, slices: Slices, own: Array, final: Any, first: Array) -> None:
        """Keep the oldest session that may still grow, and newer slices."""
        dtype = slices.ends.dtype.type
        _keep_sessions(view_of(slices), dtype(self.window.gap), dtype(final), first)

    def find_final(self, slices: Slices, own: Array, final: Any, emitted: Any) -> Array:
        # No row can extend a window that ended before `final`. If late rows merged it into another session, it is final
        # only with that session. Rows that are held back are not before `final`, so slices tell whether it can grow.
        is_final: Array = emitted.ends < final
        old = np.flatnonzero(is_final)
        dtype = slices.ends.dtype.type
        may_grow = np.zeros(len(old), np.bool_)
        _in_open_sessions(
            view_of(slices), emitted.slots[old], emitted.starts[old], dtype(self.window.gap), dtype(final), may_grow
        )
        is_final[old] = ~may_grow
        return is_final
