"""Intervals of months, and of months, days and time: Arrow has no type for them, so they travel as text.

`rolling` returns all columns, and rejected rows keep all of theirs, whether an aggregate reads them or not.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

__all__ = ["text_interval_schema", "with_intervals", "with_text_intervals"]

_INTERVALS = (spark.YearMonthIntervalType, spark.CalendarIntervalType)


def text_interval_schema(schema: spark.StructType) -> spark.StructType:
    """Return the columns of a DataFrame as they travel."""
    fields = [spark.StructField(f.name, _as_sent(f.dataType), f.nullable, f.metadata) for f in schema.fields]
    return spark.StructType(fields)


def with_text_intervals(rows: DataFrame) -> DataFrame:
    """Return rows as they travel."""
    return _cast(rows, text_interval_schema(rows.schema))


def with_intervals(rows: DataFrame, schema: spark.StructType) -> DataFrame:
    """Return rows that have travelled with the types of a schema, and their own names."""
    return _cast(rows, schema)


def _cast(rows: DataFrame, schema: spark.StructType) -> DataFrame:
    pairs = list(zip(rows.schema.fields, schema.fields, strict=True))
    if not any(_has_interval(given.dataType) or _has_interval(wanted.dataType) for given, wanted in pairs):
        return rows
    # By place: names may have dots, or differ only in case.
    plain = [f"_{place}" for place, _ in enumerate(pairs)]
    found = rows.toDF(*plain)
    return found.select(*map(_column, plain, *zip(*pairs, strict=True))).toDF(*rows.columns)


def _column(name: str, given: spark.StructField, wanted: spark.StructField) -> Column:
    if given.dataType == wanted.dataType:
        return F.col(name)
    return F.col(name).cast(_nullable(wanted.dataType))


def _has_interval(kind: spark.DataType) -> bool:
    return bool(kind != _as_sent(kind))


def _as_sent(kind: spark.DataType) -> spark.DataType:
    if isinstance(kind, _INTERVALS):
        return spark.StringType()
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(_as_sent(kind.elementType), kind.containsNull)
    if isinstance(kind, spark.MapType):  # Spark does not cast text to a key, which might become null
        return spark.MapType(kind.keyType, _as_sent(kind.valueType), kind.valueContainsNull)
    return text_interval_schema(kind) if isinstance(kind, spark.StructType) else kind


def _nullable(kind: spark.DataType) -> spark.DataType:
    """Return a type whose parts may be null: to Spark, a text may not be an interval."""
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(_nullable(kind.elementType))
    if isinstance(kind, spark.MapType):
        return spark.MapType(kind.keyType, _nullable(kind.valueType))
    if isinstance(kind, spark.StructType):
        return spark.StructType([spark.StructField(f.name, _nullable(f.dataType)) for f in kind.fields])
    return kind
