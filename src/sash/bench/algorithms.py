"""The papers' experiments, one list: what can be run, in which order, and the run itself."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sash.bench import latency, ranges, space, throughput, versus
from sash.bench.bars import bars_of
from sash.bench.peers import PEERS, missing
from sash.bench.settings import FULL, Settings, Task
from sash.bench.timer import counts_cycles
from sash.errors import UnknownName
from sash.report import Machine, Record, Report

__all__ = ["EXPERIMENTS", "Experiment", "plan", "run"]


@dataclass(frozen=True)
class Experiment:
    """A question, and the tasks that answer it."""

    name: str
    question: str
    tasks: Callable[[Settings], Iterable[Task]]


# Those that bars are about come first, for a run ends when its time is used up.
EXPERIMENTS: Mapping[str, Experiment] = {
    each.name: each
    for each in (
        Experiment("peers", "How fast is sash beside other libraries?", versus.peer_tasks),
        Experiment("parallel", "What does a second thread bring?", versus.parallel_tasks),
        Experiment("warm_start", "How soon does a fresh process answer?", versus.warm_start_tasks),
        Experiment("ranges", "How fast are many ranges at once?", ranges.range_tasks),
        Experiment("latency", "How long does a single answer take, at worst?", latency.latency_tasks),
        Experiment("memory", "How much memory does a window take?", space.memory_tasks),
        Experiment("break_even", "From which window on does an algorithm pay?", throughput.break_even_tasks),
        Experiment("throughput", "How many rows per second, by window?", throughput.throughput_tasks),
        Experiment("slides", "How many rows per second, by slide?", throughput.slide_tasks),
    )
}


def plan(only: Iterable[str] = (), settings: Settings = FULL) -> list[tuple[str, Task]]:
    """The tasks of a run, each with the name of its experiment."""
    names = list(only) or list(EXPERIMENTS)
    for name in names:
        if name not in EXPERIMENTS:
            raise UnknownName.of("experiment", name, EXPERIMENTS)
    return [(name, task) for name in EXPERIMENTS if name in names for task in EXPERIMENTS[name].tasks(settings)]


def run(
    tasks: list[tuple[str, Task]],
    settings: Settings = FULL,
    begin: Callable[[str, str], None] | None = None,
) -> Report:
    """Do the tasks one after the other; `begin` is told of each, and time that is used up ends the run."""
    records: list[Record] = []
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # before this run adds its own
    deadline, left = time.monotonic() + settings.seconds, 0
    for done, (name, task) in enumerate(tasks):
        if time.monotonic() > deadline:
            left = len(tasks) - done
            break
        if begin is not None:
            begin(name, task.label)
        records += task.measure()
    notes = tuple(_notes(settings, {name for name, _ in tasks}, load, left, len(tasks)))
    report = Report(f"sash bench algorithms ({settings.name})", Machine.here(_PACKAGES), tuple(records), notes=notes)
    return replace(report, bars=bars_of(report))


_PACKAGES = ("sash", "numba", "llvmlite", "numpy", *PEERS)


def _notes(settings: Settings, names: set[str], load: float, left: int, tasks: int) -> Iterator[str]:
    yield "Ratios in brackets: 1 is np.copyto of the same bytes in the same run."
    yield "Algorithms run on one thread, `sash` and `auto` on all."
    if load > 0.5:
        yield f"The machine was busy when the run began (load {load:.1f}): do not judge by these numbers."
    if settings.name == "quick":
        yield "A quick run shows that everything works; its sizes are too small to judge speed by."
    if "peers" in names and missing():
        yield f"Peers not installed: {', '.join(missing())}."
    if "latency" in names and not counts_cycles():
        yield "No latency: compiled code cannot read a cycle counter here."
    if left:
        yield (
            f"{left} of {tasks} tasks were not begun: {settings.seconds:.0f} s were used up. "
            "What was compiled is kept, so the next run gets further."
        )
