"""The reports that benches left in a folder."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sash.bench import algorithms, slicing, spark, streaming
from sash.bench.runner import Bench
from sash.errors import InvalidInput
from sash.report import Report

__all__ = ["BENCHES", "Run", "Runs", "command", "read_runs"]

BENCHES: Mapping[str, Bench[Any]] = {
    each.name: each for each in (algorithms.BENCH, slicing.BENCH, spark.BENCH, streaming.BENCH)
}


def command(bench: str, *experiments: str) -> str:
    """What to type to measure it.

    >>> command("spark", "slide")
    'sash bench spark --only slide'
    """
    return " ".join([f"sash bench {bench}", *(f"--only {each}" for each in experiments)])


@dataclass(frozen=True)
class Run:
    """A report, and the bench that wrote it."""

    bench: Bench[Any]
    report: Report
    path: Path

    @property
    def experiments(self) -> tuple[str, ...]:
        """Those that have records, in the order of the report."""
        return tuple(dict.fromkeys(record.experiment for record in self.report.records))


@dataclass(frozen=True)
class Runs:
    """All runs of a folder, the newest first."""

    runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def of(self, bench: str) -> tuple[Run, ...]:
        """The runs of a bench."""
        return tuple(run for run in self.runs if run.bench.name == bench)

    def having(self, bench: str, experiment: str) -> Run | None:
        """The newest run of a bench that has records of the experiment."""
        return next((run for run in self.of(bench) if experiment in run.experiments), None)


def read_runs(folder: Path) -> Runs:
    """Every report.json in the folder and below."""
    paths = sorted(folder.rglob("report.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    if not paths:
        raise InvalidInput.no_report(folder, map(command, BENCHES))
    return Runs(tuple(map(_read, paths)))


def _read(path: Path) -> Run:
    try:
        report = Report.from_json(path.read_text(encoding="utf-8"))
        name = report.name.removeprefix("sash bench ").partition(" ")[0]
        return Run(BENCHES[name], report, path)
    except KeyError as error:
        raise InvalidInput.report(path, f"this version of sash has no bench {error}.") from error
    except (OSError, ValueError) as error:
        raise InvalidInput.report(path, error) from error
