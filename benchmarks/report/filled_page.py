"""Fill the tables of a Markdown page with what was measured.

A table is between two comments. The first names a suite and the beginning of the title of a table of its report, or of
several, which become one list:

    <!-- measured: slicing concurrent of sum -->
    …
    <!-- end -->

`<!-- machine: slicing -->` is replaced by the machine, the versions and the date of the run in the same way.
"""

import re

from benchmarks.records import Report
from benchmarks.report.runs import Runs
from sash.cli.table import Table
from sash.errors import InvalidInput

__all__ = ["fill"]

_BLOCK = re.compile(r"(<!-- (measured|machine): (\w+)(?: ([^\n]+?))? -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(page: str, runs: Runs) -> str:
    """Return the page with the tables of the newest full runs; keep those of suites that were not run.

    >>> fill("no tables", Runs(()))
    'no tables'
    """
    return _BLOCK.sub(lambda block: _filled(block, runs), page)


def _filled(block: re.Match[str], runs: Runs) -> str:
    begin, what, suite, title, end = block.groups()
    full = [run.report for run in runs.of(suite) if not run.is_quick]
    if not full:
        return block.group(0)
    text = _machine(full[0]) if what == "machine" else _tables(full[0], suite, title)
    return f"{begin}\n{text}\n\n{end}"


def _machine(report: Report) -> str:
    machine = report.machine
    packages = ", ".join(f"{name} {version}" for name, version in machine.versions)
    lines = f"Processor: {machine.cpu}\nCores: {machine.cores}\nPython: {machine.python}, {packages}\n{machine.date}"
    return "\n".join(f"- {line}" for line in lines.splitlines())


def _tables(report: Report, suite: str, title: str) -> str:
    found = [table for table in report.tables() if table.title.startswith(title)]
    if not found:
        known = ", ".join(dict.fromkeys(table.title for table in report.tables()))
        raise InvalidInput(f"The report of {suite} has no table whose title begins with {title!r}. It has: {known}.")
    return "\n\n".join(_shown(table, is_alone=len(found) == 1) for table in found)


def _shown(table: Table, *, is_alone: bool) -> str:
    return table.markdown() if is_alone else f"{table.title}:\n\n{table.markdown()}"
