"""Count windows: ranks [k · every, k · every + size), rows counted in the order of their positions."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import kernel
from sash.kinds.kind import Moment, PerKey, Push, StreamView
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended, collect, find_first, view_of, write
from sash.windows.built_in import Rows, sliding

__all__ = ["CountKind"]


@kernel
def _ended_counts(
    arrays: Any,
    ranks: Any,
    seen: Any,
    slots: Any,
    size: int,
    every: int,
    fired: Any,
    until: Any,
    partial: bool,
    out: Any,
) -> int:
    begins, counts, _firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        k = fired[slot]
        while True:
            start = k * every
            end = start + size
            if not (end <= seen[slot] or (partial and start < seen[slot])):
                break
            low = find_first(ranks, order, begin, count, start)
            high = find_first(ranks, order, begin, count, end)
            if low >= high or lasts[order[begin + high - 1]] >= until:
                break
            first = ranks[order[begin + low]]
            # A slice that was made before the query was added may straddle an edge.
            is_cut = high == count or ranks[order[begin + high]] == end or end > seen[slot]
            if is_cut and (high < count or end >= seen[slot]) and first == start:
                written = write(out, written, slot, start, end, begin + low, begin + high)
            k = max(k + 1, -(-first // every))  # windows that start before the first slice lack rows: skip them
    return written


@kernel
def _keep_ranks(begins: Any, counts: Any, order: Any, ranks: Any, from_rank: Any, first: Any) -> None:
    for slot in range(len(begins)):
        place = 0
        # A slice is needed if it has rows from that rank on.
        while place + 1 < counts[slot] and ranks[order[begins[slot] + place + 1]] <= from_rank[slot]:
            place += 1
        first[slot] = min(first[slot], place)


class CountKind(PerKey):
    """Windows of ranks. The state is the first window that was not emitted, per key."""

    describes = Rows
    rebuild = staticmethod(lambda size, every: sliding(rows=size, every=every))
    shows_open: ClassVar[bool] = False  # `moments` includes them
    keeps_keys: ClassVar[bool] = True
    keeps: ClassVar[str] = "windows of rows that were sent"

    def rank_cuts(self) -> list[tuple[int, int]]:
        return [(self.window.every, phase % self.window.every) for phase in (0, self.window.size)]

    def slices_per_window(self, edges_per_unit: float) -> float:
        return max(1.0, float(self.window.size / self.window.every))

    # --- what it remembers ---------------------------------------------------------------------------

    def is_possible(self, own: Array, slices: Slices) -> Array:
        return np.asarray((own >= 0) & (own <= slices.seen[: len(own)] // self.window.every + 1))

    def start_among(self, held: StreamView, own: Array, gaps: Mapping[Any, Any]) -> tuple[Array, Any]:
        return np.maximum((held.slices.seen - self.window.size) // self.window.every + 1, 0), None

    # --- which windows are due -----------------------------------------------------------------------

    def moments(self, held: StreamView, push: Push, added: Any) -> list[Moment]:
        until = self.setting.highest if self.setting.shows_open else push.after
        return [Moment(push.slots, push.before, until, push.is_end)]

    def due(self, held: StreamView, own: Array, moment: Moment) -> Ended:
        slices, setting = held.slices, self.setting
        until = slices.firsts.dtype.type(setting.highest if setting.in_order else moment.until)
        size, every, partial = self.window.size, self.window.every, setting.emits_partial and moment.is_end
        return collect(
            lambda out: _ended_counts(
                view_of(slices), slices.ranks, slices.seen, moment.slots, size, every, own, until, partial, out
            ),
            len(moment.slots),
            np.int64,
        )

    def remember(self, own: Array, ended: Ended, push: Push) -> None:
        if not self.setting.has_revisions:
            np.maximum.at(own, ended.slots, ended.starts // self.window.every + 1)

    # --- what is needed ------------------------------------------------------------------------------

    def keep_places(self, slices: Slices, own: Array, final: Any, first: Array) -> None:
        """Keep the slice with the first rank of a window that was not emitted, and newer slices."""
        _keep_ranks(slices.begin, slices.count, slices.order, slices.ranks, own * self.window.every, first)

    def find_final(self, slices: Slices, own: Array, final: Any, emitted: Any) -> Array:
        """Return which emitted windows are final: all their rows are placed for good, or those of a later window."""
        whole = np.flatnonzero(emitted.ends <= slices.seen[emitted.slots])
        np.maximum.at(own, emitted.slots[whole], emitted.starts[whole] // self.window.every + 1)
        return np.asarray(emitted.starts < (own * self.window.every)[emitted.slots])
