"""Streaming DataFrames: plan and refuse on the driver, before a query starts.

source ─▶ SendTask ─▶ one group per bucket ─▶ BucketProcessor ─▶ figures observed ─▶ OpenTask ─▶ any sink
"""

import uuid
import warnings
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType, TimestampType

from sash.algebra.aggregate import Template
from sash.engine.options import length_of, options_of
from sash.engine.results import schema_of
from sash.engine.rolling import Frame, frames_of
from sash.errors import InvalidInput, InvalidQuery
from sash.plan.decide import Decision
from sash.plan.query import Query
from sash.spark.driver.batch import Explained
from sash.spark.driver.checkpoints import checked
from sash.spark.driver.intervals import with_intervals, with_text_intervals
from sash.spark.driver.request import framing_of, recipe_of
from sash.spark.driver.schema import arrow_schema, check_columns, check_no_twins, check_results, column, spark_schema
from sash.spark.state.bucket import Work
from sash.spark.state.frame_bucket import FrameWork
from sash.spark.state.lazy_processor import LazyProcessor
from sash.spark.state.processor import BucketProcessor
from sash.spark.state.snapshot_log import STATE_VARIABLE
from sash.spark.state.window_bucket import WindowWork
from sash.spark.wire.answers import FIGURES, OBSERVED, answer_schema
from sash.spark.wire.buckets import bucket_ids
from sash.spark.wire.budget import BUDGET, Budget
from sash.spark.wire.pieces import piece_schema
from sash.spark.wire.results import as_results
from sash.spark.worker.stream_tasks import OpenTask, SendTask
from sash.spark.worker.task import as_function
from sash.windows.duration import Duration
from sash.windows.lengths import length_on
from sash.windows.measure import Measure, MeasureKind

__all__ = ["aggregate", "explain", "rolling"]

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_DELAY = "spark.watermarkDelayMs"  # metadata that withWatermark sets
_LATE_ROW = "late_row"


def aggregate(
    rows: DataFrame,
    queries: Query | Sequence[Query],
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    emit: str = "final",
    partial: bool = False,
    late: str = "count",
    flush: str | None = None,
    initial: DataFrame | None = None,
    max_future: Any = None,
    budget: Budget = BUDGET,
) -> DataFrame:
    """Return all windows of a stream, as a stream."""
    _check_options(late, flush, partial)
    delay = _delay(rows, "sash.aggregate", on, watermark)
    options = options_of(on, by, allowed_lateness, delay, False, emit, partial)
    recipe = recipe_of(rows, queries, options)
    plan = recipe.plan()
    wanted = schema_of(plan)
    given = rows.schema
    if late == "keep":
        check_no_twins(rows)
        rows = with_text_intervals(rows)
        wanted = _with_late(wanted, [pa.field(_LATE_ROW, pa.struct(list(arrow_schema(rows.schema))))])
    else:
        rows = rows.select(*map(column, recipe.schema.names))
    check_results(rows, wanted.names)
    schema = spark_schema(wanted, "sash.aggregate")
    work = WindowWork(recipe, arrow_schema(rows.schema), as_results(wanted), late == "keep")
    results = _streamed(rows, work, schema, on, options.by, plan.measure, flush, initial, max_future, budget)
    fields = [StructField(each.name, given if each.name == _LATE_ROW else each.dataType) for each in schema]
    return checked(with_intervals(results, StructType(fields)), flush == "at_end")


def rolling(
    table: DataFrame,
    /,
    *frames: Frame,
    on: str,
    by: str | Sequence[str] | None = None,
    rows: int | None = None,
    range: Any = None,
    closed: str = "both",
    min_samples: int = 1,
    watermark: Any = None,
    late: str = "count",
    flush: str | None = None,
    initial: DataFrame | None = None,
    max_future: Any = None,
    budget: Budget = BUDGET,
    **aggregates: Template,
) -> DataFrame:
    """Return all rows of a stream, each when no earlier one can come, with the aggregates of their frames."""
    _check_options(late, flush, False)
    wanted = frames_of(frames, rows, range, closed, min_samples, aggregates)
    options = options_of(on, by, 0, _delay(table, "sash.rolling", on, watermark), False, "final")
    plan, own, added = framing_of(table, wanted, options)
    if late == "keep":
        added = _with_late(added, [], own.names)
    check_results(table, added.names, own.names)
    new = spark_schema(added, "sash.rolling").fields
    given, table = table.schema, with_text_intervals(table)
    schema = StructType([*table.schema.fields, *new])
    results = pa.schema([*own, *as_results(added)])
    delay = length_on(plan.measure, "watermark", options.delay)
    work = FrameWork(plan, delay, own, results, late == "keep")
    framed = _streamed(table, work, schema, on, options.by, plan.measure, flush, initial, max_future, budget)
    return checked(with_intervals(framed, StructType([*given.fields, *new])), flush == "at_end")


def explain(
    rows: DataFrame,
    queries: Query | Sequence[Query],
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    emit: str = "final",
) -> Explained:
    """Return what `aggregate` does with this stream."""
    delay = _delay(rows, "sash.explain", on, watermark)
    plan = recipe_of(rows, queries, options_of(on, by, allowed_lateness, delay, False, emit)).plan()
    partitions = rows.sparkSession.conf.get("spark.sql.shuffle.partitions")
    return Explained(Decision("buckets", f"Python's state costs per group: {partitions} of them hold all keys"), plan)


# --- checks -----------------------------------------------------------------------------------------


def _check_options(late: str, flush: str | None, partial: bool) -> None:
    if late not in ("count", "keep"):
        raise InvalidInput.option("late", late, "'count' or 'keep'")
    if flush not in (None, "at_end"):
        raise InvalidInput.option("flush", flush, "'at_end', or left out")
    if not isinstance(partial, bool):
        raise InvalidInput.option("partial", partial, "True or False")


def _delay(rows: DataFrame, what: str, on: str, watermark: Any) -> Any:
    """Return how late rows may come: `watermark`, or the delay that was given to `withWatermark`."""
    if watermark is not None:
        return watermark
    found = rows.schema[on].metadata.get(_DELAY) if on in rows.schema.names else None
    if found is None:
        check_columns(rows, [on])
        raise InvalidInput.no_watermark(what, on)
    return Duration(int(found) * 1000)


def _with_late(schema: pa.Schema, fields: list[Any], taken: Sequence[str] = ()) -> pa.Schema:
    fields = [*fields, pa.field("late_reason", pa.string())]
    for each in fields:
        if each.name in schema.names or each.name in taken:
            raise InvalidQuery.reserved("late='keep'", each.name, [each.name for each in fields])
        schema = schema.append(each)
    return schema


def _far(max_future: Any, measure: Measure) -> Any:
    if max_future is None:
        return None
    if measure.kind is not MeasureKind.TIME:
        raise InvalidInput.option("max_future", max_future, "left out: `on` is no time, and there is no clock for it")
    return length_on(measure, "max_future", length_of(max_future, "max_future"))


def _history(initial: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the rows from before the stream, under the names of the stream; refuse other types."""
    if not isinstance(initial, DataFrame) or type(initial.sparkSession) is not type(rows.sparkSession):
        raise InvalidInput.option("initial", type(initial).__name__, "a bounded DataFrame of the same session")
    if initial.isStreaming:
        raise InvalidInput.option("initial", "a stream", "a bounded DataFrame")
    check_columns(initial, rows.schema.names)
    chosen = with_text_intervals(initial.select(*map(column, rows.schema.names)))
    for ours, theirs in zip(rows.schema.fields, chosen.schema.fields, strict=True):
        if ours.dataType != theirs.dataType:
            kinds = ours.dataType.simpleString(), theirs.dataType.simpleString()
            raise InvalidInput.in_column(ours.name, "it is {} in the stream and {} in `initial`".format(*kinds))
    return chosen


# --- DataFrames ---------------------------------------------------------------------------------------


def _streamed(
    rows: DataFrame,
    work: Work,
    schema: StructType,
    on: str,
    by: tuple[str, ...],
    measure: Measure,
    flush: str | None,
    initial: DataFrame | None,
    max_future: Any,
    budget: Budget,
) -> DataFrame:
    session = rows.sparkSession
    if session.conf.get(_PROVIDER) != _ROCKS:
        session.conf.set(_PROVIDER, _ROCKS)  # the only provider that Spark's state operator accepts
    partitions = int(str(session.conf.get("spark.sql.shuffle.partitions")))
    _warn_of_many(rows, partitions)
    if flush is not None and any(_DELAY in field.metadata for field in rows.schema):
        raise InvalidInput.option(
            "flush",
            flush,
            "left out after withWatermark (Spark takes one in a stream: give the delay by `watermark=` instead)",
        )
    ids, far = bucket_ids(partitions), _far(max_future, measure)
    task = SendTask(on, by, measure, arrow_schema(rows.schema), budget, ids, far)
    stream = uuid.uuid4().hex
    processor = BucketProcessor(work, stream, partitions, budget.held_bytes, far is not None, flush == "at_end")
    sent = _sent(rows, task, measure)
    if flush == "at_end":
        # Spark's own watermark follows the clock. It only has to move: then an empty micro-batch follows the last one.
        # It stays far behind, because Spark drops older rows and clocks may go back.
        sent = sent.union(_pulse(sent)).withColumn("sent", F.current_timestamp()).withWatermark("sent", "30 days")
    history = None if initial is None else _sent(_history(initial, rows), task, measure).groupBy("bucket")
    answers = sent.groupBy("bucket").transformWithState(
        LazyProcessor(processor, STATE_VARIABLE),
        spark_schema(answer_schema(measure), "answers"),
        "append",
        "EventTime" if flush == "at_end" else "None",
        history,
    )
    return (
        _observed(answers, f"{OBSERVED} {measure.kind.value} {stream[:8]}")
        .select("data")
        .mapInArrow(as_function(OpenTask(work.results)), schema)
    )


def _sent(rows: DataFrame, task: SendTask, measure: Measure) -> DataFrame:
    # mapInArrow looks columns up by name, and fails if a name has a dot.
    plain = rows.toDF(*(f"_{place}" for place, _ in enumerate(rows.columns)))
    if task.max_future is not None:
        # Times without a zone and dates are local.
        has_zone = rows.schema[task.on].dataType == TimestampType()
        plain = plain.withColumn("_now", F.current_timestamp() if has_zone else F.localtimestamp())
    return plain.mapInArrow(as_function(task), spark_schema(piece_schema(measure), "pieces"))


def _pulse(sent: DataFrame) -> DataFrame:
    """Return a source without rows that causes one more micro-batch in every run: the last run may not have flushed."""
    beats = sent.sparkSession.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).option("numPartitions", 1)
    none = beats.load().where(F.col("value") < 0)
    return none.select(*(F.lit(None).cast(each.dataType).alias(each.name) for each in sent.schema))


def _observed(answers: DataFrame, name: str) -> DataFrame:
    """Add figures to Spark's own progress."""
    figures = [F.sum(name).alias(name) for name in FIGURES]
    figures += [F.max(name).alias(name) for name in ("watermark", "newest")]
    figures.append(F.min("next_end").alias("next_end"))
    return answers.observe(name, *figures)


def _warn_of_many(rows: DataFrame, partitions: int) -> None:
    context = getattr(rows.sparkSession, "sparkContext", None) if hasattr(rows, "_jdf") else None
    if context is not None and partitions > 8 * context.defaultParallelism:
        warnings.warn(
            f"Each of {partitions} shuffle partitions keeps state and is called in every micro-batch, on "
            f"{context.defaultParallelism} cores: set spark.sql.shuffle.partitions to a small multiple of them "
            "before sash.aggregate.",
            stacklevel=4,
        )
