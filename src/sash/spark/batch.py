"""Bounded DataFrames: what is asked is planned and refused here, on the driver; what runs is lazy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from sash.algebra.aggregate import Template
from sash.engine.keys import Keys
from sash.engine.results import schema_of
from sash.engine.rolling import Frame, frames_of, plan_frames
from sash.engine.stream import options_of, with_free_names
from sash.engine.tables import read_rows
from sash.errors import InvalidInput, InvalidQuery, InvalidWindow
from sash.plan.decide import Decision
from sash.plan.plan import Plan, as_html, as_text
from sash.plan.query import Query, named_queries
from sash.spark.chunks import Hot, Reach, find_hot
from sash.spark.jvm_slices import can_slice, sliced
from sash.spark.packing import BUCKET, BUDGET, Budget, piece_schema
from sash.spark.schema import arrow_schema, as_spark, check_columns, column, spark_schema
from sash.spark.tasks import FrameTask, PackTask, Recipe, Task, WindowTask, as_function
from sash.windows.measure import Measure

__all__ = ["Explained", "aggregate", "explain", "rolling"]

# Buckets that keys are spread over: a task takes as many together as fit its budget.
BUCKETS = 128
# Of one query, for one row. More is a mistake in a unit, and would run for days.
MOST_WINDOWS = 10_000_000


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
    path: str = "auto",
    budget: Budget = BUDGET,
) -> DataFrame:
    """All windows of a bounded DataFrame, as a DataFrame; `path` says who cuts rows into slices, if not the planner."""
    options_of(on, by, allowed_lateness, watermark, False, emit)
    if not isinstance(partial, bool):
        raise InvalidInput.option("partial", partial, "True or False")
    recipe = _recipe(rows, queries, on, by, partial)
    plan = recipe.plan()
    _check_windows(plan)
    schema = spark_schema(schema_of(plan), "sash.aggregate")
    results = pa.schema([pa.field(each.name, as_spark(each.type)) for each in schema_of(plan)])
    if way(rows, plan, path).choice == "jvm":
        rows, recipe = sliced(rows, plan), replace(recipe, is_sliced=True)
        hot: tuple[Hot, ...] = ()
    else:
        rows = rows.select(*map(column, dict.fromkeys([*plan.options.by, on, *plan.columns, *plan.punctuations])))
        hot = _hot(rows, plan.options.by, on, plan.measure, _reach(plan))
    pieces = _packed(rows, plan.options.by, on, plan.measure, budget, hot)
    return _mapped(pieces, WindowTask(recipe, arrow_schema(rows.schema), results, budget, hot), schema)


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
    budget: Budget = BUDGET,
    **aggregates: Template,
) -> DataFrame:
    """All rows of a bounded DataFrame, with the aggregates of their frames beside them."""
    wanted = frames_of(frames, rows, range, closed, min_samples, aggregates)
    options = options_of(on, by, 0, None, False, "final")
    _check_bounded(table, "sash.rolling")
    columns = [name for each in wanted for _, template in each.aggregates for name in template.columns]
    check_columns(table.schema, [on, *options.by, *columns, *table.columns])
    own = arrow_schema(table.schema)
    _check_keys(own, options.by)
    plan = plan_frames(read_rows(own.empty_table()), wanted, on, by)
    added = pa.schema([pa.field(name, pa.null() if kind is None else kind) for name, kind in plan.results()])
    schema = StructType([*table.schema.fields, *spark_schema(added, "sash.rolling").fields])
    results = pa.schema([*own, *(pa.field(each.name, as_spark(each.type)) for each in added)])
    lengths = [width for width in plan.widths if width is not None]
    reach = Reach(max(lengths, default=0), max((each.rows or 1 for each in plan.frames), default=1) - 1)
    hot = _hot(table, options.by, on, plan.measure, reach)
    pieces = _packed(table, options.by, on, plan.measure, budget, hot)
    return _mapped(pieces, FrameTask(plan, own, results, budget, hot), schema)


@dataclass(frozen=True)
class Explained:
    """What would run on Spark, and why: the way of the rows, then the plan of the engine."""

    way: Decision
    plan: Plan

    def lines(self) -> list[tuple[str, str]]:
        text = {
            "jvm": "Spark aggregates rows into slices (JVM slices); Python sees one row per key and slice",
            "packed": "rows travel packed, by bucket of keys, and are cut in Python (packed slices)",
        }
        return [("spark", f"{text[str(self.way.choice)]}, because {self.way.because}"), *self.plan.lines()]

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())


def explain(
    rows: DataFrame, queries: Query | Sequence[Query], *, on: str, by: str | Sequence[str] | None = None
) -> Explained:
    """What `aggregate` would do with this DataFrame."""
    plan = _recipe(rows, queries, on, by, False).plan()
    return Explained(way(rows, plan, "auto"), plan)


def way(rows: DataFrame, plan: Plan, path: str) -> Decision:
    """Who cuts rows into slices, and why."""
    if path not in ("auto", "jvm", "packed"):
        raise InvalidInput.option("path", path, "'auto', 'jvm' or 'packed'")
    possible = can_slice(plan, rows.schema)
    if path == "packed":
        return Decision("packed", "it was asked for")
    if path == "jvm" and not possible.choice:
        raise InvalidInput.option("path", path, f"'packed' or 'auto' here: {possible.because}")
    return Decision("jvm" if possible.choice else "packed", possible.because)


# --- what is refused --------------------------------------------------------------------------------


def _recipe(rows: DataFrame, queries: Any, on: str, by: Any, partial: bool) -> Recipe:
    """What is asked of a DataFrame, as far as its columns are known."""
    wanted = named_queries(queries)
    if not wanted:
        raise InvalidQuery.none()
    options = with_free_names(options_of(on, by, 0, None, False, "final", partial))
    _check_bounded(rows, "sash.aggregate")
    columns = [name for each in wanted for _, template in each.aggregates for name in template.columns]
    columns += [name for each in wanted for name in each.window.columns]
    names = list(dict.fromkeys([on, *options.by, *columns]))
    check_columns(rows.schema, names)
    schema = arrow_schema(rows.select(*map(column, names)).schema)
    _check_keys(schema, options.by)
    return Recipe(wanted, options, schema)


def _check_bounded(rows: DataFrame, what: str) -> None:
    if rows.isStreaming:
        raise InvalidInput.streaming(what)


def _check_keys(schema: pa.Schema, by: Sequence[str]) -> None:
    Keys([schema.field(name).type for name in by], by)  # says which types it takes


def _check_windows(plan: Plan) -> None:
    for each in plan.queries:
        window: Any = each.window
        if window.kind in ("grid", "cumulative") and window.size / window.every > MOST_WINDOWS:
            raise InvalidWindow.too_many(each.name, window.size / window.every, MOST_WINDOWS)


# --- what runs ----------------------------------------------------------------------------------------


def _reach(plan: Plan) -> Reach | None:
    """How far back the windows of a plan look; None where it is rows that decide."""
    lengths: list[Any] = []
    for each in plan.queries:
        window: Any = each.window
        if window.kind in ("grid", "cumulative"):
            lengths.append(window.size)
        elif window.kind == "landmark":
            lengths.append(window.end - window.start)
        elif window.kind == "user_free" and window.reach is not None:
            lengths.append(window.reach)
        else:
            return None
    return Reach(max(lengths))


def _hot(rows: DataFrame, by: Sequence[str], on: str, measure: Measure, reach: Reach | None) -> tuple[Hot, ...]:
    if reach is None or _is_small(rows):
        return ()
    return find_hot(rows, by, on, measure, reach, _tasks(rows), BUCKETS)


# Below it no key is large enough to be cut.
_SMALL_BYTES = 16 << 20


def _is_small(rows: DataFrame) -> bool:
    """Whether Spark knows that there is not much to read; nothing is run for that."""
    plan = getattr(rows, "_jdf", None)
    return plan is not None and plan.queryExecution().optimizedPlan().stats().sizeInBytes() < _SMALL_BYTES


def _tasks(rows: DataFrame) -> int:
    """How many tasks run at once, as far as that is known."""
    context = getattr(rows.sparkSession, "sparkContext", None) if hasattr(rows, "_jdf") else None
    return context.defaultParallelism if context is not None else 4


def _packed(
    rows: DataFrame, by: Sequence[str], on: str, measure: Measure, budget: Budget, hot: tuple[Hot, ...]
) -> DataFrame:
    """Rows as pieces, sorted for the tasks that take buckets."""
    bucket = F.pmod(F.xxhash64(*map(column, by)), F.lit(BUCKETS)).cast("int") if by else F.lit(0)
    task = PackTask(on, tuple(by), measure, arrow_schema(rows.schema), budget, hot)
    # mapInArrow looks columns up by name, and trips over a dot in one.
    plain = [f"_{place}" for place, _ in enumerate(rows.columns)]
    rows = rows.withColumn(BUCKET, bucket).toDF(*plain, BUCKET)
    pieces = _mapped(rows, task, spark_schema(piece_schema(measure), "pieces"))
    return pieces.repartition("bucket").sortWithinPartitions("bucket", "low", "task", "number")


def _mapped(rows: DataFrame, task: Task, schema: StructType) -> DataFrame:
    return rows.mapInArrow(as_function(task), schema)
