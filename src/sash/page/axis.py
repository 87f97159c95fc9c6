"""Counts of rows on the axis of positions: where they arrive, and how far behind the newest row."""

import math
from typing import Any

import numpy as np

from sash.page.contract import Lateness
from sash.page.records import Arrivals

__all__ = ["ArrivalCounts", "LatenessCounts"]

MOST_BUCKETS = 240
_SUB = 16  # bins of lateness per octave: a quantile is at most 4.5 % too large
_LEAST = -30  # octaves: 2⁻³⁰ of the unit, and less, is the first bin
_MOST = 62


class ArrivalCounts:
    """Rows by position, in at most 240 buckets of equal length.

    The buckets cover what was asked for by `reach`, and become longer when a wider range is needed.
    """

    def __init__(self) -> None:
        self._length = 0.0
        self._reach = 0.0
        self._rows: dict[int, float] = {}

    def reach(self, distance: float) -> None:
        """Cover at least this distance behind the newest row."""
        self._reach = max(self._reach, distance)
        self._fit(self._reach)

    def add(self, arrivals: Arrivals) -> None:
        """Count rows."""
        positions = arrivals.positions[np.isfinite(arrivals.positions)]
        if not len(positions):
            return
        low, high = float(positions.min()), float(positions.max())
        if self._rows and len(self._rows) < MOST_BUCKETS // 8:  # few so far: keep all of them in the picture
            low = min(low, min(self._rows) * self._length)
        self._fit(max(self._reach, high - low))
        numbers, counts = np.unique(np.floor(positions / self._length).astype(np.int64), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self._rows[number] = self._rows.get(number, 0.0) + count * arrivals.weight
        self._drop()

    def _drop(self) -> None:
        if self._rows:
            oldest = max(self._rows) - MOST_BUCKETS
            self._rows = {number: rows for number, rows in self._rows.items() if number > oldest}

    def _fit(self, distance: float) -> None:
        """Make buckets so long that half of them cover a distance; a length is a power of two times its first one."""
        wanted = distance / (MOST_BUCKETS / 2)
        if not self._length:
            self._length = _nice(wanted) if wanted > 0 else 1.0
        while self._length < wanted:
            merged: dict[int, float] = {}
            for number, rows in self._rows.items():
                merged[number // 2] = merged.get(number // 2, 0.0) + rows
            self._rows, self._length = merged, self._length * 2

    def counts(self, newest: float | None) -> tuple[list[tuple[float, int]], float]:
        """Return the start and the rows of each bucket, oldest first, and the length of a bucket."""
        self._drop()
        return [(number * self._length, round(self._rows[number])) for number in sorted(self._rows)], self._length


def _nice(length: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is at least a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= length * (1 - 1e-12))


class LatenessCounts:
    """Rows by their distance behind the newest row before them."""

    def __init__(self) -> None:
        self._on_time = 0.0
        self._rows = np.zeros((_MOST - _LEAST) * _SUB)

    def add(self, arrivals: Arrivals) -> None:
        """Count rows."""
        positions = arrivals.positions[np.isfinite(arrivals.positions)]
        if not len(positions) or not arrivals.counts_lateness:
            return
        before = -math.inf if arrivals.newest_before is None else arrivals.newest_before
        newest = np.maximum.accumulate(np.concatenate([[before], positions]))[:-1]
        behind = np.where(np.isfinite(newest), newest - positions, 0.0)
        late = behind[behind > 0]
        self.count((len(behind) - len(late)) * arrivals.weight, late, arrivals.weight)

    def count(self, on_time: float, distances: Any, rows: Any) -> None:
        """Count rows that are not behind, and those that are so far behind."""
        self._on_time += on_time
        bins = np.floor(np.log2(distances) * _SUB).astype(np.int64) - _LEAST * _SUB
        np.add.at(self._rows, bins.clip(0, len(self._rows) - 1), rows)

    def covering(self, share: float) -> float | None:
        """Return a delay that covers this share of the rows; None without rows."""
        total = self._on_time + float(self._rows.sum())
        if not total:
            return None
        if self._on_time >= share * total:
            return 0.0
        place = int(np.searchsorted(self._on_time + np.cumsum(self._rows), share * total))
        return float(_edge(min(place, len(self._rows) - 1) + 1))

    def octaves(self) -> list[Lateness]:
        """Return the rows of each octave of distances; the first entry are rows that are not behind."""
        rows = self._rows.reshape(-1, _SUB).sum(axis=1)
        found = [Lateness(**{"from": 0.0, "to": 0.0, "rows": round(self._on_time)})] if self._on_time else []
        filled = np.flatnonzero(rows)
        if len(filled):
            for octave in range(filled[0], filled[-1] + 1):
                start, end = _edge(octave * _SUB), _edge((octave + 1) * _SUB)
                found.append(Lateness(**{"from": start, "to": end, "rows": round(float(rows[octave]))}))
        return found


def _edge(place: Any) -> float:
    return float(2.0 ** (_LEAST + place / _SUB))
