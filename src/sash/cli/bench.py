"""`sash bench algorithms`: run the experiments, print the tables, keep report and pictures."""

from pathlib import Path

import click

from sash.cli.show import progress, show
from sash.report import Report

__all__ = ["bench_algorithms"]


def bench_algorithms(quick: bool, only: tuple[str, ...], out: Path) -> Report:
    """Measure, print, write."""
    from sash.bench.algorithms import plan, run
    from sash.bench.settings import FULL, QUICK

    settings = QUICK if quick else FULL
    tasks = plan(only, settings)
    with progress("sash bench", len(tasks)) as begin:
        report = run(tasks, settings, lambda experiment, label: begin(f"{experiment}, {label}"))
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
    _draw(report, out)
    return report


def _draw(report: Report, out: Path) -> None:
    try:
        from sash.bench.plots import draw

        paths = draw(report, out)
    except ImportError:
        click.echo("No pictures: matplotlib is not installed. Get it with: pip install 'sash[report]'")
        return
    click.echo("Pictures: " + ", ".join(path.name for path in paths))
