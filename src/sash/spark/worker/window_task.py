"""Windows over the rows of buckets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.batch import compute_windows
from sash.engine.state import State
from sash.engine.stream import Stream
from sash.engine.tables import read_rows
from sash.plan.plan import Plan
from sash.plan.planner import of_slices
from sash.spark.wire.hot_keys import HotKey, by_bucket
from sash.spark.wire.pieces import unpack
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import cast_results
from sash.spark.worker.failing_rows import with_failing_rows
from sash.spark.worker.groups import Group, groups, stretches
from sash.spark.worker.task import RESULT_ROWS, Batches, Task

__all__ = ["WindowTask"]


def windows_per_row(plan: Plan) -> float:
    """Return the number of windows that a row can be in."""
    return sum(query.kind.windows_per_row for query in plan.queries)


@dataclass(frozen=True)
class WindowTask(Task):
    """Run the engine on whole buckets; on a bucket that is too large, in stretches of time with a watermark."""

    recipe: Recipe
    schema: pa.Schema
    results: pa.Schema
    hot: tuple[HotKey, ...] = ()
    newest: Any = None  # the last position of any key, where windows at the end depend on it

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        plan = self.recipe.plan(coded=not self.recipe.is_sliced)
        for group in groups(unpack(batches), self.recipe.options.limits, by_bucket(self.hot)):
            for table in self._windows(plan, group):
                if table.num_rows:
                    yield from cast_results(table, self.results).to_batches(max_chunksize=RESULT_ROWS)

    def _windows(self, plan: Plan, group: Group) -> Iterator[pa.Table]:
        stream, chunk, limits = self._stream(plan), group.chunk, plan.options.limits
        end = np.inf if chunk is None or chunk.end == plan.measure.highest else chunk.end
        if group.is_whole and chunk is None:
            table = self._ready(plan, group.table(self.schema))
            if table.num_rows * windows_per_row(plan) > limits.task_results:
                yield from self._in_steps(stream, plan, table)
            else:
                yield self._answer(plan, table)
            return
        # Windows that end before a chunk starts are those of the chunk before it.
        start = plan.measure.lowest if chunk is None else chunk.start
        on = plan.options.on
        for table, until in stretches(group.pieces, on, plan.measure, self.schema, limits.task_rows // 2):
            fired = stream.push(self._ready(plan, table))
            if chunk is None:  # a punctuation at the watermark closes a window before the watermark moves
                yield fired
            mark = end if until is None else until
            stream.push({}, watermark=min(mark, start))
            yield stream.push({}, watermark=mark) if mark > start else stream.push({})

    def _in_steps(self, stream: Stream, plan: Plan, table: pa.Table) -> Iterator[pa.Table]:
        """Move the watermark in steps, so that windows that far outnumber rows are not all held at once."""
        yield stream.push(table)
        positions = plan.measure.positions_or_lowest(table.column(plan.options.on), plan.options.on)
        positions = positions[positions > plan.measure.lowest]
        longest = max(each.kind.lookback or 0 for each in plan.queries)
        low = positions.min().item() if len(positions) else 0
        high = positions.max().item() + longest if len(positions) else 0
        limits = plan.options.limits
        steps = min(limits.watermark_steps, int(table.num_rows * windows_per_row(plan) / limits.task_results) + 1)
        for step in range(1, steps):
            yield stream.push({}, watermark=low + (high - low) * step // steps)
        yield stream.finish()

    def _stream(self, plan: Plan) -> Stream:
        state = State.empty(plan)
        if self.newest is not None:
            state.newest = self.newest
        return Stream.of(plan, state)

    def _ready(self, plan: Plan, table: pa.Table) -> pa.Table:
        return _with_seen(table, plan) if self.recipe.is_sliced else table

    def _answer(self, plan: Plan, table: pa.Table) -> pa.Table:
        def run(rows: pa.Table) -> pa.Table:
            if self.newest is None and not self.recipe.is_sliced:
                return compute_windows(read_rows(rows), self.recipe.queries, plan.options)
            return self._stream(plan).push(rows, watermark=np.inf)

        return (
            with_failing_rows(run, table, plan.options.by, plan.options.on) if plan.calls_user_functions else run(table)
        )


def _with_seen(table: pa.Table, plan: Plan) -> pa.Table:
    """Add the fields that Spark did not send to aggregated slices: whether there was any value."""
    for group, names in zip(plan.groups, of_slices(plan).group_columns, strict=True):
        place = 0
        for component in group.components:
            last = place + len(component.fields) - 1
            if names[last] not in table.column_names:
                table = table.append_column(names[last], table.column(names[place]).is_valid())
            place = last + 1
    return table
