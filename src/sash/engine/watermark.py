"""The watermark: which rows it accepts, and how it moves.

The watermark before a push decides which of its rows are accepted; then the watermark moves. Both rules are only here.
"""

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sash.algebra.compiler import kernel
from sash.errors import InvalidInput
from sash.slicing.slices import Array
from sash.windows.lengths import is_number
from sash.windows.measure import Measure

__all__ = ["AcceptedRows", "Watermarks", "is_ascending", "pending_watermark"]

_NO_ROWS = np.zeros(0, np.int64)


class AcceptedRows(NamedTuple):
    """The places of the accepted rows of a push; None: all of them."""

    accepted: Array | None
    rows: int

    @property
    def rejected(self) -> Array:
        """The places of rows that are too late, or have no position."""
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
    delay: Any = None  # behind the newest row; None: only the user moves the watermark
    in_order: bool = False  # each row is a watermark

    def final(self, watermark: Any) -> Any:
        """Return the position before which no row is accepted any more."""
        measure = self.measure
        if self.lateness == 0 or watermark == measure.lowest or watermark == measure.highest:
            return watermark
        final = max(watermark - self.lateness, measure.lowest)
        return measure.lowest if measure.dtype.kind == "f" and final < -measure.reach else final

    def accept(self, watermark: Any, positions: Array, valid: Array | None) -> AcceptedRows:
        """Accept rows by the watermark before the push; in an ordered stream, each by the rows before it."""
        rows = len(positions)
        if not rows:
            return AcceptedRows(None, 0)
        if self.in_order:
            if valid is None and is_ascending(positions, watermark):
                return AcceptedRows(None, rows)
            seen = positions if valid is None else np.where(valid, positions, self.measure.lowest)
            accepted = positions >= np.maximum.accumulate(np.concatenate([[watermark], seen])[:-1])
        else:
            final = self.final(watermark)
            if valid is None and positions.min() >= final:
                return AcceptedRows(None, rows)
            accepted = positions >= final
        if valid is not None:
            accepted &= valid
        return AcceptedRows(None if accepted.all() else np.flatnonzero(accepted), rows)

    def within_reach(self, position: Any) -> Any:
        """Return a watermark, limited to positions that rows can have."""
        if self.measure.dtype.kind != "f" or abs(position) in (0.0, math.inf):
            return position
        return min(max(position, -self.measure.reach), self.measure.reach)

    def after(self, watermark: Any, newest: Any, given: Any = None) -> Any:
        """Return the watermark after a push: the given one, or that of the newest row; it never moves back."""
        after = watermark if given is None else max(watermark, self.within_reach(given))
        if self.in_order:
            return max(after, newest)
        if self.delay is None or newest == self.measure.lowest:
            return after
        return max(after, self.within_reach(newest - self.delay))


@kernel
def _ascends(positions: Any, least: Any) -> bool:
    goes_back = positions[0] < least
    for row in range(1, len(positions)):  # no early exit, so that the loop is vectorized
        goes_back |= positions[row] < positions[row - 1]
    return not goes_back


def is_ascending(positions: Array, least: Any) -> bool:
    """Return whether no position goes back, and none is before `least`."""
    return bool(_ascends(positions, positions.dtype.type(least)))


def pending_watermark(watermark: Any, before: list[Any]) -> Any:
    """Return the largest of watermarks that come before the first row, when the type of `on` is not known yet."""
    if isinstance(watermark, np.datetime64):
        watermark = watermark.astype("datetime64[us]").item()
    elif hasattr(watermark, "to_pydatetime"):  # pandas
        watermark = watermark.to_pydatetime(warn=False)
    elif isinstance(watermark, np.generic) and is_number(watermark):
        watermark = watermark.item()
    is_usable = isinstance(watermark, int | float | dt.date) and not isinstance(watermark, bool)
    if not is_usable or watermark != watermark:
        raise InvalidInput.option("watermark", watermark, "a number or a time, like `on`")
    if math.inf in (watermark, *before):  # the end of the stream, whatever `on` is
        return math.inf
    try:
        return max([*before, watermark])
    except TypeError as error:
        expected = f"of the same kind as the watermark before it, {before[0]!r}"
        raise InvalidInput.option("watermark", watermark, expected) from error
