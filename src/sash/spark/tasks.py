"""What runs in Spark's Python workers: pieces of buckets in, results out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from sash.engine.keys import Keys
from sash.engine.rolling import Framing, framed
from sash.engine.stream import Stream, bound
from sash.engine.tables import read_rows
from sash.errors import SashError
from sash.plan.plan import Options, Plan, make_plan, of_slices
from sash.plan.query import Query
from sash.spark.chunks import Hot, by_bucket
from sash.spark.packing import Budget, Group, Piece, groups, packed, pieces_of
from sash.spark.schema import written
from sash.windows.measure import Measure

__all__ = ["FrameTask", "PackTask", "Recipe", "Task", "WindowTask", "as_function"]

Batches = Iterable[pa.RecordBatch]
# Rows of one batch of results: Spark holds a whole batch outside its heap.
_BATCH = 65_536


class Task:
    """A description that travels to the workers, and what it does there."""

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError


def as_function(task: Task) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """A task as Spark wants it. What it refuses is said in its own words, without the way it came."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            yield from task.run(batches)
        except SashError as error:
            raise error.with_traceback(None) from None

    return run


@dataclass(frozen=True)
class PackTask(Task):
    """The rows of a source partition, by bucket."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    schema: pa.Schema
    budget: Budget
    hot: tuple[Hot, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        return packed(batches, task, self.on, self.by, self.measure, self.schema, self.budget, self.hot)


@dataclass(frozen=True)
class Recipe:
    """What a plan is made of. Plans hold functions that are known to the compiler of one process; a recipe travels."""

    queries: tuple[Query, ...]
    options: Options
    schema: pa.Schema  # of the columns that are asked for
    is_sliced: bool = False  # the rows are slices already

    def plan(self) -> Plan:
        given = read_rows(self.schema.empty_table())
        keys = [given.arrow(name).type for name in self.options.by]
        plan = make_plan(self.queries, self.options, bound(self.queries, given), given.measure(self.options.on), keys)
        return of_slices(plan) if self.is_sliced else plan


@dataclass(frozen=True)
class WindowTask(Task):
    """Whole buckets through the engine; one that is too large, piece by piece as the watermark follows."""

    recipe: Recipe
    schema: pa.Schema
    results: pa.Schema
    budget: Budget
    hot: tuple[Hot, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        plan = self.recipe.plan()
        for group in groups(pieces_of(batches), self.budget, by_bucket(self.hot)):
            for table in self._windows(plan, group):
                if table.num_rows:
                    yield from written(table, self.results).to_batches(max_chunksize=_BATCH)

    def _windows(self, plan: Plan, group: Group) -> Iterator[pa.Table]:
        stream, chunk = Stream.of(plan), group.chunk
        end = np.inf if chunk is None or chunk.end == plan.measure.highest else chunk.end
        if group.is_whole and chunk is None:
            yield stream.push(group.table(self.schema), watermark=end)
            return
        # Windows that end before a chunk starts are those of the chunk before it.
        start = plan.measure.lowest if chunk is None else chunk.start
        if group.is_whole:
            stream.push(group.table(self.schema))
        for piece in group.pieces:
            if piece.low > start:  # no later piece has a row before this one's lowest
                stream.push({}, watermark=start)
                yield stream.push({}, watermark=piece.low)
            stream.push(piece.table(self.schema))
        stream.push({}, watermark=start)
        yield stream.push({}, watermark=end)


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
                    own = self._positions(table) >= group.chunk.start
                    halo += int((~own).sum())
                    table = table.filter(pa.array(own))
                    if own.any():
                        group.chunk.check(halo, self.plan.measure.lowest)
                yield from written(table, self.results).to_batches(max_chunksize=_BATCH)

    def _framed(self, table: pa.Table) -> pa.Table:
        for name, column in framed(self.plan, read_rows(table)).items():
            table = table.append_column(name, column)
        return table

    def _stretches(self, pieces: Iterator[Piece]) -> Iterator[pa.Table]:
        """Rows before the lowest of the next piece are complete: no row that is still to come is among them."""
        before: pa.Table = self.schema.empty_table()  # rows that are answered, and needed by those to come
        held: list[pa.Table] = []
        count = 0
        for piece in pieces:
            if count >= self.budget.rows // 2:
                before, rest, done = self._answered(before, pa.concat_tables(held), piece.low)
                yield done
                held, count = [rest], rest.num_rows
            held.append(piece.table(self.schema))
            count += piece.rows
        yield self._answered(before, pa.concat_tables(held), None)[2]

    def _answered(self, before: pa.Table, held: pa.Table, until: Any) -> tuple[pa.Table, pa.Table, pa.Table]:
        """What is looked back on from now, what has to wait, and the rows up to a position with their results."""
        positions = self._positions(held)
        ready = np.ones(len(positions), np.bool_) if until is None else positions < until
        own, rest = held.filter(pa.array(ready)), held.filter(pa.array(~ready))
        table = pa.concat_tables([before, own])
        done = self._framed(table).slice(before.num_rows)
        return (before if until is None else self._needed(table, until)), rest, done

    def _positions(self, table: pa.Table) -> Any:
        positions, valid = self.plan.measure.positions(table.column(self.plan.on), self.plan.on)
        lowest = self.plan.measure.dtype.type(self.plan.measure.lowest)
        return positions if valid is None else np.where(valid, positions, lowest)

    def _needed(self, table: pa.Table, until: Any) -> pa.Table:
        """The rows that frames from a position on look back on: the last of each key, or the last in time."""
        positions = self._positions(table)
        keep = np.zeros(len(positions), np.bool_)
        for frame, width in zip(self.plan.frames, self.plan.widths, strict=True):
            if frame.rows is None:
                keep |= positions >= until - width
            elif frame.rows > 1:
                keep[_last_of_keys(table, self.plan.by, positions, frame.rows - 1)] = True
        keep &= positions > self.plan.measure.lowest  # a row without a position is in no frame
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
