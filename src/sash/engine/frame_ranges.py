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
from functools import cached_property
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.engine.frame import Extent
from sash.slicing.slices import Array

__all__ = ["Line", "Ranges", "check", "find_edges", "ranges_of"]


@dataclass(frozen=True)
class Line:
    """Sorted rows: where their keys begin, and their positions in the order."""

    begins: Array  # the first row of each key
    slots: Array  # the number of the key of each row, ascending
    positions: Array  # ascending within a key: of a descending order, negated
    further: tuple[Array, ...] = ()  # the ranks of rows in further columns of the order

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def groups(self) -> Array:
        """A number for each set of peers, which are equal in the whole order, ascending."""
        parts = (self.slots, self.positions, *self.further)
        is_new = np.logical_or.reduce([each[1:] != each[:-1] for each in parts])
        return np.cumsum(np.append(np.zeros(min(1, len(self)), np.bool_), is_new))

    @cached_property
    def key_starts(self) -> Array:
        """The first row of the key of each row."""
        return np.repeat(self.begins, np.diff(self.begins, append=len(self)))

    @cached_property
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
    low, high = extent.low, extent.high
    if extent.unit == "rows":
        most = len(line)
        starts, ends = (None if end is None else min(max(end, -most), most) for end in (low, high))
        return _row_edge(line, starts, 0), _row_edge(line, ends, 1)
    begins, finishes = line.key_starts, line.key_ends
    values = line.groups if extent.unit == "groups" else line.positions
    kind = values.dtype.type
    starts, ends = begins.copy(), finishes.copy()
    if low is not None:
        find_edges(values, values, begins, finishes, kind(low), extent.is_low_open, starts)
    if high is not None:
        find_edges(values, values, begins, finishes, kind(high), not extent.is_high_open, ends)
    return starts, np.maximum(starts, ends)


def _row_edge(line: Line, shift: int | None, after: int) -> Array:
    """Return the row so many rows from each row, or the one after it, within its key; None: an end of the key."""
    if shift is None:
        return line.key_ends if after else line.key_starts
    edges = np.arange(shift + after, shift + after + len(line))
    if shift < 0:
        np.maximum(edges, line.key_starts, out=edges)
    if shift > 0:
        np.minimum(edges, line.key_ends, out=edges)
    return edges


@kernel
def find_edges(values: Any, asking: Any, begins: Any, ends: Any, shift: Any, is_after: bool, found: Any) -> None:
    """Write for each asking value the first of the values in its range [begin, end) that is at or after it + shift.

    If `is_after`, write the first one after that. Values are compared with the sum, as in SQL; for floats, the
    difference of two values may be another number.
    """
    edge = 0
    for row in range(len(asking)):
        edge = max(edge, begins[row])
        wanted = asking[row] + shift
        while edge < ends[row] and (values[edge] < wanted or (is_after and values[edge] == wanted)):
            edge += 1
        found[row] = edge


def check(ranges: Ranges, line: Line) -> None:
    """Assert the F-lines."""
    begins, finishes = line.key_starts, line.key_ends
    for starts, ends in zip(ranges.starts, ranges.ends, strict=True):
        assert (begins <= starts).all() and (starts <= ends).all() and (ends <= finishes).all(), "F1"
        assert (np.diff(starts) >= 0).all() and (np.diff(ends) >= 0).all(), "F2"
