"""Bounded DataFrames as packed rows: how many tasks and buckets, which keys are hot, and the shuffle."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from sash.errors import InvalidInput
from sash.limits import Limits
from sash.plan.plan import Options
from sash.spark.driver.hot_keys import Reach, find_hot_keys
from sash.spark.driver.schema import arrow_schema, column, spark_schema
from sash.spark.driver.worker_python import use_driver_python
from sash.spark.versions import check_types, repartition_by_number
from sash.spark.wire.buckets import bucket_ids
from sash.spark.wire.hot_keys import HotKey
from sash.spark.wire.pieces import piece_schema
from sash.spark.worker.packing import PackTask
from sash.spark.worker.task import Task, as_function
from sash.windows.measure import Measure

__all__ = ["check_bounded", "hot_keys_of", "is_small", "map_rows", "pack", "spread", "task_count"]

_BUCKETS_PER_TASK = 20  # a task takes as many together as it may hold


def check_bounded(rows: DataFrame, what: str) -> None:
    """Refuse a streaming DataFrame, and columns of types that Python lacks."""
    if rows.isStreaming:
        raise InvalidInput.streaming(what)
    check_types(rows)


def hot_keys_of(rows: DataFrame, options: Options, measure: Measure, reach: Reach | None) -> tuple[HotKey, ...]:
    """Return the hot keys of a table that is large enough to have some; `reach` is None if they cannot be cut."""
    limits = options.limits
    if reach is None or is_small(rows, limits):
        return ()
    buckets = _BUCKETS_PER_TASK * task_count([rows], limits)
    return find_hot_keys(rows, options.by, options.on, measure, reach, _cores(rows), buckets, limits)


def is_small(rows: DataFrame, limits: Limits) -> bool:
    """Return whether Spark's statistics say that there is little to read; run nothing for that."""
    plan = getattr(rows, "_jdf", None)
    return plan is not None and plan.queryExecution().optimizedPlan().stats().sizeInBytes() < limits.small_bytes


def _cores(rows: DataFrame) -> int:
    """Return how many tasks run at once; 8 on Spark Connect, where it is not known."""
    return rows.sparkSession.sparkContext.defaultParallelism if hasattr(rows, "_jdf") else 8


def task_count(tables: Sequence[DataFrame], limits: Limits) -> int:
    """Return the number of tasks that take buckets: several per core if there is much to read, to balance them."""
    cores = _cores(tables[0])
    return cores if all(is_small(each, limits) for each in tables) else 3 * cores


def pack(
    rows: DataFrame,
    options: Options,
    measure: Measure,
    hot: tuple[HotKey, ...],
    tasks: int | None = None,
    side: int = 0,
) -> DataFrame:
    """Return rows as pieces; `side` is the number of the table if several are joined."""
    limits = options.limits
    tasks = task_count([rows], limits) if tasks is None else tasks
    task = PackTask(
        options.on, options.by, measure, arrow_schema(rows.schema), limits, _BUCKETS_PER_TASK * tasks, hot, side
    )
    # mapInArrow looks columns up by name, and fails if a name has a dot.
    plain = [f"_{place}" for place, _ in enumerate(rows.columns)]
    return map_rows(rows.toDF(*plain), task, spark_schema(piece_schema(measure), "pieces"))


def spread(pieces: DataFrame, tasks: int) -> DataFrame:
    """Return pieces sorted for the tasks that take buckets."""
    spread = repartition_by_number(pieces, tasks, F.pmod(column("bucket"), F.lit(tasks)), bucket_ids)
    return spread.sortWithinPartitions("bucket", "low", "task", "number")


def map_rows(rows: DataFrame, task: Task, schema: StructType) -> DataFrame:
    """Run a task on the partitions of a DataFrame."""
    use_driver_python(rows.sparkSession)
    return rows.mapInArrow(as_function(task), schema)
