"""`sash demo --algorithms`: run every algorithm over a sensor's signal, and check the results."""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

import sash
from sash.cli.table import Table
from sash.cli.terminal import can_print, progress, show
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm

__all__ = ["NEXT", "run_algorithms"]

DAY = 1440  # a reading per minute
SECONDS = 0.25  # a run that takes longer is not repeated
SPARSE = 499  # one median in so many is checked: NumPy sorts the whole window for each


@dataclass(frozen=True)
class Outcome:
    """The result of one algorithm."""

    algorithm: Algorithm
    aggregate: str
    rows: int
    checked: int
    right: bool
    rate: float

    def cells(self, window: int) -> tuple[str, ...]:
        mark = ("✓" if self.right else "✗") if can_print("✓✗") else ("ok" if self.right else "WRONG")
        facts = self.algorithm.facts
        worst = sum(cost.worst.at(window) for cost in (facts.insert, facts.evict, facts.query))
        rate = f"{self.rate / 1e6:.2f}" if self.rate < 1e7 else f"{self.rate / 1e6:.0f}"
        return self.algorithm.name, self.aggregate, f"{self.rows:,}", f"{self.checked:,}", mark, rate, f"{worst:,.0f}"


def run_algorithms(rows: int, window: int = DAY) -> bool:
    """Slide every algorithm, check and time it, print a table; return whether all results are right."""
    window = min(window, rows)
    signal = sensor(rows)
    click.echo(f"A sensor's signal: {rows:,} readings, one per minute; windows of {window:,} readings, one day.")
    click.echo("Every algorithm slides over it; NumPy checks the results. The first run of each compiles.\n")
    outcomes = []
    with progress("sash demo", len(ALGORITHMS)) as begin:
        for algorithm in ALGORITHMS.values():
            begin(algorithm.name)
            outcomes.append(_outcome(algorithm, signal, window))
    headings = (
        "algorithm",
        "aggregate",
        "rows",
        "results checked",
        "right",
        "million rows/s",
        "worst combines per row",
    )
    show(Table("One result per row, on one thread", headings, tuple(each.cells(window) for each in outcomes)))
    shown = signal[: 7 * DAY]
    marks = ("░", "━") if can_print("░━") else (".", "=")
    click.echo(plot(shown, sash.swag.slide(shown, window, sash.max()), marks=marks))
    return all(each.right for each in outcomes)


def sensor(rows: int, seed: int = 20210814) -> np.ndarray[Any, Any]:
    """Return a reading per minute: a daily rhythm, drift, noise, and a few spikes.

    Readings are multiples of 1/64, so that their sums are exact and `==` can compare them.

    >>> bool((sensor(100) * 64 % 1 == 0).all())
    True
    """
    random = np.random.default_rng(seed)
    minute = np.arange(rows)
    daily = 8 * np.sin(2 * np.pi * minute / DAY - np.pi / 2)
    drift = 4 * np.sin(2 * np.pi * minute / (DAY * 9.7))
    spikes = (random.random(rows) < 0.3 / DAY) * random.uniform(10, 25, rows)
    readings: np.ndarray[Any, Any] = np.round((20 + daily + drift + random.normal(0, 0.6, rows) + spikes) * 64) / 64
    return readings


def _suited(algorithm: Algorithm) -> str:
    """Return the first of max, sum, median and variance that the algorithm supports."""
    templates = {name: make() for name, (make, _) in AGGREGATES.items()}
    return next(
        name
        for name, template in templates.items()
        if algorithm.admits(template.invertible, template.selective, name == "median", name == "variance")
    )


def _outcome(algorithm: Algorithm, signal: np.ndarray[Any, Any], window: int) -> Outcome:
    name = _suited(algorithm)
    make, reference = AGGREGATES[name]
    facts = algorithm.facts
    most = len(signal)
    if not algorithm.is_compiled:
        most = 20_000
    elif sum(cost.average.at(window) for cost in (facts.insert, facts.evict, facts.query)) > 512:
        most = 100_000  # every result folds the whole window
    values, aggregate, best = signal[:most], make(), math.inf
    sash.swag.slide(values[:64], window, aggregate, algorithm=algorithm.name, threads=1)  # compiles
    for _ in range(3):
        start = time.perf_counter()
        answers = np.asarray(sash.swag.slide(values, window, aggregate, algorithm=algorithm.name, threads=1))
        best = min(best, time.perf_counter() - start)
        if best > SECONDS:
            break
    places, expected = reference(values, window)
    rounding = 1e-9 if name == "variance" else 0.0  # others are exact
    right = bool(np.allclose(answers[places], expected, rtol=rounding, atol=0.0))
    return Outcome(algorithm, name, len(values), len(places), right, len(values) / best)


# --- the same results by NumPy: readings are multiples of 1/64, so that even sums are exact -------------------

Reference = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def _maxima(values: np.ndarray[Any, Any], window: int) -> Reference:
    """Return sliding maxima by doubling: two stretches of 2ᵏ rows cover a window."""
    stretch, longest = 1, values.copy()
    while 2 * stretch <= window:
        longest[stretch:] = np.maximum(longest[stretch:], longest[:-stretch])
        stretch *= 2
    rest = window - stretch
    if rest:
        longest[rest:] = np.maximum(longest[rest:], longest[:-rest].copy())
    return np.arange(len(values)), longest


def _sums(values: np.ndarray[Any, Any], window: int) -> Reference:
    total = np.cumsum(values)
    total[window:] -= total[:-window].copy()
    return np.arange(len(values)), total


def _medians(values: np.ndarray[Any, Any], window: int) -> Reference:
    places = np.arange(0, len(values), SPARSE)
    return places, np.array([np.median(values[max(0, place - window + 1) : place + 1]) for place in places])


def _variances(values: np.ndarray[Any, Any], window: int) -> Reference:
    """Return the variances of some windows, each by itself."""
    places = np.arange(1, len(values), max(1, len(values) // 200))
    found = [values[max(0, place + 1 - window) : place + 1].var(ddof=1) for place in places.tolist()]
    return places, np.array(found)


# In the order of preference.
AGGREGATES: dict[str, tuple[Callable[[], Any], Callable[[np.ndarray[Any, Any], int], Reference]]] = {
    "max": (sash.max, _maxima),
    "sum": (sash.sum, _sums),
    "median": (sash.median, _medians),
    "variance": (sash.variance, _variances),
}


# --- a picture in characters -------------------------------------------------------------------------


def plot(
    signal: np.ndarray[Any, Any],
    peaks: np.ndarray[Any, Any],
    width: int = 70,
    height: int = 9,
    marks: tuple[str, str] = ("░", "━"),
) -> str:
    """Draw the signal as an area and its sliding maximum as a line above it.

    >>> import numpy
    >>> print(plot(numpy.array([0.0, 1, 2, 1]), numpy.array([0.0, 1, 2, 2]), width=4, height=3))
    Signal (░) and its sliding maximum (━), 4 readings
      2.0   ━━
           ━░░
      0.0 ━░░░
    """
    area, line = marks
    width = min(width, len(signal))
    edges = np.linspace(0, len(signal), width + 1).astype(int)
    pairs = list(itertools.pairwise(edges))
    low, high = float(signal.min()), float(peaks.max())
    scale = (height - 1) / ((high - low) or 1.0)
    levels = [round((float(signal[a:b].mean()) - low) * scale) for a, b in pairs]
    tops = [round((float(peaks[a:b].max()) - low) * scale) for a, b in pairs]
    lines = [f"Signal ({area}) and its sliding maximum ({line}), {len(signal):,} readings"]
    for row in range(height - 1, -1, -1):
        label = f"{low + row / scale:5.1f}" if row in (0, height - 1) else " " * 5
        cells = (line if top == row else area if row <= level else " " for level, top in zip(levels, tops, strict=True))
        lines.append(f"{label} {''.join(cells)}".rstrip())
    return "\n".join(lines)


NEXT = """
Next:
  sash algorithms                         list the requirements and costs of the algorithms
  sash explain stddev --size 1000         show which algorithm sash uses, and why
  sash demo --algorithms                  run every algorithm over one signal
  python -c "import numpy, sash; print(sash.swag.slide(numpy.array([3, 1, 2, 5, 4]), 3, sash.max()))"
"""
