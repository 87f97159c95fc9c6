"""Nanoseconds per row and the fixed cost of a call: the same call on tables that grow, until the time is used up.

Picture   seconds                     levels, each two tables:
             |            ·  b          few rows, one key  →  full windows, one key  →  all rows, all keys
             |      · a                 the slope from a to b is the time per row, without what a call costs
             | ·                        and without windows that are not full
             +----------------- rows  the first table gives the fixed cost: its time less that of its rows
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.settings import MatrixSettings, Size

__all__ = ["Measured", "measure"]

Make = Callable[[Size], Callable[[], Any]]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Measured:
    """The time of a cell."""

    ns_per_row: float
    fixed_us: float
    size: Size  # the largest table
    is_whole: bool  # whether all rows were measured
    is_full: bool  # whether windows were full

    @property
    def mark(self) -> str:
        """Return the sign before the value."""
        return "" if self.is_whole else "≈" if self.is_full else ">"

    @property
    def note(self) -> str:
        """Say on which rows it was measured."""
        rows = f"{self.size.rows:,} rows of {self.size.keys} key{'s' * (self.size.keys != 1)}"
        if self.is_whole:
            return rows
        return f"more rows take too long: from {rows}" + ("" if self.is_full else ", where windows are not full")


def measure(
    make: Make, length: int, settings: MatrixSettings, most_rows: float = float("inf"), clock: Clock = time.process_time
) -> Measured:
    """Return the time of a cell, from the largest level whose tables fit into its time and are not too large.

    `length` is that of the windows, in rows of a key. The first level is always measured.
    """
    first = make(settings.levels[0][0])
    first()  # compiles, and fills the caches of plans
    times: dict[Size, float] = {}
    done = 0
    for number, level in enumerate(settings.levels):
        for size in level:
            if number == 0 or _fits(size, times, settings, most_rows):
                _run(make, size, times, clock)
        if not all(size in times for size in level):
            break
        done = number
    a, b = settings.levels[done]
    for size in (a, b):
        _repeat(make, size, times, settings, clock)
    slope = (times[b] - times[a]) / (b.rows - a.rows)
    slope = slope if slope > 0 else times[b] / b.rows  # the noise was larger than the difference
    least = settings.levels[0][0]
    fixed = max(0.0, times[least] - slope * least.rows)
    return Measured(slope * 1e9, fixed * 1e6, b, done == len(settings.levels) - 1, a.rows >= a.keys * length)


def _run(make: Make, size: Size, times: dict[Size, float], clock: Clock) -> None:
    """Time a call; one that takes longer than work can explain compiled something, and is repeated."""
    call = make(size)
    for _ in range(2):
        expected = _expected(size, times)
        start = clock()
        call()
        taken = clock() - start
        times[size] = min(times.get(size, float("inf")), taken)
        if taken <= 2 * expected:
            break


def _repeat(make: Make, size: Size, times: dict[Size, float], settings: MatrixSettings, clock: Clock) -> None:
    """Run again, while that is cheap, and keep the shortest time."""
    left = settings.cell_seconds / 4
    for _ in range(settings.runs - 1):
        if left < times[size]:
            return
        left -= times[size]
        _run(make, size, times, clock)


def _fits(size: Size, times: dict[Size, float], settings: MatrixSettings, most_rows: float) -> bool:
    """Return whether a table is not too large, and its expected time is within that of a cell."""
    return size.rows <= most_rows and _expected(size, times) <= settings.cell_seconds


def _expected(size: Size, times: dict[Size, float]) -> float:
    """Return the most that a table can take by what smaller ones took.

    The time of tables with the same keys may grow with the square of the rows until windows are full. More keys take as
    many times longer.
    """
    before = [(each, seconds) for each, seconds in times.items() if each.rows < size.rows]
    if not before:
        return float("inf")
    known, seconds = before[-1]
    ratio = size.rows / known.rows
    return seconds * (ratio if size.keys > known.keys else ratio**2)
