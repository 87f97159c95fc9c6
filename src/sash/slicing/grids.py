"""Find the ended windows of several grids in one call. A grid is a set of windows with regular starts and ends."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.slicing.slicer import edge, index_of
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended, advance, collect, find_first, find_near, is_whole, view_of, write
from sash.windows.grid import Grid

__all__ = ["Grids", "ended_on_grids"]


@dataclass(frozen=True)
class Grids:
    """Several grids: window k of a grid starts at its edge k (`phases`) and ends at edge k + whole (`end_phases`)."""

    steps: Array
    phases: Array
    end_phases: Array
    units: Array
    wholes: Array

    @classmethod
    def of(cls, grids: Sequence[Grid], dtype: Any) -> "Grids":
        """Return these grids as arrays."""
        kinds = {"step": dtype, "phase": dtype, "end_phase": dtype, "unit": dtype, "whole": np.int64}
        return cls(*(np.array([getattr(each, name) for each in grids], kind) for name, kind in kinds.items()))

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays that kernels read."""
        return self.steps, self.phases, self.end_phases, self.units, self.wholes

    def first_end(self, after: Any) -> Any:
        """Return the first end of a window after a position."""
        return _first_end(self.arrays, self.steps.dtype.type(after))[0]

    def oldest_start(self, after: Any) -> Any:
        """Return the first start of a window that ends after a position."""
        return _first_end(self.arrays, self.steps.dtype.type(after))[1]


@kernel
def _first_end(grids: Any, after: Any) -> Any:
    steps, phases, end_phases, units, wholes = grids
    k = index_of(steps[0], end_phases[0], units[0], after) + 1
    end = edge(steps[0], end_phases[0], units[0], k)
    start = edge(steps[0], phases[0], units[0], k - wholes[0])
    for j in range(1, len(steps)):
        k = index_of(steps[j], end_phases[j], units[j], after) + 1
        end = min(end, edge(steps[j], end_phases[j], units[j], k))
        start = min(start, edge(steps[j], phases[j], units[j], k - wholes[j]))
    return end, start


@kernel
def _ended_on_grids(
    arrays: Any, slots: Any, grids: Any, after: Any, until: Any, are_cut: bool, which: Any, out: Any
) -> int:
    begins, counts, firsts, lasts, order = arrays
    steps, phases, end_phases, units, wholes = grids
    written = 0
    for window in range(len(steps)):
        step, phase, end_phase, unit = steps[window], phases[window], end_phases[window], units[window]
        whole = wholes[window]
        before = written
        for slot in slots:
            begin, count = begins[slot], counts[slot]
            if count == 0:
                continue
            # The first window that ends after `after` and after the oldest row.
            oldest = max(after, firsts[order[begin]])
            k = index_of(step, end_phase, unit, oldest) + 1 - whole
            if edge(step, end_phase, unit, k + whole) > until:
                continue
            low = find_first(firsts, order, begin, count, edge(step, phase, unit, k))
            high, held = low, 1
            while low < count:
                start = edge(step, phase, unit, k)
                end = edge(step, end_phase, unit, k + whole)
                if end > until:
                    break
                if high > low and firsts[order[begin + high - 1]] < start:
                    low = high
                low = advance(firsts, order, begin, count, low, start)
                if low == count:
                    break
                nearest = firsts[order[begin + low]]
                if nearest >= end:  # no row in this window: jump to the first window that holds the next slice
                    k = max(k + 1, index_of(step, end_phase, unit, nearest) + 1 - whole)
                    continue
                # Windows of one grid hold about the same number of slices, so the last count is a good guess.
                high = find_near(firsts, order, begin, count, max(high, low), low + held, end)
                held = high - low
                if are_cut or is_whole(lasts, order, begin, low, high, start, end):
                    written = write(out, written, slot, start, end, begin + low, begin + high)
                k += 1
        for place in range(min(before, len(which)), min(written, len(which))):
            which[place] = window
    return written


def ended_on_grids(
    slices: Slices, slots: Array, grids: Grids, after: Any, until: Any, expected: int = 0, are_cut: bool = False
) -> Ended:
    """Return the windows of these grids with after < end ≤ until; `which` numbers the grid of each.

    `expected` is a guess of how many there are. `are_cut` promises that every slice was made after the windows were
    added, so no slice straddles an edge.
    """
    dtype = slices.firsts.dtype
    after, until = dtype.type(after), dtype.type(until)
    which = np.empty(0, np.int64)

    def run(out: Any) -> int:
        nonlocal which
        which = np.empty(len(out[0]), np.int64)
        return _ended_on_grids(view_of(slices), slots, grids.arrays, after, until, are_cut, which, out)

    ended = collect(run, max(len(slots), expected), dtype)
    return replace(ended, which=which[: len(ended)])
