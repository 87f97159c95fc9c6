"""Compute frames over the rows of buckets, and over stretches of time of large buckets and of streams."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.frame_reach import complete_rows, reach_of
from sash.engine.rolling import FramePlan, compute_frames
from sash.engine.row_order import key_slots
from sash.engine.tables import read_rows
from sash.limits import Limits
from sash.spark.wire.hot_keys import Chunk, HotKey, by_bucket
from sash.spark.wire.pieces import unpack
from sash.spark.wire.results import cast_results
from sash.spark.worker.failing_rows import with_failing_rows
from sash.spark.worker.groups import Group, groups, stretches
from sash.spark.worker.task import RESULT_ROWS, Batches, Task

__all__ = ["FrameTask", "Frames", "last_of_keys"]


class Frames:
    """Compute frames stretch by stretch; hold the rows that later frames need, and rows whose frame is not complete.

    Rows are held in the order of arrival, which decides between equal positions.
    """

    def __init__(self, plan: FramePlan, held: pa.Table, is_done: Any = None) -> None:
        self.plan, self.held = plan, held
        self.is_done = np.ones(held.num_rows, np.bool_) if is_done is None else is_done  # rows that were answered

    def answer(self, rows: pa.Table, until: Any = None) -> pa.Table:
        """Return the rows whose frames are complete now, with the aggregates of these.

        Later rows are not before `until`; None: there are none.
        """
        plan = self.plan
        table, is_new = self._add(rows, until)
        given = table if is_new.any() else table.slice(0, 0)  # without rows, the columns of results are needed
        columns = with_failing_rows(
            lambda part: compute_frames(plan, read_rows(part), threads=1), given, plan.by, plan.on
        )
        count = len(is_new) - int(is_new.sum())
        places = pa.array(np.flatnonzero(is_new)) if count else None  # all rows are new: nothing is copied
        answered = given if places is None else given.take(places)
        for name, column in columns.items():
            answered = answered.append_column(name, column if places is None else column.take(places))
        return answered

    def skip(self, rows: pa.Table, until: Any) -> None:
        """Hold the rows that `answer` would hold, without computing frames."""
        self._add(rows, until)

    def _add(self, rows: pa.Table, until: Any) -> tuple[pa.Table, Any]:
        """Add rows, and hold those that are needed; return all of them, and which can be answered now."""
        plan, count = self.plan, self.held.num_rows
        table = pa.concat_tables([self.held, rows]) if count else rows
        was_done = np.concatenate([self.is_done, np.zeros(rows.num_rows, np.bool_)])
        is_complete = complete_rows(plan, read_rows(table), until)
        if until is not None:
            positions = plan.measure.positions_or_lowest(table.column(plan.on), plan.on)
            oldest = min(until, positions[~is_complete].min(initial=until))
            is_held = ~is_complete | _needed_rows(plan, table, positions, is_complete, oldest)
            self.held = table.filter(pa.array(is_held)).combine_chunks()
            self.is_done = is_complete[is_held]
        return table, is_complete & ~was_done


def _needed_rows(plan: FramePlan, table: pa.Table, positions: Any, is_complete: Any, oldest: Any) -> Any:
    """Return which rows the frames of later rows need, and those of rows that are not complete.

    None of these rows is before `oldest`.
    """
    keep = np.zeros(len(positions), np.bool_)
    for extent in plan.extents:
        reach = reach_of(extent, plan.order)
        if extent.unit == "range":
            keep |= positions >= (plan.measure.lowest if reach.back is None else oldest - reach.back)
        elif reach.back is None:
            keep[:] = True
        elif reach.back:
            slots = key_slots(read_rows(table), plan.by).slots
            is_early = _is_early(slots, positions, is_complete)
            early = np.flatnonzero(is_early)
            last = last_of_keys(slots[early], positions[early], reach.back, extent.unit == "groups")
            keep |= ~is_early
            keep[early[last]] = True
    return keep & (positions > plan.measure.lowest)  # a row without a position is in no frame


def _is_early(slots: Any, positions: Any, is_complete: Any) -> Any:
    """Return which rows are before all rows of their key that are not complete.

    With several frames, or further columns in the order, some rows at a position can be complete and others not. What
    the others need is counted from before that position.
    """
    oldest = np.full(int(slots.max(initial=-1)) + 1, positions.max(initial=0) + 1, positions.dtype)
    np.minimum.at(oldest, slots[~is_complete], positions[~is_complete])
    return positions < oldest[slots]


def last_of_keys(slots: Any, positions: Any, count: int, of_groups: bool) -> Any:
    """Return which rows are among the last rows, or groups of rows, of each key; keep peers of these, too.

    `slots` has a number for the key of each row.
    """
    order = np.lexsort((positions, slots))
    own, at = slots[order], positions[order]
    starts, ends = (np.searchsorted(own, own, side=side) for side in ("left", "right"))
    if of_groups:  # of equal positions; with further columns in the order, groups are smaller
        numbers = np.cumsum(np.append(True, (own[1:] != own[:-1]) | (at[1:] != at[:-1])))[: len(order)]
        is_kept = numbers > numbers[ends - 1] - count
    else:
        is_kept = at >= at[np.maximum(ends - count, starts)]
    found = np.zeros(len(order), np.bool_)
    found[order] = is_kept
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
            answers = self._answers(group)
            for table in answers if group.chunk is None else self._without_halo(answers, group.chunk):
                yield from cast_results(table, self.results).to_batches(max_chunksize=RESULT_ROWS)

    def _without_halo(self, answers: Iterable[pa.Table], chunk: Chunk) -> Iterator[pa.Table]:
        """Return the rows of a chunk itself; refuse a halo that lacks rows."""
        measure, earlier, later = self.plan.measure, 0, 0
        for table in answers:
            positions = measure.positions_or_lowest(table.column(self.plan.on), self.plan.on)
            is_earlier, is_later = positions < chunk.start, positions >= chunk.end
            earlier, later = earlier + int(is_earlier.sum()), later + int(is_later.sum())
            is_own = ~is_earlier & ~is_later
            if is_own.any():
                chunk.check_earlier(earlier, measure.lowest)
            yield table.filter(pa.array(is_own))
        chunk.check_later(later, measure.highest)

    def _answers(self, group: Group) -> Iterator[pa.Table]:
        frames = Frames(self.plan, self.schema.empty_table())
        # No frame with an open end after its row is complete before all rows have come.
        if group.is_whole or any(reach_of(each, self.plan.order).forward is None for each in self.plan.extents):
            yield frames.answer(group.table(self.schema))
            return
        on, measure = self.plan.on, self.plan.measure
        for rows, until in stretches(group.pieces, on, measure, self.schema, self.limits.task_rows // 2):
            yield frames.answer(rows, until)
