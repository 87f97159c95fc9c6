"""The class of the table function: Spark analyzes its columns, then passes rows to buckets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import types as spark
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult, PartitioningColumn, SelectedColumn

from sash.algebra.aggregate import Template
from sash.engine.options import options_of, with_free_names
from sash.engine.results import schema_of
from sash.engine.rolling import plan_frames
from sash.engine.tables import read_rows
from sash.errors import InvalidInput, UnknownName
from sash.spark.driver.schema import arrow_schema, quote, spark_schema
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import as_results
from sash.spark.worker.table_function import FunctionBucket, Job, computes
from sash.spark.worker.task import without_traceback
from sash.syntax import arrow_expressions
from sash.text import Request, arrow_outputs, parse, request_of

__all__ = ["function_class"]

# A bucket is answered by one call, so that many keys share its cost.
_BUCKETS = 256
_PLAIN = (
    spark.NumericType,
    spark.BooleanType,
    spark.DateType,
    spark.TimestampType,
    spark.TimestampNTZType,
    spark.BinaryType,
    spark.NullType,
)


def function_class(functions: Mapping[str, Template]) -> type:
    """Return the class of which Spark makes an instance per bucket; it is local, so `functions` travel with it."""

    class Called(FunctionBucket):
        @staticmethod
        def analyze(
            rows: AnalyzeArgument,
            query: AnalyzeArgument,
            on: AnalyzeArgument | None = None,
            by: AnalyzeArgument | None = None,
        ) -> _Analysis:
            with without_traceback():
                return _analyze(functions, rows, query, on, by)

    return Called


@dataclass
class _Analysis(AnalyzeResult):  # type: ignore[misc]
    """The columns and partitions that Spark needs before rows, and the job for the workers."""

    packed: bytes = b""


# --- analysis, before rows ---------------------------------------------------------------------------------


def _analyze(
    functions: Mapping[str, Template],
    rows: AnalyzeArgument,
    query: AnalyzeArgument,
    on: AnalyzeArgument | None,
    by: AnalyzeArgument | None,
) -> _Analysis:
    if not rows.isTable:
        raise InvalidInput.option("The first argument", rows.value, "a table, as in TABLE(events)")
    text = _constant("query", query)
    if not isinstance(text, str):
        raise InvalidInput.option("query", text, "the text of a query")
    selects = parse(text, functions, lambda table: rows.dataType.names)
    request = request_of(selects, _constant("on", on), _constant("by", by))
    request.check_one_bucket()
    fields = _fields(rows.dataType, request)
    sent = arrow_schema(spark.StructType(fields))
    results, is_apart = _plan(request, sent)
    own = {each.name: each for each in fields} if request.frames else {}
    schema = [
        own[each.name] if each.name in own else spark_schema(pa.schema([each]), "sash.sql")[0] for each in results
    ]
    selected = [SelectedColumn(_sent_expression(each), f"_{place}") for place, each in enumerate(fields)]
    if computes(request):
        selected.append(SelectedColumn("current_timezone()", "_zone"))
    # A constant key instead of none: Spark refuses to sort a stream, and would take each micro-batch for a table.
    keys = ", ".join(map(quote, request.by))
    bucket = f"pmod(xxhash64({keys}), {_BUCKETS})" if keys and is_apart else "0"
    return _Analysis(
        spark.StructType(schema),
        partitionBy=[PartitioningColumn(bucket)],
        select=selected,
        packed=cloudpickle.dumps(Job(request, sent, as_results(results))),
    )


def _constant(name: str, given: AnalyzeArgument | None) -> Any:
    if given is None:
        return None
    if not given.isConstantExpression:
        raise InvalidInput.option(name, given.dataType.simpleString(), "a constant, because it is read before the rows")
    return given.value


def _fields(schema: spark.StructType, request: Request) -> list[spark.StructField]:
    """Return the columns that are needed, as the table has them; refuse those that cannot be sent."""
    request.check_columns(schema.names)
    for name in (request.on, *request.by):
        if name not in schema.names:
            raise UnknownName.of("column", name, schema.names)
    named = {request.on, *request.by, *(column.name for each in request.selects for column in each.columns)}
    has_all = request.frames and request.has_all
    fields = [each for each in schema if has_all or each.name in named]
    for each in fields:
        if [name.lower() for name in schema.names].count(each.name.lower()) > 1:
            raise InvalidInput.twice(each.name)
        if "${" in each.name:
            why = "its name holds ${, where Spark would put one of its options: rename it, or use sash.sql"
            raise InvalidInput.in_column(each.name, why)
        if not isinstance(each.dataType, _PLAIN) and each.dataType != spark.StringType():
            what = f"{each.dataType.simpleString()} cannot be sent to a table function: cast or leave it out"
            raise InvalidInput.in_column(each.name, f"{what}, or use sash.sql")
    return fields


def _plan(request: Request, sent: pa.Schema) -> tuple[pa.Schema, bool]:
    """Return the columns of the result, and whether keys can be computed independently."""
    rows = arrow_expressions.prepare_rows(sent.empty_table(), request)
    options = options_of(request.on, list(request.by), 0, None, False, "final")
    if request.queries:
        plan = Recipe(request.queries, with_free_names(options), rows.schema).plan()
        results, is_apart = schema_of(plan), not any(each.kind.needs_newest for each in plan.queries)
    else:
        added = plan_frames(read_rows(rows), request.frames, request.on, options.by, request.order).results()
        results = pa.schema([*rows.schema, *(pa.field(name, kind or pa.null()) for name, kind in added)])
        is_apart = True
    return arrow_outputs.compute_outputs(results.empty_table(), request, rows.column_names).schema, is_apart


def _sent_expression(field: spark.StructField) -> str:
    """Return the expression that Spark sends: an instant as a number, because a Python datetime depends on a zone."""
    name = quote(field.name)
    return f"unix_micros({name})" if isinstance(field.dataType, spark.TimestampType) else name
