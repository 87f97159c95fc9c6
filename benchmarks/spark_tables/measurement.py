"""One run of a point, and the best of several: seconds, bytes shuffled, memory of the workers, cores that were busy."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from benchmarks.records import Record, Value, parameters
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.process_usage import Watch
from benchmarks.spark_tables.session import Workplace
from benchmarks.spark_tables.subjects import Point

__all__ = ["Run", "contest", "fastest", "in_turns", "left_out", "records_of", "wait_for_tasks"]

MB = 1e6
TIME, SHUFFLED, MEMORY, BUSY = "time", "shuffled", "worker memory", "cores busy"


@dataclass(frozen=True)
class Run:
    """What one run of a point took."""

    seconds: float
    shuffled_bytes: int
    worker_bytes: int  # of the largest one
    together_bytes: int
    cores_busy: float
    runs: int = 1  # of which it is the best
    is_stopped: bool = False  # it would have taken longer


def contest(place: Workplace, points: Iterable[Point], settings: TableSettings) -> dict[Point, Run]:
    """The best run of each point, each warmed before on few rows."""
    points = list(points)
    for point in points:
        _warm(place, point, settings)
    found = in_turns(points, lambda point: _run(place, point, settings.limit_seconds), settings)
    return {point: replace(fastest(runs), runs=len(runs)) for point, runs in found.items()}


class Timed(Protocol):
    """A run, or anything else that took some time."""

    @property
    def seconds(self) -> float: ...


class Rounds(Protocol):
    """How often each point is run."""

    @property
    def runs(self) -> int: ...
    @property
    def point_seconds(self) -> float: ...


P = TypeVar("P")
T = TypeVar("T", bound=Timed)


def in_turns(points: Iterable[P], run: Callable[[P], T], rounds: Rounds) -> dict[P, list[T]]:
    """The runs of each point, in turns: what disturbs the machine for a while disturbs all alike.

    One that has used up its seconds sits out the later rounds.
    """
    found: dict[P, list[T]] = {point: [] for point in points}
    for _ in range(rounds.runs):
        for point, own in found.items():
            if not own or sum(each.seconds for each in own) < rounds.point_seconds:
                own.append(run(point))
    return found


def fastest(runs: Iterable[T]) -> T:
    """The run that was disturbed least."""
    return min(runs, key=lambda each: each.seconds)


def _warm(place: Workplace, point: Point, settings: TableSettings) -> None:
    """Classes are loaded, code is generated, kernels are compiled; then the rows are written."""
    if settings.warm_rows and point.kind not in place.warmed:
        few = point.rows.part(settings.warm_rows, min(point.rows.keys, 100))
        _run(place, replace(point, rows=few, width=min(point.width, 100)), settings.limit_seconds)
        place.warmed.add(point.kind)
    point.rows.read(place.spark(), place.folder)


def _run(place: Workplace, point: Point, limit_seconds: float) -> Run:
    spark = place.spark()
    table = point.rows.read(spark, place.folder)
    shuffles = _Shuffles(spark)
    with point.options(spark), Watch() as watch, _limit(spark, limit_seconds) as stopped:
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
        shuffles.written(),
        watch.largest_bytes,
        watch.together_bytes,
        watch.cpu_seconds / seconds,
        is_stopped=stopped.is_set(),
    )


# --- runs that take too long ---------------------------------------------------------------------

_TAG = "sash-bench"


@contextmanager
def _limit(spark: Any, seconds: float) -> Iterator[threading.Event]:
    """Jobs that are begun in here are cancelled after some seconds, and the event tells so."""
    context, stopped, over = spark.sparkContext, threading.Event(), threading.Event()

    def stop() -> None:
        wait = seconds
        while not over.wait(wait):
            stopped.set()
            context.cancelJobsWithTag(_TAG)  # those that run: while Spark still plans there is none, so again and again
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
    """A cancelled task ends when it next looks up; until then it would disturb the next run."""
    end = time.monotonic() + seconds
    while _status(spark).executorSummary("driver").activeTasks() and time.monotonic() < end:
        time.sleep(0.2)


# --- what Spark counted ----------------------------------------------------------------------------


def _status(spark: Any) -> Any:
    return spark.sparkContext._jsc.sc().statusStore()


class _Shuffles:
    """The bytes that stages write for others to read, from now on; Spark counts them without its pages too."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._last = max((each.stageId() for each in self._stages()), default=-1)

    def written(self) -> int:
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
    """Time, shuffled bytes, memory and busy cores of each; how fast is said where the yardstick took part.

    A point that was measured on fewer rows is scaled up, and marked.
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
    """What was not measured, and why."""
    note = f"left out: {why}"
    return Record(experiment, subject, TIME, None, "s", aggregate, parameters(**shape), None, note)
