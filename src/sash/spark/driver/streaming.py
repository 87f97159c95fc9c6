"""Streaming DataFrames: plan and refuse on the driver, before a query starts.

source ─▶ SendTask ─▶ one group per bucket ─▶ BucketProcessor ─▶ figures observed ─▶ OpenTask ─▶ any sink
"""

import uuid
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType, TimestampType

from sash.engine.frame import Frame, check_ends
from sash.engine.options import CallOptions, length_of, with_key_names
from sash.engine.results import schema_of
from sash.errors import InvalidInput, InvalidQuery
from sash.plan.decide import Decision
from sash.plan.plan import Options
from sash.plan.query import Query, named_queries
from sash.spark.driver.added_columns import AddedColumns, with_added
from sash.spark.driver.batch import Explained
from sash.spark.driver.checkpoints import with_checkpoint_check
from sash.spark.driver.packing import map_rows
from sash.spark.driver.request import frame_plan_of, recipe_of
from sash.spark.driver.schema import (
    arrow_schema,
    check_columns,
    check_no_twins,
    check_results,
    column,
    spark_schema,
    with_intervals,
    with_text_intervals,
)
from sash.spark.known_plans import KnownPlan, remember
from sash.spark.state.bucket import Work
from sash.spark.state.frame_bucket import FrameWork
from sash.spark.state.lazy_processor import LazyProcessor
from sash.spark.state.processor import BucketProcessor
from sash.spark.state.snapshot_log import STATE_VARIABLE
from sash.spark.state.window_bucket import WindowWork
from sash.spark.versions import check_connect_streams, check_protobuf, has_row_state
from sash.spark.wire.buckets import bucket_ids
from sash.spark.wire.pieces import piece_schema
from sash.spark.wire.results import DETAILS, FIGURES, LOCAL, OBSERVED, answer_schema, as_results
from sash.spark.worker.packing import OpenTask, SendTask
from sash.spark.worker.task import LACKING
from sash.windows.duration import Duration
from sash.windows.lengths import length_on
from sash.windows.measure import Measure, MeasureKind

__all__ = ["aggregate", "explain", "rolling"]

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_DELAY = "spark.watermarkDelayMs"  # metadata that withWatermark sets
_LATE_ROW = "late_row"
_MOST_REPORTS = 16  # of buckets, those with the most rows
_POSITIONS = ("low", "newest")  # of a piece; pandas has no whole numbers with nulls


def aggregate(rows: DataFrame, queries: Query | Sequence[Query], given: CallOptions) -> DataFrame:
    """Return all windows of a stream, as a stream."""
    _check_options(given)
    names = rows.columns
    rows, queries, extra = with_added(rows, named_queries(queries), _read(given))
    options = with_key_names(_options(rows, "sash.aggregate", given), names)
    given = _with_history(given, extra)
    recipe = recipe_of(rows, queries, options)
    plan = recipe.plan()
    wanted = schema_of(plan)
    before = rows.schema
    if given.late == "keep":
        check_no_twins(rows)
        rows = with_text_intervals(rows)
        wanted = _with_late(wanted, [pa.field(_LATE_ROW, pa.struct(list(arrow_schema(rows.schema))))])
    else:
        rows = rows.select(*map(column, recipe.schema.names))
    check_results(rows, wanted.names)
    schema = spark_schema(wanted, "sash.aggregate")
    work = WindowWork(recipe, arrow_schema(rows.schema), as_results(wanted), given.late == "keep")
    results = _run_stream(rows, work, schema, options, plan.measure, given, KnownPlan(plan, given.late == "keep"))
    fields = [StructField(each.name, before if each.name == _LATE_ROW else each.dataType) for each in schema]
    results = with_intervals(results, StructType(fields))
    if given.late == "keep":
        results = extra.drop(results, _LATE_ROW)
    return with_checkpoint_check(results, given.flush == "at_end")


def rolling(table: DataFrame, frames: tuple[Frame, ...], given: CallOptions) -> DataFrame:
    """Return all rows of a stream with the aggregates of their frames, each when no earlier row can arrive."""
    _check_options(given)
    check_ends(frames)
    table, frames, extra = with_added(table, frames, (*_read(given), *given.order.columns), "rolling")
    options = _options(table, "sash.rolling", given)
    given = _with_history(given, extra)
    plan, own, added = frame_plan_of(table, frames, options, given.order)
    if given.late == "keep":
        added = _with_late(added, [], own.names)
    check_results(table, added.names, own.names)
    new = spark_schema(added, "sash.rolling").fields
    before, table = table.schema, with_text_intervals(table)
    schema = StructType([*table.schema.fields, *new])
    results = pa.schema([*own, *as_results(added)])
    delay = length_on(plan.measure, "watermark", options.delay)
    work = FrameWork(plan, delay, own, results, given.late == "keep")
    framed = _run_stream(table, work, schema, options, plan.measure, given)
    framed = extra.drop(with_intervals(framed, StructType([*before.fields, *new])))
    return with_checkpoint_check(framed, given.flush == "at_end")


def explain(rows: DataFrame, queries: Query | Sequence[Query], given: CallOptions) -> Explained:
    """Return what `aggregate` does with this stream."""
    names = rows.columns
    rows, queries, _ = with_added(rows, named_queries(queries), _read(given))
    options = with_key_names(_options(rows, "sash.explain", given), names)
    plan = recipe_of(rows, queries, options).plan()
    partitions = rows.sparkSession.conf.get("spark.sql.shuffle.partitions")
    return Explained(Decision("buckets", f"Python's state costs per group: {partitions} of them hold all keys"), plan)


# --- checks -----------------------------------------------------------------------------------------


def _check_options(given: CallOptions) -> None:
    given.check_late()
    if given.flush not in (None, "at_end"):
        raise InvalidInput.option("flush", given.flush, "'at_end', or left out")
    given.check_partial()


def _options(rows: DataFrame, what: str, given: CallOptions) -> Options:
    """Return the options of a stream whose rows may be as late as `watermark` or `withWatermark` says."""
    check_connect_streams(rows)
    check_protobuf()
    if given.watermark is not None:
        return given.of_stream(given.watermark)
    found = rows.schema[given.on].metadata.get(_DELAY) if given.on in rows.schema.names else None
    if found is None:
        check_columns(rows, [given.on])
        raise InvalidInput.no_watermark(what, given.on)
    return given.of_stream(Duration(int(found) * 1000))


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
        raise InvalidInput.left_out("max_future", max_future, "`on` is not a time, so that no clock can be compared")
    return length_on(measure, "max_future", length_of(max_future, "max_future"))


def _read(given: CallOptions) -> tuple[Any, ...]:
    """Return the columns that a call reads for positions and keys; they are not checked yet."""
    return (given.on, *(given.by if isinstance(given.by, list | tuple) else [given.by]))


def _with_history(given: CallOptions, extra: AddedColumns) -> CallOptions:
    """Return the options with the added columns in the rows from before the stream."""
    if not extra.names or not isinstance(given.initial, DataFrame):
        return given
    return replace(given, initial=extra.add(given.initial))


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


def _run_stream(
    rows: DataFrame,
    work: Work,
    schema: StructType,
    options: Options,
    measure: Measure,
    given: CallOptions,
    known: KnownPlan | None = None,
) -> DataFrame:
    session = rows.sparkSession
    if session.conf.get(_PROVIDER) != _ROCKS:
        session.conf.set(_PROVIDER, _ROCKS)  # the only provider that Spark's state operator accepts
    partitions = int(str(session.conf.get("spark.sql.shuffle.partitions")))
    _warn_of_many(rows, partitions)
    flushes = given.flush == "at_end"
    if flushes and any(_DELAY in field.metadata for field in rows.schema):
        why = "Spark allows one watermark per stream, which withWatermark has set (`watermark=` works)"
        raise InvalidInput.left_out("flush", given.flush, why)
    ids, far = bucket_ids(partitions), _far(given.max_future, measure)
    task = SendTask(options.on, options.by, measure, arrow_schema(rows.schema), given.limits, ids, far)
    stream = uuid.uuid4().hex
    processor = BucketProcessor(work, stream, partitions, given.limits, far is not None, flushes)
    sent = _send(rows, task, measure)
    if flushes:
        # Spark's own watermark follows the clock. It only has to move: then an empty micro-batch follows the last one.
        # It stays far behind, because Spark drops older rows and clocks may go back.
        sent = sent.union(_pulse(sent)).withColumn("sent", F.current_timestamp()).withWatermark("sent", "30 days")
    history = None if given.initial is None else _send(_history(given.initial, rows), task, measure).groupBy("bucket")
    answers = _transform(sent.groupBy("bucket"), processor, measure, "EventTime" if flushes else "None", history)
    if known is not None:
        remember(stream[:8], known)
    name = f"{OBSERVED} {measure.kind.value} {stream[:8]}{_zone_word(rows, options.on)}"
    return map_rows(_observe(answers, name).select("data"), OpenTask(work.results), schema)


def _send(rows: DataFrame, task: SendTask, measure: Measure) -> DataFrame:
    # mapInArrow looks columns up by name, and fails if a name has a dot.
    plain = rows.toDF(*(f"_{place}" for place, _ in enumerate(rows.columns)))
    if task.max_future is not None:
        # Times without a zone and dates are local.
        has_zone = rows.schema[task.on].dataType == TimestampType()
        plain = plain.withColumn("_now", F.current_timestamp() if has_zone else F.localtimestamp())
    sent = map_rows(plain, task, spark_schema(piece_schema(measure), "pieces"))
    if has_row_state(sent.groupBy()):
        return sent
    return sent.withColumns({name: column(name).cast("string") for name in _POSITIONS})


def _transform(grouped: Any, processor: BucketProcessor, measure: Measure, time_mode: str, history: Any) -> DataFrame:
    """Run the processor in the state operator that Spark has."""
    schema = spark_schema(answer_schema(measure), "answers")
    lazy = LazyProcessor(processor, STATE_VARIABLE, LACKING)
    if has_row_state(grouped):
        return grouped.transformWithState(lazy, schema, "append", time_mode, history)
    from sash.spark.state.pandas_processor import PandasProcessor

    wrapped = PandasProcessor(lazy, _POSITIONS, int if measure.dtype.kind == "i" else float, schema.names)
    return grouped.transformWithStateInPandas(wrapped, schema, "append", time_mode, history)


def _pulse(sent: DataFrame) -> DataFrame:
    """Return a source without rows that causes one more micro-batch in every run: the last run may not have flushed."""
    beats = sent.sparkSession.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).option("numPartitions", 1)
    none = beats.load().where(F.col("value") < 0)
    return none.select(*(F.lit(None).cast(each.dataType).alias(each.name) for each in sent.schema))


def _zone_word(rows: DataFrame, on: str) -> str:
    """Return the word that tells `sash.progress` that times have no zone."""
    return f" {LOCAL}" if not isinstance(rows.schema[on].dataType, TimestampType) else ""


def _observe(answers: DataFrame, name: str) -> DataFrame:
    """Add figures to Spark's own progress."""
    figures = [F.sum(name).alias(name) for name in FIGURES]
    figures += [F.max(name).alias(name) for name in ("watermark", "newest")]
    figures.append(F.min("next_end").alias("next_end"))
    reports = F.collect_list(F.when(column(DETAILS).isNotNull(), F.struct("rows", DETAILS)))
    largest = F.slice(F.sort_array(reports, asc=False), 1, _MOST_REPORTS)
    figures.append(F.transform(largest, lambda each: each[DETAILS]).alias(DETAILS))
    return answers.observe(name, *figures)


def _warn_of_many(rows: DataFrame, partitions: int) -> None:
    context = getattr(rows.sparkSession, "sparkContext", None) if hasattr(rows, "_jdf") else None
    if context is not None and partitions > 8 * context.defaultParallelism:
        warnings.warn(
            f"Each of {partitions} shuffle partitions keeps state and is called in every micro-batch, on "
            f"{context.defaultParallelism} cores: set spark.sql.shuffle.partitions to a small multiple of them "
            "before sash.aggregate.",
            stacklevel=5,
        )
