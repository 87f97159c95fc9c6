"""Figures in one style: lines on logarithmic axes, bars in groups, and the spread of latencies."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.records import Record

__all__ = ["Points", "bars", "dots", "draw", "heat_map", "latency", "lines"]

Points = Mapping[str, list[tuple[float, float]]]
GREY = "#888888"
OURS = ("auto", "sash")  # drawn heavy and black


def draw(figures: Iterable[tuple[str, Any]], folder: Path) -> list[Path]:
    """Write each figure as a PNG, and return the paths."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    return [_saved(figure, folder / f"{name}.png") for name, figure in figures]


def _saved(figure: Any, path: Path) -> Path:
    from matplotlib import pyplot as plt

    figure.savefig(path, dpi=130, bbox_inches="tight", facecolor="white")
    plt.close(figure)
    return path


def _colours(names: list[str]) -> dict[str, Any]:
    import matplotlib as mpl

    palette = mpl.colormaps["tab10"]
    return {name: "black" if name in OURS else palette(k % 10) for k, name in enumerate(sorted(names))}


def _figure(title: str, xlabel: str, ylabel: str, size: tuple[float, float] = (9.5, 6.0)) -> tuple[Any, Any]:
    """Make a figure with one pair of axes."""
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
    """Draw log-log lines, each named where it ends; names that would touch are moved apart."""
    figure, axes = _figure(title, xlabel, ylabel)
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
    """Write names in a column to the right of the axes, in the order of the ends of their lines."""
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
    """Return heights at least a step apart and at most 1, near the wanted ones; neighbours share their mean."""
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


def bars(values: Mapping[str, Mapping[str, float]], title: str, xlabel: str, copy: bool = False) -> Any:
    """Draw bars in groups, with a name for each series; `copy` marks 1, the speed of a copy."""
    names = list(dict.fromkeys(name for group in values.values() for name in group))
    figure, axes = _figure(title, xlabel, "", (9.5, 0.16 * len(values) * (len(names) + 1) + 1.8))
    thick, colours = 0.8 / len(names), _colours(names)
    for k, name in enumerate(names):
        own = [(place, group[name]) for place, group in enumerate(values.values()) if name in group]
        places = [place + (k - (len(names) - 1) / 2) * thick for place, _ in own]
        axes.barh(places, [value for _, value in own], height=thick, color=colours[name], label=name)
    axes.set_xscale("log")
    if copy:
        axes.axvline(1, color=GREY, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(values)), list(values))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def dots(windows: Mapping[str, float], title: str, xlabel: str) -> Any:
    """Draw a dot for each name, the lowest value at the top."""
    found = sorted(((value, name) for name, value in windows.items()), reverse=True)
    figure, axes = _figure(title, xlabel, "", (8.0, 0.3 * len(found) + 1.4))
    axes.set_xscale("log", base=2)
    axes.plot([value for value, _ in found], range(len(found)), "o", color="#4c78a8", markersize=7)
    axes.set_yticks(range(len(found)), [name for _, name in found])
    return figure


def heat_map(values: Mapping[tuple[str, str], float], title: str, unit: str, limit: float) -> Any:
    """Draw a coloured square with its number for each pair of names: green far below the limit, red far above it."""
    from matplotlib.colors import LogNorm

    rows = sorted({row for row, _ in values})
    heads = sorted({head for _, head in values})
    figure, axes = _figure(f"{title} [{unit}]", "", "", (0.8 * len(heads) + 2.5, 0.3 * len(rows) + 1.8))
    nothing = float("nan")
    squares = [[values.get((row, head), nothing) for head in heads] for row in rows]
    axes.imshow(squares, cmap="RdYlGn_r", norm=LogNorm(limit / 30, limit * 30), aspect="auto")
    for y, line in enumerate(squares):
        for x, value in enumerate(line):
            if not math.isnan(value):
                axes.text(x, y, _short(value), ha="center", va="center", fontsize=7)
    axes.set_xticks(range(len(heads)), heads, rotation=40, ha="right", fontsize=8.5)
    axes.set_yticks(range(len(rows)), rows, fontsize=8.5)
    axes.grid(visible=False)
    return figure


def _short(value: float) -> str:
    return f"{value:.0f}" if value < 10_000 else f"{value / 1000:.0f}k"


def latency(records: list[Record]) -> Any:
    """Draw a bar from quartile to quartile, a line to 99.99 % and marks for the maxima, in one panel per window."""
    from matplotlib import pyplot as plt

    found: dict[tuple[str, int], dict[str, float]] = {}
    for record in records:
        if record.aggregate and record.value is not None:
            own = found.setdefault((record.subject, int(record.get("window") or 0)), {})
            own[record.metric] = record.value
    subjects = list(dict.fromkeys(subject for subject, _ in found))
    windows = sorted({window for _, window in found})
    size = (4.2 * len(windows) + 1.5, 0.36 * len(subjects) + 2.0)
    figure, panels = plt.subplots(1, len(windows), figsize=size, sharey=True, sharex=True, squeeze=False)
    for panel, window in zip(panels[0], windows, strict=True):
        panel.set_xscale("log")
        panel.set_title(f"window {window:,}", fontsize=10)
        panel.set_xlabel("ns per answer")
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="x", color="#e6e6e6")
        for height, subject in enumerate(subjects):
            if own := found.get((subject, window), {}):
                panel.plot([own["min"], own["99.99 %"]], [height, height], color="#4c78a8", linewidth=1.2)
                panel.plot([own["25 %"], own["75 %"]], [height, height], color="#4c78a8", linewidth=7)
                panel.plot(own["median"], height, "|", color="white", markersize=8)
                panel.plot(own["steady max"], height, "o", color="#e45756", markersize=5)
                panel.plot(own["max"], height, "x", color=GREY, markersize=5)
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
