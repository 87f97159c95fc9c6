"""What every map task of a micro-batch tells every bucket: its rows of it, and how far time has come.

  source partition ─▶ SendTask ─▶ (bucket, newest, task, number, rows, piece) ─▶ one group per bucket

A bucket that gets no rows still gets a line from each task: so each is called in each micro-batch, all know the
largest position of it, and the watermark is the same everywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from sash.spark.buckets import buckets_of
from sash.spark.packing import Budget, as_binary, gathered, taken
from sash.spark.tasks import Batches, Task
from sash.windows.measure import Measure

__all__ = ["FAR", "LINE", "SendTask", "bucket_ids", "sent_schema"]

# Rows that claim to be of a time that has not come: they are told apart by a column that no user's table has.
FAR = "sash is far"
# What a bucket is told by a line, beside its number.
LINE = ("task", "number", "rows", "newest", "piece")


def sent_schema(measure: Measure) -> pa.Schema:
    """What is shuffled."""
    return pa.schema(
        [
            ("bucket", pa.int32()),
            ("task", pa.int32()),
            ("number", pa.int32()),
            ("rows", pa.int32()),
            ("newest", pa.from_numpy_dtype(measure.dtype)),  # null: the task had no row with a position
            ("piece", pa.binary()),
        ]
    )


def piece_columns(schema: pa.Schema, has_far: bool) -> pa.Schema:
    """The columns of a piece."""
    return schema.append(pa.field(FAR, pa.bool_())) if has_far else schema


@dataclass(frozen=True)
class SendTask(Task):
    """The rows of a source partition, a piece for each bucket."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    schema: pa.Schema  # with the names that users gave
    budget: Budget
    ids: tuple[int, ...]  # of the buckets
    max_future: Any = None  # rows further ahead of the clock move no watermark; the clock is one more column then

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        number = 0
        yield self._lines([(each, task, -1, 0, None, b"") for each in self.ids])
        for table in gathered(batches, self.budget):
            now = None
            if self.max_future is not None:  # the clock of the micro-batch: the same if it is run again
                now = table.column(table.num_columns - 1)[0].value
                table = table.drop_columns([table.column_names[-1]])
            table = table.rename_columns(self.schema.names).cast(self.schema)
            lines = list(self._pieces(table, task, number, now))
            number += len(lines)
            yield self._lines(lines)

    def _pieces(self, table: pa.Table, task: int, number: int, now: Any) -> Iterator[tuple[Any, ...]]:
        positions, valid = self.measure.positions(table.column(self.on), self.on)
        if now is not None:
            is_far = positions > now + self.max_future
            table = table.append_column(FAR, pa.array(is_far))
            valid = ~is_far if valid is None else valid & ~is_far
        known = positions if valid is None else positions[valid]
        newest = known.max().item() if len(known) else None
        buckets = buckets_of(table, self.by, len(self.ids))
        order = np.argsort(buckets, kind="stable")
        buckets = buckets[order]
        (whole,) = taken(table, order).to_batches()
        begins = np.searchsorted(buckets, np.arange(len(self.ids) + 1)).tolist()
        for bucket, (begin, end) in enumerate(pairwise(begins)):
            for start in range(begin, max(end, begin + 1), self.budget.sent_rows):
                part = whole.slice(start, min(self.budget.sent_rows, end - start))
                data = part.serialize() if end > begin else b""
                yield self.ids[bucket], task, number, part.num_rows if end > begin else 0, newest, data
                number += 1

    def _lines(self, lines: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        kind = sent_schema(self.measure)
        columns = list(zip(*lines, strict=True))
        arrays = [pa.array(each, field.type) for each, field in zip(columns[:-1], kind, strict=False)]
        return pa.record_batch([*arrays, as_binary(columns[-1])], schema=kind)


def bucket_ids(partitions: int) -> tuple[int, ...]:
    """A number for each partition of a shuffle that Spark hashes to it: buckets 0, 1, 2 … would share some."""
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < partitions:
        found.setdefault(_hashed(candidate) % partitions, candidate)
        candidate += 1
    return tuple(found[each] for each in range(partitions))


_BITS = 0xFFFFFFFF


def _hashed(number: int) -> int:
    """Spark's hash of an integer: Murmur3 of four bytes with seed 42, signed."""
    mixed = number * 0xCC9E2D51 & _BITS
    mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & _BITS
    mixed ^= 42
    mixed = (mixed << 13 | mixed >> 19) * 5 + 0xE6546B64 & _BITS
    mixed ^= 4
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _BITS
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _BITS
    mixed ^= mixed >> 16
    return mixed - (mixed >> 31 << 32)
