"""Rows that travel as columns: what a map task has for a bucket is one row of the shuffle.

Spark shuffles rows one by one. A map task cuts the rows that it has into buckets of keys, each in the order of
positions, and sends every bucket as an Arrow record batch in a binary column: a few rows are shuffled, however many
there are. A task that takes buckets gets their pieces by the lowest position in them, so that of a bucket that does not
fit its memory it can let go of what no later piece can reach.

  source partition ─▶ buckets ─▶ pieces (bucket, low, task, piece, rows) ─▶ sorted ─▶ groups of whole buckets
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.spark.buckets import buckets_of
from sash.spark.chunks import Chunk, Hot, bucketed
from sash.windows.measure import Measure

__all__ = [
    "BUDGET",
    "Budget",
    "Group",
    "Piece",
    "as_binary",
    "gathered",
    "groups",
    "packed",
    "pieces_of",
    "positions_in",
    "stretches",
    "taken",
]


@dataclass(frozen=True)
class Budget:
    """How much a Python task holds at once."""

    rows: int = 4_000_000  # of buckets that are answered together
    packed_rows: int = 1_000_000  # of a map task before it sends them on
    packed_bytes: int = 128 << 20
    piece_rows: int = 65_536
    sent_rows: int = 262_144  # of one bucket in a piece, on streams
    held_bytes: int = 1 << 30  # of the state of buckets that a worker remembers between micro-batches


BUDGET = Budget()
_SHORT, _PARTS = 512, 16


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


def packed(
    batches: Iterable[pa.RecordBatch],
    task: int,
    on: str,
    by: Sequence[str],
    measure: Measure,
    schema: pa.Schema,
    budget: Budget,
    count: int,
    hot: Sequence[Hot] = (),
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


def as_binary(buffers: Sequence[Any]) -> Any:
    """Buffers as a column, copied once."""
    ends = np.zeros(len(buffers) + 1, np.int32)
    np.cumsum([len(each) for each in buffers], out=ends[1:])
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(buffers), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(buffers))]
    )


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
    hot: Sequence[Hot],
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


def pieces_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    """Pieces as they come out of the shuffle."""
    for batch in batches:
        buckets, lows, tasks, numbers, rows = (batch.column(k).to_pylist() for k in range(5))
        data = batch.column(5)
        for k in range(batch.num_rows):
            yield Piece(buckets[k], lows[k], tasks[k], numbers[k], rows[k], data[k].as_buffer())


@dataclass(frozen=True)
class Group:
    """Whole buckets that fit the budget; or, of one that does not, its pieces by their lowest position."""

    pieces: Iterator[Piece]
    is_whole: bool
    chunk: Chunk | None = None  # alone, if it is the bucket of one

    def table(self, schema: pa.Schema) -> pa.Table:
        """All rows of whole buckets, as they stood in their partitions."""
        arrived = sorted(self.pieces, key=lambda each: (each.task, each.number))
        return pa.concat_tables([each.table(schema) for each in arrived])


def groups(pieces: Iterable[Piece], budget: Budget, chunks: Mapping[int, Chunk]) -> Iterator[Group]:
    """Buckets, together as long as they fit; each group must be used up before the next is asked for."""
    source = iter(pieces)
    held: list[Piece] = []
    rows = 0
    ahead = next(source, None)
    while ahead is not None:
        bucket, own, count = ahead.bucket, [ahead], ahead.rows
        ahead = next(source, None)
        while ahead is not None and ahead.bucket == bucket and count + ahead.rows <= budget.rows:
            own.append(ahead)
            count += ahead.rows
            ahead = next(source, None)
        is_whole, chunk = ahead is None or ahead.bucket != bucket, chunks.get(bucket)
        if is_whole and chunk is None and rows + count <= budget.rows:
            held, rows = held + own, rows + count
            continue
        if held:
            yield Group(iter(held), is_whole=True)
            held, rows = [], 0
        if not is_whole:
            rest = _Rest(source, bucket, own, ahead)
            yield Group(iter(rest), is_whole=False, chunk=chunk)
            ahead = rest.ahead
        elif chunk is not None:
            yield Group(iter(own), is_whole=True, chunk=chunk)
        else:
            held, rows = own, count
    if held:
        yield Group(iter(held), is_whole=True)


class _Rest:
    """The pieces of one bucket, some of them read; it stops at the first piece of another one."""

    def __init__(self, source: Iterator[Piece], bucket: int, own: list[Piece], ahead: Piece | None) -> None:
        self._source, self._bucket, self._own, self.ahead = source, bucket, own, ahead

    def __iter__(self) -> Iterator[Piece]:
        own, self._own = self._own, []
        yield from own
        while self.ahead is not None and self.ahead.bucket == self._bucket:
            piece, self.ahead = self.ahead, None
            yield piece
            self.ahead = next(self._source, None)


Held = list[tuple[int, int, pa.Table]]  # by task and number: in the order of these they arrived


def stretches(
    pieces: Iterable[Piece], on: str, measure: Measure, schema: pa.Schema, most: int
) -> Iterator[tuple[pa.Table, Any]]:
    """The rows of a bucket that is too large to hold, in stretches of time, each with where it ends: no row before that
    is still to come. Within a stretch rows stand as they did in their partitions; the last has no end.
    """
    held: Held = []
    rows, enough = 0, most
    for piece in pieces:
        if rows >= enough:
            ready, held = _parted(held, on, measure, piece.low)
            yield _arrived(ready, schema), piece.low
            rows = sum(table.num_rows for _, _, table in held)
            enough = max(most, 2 * rows)  # where most have to wait, not every piece is a reason to look again
        held.append((piece.task, piece.number, piece.table(schema)))
        rows += piece.rows
    yield _arrived(held, schema), None


def _parted(held: Held, on: str, measure: Measure, until: Any) -> tuple[Held, Held]:
    """Rows before a position, and the others."""
    ready, waiting = [], []
    for task, number, table in held:
        count = int(np.searchsorted(positions_in(table, on, measure), until))  # a piece is in order
        ready.append((task, number, table.slice(0, count)))
        if count < table.num_rows:
            waiting.append((task, number, table.slice(count)))
    return ready, waiting


def _arrived(held: Held, schema: pa.Schema) -> pa.Table:
    tables = [table for _, _, table in sorted(held, key=lambda each: each[:2])]
    return pa.concat_tables([schema.empty_table(), *tables])


def positions_in(table: pa.Table, on: str, measure: Measure) -> Any:
    """The positions of rows; those that have none are before all others."""
    positions, valid = measure.positions(table.column(on), on)
    return positions if valid is None else np.where(valid, positions, measure.dtype.type(measure.lowest))
