"""Where to cut: the edges of context-free windows, as one sorted array for a batch of positions.

A grid of windows is a few progressions: edges at (phase + k · step) / unit for every whole k. A batch is cut by all
edges from its smallest to its largest position, or, where its rows are far apart, by the one edge after each row.
Both arrays give every row of the batch the same next edge. Panes, Pairs and Cutty differ in which progressions they
make of a window. Plans cut by Pairs: Panes cuts more often, and Cutty's slices are whole only when rows are taken
one by one, where a push brings many.

Whatever asks for an edge, to cut, to fire, to keep or to show, calls `edge` with its number: two edges that are
meant to be the same are the same float.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from sash.algebra.compiler import compiled_reading, jitable, kernel
from sash.slicing.slices import Array
from sash.windows.grid import Grid

__all__ = [
    "Cutter",
    "Edges",
    "Progression",
    "cutty",
    "edge",
    "edge_after",
    "end_of",
    "first_open",
    "index_of",
    "indices_of",
    "last_started",
    "pairs",
    "panes",
    "start_of",
]


@dataclass(frozen=True, order=True)
class Progression:
    """Edges at (phase + k · step) / unit."""

    step: Any
    phase: Any
    unit: Any = 1

    def normal(self) -> "Progression":
        """Of whole numbers, the one way to write these edges."""
        if isinstance(self.step, int):
            return Progression(self.step, self.phase % self.step)
        return self


def panes(grid: Grid) -> list[Progression]:
    """Slices of equal length, of which every window is a whole number (Li et al., 2005)."""
    if not isinstance(grid.step, int):
        return pairs(grid)
    return [Progression(math.gcd(grid.step, grid.rest), grid.phase)]


def pairs(grid: Grid) -> list[Progression]:
    """An edge where a window starts and one where it ends: at most two slices per slide (Krishnamurthy et al. 2006)."""
    return [Progression(grid.step, phase, grid.unit) for phase in dict.fromkeys((grid.phase, grid.end_phase))]


def cutty(grid: Grid) -> list[Progression]:
    """An edge only where a window starts: enough if rows are in order, for then a slice is whole when a window ends
    inside it (Carbone et al., 2016).
    """
    return [Progression(grid.step, grid.phase, grid.unit)]


@dataclass(frozen=True)
class Edges:
    """All edges of a set of context-free windows."""

    step: Array
    phase: Array
    unit: Array
    points: Array

    @classmethod
    def of(cls, progressions: Iterable[Progression], points: Iterable[Any], dtype: Any) -> "Edges":
        """Progressions whose edges another one has already are left out."""
        distinct = sorted({each.normal() for each in progressions})
        kept: list[Progression] = []
        for each in distinct:
            covered = isinstance(each.step, int) and any(
                each.step % other.step == 0 and (each.phase - other.phase) % other.step == 0 for other in kept
            )
            if not covered:
                kept.append(each)
        step, phase, unit = (
            np.array([getattr(each, name) for each in kept], dtype) for name in ("step", "phase", "unit")
        )
        return cls(step, phase, unit, np.array(sorted(set(points)), dtype))

    def per_unit(self) -> float:
        """How many edges there are for each unit of position; of steps next to nothing, infinitely many."""
        with np.errstate(over="ignore"):
            return float((self.unit / self.step).sum()) if len(self.step) else 0.0


# --- edges and their numbers -----------------------------------------------------------------------


def edge(step: Any, phase: Any, unit: Any, k: Any) -> Any:
    """Edge k of a progression."""
    return (phase + k * step) / unit if isinstance(unit, float) else phase + k * step


@compiled_reading(edge)
def _edge(step: Any, phase: Any, unit: Any, k: Any) -> Any:
    if isinstance(unit, types.Float):
        return lambda step, phase, unit, k: (phase + k * step) / unit
    return lambda step, phase, unit, k: phase + k * step


def _about(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    """The number of the last edge that is not after a position, or, of floats, one near it."""
    if isinstance(unit, float):
        return int(np.floor((position * unit - phase) / step))
    return (position - phase) // step


@compiled_reading(_about)
def _about_compiled(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    if isinstance(unit, types.Float):
        return lambda step, phase, unit, position: np.int64(np.floor((position * unit - phase) / step))
    return lambda step, phase, unit, position: (position - phase) // step


@jitable
def index_of(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    """The number of the last edge that is not after a position, which must be finite."""
    k = _about(step, phase, unit, position)
    while edge(step, phase, unit, k) > position:
        k -= 1
    while edge(step, phase, unit, k + 1) <= position:
        k += 1
    return k


@jitable
def edge_after(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    """The first edge of a progression after a position."""
    return edge(step, phase, unit, index_of(step, phase, unit, position) + 1)


def start_of(grid: Grid, k: Any) -> Any:
    """Where window k starts."""
    return edge(grid.step, grid.phase, grid.unit, k)


def end_of(grid: Grid, k: Any) -> Any:
    """Where window k ends."""
    return edge(grid.step, grid.end_phase, grid.unit, k + grid.whole)


def last_started(grid: Grid, position: Any) -> Any:
    """The last window that starts at or before a position."""
    return index_of(grid.step, grid.phase, grid.unit, position)


def first_open(grid: Grid, position: Any) -> Any:
    """The first window that ends after a position."""
    return index_of(grid.step, grid.end_phase, grid.unit, position) + 1 - grid.whole


@kernel
def _indices(step: Any, phase: Any, unit: Any, positions: Any, out: Any) -> None:
    for row in range(len(positions)):
        out[row] = index_of(step, phase, unit, positions[row])


def indices_of(step: Any, phase: Any, unit: Any, positions: Array) -> Array:
    """`index_of` each of these positions."""
    out = np.empty(len(positions), np.int64)
    kind = positions.dtype.type
    _indices(kind(step), kind(phase), kind(unit), positions, out)
    return out


# --- edges of a batch --------------------------------------------------------------------------------


@kernel
def _all_edges(step: Any, phase: Any, unit: Any, low: Any, high: Any, out: Any) -> int:
    """Every edge after `low` up to and with the first after `high`; how many there are, if there is room or not."""
    count = 0
    for j in range(len(step)):
        k = index_of(step[j], phase[j], unit[j], low) + 1
        while True:
            at = edge(step[j], phase[j], unit[j], k)
            if count < len(out):
                out[count] = at
            count += 1
            if at > high:
                break
            k += 1
    return count


@kernel
def _next_edges(step: Any, phase: Any, unit: Any, points: Any, positions: Any, highest: Any, out: Any) -> None:
    for row in range(len(positions)):
        if row > 0 and out[row - 1] > positions[row] and positions[row] >= positions[row - 1]:
            out[row] = out[row - 1]
            continue
        nearest = highest
        for j in range(len(step)):
            nearest = min(nearest, edge_after(step[j], phase[j], unit[j], positions[row]))
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
        self._ends = np.array([lowest, highest], edges.step.dtype)
        self._stretch = self._ends
        self._from, self._until = highest, lowest

    def cut(self, positions: Array, low: Any, high: Any, others: Iterable[Array] = ()) -> Array:
        """A sorted array, from the lowest position there is to the highest, such that the first value in it after each
        of these positions, all from `low` to `high`, is the first edge after it; `others` are edges of users' windows.
        """
        others = list(others)
        if not len(positions) or not (len(self.edges.step) or len(self.edges.points) or others):
            return self._ends
        if not (self._from <= low and high < self._until):
            density = self.edges.per_unit()
            if not density * (float(high) - float(low)) <= 4 * len(positions) + _AHEAD:
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
        _next_edges(e.step, e.phase, e.unit, e.points, positions, self._ends[1], out)
        return out

    def _extend(self, low: Any, high: Any, density: float) -> None:
        """All edges of the stretch, and some beyond it."""
        e = self.edges
        if density:
            beyond = float(low) + _AHEAD / density
            kind = self._ends.dtype.type
            if np.isfinite(beyond) and float(self._ends[0]) < beyond < float(self._ends[1]) / 2:
                high = max(high, kind(beyond))
            out = np.empty(int(density * (float(high) - float(low))) + 2 * len(e.step) + 8, kind)
            count = _all_edges(e.step, e.phase, e.unit, low, high, out)
            if count > len(out):
                out = np.empty(count, kind)
                _all_edges(e.step, e.phase, e.unit, low, high, out)
            self._stretch = self._united([out[:count], e.points])
            self._from, self._until = low, high
        else:
            self._stretch = self._united([e.points])
            self._from, self._until = self._ends[0], self._ends[1]
