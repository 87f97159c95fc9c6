"""Rows that travel as columns: what a map task has for a bucket is one row of the shuffle.

Spark shuffles rows one by one. A map task cuts the rows that it has into buckets of keys, each in the order of
positions, and sends every bucket as an Arrow record batch in a binary column: a few rows are shuffled, however many
there are. A task that takes buckets gets their pieces by the lowest position in them, so that of a bucket that does not
fit its memory it can let go of what no later piece can reach.

  source partition ─▶ buckets ─▶ pieces (bucket, low, task, piece, rows) ─▶ sorted ─▶ groups of whole buckets
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from sash.spark.wire.buckets import buckets_of
from sash.spark.wire.budget import Budget
from sash.spark.wire.hot_keys import HotKey
from sash.spark.wire.pieces import Piece, as_binary, piece_schema
from sash.spark.worker.hot_keys import bucketed
from sash.spark.worker.positions import positions_in
from sash.spark.worker.task import Batches, Task
from sash.windows.measure import Measure

__all__ = ["PackTask", "gathered", "packed", "taken"]

_SHORT, _PARTS = 512, 16


@dataclass(frozen=True)
class PackTask(Task):
    """The rows of a source partition, by bucket."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    schema: pa.Schema
    budget: Budget
    buckets: int
    hot: tuple[HotKey, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        return packed(batches, task, self.on, self.by, self.measure, self.schema, self.budget, self.buckets, self.hot)


def packed(
    batches: Iterable[pa.RecordBatch],
    task: int,
    on: str,
    by: Sequence[str],
    measure: Measure,
    schema: pa.Schema,
    budget: Budget,
    count: int,
    hot: Sequence[HotKey] = (),
) -> Iterator[pa.RecordBatch]:
    """The rows of a source partition as pieces of `count` buckets; `schema` has the names that users gave."""
    kind = piece_schema(measure)
    number = 0
    for table in gathered(batches, budget):
        table = table.rename_columns(schema.names)
        pieces = list(_pieces(table, task, number, on, by, measure, schema, budget, count, hot))
        number += len(pieces)
        columns = zip(*((p.bucket, p.low, p.task, p.number, p.rows) for p in pieces), strict=True)
        arrays = [pa.array(each, f.type) for each, f in zip(columns, kind, strict=False)]
        yield pa.record_batch([*arrays, as_binary([p.data for p in pieces])], schema=kind)


def gathered(batches: Iterable[pa.RecordBatch], budget: Budget) -> Iterator[pa.Table]:
    """Batches together, as many as a task may hold."""
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


def _pieces(
    table: pa.Table,
    task: int,
    number: int,
    on: str,
    by: Sequence[str],
    measure: Measure,
    schema: pa.Schema,
    budget: Budget,
    count: int,
    hot: Sequence[HotKey],
) -> Iterator[Piece]:
    positions = positions_in(table, on, measure)  # rows that have none are of no window, but frames give them back
    buckets = buckets_of(table, by, count)
    places = None
    if hot:
        places, buckets = bucketed(table, by, positions, buckets, hot)
        positions = positions[places]
    is_ordered = not (positions[1:] < positions[:-1]).any()
    order = np.argsort(buckets, kind="stable") if is_ordered else np.lexsort((positions, buckets))
    positions, buckets = positions[order], buckets[order]
    order = order if places is None else places[order]
    (whole,) = taken(table, order).cast(schema).combine_chunks().to_batches()
    begins = np.flatnonzero(np.concatenate([[True], buckets[1:] != buckets[:-1]]))
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(buckets)], strict=True):
        # Of rows in any order every task has some of all times: in short pieces, those of one time come together.
        most = budget.piece_rows if is_ordered else min(budget.piece_rows, max(_SHORT, (end - begin) // _PARTS))
        for start in range(begin, end, most):
            stop = min(start + most, end)
            data = whole.slice(start, stop - start).serialize()
            yield Piece(int(buckets[start]), positions[start].item(), task, number, stop - start, data)
            number += 1


def taken(table: pa.Table, order: Any) -> pa.Table:
    """Rows in another order, each column in one piece."""
    return table.combine_chunks().take(pa.array(order))
