"""One run of a stream from start() to its end, the best of several, and whether both sides sent the same."""

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.records import Record, Value, parameters
from benchmarks.settings import StreamSettings
from benchmarks.spark_streams.progress import Batch, Figures
from benchmarks.spark_streams.session import alike
from benchmarks.spark_streams.subjects import Point
from benchmarks.spark_tables.measurement import BUSY, MB, MEMORY, TIME, fastest, in_turns, wait_for_tasks
from benchmarks.spark_tables.process_usage import Watch
from benchmarks.spark_tables.session import Workplace
from benchmarks.spark_tables.subjects import NATIVE

__all__ = ["BATCH", "DIFFERENT", "WRITTEN", "Run", "contest", "records_of"]

RATE, BATCH, RESULTS, DIFFERENT = "speed", "micro-batch", "results", "results that differ"
STATE_ROWS, STATE, WRITTEN = "state rows", "state", "written per micro-batch"
SLICES, MEMORY_OF_STATE, JOURNAL = "slices", "state in memory", "journal per micro-batch"
WARM_FILES = 2


@dataclass(frozen=True)
class Run:
    """What one run of a point took and left."""

    seconds: float
    figures: Figures
    results: int
    worker_bytes: int  # of the largest Python worker
    cores_busy: float
    runs: int = 1  # of which it is the best
    is_stopped: bool = False  # it would have taken longer
    different: int | None = None  # results that native has not, or has alone; None: not compared


def contest(place: Workplace, points: Iterable[Point], settings: StreamSettings) -> dict[Point, Run]:
    """The best run of each point, each warmed before on few rows; what was sent is compared with what native sent."""
    points = list(points)
    for point in points:
        _warm(place, point, settings)
    try:
        found = in_turns(points, lambda point: _run(place, point, settings.limit_seconds), settings)
        best = {point: replace(fastest(runs), runs=len(runs)) for point, runs in found.items()}
        return _compared(place, best)
    finally:
        shutil.rmtree(_outputs(place), ignore_errors=True)


def _warm(place: Workplace, point: Point, settings: StreamSettings) -> None:
    """Classes are loaded, code is generated, kernels are compiled; then the rows are written."""
    if settings.warm_rows and point.kind not in place.warmed:
        few = replace(point.files, rows=settings.warm_rows, keys=min(point.files.keys, 100), files=WARM_FILES)
        _run(place, replace(point, files=few), settings.limit_seconds)
        place.warmed.add(point.kind)
    point.files.written(place.folder)


def _run(place: Workplace, point: Point, limit_seconds: float) -> Run:
    from sash.spark.driver.silence_jvm import silence_jvm

    spark = place.spark()
    output = _outputs(place) / point.name
    shutil.rmtree(output, ignore_errors=True)
    spark.sparkContext._jvm.System.gc()  # what the run before left behind is not this one's to clear
    with alike(spark), silence_jvm(spark), Watch() as watch:
        answer = point.answer(point.files.read(spark, place.folder))
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
    figures = Figures.of(map(Batch.of, query.recentProgress))
    results = _sent(spark, output).count() if has_ended else 0
    shutil.rmtree(output / "checkpoint", ignore_errors=True)
    busy = watch.cpu_seconds / seconds
    return Run(seconds, figures, results, watch.largest_bytes, busy, is_stopped=not has_ended)


def _outputs(place: Workplace) -> Path:
    return place.folder / "outputs"


def _sent(spark: Any, output: Path) -> Any:
    return spark.read.parquet(str(output / "results"))


def _compared(place: Workplace, runs: dict[Point, Run]) -> dict[Point, Run]:
    """Runs that ended, with the number of results that native did not send, or sent alone."""
    yardstick = next((point for point, run in runs.items() if point.subject == NATIVE and not run.is_stopped), None)
    if yardstick is None:
        return runs
    spark = place.spark()

    def compared(point: Point, run: Run) -> Run:
        if point == yardstick or point.files != yardstick.files or run.is_stopped:
            return run
        native, ours = (_sent(spark, _outputs(place) / each.name) for each in (yardstick, point))
        with alike(spark):
            return replace(run, different=ours.exceptAll(native).count() + native.exceptAll(ours).count())

    return {point: compared(point, run) for point, run in runs.items()}


# --- as records ------------------------------------------------------------------------------------


def records_of(experiment: str, runs: Mapping[Point, Run], shape: Mapping[str, Value]) -> Iterator[Record]:
    """Times, state and bytes written of each; how fast is said where native took part."""
    base = next((run.seconds for point, run in runs.items() if point.subject == NATIVE), None)
    for point, run in runs.items():
        for metric, value, unit in _values(point, run):
            mark, note = (">", f"stopped after {run.seconds:.0f} s") if run.is_stopped else ("", _note(metric, run))
            ratio = base / run.seconds if base and metric == TIME else None
            mark = mark if metric == TIME else ""
            given = parameters(**shape)
            yield Record(experiment, point.subject, metric, value, unit, point.aggregate, given, ratio, note, mark)


def _values(point: Point, run: Run) -> Iterator[tuple[str, float, str]]:
    figures = run.figures
    yield TIME, run.seconds, "s"
    if figures.batches:
        yield BATCH, figures.batch_seconds, "s"
        yield STATE_ROWS, figures.state_rows, "rows"
        yield STATE, figures.state_bytes / MB, "MB"
        yield WRITTEN, figures.written_bytes / MB, "MB"
    if not run.is_stopped:
        yield RATE, point.files.rows / run.seconds, "rows/s"
        yield RESULTS, run.results, "rows"
    if run.different is not None:
        yield DIFFERENT, run.different, "rows"
    if point.is_ours:
        yield SLICES, figures.slices, "slices"
        yield MEMORY_OF_STATE, figures.memory_bytes / MB, "MB"
        yield JOURNAL, figures.journal_bytes / MB, "MB"
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
    JOURNAL: "sash's own count",
    MEMORY: "peak of the largest Python worker",
    DIFFERENT: "by exceptAll, both ways",
}


def _note(metric: str, run: Run) -> str:
    return _NOTES.get(metric, f"best of {run.runs}" if metric in (TIME, RATE) else "")
