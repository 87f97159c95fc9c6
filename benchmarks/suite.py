"""A suite of benchmarks: named experiments, planned as tasks, run one after the other, and compared with targets."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from benchmarks.bars.target import Target, bars_of
from benchmarks.other_work import busy_cores
from benchmarks.plots import Plot, figures_of
from benchmarks.records import Machine, Record, Report
from benchmarks.run_log import RunLog
from benchmarks.settings import Settings
from sash.cli.table import Table
from sash.errors import UnknownName

__all__ = ["CAUTIONS", "Experiment", "Suite", "Task", "by_name"]

BUSY = "The machine was busy when the run began"
MOST_BUSY = 0.3  # cores, with which a machine still counts as idle
SMALL = "A quick run shows that everything works; its sizes are too small to judge speed by."
CAUTIONS = (BUSY, SMALL)  # beginnings of notes that question the results of their own run
S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Task:
    """A piece of work that returns records; the progress bar shows its label."""

    label: str
    measure: Callable[[], Iterable[Record]]


@dataclass(frozen=True)
class Experiment(Generic[S]):
    """A question, and the tasks that answer it."""

    name: str
    question: str
    tasks: Callable[[S], Iterable[Task]]


def by_name(*experiments: Experiment[S]) -> Mapping[str, Experiment[S]]:
    """Return experiments by name, in the order in which they run."""
    return {each.name: each for each in experiments}


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Suite(Generic[S]):
    """Experiments with their sizes, targets and plots."""

    name: str
    purpose: str  # one sentence, for the command line
    experiments: Mapping[str, Experiment[S]]
    full: S
    quick: S
    targets: tuple[Target, ...]
    plots: tuple[Plot, ...]
    notes: Callable[[set[str]], Iterable[str]]
    packages: tuple[str, ...]
    finish: Callable[[], None] = _nothing  # runs after the last task, also after an error
    tables: Callable[[Report], Iterable[Table]] = Report.tables
    only_help: str = "Run one experiment; repeat it for several."

    def title(self, settings: S) -> str:
        """Return the name of the report of such a run."""
        return f"{self.name} ({settings.name})"

    def figures(self, report: Report) -> Iterator[tuple[str, Any]]:
        """Draw the figures of a report, each with its name."""
        return figures_of(self.plots, report)

    def plan(self, only: Iterable[str] = (), settings: S | None = None) -> list[tuple[str, Task]]:
        """Return the tasks of a run, each with the name of its experiment."""
        names, chosen = list(only) or list(self.experiments), settings or self.full
        for name in names:
            if name not in self.experiments:
                raise UnknownName.of("experiment", name, self.experiments)
        return [(name, task) for name, each in self.experiments.items() if name in names for task in each.tasks(chosen)]

    def run(
        self,
        tasks: list[tuple[str, Task]],
        settings: S | None = None,
        begin: Callable[[str, str], None] | None = None,
        log: RunLog | None = None,
    ) -> Report:
        """Run the tasks one after the other until the time is used up; call `begin` before each of them.

        An interrupt ends the run, and the report has what was measured before it. Tasks that are in the log are not
        run again.
        """
        chosen = settings or self.full
        records: list[Record] = []
        busy = busy_cores()
        spent: defaultdict[str, float] = defaultdict(float)
        done, left = 0, 0
        try:
            for name, task in tasks:
                limit, seconds = chosen.time_limit(name)
                found = log.find(name, task.label) if log is not None else None
                if found is None and spent[limit] > seconds:
                    left += 1
                    continue
                if begin is not None:
                    begin(name, task.label)
                start = time.monotonic()
                if found is None:
                    found = list(task.measure())
                    if log is not None:
                        log.add(name, task.label, found)
                spent[limit] += time.monotonic() - start
                records += found
                done += 1
        except KeyboardInterrupt:
            left = len(tasks) - done
        finally:
            self.finish()
        notes = (*self.notes({name for name, _ in tasks}), *_circumstances(chosen, busy, left, len(tasks)))
        report = Report(self.title(chosen), Machine.here(self.packages), tuple(records), notes=notes)
        return replace(report, bars=bars_of(self.targets, report))


def _circumstances(settings: Settings, busy: float, left: int, tasks: int) -> Iterator[str]:
    if busy > MOST_BUSY:
        yield f"{BUSY} ({busy:.1f} cores): do not judge by these numbers."
    if settings.name == "quick":
        yield SMALL
    if left:
        yield (
            f"{left} of {tasks} tasks were not finished: the run was interrupted, or its {settings.seconds:.0f} s were "
            "used up. Run the same command with --continue for the rest."
        )
