"""The watermark: which rows it accepts, and how it follows them.

Rows of one push are judged by the watermark before it; then the watermark moves. Both rules are here and nowhere else.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sash.algebra.compiler import kernel
from sash.slicing.slices import Array
from sash.windows.measure import Measure

__all__ = ["Judged", "Watermarks"]

_NO_ROWS = np.zeros(0, np.int64)


class Judged(NamedTuple):
    """Which rows of a push are accepted, by place; None: all of them."""

    accepted: Array | None
    rows: int

    @property
    def rejected(self) -> Array:
        """The places of rows that came too late, or have no position."""
        if self.accepted is None:
            return _NO_ROWS
        mask = np.ones(self.rows, np.bool_)
        mask[self.accepted] = False
        return np.flatnonzero(mask)


@dataclass(frozen=True)
class Watermarks:
    """The rules of one stream."""

    measure: Measure
    lateness: Any = 0  # in positions
    delay: Any = None  # behind the newest row; None: only the user moves it
    in_order: bool = False  # each row is a watermark

    def final(self, watermark: Any) -> Any:
        """Return the position before which no row is accepted any more."""
        measure = self.measure
        if self.lateness == 0 or watermark == measure.lowest or watermark == measure.highest:
            return watermark
        final = max(watermark - self.lateness, measure.lowest)
        return measure.lowest if measure.dtype.kind == "f" and final < -measure.reach else final

    def judge(self, watermark: Any, positions: Array, valid: Array | None) -> Judged:
        """Judge rows by the watermark before the push; in an ordered stream, each by the rows before it."""
        rows = len(positions)
        if not rows:
            return Judged(None, 0)
        if self.in_order:
            if valid is None and is_ascending(positions, watermark):
                return Judged(None, rows)
            seen = positions if valid is None else np.where(valid, positions, self.measure.lowest)
            accepted = positions >= np.maximum.accumulate(np.concatenate([[watermark], seen])[:-1])
        else:
            final = self.final(watermark)
            if valid is None and positions.min() >= final:
                return Judged(None, rows)
            accepted = positions >= final
        if valid is not None:
            accepted &= valid
        return Judged(None if accepted.all() else np.flatnonzero(accepted), rows)

    def within_reach(self, position: Any) -> Any:
        """Return a watermark, no further than rows can be."""
        if self.measure.dtype.kind != "f" or abs(position) in (0.0, math.inf):
            return position
        return min(max(position, -self.measure.reach), self.measure.reach)

    def after(self, watermark: Any, newest: Any, given: Any = None) -> Any:
        """Return the watermark after a push: the one given with it, or what follows the newest row; never back."""
        after = watermark if given is None else max(watermark, self.within_reach(given))
        if self.in_order:
            return max(after, newest)
        if self.delay is None or newest == self.measure.lowest:
            return after
        return max(after, self.within_reach(newest - self.delay))


@kernel
def _ascends(positions: Any, least: Any) -> bool:
    goes_back = positions[0] < least
    for row in range(1, len(positions)):  # to the end in any case: so it is done for several rows at once
        goes_back |= positions[row] < positions[row - 1]
    return not goes_back


def is_ascending(positions: Array, least: Any) -> bool:
    """Return whether no position goes back, and none is before `least`."""
    return bool(_ascends(positions, positions.dtype.type(least)))
