"""Where to cut: the edges of context-free windows, as one sorted array for a batch of positions.

A grid of windows is a few progressions: edges at phase + k · period + shift for every whole k. A batch is cut by all
edges from its smallest to its largest position, or, where its rows are far apart, by the one edge after each row.
Both arrays give every row of the batch the same next edge. Panes, Pairs and Cutty differ in which progressions they
make of a window. Plans cut by Pairs: Panes cuts more often, and Cutty's slices are whole only when rows are taken
one by one, where a push brings many.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.slicing.slices import Array

__all__ = ["Cutter", "Edges", "Progression", "cutty", "edge_after", "pairs", "panes"]


@dataclass(frozen=True, order=True)
class Progression:
    """Edges at phase + k · period + shift. The shift is a window's size: kept apart, it rounds as the window does."""

    period: Any
    phase: Any
    shift: Any = 0

    def normal(self) -> "Progression":
        """Of whole numbers, the one way to write these edges."""
        if isinstance(self.period, int):
            return Progression(self.period, (self.phase + self.shift) % self.period, 0)
        return self


def panes(size: Any, every: Any, offset: Any) -> list[Progression]:
    """Slices of equal length, of which every window is a whole number (Li et al., 2005)."""
    pane = math.gcd(size, every) if isinstance(size, int) else None
    return [Progression(pane, offset)] if pane else pairs(size, every, offset)


def pairs(size: Any, every: Any, offset: Any) -> list[Progression]:
    """An edge where a window starts and one where it ends: at most two slices per slide (Krishnamurthy et al. 2006)."""
    return [Progression(every, offset), Progression(every, offset, size)]


def cutty(size: Any, every: Any, offset: Any) -> list[Progression]:
    """An edge only where a window starts: enough if rows are in order, for then a slice is whole when a window ends
    inside it (Carbone et al., 2016).
    """
    return [Progression(every, offset)]


@dataclass(frozen=True)
class Edges:
    """All edges of a set of context-free windows."""

    period: Array
    phase: Array
    shift: Array
    points: Array

    @classmethod
    def of(cls, progressions: Iterable[Progression], points: Iterable[Any], dtype: Any) -> "Edges":
        """Progressions whose edges another one has already are left out."""
        distinct = sorted({each.normal() for each in progressions})
        kept: list[Progression] = []
        for each in distinct:
            covered = isinstance(each.period, int) and any(
                each.period % other.period == 0 and (each.phase - other.phase) % other.period == 0 for other in kept
            )
            if not covered:
                kept.append(each)
        period, phase, shift = (
            np.array([getattr(each, name) for each in kept], dtype) for name in ("period", "phase", "shift")
        )
        return cls(period, phase, shift, np.array(sorted(set(points)), dtype))

    def per_unit(self) -> float:
        """How many edges there are for each unit of position."""
        return float((1.0 / self.period).sum()) if len(self.period) else 0.0


@jitable
def edge_after(period: Any, phase: Any, shift: Any, position: Any) -> Any:
    """The first edge of a progression after a position."""
    k = (position - phase - shift) // period
    while phase + k * period + shift > position:  # a quotient of floats may be off by one
        k -= 1
    while phase + k * period + shift <= position:
        k += 1
    return phase + k * period + shift


@kernel
def _all_edges(period: Any, phase: Any, shift: Any, low: Any, high: Any, out: Any) -> int:
    """Every edge after `low` up to and with the first after `high`; how many there are, if there is room or not."""
    count = 0
    for j in range(len(period)):
        edge = edge_after(period[j], phase[j], shift[j], low)
        while True:
            if count < len(out):
                out[count] = edge
            count += 1
            if edge > high:
                break
            edge = edge_after(period[j], phase[j], shift[j], edge)
    return count


@kernel
def _next_edges(period: Any, phase: Any, shift: Any, points: Any, positions: Any, highest: Any, out: Any) -> None:
    for row in range(len(positions)):
        if row > 0 and out[row - 1] > positions[row] and positions[row] >= positions[row - 1]:
            out[row] = out[row - 1]
            continue
        nearest = highest
        for j in range(len(period)):
            nearest = min(nearest, edge_after(period[j], phase[j], shift[j], positions[row]))
        for j in range(len(points)):
            if points[j] > positions[row]:
                nearest = min(nearest, points[j])
        out[row] = nearest


# A sorted array of edges is made for a stretch of at least so many, and used again for later batches within it.
_AHEAD = 256


class Cutter:
    """Cuts batches by the edges of a fixed set of windows; remembers the edges of the last stretch."""

    def __init__(self, edges: Edges, lowest: Any, highest: Any) -> None:
        self.edges = edges
        self._ends = np.array([lowest, highest], edges.period.dtype)
        self._stretch = self._ends
        self._from, self._until = highest, lowest

    def cut(self, positions: Array, low: Any, high: Any, others: Iterable[Array] = ()) -> Array:
        """A sorted array, from the lowest position there is to the highest, such that the first value in it after each
        of these positions, all from `low` to `high`, is the first edge after it; `others` are edges of users' windows.
        """
        others = list(others)
        if not len(positions) or not (len(self.edges.period) or len(self.edges.points) or others):
            return self._ends
        if not (self._from <= low and high < self._until):
            density = self.edges.per_unit()
            if density * (float(high) - float(low)) > 4 * len(positions) + _AHEAD:
                return self._united([self._next(positions), *others])
            self._extend(low, high, density)
        return self._united([self._stretch, *others]) if others else self._stretch

    def _united(self, arrays: list[Array]) -> Array:
        edges = np.sort(np.concatenate([self._ends, *arrays]))
        distinct: Array = edges[np.concatenate([[True], edges[1:] != edges[:-1]])]
        return distinct

    def _next(self, positions: Array) -> Array:
        out = np.empty_like(positions)
        e = self.edges
        _next_edges(e.period, e.phase, e.shift, e.points, positions, self._ends[1], out)
        return out

    def _extend(self, low: Any, high: Any, density: float) -> None:
        """All edges of the stretch, and some beyond it."""
        e = self.edges
        if density:
            beyond = float(low) + _AHEAD / density
            kind = self._ends.dtype.type
            if np.isfinite(beyond) and float(self._ends[0]) < beyond < float(self._ends[1]) / 2:
                high = max(high, kind(beyond))
            out = np.empty(int(density * (float(high) - float(low))) + 2 * len(e.period) + 8, kind)
            count = _all_edges(e.period, e.phase, e.shift, low, high, out)
            if count > len(out):
                out = np.empty(count, kind)
                _all_edges(e.period, e.phase, e.shift, low, high, out)
            self._stretch = self._united([out[:count], e.points])
            self._from, self._until = low, high
        else:
            self._stretch = self._united([e.points])
            self._from, self._until = self._ends[0], self._ends[1]
