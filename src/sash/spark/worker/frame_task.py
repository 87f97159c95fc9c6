"""Frames over the rows of buckets."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from sash.engine.rolling import Framing
from sash.spark.wire.budget import Budget
from sash.spark.wire.hot_keys import HotKey, by_bucket
from sash.spark.wire.pieces import unpack
from sash.spark.wire.results import cast_results
from sash.spark.worker.frames import Frames
from sash.spark.worker.groups import Group, groups, stretches
from sash.spark.worker.positions import positions_in
from sash.spark.worker.task import RESULT_ROWS, Batches, Task

__all__ = ["FrameTask"]


@dataclass(frozen=True)
class FrameTask(Task):
    """Answer frames over whole buckets; over a bucket that is too large, in stretches of time."""

    plan: Framing
    schema: pa.Schema
    results: pa.Schema
    budget: Budget
    hot: tuple[HotKey, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for group in groups(unpack(batches), self.budget, by_bucket(self.hot)):
            halo = 0
            for table in self._answers(group):
                if group.chunk is not None:
                    own = positions_in(table, self.plan.on, self.plan.measure) >= group.chunk.start
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
        for rows, until in stretches(group.pieces, on, measure, self.schema, self.budget.rows // 2):
            yield frames.answer(rows, until)
