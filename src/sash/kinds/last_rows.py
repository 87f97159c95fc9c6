"""The last rows at regular positions: the size is a number of rows, the ends are positions."""

from typing import Any, ClassVar

from sash.algebra.compiler import kernel
from sash.kinds.kind import Kind, Moment, Same, StreamView
from sash.slicing.slicer import edge, index_of, last_started, start_of
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import MOST_ENDED, Ended, advance, collect, view_of, write
from sash.windows.built_in import LastRows, sliding

__all__ = ["LastRowsKind"]


@kernel
def _ended_last_rows(
    arrays: Any, slots: Any, rows: int, grid: Any, since: Any, after: Any, until: Any, out: Any
) -> int:
    begins, counts, firsts, _lasts, order = arrays
    step, phase, unit = grid
    written = 0
    expected = 0.0
    for slot in slots:
        begin, count = begins[slot], counts[slot]
        oldest = 0
        while oldest < count and firsts[order[begin + oldest]] <= since:
            oldest += 1
        if oldest == count:
            continue
        k = index_of(step, phase, unit, max(after, firsts[order[begin + oldest]])) + 1
        if until > edge(step, phase, unit, k):
            expected += float(until - edge(step, phase, unit, k)) * float(unit) / float(step)
        if expected > MOST_ENDED:
            return -1
        high = oldest
        while edge(step, phase, unit, k) <= until:
            end = edge(step, phase, unit, k)
            high = advance(firsts, order, begin, count, high, end)
            low = max(oldest, high - rows)
            written = write(out, written, slot, firsts[order[begin + low]], end, begin + low, begin + high)
            k += 1
    return written


@kernel
def _keep_last_rows(arrays: Any, rows: int, final: Any, first: Any) -> None:
    begins, counts, firsts, _lasts, order = arrays
    for slot in range(len(begins)):
        settled = 0
        while settled < counts[slot] and firsts[order[begins[slot] + settled]] <= final:
            settled += 1
        first[slot] = min(first[slot], max(0, settled - rows))


class LastRowsKind(Kind):
    """At each multiple of `every`, the last rows before it."""

    describes = LastRows
    rebuild = staticmethod(sliding)
    same_window: ClassVar[Same] = Same.END
    shows_open: ClassVar[bool] = False
    keeps_keys: ClassVar[bool] = True
    needs_newest: ClassVar[bool] = True

    def slices_per_window(self, edges_per_unit: float) -> float:
        return float(self.window.rows)

    def _end_after(self, position: Any) -> Any:
        if abs(position) == float("inf"):
            return position
        return start_of(self.window.grid, last_started(self.window.grid, position) + 1)

    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        slices, dtype = held.slices, held.slices.firsts.dtype
        if moment.is_end and not held.has_rows:
            return Ended.none(dtype)
        # At the end of the stream, one more window ends after the last row.
        last = self._end_after(held.newest) if moment.is_end else moment.until
        grid = self.window.grid
        edges = tuple(dtype.type(each) for each in (grid.step, grid.phase, grid.unit))
        since, after = dtype.type(held.each_row_since), dtype.type(moment.after)
        until = dtype.type(min(last, moment.until))
        return collect(
            lambda out: _ended_last_rows(
                view_of(slices), moment.slots, self.window.rows, edges, since, after, until, out
            ),
            len(moment.slots),
            dtype,
        )

    def keep_places(self, slices: Slices, own: Any, final: Any, first: Array) -> None:
        """Keep the last rows before the position that is final, and newer rows; each row is a slice."""
        _keep_last_rows(view_of(slices), self.window.rows, slices.ends.dtype.type(final), first)

    def next_end(self, held: StreamView) -> Any:
        numbers, _ = held.slices.list_all()
        if not len(numbers) or held.watermark >= self.setting.highest:
            return None
        return self._end_after(max(held.slices.firsts[numbers].min().item(), held.watermark))
