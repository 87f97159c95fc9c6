"""Map tasks of tables: rows of a source partition become pieces of buckets.

The rows of each bucket are in the order of positions. A task that takes buckets gets their pieces by the lowest
position in them, so it can drop the rows that no later piece reaches if a bucket does not fit its memory.

  source partition ─▶ buckets ─▶ pieces ─▶ sorted by bucket and low ─▶ groups of whole buckets
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from sash.spark.wire.buckets import buckets_of
from sash.spark.wire.budget import Budget
from sash.spark.wire.hot_keys import HotKey
from sash.spark.wire.pieces import Piece, pack
from sash.spark.worker.hot_keys import bucketed
from sash.spark.worker.positions import positions_in
from sash.spark.worker.task import Batches, Task
from sash.windows.measure import Measure

__all__ = ["PackTask", "gathered", "partition_id", "reordered", "serialized"]

_SHORT, _PARTS = 512, 16


@dataclass(frozen=True)
class PackTask(Task):
    """Pack the rows of a source partition by bucket."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    schema: pa.Schema  # with the names that users gave
    budget: Budget
    buckets: int
    hot: tuple[HotKey, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        task, number = partition_id(), 0
        for table in gathered(batches, self.budget):
            pieces = list(self._pieces(table.rename_columns(self.schema.names), task, number))
            number += len(pieces)
            yield pack(pieces, self.measure)

    def _pieces(self, table: pa.Table, task: int, number: int) -> Iterator[Piece]:
        # A row without a position is in no window, but `rolling` gives it back.
        positions = positions_in(table, self.on, self.measure)
        buckets = buckets_of(table, self.by, self.buckets)
        places = None
        if self.hot:
            places, buckets = bucketed(table, self.by, positions, buckets, self.hot)
            positions = positions[places]
        is_ordered = not (positions[1:] < positions[:-1]).any()
        order = np.argsort(buckets, kind="stable") if is_ordered else np.lexsort((positions, buckets))
        positions, buckets = positions[order], buckets[order]
        order = order if places is None else places[order]
        (whole,) = reordered(table, order).cast(self.schema).combine_chunks().to_batches()
        begins = np.flatnonzero(np.concatenate([[True], buckets[1:] != buckets[:-1]]))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(buckets)], strict=True):
            most = self.budget.piece_rows
            if not is_ordered:  # every task has rows of all times: in short pieces, rows of one time come together
                most = min(most, max(_SHORT, (end - begin) // _PARTS))
            for start, rows, data in serialized(whole, begin, end, most):
                yield Piece(int(buckets[start]), task, number, rows, positions[start].item(), None, data)
                number += 1


def partition_id() -> int:
    """Return the number of the source partition, or 0 outside of Spark."""
    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def gathered(batches: Iterable[pa.RecordBatch], budget: Budget) -> Iterator[pa.Table]:
    """Return batches together, as many as a task may hold at once."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= budget.packed_rows or size >= budget.packed_bytes:
            yield pa.Table.from_batches(held)
            held, rows, size = [], 0, 0
    if held:
        yield pa.Table.from_batches(held)


def reordered(table: pa.Table, order: Any) -> pa.Table:
    """Return rows in another order, each column in one chunk."""
    return table.combine_chunks().take(pa.array(order))


def serialized(whole: pa.RecordBatch, begin: int, end: int, most: int) -> Iterator[tuple[int, int, Any]]:
    """Return rows [begin, end) in parts of at most `most` rows: the start, the number of rows and the bytes of each."""
    for start in range(begin, end, most):
        rows = min(most, end - start)
        yield start, rows, whole.slice(start, rows).serialize()
