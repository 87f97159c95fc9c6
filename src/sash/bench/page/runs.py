"""The reports that benches left in a folder."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sash.bench import algorithms, slicing, spark, streaming
from sash.bench.runner import Bench
from sash.errors import InvalidInput
from sash.report import Bar, Report

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

    @property
    def is_quick(self) -> bool:
        """Whether its sizes are too small to judge by."""
        return self.report.name == self.bench.title(self.bench.quick)


@dataclass(frozen=True)
class Runs:
    """All runs of a folder: full ones before quick ones, then the newest first."""

    runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def of(self, bench: str) -> tuple[Run, ...]:
        """The runs of a bench."""
        return tuple(run for run in self.runs if run.bench.name == bench)

    def having(self, bench: str, experiment: str) -> Run | None:
        """The first run of a bench that has records of the experiment."""
        return next((run for run in self.of(bench) if experiment in run.experiments), None)

    def promises(self) -> Mapping[Path, tuple[Bar, ...]]:
        """Every promise once, by the path of the first run that measured it; beside full runs, quick ones have none."""
        chosen: dict[tuple[str, str], tuple[Run, Bar]] = {}
        full = {run.bench.name for run in self.runs if not run.is_quick}
        for run in self.runs:
            if run.is_quick and run.bench.name in full:
                continue
            for bar in run.report.bars:
                known = chosen.setdefault((run.bench.name, bar.name), (run, bar))
                if known[1].measured is None and bar.measured is not None:
                    chosen[run.bench.name, bar.name] = run, bar
        return {run.path: tuple(bar for other, bar in chosen.values() if other is run) for run in self.runs}


def read_runs(folder: Path) -> Runs:
    """Every report.json in the folder and below."""
    runs = [_read(path) for path in sorted(folder.rglob("report.json"))]
    if not runs:
        raise InvalidInput.no_report(folder, map(command, BENCHES))
    return Runs(tuple(sorted(runs, key=_rank, reverse=True)))


def _rank(run: Run) -> tuple[bool, str, float]:
    """A date has no time of day: among runs of the same day, the file tells."""
    return not run.is_quick, run.report.machine.date, run.path.stat().st_mtime


def _read(path: Path) -> Run:
    try:
        report = Report.from_json(path.read_text(encoding="utf-8"))
        name = report.name.removeprefix("sash bench ").partition(" ")[0]
        return Run(BENCHES[name], report, path)
    except KeyError as error:
        raise InvalidInput.report(path, f"this version of sash has no bench {error}.") from error
    except (OSError, ValueError) as error:
        raise InvalidInput.report(path, error) from error
