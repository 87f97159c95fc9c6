"""Make the results of a text from those of the engine, and the tables of WITH, on DataFrames."""

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from sash.spark.driver.checkpoints import with_checkpoint_check
from sash.spark.driver.expressions import OnSpark
from sash.spark.driver.schema import arrow_schema, check_columns, column
from sash.syntax.arrow_expressions import compute, condition_mask
from sash.syntax.expressions import Expression
from sash.syntax.tree import Sorting
from sash.text.inputs import NamedInput
from sash.text.names import unknown_column
from sash.text.outputs import Steps

__all__ = ["apply_steps", "input_rows"]


def apply_steps(results: DataFrame, steps: Steps, text: str) -> DataFrame:
    """Return the results of a text; check all types."""
    _check_types(results, steps.expressions(), steps.conditions, text, "HAVING or QUALIFY")
    reader, chosen = OnSpark(), results
    if steps.kept is not None:
        chosen = chosen.filter(steps.kept.read(reader))
    if steps.order:
        chosen = chosen.orderBy(*(_key(each, reader) for each in steps.order))
    if steps.limit is not None:
        count, skipped = steps.limit
        chosen = (chosen.offset(skipped) if skipped else chosen).limit(count)
    chosen = chosen.select(*(each.read(reader).alias(name) for name, each in steps.columns))
    return with_checkpoint_check(chosen, results._sash_flushes) if results.isStreaming else chosen


def _key(sorting: Sorting, reader: OnSpark) -> Column:
    value = sorting.expression.read(reader)
    nulls_first = not sorting.is_descending if sorting.nulls_first is None else sorting.nulls_first
    if sorting.is_descending:
        return value.desc_nulls_first() if nulls_first else value.desc_nulls_last()
    return value.asc_nulls_first() if nulls_first else value.asc_nulls_last()


def input_rows(rows: DataFrame, given: NamedInput) -> DataFrame:
    """Return the rows and columns of a table of WITH."""
    for each in given.used():
        if each.name not in rows.columns:
            raise unknown_column(each, rows.columns, given.text).within(given.text)
    given.names(rows.columns)  # none of them twice
    check_columns(rows, dict.fromkeys(each.name for each in given.used()))
    conditions = () if given.where is None else (given.where,)
    _check_types(rows, [each for _, each in given.columns], conditions, given.text, "WHERE")
    reader = OnSpark()
    chosen = rows if given.where is None else rows.filter(given.where.read(reader))
    own = [column(name) for name in rows.columns] if given.has_all else []
    return chosen.select(*own, *(each.read(reader).alias(name) for name, each in given.columns))


def _check_types(
    rows: DataFrame, expressions: Iterable[Expression], conditions: Iterable[Expression], text: str, clause: str
) -> None:
    """Refuse expressions that do not fit the types of columns, as Arrow would; bare columns fit."""
    computed = [each for each in expressions if each.column_name is None]
    names = list(dict.fromkeys(each.name for one in (*computed, *conditions) for each in one.columns()))
    table = arrow_schema(StructType([rows.schema[name] for name in names])).empty_table()
    for each in conditions:
        condition_mask(table, each, text, clause)
    for each in computed:
        compute(table, each, text)
