"""Which rows the frame of each row holds, as ranges of sorted rows that only move forward.

Idea      Rows are sorted by key and order. The ends of a frame are looked up in an ascending line: the numbers of rows,
          the numbers of groups, or positions. From one row to the next of a key, neither end moves back.
Picture     key a                                  i: the row       g0, g1: the rows of its group
            [ . . l x x g0 x i x g1 x x r . . )    exclude row      [l, i)   and [i + 1, r)
                                                   exclude group    [l, g0)  and [g1, r)
                                                   exclude ties     [l, g0), {i} and [g1, r)
Keeps     F1  0 ≤ start ≤ end ≤ rows, within the key; an empty range is [x, x)
          F2  starts and ends of each part never decrease
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.engine.frame import Extent
from sash.slicing.slices import Array

__all__ = ["Line", "Ranges", "check", "ranges_of"]


@dataclass(frozen=True)
class Line:
    """Sorted rows: where their keys begin, their positions in the order, and the number of their group of peers."""

    begins: Array  # the first row of each key
    slots: Array  # the number of the key of each row, ascending
    positions: Array  # ascending within a key: of a descending order, negated
    groups: Array  # one number for each set of equal rows, ascending

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def key_starts(self) -> Array:
        """The first row of the key of each row."""
        return np.repeat(self.begins, np.diff(self.begins, append=len(self)))

    @property
    def key_ends(self) -> Array:
        """The end of the key of each row."""
        sizes = np.diff(self.begins, append=len(self))
        return np.repeat(self.begins + sizes, sizes)


@dataclass(frozen=True)
class Ranges:
    """The parts of each frame, oldest first: one, or three with `exclude`; the middle one is the row or nothing."""

    starts: Array  # a line per part, a column per row
    ends: Array

    @property
    def is_whole(self) -> bool:
        """Whether each frame is one range."""
        return len(self.starts) == 1

    @property
    def sizes(self) -> Array:
        """How many rows each frame has."""
        return np.asarray((self.ends - self.starts).sum(axis=0))

    def count(self, is_counted: Array) -> Array:
        """Return how many rows of each frame are counted."""
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_counted)])
        return np.asarray((before[self.ends] - before[self.starts]).sum(axis=0))


def ranges_of(extent: Extent, line: Line) -> Ranges:
    """Return the ranges of the frame of each row."""
    starts, ends = _whole(extent, line)
    if extent.exclude is None:
        return Ranges(starts[None], ends[None])
    rows = np.arange(len(line))
    if extent.exclude == "row":
        low, high = rows, rows + 1
    else:
        is_first = np.ones(len(line), np.bool_)
        is_first[1:] = line.groups[1:] != line.groups[:-1]
        firsts = np.flatnonzero(is_first)
        sizes = np.diff(firsts, append=len(line))
        low, high = np.repeat(firsts, sizes), np.repeat(firsts + sizes, sizes)
    low, high = np.clip(low, starts, ends), np.clip(high, starts, ends)
    own = np.clip(rows, starts, ends)
    own_ends = np.clip(rows + 1, starts, ends) if extent.exclude == "ties" else own
    return Ranges(np.stack([starts, own, high]), np.stack([low, own_ends, ends]))


def _whole(extent: Extent, line: Line) -> tuple[Array, Array]:
    begins, finishes = line.key_starts, line.key_ends
    low, high = extent.low, extent.high
    if extent.unit == "rows":
        rows, most = np.arange(len(line)), len(line)
        starts = begins if low is None else np.clip(rows + max(low, -most), begins, finishes)
        ends = finishes if high is None else np.clip(rows + min(max(high, -most), most) + 1, begins, finishes)
        return starts, np.maximum(starts, ends)
    values = line.groups if extent.unit == "groups" else line.positions
    kind = values.dtype.type
    starts, ends = begins.copy(), finishes.copy()
    if low is not None:
        _find_edges(values, begins, finishes, kind(low), extent.is_low_open, starts)
    if high is not None:
        _find_edges(values, begins, finishes, kind(high), not extent.is_high_open, ends)
    return starts, np.maximum(starts, ends)


@kernel
def _find_edges(values: Any, begins: Any, ends: Any, shift: Any, is_after: bool, found: Any) -> None:
    """Write for each row the first row of its key at or after value + shift; if `is_after`, the first one after it.

    Values are compared with value + shift, as in SQL; for floats, the difference of two values may be another number.
    """
    edge = 0
    for row in range(len(values)):
        edge = max(edge, begins[row])
        wanted = values[row] + shift
        while edge < ends[row] and (values[edge] < wanted or (is_after and values[edge] == wanted)):
            edge += 1
        found[row] = edge


def check(ranges: Ranges, line: Line) -> None:
    """Assert the F-lines."""
    begins, finishes = line.key_starts, line.key_ends
    for starts, ends in zip(ranges.starts, ranges.ends, strict=True):
        assert (begins <= starts).all() and (starts <= ends).all() and (ends <= finishes).all(), "F1"
        assert (np.diff(starts) >= 0).all() and (np.diff(ends) >= 0).all(), "F2"
