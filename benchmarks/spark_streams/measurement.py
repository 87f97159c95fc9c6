"""Runs of a stream from start() to its end, and a comparison of the results of both sides."""

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.records import Record, Value, parameters
from benchmarks.settings import StreamSettings
from benchmarks.spark_streams.progress import Batch, Progress
from benchmarks.spark_streams.session import shared_options
from benchmarks.spark_streams.subjects import Point
from benchmarks.spark_tables.measurement import BUSY, MB, MEMORY, TIME, fastest, run_in_turns, wait_for_tasks
from benchmarks.spark_tables.process_usage import ProcessUsage
from benchmarks.spark_tables.session import LocalSpark
from benchmarks.spark_tables.subjects import NATIVE

__all__ = ["BATCH", "DIFFERENT", "WRITTEN", "Run", "measure", "records_of"]

RATE, BATCH, RESULTS, DIFFERENT = "speed", "micro-batch", "results", "results that differ"
STATE_ROWS, STATE, WRITTEN = "state rows", "state", "written per micro-batch"
SLICES, MEMORY_OF_STATE, LOG = "slices", "state in memory", "log per micro-batch"
WARM_FILES = 2


@dataclass(frozen=True)
class Run:
    """The measured values of one run."""

    seconds: float
    progress: Progress
    results: int
    worker_bytes: int  # of the largest Python worker
    cores_busy: float
    runs: int = 1  # this one is the best of them
    is_stopped: bool = False  # at the time limit
    different: int | None = None  # results that only one side emitted; None: not compared


def measure(local: LocalSpark, points: Iterable[Point], settings: StreamSettings) -> dict[Point, Run]:
    """Return the best run of each point, after a warm-up on few rows, and compare its results with native's."""
    points = list(points)
    for point in points:
        _warm(local, point, settings)
    try:
        found = run_in_turns(points, lambda point: _run(local, point, settings.limit_seconds), settings)
        best = {point: replace(fastest(runs), runs=len(runs)) for point, runs in found.items()}
        return _compared(local, best)
    finally:
        shutil.rmtree(_outputs(local), ignore_errors=True)


def _warm(local: LocalSpark, point: Point, settings: StreamSettings) -> None:
    """Load classes, generate code and compile kernels in a run on few rows; then write the rows."""
    if settings.warm_rows and point.kind not in local.warmed:
        few = replace(point.files, rows=settings.warm_rows, keys=min(point.files.keys, 100), files=WARM_FILES)
        _run(local, replace(point, files=few), settings.limit_seconds)
        local.warmed.add(point.kind)
    point.files.write(local.folder)


def _run(local: LocalSpark, point: Point, limit_seconds: float) -> Run:
    from sash.spark.driver.silence_jvm import silence_jvm

    spark = local.spark()
    output = _outputs(local) / point.name
    shutil.rmtree(output, ignore_errors=True)
    spark.sparkContext._jvm.System.gc()  # so that this run does not collect the garbage of the previous one
    with shared_options(spark), silence_jvm(spark), ProcessUsage() as usage:
        answer = point.answer(point.files.read(spark, local.folder))
        writer = (
            answer.writeStream.format("parquet")
            .outputMode("append")
            .option("path", str(output / "results"))
            .option("checkpointLocation", str(output / "checkpoint"))
            .trigger(availableNow=True)
        )
        start = time.perf_counter()
        query = writer.start()
        has_ended = query.awaitTermination(limit_seconds)
        seconds = time.perf_counter() - start
        if not has_ended:
            query.stop()
            wait_for_tasks(spark, limit_seconds)
    progress = Progress.of(map(Batch.of, query.recentProgress))
    results = _emitted(spark, output).count() if has_ended else 0
    shutil.rmtree(output / "checkpoint", ignore_errors=True)
    busy = usage.cpu_seconds / seconds
    return Run(seconds, progress, results, usage.largest_bytes, busy, is_stopped=not has_ended)


def _outputs(local: LocalSpark) -> Path:
    return local.folder / "outputs"


def _emitted(spark: Any, output: Path) -> Any:
    return spark.read.parquet(str(output / "results"))


def _compared(local: LocalSpark, runs: dict[Point, Run]) -> dict[Point, Run]:
    """Add to each run that ended the number of results that only one of the two sides emitted."""
    yardstick = next((point for point, run in runs.items() if point.subject == NATIVE and not run.is_stopped), None)
    if yardstick is None:
        return runs
    spark = local.spark()

    def compared(point: Point, run: Run) -> Run:
        if point == yardstick or point.files != yardstick.files or run.is_stopped:
            return run
        native, ours = (_emitted(spark, _outputs(local) / each.name) for each in (yardstick, point))
        with shared_options(spark):
            return replace(run, different=ours.exceptAll(native).count() + native.exceptAll(ours).count())

    return {point: compared(point, run) for point, run in runs.items()}


# --- as records ------------------------------------------------------------------------------------


def records_of(experiment: str, runs: Mapping[Point, Run], shape: Mapping[str, Value]) -> Iterator[Record]:
    """Return time, state and bytes written of each run, and its speed if native was measured."""
    base = next((run.seconds for point, run in runs.items() if point.subject == NATIVE), None)
    for point, run in runs.items():
        for metric, value, unit in _values(point, run):
            mark, note = (">", f"stopped after {run.seconds:.0f} s") if run.is_stopped else ("", _note(metric, run))
            ratio = base / run.seconds if base and metric == TIME else None
            mark = mark if metric == TIME else ""
            given = parameters(**shape)
            yield Record(experiment, point.subject, metric, value, unit, point.aggregate, given, ratio, note, mark)


def _values(point: Point, run: Run) -> Iterator[tuple[str, float, str]]:
    progress = run.progress
    yield TIME, run.seconds, "s"
    if progress.batches:
        yield BATCH, progress.batch_seconds, "s"
        yield STATE_ROWS, progress.state_rows, "rows"
        yield STATE, progress.state_bytes / MB, "MB"
        yield WRITTEN, progress.written_bytes / MB, "MB"
    if not run.is_stopped:
        yield RATE, point.files.rows / run.seconds, "rows/s"
        yield RESULTS, run.results, "rows"
    if run.different is not None:
        yield DIFFERENT, run.different, "rows"
    if point.is_ours:
        yield SLICES, progress.slices, "slices"
        yield MEMORY_OF_STATE, progress.memory_bytes / MB, "MB"
        yield LOG, progress.log_bytes / MB, "MB"
        if run.worker_bytes:
            yield MEMORY, run.worker_bytes / MB, "MB"
    if run.cores_busy:
        yield BUSY, run.cores_busy, "cores"


_NOTES = {
    BATCH: "median of those after the first",
    STATE_ROWS: "Spark's count of entries, the most after a micro-batch",
    STATE: "RocksDB's memory, the most after a micro-batch",
    WRITTEN: "to RocksDB, as it counts",
    SLICES: "sash's own count, the most after a micro-batch",
    MEMORY_OF_STATE: "sash's own count, the most after a micro-batch",
    LOG: "sash's own count",
    MEMORY: "peak of the largest Python worker",
    DIFFERENT: "by exceptAll, both ways",
}


def _note(metric: str, run: Run) -> str:
    return _NOTES.get(metric, f"best of {run.runs}" if metric in (TIME, RATE) else "")
