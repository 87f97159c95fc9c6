"""Expressions of query text as columns of DataFrames; no text becomes SQL."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from sash.engine.conditions import Conditions
from sash.spark.driver.schema import arrow_schema, check_columns, column
from sash.spark.versions import round_to, try_cast, try_mod
from sash.syntax.arrow_expressions import Computed, check_types, compute_all
from sash.syntax.casts import CastType
from sash.syntax.expressions import Expression

__all__ = ["OnSpark", "prepare_rows", "with_computed", "with_copies"]


def prepare_rows(rows: DataFrame, request: Computed) -> DataFrame:
    """Return the rows that WHERE keeps, with a column for each expression that an aggregate reads; check all types."""
    expressions = [*([] if request.where is None else [request.where]), *request.computed.values()]
    if not expressions:
        return rows
    names = list(dict.fromkeys(each.name for one in expressions for each in one.columns()))
    check_columns(rows, names)
    check_types(arrow_schema(StructType([rows.schema[name] for name in names])), request)
    reader = OnSpark()
    if request.where is not None:
        rows = rows.filter(request.where.read(reader))
    if not request.computed:
        return rows
    return rows.select("*", *(each.read(reader).alias(name) for name, each in request.computed.items()))


def with_computed(rows: DataFrame, computed: Mapping[str, Expression], text: str) -> DataFrame:
    """Return rows with a column for each expression; check all types."""
    if not computed:
        return rows
    names = list(dict.fromkeys(each.name for one in computed.values() for each in one.columns()))
    check_columns(rows, names)
    compute_all(arrow_schema(StructType([rows.schema[name] for name in names])).empty_table(), computed, text)
    reader = OnSpark()
    return rows.select("*", *(each.read(reader).alias(name) for name, each in computed.items()))


def with_copies(rows: DataFrame, conditions: Conditions) -> DataFrame:
    """Return rows with the columns that aggregates with `where` read; refuse conditions that do not fit the rows."""
    if not conditions:
        return rows
    conditions.check_names(rows.columns)
    check_columns(rows, conditions.columns)
    conditions.check_types(arrow_schema(StructType([rows.schema[name] for name in conditions.columns])))
    reader = OnSpark()
    return rows.select("*", *(each.expression.read(reader).alias(name) for name, each in conditions.copies.items()))


class OnSpark:
    """Read expressions as columns of Spark."""

    def column(self, name: str) -> Column:
        return column(name)

    def literal(self, value: Any) -> Column:
        if isinstance(value, dt.datetime):
            # As text: Spark reads a datetime without a zone in the zone of this machine.
            return F.lit(value.isoformat(" ")).cast("timestamp_ntz" if value.tzinfo is None else "timestamp")
        if isinstance(value, dt.date):
            return F.lit(value.isoformat()).cast("date")  # as text: PySpark accepts no date before the year 1000
        return F.lit(value)

    def apply(self, function: str, arguments: Sequence[Column], place: int) -> Column:
        return _FUNCTIONS[function](*arguments)

    def cast(self, value: Column, kind: CastType, is_try: bool, place: int) -> Column:
        name = "timestamp_ntz" if kind.name == "timestamp" else str(kind)
        return try_cast(value, name) if is_try else value.cast(name)


def _balanced(of: Callable[[Column, Column], Column]) -> Callable[..., Column]:
    """Join a long chain as a balanced tree: Spark recurses into it."""

    def joined(*values: Column) -> Column:
        left = list(values)
        while len(left) > 1:
            pairs = [left[at : at + 2] for at in range(0, len(left), 2)]
            left = [reduce(of, pair) for pair in pairs]
        return left[0]

    return joined


def _case(*given: Column) -> Column:
    conditions, values = given[:-1:2], given[1::2]
    result = F.when(conditions[0], values[0])
    for condition, value in zip(conditions[1:], values[1:], strict=True):
        result = result.when(condition, value)
    return result.otherwise(given[-1])


_FUNCTIONS: dict[str, Callable[..., Column]] = {
    "and": _balanced(lambda a, b: a & b),
    "or": _balanced(lambda a, b: a | b),
    "not": lambda value: ~value,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "is_null": lambda value: value.isNull(),
    "in": lambda value, *members: value.isin(list(members)),
    "like": lambda value, pattern: F.like(value, pattern),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": F.try_divide,
    "%": try_mod,
    "||": F.concat,
    "negative": lambda value: -value,
    "case": _case,
    "filter": F.when,
    "abs": F.abs,
    "ceil": F.ceil,
    "coalesce": F.coalesce,
    "concat": F.concat,
    "exp": F.exp,
    "floor": F.floor,
    "greatest": F.greatest,
    "if": _case,
    "least": F.least,
    "length": F.char_length,
    "ln": F.ln,
    "lower": F.lower,
    "mod": try_mod,
    "nullif": F.nullif,
    "power": F.pow,
    "round": round_to,
    "sign": F.sign,
    "sqrt": F.sqrt,
    "trim": F.trim,
    "upper": F.upper,
}
