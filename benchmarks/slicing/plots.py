"""Pictures of a bench of streams, in the style of all."""

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.plots import OURS, Points, figure_with, lines, points_of
from benchmarks.records import Record, Report

__all__ = ["stream_figures"]

SPEED = "million rows/s"
_BY_WINDOWS = {
    "concurrent": "Rows in order, tumbling windows of 1 to 20 s",
    "constrained": "A session beside them, and 20 % of the rows up to 2 s late",
}
_DISORDER = {
    "disorder_fraction": ("20 windows and a session, rows up to 2 s late", "late_percent", "late rows [%]"),
    "disorder_delay": ("20 windows and a session, 20 % of the rows late", "delay_s", "late by up to [s]"),
}


def stream_figures(report: Report) -> Iterator[tuple[str, Any]]:
    """Everything that can be drawn of a bench of streams, under its name."""
    for name, title in _BY_WINDOWS.items():
        records = _measured(report, name)
        points = _without_copy(points_of(records, "windows"))
        if points:
            yield name, lines(points, title, "concurrent windows", SPEED, ("copy", _copy(records)), base=10)
    for name, (title, across, label) in _DISORDER.items():
        records = _measured(report, name)
        points = _without_copy(points_of(records, across))
        if points:
            yield name, lines(points, title, label, SPEED, ("copy", _copy(records)), base=None)
    yield from _memory(report)
    yield from _stores(report)
    measures = _without_copy(_named(_measured(report, "measures"), "windows", "measure"))
    if measures:
        title = "By measure: 20 % of the rows up to 2 s late"
        yield "measures", lines(measures, title, "concurrent windows", SPEED, base=10)
    yield from _grouped(report)


def _measured(report: Report, experiment: str, **wanted: Any) -> list[Record]:
    return [record for record in report.select(experiment, **wanted) if record.value]


def _copy(records: list[Record]) -> float | None:
    rates = sorted(record.value for record in records if record.subject == "copy" and record.value)
    return rates[len(rates) // 2] if rates else None


def _without_copy(points: Points) -> Points:
    return {name: line for name, line in points.items() if not name.startswith("copy")}


def _named(records: list[Record], across: str, beside: str) -> Points:
    """A line per subject and value of another parameter."""
    named: Points = {}
    for value in dict.fromkeys(record.get(beside) for record in records):
        own = [record for record in records if record.get(beside) == value]
        named |= {f"{name}, {value}": line for name, line in points_of(own, across).items()}
    return named


def _memory(report: Report) -> Iterator[tuple[str, Any]]:
    for across in ("slices", "rows"):
        for measure in ("time", "count"):
            points = points_of(_measured(report, f"memory_by_{across}", measure=measure), across)
            if points:
                title = f"Memory by {across}: a sliding window by {measure}, nothing dropped yet"
                yield f"memory_by_{across}_{measure}", lines(points, title, across, "bytes", base=10)


def _stores(report: Report) -> Iterator[tuple[str, Any]]:
    for aggregate in _distinct(_measured(report, "output_latency"), lambda record: record.aggregate):
        points = points_of(_measured(report, "output_latency", aggregate=aggregate), "entries")
        title = f"Time of one window: {aggregate}"
        yield f"output_latency_{aggregate}", lines(points, title, "entries of the store", "µs", base=10)
    for aggregate in _distinct(_measured(report, "finish"), lambda record: record.aggregate):
        points = _named(_measured(report, "finish", aggregate=aggregate), "slices", "per_push")
        points = {f"{name} per push": line for name, line in points.items()}
        title = f"Windows that slide by one slice: {aggregate}"
        yield f"finish_{aggregate}", lines(points, title, "slices of a window", "µs per window")
    splits = _measured(report, "splits")
    points = {
        name: [(float(record.get("rows") or 0), record.value or 0.0) for record in splits if record.aggregate == name]
        for name in _distinct(splits, lambda record: record.aggregate)
    }
    if points:
        title = "A split: both halves of a slice computed anew"
        yield "splits", lines(points, title, "rows of the slice", "µs", base=10)


def _distinct(records: list[Record], key: Callable[[Record], str]) -> list[str]:
    return list(dict.fromkeys(map(key, records)))


# --- bars in groups ----------------------------------------------------------------------------------


def _grouped(report: Report) -> Iterator[tuple[str, Any]]:
    kinds: dict[str, tuple[str, str, Callable[[Record], str], Callable[[Record], str]]] = {
        "aggregates": (
            "20 windows, 20 % of the rows late, by aggregate",
            SPEED,
            lambda record: record.aggregate,
            lambda record: f"{record.subject}, {record.get('measure')}",
        ),
        "median": (
            "Median: 20 windows, 20 % of the rows late",
            SPEED,
            lambda record: f"{record.get('distinct')} values",
            lambda record: record.subject,
        ),
        "one_row": (
            "A row at a time",
            "pushes/s",
            lambda record: f"{record.get('keys')} keys",
            lambda record: record.subject,
        ),
        "keys": (
            "Many keys in one push",
            SPEED,
            lambda record: f"{record.get('rows_per_slice')} rows per slice",
            lambda record: record.metric,
        ),
    }
    for name, (title, label, group, series) in kinds.items():
        records = [record for record in _measured(report, name) if record.subject != "copy"]
        if records:
            yield name, _bars(records, title, label, group, series)


def _bars(
    records: list[Record],
    title: str,
    label: str,
    group: Callable[[Record], str],
    series: Callable[[Record], str],
) -> Any:
    import matplotlib as mpl

    groups, names = _distinct(records, group), _distinct(records, series)
    figure, axes = figure_with(title, label, "", (9.5, 0.16 * len(groups) * (len(names) + 1) + 1.8))
    thick = 0.8 / len(names)
    palette = mpl.colormaps["tab10"]
    for k, name in enumerate(names):
        own = [record for record in records if series(record) == name]
        places = [groups.index(group(record)) + (k - (len(names) - 1) / 2) * thick for record in own]
        colour = "black" if name in OURS else palette(k % 10)
        axes.barh(places, [record.value for record in own], height=thick, color=colour, label=name)
    axes.set_xscale("log")
    axes.set_yticks(range(len(groups)), groups)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure
