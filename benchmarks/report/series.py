"""Series of measured values over a parameter, and the figures that checks compare."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.records import Report

__all__ = [
    "Line",
    "ahead",
    "best",
    "break_even",
    "geometric_mean",
    "growth",
    "last",
    "latency",
    "line",
    "over",
    "per_place",
    "quotient",
    "speed",
    "spread",
]

Line = Mapping[float, float]  # place → value, in the order of places


def line(
    report: Report, experiment: str, subject: str, across: str, since: float = 0, until: float = math.inf, **wanted: Any
) -> Line:
    """Return the values of a subject by a parameter."""
    found = {
        float(place): record.value
        for record in report.select(experiment, subject=subject, **wanted)
        if record.value is not None and isinstance(place := record.get(across), int | float) and since <= place <= until
    }
    return dict(sorted(found.items()))


def speed(report: Report, subject: str, aggregate: str, since: float = 0, until: float = math.inf) -> Line:
    """Return rows per second of an algorithm, by window."""
    return line(report, "throughput", subject, "window", since, until, aggregate=aggregate)


def latency(report: Report, subject: str, metric: str) -> Line:
    """Return the time of an answer of an algorithm, by window."""
    return line(report, "latency", subject, "window", metric=metric)


def break_even(report: Report, subject: str, aggregate: str) -> float | None:
    """Return the window from which on an algorithm is faster than recalculation; infinity if it never is."""
    for each in report.select("break_even", subject=subject, aggregate=aggregate):
        if each.value is not None:
            return math.inf if each.mark == ">" else each.value
    return None


def over(one: Line, other: Line) -> Line:
    """Divide one series by another, wherever both were measured.

    >>> over({1: 6.0, 2: 8.0, 3: 1.0}, {1: 3.0, 2: 2.0})
    {1: 2.0, 2: 4.0}
    """
    return {place: value / other[place] for place, value in one.items() if other.get(place)}


def ahead(one: Line, others: Iterable[Line]) -> float | None:
    """Return the geometric mean of one series over the best of the others, if all were measured."""
    others = list(others)
    return geometric_mean(over(one, best(others))) if all(others) else None


def best(lines: Iterable[Line], lowest: bool = False) -> Line:
    """Return the highest value of all series at each place, or the lowest.

    >>> best([{1: 2.0}, {1: 3.0, 2: 1.0}]), best([{1: 2.0}, {1: 3.0}], lowest=True)
    ({1: 3.0, 2: 1.0}, {1: 2.0})
    """
    lines = list(lines)
    choose = min if lowest else max
    places = sorted({place for each in lines for place in each})
    return {place: choose(each[place] for each in lines if place in each) for place in places}


def geometric_mean(values: Line) -> float | None:
    """Return the geometric mean.

    >>> round(geometric_mean({1: 2.0, 2: 8.0}), 9)
    4.0
    """
    logs = [math.log(value) for value in values.values() if value > 0]
    return math.exp(sum(logs) / len(logs)) if logs else None


def growth(values: Line) -> float | None:
    """Return the last value over the first.

    >>> growth({1: 2.0, 5: 3.0}), growth({1: 2.0})
    (1.5, None)
    """
    found = list(values.values())
    return found[-1] / found[0] if len(found) > 1 and found[0] else None


def spread(values: Line) -> float | None:
    """Return the largest value over the smallest, of two or more."""
    found = list(values.values())
    return max(found) / min(found) if len(found) > 1 and min(found) else None


def last(values: Line) -> float | None:
    """Return the value at the last place."""
    return list(values.values())[-1] if values else None


def per_place(values: Line) -> Line:
    """Divide each value by its place."""
    return {place: value / place for place, value in values.items() if place}


def quotient(one: float | None, other: float | None) -> float | None:
    """Divide one by the other, if both are known.

    >>> quotient(6.0, 3.0), quotient(None, 3.0)
    (2.0, None)
    """
    return one / other if one is not None and other else None
