"""Columns of results as workers send them to Spark; of a stream, with figures that Spark observes."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.windows.measure import Measure

__all__ = ["DETAILS", "FIGURES", "LOCAL", "OBSERVED", "answer_schema", "as_results", "as_spark", "cast_results"]


def as_results(schema: pa.Schema) -> pa.Schema:
    """Return the columns of results as workers send them to Spark."""
    return pa.schema([pa.field(each.name, as_spark(each.type)) for each in schema])


_SIGNED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.int64()}


def as_spark(kind: Any) -> Any:
    """Return the Arrow type that Spark uses for a type that it does not support, such as unsigned numbers."""
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(as_spark(kind.value_type))
    if pa.types.is_float16(kind):
        return pa.float32()
    return _SIGNED.get(kind, kind)


def cast_results(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return results in the columns that Spark expects."""
    columns = []
    for each in schema:
        column = table.column(each.name)
        if column.type != each.type:
            column = _convert(column, each.type)
        columns.append(column)
    return pa.table(columns, schema=schema)


def _convert(column: Any, kind: Any) -> Any:
    if not pa.types.is_fixed_size_list(column.type):
        return column.cast(kind)
    lists = column.combine_chunks()
    values = lists.flatten()  # of lists that are there
    if values.type == pa.uint64():
        values = values.view(pa.int64())  # the same 64 bits
    valid = lists.is_valid()
    ends = np.cumsum(np.concatenate([[0], valid.to_numpy(zero_copy_only=False) * column.type.list_size]))
    mask = pc.invert(valid) if lists.null_count else None
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values.cast(kind.value_type), mask=mask)


# The name of the observed figures begins with it.
OBSERVED = "sash"
LOCAL = "local"  # a word in the name of the figures of a stream whose times have no zone
# Counts of each bucket in a micro-batch: the sum over buckets is the figure of the query.
FIGURES = (
    "rows",
    "late",
    "late_rows",
    "results",
    "slices",
    "keys",
    "open_windows",
    "combines",
    "state_bytes",
    "written_bytes",
)


DETAILS = "details"  # the text of a bucket's report


def answer_schema(measure: Measure) -> pa.Schema:
    """Return the columns of a bucket's answer in a micro-batch: packed results, figures and its report."""
    position = pa.from_numpy_dtype(measure.dtype)
    return pa.schema(
        [
            ("data", pa.binary()),
            *((name, position) for name in ("watermark", "newest", "next_end")),
            *((name, pa.int64()) for name in FIGURES),
            (DETAILS, pa.string()),
        ]
    )
