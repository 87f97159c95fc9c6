"""Pictures of a report: one PNG per question, axes that fit the numbers, labels beside the lines."""

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.records import Record, Report

__all__ = ["GREY", "OURS", "Points", "algorithm_figures", "draw", "figure_with", "lines", "points_of"]

Points = dict[str, list[tuple[float, float]]]
GREY = "#888888"
OURS = ("auto", "sash")  # drawn heavy and black


def draw(figures: Iterable[tuple[str, Any]], folder: Path) -> list[Path]:
    """Write a PNG for each of the figures, which are made one by one, and say which."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    return [_saved(figure, folder / f"{name}.png") for name, figure in figures]


def _saved(figure: Any, path: Path) -> Path:
    from matplotlib import pyplot as plt

    figure.savefig(path, dpi=130, bbox_inches="tight", facecolor="white")
    plt.close(figure)
    return path


def algorithm_figures(report: Report) -> Iterator[tuple[str, Any]]:
    """Everything that can be drawn of a bench of algorithms, under its name."""
    throughput = report.select("throughput")
    for aggregate in dict.fromkeys(record.aggregate for record in throughput):
        records = [record for record in throughput if record.aggregate == aggregate]
        points = points_of(records, "window")
        copy = next((record.value for record in records if record.subject == "copy" and record.value), None)
        points.pop("copy", None)
        if points:
            title = f"Throughput of {aggregate} by window: one thread each, auto on all cores"
            yield (
                f"throughput_{aggregate}",
                lines(points, title, "window [rows]", "million rows/s", level=("copy", copy)),
            )
    memory = points_of(report.select("memory", metric="state"), "window")
    if memory:
        per_row = {name: [(window, size / window) for window, size in line] for name, line in memory.items()}
        yield (
            "memory",
            lines(per_row, "Memory of a window: bytes of the state per row", "window [rows]", "bytes per row"),
        )
    ranges = points_of(report.select("ranges"), "ranges")
    if ranges:
        yield "ranges", lines(ranges, "All ranges from 1 to n, at every row", "n [ranges]", "million answers/s")
    slides = points_of(report.select("slides"), "slide")
    if slides:
        title = "Throughput by slide: an answer at every k-th row"
        yield "slides", lines(slides, title, "slide [rows]", "million rows/s", base=None)
    for name, make in _OTHERS.items():
        if any(record.value is not None for record in report.select(name)):
            yield name, make(report)


def points_of(records: list[Record], across: str) -> Points:
    """A line per subject: values over a parameter that is a number."""
    points: Points = {}
    for record in records:
        place = record.get(across)
        if record.value is not None and isinstance(place, int | float):
            points.setdefault(record.subject, []).append((place, record.value))
    return points


def _colours(names: list[str]) -> dict[str, Any]:
    import matplotlib as mpl

    palette = mpl.colormaps["tab10"]
    return {name: "black" if name in OURS else palette(k % 10) for k, name in enumerate(sorted(names))}


def figure_with(title: str, xlabel: str, ylabel: str, size: tuple[float, float] = (9.5, 6.0)) -> tuple[Any, Any]:
    """A figure with one pair of axes in the style of all."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=size)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(which="major", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def lines(
    points: Points,
    title: str,
    xlabel: str,
    ylabel: str,
    level: tuple[str, float | None] = ("", None),
    base: int | None = 2,
) -> Any:
    """Log-log lines, each named where it ends; names that would touch are moved apart."""
    figure, axes = figure_with(title, xlabel, ylabel)
    if base:
        axes.set_xscale("log", base=base)
    axes.set_yscale("log")
    colours = _colours(list(points))
    ends = []
    for name, line in points.items():
        xs, ys = zip(*sorted(line), strict=True)
        heavy = name in OURS
        style = "-" if heavy or sorted(points).index(name) < 10 else (0, (4, 1.5))  # ten colours, then dashes
        axes.plot(
            xs, ys, color=colours[name], linewidth=2.6 if heavy else 1.5, linestyle=style, marker="o", markersize=3
        )
        ends.append((name, xs[-1], ys[-1], colours[name]))
    if level[1] is not None:
        axes.axhline(level[1], color=GREY, linewidth=1, linestyle="--")
        ends.append((level[0], max(end[1] for end in ends), level[1], GREY))
    seen = [y for line in points.values() for _, y in line] + ([level[1]] if level[1] is not None else [])
    axes.set_ylim(10 ** math.floor(math.log10(min(seen) * 0.9)), 10 ** math.ceil(math.log10(max(seen) * 1.1)))
    _name_ends(axes, ends)
    return figure


def _name_ends(axes: Any, ends: list[tuple[str, float, float, Any]]) -> None:
    """Names in a column to the right of the axes, in the order of the lines' ends, tied to them by hairlines."""
    axes.figure.canvas.draw()
    to_axes = axes.transData + axes.transAxes.inverted()
    placed = sorted(
        ((to_axes.transform((x, y)), name, colour) for name, x, y, colour in ends), key=lambda each: each[0][1]
    )
    heights = _apart([y for (_, y), _, _ in placed], 0.042)
    for ((x, y), name, colour), height in zip(placed, heights, strict=True):
        axes.annotate(
            name,
            xy=(x, y),
            xytext=(1.03, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=8.5,
            va="center",
            color=colour,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 0, "shrinkB": 2},
        )


def _apart(wanted: list[float], step: float) -> list[float]:
    """Heights at least a step apart, none above 1, near to the wanted ones: neighbours that touch share their mean."""
    blocks: list[tuple[float, int]] = []  # mean of wanted height minus own offset, and how many share it
    for k, height in enumerate(wanted):
        mean, many = height - k * step, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, many = (mean * many + other * more) / (many + more), many + more
        blocks.append((mean, many))
    levels = [mean for mean, many in blocks for _ in range(many)]
    heights = [level + k * step for k, level in enumerate(levels)]
    return [min(height, 1 - (len(heights) - 1 - k) * step) for k, height in enumerate(heights)]


def _latency(report: Report) -> Any:
    """A bar from quartile to quartile, a line to 99.99 %, marks for the maxima; one panel per window."""
    from matplotlib import pyplot as plt

    windows = sorted(
        {int(r.get("window") or 0) for r in report.select("latency") if r.value is not None and r.aggregate}
    )
    subjects = list(dict.fromkeys(r.subject for r in report.select("latency") if r.value is not None and r.aggregate))
    size = (4.2 * len(windows) + 1.5, 0.36 * len(subjects) + 2.0)
    figure, panels = plt.subplots(1, len(windows), figsize=size, sharey=True, sharex=True, squeeze=False)
    for panel, window in zip(panels[0], windows, strict=True):
        panel.set_xscale("log")
        panel.set_title(f"window {window:,}", fontsize=10)
        panel.set_xlabel("ns per answer")
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="x", color="#e6e6e6")
        for height, subject in enumerate(subjects):
            found = {r.metric: r.value for r in report.select("latency", subject=subject, window=window)}
            if found.get("median") is None:
                continue
            panel.plot([found["min"], found["99.99 %"]], [height, height], color="#4c78a8", linewidth=1.2)
            panel.plot([found["25 %"], found["75 %"]], [height, height], color="#4c78a8", linewidth=7)
            panel.plot(found["median"], height, "|", color="white", markersize=8)
            panel.plot(found["steady max"], height, "o", color="#e45756", markersize=5)
            panel.plot(found["max"], height, "x", color=GREY, markersize=5)
    panels[0][0].set_yticks(range(len(subjects)), subjects)
    figure.suptitle("Time of a single answer: evict, insert, query", x=0.02, ha="left", fontweight="bold")
    keys: list[tuple[str, dict[str, Any]]] = [
        ("quartiles, median", {"color": "#4c78a8", "linewidth": 7}),
        ("min to 99.99 %", {"color": "#4c78a8", "linewidth": 1.2}),
        ("slowest answer in every run", {"color": "#e45756", "marker": "o", "linestyle": ""}),
        ("slowest of one run (interrupts)", {"color": GREY, "marker": "x", "linestyle": ""}),
    ]
    handles = [plt.Line2D([], [], label=label, **style) for label, style in keys]
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.legend(handles=handles, loc="lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _peers(report: Report) -> Any:
    """Bars in groups: an aggregate and a window each, the copy as a line."""
    records = [record for record in report.select("peers") if record.ratio is not None]
    groups = list(dict.fromkeys((record.aggregate, int(record.get("window") or 0)) for record in records))
    subjects = [name for name in dict.fromkeys(record.subject for record in records) if name != "copy"]
    figure, axes = figure_with(
        "Rolling, beside other libraries",
        "speed, where a copy of the same bytes is 1",
        "",
        (9.5, 0.62 * len(groups) + 1.8),
    )
    colours = {**_colours(subjects), "sash": "black"}
    thick = 0.8 / len(subjects)
    for k, subject in enumerate(subjects):
        places, ratios = [], []
        for group, (aggregate, window) in enumerate(groups):
            for record in records:
                if (record.subject, record.aggregate, record.get("window")) == (subject, aggregate, window):
                    places.append(group + (k - (len(subjects) - 1) / 2) * thick)
                    ratios.append(record.ratio)
        axes.barh(places, ratios, height=thick, color=colours[subject], label=subject)
    axes.set_xscale("log")
    axes.axvline(1, color=GREY, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(groups)), [f"{aggregate}, {window:,} rows" for aggregate, window in groups])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def _break_even(report: Report) -> Any:
    """A dot per algorithm: the window from which on it is faster than recalculation."""
    found = [(r.value, f"{r.subject} ({r.aggregate})") for r in report.select("break_even") if r.value is not None]
    found.sort(reverse=True)
    size = (8.0, 0.3 * len(found) + 1.4)
    figure, axes = figure_with("From this window on, faster than recalculation", "window [rows]", "", size)
    axes.set_xscale("log", base=2)
    axes.plot([value for value, _ in found], range(len(found)), "o", color="#4c78a8", markersize=7)
    axes.set_yticks(range(len(found)), [name for _, name in found])
    return figure


_OTHERS: dict[str, Callable[[Report], Any]] = {"latency": _latency, "peers": _peers, "break_even": _break_even}
