"""Packed rows: all rows that a map task has for a bucket travel as one row of the shuffle, or a few.

Spark shuffles rows one by one. So a map task cuts its rows into buckets of keys, and sends the rows of each bucket as
Arrow record batches in a binary column. Tables and streams send the same columns:

  bucket        the number of the bucket
  task, number  the order of the rows in their source
  rows          the number of rows; 0 if a task only reports its newest position
  low           for tables: no row of the piece has a lower position
  newest        for streams: the largest position of any row of the task; null if none has a position
  data          a record batch without its schema; empty if there are no rows
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.windows.measure import Measure

__all__ = ["FAR", "Piece", "pack", "piece_schema", "rows_schema", "unpack", "unpack_row"]

# Rows beyond max_future are marked by a column whose name no user's table has.
FAR = "sash is far"
_NAMES = ("bucket", "task", "number", "rows", "low", "newest", "data")


@dataclass(frozen=True)
class Piece:
    """Rows of one bucket from one map task."""

    bucket: int
    task: int
    number: int
    rows: int
    low: Any
    newest: Any
    data: Any  # an Arrow buffer

    def table(self, schema: pa.Schema) -> pa.Table:
        """Return the rows, of which there must be some."""
        return pa.Table.from_batches([pa.ipc.read_record_batch(self.data, schema)])


def piece_schema(measure: Measure) -> pa.Schema:
    """Return the columns of the shuffle."""
    position = pa.from_numpy_dtype(measure.dtype)
    types = (pa.int32(), pa.int32(), pa.int32(), pa.int32(), position, position, pa.binary())
    return pa.schema(list(zip(_NAMES, types, strict=True)))


def rows_schema(schema: pa.Schema, marks_far: bool) -> pa.Schema:
    """Return the columns of the rows in a piece."""
    return schema.append(pa.field(FAR, pa.bool_())) if marks_far else schema


def pack(pieces: Sequence[Piece], measure: Measure) -> pa.RecordBatch:
    """Return pieces as rows of the shuffle."""
    schema = piece_schema(measure)
    columns: list[Any] = [pa.array([getattr(p, f.name) for p in pieces], f.type) for f in list(schema)[:-1]]
    return pa.record_batch([*columns, _as_binary([piece.data for piece in pieces])], schema=schema)


def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    """Return the pieces in rows of the shuffle."""
    for batch in batches:
        *columns, data = batch.columns
        values = zip(*(column.to_pylist() for column in columns), strict=True)
        for place, own in enumerate(values):
            yield Piece(*(*own, data[place].as_buffer()))


def unpack_row(row: Any) -> Piece:
    """Return the piece in one row, as Spark gives it to a processor of state."""
    *own, data = (row[name] for name in _NAMES)
    return Piece(*(*own, pa.py_buffer(data)))


def _as_binary(buffers: Sequence[Any]) -> Any:
    """Return buffers as a column; copy them once."""
    ends = np.zeros(len(buffers) + 1, np.int32)
    np.cumsum([len(each) for each in buffers], out=ends[1:])
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(buffers), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(buffers))]
    )
