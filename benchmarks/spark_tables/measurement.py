"""Runs of a point: seconds, bytes shuffled, memory of the workers and busy cores; the best of several runs counts."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from benchmarks.records import Record, Value, parameters
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.process_usage import ProcessUsage
from benchmarks.spark_tables.session import LocalSpark
from benchmarks.spark_tables.subjects import Point

__all__ = ["Run", "fastest", "left_out", "measure", "records_of", "run_in_turns", "wait_for_tasks"]

MB = 1e6
TIME, SHUFFLED, MEMORY, BUSY = "time", "shuffled", "worker memory", "cores busy"


@dataclass(frozen=True)
class Run:
    """The measured values of one run."""

    seconds: float
    shuffled_bytes: int
    worker_bytes: int  # of the largest one
    together_bytes: int
    cores_busy: float
    runs: int = 1  # this one is the best of them
    is_stopped: bool = False  # at the time limit


def measure(local: LocalSpark, points: Iterable[Point], settings: TableSettings) -> dict[Point, Run]:
    """Return the best run of each point, after a warm-up on few rows."""
    points = list(points)
    for point in points:
        _warm(local, point, settings)
    found = run_in_turns(points, lambda point: _run(local, point, settings.limit_seconds), settings)
    return {point: replace(fastest(runs), runs=len(runs)) for point, runs in found.items()}


class Timed(Protocol):
    """Anything that took some time."""

    @property
    def seconds(self) -> float: ...


class Rounds(Protocol):
    """The number of runs of a point."""

    @property
    def runs(self) -> int: ...
    @property
    def point_seconds(self) -> float: ...


P = TypeVar("P")
T = TypeVar("T", bound=Timed)


def run_in_turns(points: Iterable[P], run: Callable[[P], T], rounds: Rounds) -> dict[P, list[T]]:
    """Run all points in turns, so that a busy machine slows all of them alike.

    A point that has used up its seconds is left out of later rounds.
    """
    found: dict[P, list[T]] = {point: [] for point in points}
    for _ in range(rounds.runs):
        for point, own in found.items():
            if not own or sum(each.seconds for each in own) < rounds.point_seconds:
                own.append(run(point))
    return found


def fastest(runs: Iterable[T]) -> T:
    """Return the shortest run."""
    return min(runs, key=lambda each: each.seconds)


def _warm(local: LocalSpark, point: Point, settings: TableSettings) -> None:
    """Load classes, generate code and compile kernels in a run on few rows; then write the rows."""
    if settings.warm_rows and point.kind not in local.warmed:
        few = point.rows.part(settings.warm_rows, min(point.rows.keys, 100))
        _run(local, replace(point, rows=few, width=min(point.width, 100)), settings.limit_seconds)
        local.warmed.add(point.kind)
    point.rows.read(local.spark(), local.folder)


def _run(local: LocalSpark, point: Point, limit_seconds: float) -> Run:
    spark = local.spark()
    table = point.rows.read(spark, local.folder)
    shuffles = _Shuffles(spark)
    with point.options(spark), ProcessUsage() as usage, _limit(spark, limit_seconds) as stopped:
        start = time.perf_counter()
        try:
            point.answer(table).write.format("noop").mode("overwrite").save()
        except Exception:
            if not stopped.is_set():
                raise
        seconds = time.perf_counter() - start
    if stopped.is_set():
        wait_for_tasks(spark, limit_seconds)
    return Run(
        seconds,
        shuffles.bytes_written(),
        usage.largest_bytes,
        usage.together_bytes,
        usage.cpu_seconds / seconds,
        is_stopped=stopped.is_set(),
    )


# --- runs that take too long ---------------------------------------------------------------------

_TAG = "sash-bench"


@contextmanager
def _limit(spark: Any, seconds: float) -> Iterator[threading.Event]:
    """Cancel the jobs of the block after some seconds, and set the event."""
    context, stopped, over = spark.sparkContext, threading.Event(), threading.Event()

    def stop() -> None:
        wait = seconds
        while not over.wait(wait):
            stopped.set()
            context.cancelJobsWithTag(_TAG)  # repeat: while Spark plans, there is no job to cancel
            wait = 1.0

    thread = threading.Thread(target=stop, daemon=True)
    context.addJobTag(_TAG)
    thread.start()
    try:
        yield stopped
    finally:
        over.set()
        thread.join()
        context.removeJobTag(_TAG)


def wait_for_tasks(spark: Any, seconds: float) -> None:
    """Wait until cancelled tasks have ended, so that they do not slow the next run."""
    end = time.monotonic() + seconds
    while _status(spark).executorSummary("driver").activeTasks() and time.monotonic() < end:
        time.sleep(0.2)


# --- what Spark counted ----------------------------------------------------------------------------


def _status(spark: Any) -> Any:
    return spark.sparkContext._jsc.sc().statusStore()


class _Shuffles:
    """The bytes that stages shuffle from now on; Spark counts them even if its web pages are off."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._last = max((each.stageId() for each in self._stages()), default=-1)

    def bytes_written(self) -> int:
        new = (each for each in self._stages() if each.stageId() > self._last)
        return sum(each.shuffleWriteBytes() for each in new)

    def _stages(self) -> list[Any]:
        context = self._spark.sparkContext
        context._jsc.sc().listenerBus().waitUntilEmpty()
        quantiles = context._gateway.new_array(context._jvm.double, 0)
        found = _status(self._spark).stageList(None, False, False, quantiles, context._jvm.java.util.ArrayList())
        return [found.apply(k) for k in range(min(found.size(), 40))]  # the newest come first


# --- as records ------------------------------------------------------------------------------------


def records_of(
    experiment: str,
    aggregate: str,
    runs: Iterable[tuple[Point, Run]],
    yardstick: str,
    shape: Mapping[str, Value],
    scales: Mapping[Point, float] | None = None,
) -> Iterator[Record]:
    """Return time, shuffled bytes, memory and busy cores of each run, and its speed if the yardstick was measured.

    Points that were measured on fewer rows are scaled up and marked.
    """
    found = list(runs)
    factors = {point: (scales or {}).get(point, 1.0) for point, _ in found}
    base = next((run.seconds * factors[point] for point, run in found if point.subject == yardstick), None)
    for point, run in found:
        factor = factors[point]
        seconds = run.seconds * factor
        mark, note = ("≈", _scaled(point, run, factor)) if factor != 1 else ("", f"best of {run.runs}")
        if run.is_stopped:
            mark, note = ">", f"stopped after {run.seconds:.0f} s" + (f"; {note}" if factor != 1 else "")
        given = parameters(**shape)
        ratio = base / seconds if base else None
        yield Record(experiment, point.subject, TIME, seconds, "s", aggregate, given, ratio, note, mark)
        shuffled = run.shuffled_bytes * factor / MB
        yield Record(experiment, point.subject, SHUFFLED, shuffled, "MB", aggregate, given, None, note, mark)
        if point.is_ours and run.worker_bytes:
            note = f"peak of the largest Python worker; all together {run.together_bytes / MB:.0f} MB"
            value = run.worker_bytes / MB
            yield Record(experiment, point.subject, MEMORY, value, "MB", aggregate, given, None, note)
        if run.cores_busy:
            yield Record(experiment, point.subject, BUSY, run.cores_busy, "cores", aggregate, given)


def _scaled(point: Point, run: Run, factor: float) -> str:
    rows = point.rows
    return f"{rows.rows} rows of {rows.keys} keys took {run.seconds:.3g} s, times {factor:.4g}"


def left_out(experiment: str, subject: str, aggregate: str, why: str, shape: Mapping[str, Value]) -> Record:
    """Return a record that says why a point was not measured."""
    note = f"left out: {why}"
    return Record(experiment, subject, TIME, None, "s", aggregate, parameters(**shape), None, note)
