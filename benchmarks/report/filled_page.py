"""Fill the tables of a Markdown page with what was measured.

A table is between two comments. The first names a suite and the beginning of the title of a table of its report, or of
several, which become one list:

    <!-- measured: slicing concurrent of sum -->
    …
    <!-- end -->

In the same way, `<!-- machine: slicing -->` is followed by the machine, the versions and the date of the run, and
`<!-- findings: daba -->` by a list of the findings of a paper, their verdicts and what was measured, and
`<!-- findings: all -->` by the number of each verdict.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator

from benchmarks.records import Report
from benchmarks.report.findings import AGREES, DIFFERS, NOT_MEASURED, Finding, verdicts
from benchmarks.report.papers.catalog import PAPERS
from benchmarks.report.runs import Run, Runs
from sash.cli.table import Table
from sash.errors import InvalidInput, UnknownName

__all__ = ["fill"]

WIDTH = 100  # of the lines of a page
_BLOCK = re.compile(r"(<!-- (measured|machine|findings): ([\w-]+)(?: ([^\n]+?))? -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(page: str, runs: Runs) -> str:
    """Return the page with the tables of the newest full runs; keep those of suites that were not run.

    >>> fill("no tables", Runs(()))
    'no tables'
    """
    return _BLOCK.sub(lambda block: _filled(block, runs), page)


def _filled(block: re.Match[str], runs: Runs) -> str:
    begin, what, name, title, end = block.groups()
    full = Runs(tuple(run for run in runs if not run.is_quick and (what == "findings" or run.suite.name == name)))
    if not len(full):
        return block.group(0)
    if what == "findings":
        text = _findings(name, full)
    else:
        run = next(iter(full))
        text = _machine(run.report) if what == "machine" else _tables(run, title)
    return f"{begin}\n{text}\n\n{end}"


def _findings(key: str, runs: Runs) -> str:
    if key == "all":
        seen = Counter(verdicts(PAPERS, runs))
        counts = f"{seen[AGREES]} agree, {seen[DIFFERS]} differ, and {seen[NOT_MEASURED]} were not measured"
        return f"Of {seen.total()} findings, {counts}."
    papers = {paper.key: paper for paper in PAPERS}
    if key not in papers:
        raise UnknownName.of("paper", key, papers)
    return "\n".join(line for each in papers[key].findings for line in _finding(each, runs))


def _finding(finding: Finding, runs: Runs) -> Iterator[str]:
    outcome = finding.judge(runs)
    note = f" *{finding.note}*" if finding.note else ""
    yield _item(f"- **{finding.where}: {outcome.verdict}.** {finding.claim}{note}")
    yield from (_item(f"  - {bar.name}: {bar.found} (required {bar.limit})") for bar in outcome.bars)


def _item(text: str) -> str:
    """Return an item of a list, wrapped.

    >>> print(_item("  - " + "word " * 21))
      - word word word word word word word word word word word word word word word word word word word
        word word
    """
    indent = " " * (text.index("- ") + 2)
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _machine(report: Report) -> str:
    machine = report.machine
    packages = ", ".join(f"{name} {version}" for name, version in machine.versions)
    lines = f"Processor: {machine.cpu}\nCores: {machine.cores}\nPython: {machine.python}, {packages}\n{machine.date}"
    return "\n".join(_item(f"- {line}") for line in lines.splitlines())


def _tables(run: Run, title: str) -> str:
    tables = tuple(run.suite.tables(run.report))
    found = [table for table in tables if table.title.startswith(title)]
    if not found:
        known = ", ".join(dict.fromkeys(table.title for table in tables))
        raise InvalidInput(f"{run.report.name} has no table whose title begins with {title!r}. It has: {known}.")
    return "\n\n".join(_shown(table, is_alone=len(found) == 1) for table in found)


def _shown(table: Table, *, is_alone: bool) -> str:
    return table.markdown() if is_alone else f"{table.title}:\n\n{table.markdown()}"
