"""Columns that Arrow has no type for travel as text: intervals of months, and those of months, days and time.

Frames give all columns back, and late rows all of theirs, whether they are asked for or not.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

__all__ = ["arrived", "travelling", "travelling_schema"]

_INTERVALS = (spark.YearMonthIntervalType, spark.CalendarIntervalType)


def travelling_schema(schema: spark.StructType) -> spark.StructType:
    """The columns of a DataFrame as they travel."""
    fields = [spark.StructField(f.name, _as_sent(f.dataType), f.nullable, f.metadata) for f in schema.fields]
    return spark.StructType(fields)


def travelling(rows: DataFrame) -> DataFrame:
    """Rows as they travel."""
    return _cast(rows, travelling_schema(rows.schema))


def arrived(rows: DataFrame, schema: spark.StructType) -> DataFrame:
    """Rows that have travelled, with the types that they had; their names stay."""
    return _cast(rows, schema)


def _cast(rows: DataFrame, schema: spark.StructType) -> DataFrame:
    pairs = list(zip(rows.schema.fields, schema.fields, strict=True))
    if not any(_has_interval(given.dataType) or _has_interval(wanted.dataType) for given, wanted in pairs):
        return rows
    # By place: names may have dots, and differ in case alone.
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
    if isinstance(kind, spark.MapType):  # Spark casts no text to a key, for it might be null
        return spark.MapType(kind.keyType, _as_sent(kind.valueType), kind.valueContainsNull)
    return travelling_schema(kind) if isinstance(kind, spark.StructType) else kind


def _nullable(kind: spark.DataType) -> spark.DataType:
    """A type whose parts may be null: to Spark, a text need not be an interval."""
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(_nullable(kind.elementType))
    if isinstance(kind, spark.MapType):
        return spark.MapType(kind.keyType, _nullable(kind.valueType))
    if isinstance(kind, spark.StructType):
        return spark.StructType([spark.StructField(f.name, _nullable(f.dataType)) for f in kind.fields])
    return kind
