"""Frames over the rows of buckets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.keys import Keys
from sash.engine.rolling import Framing, framed
from sash.engine.tables import read_rows
from sash.spark.wire.budget import Budget
from sash.spark.wire.hot_keys import HotKey, by_bucket
from sash.spark.wire.pieces import Piece, pieces_of
from sash.spark.wire.results import written
from sash.spark.worker.failing_rows import with_failing_rows
from sash.spark.worker.groups import groups, stretches
from sash.spark.worker.positions import positions_in
from sash.spark.worker.task import RESULT_ROWS, Batches, Task

__all__ = ["FrameTask", "needed"]


@dataclass(frozen=True)
class FrameTask(Task):
    """Frames over whole buckets; of one that is too large, over stretches, each with the rows that it looks back on."""

    plan: Framing
    schema: pa.Schema
    results: pa.Schema
    budget: Budget
    hot: tuple[HotKey, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for group in groups(pieces_of(batches), self.budget, by_bucket(self.hot)):
            tables = [self._framed(group.table(self.schema))] if group.is_whole else self._stretches(group.pieces)
            halo = 0
            for table in tables:
                if group.chunk is not None:
                    own = positions_in(table, self.plan.on, self.plan.measure) >= group.chunk.start
                    halo += int((~own).sum())
                    table = table.filter(pa.array(own))
                    if own.any():
                        group.chunk.check(halo, self.plan.measure.lowest)
                yield from written(table, self.results).to_batches(max_chunksize=RESULT_ROWS)

    def _framed(self, table: pa.Table) -> pa.Table:
        columns = with_failing_rows(lambda rows: framed(self.plan, read_rows(rows)), table, self.plan.by, self.plan.on)
        for name, column in columns.items():
            table = table.append_column(name, column)
        return table

    def _stretches(self, pieces: Iterator[Piece]) -> Iterator[pa.Table]:
        before: pa.Table = self.schema.empty_table()  # rows that are answered, and needed by those to come
        on, measure = self.plan.on, self.plan.measure
        for own, until in stretches(pieces, on, measure, self.schema, self.budget.rows // 2):
            table = pa.concat_tables([before, own])
            yield self._framed(table).slice(before.num_rows)
            if until is not None:
                before = needed(self.plan, table, until)


def needed(plan: Framing, table: pa.Table, until: Any) -> pa.Table:
    """The rows that frames from a position on look back on: the last of each key, or the last in time."""
    positions = positions_in(table, plan.on, plan.measure)
    keep = np.zeros(len(positions), np.bool_)
    for frame, width in zip(plan.frames, plan.widths, strict=True):
        if frame.rows is None:
            keep |= positions >= until - width
        elif frame.rows > 1:
            keep[_last_of_keys(table, plan.by, positions, frame.rows - 1)] = True
    keep &= positions > plan.measure.lowest  # a row without a position is in no frame
    return table.filter(pa.array(keep))


def _last_of_keys(table: pa.Table, by: tuple[str, ...], positions: Any, count: int) -> Any:
    """The places of the last rows of each key."""
    columns = [table.column(name) for name in by]
    slots = (
        Keys([each.type for each in columns], by).slots(columns, len(positions))
        if by
        else np.zeros(len(positions), np.int64)
    )
    order = np.lexsort((positions, slots))
    own = slots[order]
    ends = np.searchsorted(own, own, side="right")
    return order[ends - np.arange(len(order)) <= count]
