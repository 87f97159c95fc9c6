"""What runs in Spark's Python workers: pieces of buckets in, results out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from sash.engine.keys import Keys
from sash.engine.rolling import Framing, framed
from sash.engine.state import State
from sash.engine.stream import Stream, bound
from sash.engine.tables import read_rows
from sash.errors import SashError
from sash.plan.plan import Options, Plan, make_plan, of_slices
from sash.plan.query import Query
from sash.plan.share import ColumnType
from sash.spark.blame import blaming
from sash.spark.chunks import Hot, by_bucket
from sash.spark.jvm_slices import with_seen
from sash.spark.packing import Budget, Group, Piece, groups, packed, pieces_of, positions_in, stretches
from sash.spark.schema import written
from sash.spark.settling import settle
from sash.windows.measure import Measure

__all__ = ["Batches", "FrameTask", "PackTask", "Recipe", "Task", "WindowTask", "as_function", "needed"]

Batches = Iterable[pa.RecordBatch]
# Rows of one batch of results: Spark holds a whole batch outside its heap.
_BATCH = 65_536
# Results of one group that are held at once, about; and steps of the watermark that keep them so.
_MOST_RESULTS = 4_000_000
_MOST_STEPS = 10_000


def windows_per_row(plan: Plan) -> float:
    """How many windows a row can be in."""
    sized = [each.window for each in plan.queries if each.window.kind in ("grid", "cumulative")]
    return float(sum(max(1.0, window.size / window.every) for window in sized))  # type: ignore[attr-defined]


class Task(ABC):
    """A description that travels to the workers, and what it does there."""

    @abstractmethod
    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Batches of one partition in, batches of results out."""


def as_function(task: Task) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """A task as Spark wants it. What it refuses is said in its own words, without the way it came."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            yield from task.run(batches)
        except SashError as error:
            raise error.with_traceback(None) from None
        finally:
            settle()

    return run


@dataclass(frozen=True)
class PackTask(Task):
    """The rows of a source partition, by bucket."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    schema: pa.Schema
    budget: Budget
    buckets: int
    hot: tuple[Hot, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        return packed(batches, task, self.on, self.by, self.measure, self.schema, self.budget, self.buckets, self.hot)


@dataclass(frozen=True)
class Recipe:
    """What a plan is made of. Plans hold functions that are known to the compiler of one process; a recipe travels."""

    queries: tuple[Query, ...]
    options: Options
    schema: pa.Schema  # of the columns that are asked for
    is_sliced: bool = False  # the rows are slices already

    def types(self) -> dict[str, ColumnType]:
        return bound(self.queries, read_rows(self.schema.empty_table()))

    def plan(self) -> Plan:
        given = read_rows(self.schema.empty_table())
        keys = [given.arrow(name).type for name in self.options.by]
        plan = make_plan(self.queries, self.options, self.types(), given.measure(self.options.on), keys)
        return of_slices(plan) if self.is_sliced else plan


@dataclass(frozen=True)
class WindowTask(Task):
    """Whole buckets through the engine; one that is too large, piece by piece as the watermark follows."""

    recipe: Recipe
    schema: pa.Schema
    results: pa.Schema
    budget: Budget
    hot: tuple[Hot, ...] = ()
    newest: Any = None  # the last position of any key, where windows at the end depend on it

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        plan = self.recipe.plan()
        for group in groups(pieces_of(batches), self.budget, by_bucket(self.hot)):
            for table in self._windows(plan, group):
                if table.num_rows:
                    yield from written(table, self.results).to_batches(max_chunksize=_BATCH)

    def _windows(self, plan: Plan, group: Group) -> Iterator[pa.Table]:
        stream, chunk = self._stream(plan), group.chunk
        end = np.inf if chunk is None or chunk.end == plan.measure.highest else chunk.end
        if group.is_whole and chunk is None:
            table = self._ready(plan, group.table(self.schema))
            if table.num_rows * windows_per_row(plan) > _MOST_RESULTS:
                yield from self._in_steps(stream, plan, table)
            else:
                yield self._answered(plan, table)
            return
        # Windows that end before a chunk starts are those of the chunk before it.
        start = plan.measure.lowest if chunk is None else chunk.start
        on = plan.options.on
        for table, until in stretches(group.pieces, on, plan.measure, self.schema, self.budget.rows // 2):
            fired = stream.push(self._ready(plan, table))
            if chunk is None:  # a punctuation at the watermark closes a window without moving it
                yield fired
            mark = end if until is None else until
            stream.push({}, watermark=min(mark, start))
            yield stream.push({}, watermark=mark) if mark > start else stream.push({})

    def _in_steps(self, stream: Stream, plan: Plan, table: pa.Table) -> Iterator[pa.Table]:
        """Windows are many times as many as rows: the watermark goes on in steps, so that not all are held at once."""
        yield stream.push(table)
        positions = positions_in(table, plan.options.on, plan.measure)
        positions = positions[positions > plan.measure.lowest]
        longest = max(getattr(each.window, "size", 0) for each in plan.queries)
        low = positions.min().item() if len(positions) else 0
        high = positions.max().item() + longest if len(positions) else 0
        steps = min(_MOST_STEPS, int(table.num_rows * windows_per_row(plan) / _MOST_RESULTS) + 1)
        for step in range(1, steps):
            yield stream.push({}, watermark=low + (high - low) * step // steps)
        yield stream.finish()

    def _stream(self, plan: Plan) -> Stream:
        state = State.empty(plan)
        if self.newest is not None:
            state.newest = self.newest
        return Stream.of(plan, state)

    def _ready(self, plan: Plan, table: pa.Table) -> pa.Table:
        return with_seen(table, plan) if self.recipe.is_sliced else table

    def _answered(self, plan: Plan, table: pa.Table) -> pa.Table:
        def run(rows: pa.Table) -> pa.Table:
            return self._stream(plan).push(rows, watermark=np.inf)

        return blaming(run, table, plan.options.by, plan.options.on) if plan.calls_users else run(table)


@dataclass(frozen=True)
class FrameTask(Task):
    """Frames over whole buckets; of one that is too large, over stretches, each with the rows that it looks back on."""

    plan: Framing
    schema: pa.Schema
    results: pa.Schema
    budget: Budget
    hot: tuple[Hot, ...] = ()

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
                yield from written(table, self.results).to_batches(max_chunksize=_BATCH)

    def _framed(self, table: pa.Table) -> pa.Table:
        columns = blaming(lambda rows: framed(self.plan, read_rows(rows)), table, self.plan.by, self.plan.on)
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
