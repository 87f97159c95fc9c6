"""The tables of a Markdown page come from reports."""

from pathlib import Path

import pytest

from benchmarks.catalog import SUITES
from benchmarks.records import Machine, Record, Report
from benchmarks.report.filled_page import fill
from benchmarks.report.papers.catalog import PAPERS
from benchmarks.report.papers.daba import PAPER as DABA
from benchmarks.report.runs import Run, Runs
from sash.errors import InvalidInput, UnknownName

MACHINE = Machine("a processor", 2, "Linux x86_64", "3.11.0", (("sash", "1"),), "2026-01-02")
SLICING = SUITES["slicing"]
RECORDS = (
    Record("concurrent", "sash", "rows", 2.5, "million rows/s", "sum", (("windows", 20),)),
    Record("splits", "sash", "time", 3.0, "µs"),
)
PAGE = """Before.

<!-- measured: slicing concurrent of sum -->
old
<!-- end -->

<!-- machine: slicing -->
<!-- end -->
"""


def runs_of(name: str) -> Runs:
    return Runs((Run(SLICING, Report(name, MACHINE, RECORDS), Path("report.json")),))


FINDINGS = sum(len(paper.findings) for paper in PAPERS)
FULL = runs_of(SLICING.title(SLICING.full))


def test_tables_and_machine_of_a_full_run_replace_the_old_ones() -> None:
    filled = fill(PAGE, FULL)
    assert "old" not in filled
    assert "| subject | windows 20 |" in filled
    assert "| sash | 2.5 |" in filled
    assert "- Processor: a processor" in filled
    assert "- 2026-01-02" in filled
    assert filled.startswith("Before.\n")
    assert fill(filled, FULL) == filled


def test_quick_runs_and_missing_suites_change_nothing() -> None:
    assert fill(PAGE, runs_of(SLICING.title(SLICING.quick))) == PAGE
    assert fill(PAGE, Runs(())) == PAGE


def test_several_tables_have_their_titles() -> None:
    more = (*RECORDS, Record("concurrent", "sash", "rows", 1.5, "million rows/s", "max", (("windows", 20),)))
    both = Runs((Run(SLICING, Report(SLICING.title(SLICING.full), MACHINE, more), Path("report.json")),))
    filled = fill("<!-- measured: slicing concurrent -->\n<!-- end -->\n", both)
    assert "concurrent of sum: rows [million rows/s]:\n" in filled
    assert "concurrent of max: rows [million rows/s]:\n" in filled


def test_a_title_that_no_table_has_is_refused_with_those_that_exist() -> None:
    with pytest.raises(InvalidInput, match="concurrent of sum"):
        fill("<!-- measured: slicing concurent -->\n<!-- end -->\n", FULL)


def test_findings_of_a_paper_have_their_verdicts() -> None:
    page = "<!-- findings: daba -->\nold\n<!-- end -->\n"
    filled = fill(page, FULL)
    assert len([line for line in filled.splitlines() if ": not measured.** " in line]) == len(DABA.findings)
    assert fill(filled, FULL) == filled
    assert fill(page, runs_of(SLICING.title(SLICING.quick))) == page


def test_verdicts_are_counted() -> None:
    filled = fill("<!-- findings: all -->\n<!-- end -->\n", FULL)
    assert f"Of {FINDINGS} findings, 0 agree, 0 differ, and {FINDINGS} were not measured." in filled


def test_findings_of_an_unknown_paper_are_refused() -> None:
    with pytest.raises(UnknownName, match="daba"):
        fill("<!-- findings: dabba -->\n<!-- end -->\n", FULL)
