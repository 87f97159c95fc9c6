"""Rows per second by window and by slide, and the window from which an algorithm is faster than recalculation."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import sash
from benchmarks.algorithms.timed_calls import bytes_of, head_of, sliding, warm_up
from benchmarks.algorithms.workloads import AGGREGATES, THROUGHPUT, Workload, suited
from benchmarks.baselines.okasaki import SUBJECTS
from benchmarks.records import Parameters, Record, parameters
from benchmarks.settings import AlgorithmSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of, best_of_each, copy_seconds
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm

__all__ = ["break_even_record", "break_even_tasks", "slide_tasks", "throughput_tasks"]

METRIC, UNIT = "rows", "million rows/s"
LEAST = 256  # rows for the slowest algorithm


@lru_cache(maxsize=2)
def columns_of(workload: Workload, rows: int) -> Any:
    """Return the columns of a workload; algorithms that follow each other share them."""
    return workload.columns(rows)


def combines_per_row(algorithm: Algorithm, window: int) -> float:
    """Return the average number of combines per row, from the facts."""
    facts = algorithm.facts
    return max(1.0, sum(cost.average.at(window) for cost in (facts.insert, facts.evict, facts.query)))


def throughput_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure every algorithm with every aggregate that it admits, and the choice of `auto`."""
    for name in settings.aggregates or THROUGHPUT:
        workload = AGGREGATES[name]
        yield Task(f"auto {name}", partial(_auto_by_window, settings, workload))
        for algorithm in SUBJECTS.values():
            if workload.subjects is not None and algorithm.name not in workload.subjects:
                continue
            # The other algorithms slide a median as sorted Python objects, which does not compare.
            if workload.admitted_by(algorithm) and (name != "median" or suited(algorithm) is workload):
                yield Task(f"{algorithm.name} {name}", partial(_by_window, settings, workload, algorithm))


def _windows(settings: AlgorithmSettings, workload: Workload) -> tuple[int, ...]:
    if workload.name in ("max", "sum", "median"):
        return settings.windows
    if workload.most_rows < settings.coarse_windows[-1]:  # the longest windows would never be full
        return settings.heavy_windows
    return settings.coarse_windows


def _rows(settings: AlgorithmSettings, workload: Workload) -> int:
    return min(workload.most_rows, settings.heavy_rows if workload.heavy else settings.rows)


def _measured(workload: Workload, subject: str, window: int, rate: float, copied: float, note: str = "") -> Record:
    shape = parameters(window=window)
    return Record("throughput", subject, METRIC, rate / 1e6, UNIT, workload.name, shape, rate / copied, note)


def _left_out(workload: Workload, subject: str, window: int, why: str) -> Record:
    shape = parameters(window=window)
    return Record("throughput", subject, METRIC, None, UNIT, workload.name, shape, None, f"left out: {why}")


def _copy_rate(columns: Any, rows: int) -> float:
    return rows / copy_seconds(bytes_of(columns))


def _auto_by_window(settings: AlgorithmSettings, workload: Workload) -> Iterator[Record]:
    """Measure `sash.swag.slide` with all its checks and threads, and a copy."""
    rows = _rows(settings, workload)
    columns = columns_of(workload, rows)
    template = workload.aggregate()
    for window in _windows(settings, workload):
        copied = _copy_rate(columns, rows)
        yield _measured(workload, "copy", window, copied, copied, f"{rows} rows")

        def make(some: Any, size: int = window) -> Callable[[], Any]:
            return lambda: sash.swag.slide(some, size, template)

        seconds = best_of(warm_up(make, columns), 3, settings.point_seconds).seconds
        yield _measured(
            workload, "auto", window, rows / seconds, copied, f"{rows} rows, all cores, through sash.swag.slide"
        )


def _by_window(settings: AlgorithmSettings, workload: Workload, algorithm: Algorithm) -> Iterator[Record]:
    """Measure one thread, one row at a time inside the kernel.

    The time of one window and the facts give an estimate for the next window. A slow algorithm gets fewer rows.
    Windows are left out if four times their rows take more than four times the time of a point.
    """
    full = _rows(settings, workload)
    columns = columns_of(workload, full)
    copied = _copy_rate(columns, full)
    kind = "" if algorithm.is_compiled else ", plain Python"
    if algorithm.facts.threads > 1:
        kind = f", {algorithm.facts.threads} threads"
    windows = _windows(settings, workload)
    rate, before = _first_rate(algorithm, workload, windows[0], columns), windows[0]
    for window in windows:
        expected = rate * combines_per_row(algorithm, before) / combines_per_row(algorithm, window)
        if window > expected * settings.point_seconds and 4 * window > LEAST:
            seconds = 4 * window / expected
            why = f"{4 * window} rows would take {seconds:.1f} s, a point may take {4 * settings.point_seconds} s"
            yield _left_out(workload, algorithm.name, window, why)
            continue
        affordable = 1 << int(expected * settings.point_seconds).bit_length()
        rows = min(full, max(LEAST, 4 * window, affordable))
        call = warm_up(partial(_sliding, algorithm, workload, window), head_of(columns, rows))
        rate, before = rows / best_of(call, 3, settings.point_seconds).seconds, window
        yield _measured(workload, algorithm.name, window, rate, copied, f"{rows} rows{kind}")


def _first_rate(algorithm: Algorithm, workload: Workload, window: int, columns: Any) -> float:
    call = warm_up(partial(_sliding, algorithm, workload, window), head_of(columns, LEAST))
    return LEAST / best_of(call, 2).seconds


def _sliding(algorithm: Algorithm, workload: Workload, window: int, columns: Any) -> Callable[[], Any]:
    return sliding(algorithm, workload, columns, window)


# --- slides of several rows ------------------------------------------------------------------------


def slide_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Measure an answer at every k-th row: rows are folded into fragments, and fragments slide."""
    for algorithm in ALGORITHMS.values():
        if settings.takes(algorithm) and algorithm.is_compiled:
            yield Task(f"{algorithm.name} {suited(algorithm).name}", partial(_by_slide, settings, algorithm))


def _by_slide(settings: AlgorithmSettings, algorithm: Algorithm) -> Iterator[Record]:
    workload = suited(algorithm)
    rows, window = settings.rows // 4, settings.slide_window
    columns = columns_of(workload, rows)
    copied = _copy_rate(columns, rows)
    template = workload.aggregate()
    for every in settings.slides:

        def make(some: Any, every: int = every) -> Callable[[], Any]:
            return lambda: sash.swag.slide(some, window, template, algorithm=algorithm.name, every=every, threads=1)

        seconds = best_of(warm_up(make, columns, 4 * every), 3, settings.point_seconds).seconds
        shape = parameters(slide=every, window=window, rows=rows)
        rate = rows / seconds
        yield Record(
            "slides",
            algorithm.name,
            METRIC,
            rate / 1e6,
            UNIT,
            workload.name,
            shape,
            rate / copied,
            "through sash.swag.slide",
        )


# --- break-even ------------------------------------------------------------------------------------

OF_TABLES = ("flat_fat", "two_stacks", "daba", "foa", "ioa")  # in the papers' tables of break-even points


def break_even_tasks(settings: AlgorithmSettings) -> Iterator[Task]:
    """Find the window from which each algorithm is faster than recalculation; those of the tables for all operators."""
    for algorithm in SUBJECTS.values():
        workload = suited(algorithm)
        names = settings.operators if algorithm.name in OF_TABLES else (workload.name,)
        if algorithm.name != "recalculate" and algorithm.is_compiled and workload.name != "median":
            for name in names:
                yield Task(f"{algorithm.name} {name}", partial(_break_even, settings, algorithm, AGGREGATES[name]))


def _break_even(settings: AlgorithmSettings, algorithm: Algorithm, workload: Workload) -> Iterator[Record]:
    rows = min(settings.break_even_rows, workload.most_rows >> 3)
    columns = columns_of(workload, rows)
    since: int | None = None
    for window in reversed(settings.break_even_windows):
        both = {
            each.name: warm_up(partial(_sliding, each, workload, window), columns)
            for each in (ALGORITHMS["recalculate"], algorithm)
        }
        times = best_of_each(both, 3, settings.point_seconds / 4)
        if times[algorithm.name].seconds >= times["recalculate"].seconds:
            break
        since = window
    shape = parameters(rows=rows)
    yield break_even_record("break_even", algorithm.name, workload.name, since, settings.break_even_windows[-1], shape)


def break_even_record(
    experiment: str, subject: str, aggregate: str, since: int | None, largest: int, shape: Parameters, note: str = ""
) -> Record:
    """Return the window from which on an algorithm is faster; the largest one, marked with >, if there is none."""
    value, mark = (float(largest), ">") if since is None else (float(since), "")
    return Record(experiment, subject, "break-even window", value, "rows", aggregate, shape, None, note, mark)
