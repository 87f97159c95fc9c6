"""`sash bench …`: run the experiments, print the tables, keep report and pictures."""

from pathlib import Path
from typing import Any

import click

from sash.cli.show import progress, show
from sash.report import Report

__all__ = ["bench_algorithms", "bench_report", "bench_slicing", "bench_spark", "bench_streaming"]

NO_PICTURES = "No pictures: matplotlib is not installed. Get it with: pip install 'sash[report]'"


def bench_algorithms(quick: bool, only: tuple[str, ...], out: Path) -> Report:
    """The algorithms that slide one window."""
    from sash.bench.algorithms import BENCH

    return _bench(BENCH, quick, only, out)


def bench_slicing(quick: bool, only: tuple[str, ...], out: Path) -> Report:
    """Streams of many windows."""
    from sash.bench.slicing import BENCH

    return _bench(BENCH, quick, only, out)


def bench_spark(quick: bool, only: tuple[str, ...], out: Path) -> Report:
    """DataFrames, beside native Spark."""
    from sash.bench.spark import BENCH

    return _bench(BENCH, quick, only, out)


def bench_streaming(quick: bool, only: tuple[str, ...], out: Path) -> Report:
    """Streaming DataFrames, beside Structured Streaming by itself."""
    from sash.bench.streaming import BENCH

    return _bench(BENCH, quick, only, out)


def bench_report(folder: Path, out: Path) -> None:
    """All that was measured, on one page."""
    from sash.bench.page.runs import read_runs
    from sash.bench.page.write import write_page

    runs = read_runs(folder)
    with progress("sash bench report", len(runs)) as begin:
        written = write_page(runs, out, begin)
    show(written.findings)
    if not written.is_drawn:
        click.echo(NO_PICTURES)
    click.echo(f"Page: {out}")


def _bench(bench: Any, quick: bool, only: tuple[str, ...], out: Path) -> Report:
    """Measure, print, write."""
    settings = bench.quick if quick else bench.full
    tasks = bench.plan(only, settings)
    with progress("sash bench", len(tasks)) as begin:
        report: Report = bench.run(tasks, settings, lambda experiment, label: begin(f"{experiment}, {label}"))
    click.echo(f"{report.machine}\n")
    for note in report.notes:
        click.echo(note)
    click.echo()
    for table in report.tables():
        show(table)
    if quick:
        click.echo("Quick sizes are too small to judge by: run without --quick for bars that count.\n")
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(report.to_json(), encoding="utf-8")
    click.echo(f"Report: {out / 'report.json'}")
    _draw(bench, report, out)
    return report


def _draw(bench: Any, report: Report, out: Path) -> None:
    try:
        from sash.bench.plots import draw

        paths = draw(bench.figures(report), out)
    except ImportError:
        click.echo(NO_PICTURES)
        return
    click.echo("Pictures: " + ", ".join(path.name for path in paths))
