"""Tasks of streams without state: send rows to buckets, and unpack results.

  source partition ─▶ SendTask ─▶ pieces ─▶ one group per bucket ─▶ packed results ─▶ OpenTask

Every map task sends every bucket a piece, with rows or without. So every bucket is called in every micro-batch, all
buckets know its largest position, and all have the same watermark.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sash.spark.wire.buckets import buckets_of
from sash.spark.wire.budget import Budget
from sash.spark.wire.pieces import FAR, Piece, pack
from sash.spark.worker.packing import gathered, partition_id, reordered, serialized
from sash.spark.worker.task import Batches, Task
from sash.windows.measure import Measure

__all__ = ["OpenTask", "SendTask"]


@dataclass(frozen=True)
class SendTask(Task):
    """Send every bucket the rows of a source partition that belong to it."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    schema: pa.Schema  # with the names that users gave
    budget: Budget
    ids: tuple[int, ...]  # of the buckets
    max_future: Any = None  # rows further ahead of the clock do not move the watermark; the clock is the last column

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        task, number = partition_id(), 0
        yield pack([Piece(bucket, task, -1, 0, None, None, b"") for bucket in self.ids], self.measure)
        for table in gathered(batches, self.budget):
            now = None
            if self.max_future is not None:  # the clock of the micro-batch: the same if it is run again
                now = table.column(table.num_columns - 1)[0].value
                table = table.drop_columns([table.column_names[-1]])
            table = table.rename_columns(self.schema.names).cast(self.schema)
            pieces = list(self._pieces(table, task, number, now))
            number += len(pieces)
            yield pack(pieces, self.measure)

    def _pieces(self, table: pa.Table, task: int, number: int, now: Any) -> Iterator[Piece]:
        positions, valid = self.measure.positions(table.column(self.on), self.on)
        if now is not None:
            is_far = positions > now + self.max_future
            table = table.append_column(FAR, pa.array(is_far))
            valid = ~is_far if valid is None else valid & ~is_far
        known = positions if valid is None else positions[valid]
        newest = known.max().item() if len(known) else None
        buckets = buckets_of(table, self.by, len(self.ids))
        order = np.argsort(buckets, kind="stable")
        (whole,) = reordered(table, order).to_batches()
        begins = np.searchsorted(buckets[order], np.arange(len(self.ids) + 1)).tolist()
        for bucket, (begin, end) in zip(self.ids, pairwise(begins), strict=True):
            for _, rows, data in serialized(whole, begin, end, self.budget.sent_rows) if end > begin else [(0, 0, b"")]:
                yield Piece(bucket, task, number, rows, None, newest, data)
                number += 1


@dataclass(frozen=True)
class OpenTask(Task):
    """Packed results as rows."""

    results: pa.Schema

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for each in batch.column(0):
                if each.is_valid:
                    yield pa.ipc.read_record_batch(each.as_buffer(), self.results)
