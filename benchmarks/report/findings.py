"""Findings of papers, and whether the records of a run agree, differ, or were not measured."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.records import Bar, Report
from benchmarks.report.runs import Runs
from sash.cli.table import Table

__all__ = [
    "AGREES",
    "DIFFERS",
    "NOT_MEASURED",
    "Finding",
    "Outcome",
    "Paper",
    "figure_rows",
    "finding_table",
    "verdicts",
]

AGREES, DIFFERS, NOT_MEASURED = "agrees", "differs", "not measured"
Check = Callable[[Report], Iterable[Bar]]


@dataclass(frozen=True)
class Outcome:
    """A verdict and the numbers behind it."""

    verdict: str
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A claim of a paper, the experiment that measures it, and the check of its records."""

    where: str  # figure, table or section of the paper
    short: str
    claim: str
    experiment: str = ""  # suite and experiment, as in "algorithms throughput"; empty if there is none
    check: Check | None = None
    note: str = ""

    def judge(self, runs: Runs) -> Outcome:
        """Return the verdict: it differs if a bar is missed, and agrees only if every bar was measured."""
        run = runs.with_experiment(*self.experiment.split()) if self.experiment else None
        if run is None or self.check is None:
            return Outcome(NOT_MEASURED)
        bars = tuple(self.check(run.report))
        seen = {bar.verdict for bar in bars}
        verdict = DIFFERS if "miss" in seen else AGREES if seen == {"pass"} else NOT_MEASURED
        return Outcome(verdict, bars)


@dataclass(frozen=True)
class Paper:
    """A paper, its findings, and the names of its algorithms here."""

    key: str
    title: str
    authors: str
    year: int
    venue: str
    names: str
    findings: tuple[Finding, ...]
    doi: str = ""

    @property
    def cited(self) -> str:
        """Return author and year."""
        return f"{self.authors.partition(',')[0]} et al. {self.year}"


def finding_table(papers: Iterable[Paper], runs: Runs) -> Table:
    """Return all findings, one per row."""
    rows = tuple(
        (paper.cited, each.where, each.short, each.judge(runs).verdict) for paper in papers for each in paper.findings
    )
    return Table("findings", ("paper", "where", "finding", "verdict"), rows)


def figure_rows(paper: Paper) -> Iterator[str]:
    """Return the rows of Markdown that say by which experiment each finding of a paper is measured.

    >>> from benchmarks.report.papers.daba import PAPER
    >>> print(list(figure_rows(PAPER))[5])
    | Figure 13, bottom; Table 2 | Two-Stacks has the highest throughput. DABA takes ... | `algorithms throughput` |
    """
    for each in paper.findings:
        measured = f"`{each.experiment}`" if each.experiment else f"not measured. {each.note}"
        yield f"| {each.where} | {each.claim} | {measured} |"


def verdicts(papers: Iterable[Paper], runs: Runs) -> Iterator[str]:
    """Return the verdict of every finding."""
    return (each.judge(runs).verdict for paper in papers for each in paper.findings)
