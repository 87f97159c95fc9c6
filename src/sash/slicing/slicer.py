"""Where to cut: the edges of context-free windows, as one sorted array per batch of positions.

A progression is a set of edges at (phase + k · step) / unit, for every whole k. A grid of windows needs one or two. The
cutter lists all edges between the smallest and the largest position of a batch. If the rows are far apart, it lists
only the next edge after each row. Both lists give every row the same next edge.

Panes, Pairs and Cutty derive different progressions from a window. Plans use Pairs, because a push brings many rows:
windows end between them. In an ordered stream, slices are then merged to those of Cutty (`sweeper.merge_ended`). Panes
cuts more often.

All code computes an edge by `edge` from its number, so two edges that should be equal are the same float.
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

    def normalize(self) -> "Progression":
        """Return the same edges in one normal form, if they are whole numbers."""
        if isinstance(self.step, int):
            return Progression(self.step, self.phase % self.step)
        return self


def panes(grid: Grid) -> list[Progression]:
    """Return edges that cut slices of equal length, a whole number per window (Li et al., 2005)."""
    if not isinstance(grid.step, int):
        return pairs(grid)
    return [Progression(math.gcd(grid.step, grid.rest), grid.phase)]


def pairs(grid: Grid) -> list[Progression]:
    """Return the starts and the ends of windows: at most two slices per slide (Krishnamurthy et al., 2006)."""
    return [Progression(grid.step, phase, grid.unit) for phase in dict.fromkeys((grid.phase, grid.end_phase))]


def cutty(grid: Grid) -> list[Progression]:
    """Return only the starts of windows (Carbone et al., 2016).

    This is enough if rows come in order, one by one: when a window ends inside a slice, the slice has no later row.
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
        """Return the edges of progressions and points; omit a progression whose edges another one has."""
        distinct = sorted({each.normalize() for each in progressions})
        kept: list[Progression] = []
        for progression in distinct:
            step, phase = progression.step, progression.phase
            is_covered = isinstance(step, int) and any(
                step % other.step == 0 and (phase - other.phase) % other.step == 0 for other in kept
            )
            if not is_covered:
                kept.append(progression)
        steps, phases, units = (
            np.array([getattr(each, name) for each in kept], dtype) for name in ("step", "phase", "unit")
        )
        return cls(steps, phases, units, np.array(sorted(set(points)), dtype))

    def per_unit(self) -> float:
        """Return the number of edges per unit of position; infinite if steps are close to 0."""
        with np.errstate(over="ignore"):
            return float((self.unit / self.step).sum()) if len(self.step) else 0.0


# --- edges and their numbers -----------------------------------------------------------------------


def edge(step: Any, phase: Any, unit: Any, k: Any) -> Any:
    """Return edge k of a progression."""
    return (phase + k * step) / unit if isinstance(unit, float) else phase + k * step


@compiled_reading(edge)
def _edge(step: Any, phase: Any, unit: Any, k: Any) -> Any:
    if isinstance(unit, types.Float):
        return lambda step, phase, unit, k: (phase + k * step) / unit
    return lambda step, phase, unit, k: phase + k * step


def _estimate_index(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    """Return the number of the last edge that is not after a position; for floats, a number near it."""
    if isinstance(unit, float):
        return int(np.floor((position * unit - phase) / step))
    return (position - phase) // step


@compiled_reading(_estimate_index)
def _estimate_index_compiled(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    if isinstance(unit, types.Float):
        return lambda step, phase, unit, position: np.int64(np.floor((position * unit - phase) / step))
    return lambda step, phase, unit, position: (position - phase) // step


@jitable
def index_of(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    """Return the number of the last edge that is not after a position, which must be finite."""
    k = _estimate_index(step, phase, unit, position)
    while edge(step, phase, unit, k) > position:
        k -= 1
    while edge(step, phase, unit, k + 1) <= position:
        k += 1
    return k


@jitable
def edge_after(step: Any, phase: Any, unit: Any, position: Any) -> Any:
    """Return the first edge of a progression after a position."""
    return edge(step, phase, unit, index_of(step, phase, unit, position) + 1)


def start_of(grid: Grid, k: Any) -> Any:
    """Return the start of window k."""
    return edge(grid.step, grid.phase, grid.unit, k)


def end_of(grid: Grid, k: Any) -> Any:
    """Return the end of window k."""
    return edge(grid.step, grid.end_phase, grid.unit, k + grid.whole)


def last_started(grid: Grid, position: Any) -> Any:
    """Return the number of the last window that starts at or before a position."""
    return index_of(grid.step, grid.phase, grid.unit, position)


def first_open(grid: Grid, position: Any) -> Any:
    """Return the number of the first window that ends after a position."""
    return index_of(grid.step, grid.end_phase, grid.unit, position) + 1 - grid.whole


@kernel
def _indices(step: Any, phase: Any, unit: Any, positions: Any, out: Any) -> None:
    for row in range(len(positions)):
        out[row] = index_of(step, phase, unit, positions[row])


def indices_of(step: Any, phase: Any, unit: Any, positions: Array) -> Array:
    """Return `index_of` for each of these positions."""
    out = np.empty(len(positions), np.int64)
    kind = positions.dtype.type
    _indices(kind(step), kind(phase), kind(unit), positions, out)
    return out


# --- edges of a batch --------------------------------------------------------------------------------


@kernel
def _all_edges(step: Any, phase: Any, unit: Any, low: Any, high: Any, out: Any) -> int:
    """Write every edge after `low`, up to the first one after `high`; return how many there are, even without room."""
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


class Cutter:
    """The edges of a fixed set of windows, listed per batch; the last list is kept for reuse.

    The cutter lists at least `ahead` edges at once, and reuses the list for later batches within it.
    """

    def __init__(self, edges: Edges, lowest: Any, highest: Any, ahead: int) -> None:
        self.edges, self._ahead = edges, ahead
        self._ends = np.array([lowest, highest], edges.step.dtype)
        self._stretch = self._ends
        self._from, self._until = highest, lowest

    def cut(self, positions: Array, low: Any, high: Any, others: Iterable[Array] = ()) -> Array:
        """Return a sorted array of edges in which every row finds its next edge.

        It begins with the lowest position and ends with the highest. All positions of the batch lie between `low` and
        `high`. `others` are edges of other kinds of windows, such as those of users.
        """
        others = list(others)
        if not len(positions) or not (len(self.edges.step) or len(self.edges.points) or others):
            return self._ends
        if not (self._from <= low and high < self._until):
            density = self.edges.per_unit()
            if not density * (float(high) - float(low)) <= 4 * len(positions) + self._ahead:
                return self._merge([self._next(positions), *others])
            self._extend(low, high, density)
        return self._merge([self._stretch, *others]) if others else self._stretch

    def _merge(self, arrays: list[Array]) -> Array:
        edges = np.sort(np.concatenate([self._ends, *arrays]))
        distinct: Array = edges[np.concatenate([[True], edges[1:] != edges[:-1]])]
        return distinct

    def _next(self, positions: Array) -> Array:
        out = np.empty_like(positions)
        e = self.edges
        _next_edges(e.step, e.phase, e.unit, e.points, positions, self._ends[1], out)
        return out

    def _extend(self, low: Any, high: Any, density: float) -> None:
        """List all edges from `low` to `high`, and some beyond."""
        e = self.edges
        if density:
            beyond = float(low) + self._ahead / density
            kind = self._ends.dtype.type
            if np.isfinite(beyond) and float(self._ends[0]) < beyond < float(self._ends[1]) / 2:
                high = max(high, kind(beyond))
            out = np.empty(int(density * (float(high) - float(low))) + 2 * len(e.step) + 8, kind)
            count = _all_edges(e.step, e.phase, e.unit, low, high, out)
            if count > len(out):
                out = np.empty(count, kind)
                _all_edges(e.step, e.phase, e.unit, low, high, out)
            self._stretch = self._merge([out[:count], e.points])
            self._from, self._until = low, high
        else:
            self._stretch = self._merge([e.points])
            self._from, self._until = self._ends[0], self._ends[1]
