"""What a paper found, and whether the records of a run show the same: agrees, differs, or not measured."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.records import Bar, Report
from benchmarks.report.runs import Runs
from sash.cli.table import Table

__all__ = ["AGREES", "DIFFERS", "NOT_MEASURED", "Finding", "Outcome", "Paper", "finding_table", "verdicts"]

AGREES, DIFFERS, NOT_MEASURED = "agrees", "differs", "not measured"
Check = Callable[[Report], Iterable[Bar]]


@dataclass(frozen=True)
class Outcome:
    """A verdict, and the numbers that it rests on."""

    verdict: str
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A claim of a paper, the experiment of ours that measures it, and what the records must show to agree."""

    where: str  # figure, table or section of the paper
    short: str
    claim: str
    experiment: str = ""  # bench and experiment, as "algorithms throughput"; none if there is no such experiment
    check: Check | None = None
    note: str = ""

    def judged(self, runs: Runs) -> Outcome:
        """It differs if any bar is missed, and agrees only if every one was measured."""
        run = runs.having(*self.experiment.split()) if self.experiment else None
        if run is None or self.check is None:
            return Outcome(NOT_MEASURED)
        bars = tuple(self.check(run.report))
        seen = {bar.verdict for bar in bars}
        verdict = DIFFERS if "miss" in seen else AGREES if seen == {"pass"} else NOT_MEASURED
        return Outcome(verdict, bars)


@dataclass(frozen=True)
class Paper:
    """Who found what, and what its algorithms are called here."""

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
        """Author and year."""
        return f"{self.authors.partition(',')[0]} et al. {self.year}"


def finding_table(papers: Iterable[Paper], runs: Runs) -> Table:
    """All findings, a line each."""
    rows = tuple(
        (paper.cited, each.where, each.short, each.judged(runs).verdict) for paper in papers for each in paper.findings
    )
    return Table("findings", ("paper", "where", "finding", "verdict"), rows)


def verdicts(papers: Iterable[Paper], runs: Runs) -> Iterator[str]:
    """The verdict of every finding."""
    return (each.judged(runs).verdict for paper in papers for each in paper.findings)
