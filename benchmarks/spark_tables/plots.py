"""Pictures of a bench of Spark, in the style of all."""

from collections.abc import Iterator
from typing import Any

from benchmarks.plots import Points, lines, points_of
from benchmarks.records import Record, Report
from benchmarks.spark_tables.measurement import MEMORY, TIME

__all__ = ["by_value", "measured", "spark_figures"]

SECONDS = "seconds"
_TIMES = {
    "slide": ("Windows that slide by a second: max and count", "slides", "size / slide"),
    "density": ("Ways to slice: max and count, ten slides", "rows_per_slice", "rows per key and slice"),
    "keys": ("The same rows of more keys: max and count, ten slides", "keys", "keys"),
}


def spark_figures(report: Report) -> Iterator[tuple[str, Any]]:
    """Everything that can be drawn of a bench of Spark, under its name."""
    for name, (title, across, label) in _TIMES.items():
        points = points_of(measured(report, name), across)
        if points:
            yield name, lines(points, title, label, SECONDS, base=10)
    for keys in dict.fromkeys(each.get("keys") for each in measured(report, "frames")):
        records = measured(report, "frames", keys=keys)
        points = points_of(records, "window")
        title = f"Max of each row and those before it: {keys} {'key' if keys == 1 else 'keys'}"
        scaled = [int(each.get("window") or 0) for each in records if "≈" in each.mark]
        title += f"; native from {min(scaled):,} on scaled up" if scaled else ""
        yield f"frames_{keys}", lines(points, title, "window [rows]", SECONDS, base=10)
    hot = by_value(measured(report, "hot_key"), "case", "cores")
    if hot:
        yield "hot_key", lines(hot, "One key has the rows", "cores", SECONDS, base=None)
    cores = {f"{name}, {kind}": line for kind, own in _kinds(report) for name, line in points_of(own, "cores").items()}
    if cores:
        yield "cores", lines(cores, "What a second core brings", "cores", SECONDS, base=None)
    memory = by_value(measured(report, "memory", MEMORY), "question", "rows")
    if memory:
        yield "memory", lines(memory, "One key: peak of the largest Python worker", "rows", "MB", base=10)


def measured(report: Report, experiment: str, metric: str = TIME, **wanted: Any) -> list[Record]:
    """The records of an experiment that have a value."""
    return [each for each in report.select(experiment, metric=metric, **wanted) if each.value]


def by_value(records: list[Record], beside: str, across: str) -> Points:
    """A line per subject and value of another parameter."""
    named: Points = {}
    for value in dict.fromkeys(each.get(beside) for each in records):
        own = [each for each in records if each.get(beside) == value]
        named |= {f"{name}, {value}": line for name, line in points_of(own, across).items()}
    return named


def _kinds(report: Report) -> Iterator[tuple[str, list[Record]]]:
    records = measured(report, "cores")
    for kind, name in (("windows", "slides"), ("frames", "window")):
        yield kind, [each for each in records if each.get(name) is not None]
