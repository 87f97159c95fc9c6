"""The command `python -m benchmarks`: run a suite, print its tables, write its report and plots."""

from pathlib import Path
from typing import Any

import click

from benchmarks.catalog import SUITES
from benchmarks.records import Report
from benchmarks.run_log import RunLog
from benchmarks.suite import Suite
from sash.cli.main import CommandGroup
from sash.cli.terminal import progress, show
from sash.errors import UnknownName

__all__ = ["main"]

BUILD = Path("build/bench")
NO_PLOTS = "No plots: matplotlib is not installed. Get it with: pip install 'sash[report]'"
EXAMPLES = """\b
Examples:
  python -m benchmarks algorithms --quick
  python -m benchmarks slicing --only concurrent --only one_row
  python -m benchmarks matrix --only string --only sliding --only table
  python -m benchmarks spark_tables --only frames --out build/frames
  python -m benchmarks report
"""


class Suites(CommandGroup):
    """A group of commands that lists the known names where it gets an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise UnknownName.of("benchmark", args[0], self.commands)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Suites, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=EXAMPLES
)
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
def main(debug: bool) -> None:
    """Measure sash beside a copy of the same bytes, other libraries, other techniques and native Spark."""


def _command(suite: Suite[Any]) -> click.Command:
    @click.command(
        suite.name,
        help=f"{suite.purpose}\n\nThe experiments: {', '.join(suite.experiments)}.",
        short_help=suite.purpose,
        epilog=f"\b\nExamples:\n  python -m benchmarks {suite.name} --quick",
    )
    @click.option("--quick", is_flag=True, help="Use small sizes: this shows that everything works.")
    @click.option("--only", multiple=True, metavar="NAME", help=suite.only_help)
    @click.option("--continue", "resume", is_flag=True, help="Keep what the run before measured, and measure the rest.")
    @click.option(
        "--out",
        default=BUILD / suite.name,
        show_default=True,
        type=click.Path(file_okay=False, path_type=Path),
        help="The folder for report.json, report.md and the plots.",
    )
    def command(quick: bool, only: tuple[str, ...], resume: bool, out: Path) -> None:
        _run(suite, quick, only, resume, out)

    return command


for _suite in SUITES.values():
    main.add_command(_command(_suite))


def _run(suite: Suite[Any], quick: bool, only: tuple[str, ...], resume: bool, out: Path) -> None:
    """Measure, print, write."""
    settings = suite.quick if quick else suite.full
    tasks = suite.plan(only, settings)
    out.mkdir(parents=True, exist_ok=True)
    with RunLog.open(out, suite.title(settings), resume) as log, progress(suite.name, len(tasks)) as begin:
        report = suite.run(tasks, settings, lambda experiment, label: begin(f"{experiment}, {label}"), log)
    click.echo(f"{report.machine}\n")
    for note in report.notes:
        click.echo(note)
    click.echo()
    for table in suite.tables(report):
        show(table)
    if quick:
        click.echo("These sizes are too small to judge by: run without --quick for results that count.\n")
    (out / "report.json").write_text(report.to_json(), encoding="utf-8")
    (out / "report.md").write_text(_markdown(suite, report), encoding="utf-8")
    click.echo(f"Report: {out / 'report.json'}, {out / 'report.md'}")
    _draw(suite, report, out)


def _markdown(suite: Suite[Any], report: Report) -> str:
    parts = [f"# {report.name}", f"{report.machine}.", *(f"- {note}" for note in report.notes)]
    parts += [f"## {table.title}\n\n{table.markdown()}" for table in suite.tables(report)]
    return "\n\n".join(parts) + "\n"


def _draw(suite: Suite[Any], report: Report, out: Path) -> None:
    try:
        from benchmarks.drawing import draw

        paths = draw(suite.figures(report), out)
    except ImportError:
        click.echo(NO_PLOTS)
        return
    click.echo("Plots: " + ", ".join(path.name for path in paths))


@main.command()
@click.option(
    "--from",
    "folder",
    default=BUILD,
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder that holds reports, itself or its subfolders.",
)
@click.option(
    "--out",
    default=BUILD / "report.html",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write.",
)
@click.option(
    "--fill",
    "pages",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Also fill the tables of this Markdown page, such as docs/performance.md. Can be given several times.",
)
def report(folder: Path, out: Path, pages: tuple[Path, ...]) -> None:
    """Write one page of all results, beside the findings of the papers."""
    from benchmarks.report.filled_page import fill
    from benchmarks.report.runs import read_runs
    from benchmarks.report.writer import write_page

    runs = read_runs(folder)
    for page in pages:
        page.write_text(fill(page.read_text(encoding="utf-8"), runs), encoding="utf-8")
    with progress("report", len(runs)) as begin:
        written = write_page(runs, out, begin)
    show(written.findings)
    if not written.is_drawn:
        click.echo(NO_PLOTS)
    click.echo(f"Page: {out}")
