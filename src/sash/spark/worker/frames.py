"""Compute frames over the rows of buckets, and over stretches of time of large buckets and of streams."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.keys import Keys
from sash.engine.rolling import FramePlan, compute_frames
from sash.engine.tables import read_rows
from sash.limits import Limits
from sash.spark.wire.hot_keys import HotKey, by_bucket
from sash.spark.wire.pieces import unpack
from sash.spark.wire.results import cast_results
from sash.spark.worker.failing_rows import with_failing_rows
from sash.spark.worker.groups import Group, groups, stretches
from sash.spark.worker.task import RESULT_ROWS, Batches, Task

__all__ = ["FrameTask", "Frames"]


class Frames:
    """Compute frames stretch by stretch; keep the rows that later frames need."""

    def __init__(self, plan: FramePlan, before: pa.Table) -> None:
        self.plan = plan
        self.before = before  # rows that are done, and needed by later ones

    def answer(self, rows: pa.Table, until: Any = None) -> pa.Table:
        """Return rows with the aggregates of their frames; later rows are not before `until` (None: there are none)."""
        plan, count = self.plan, self.before.num_rows if rows.num_rows else 0
        table = pa.concat_tables([self.before, rows]) if count else rows
        columns = with_failing_rows(lambda part: compute_frames(plan, read_rows(part)), table, plan.by, plan.on)
        self.skip(rows, until)
        for name, column in columns.items():
            rows = rows.append_column(name, column.slice(count))
        return rows

    def skip(self, rows: pa.Table, until: Any) -> None:
        """Keep the rows that later frames need, as `answer` does, without computing frames."""
        if until is not None:
            self.before = _needed_rows(self.plan, pa.concat_tables([self.before, rows]), until).combine_chunks()


def _needed_rows(plan: FramePlan, table: pa.Table, until: Any) -> pa.Table:
    """Return the rows that frames from a position on need: the last rows of each key, or the last in time."""
    positions = plan.measure.positions_or_lowest(table.column(plan.on), plan.on)
    keep = np.zeros(len(positions), np.bool_)
    for frame, width in zip(plan.frames, plan.widths, strict=True):
        if frame.rows is None:
            keep |= positions >= until - width
        elif frame.rows > 1:
            keep[_last_of_keys(table, plan.by, positions, frame.rows - 1)] = True
    keep &= positions > plan.measure.lowest  # a row without a position is in no frame
    return table.filter(pa.array(keep))


def _last_of_keys(table: pa.Table, by: tuple[str, ...], positions: Any, count: int) -> Any:
    """Return the places of the last rows of each key."""
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


@dataclass(frozen=True)
class FrameTask(Task):
    """Compute frames over whole buckets; over a bucket that is too large, in stretches of time."""

    plan: FramePlan
    schema: pa.Schema
    results: pa.Schema
    limits: Limits
    hot: tuple[HotKey, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for group in groups(unpack(batches), self.limits, by_bucket(self.hot)):
            halo = 0
            for table in self._answers(group):
                if group.chunk is not None:
                    positions = self.plan.measure.positions_or_lowest(table.column(self.plan.on), self.plan.on)
                    own = positions >= group.chunk.start
                    halo += int((~own).sum())
                    table = table.filter(pa.array(own))
                    if own.any():
                        group.chunk.check(halo, self.plan.measure.lowest)
                yield from cast_results(table, self.results).to_batches(max_chunksize=RESULT_ROWS)

    def _answers(self, group: Group) -> Iterator[pa.Table]:
        frames = Frames(self.plan, self.schema.empty_table())
        if group.is_whole:
            yield frames.answer(group.table(self.schema))
            return
        on, measure = self.plan.on, self.plan.measure
        for rows, until in stretches(group.pieces, on, measure, self.schema, self.limits.task_rows // 2):
            yield frames.answer(rows, until)
