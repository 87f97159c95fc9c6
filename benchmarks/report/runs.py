"""The reports of earlier runs, read from a folder."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.catalog import SUITES
from benchmarks.records import Bar, Report
from benchmarks.suite import Suite
from sash.errors import InvalidInput

__all__ = ["Run", "Runs", "command", "read_runs"]


def command(suite: str, *experiments: str) -> str:
    """Return the command that measures it.

    >>> command("spark_tables", "slide")
    'python -m benchmarks spark_tables --only slide'
    """
    return " ".join([f"python -m benchmarks {suite}", *(f"--only {each}" for each in experiments)])


@dataclass(frozen=True)
class Run:
    """A report, and the suite that wrote it."""

    suite: Suite[Any]
    report: Report
    path: Path

    @property
    def experiments(self) -> tuple[str, ...]:
        """Return the experiments that have records, in the order of the report."""
        return tuple(dict.fromkeys(record.experiment for record in self.report.records))

    @property
    def is_quick(self) -> bool:
        """Return whether its sizes are small."""
        return self.report.name == self.suite.title(self.suite.quick)


@dataclass(frozen=True)
class Runs:
    """All runs of a folder: full runs before quick ones, then by date, newest first."""

    runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def of(self, suite: str) -> tuple[Run, ...]:
        """Return the runs of a suite."""
        return tuple(run for run in self.runs if run.suite.name == suite)

    def with_experiment(self, suite: str, experiment: str) -> Run | None:
        """Return the first run of a suite that has records of the experiment."""
        return next((run for run in self.of(suite) if experiment in run.experiments), None)

    def promises(self) -> Mapping[Path, tuple[Bar, ...]]:
        """Return every target once, by the first run that measured it; quick runs count if there is no full run."""
        chosen: dict[tuple[str, str], tuple[Run, Bar]] = {}
        full = {run.suite.name for run in self.runs if not run.is_quick}
        for run in self.runs:
            if run.is_quick and run.suite.name in full:
                continue
            for bar in run.report.bars:
                known = chosen.setdefault((run.suite.name, bar.name), (run, bar))
                if known[1].measured is None and bar.measured is not None:
                    chosen[run.suite.name, bar.name] = run, bar
        return {run.path: tuple(bar for other, bar in chosen.values() if other is run) for run in self.runs}


def read_runs(folder: Path) -> Runs:
    """Read every report.json in the folder and its subfolders."""
    runs = [_read(path) for path in sorted(folder.rglob("report.json"))]
    if not runs:
        hint = " or ".join(f"`{command(each)}`" for each in SUITES)
        raise InvalidInput(f"There is no report.json in {folder} or below it. Make one with {hint}.")
    return Runs(tuple(sorted(runs, key=_rank, reverse=True)))


def _rank(run: Run) -> tuple[bool, str, float]:
    """Rank by kind and date; the time of the file decides for runs of the same day."""
    return not run.is_quick, run.report.machine.date, run.path.stat().st_mtime


def _read(path: Path) -> Run:
    try:
        report = Report.from_json(path.read_text(encoding="utf-8"))
        name = report.name.partition(" ")[0]
        return Run(SUITES[name], report, path)
    except KeyError as error:
        raise InvalidInput(f"{path} cannot be read: there is no suite {error}.") from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
