"""Compare sash with other libraries, one thread with two, and measure the start of a new process."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import sash
from benchmarks.algorithms.timed_calls import sliding
from benchmarks.algorithms.workloads import AGGREGATES, noise
from benchmarks.baselines.peers import installed, missing
from benchmarks.records import Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of_each, copy_call
from sash.swag import ALGORITHMS

__all__ = ["parallel_tasks", "peer_tasks", "warm_start_tasks"]

TEMPLATES: dict[str, Callable[[], Any]] = {
    "max": sash.max,
    "sum": sash.sum,
    "mean": sash.mean,
    "stddev": sash.stddev,
    "median": sash.median,
    "argmax": sash.argmax,
}


def peer_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Roll the same windows with every library that is installed."""
    for name in TEMPLATES:
        windows = (settings.median_window,) if name == "median" else settings.peer_windows
        rows = settings.median_rows if name == "median" else settings.peer_rows
        for window in windows:
            yield Task(f"{name}, window {window}", partial(_peers, settings, name, rows, window))


def _peers(settings: AlgorithmSettings, name: str, rows: int, window: int) -> Iterator[Record]:
    column = noise(rows)
    values: Any = (column, np.arange(rows)) if name == "argmax" else column
    template = TEMPLATES[name]()
    sash.swag.slide(values, window, template)  # compiles, so that compilation is not timed
    calls: dict[str, Callable[[], Any]] = {"copy": copy_call(column.nbytes)}
    calls["sash"] = lambda: sash.swag.slide(values, window, template)
    for peer in installed():
        if name in peer.rolls:
            peer.rolling(name, column[: 2 * window], window)()  # some libraries compile, too
            calls[peer.name] = peer.rolling(name, column, window)
    times = best_of_each(calls, 5, settings.peer_seconds)
    shape = parameters(window=window, rows=rows)
    for subject, timing in times.items():
        rate, ratio = rows / timing.seconds / 1e6, times["copy"].seconds / timing.seconds
        note = f"{timing.cores_busy:.1f} cores busy"
        yield Record("peers", subject, "rows", rate, "million rows/s", name, shape, ratio, note)
    for subject in missing():
        yield Record("peers", subject, "rows", None, "million rows/s", name, shape, None, "not installed")


# --- one thread, two threads -------------------------------------------------------------------------


def parallel_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Compare SBA with PBA, which does the backward sweep on a second thread, with an expensive combine."""
    yield Task("sba and pba, moment_sketch", partial(_parallel, settings))


def _parallel(settings: AlgorithmSettings) -> Iterator[Record]:
    workload, window = AGGREGATES["moment_sketch"], settings.parallel_window
    rows = window * settings.parallel_chunks
    column = noise(rows)
    calls = {}
    for name in ("sba", "pba"):
        sliding(ALGORITHMS[name], workload, column[:64], 16)()
        calls[name] = sliding(ALGORITHMS[name], workload, column, window)
    for subject, timing in best_of_each(calls, 3, 4 * settings.peer_seconds).items():
        shape = parameters(window=window, rows=rows)
        rate = rows / timing.seconds / 1e6
        yield Record("parallel", subject, "rows", rate, "million rows/s", workload.name, shape)
        yield Record("parallel", subject, "cores busy", timing.cores_busy, "cores", workload.name, shape)


# --- a new process -----------------------------------------------------------------------------------

SCRIPT = "import numpy, sash; sash.swag.slide(numpy.arange(1000.0), 10, sash.max())"


def warm_start_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Time a new process up to its first answer, with an aggregate that was compiled before."""
    yield Task("a new process", partial(_warm_start, settings))


def _warm_start(settings: AlgorithmSettings) -> Iterator[Record]:
    taken = []
    for _ in range(settings.warm_starts + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=os.environ)  # noqa: S603  # our own line
        taken.append(time.perf_counter() - start)
    note = f"median of {settings.warm_starts}; the first run: {taken[0]:.2f} s"
    yield Record("warm_start", "sash", "first answer", statistics.median(taken[1:]), "s", "max", (), None, note)
