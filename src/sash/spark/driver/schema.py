"""Types of columns between Spark and Arrow, and checks of names.

Arrow has no type for intervals of months, and of months, days and time, so they travel as text: `rolling` returns all
columns, and rejected rows keep all of theirs, whether an aggregate reads them or not.
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import from_arrow_type

from sash.errors import InvalidInput, InvalidQuery, UnknownName, UnsupportedAggregate
from sash.spark.versions import arrow_type_of, interval_types
from sash.spark.wire.results import as_spark

__all__ = [
    "arrow_schema",
    "check_columns",
    "check_no_twins",
    "check_results",
    "column",
    "quote",
    "spark_schema",
    "text_interval_schema",
    "with_intervals",
    "with_text_intervals",
]

# Spark stores instants and shows them in the session's zone. Positions are instants, so the zone is only a label.
_ZONE = "UTC"
_INTERVALS = interval_types()


def arrow_schema(schema: spark.StructType) -> pa.Schema:
    """Return the columns of a DataFrame as Arrow has them, whatever the session's time zone."""
    fields = []
    for each in schema.fields:
        try:
            fields.append(pa.field(each.name, arrow_type_of(each.dataType, _ZONE)))
        except PySparkTypeError:
            raise InvalidInput.not_in_arrow(each.name, each.dataType.simpleString()) from None
    return pa.schema(fields)


def check_columns(rows: DataFrame, names: Iterable[str]) -> None:
    """Refuse a column that is missing, that Spark cannot tell from another, or whose collation is not binary."""
    is_exact = _is_exact(rows)
    for name in names:
        if name not in rows.schema.names:
            raise UnknownName.of("column", name, _paths(rows.schema) if "." in name else rows.schema.names)
        alike = [each for each in rows.schema.names if each == name or (not is_exact and each.lower() == name.lower())]
        if len(alike) > 1:
            raise InvalidInput.twice(name)
        kind = rows.schema[name].dataType
        if isinstance(kind, spark.StringType) and getattr(kind, "collation", "UTF8_BINARY") != "UTF8_BINARY":
            raise InvalidInput.in_column(name, f"its collation is {kind.collation}: cast it to string, or lower() it")


def _paths(schema: spark.StructType) -> list[str]:
    """Return the names of all columns, and the paths of nested fields."""
    found = []
    for each in schema.fields:
        found.append(each.name)
        if isinstance(each.dataType, spark.StructType):
            found += [f"{each.name}.{path}" for path in _paths(each.dataType)]
    return found


def check_no_twins(rows: DataFrame) -> None:
    """Refuse two columns of one name, where all columns are returned."""
    for name in rows.schema.names:
        if rows.schema.names.count(name) > 1:
            raise InvalidInput.twice(name)


def check_results(rows: DataFrame, names: Sequence[str], own: Sequence[str] = ()) -> None:
    """Refuse results whose names Spark cannot tell from each other, or from those of the columns beside them."""
    if _is_exact(rows):
        return
    known = {name.lower(): name for name in own}
    for name in names:
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise InvalidQuery.alike(other, name)


def _is_exact(rows: DataFrame) -> bool:
    """Return whether names that differ only in case are two names to Spark."""
    return str(rows.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true"


def quote(name: str) -> str:
    """Quote a name for Spark's parsers; nothing in it can end the quotes."""
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Column:
    """Return a column by its name, whatever characters the name has."""
    return F.col(quote(name))


def spark_schema(schema: pa.Schema, what: str) -> spark.StructType:
    """Return the columns of a result as Spark has them; refuse a type that is not known before the rows are."""
    fields = []
    for each in schema:
        if pa.types.is_null(each.type):
            raise UnsupportedAggregate.open_result(what, each.name)
        fields.append(spark.StructField(each.name, from_arrow_type(as_spark(each.type), prefer_timestamp_ntz=True)))
    return spark.StructType(fields)


# --- intervals ----------------------------------------------------------------------------------------


def text_interval_schema(schema: spark.StructType) -> spark.StructType:
    """Return the columns of a DataFrame as they travel."""
    fields = [spark.StructField(f.name, _text_interval_type(f.dataType), f.nullable, f.metadata) for f in schema.fields]
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
    return bool(kind != _text_interval_type(kind))


def _text_interval_type(kind: spark.DataType) -> spark.DataType:
    if isinstance(kind, _INTERVALS):
        return spark.StringType()
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(_text_interval_type(kind.elementType), kind.containsNull)
    if isinstance(kind, spark.MapType):  # Spark does not cast text to a key, which might become null
        return spark.MapType(kind.keyType, _text_interval_type(kind.valueType), kind.valueContainsNull)
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
