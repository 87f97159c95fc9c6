"""Cells on local Spark: windows from JVM slices and from packed rows, frames, and native Spark where it has them."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import sash
from benchmarks.matrix.cells import FRAMES, JVM, PACKED, Cell
from benchmarks.matrix.engines import most_rows, rows_of
from benchmarks.matrix.measurement import Measured, measure
from benchmarks.matrix.records import SASH, not_measured, reason, time_record, totals
from benchmarks.matrix.windows import EVERY, PAUSE
from benchmarks.records import Record
from benchmarks.settings import MatrixSettings, Size
from benchmarks.spark_tables.session import LocalSpark
from benchmarks.spark_tables.subjects import NATIVE

__all__ = ["LOCAL", "measure_cell"]

LOCAL = LocalSpark(what="The suite matrix on Spark")
FILES = 4
MOST_SLIDES = 100  # native Spark plans a copy of each row for each


def measure_cell(cell: Cell, settings: MatrixSettings) -> Iterator[Record]:
    """Measure a cell at each length, by sash and by native Spark."""
    own = replace(
        settings, levels=settings.spark_levels, cell_seconds=settings.spark_cell_seconds, runs=settings.spark_runs
    )
    found: dict[int, Measured] = {}
    _warm_up(cell, settings)
    for length in settings.lengths:
        most = most_rows(cell, length, settings)
        try:
            found[length] = measure(_call(cell, length, _ours), length, own, most, time.perf_counter)
        except Exception as error:  # any: one cell that fails must not end the run
            yield not_measured(cell.engine, SASH, cell, reason(error), length=length)
            break
        native = _native_time(cell, length, own, most)
        ratio = native.ns_per_row / found[length].ns_per_row if native is not None else None
        yield time_record(cell.engine, SASH, cell, length, found[length], ratio)
        if native is not None:
            yield time_record(cell.engine, NATIVE, cell, length, native, 1.0)
    yield from totals(cell.engine, SASH, cell, found)


def _warm_up(cell: Cell, settings: MatrixSettings) -> None:
    """Run both sides a few times on a new session: Java compiles what runs often, and workers start."""
    if "matrix" in LOCAL.warmed or not settings.spark_warm_ups:
        return
    LOCAL.warmed.add("matrix")
    for path, window in ((JVM, "sliding"), (PACKED, "sliding"), (FRAMES, "rows_frame")):
        simple = replace(cell, aggregate="max", column="int64", window=window, path=path)
        for answer in (_ours, _native):
            call = _call(simple, 10 * EVERY, answer)(settings.spark_levels[0][0])
            for _ in range(settings.spark_warm_ups):
                call()


def _call(cell: Cell, length: int, answer: Callable[[Cell, int, Any], Any]) -> Callable[[Size], Callable[[], Any]]:
    def make(size: Size) -> Callable[[], Any]:
        table = LOCAL.spark().read.parquet(str(_written(cell, size, length)))
        return lambda: answer(cell, length, table).write.format("noop").mode("overwrite").save()

    return make


def _written(cell: Cell, size: Size, length: int) -> Path:
    """Return the folder with the rows of a cell; they are written once."""
    flags = length if cell.window in ("session", "punctuated", "own_aware") else 0
    values = f"{cell.column}{'-near-one' * cell.needs_near_one}".replace(" ", "-")
    folder = LOCAL.folder / f"{values}-{size.rows}-{size.keys}-{cell.shape.on}-{flags}"
    if not folder.exists():
        rows, part = rows_of(cell, size, length), -(-size.rows // FILES)
        folder.mkdir(parents=True)
        for number in range(FILES):
            pq.write_table(rows.slice(number * part, part), folder / f"part-{number}.parquet")
    return folder


def _ours(cell: Cell, length: int, table: Any) -> Any:
    shape = cell.shape
    if shape.frame is not None:
        return sash.rolling(table, on=shape.on, by="k", answer=cell.template, **shape.frame(length))
    from sash.engine.options import CallOptions
    from sash.spark.driver import batch

    assert shape.window is not None
    query = sash.query("cells", shape.window(length), answer=cell.template)
    return batch.aggregate(table, query, CallOptions(shape.on, "k"), path=cell.path)


# --- native Spark ------------------------------------------------------------------------------------


def _functions() -> Mapping[str, Callable[[Any, Any], Any]]:
    from pyspark.sql import functions as F

    return {
        **{name: _of(getattr(F, name)) for name in ("count", "sum", "product", "min", "max", "median", "mode")},
        "mean": _of(F.avg),
        "variance": _of(F.var_samp),
        "stddev": _of(F.stddev_samp),
        "range": lambda x, w: F.max(x) - F.min(x),
        "argmin": lambda x, w: F.min_by(w, x),
        "argmax": lambda x, w: F.max_by(w, x),
        "first": lambda x, w: F.first(x, ignorenulls=True),
        "last": lambda x, w: F.last(x, ignorenulls=True),
        "quantile": lambda x, w: F.percentile(x, 0.95),
        "collect": _of(F.collect_list),
        "collect_distinct": _of(F.collect_set),
        "count_distinct": _of(F.count_distinct),
        "string_agg": lambda x, w: F.string_agg(x, F.lit(",")),
        "hyperloglog": _of(F.approx_count_distinct),
    }


def _of(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, w: function(x)


def _native(cell: Cell, length: int, table: Any) -> Any:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    answer = _functions()[cell.aggregate](F.col("x"), F.col("w"))
    if cell.shape.is_frame:
        keyed = Window.partitionBy("k")
        if cell.window == "rows_frame":
            return table.withColumn("answer", answer.over(keyed.orderBy("t").rowsBetween(1 - length, 0)))
        placed = keyed.orderBy(F.unix_micros("t")).rangeBetween(-(length - 1) * 1_000_000, 0)
        return table.withColumn("answer", answer.over(placed))
    slide = length if cell.window == "tumbling" else EVERY
    window = F.window("t", f"{length} seconds", f"{slide} seconds")
    if cell.window == "session":
        window = F.session_window("g", f"{PAUSE // 2} seconds")
    return table.groupBy(window, "k").agg(answer.alias("answer"))


def _has_native(cell: Cell, length: int) -> bool:
    if cell.kind.nulls or cell.aggregate not in _functions():
        return False
    if cell.shape.is_frame and cell.aggregate == "count_distinct":
        return False
    windows = {"tumbling", "session", "rows_frame", "range_frame"} | (
        {"sliding"} if length <= MOST_SLIDES * EVERY else set()
    )
    return cell.window in windows


def _native_time(cell: Cell, length: int, settings: MatrixSettings, most: float) -> Measured | None:
    if not _has_native(cell, length):
        return None
    logger = logging.getLogger("DataFrameQueryContextLogger")
    before = logger.level
    logger.setLevel(logging.CRITICAL)  # PySpark logs errors in addition to raising them
    try:
        return measure(_call(cell, length, _native), length, settings, most, time.perf_counter)
    except Exception:  # Spark does not have the aggregate for this type or in frames
        return None
    finally:
        logger.setLevel(before)
