"""Queries and frames over a DataFrame, bounded or not: read its columns, and refuse wrong ones by their names."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from sash.engine.frame import Frame, Order
from sash.engine.keys import Keys
from sash.engine.options import with_free_names
from sash.engine.rolling import FramePlan, plan_frames
from sash.engine.tables import read_rows
from sash.errors import InvalidInput
from sash.plan.plan import Options
from sash.plan.query import some_queries
from sash.spark.driver.schema import arrow_schema, check_columns, check_no_twins, text_interval_schema
from sash.spark.wire.recipe import Recipe

__all__ = ["frame_plan_of", "recipe_of"]


def recipe_of(rows: DataFrame, queries: Any, options: Options) -> Recipe:
    """Return the recipe of queries over a DataFrame."""
    wanted = some_queries(queries)
    options = with_free_names(options)
    columns = [name for each in wanted for _, template in each.aggregates for name in template.columns]
    columns += [name for each in wanted for name in each.window.columns]
    names = list(dict.fromkeys([options.on, *options.by, *columns]))
    check_columns(rows, names)
    schema = arrow_schema(StructType([rows.schema[name] for name in names]))
    _check_keys(schema, options.by)
    return Recipe(tuple(each.seal() for each in wanted), options, schema)


def frame_plan_of(
    table: DataFrame, frames: tuple[Frame, ...], options: Options, order: Order
) -> tuple[FramePlan, pa.Schema, pa.Schema]:
    """Return the plan of frames over a DataFrame, its columns, and the columns that are added."""
    columns = [name for each in frames for _, template in each.aggregates for name in template.columns]
    used = list(dict.fromkeys([options.on, *options.by, *order.columns, *columns]))
    check_columns(table, used)
    check_no_twins(table)
    arrow_schema(StructType([table.schema[name] for name in used]))  # none of these may travel as text
    own = arrow_schema(text_interval_schema(table.schema))
    _check_keys(own, options.by)
    sealed = tuple(each.seal() for each in frames)
    plan = plan_frames(read_rows(own.empty_table()), sealed, options.on, list(options.by), order)
    return plan, own, pa.schema([pa.field(name, pa.null() if kind is None else kind) for name, kind in plan.results()])


def _check_keys(schema: pa.Schema, by: Sequence[str]) -> None:
    Keys([schema.field(name).type for name in by], by)  # refuses types that cannot be keys
    for name in by:
        if pa.types.is_null(schema.field(name).type):  # a column of results must have a type
            raise InvalidInput.key_type(name, "void")
