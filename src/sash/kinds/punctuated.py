"""Punctuated windows: a true value in a boolean column opens the next one; one in another column closes it.

Rows before the first mark form the first window. A start closes the window before it. Rows after an end are in no
window, until the next start; where both marks are at one position, the next window starts there.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.kinds.kind import Moment, PerKey, Push, Same, StreamView, before
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended, collect, find_first, view_of, write
from sash.windows.built_in import Punctuated, punctuated

__all__ = ["PunctuatedKind"]


@jitable
def _first_of_equals(firsts: Any, order: Any, begin: int, place: int) -> int:
    """Return the first place whose slice begins at the same position: rows at a punctuation are in the next window."""
    while place > 0 and firsts[order[begin + place - 1]] == firsts[order[begin + place]]:
        place -= 1
    return place


@jitable
def _is_window(firsts: Any, opens: Any, order: Any, begin: int, count: int, place: int, marks: Any) -> bool:
    """Return whether a window starts at a place, the first of its position: not if a mark only ends one there."""
    start, end = marks
    bits = opens[order[begin + place]]
    later = place + 1
    while later < count and firsts[order[begin + later]] == firsts[order[begin + place]]:
        bits |= opens[order[begin + later]]
        later += 1
    return bool(bits & start != 0 or bits & end == 0)


@kernel
def _ended_punctuated(
    arrays: Any, opens: Any, slots: Any, marks: Any, afters: Any, until: Any, highest: Any, out: Any
) -> int:
    begins, counts, firsts, _lasts, order = arrays
    written = 0
    bit = marks[0] | marks[1]
    for at in range(len(slots)):
        slot, after = slots[at], afters[at]
        begin, count = begins[slot], counts[slot]
        if count == 0:
            continue
        # Start at the last window that began at or before `after`: the punctuation that ends it may come after.
        low = find_first(firsts, order, begin, count, after)
        opening = low
        while opening < count and firsts[order[begin + opening]] == after and opens[order[begin + opening]] & bit == 0:
            opening += 1
        if opening == count or firsts[order[begin + opening]] > after:
            low = max(0, low - 1)
            while low > 0 and opens[order[begin + low]] & bit == 0:
                low -= 1
        low = _first_of_equals(firsts, order, begin, low)
        is_window = _is_window(firsts, opens, order, begin, count, low, marks)
        place = low + 1
        while place < count:
            if opens[order[begin + place]] & bit != 0:
                end = firsts[order[begin + place]]
                if end > until:
                    break
                high = _first_of_equals(firsts, order, begin, place)
                if end > after and high > low and is_window:
                    written = write(out, written, slot, firsts[order[begin + low]], end, begin + low, begin + high)
                if high > low:
                    low = high
                    is_window = _is_window(firsts, opens, order, begin, count, low, marks)
            place += 1
        if until >= highest and after < highest and is_window:
            written = write(out, written, slot, firsts[order[begin + low]], highest, begin + low, begin + count)
    return written


@kernel
def _keep_punctuations(arrays: Any, opens: Any, bit: int, final: Any, first: Any) -> None:
    begins, counts, firsts, _lasts, order = arrays
    for slot in range(len(begins)):
        begin, count = begins[slot], counts[slot]
        low = 0
        for place in range(1, count):
            if opens[order[begin + place]] & bit != 0:
                if firsts[order[begin + place]] >= final:  # another punctuation may come at this position
                    break
                low = place
        while low > 0 and firsts[order[begin + low - 1]] == firsts[order[begin + low]]:
            low -= 1
        first[slot] = min(first[slot], low)


class PunctuatedKind(PerKey):
    """Windows between punctuations.

    The state is the last end that was emitted, per key: a punctuation at the watermark closes a window without moving
    the watermark.
    """

    describes = Punctuated
    rebuild = staticmethod(punctuated)
    same_window: ClassVar[Same] = Same.OVERLAP
    keeps: ClassVar[str] = "ends of punctuated windows"

    @property
    def _marks(self) -> tuple[int, int]:
        """The bits of starts and of ends; the latter are 0 if only starts are marked."""
        start, end = (
            1 << self.setting.flags.index(name) if name else 0 for name in (self.window.column, self.window.end)
        )
        return start, end

    # --- state ---------------------------------------------------------------------------------------

    def own_type(self) -> Any:
        return self.setting.dtype

    def fill(self, watermark: Any) -> Any:
        return watermark

    def is_possible(self, own: Array, slices: Slices) -> Array:
        return np.asarray((self.setting.lowest <= own) & (own <= self.setting.highest))

    def start_among(self, held: StreamView, own: Array, gaps: Mapping[Any, Any]) -> tuple[Array, Any]:
        return own, held.newest

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        slots = np.setdiff1d(push.slots if push.is_moved else push.touched, push.behind)
        found = [Moment(slots, push.before, push.after, push.is_end)]
        if len(push.behind):
            # A late punctuation at the oldest accepted position closes a window that ends there.
            since = max(before(push.final_before, self.setting), added)
            found.append(Moment(push.behind, since, push.after, push.is_end, again=True))
        return found + self.open_moments(held, push)

    def due(self, held: StreamView, own: Array, moment: Moment) -> Ended:
        slices, dtype = held.slices, held.slices.firsts.dtype
        afters = np.full(len(moment.slots), moment.after, own.dtype)
        if not moment.again:
            # Windows that ended before the watermark were emitted; the marks before them may be gone.
            afters = np.maximum(own[moment.slots], before(moment.after, self.setting))
        until, highest = dtype.type(moment.until), dtype.type(self.setting.highest)
        return collect(
            lambda out: _ended_punctuated(
                view_of(slices), slices.opens, moment.slots, self._marks, afters, until, highest, out
            ),
            len(moment.slots),
            dtype,
        )

    def remember(self, own: Array, ended: Ended, push: Push) -> None:
        closed = ended.ends <= push.after
        np.maximum.at(own, ended.slots[closed], ended.ends[closed])

    # --- retention -----------------------------------------------------------------------------------

    def keep_places(self, slices: Slices, own: Array, final: Any, first: Array) -> None:
        """Keep the window that the last final punctuation opened, and newer slices."""
        start, end = self._marks
        _keep_punctuations(view_of(slices), slices.opens, start | end, slices.ends.dtype.type(final), first)

    def find_final(self, slices: Slices, own: Array, final: Any, emitted: Any) -> Array:
        return np.asarray(emitted.ends < final)  # a punctuation may still come at the position of its end
