"""Columns that queries read beside those of a DataFrame: nested fields, and copies for conditions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from sash.engine.conditions import Conditions, conditions_of
from sash.engine.nested import steps_of
from sash.spark.driver.expressions import with_copies
from sash.spark.driver.schema import column, quote

__all__ = ["AddedColumns", "with_added"]


@dataclass(frozen=True)
class AddedColumns:
    """The columns that were added to rows: nested fields by their paths, then copies."""

    nested: tuple[tuple[str, ...], ...]  # the steps of each path
    conditions: Conditions

    @property
    def names(self) -> tuple[str, ...]:
        return (*map(".".join, self.nested), *self.conditions.copies)

    def add(self, rows: DataFrame) -> DataFrame:
        """Return rows with these columns."""
        if self.nested:
            rows = rows.select("*", *(_field(steps).alias(".".join(steps)) for steps in self.nested))
        return with_copies(rows, self.conditions)

    def drop(self, rows: DataFrame, late_row: str | None = None) -> DataFrame:
        """Return results without these columns: beside the results, or in the column of late rows."""
        if not self.names:
            return rows
        if late_row is None:
            return rows.select(*(column(name) for name in rows.columns if name not in self.names))
        return rows.withColumn(late_row, column(late_row).dropFields(*map(quote, self.names)))


def with_added(
    rows: DataFrame, given: Sequence[Any], names: Iterable[Any] = (), call: str = ""
) -> tuple[DataFrame, tuple[Any, ...], AddedColumns]:
    """Return rows with the columns that queries, frames or lookbacks read, these with what they read, and the columns.

    `names` are further columns that are read.
    """
    conditions = conditions_of(given, rows.columns, call)
    read = [name for each in given for _, template in each.aggregates for name in template.columns]
    read += [name for each in given if hasattr(each, "window") for name in each.window.columns]
    # A name that is not a string is refused later, with the name of its option.
    paths = dict.fromkeys(name for name in (*names, *read, *conditions.columns) if isinstance(name, str))
    steps = [_steps(rows.schema, path) for path in paths if "." in path and path not in rows.columns]
    added = AddedColumns(tuple(each for each in steps if each), conditions)
    return added.add(rows), conditions.rewrite(given), added


def _steps(schema: StructType, path: str) -> tuple[str, ...]:
    """Return the column and the fields that a path consists of; none if there are no such."""
    return steps_of(path, schema.names, lambda steps: _fields(schema, steps))


def _fields(schema: StructType, steps: tuple[str, ...]) -> list[str]:
    kind: Any = schema
    for name in steps:
        kind = kind[name].dataType
        if not isinstance(kind, StructType):
            return []
    return list(kind.names)


def _field(steps: tuple[str, ...]) -> Column:
    return reduce(lambda found, name: found.getField(name), steps[1:], column(steps[0]))
