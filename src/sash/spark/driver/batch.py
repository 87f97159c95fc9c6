"""Bounded DataFrames: plan and refuse on the driver, and return a lazy DataFrame."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from sash.activity import doing
from sash.engine.frame import Frame, Unit
from sash.engine.frame_reach import reach_of
from sash.engine.options import CallOptions, with_key_names
from sash.engine.results import schema_of
from sash.engine.rolling import FramePlan
from sash.errors import InvalidInput
from sash.plan.decide import Decision
from sash.plan.plan import Plan
from sash.plan.query import Query, named_queries
from sash.report import Report
from sash.spark.driver.added_columns import with_added
from sash.spark.driver.hot_keys import Distance, Reach
from sash.spark.driver.jvm_slices import aggregate_in_spark, aggregate_slices, can_aggregate_in_spark, can_slice
from sash.spark.driver.packing import check_bounded, hot_keys_of, map_rows, pack, spread, task_count
from sash.spark.driver.request import frame_plan_of, recipe_of
from sash.spark.driver.schema import (
    arrow_schema,
    check_results,
    column,
    spark_schema,
    with_intervals,
    with_text_intervals,
)
from sash.spark.versions import collect
from sash.spark.wire.hot_keys import HotKey
from sash.spark.wire.results import as_results
from sash.spark.worker.frames import FrameTask
from sash.spark.worker.window_task import WindowTask
from sash.windows.measure import Measure

__all__ = ["Explained", "aggregate", "explain", "rolling"]


def aggregate(rows: DataFrame, queries: Query | Sequence[Query], given: CallOptions, path: str = "auto") -> DataFrame:
    """Return all windows of a bounded DataFrame; `path` overrides the planner's choice of who cuts rows into slices."""
    options = given.of_table()
    check_bounded(rows, "sash.aggregate")
    options = with_key_names(options, rows.columns)
    rows, queries, _ = with_added(rows, named_queries(queries), (options.on, *options.by))
    recipe = recipe_of(rows, queries, options)
    plan = recipe.plan()
    schema = spark_schema(schema_of(plan), "sash.aggregate")
    check_results(rows, schema.names)
    results = as_results(schema_of(plan))
    chosen = choose_path(rows, plan, path).choice
    if chosen == "spark":
        return aggregate_in_spark(rows, plan, schema)
    if chosen == "jvm":
        rows, recipe = aggregate_slices(rows, plan), replace(recipe, is_sliced=True)
        hot: tuple[HotKey, ...] = ()
    else:
        wanted = dict.fromkeys([*options.by, options.on, *plan.columns, *plan.punctuations])
        rows = rows.select(*map(column, wanted))
        hot = hot_keys_of(rows, options, plan.measure, _reach(plan))
    pieces = spread(pack(rows, options, plan.measure, hot), task_count([rows], options.limits))
    newest = _newest(rows, plan) if any(query.kind.needs_newest for query in plan.queries) else None
    return map_rows(pieces, WindowTask(recipe, arrow_schema(rows.schema), results, hot, newest), schema)


def rolling(table: DataFrame, frames: tuple[Frame, ...], given: CallOptions) -> DataFrame:
    """Return all rows of a bounded DataFrame with the aggregates of their frames."""
    options = CallOptions(given.on, given.by, limits=given.limits).of_table()
    check_bounded(table, "sash.rolling")
    table, frames, extra = with_added(table, frames, (options.on, *options.by, *given.order.columns), "rolling")
    plan, own, added = frame_plan_of(table, frames, options, given.order)
    check_results(table, added.names, own.names)
    new = spark_schema(added, "sash.rolling").fields
    before, table = table.schema, with_text_intervals(table)
    results = pa.schema([*own, *as_results(added)])
    hot = hot_keys_of(table, options, plan.measure, _reach_of_frames(plan))
    pieces = spread(pack(table, options, plan.measure, hot), task_count([table], options.limits))
    task = FrameTask(plan, own, results, options.limits, hot)
    framed = map_rows(pieces, task, StructType([*table.schema.fields, *new]))
    return extra.drop(with_intervals(framed, StructType([*before.fields, *new])))


@dataclass(frozen=True, repr=False)
class Explained(Report):
    """What runs on Spark, and why: the path of the rows, then the plan of the engine."""

    path: Decision
    plan: Plan

    def lines(self) -> list[tuple[str, str]]:
        text = {
            "spark": "Spark aggregates rows into windows; no Python code runs",
            "jvm": "Spark aggregates rows into slices (JVM slices); Python reads one row per key and slice",
            "packed": "Python receives the rows, packed by bucket of keys, and cuts them into slices (packed rows)",
            "buckets": "rows travel packed to the state of their bucket of keys, in every micro-batch",
        }
        return [("spark", f"{text[str(self.path.choice)]}, because {self.path.because}"), *self.plan.lines()]


def explain(rows: DataFrame, queries: Query | Sequence[Query], given: CallOptions) -> Explained:
    """Return what `aggregate` does with this DataFrame."""
    given.of_stream(given.watermark)  # checks the options, of which a table uses few
    check_bounded(rows, "sash.explain")
    options = CallOptions(given.on, given.by, limits=given.limits, store=given.store).of_stream(None)
    options = with_key_names(options, rows.columns)
    rows, queries, _ = with_added(rows, named_queries(queries), (options.on, *options.by))
    plan = recipe_of(rows, queries, options).plan()
    return Explained(choose_path(rows, plan, "auto"), plan)


def choose_path(rows: DataFrame, plan: Plan, path: str) -> Decision:
    """Return who cuts rows into slices, and why."""
    if path not in ("auto", "spark", "jvm", "packed"):
        raise InvalidInput.option("path", path, "'auto', 'spark', 'jvm' or 'packed'")
    if path == "packed":
        return Decision("packed", "the caller chose it")
    possible = can_slice(plan, rows.schema)
    alone = can_aggregate_in_spark(plan, rows.schema) if possible.choice else possible
    if path in ("jvm", "spark"):
        if not (possible if path == "jvm" else alone).choice:
            because = (possible if path == "jvm" else alone).because
            raise InvalidInput.option("path", path, f"'packed' or 'auto' here: {because}")
        return Decision(path, "the caller chose it")
    if alone.choice:
        return Decision("spark", alone.because)
    return Decision("jvm" if possible.choice else "packed", possible.because)


# --- DataFrames ---------------------------------------------------------------------------------------


def _reach(plan: Plan) -> Reach | None:
    """Return how far back the windows of a plan look; None if rows decide it."""
    lengths = [query.kind.lookback for query in plan.queries]
    return None if None in lengths else Reach(Distance(max(lengths)))


def _reach_of_frames(plan: FramePlan) -> Reach:
    """Return how far frames look back and ahead in time."""
    reaches = [(each.unit, reach_of(each, plan.order)) for each in plan.extents]
    back, ahead = ([(unit, getattr(reach, way)) for unit, reach in reaches] for way in ("back", "forward"))
    return Reach(_distance(back, plan.measure), _distance(ahead, plan.measure))


def _distance(ends: list[tuple[Unit, Any]], measure: Measure) -> Distance:
    """Return how far the furthest of some ends is; None is an open end."""
    if any(end is None for _, end in ends):
        return Distance(measure.highest)
    length, rows, groups = (
        max((end for own, end in ends if own == unit), default=0) for unit in ("range", "rows", "groups")
    )
    return Distance(length, rows, groups)


def _newest(rows: DataFrame, plan: Plan) -> Any:
    """Return the last position of any key: multi-measure windows of every key are emitted up to it."""
    on = column(plan.options.on)
    near = on if plan.measure.dtype.kind == "i" else F.when(F.abs(on) <= plan.measure.reach, on)
    with doing("Spark reads the newest position"):
        found = collect(rows.agg(F.max(near)))
    positions, valid = plan.measure.positions(found.column(0), plan.options.on)
    return positions[0].item() if valid is None or valid[0] else None
