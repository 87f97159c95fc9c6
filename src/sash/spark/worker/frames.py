"""Compute frames over the rows of buckets, and over stretches of time of large buckets and of streams."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.keys import Keys
from sash.engine.frame_reach import complete_rows, reach_of
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
    """Compute frames stretch by stretch; keep the rows that later frames need, and rows whose frame is not complete."""

    def __init__(self, plan: FramePlan, before: pa.Table, unanswered: pa.Table | None = None) -> None:
        self.plan = plan
        self.before = before  # rows that are done, and needed by later ones
        self.unanswered = before.slice(0, 0) if unanswered is None else unanswered  # later rows may be in their frames

    def answer(self, rows: pa.Table, until: Any = None) -> pa.Table:
        """Return rows whose frames are complete, with the aggregates of these.

        Later rows are not before `until`; None: there are none.
        """
        plan, count = self.plan, self.before.num_rows
        waiting = pa.concat_tables([self.unanswered, rows]) if self.unanswered.num_rows else rows
        if not waiting.num_rows:
            return self._move(waiting, np.zeros(0, np.bool_), until)
        table = pa.concat_tables([self.before, waiting]) if count else waiting
        is_done = complete_rows(plan, read_rows(table), until)[count:]
        if not is_done.any():
            return self._move(waiting, is_done, until)
        columns = with_failing_rows(lambda part: compute_frames(plan, read_rows(part)), table, plan.by, plan.on)
        done = self._move(waiting, is_done, until)
        for name, column in columns.items():
            own = column.slice(count)
            done = done.append_column(name, own if is_done.all() else own.filter(pa.array(is_done)))
        return done

    def skip(self, rows: pa.Table, until: Any) -> None:
        """Keep the rows that later frames need, as `answer` does, without computing frames."""
        waiting = pa.concat_tables([self.unanswered, rows])
        table = pa.concat_tables([self.before, waiting])
        self._move(waiting, complete_rows(self.plan, read_rows(table), until)[self.before.num_rows :], until)

    def _move(self, waiting: pa.Table, is_done: Any, until: Any) -> pa.Table:
        """Return the rows that are done; keep them while later frames need them."""
        done = waiting if is_done.all() else waiting.filter(pa.array(is_done))
        if until is None:
            return done
        self.unanswered = waiting.filter(pa.array(~is_done)).combine_chunks()
        positions = self.plan.measure.positions_or_lowest(self.unanswered.column(self.plan.on), self.plan.on)
        oldest = min(until, positions.min(initial=until))
        known = pa.concat_tables([self.before, done])
        self.before = known.filter(pa.array(_needed_rows(self.plan, known, self.unanswered, oldest))).combine_chunks()
        return done


def _needed_rows(plan: FramePlan, done: pa.Table, unanswered: pa.Table, oldest: Any) -> Any:
    """Return which rows that are done the frames of other rows need, which are not before `oldest`."""
    positions = plan.measure.positions_or_lowest(done.column(plan.on), plan.on)
    keep = np.zeros(len(positions), np.bool_)
    for extent in plan.extents:
        reach = reach_of(extent, plan.order)
        if extent.unit == "range":
            keep |= positions >= (plan.measure.lowest if reach.back is None else oldest - reach.back)
        elif reach.back is None:
            keep[:] = True
        elif reach.back:
            keep |= _last_of_keys(plan, done, positions, reach.back, extent.unit == "groups")
    return keep & (positions > plan.measure.lowest)  # a row without a position is in no frame


def _last_of_keys(plan: FramePlan, table: pa.Table, positions: Any, count: int, of_groups: bool) -> Any:
    """Return which rows are among the last rows, or groups of rows, of each key.

    Peers of the last one stay, too: with other columns in the order, any of them may come next.
    """
    columns = [table.column(name) for name in plan.by]
    slots = (
        Keys([each.type for each in columns], plan.by).slots(columns, len(positions))
        if plan.by
        else np.zeros(len(positions), np.int64)
    )
    order = np.lexsort((positions, slots))
    own, at = slots[order], positions[order]
    ends = np.searchsorted(own, own, side="right")
    if of_groups:  # of positions: with other columns in the order, groups are smaller, and more of them are kept
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (own[1:] != own[:-1]) | (at[1:] != at[:-1])
        numbers = np.cumsum(is_new)
        left = numbers[ends - 1] - numbers + 1 if len(order) else numbers
    else:
        left = ends - np.arange(len(order))
    keep = left <= count
    keep[1:] |= keep[:-1] & (own[1:] == own[:-1])
    for place in np.flatnonzero(keep[1:] & ~keep[:-1] & (own[1:] == own[:-1]) & (at[1:] == at[:-1]))[::-1]:
        while place >= 0 and own[place] == own[place + 1] and at[place] == at[place + 1]:
            keep[place] = True
            place -= 1
    found = np.zeros(len(order), np.bool_)
    found[order] = keep
    return found


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
