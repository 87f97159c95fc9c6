"""Count windows: ranks [k · every, k · every + size), rows counted in the order of their positions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from sash.algebra.compiler import kernel
from sash.kinds.kind import Family, Moment, PerKey, Push, Setting, StreamView
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended, advance, collect, find_first, find_near, view_of, write
from sash.windows.built_in import Rows, sliding

__all__ = ["CountKind"]


@kernel
def _ended_counts(
    arrays: Any,
    ranks: Any,
    seen: Any,
    slots: Any,
    sizes: Any,
    everys: Any,
    fired: Any,
    until: Any,
    partial: bool,
    which: Any,
    out: Any,
) -> int:
    begins, counts, _firsts, lasts, order = arrays
    written = 0
    for window in range(len(sizes)):
        size, every = sizes[window], everys[window]
        before = written
        for slot in slots:
            begin, count = begins[slot], counts[slot]
            k = fired[window, slot]
            low, high, held = -1, 0, 1
            while True:
                start = k * every
                end = start + size
                if not (end <= seen[slot] or (partial and start < seen[slot])):
                    break
                if low < 0:
                    low = find_first(ranks, order, begin, count, start)
                else:
                    low = advance(ranks, order, begin, count, low, start)
                # Windows of one size hold about the same number of slices, so the last count is a good guess.
                high = find_near(ranks, order, begin, count, max(high, low), low + held, end)
                held = high - low
                if low >= high or lasts[order[begin + high - 1]] >= until:
                    break
                first = ranks[order[begin + low]]
                # A slice that was made before the query was added may straddle an edge.
                is_cut = high == count or ranks[order[begin + high]] == end or end > seen[slot]
                if is_cut and (high < count or end >= seen[slot]) and first == start:
                    written = write(out, written, slot, start, end, begin + low, begin + high)
                k = max(k + 1, -(-first // every))  # windows that start before the first slice lack rows: skip them
        for place in range(min(before, len(which)), min(written, len(which))):
            which[place] = window
    return written


@kernel
def _keep_ranks(begins: Any, counts: Any, order: Any, ranks: Any, from_rank: Any, first: Any) -> None:
    for slot in range(len(begins)):
        # A slice is needed if it has rows from that rank on.
        place = find_first(ranks, order, begins[slot], counts[slot], from_rank[slot] + 1) - 1
        first[slot] = min(first[slot], max(0, place))


class CountFamily(Family):
    """Count windows of several sizes."""

    def __init__(self, kinds: Sequence["CountKind"]) -> None:
        self._setting = kinds[0].setting
        self._sizes = np.array([each.window.size for each in kinds], np.int64)
        self._everys = np.array([each.window.every for each in kinds], np.int64)

    def due(self, held: StreamView, owns: Sequence[Array], moment: Moment, expected: int = 0) -> Ended:
        slices, setting = held.slices, self._setting
        until = slices.firsts.dtype.type(setting.highest if setting.in_order else moment.until)
        partial = setting.emits_partial and moment.is_end
        fired = _table(owns, slices.keys)
        which = np.empty(0, np.int64)

        def run(out: Any) -> int:
            nonlocal which
            which = np.empty(len(out[0]), np.int64)
            windows, rows = (self._sizes, self._everys), (slices.ranks, slices.seen)
            return _ended_counts(view_of(slices), *rows, moment.slots, *windows, fired, until, partial, which, out)

        ended = collect(run, max(len(moment.slots), expected), np.int64)
        return replace(ended, which=which[: len(ended)])

    def remember(self, owns: Sequence[Array], ended: Ended) -> None:
        which = ended.which
        assert which is not None
        following = ended.starts // self._everys[which] + 1
        begins = np.flatnonzero(np.diff(which, prepend=-1))  # the kernel writes window after window
        for begin, end in pairwise([*begins.tolist(), len(which)]):
            np.maximum.at(owns[which[begin]], ended.slots[begin:end], following[begin:end])

    def keep_places(self, slices: Slices, owns: Sequence[Array], first: Array) -> None:
        """Keep the slice with the first rank of a window that was not emitted, and newer slices."""
        oldest = (_table(owns, slices.keys) * self._everys[:, None]).min(axis=0)
        _keep_ranks(slices.begin, slices.count, slices.order, slices.ranks, oldest, first)


def _table(owns: Sequence[Array], keys: int) -> Array:
    """Return the numbers of several queries, one row each."""
    return owns[0][None, :keys] if len(owns) == 1 else np.stack([each[:keys] for each in owns])


class CountKind(PerKey):
    """Windows of ranks. The state is the first window that was not emitted, per key."""

    describes = Rows
    rebuild = staticmethod(lambda size, every: sliding(rows=size, every=every))
    shows_open: ClassVar[bool] = False  # `moments` includes them
    keeps_keys: ClassVar[bool] = True
    keeps: ClassVar[str] = "windows of rows that were sent"
    family: ClassVar[type[Family] | None] = CountFamily

    def __init__(self, window: Any, setting: Setting) -> None:
        super().__init__(window, setting)
        self._alone = CountFamily([self])

    def rank_cuts(self) -> list[tuple[int, int]]:
        return [(self.window.every, phase % self.window.every) for phase in (0, self.window.size)]

    def slices_per_window(self, edges_per_unit: float) -> float:
        return max(1.0, float(self.window.size) * edges_per_unit)

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
        return replace(self._alone.due(held, [own], moment), which=None)

    def remember(self, own: Array, ended: Ended, push: Push) -> None:
        if not self.setting.has_revisions:
            np.maximum.at(own, ended.slots, ended.starts // self.window.every + 1)

    # --- what is needed ------------------------------------------------------------------------------

    def keep_places(self, slices: Slices, own: Array, final: Any, first: Array) -> None:
        self._alone.keep_places(slices, [own], first)

    def find_final(self, slices: Slices, own: Array, final: Any, emitted: Any) -> Array:
        """Return which emitted windows are final: all their rows are placed for good, or those of a later window."""
        whole = np.flatnonzero(emitted.ends <= slices.seen[emitted.slots])
        np.maximum.at(own, emitted.slots[whole], emitted.starts[whole] // self.window.every + 1)
        return np.asarray(emitted.starts < (own * self.window.every)[emitted.slots])
