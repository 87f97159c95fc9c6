"""The figures of each run as images inside a page, and the figure of the README."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.plots import SECONDS
from benchmarks.records import Record
from benchmarks.report.runs import Run, Runs
from benchmarks.spark_tables.measurement import TIME
from benchmarks.spark_tables.subjects import NATIVE, SASH

__all__ = ["Pictures", "native_against_sash", "pictures_of", "saved"]

Pictures = Mapping[str, list[tuple[str, str]]]  # experiment → names and images
_SLIDES = {"spark_tables": "Tables", "spark_streams": "Streams"}
_COLOURS = {NATIVE: "#d1495b", SASH: "black"}


def pictures_of(run: Run) -> Pictures:
    """Return the figures of a run by experiment."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, figure in run.suite.figures(run.report):
        experiment = max((each for each in run.experiments if name.startswith(each)), key=len, default=name)
        found.setdefault(experiment, []).append((name, _image(figure)))
    return found


def _image(figure: Any) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(_drawn(figure, "svg")).decode()


def _drawn(figure: Any, kind: str) -> bytes:
    """Return the bytes of an image; text stays text, and the same numbers give the same bytes."""
    import matplotlib as mpl

    target = io.BytesIO()
    facts = {"Date": None} if kind == "svg" else {}
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sash"}):
        figure.savefig(target, format=kind, dpi=130, bbox_inches="tight", facecolor="white", metadata=facts)
    mpl.pyplot.close(figure)
    return target.getvalue()


def saved(figure: Any, folder: Path) -> str:
    """Write a figure as PNG and SVG, and return the image for a page."""
    for kind in ("png", "svg"):
        (folder / f"native_against_sash.{kind}").write_bytes(_drawn(figure, kind))
    return _image(figure)


# --- native against sash -----------------------------------------------------------------------------


def native_against_sash(runs: Runs) -> Any | None:
    """Draw time by size over slide, of tables and of streams; None if neither was measured."""
    panels = {title: own for suite, title in _SLIDES.items() if (own := _slides(runs, suite))}
    if not panels:
        return None
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(5.2 * len(panels) + 1, 4.2), squeeze=False)
    for panel, (title, records) in zip(axes[0], panels.items(), strict=True):
        _panel(panel, title, records)
    figure.suptitle("Windows that grow: Spark by itself against sash", x=0.01, ha="left", fontweight="bold")
    figure.tight_layout()
    return figure


def _slides(runs: Runs, suite: str) -> list[Record]:
    """Return the times of both sides on the largest number of rows."""
    run = runs.with_experiment(suite, "slide")
    records = run.report.select("slide", metric=TIME) if run is not None else []
    most = max((int(each.get("rows") or 0) for each in records if each.value), default=0)
    return [each for each in records if each.get("rows") == most and each.subject in _COLOURS]


def _panel(axes: Any, title: str, records: list[Record]) -> None:
    shape = ", ".join(f"{int(records[0].get(name) or 0):,} {name}" for name in ("rows", "keys"))
    axes.set_title(f"{title}: {shape}", loc="left", fontsize=10)
    axes.set(xscale="log", yscale="log", xlabel="size / slide", ylabel=SECONDS)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(which="major", color="#e6e6e6", linewidth=0.8)
    for subject, colour in _COLOURS.items():
        own = sorted(
            (float(r.get("slides") or 0), r.value, r.mark) for r in records if r.subject == subject and r.value
        )
        if not own:
            continue
        places, times = [each[0] for each in own], [each[1] for each in own]
        axes.plot(places, times, color=colour, linewidth=2.2, marker="o", markersize=4)
        axes.annotate(subject, (places[-1], times[-1]), (6, 6), textcoords="offset points", color=colour)
        stopped = [(place, time) for place, time, mark in own if mark == ">"]
        if stopped:
            axes.plot(*zip(*stopped, strict=True), "^", color=colour, markersize=9)
    _remarks(axes, records)


def _remarks(axes: Any, records: list[Record]) -> None:
    """Say where native was not measured, and what a triangle means."""
    left = sorted(int(each.get("slides") or 0) for each in records if each.subject == NATIVE and not each.value)
    remarks = [f"native not run at {', '.join(f'{each:,}' for each in left)}"] if left else []
    remarks += ["▲ stopped at this time"] if any(each.mark == ">" for each in records) else []
    axes.text(0.98, 0.02, "; ".join(remarks), transform=axes.transAxes, ha="right", fontsize=8, color="#666666")
    axes.margins(x=0.12, y=0.12)
