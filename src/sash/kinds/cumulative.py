"""Cumulative windows: they start every `size` and grow by `every` until the next start."""

from typing import Any

from sash.algebra.compiler import kernel
from sash.kinds.kind import Moment, StreamView
from sash.kinds.sliding import GridKind
from sash.slicing.slicer import Progression, cutty, edge, end_of, index_of, indices_of, last_started, start_of
from sash.slicing.slices import Array
from sash.slicing.window_manager import Ended, advance, collect, is_whole, view_of, write
from sash.windows.built_in import Cumulative, cumulative

__all__ = ["CumulativeKind"]


@kernel
def _ended_cumulatives(
    arrays: Any, slots: Any, steps: int, step: Any, phase: Any, unit: Any, after: Any, until: Any, out: Any
) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        if count == 0:
            continue
        k = index_of(step, phase, unit, max(after, firsts[order[begin]])) + 1
        low, high = 0, 0
        while True:
            start = edge(step, phase, unit, (k - 1) // steps * steps)
            end = edge(step, phase, unit, k)
            if end > until:
                break
            low = advance(firsts, order, begin, count, low, start)
            if low == count:
                break
            nearest = firsts[order[begin + low]]
            if nearest >= end:
                k = max(k + 1, index_of(step, phase, unit, nearest) + 1)
                continue
            high = advance(firsts, order, begin, count, max(high, low), end)
            if is_whole(lasts, order, begin, low, high, start, end):
                written = write(out, written, slot, start, end, begin + low, begin + high)
            k += 1
    return written


class CumulativeKind(GridKind):
    """Windows that grow."""

    describes = Cumulative
    rebuild = staticmethod(cumulative)

    def progressions(self) -> list[Progression]:
        return cutty(self.grid)

    def starts(self) -> list[Progression]:
        return [Progression(self.grid.step * self.grid.whole, self.grid.phase, self.grid.unit)]

    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        if self.end_after(moment.after) > moment.until:
            return Ended.none(self.setting.dtype)
        grid, slices, dtype = self.grid, held.slices, held.slices.firsts.dtype
        numbers = (grid.step, grid.phase, grid.unit, moment.after, moment.until)
        step, phase, unit, after, until = (dtype.type(each) for each in numbers)
        return collect(
            lambda out: _ended_cumulatives(
                view_of(slices), moment.slots, grid.whole, step, phase, unit, after, until, out
            ),
            len(moment.slots),
            dtype,
        )

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        whole = self.grid.whole
        oldest = start_of(self.grid, last_started(self.grid, final) // whole * whole)
        return oldest, oldest

    def end_after(self, position: Any) -> Any:
        if abs(position) == float("inf"):
            return position
        return start_of(self.grid, last_started(self.grid, position) + 1)

    def last_end(self, position: Any) -> Any:
        whole = self.grid.whole
        return end_of(self.grid, last_started(self.grid, position) // whole * whole)

    def numbers(self, since: Array, newest: Array) -> tuple[Array, Array]:
        """Return the numbers of windows, which are those of their ends."""
        grid = self.grid
        first = indices_of(grid.step, grid.phase, grid.unit, since) + 1
        return first, (indices_of(grid.step, grid.phase, grid.unit, newest) // grid.whole + 1) * grid.whole
