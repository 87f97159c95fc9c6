"""Where slices end, besides at the edges of a batch: at ranks, at gaps, at each row.

Few count windows compute the next rank to cut at from their sizes. Of many, the ranks near the rows are marked in one
array, so that the cost of a row does not grow with the number of windows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.slicing.slices import NO_CUT, Array

__all__ = ["CutMarks", "Cuts", "is_cut", "next_cut"]

_FEW = 8  # cuts that are computed, not marked
_AHEAD = 4096  # ranks that are marked beyond those of a batch, for later ones
_SPARSE = 256  # ranks per row, or per slice, that are marked at most


@dataclass(frozen=True)
class Cuts:
    """Where slices end, besides at the edges of a batch."""

    every: Array  # ranks at which count windows start or end: multiples of `every`, moved by `phase`
    phase: Array
    gap: Any  # the smallest gap of a session; negative: there are none
    is_each_row: bool = False  # a window can start at any row, so each row is a slice of its own
    has_tails: bool = False
    first: int = 0  # the rank of the first mark
    marks: Array | None = None  # whether there is a cut at each rank from `first` on; None: nothing is marked

    @classmethod
    def none(cls) -> "Cuts":
        """Return no cuts."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), -1)

    def values(self, kind: Any) -> tuple[Any, ...]:
        """Return what kernels get, for positions of this type."""
        marks = np.zeros(0, np.bool_) if self.marks is None else self.marks
        return (self.every, self.phase, self.first, marks), kind(self.gap), self.is_each_row, self.has_tails

    @property
    def per_row(self) -> float:
        """The number of cuts per row, at most 1."""
        return min(1.0, float((1 / self.every).sum()))

    def from_ranks(self, ranks: Array) -> Array:
        """Return the first cut that is not before each of these ranks."""
        out = np.empty(len(ranks), np.int64)
        if len(ranks):
            _cuts_from(self.marked(int(ranks.min()), int(ranks.max()), len(ranks)).values(int)[0], ranks, out)
        return out

    def marked(self, low: int, high: int, count: int) -> "Cuts":
        """Return the same cuts, marked from one rank to another if that pays for this many rows or slices."""
        if len(self.every) <= _FEW or high - low > _SPARSE * count + _AHEAD:
            return self
        marks = np.zeros(high - low + _AHEAD, np.bool_)
        _mark(self.every, self.phase, low, marks)
        return replace(self, first=low, marks=marks)


class CutMarks:
    """The cuts of a plan, marked near the rows of a batch; the last marks are kept for reuse."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts

    def near(self, ranks: Array, rows: int) -> Cuts:
        """Return the cuts, with marks for this many rows from each of these ranks on."""
        cuts = self._cuts
        if len(cuts.every) <= _FEW or not len(ranks):
            return cuts
        low, high = int(ranks.min()), int(ranks.max()) + rows
        if cuts.marks is None or not cuts.first <= low <= high < cuts.first + len(cuts.marks):
            cuts = self._cuts = replace(cuts, first=0, marks=None).marked(low, high, rows)
        return cuts


@kernel
def _mark(every: Any, phase: Any, low: int, marks: Any) -> None:
    for k in range(len(every)):
        for at in range((phase[k] - low) % every[k], len(marks), every[k]):
            marks[at] = True


@jitable
def next_cut(ranks: Any, rank: int) -> int:
    """Return the first rank after this one at which a count window starts or ends."""
    every, phase, first, marks = ranks
    if rank >= first:
        for at in range(rank + 1 - first, len(marks)):
            if marks[at]:
                return int(first + at)
    nearest = NO_CUT
    for k in range(len(every)):
        at = rank - (rank - phase[k]) % every[k] + every[k]
        nearest = min(nearest, at)
    return int(nearest)


@jitable
def is_cut(ranks: Any, rank: int) -> bool:
    """Return whether a count window starts or ends at this rank."""
    every, phase, first, marks = ranks
    if first <= rank < first + len(marks):
        return bool(marks[rank - first])
    found = False
    for k in range(len(every)):
        found = found or (rank - phase[k]) % every[k] == 0
    return found


@kernel
def _cuts_from(cut_ranks: Any, ranks: Any, out: Any) -> None:
    for k in range(len(ranks)):
        out[k] = ranks[k] if is_cut(cut_ranks, ranks[k]) else next_cut(cut_ranks, ranks[k])
