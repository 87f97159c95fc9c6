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

from sash.spark.wire.buckets import buckets_of
from sash.spark.wire.budget import Budget
from sash.spark.wire.pieces import as_binary
from sash.spark.wire.stream_lines import FAR, sent_schema
from sash.spark.worker.packing import gathered, taken
from sash.spark.worker.task import Batches, Task
from sash.windows.measure import Measure

__all__ = ["OpenTask", "SendTask"]


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


@dataclass(frozen=True)
class OpenTask(Task):
    """Packed results as rows."""

    results: pa.Schema

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for each in batch.column(0):
                if each.is_valid:
                    yield pa.ipc.read_record_batch(each.as_buffer(), self.results)
