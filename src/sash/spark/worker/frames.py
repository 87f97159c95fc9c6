"""Frames over rows that come in stretches of time: of tables too large to hold, and of streams."""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.keys import Keys
from sash.engine.rolling import Framing, framed
from sash.engine.tables import read_rows
from sash.spark.worker.failing_rows import with_failing_rows
from sash.spark.worker.positions import positions_in

__all__ = ["Frames"]


class Frames:
    """Answer frames stretch by stretch; keep the rows that later frames look back on."""

    def __init__(self, plan: Framing, before: pa.Table) -> None:
        self.plan = plan
        self.before = before  # rows that are answered, and needed by later ones

    def answer(self, rows: pa.Table, until: Any = None) -> pa.Table:
        """Return rows with the aggregates of their frames; no row before `until` comes later (None: no row at all)."""
        plan, count = self.plan, self.before.num_rows if rows.num_rows else 0
        table = pa.concat_tables([self.before, rows]) if count else rows
        columns = with_failing_rows(lambda part: framed(plan, read_rows(part)), table, plan.by, plan.on)
        self.skip(rows, until)
        for name, column in columns.items():
            rows = rows.append_column(name, column.slice(count))
        return rows

    def skip(self, rows: pa.Table, until: Any) -> None:
        """Keep the rows that later frames look back on, as `answer` does, and compute nothing."""
        if until is not None:
            self.before = _needed(self.plan, pa.concat_tables([self.before, rows]), until).combine_chunks()


def _needed(plan: Framing, table: pa.Table, until: Any) -> pa.Table:
    """Return the rows that frames from a position on look back on: the last rows of each key, or the last in time."""
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
