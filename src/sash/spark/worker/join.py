"""Join the labels and events of buckets; of a large bucket, in stretches of time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.join import JoinPlan, join_rows
from sash.engine.row_order import key_slots
from sash.engine.tables import read_rows
from sash.limits import Limits
from sash.spark.wire.hot_keys import HotKey, by_bucket
from sash.spark.wire.pieces import Piece, unpack
from sash.spark.wire.results import cast_results
from sash.spark.worker.frames import last_of_keys
from sash.spark.worker.groups import Group, Waiting, groups, split_at
from sash.spark.worker.packing import side_of_piece
from sash.spark.worker.task import RESULT_ROWS, Batches, Task

__all__ = ["HeldRows", "JoinTask"]


@dataclass(frozen=True)
class JoinTask(Task):
    """Compute the features of labels from the events of the same buckets."""

    plan: JoinPlan
    labels: pa.Schema
    tables: tuple[pa.Schema, ...]  # of the events: side 0 of the pieces are labels, side k + 1 is table k
    results: pa.Schema
    limits: Limits
    hot: tuple[HotKey, ...] = ()

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for group in groups(unpack(batches), self.limits, by_bucket(self.hot)):
            for table in self._answers(group):
                yield from cast_results(table, self.results).to_batches(max_chunksize=RESULT_ROWS)

    def _answers(self, group: Group) -> Iterator[pa.Table]:
        held = HeldRows(self)
        enough = self.limits.task_rows
        for piece in group.pieces:
            if not group.is_whole and held.rows >= enough:
                yield held.answer(piece.low)
                enough = max(self.limits.task_rows, 2 * held.rows)
            held.add(piece)
        yield held.answer(None)


class HeldRows:
    """The labels that are not answered yet, and the events that they and later ones may need."""

    def __init__(self, task: JoinTask) -> None:
        self.task = task
        self.sides: list[Waiting] = [[] for _ in range(1 + len(task.tables))]
        self.rows = 0

    def add(self, piece: Piece) -> None:
        side, task = side_of_piece(piece)
        schema = self.task.labels if side == 0 else self.task.tables[side - 1]
        self.sides[side].append((task, piece.number, piece.table(schema)))
        self.rows += piece.rows

    def answer(self, until: Any) -> pa.Table:
        """Return the labels before a position with their features, and drop the events that no later label needs.

        All rows before the position have come. Those from it on keep their place in the order of their source.
        """
        plan = self.task.plan
        on = [plan.on, *(self._on(number) for number in range(len(self.task.tables)))]
        schemas = [self.task.labels, *self.task.tables]
        ready: list[Waiting] = self.sides
        later: list[Waiting] = [[] for _ in schemas]
        if until is not None:
            parts = [split_at(held, name, plan.measure, until) for held, name in zip(self.sides, on, strict=True)]
            ready, later = [one for one, _ in parts], [other for _, other in parts]
        labels, *tables = (_concat(held, schema) for held, schema in zip(ready, schemas, strict=True))
        events = [read_rows(table) for table in tables]
        columns = join_rows(plan, read_rows(labels), [events[side.table] for side in plan.sides], threads=1)
        for name, column in columns.items():
            labels = labels.append_column(name, column)
        if until is not None:
            first: list[Waiting] = [[], *([(-1, 0, self._needed(k, table, until))] for k, table in enumerate(tables))]
            self.sides = [one + other for one, other in zip(first, later, strict=True)]
            self.rows = sum(table.num_rows for held in self.sides for _, _, table in held)
        return labels

    def _on(self, number: int) -> str:
        return next(side.on for side in self.task.plan.sides if side.table == number)

    def _needed(self, number: int, table: pa.Table, until: Any) -> pa.Table:
        """Return the events that labels from a position on can see.

        All events before the position have come. A label at the position sees those before it by more than the delay,
        and so does every later label: of these, a lookback by rows needs the last ones of each key.
        """
        own = [side for side in self.task.plan.sides if side.table == number]
        if any(side.length is None and side.rows is None for side in own):
            return table
        measure = self.task.plan.measure
        positions = measure.positions_or_lowest(table.column(own[0].on), own[0].on)
        is_needed = np.zeros(table.num_rows, np.bool_)
        for side in own:
            if side.rows is None:
                is_needed |= positions >= until - (side.length + side.delay)
                continue
            newest = until - side.delay
            is_needed |= positions >= newest
            seen = np.flatnonzero((positions < newest) & (positions > measure.lowest))
            slots = key_slots(read_rows(table), side.by).slots
            is_needed[seen[last_of_keys(slots[seen], positions[seen], side.rows, of_groups=False)]] = True
        return table.filter(pa.array(is_needed)).combine_chunks()


def _concat(held: Waiting, schema: pa.Schema) -> pa.Table:
    ordered = [table for _, _, table in sorted(held, key=lambda each: each[:2])]
    return pa.concat_tables([schema.empty_table(), *ordered])
