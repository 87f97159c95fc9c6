"""Map tasks: rows of a source partition become pieces of buckets.

  of a table    source partition ─▶ PackTask ─▶ pieces ─▶ sorted by bucket and low ─▶ groups of whole buckets
  of a stream   source partition ─▶ SendTask ─▶ pieces ─▶ one group per bucket ─▶ packed results ─▶ OpenTask

Of a table, the rows of each bucket are in the order of positions. A task that takes buckets gets their pieces by the
lowest position in them, so it can drop the rows that no later piece reaches if a bucket does not fit its memory.

Of a stream, every map task sends every bucket a piece, with rows or without. So every bucket is called in every
micro-batch, all buckets know its largest position, and all have the same watermark.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from sash.limits import Limits
from sash.spark.wire.buckets import buckets_of
from sash.spark.wire.hot_keys import HotKey
from sash.spark.wire.pieces import FAR, Piece, pack
from sash.spark.worker.task import Batches, Task
from sash.windows.measure import Measure

__all__ = ["OpenTask", "PackTask", "SendTask", "side_of_piece", "with_chunks"]

_SHORT, _PARTS = 512, 16
_SIDE_BITS = 24  # a number of a source partition has fewer bits


@dataclass(frozen=True)
class _MapTask(Task):
    """Pack the rows of a source partition by bucket."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    schema: pa.Schema  # with the names that users gave
    limits: Limits

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        task, number = _partition_id(), 0
        for table in _gather(batches, self.limits):
            pieces = list(self.pieces(table, task, number))
            number += len(pieces)
            yield pack(pieces, self.measure)

    @abstractmethod
    def pieces(self, table: pa.Table, task: int, number: int) -> Iterator[Piece]:
        """Return the pieces of some rows, numbered from `number` on."""


@dataclass(frozen=True)
class PackTask(_MapTask):
    """Pack the rows of a table."""

    buckets: int
    hot: tuple[HotKey, ...] = ()
    side: int = 0  # the number of the table if several are joined

    def pieces(self, table: pa.Table, task: int, number: int) -> Iterator[Piece]:
        table = table.rename_columns(self.schema.names)
        # A row without a position is in no window, but `rolling` gives it back.
        positions = self.measure.positions_or_lowest(table.column(self.on), self.on)
        buckets = buckets_of(table, self.by, self.buckets)
        places = None
        if self.hot:
            places, buckets = with_chunks(table, self.by, positions, buckets, self.hot)
            positions = positions[places]
        is_ordered = not (positions[1:] < positions[:-1]).any()
        order = np.argsort(buckets, kind="stable") if is_ordered else np.lexsort((positions, buckets))
        positions, buckets = positions[order], buckets[order]
        order = order if places is None else places[order]
        (whole,) = _reorder(table, order).cast(self.schema).combine_chunks().to_batches()
        begins = np.flatnonzero(np.concatenate([[True], buckets[1:] != buckets[:-1]]))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(buckets)], strict=True):
            most = self.limits.piece_rows
            if not is_ordered:  # every task has rows of all times: in short pieces, rows of one time come together
                most = min(most, max(_SHORT, (end - begin) // _PARTS))
            for start, rows, data in _serialize(whole, begin, end, most):
                low = positions[start].item()
                yield Piece(int(buckets[start]), task + (self.side << _SIDE_BITS), number, rows, low, None, data)
                number += 1


def side_of_piece(piece: Piece) -> tuple[int, int]:
    """Return the number of a piece's table, and that of its source partition."""
    return piece.task >> _SIDE_BITS, piece.task & ((1 << _SIDE_BITS) - 1)


@dataclass(frozen=True)
class SendTask(_MapTask):
    """Send every bucket the rows of a stream that belong to it."""

    ids: tuple[int, ...]  # of the buckets
    max_future: Any = None  # rows further ahead of the clock do not move the watermark; the clock is the last column

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        empty = [Piece(bucket, _partition_id(), -1, 0, None, None, b"") for bucket in self.ids]
        yield pack(empty, self.measure)
        yield from super().run(batches)

    def pieces(self, table: pa.Table, task: int, number: int) -> Iterator[Piece]:
        now = None
        if self.max_future is not None:  # the clock of the micro-batch: the same if it is run again
            now = table.column(table.num_columns - 1)[0].value
            table = table.drop_columns([table.column_names[-1]])
        table = table.rename_columns(self.schema.names).cast(self.schema)
        positions, valid = self.measure.positions(table.column(self.on), self.on)
        if now is not None:
            is_far = positions > now + self.max_future
            table = table.append_column(FAR, pa.array(is_far))
            valid = ~is_far if valid is None else valid & ~is_far
        known = positions if valid is None else positions[valid]
        newest = known.max().item() if len(known) else None
        buckets = buckets_of(table, self.by, len(self.ids))
        order = np.argsort(buckets, kind="stable")
        (whole,) = _reorder(table, order).to_batches()
        begins = np.searchsorted(buckets[order], np.arange(len(self.ids) + 1)).tolist()
        for bucket, (begin, end) in zip(self.ids, pairwise(begins), strict=True):
            for _, rows, data in _serialize(whole, begin, end, self.limits.sent_rows) if end > begin else [(0, 0, b"")]:
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


def with_chunks(
    table: pa.Table, by: Sequence[str], positions: Any, buckets: Any, hot: Sequence[HotKey]
) -> tuple[Any, Any]:
    """Return the places of rows, and the bucket of each, with chunks for hot keys; a row in a halo occurs again."""
    places, targets = [np.arange(len(buckets))], [buckets.copy()]
    for each in hot:
        own = _rows_of(table, by, each.key)
        at = positions[own]
        starts = np.array([chunk.start for chunk in each.chunks], positions.dtype)
        targets[0][own] = each.chunks[0].bucket + np.searchsorted(starts, at, side="right") - 1
        for chunk in each.chunks:
            is_near = (at >= chunk.halo) & (at < chunk.halo_end)
            halo = own[is_near & ((at < chunk.start) | (at >= chunk.end))]
            places.append(halo)
            targets.append(np.full(len(halo), chunk.bucket, buckets.dtype))
    return np.concatenate(places), np.concatenate(targets)


def _rows_of(table: pa.Table, by: Sequence[str], key: tuple[Any, ...]) -> Any:
    match = np.ones(table.num_rows, np.bool_)
    for name, value in zip(by, key, strict=True):
        match &= pc.fill_null(_is_same(table.column(name), value), False).to_numpy()
    return np.flatnonzero(match)


def _is_same(values: Any, key: Any) -> Any:
    """Return where a column has the value of a key."""
    if key.null_count:
        return pc.is_null(values)
    if pa.types.is_floating(key.type) and pc.is_nan(key)[0].as_py():
        return pc.is_nan(values)
    return pc.equal(values, key.cast(values.type)[0])


def _partition_id() -> int:
    """Return the number of the source partition, or 0 outside of Spark."""
    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _gather(batches: Iterable[pa.RecordBatch], limits: Limits) -> Iterator[pa.Table]:
    """Return batches together, as many as a task may hold at once."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= limits.packed_rows or size >= limits.packed_bytes:
            yield pa.Table.from_batches(held)
            held, rows, size = [], 0, 0
    if held:
        yield pa.Table.from_batches(held)


def _reorder(table: pa.Table, order: Any) -> pa.Table:
    """Return rows in another order, each column in one chunk."""
    return table.combine_chunks().take(pa.array(order))


def _serialize(whole: pa.RecordBatch, begin: int, end: int, most: int) -> Iterator[tuple[int, int, Any]]:
    """Return rows [begin, end) in parts of at most `most` rows: the start, the number of rows and the bytes of each."""
    for start in range(begin, end, most):
        rows = min(most, end - start)
        yield start, rows, whole.slice(start, rows).serialize()
