"""Group the pieces of the shuffle into whole buckets that fit the limits of a task."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.limits import Limits
from sash.spark.wire.hot_keys import Chunk
from sash.spark.wire.pieces import Piece
from sash.windows.measure import Measure

__all__ = ["Group", "Waiting", "groups", "split_at", "stretches"]


@dataclass(frozen=True)
class Group:
    """Whole buckets that fit a task together, or one bucket that does not fit."""

    pieces: Iterator[Piece]
    is_whole: bool
    chunk: Chunk | None = None  # of a hot key: then it is the only bucket

    def table(self, schema: pa.Schema) -> pa.Table:
        """Return all rows of whole buckets, in the order of their source partitions."""
        ordered = sorted(self.pieces, key=lambda each: (each.task, each.number))
        return pa.concat_tables([each.table(schema) for each in ordered])


def groups(pieces: Iterable[Piece], limits: Limits, chunks: Mapping[int, Chunk]) -> Iterator[Group]:
    """Return buckets in groups of as many rows as a task may hold; use up each group before the next."""
    source = iter(pieces)
    held: list[Piece] = []
    rows = 0
    ahead = next(source, None)
    while ahead is not None:
        bucket, own, count = ahead.bucket, [ahead], ahead.rows
        ahead = next(source, None)
        while ahead is not None and ahead.bucket == bucket and count + ahead.rows <= limits.task_rows:
            own.append(ahead)
            count += ahead.rows
            ahead = next(source, None)
        is_whole, chunk = ahead is None or ahead.bucket != bucket, chunks.get(bucket)
        if is_whole and chunk is None and rows + count <= limits.task_rows:
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
    """The pieces of one bucket, some of which are read already; stops at the first piece of another bucket."""

    def __init__(self, source: Iterator[Piece], bucket: int, own: list[Piece], ahead: Piece | None) -> None:
        self._source, self._bucket, self._own, self.ahead = source, bucket, own, ahead

    def __iter__(self) -> Iterator[Piece]:
        own, self._own = self._own, []
        yield from own
        while self.ahead is not None and self.ahead.bucket == self._bucket:
            piece, self.ahead = self.ahead, None
            yield piece
            self.ahead = next(self._source, None)


Waiting = list[tuple[int, int, pa.Table]]  # task, number, rows


def stretches(
    pieces: Iterable[Piece], on: str, measure: Measure, schema: pa.Schema, most: int
) -> Iterator[tuple[pa.Table, Any]]:
    """Return the rows of a bucket that is too large to hold in stretches of time, each with its end.

    No row before the end of a stretch comes later; the last stretch has no end. Within a stretch, rows are in the order
    of their source partitions.
    """
    held: Waiting = []
    rows, enough = 0, most
    for piece in pieces:
        if rows >= enough:
            ready, held = split_at(held, on, measure, piece.low)
            yield _concat_in_order(ready, schema), piece.low
            rows = sum(table.num_rows for _, _, table in held)
            enough = max(most, 2 * rows)  # if most rows have to wait, do not search them again for every piece
        held.append((piece.task, piece.number, piece.table(schema)))
        rows += piece.rows
    yield _concat_in_order(held, schema), None


def split_at(held: Waiting, on: str, measure: Measure, until: Any) -> tuple[Waiting, Waiting]:
    """Return the rows before a position, and the others."""
    ready, waiting = [], []
    for task, number, table in held:
        count = int(np.searchsorted(measure.positions_or_lowest(table.column(on), on), until))  # a piece is in order
        ready.append((task, number, table.slice(0, count)))
        if count < table.num_rows:
            waiting.append((task, number, table.slice(count)))
    return ready, waiting


def _concat_in_order(held: Waiting, schema: pa.Schema) -> pa.Table:
    tables = [table for _, _, table in sorted(held, key=lambda each: each[:2])]
    return pa.concat_tables([schema.empty_table(), *tables])
