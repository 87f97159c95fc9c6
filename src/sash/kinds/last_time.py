"""The last rows by position after every so many rows: the size is a length, the ends are ranks."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import kernel
from sash.kinds.kind import Moment, PerKey, Push, Same, StreamView
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended, collect, find_between, find_first, view_of, write
from sash.windows.built_in import LastTime, sliding

__all__ = ["LastTimeKind"]


@kernel
def _ended_last_times(
    arrays: Any, ranks: Any, seen: Any, slots: Any, every: int, size: Any, fired: Any, until: Any, out: Any
) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        low = 0
        for k in range(fired[slot], seen[slot] // every):
            end = (k + 1) * every
            newest = find_first(ranks, order, begin, count, end - 1)
            if newest == count or lasts[order[begin + newest]] >= until:
                break
            since = lasts[order[begin + newest]] - size
            low = find_between(lasts, order, begin, low, newest, since)
            while low < newest and lasts[order[begin + low]] == since:
                low += 1
            # A slice that was made before the query was added may straddle the start or the end.
            is_whole = ranks[order[begin + newest]] == end - 1 and firsts[order[begin + low]] > since
            if is_whole:
                start = end - 1 if low == newest else ranks[order[begin + low]]
                written = write(out, written, slot, start, end, begin + low, begin + newest + 1)
    return written


@kernel
def _keep_last_times(
    arrays: Any, ranks: Any, seen: Any, every: int, size: Any, fired: Any, final: Any, first: Any
) -> None:
    begins, counts, _firsts, lasts, order = arrays
    for slot in range(len(begins)):
        begin, count = begins[slot], counts[slot]
        if count == 0:
            continue
        # The next window ends with this row, or with a later one: at or after the newest row, and at or after `final`.
        newest = find_first(ranks, order, begin, count, (fired[slot] + 1) * every - 1)
        if newest < count:
            since = lasts[order[begin + newest]] - size
        else:
            since = max(lasts[order[begin + count - 1]], final) - size
        place = find_between(lasts, order, begin, 0, count, since)
        while place < count and lasts[order[begin + place]] == since:
            place += 1
        first[slot] = min(first[slot], place)


class LastTimeKind(PerKey):
    """After every so many rows, the rows of the last stretch. The state is the first window not emitted, per key."""

    describes = LastTime
    rebuild = staticmethod(sliding)
    same_window: ClassVar[Same] = Same.END
    shows_open: ClassVar[bool] = False  # `moments` includes them
    keeps_keys: ClassVar[bool] = True
    keeps: ClassVar[str] = "windows after rows that were sent"

    def slices_per_window(self, edges_per_unit: float) -> float:
        return math.inf

    # --- what it remembers ---------------------------------------------------------------------------

    def is_possible(self, own: Array, slices: Slices) -> Array:
        return np.asarray((own >= 0) & (own <= slices.seen[: len(own)] // self.window.every_rows + 1))

    def start_among(self, held: StreamView, own: Array, gaps: Mapping[Any, Any]) -> tuple[Array, Any]:
        return held.slices.seen // self.window.every_rows, None

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        until = self.setting.highest if self.setting.shows_open else push.after
        return [Moment(push.slots, push.before, until, push.is_end)]

    def due(self, held: StreamView, own: Array, moment: Moment) -> Ended:
        slices, setting = held.slices, self.setting
        kind = slices.firsts.dtype.type
        until, size = kind(setting.highest if setting.in_order else moment.until), kind(self.window.size)
        rows, every = (slices.ranks, slices.seen), self.window.every_rows
        return collect(
            lambda out: _ended_last_times(view_of(slices), *rows, moment.slots, every, size, own, until, out),
            len(moment.slots),
            np.int64,
        )

    def remember(self, own: Array, ended: Ended, push: Push) -> None:
        if not self.setting.has_revisions:
            np.maximum.at(own, ended.slots, ended.ends // self.window.every_rows)

    # --- what is needed ------------------------------------------------------------------------------

    def keep_places(self, slices: Slices, own: Array, final: Any, first: Array) -> None:
        kind = slices.firsts.dtype.type
        rows, lengths = (slices.ranks, slices.seen), (self.window.every_rows, kind(self.window.size))
        _keep_last_times(view_of(slices), *rows, *lengths, own, kind(final), first)

    def find_final(self, slices: Slices, own: Array, final: Any, emitted: Any) -> Array:
        """Return which emitted windows are final: all their rows are placed for good."""
        whole = np.flatnonzero(emitted.ends <= slices.seen[emitted.slots])
        np.maximum.at(own, emitted.slots[whole], emitted.ends[whole] // self.window.every_rows)
        return np.asarray(emitted.ends <= (own * self.window.every_rows)[emitted.slots])
