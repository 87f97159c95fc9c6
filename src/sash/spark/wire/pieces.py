"""Packed rows: what a map task has for a bucket is one row of the shuffle."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.windows.measure import Measure

__all__ = ["Piece", "as_binary", "piece_schema", "pieces_of"]


@dataclass(frozen=True)
class Piece:
    """Rows of one bucket from one map task."""

    bucket: int
    low: Any  # no row of it has a position before
    task: int
    number: int
    rows: int
    data: Any  # an Arrow buffer

    def table(self, schema: pa.Schema) -> pa.Table:
        return pa.Table.from_batches([pa.ipc.read_record_batch(self.data, schema)])


def piece_schema(measure: Measure) -> pa.Schema:
    """What is shuffled."""
    return pa.schema(
        [
            ("bucket", pa.int32()),
            ("low", pa.from_numpy_dtype(measure.dtype)),
            ("task", pa.int32()),
            ("number", pa.int32()),
            ("rows", pa.int32()),
            ("piece", pa.binary()),
        ]
    )


def pieces_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    """Pieces as they come out of the shuffle."""
    for batch in batches:
        buckets, lows, tasks, numbers, rows = (batch.column(k).to_pylist() for k in range(5))
        data = batch.column(5)
        for k in range(batch.num_rows):
            yield Piece(buckets[k], lows[k], tasks[k], numbers[k], rows[k], data[k].as_buffer())


def as_binary(buffers: Sequence[Any]) -> Any:
    """Buffers as a column, copied once."""
    ends = np.zeros(len(buffers) + 1, np.int32)
    np.cumsum([len(each) for each in buffers], out=ends[1:])
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(buffers), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(buffers))]
    )
