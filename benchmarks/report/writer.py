"""Write the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report.findings import finding_table
from benchmarks.report.images import Pictures, native_against_sash, pictures_of, saved
from benchmarks.report.page import Content, render
from benchmarks.report.papers.catalog import PAPERS
from benchmarks.report.runs import Runs
from sash.cli.table import Table

__all__ = ["Written", "write_page"]


@dataclass(frozen=True)
class Written:
    """The table of findings, and whether figures were drawn."""

    findings: Table
    is_drawn: bool


def write_page(runs: Runs, path: Path, begin: Callable[[str], None]) -> Written:
    """Write the page, and the figure of native against sash beside it; call `begin` before the figures of each run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        pictures, headline = _drawn(runs, path.parent, begin)
        is_drawn = True
    except ImportError:
        pictures, headline, is_drawn = {}, None, False
    path.write_text(render(Content(PAPERS, runs, pictures, headline)), encoding="utf-8")
    return Written(finding_table(PAPERS, runs), is_drawn)


def _drawn(runs: Runs, folder: Path, begin: Callable[[str], None]) -> tuple[Mapping[Path, Pictures], str | None]:
    """Draw all figures, and the one of native against sash."""
    import matplotlib as mpl

    mpl.use("Agg")
    figure = native_against_sash(runs)
    headline = None if figure is None else saved(figure, folder)
    pictures = {}
    for run in runs:
        begin(run.report.name)
        pictures[run.path] = pictures_of(run)
    return pictures, headline
