"""Frames over the rows of a bucket."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.function_digests import PYTHON, Meanings, are_meanings, check_meanings, meanings_of
from sash.engine.arrow_bytes import table_bytes, table_of_bytes
from sash.engine.rolling import FramePlan
from sash.engine.watermark import Watermarks
from sash.errors import InvalidState
from sash.slicing.slices import check_array
from sash.spark.state.bucket import (
    BUCKET_MAGIC,
    NONE_REJECTED,
    Bucket,
    MicroBatch,
    RejectedRows,
    Work,
    head_of,
    known_position,
    rejected_rows,
    with_parts,
)
from sash.spark.worker.frames import Frames
from sash.swag.state_bytes import pack, unpack
from sash.windows.measure import Measure

__all__ = ["FrameBucket", "FrameWork"]


class FrameBucket(Bucket):
    """Rows wait until no earlier row can arrive; then their frames are computed, and later frames use them."""

    def __init__(
        self, work: "FrameWork", frames: Frames, waiting: pa.Table, newest: Any, watermark: Any, rejected: int = 0
    ) -> None:
        self._work, self._waiting, self.measure = work, waiting, work.measure
        self._frames = frames
        self.newest, self._watermark, self.rejected_count = newest, watermark, rejected
        self.rejected = NONE_REJECTED

    def push(self, batch: MicroBatch) -> pa.Table:
        ready, before = self._take(batch)
        if ready.num_rows or self._watermark > before:
            return self._frames.answer(ready, self._watermark)
        return self._frames.answer(ready)

    def replay(self, batch: MicroBatch) -> None:
        ready, before = self._take(batch)
        if ready.num_rows or self._watermark > before:
            self._frames.skip(ready, self._watermark)

    def _take(self, batch: MicroBatch) -> tuple[pa.Table, Any]:
        """Add the rows of a micro-batch and move the watermark; return the rows before it, and where it was."""
        plan, before = self._work.plan, self._watermark
        rows = _cast(batch.rows, self._work.schema)
        if batch.newest is not None:
            self.newest = max(self.newest, batch.newest)
        watermarks = Watermarks(plan.measure, delay=self._work.delay)
        judged = watermarks.accept(before, *plan.measure.positions(rows.column(plan.on), plan.on))
        self.rejected = rejected_rows(rows.take(pa.array(judged.rejected)), plan.on, plan.measure)
        self.rejected_count += len(self.rejected) + batch.far_rows
        accepted = rows if judged.accepted is None else rows.take(pa.array(judged.accepted))
        waiting = pa.concat_tables([self._waiting, accepted])
        self._watermark = watermarks.after(before, self.newest, plan.measure.highest if batch.is_end else None)
        is_ready = plan.measure.positions_or_lowest(waiting.column(plan.on), plan.on) < self._watermark
        self._waiting = waiting.filter(pa.array(~is_ready)).combine_chunks()
        return waiting.filter(pa.array(is_ready)), before

    def snapshot(self) -> bytes:
        content = {
            "frames": self._work.text,
            "meanings": self._work.meanings,
            "python": PYTHON,
            "schema": str(self._work.schema),
            "newest": self.newest,
            "watermark": self._watermark,
            "rejected": self.rejected_count,
            "held": table_bytes(self._frames.held),
            "is_done": self._frames.is_done,
            "waiting": table_bytes(self._waiting),
        }
        return pack(content, BUCKET_MAGIC)

    @property
    def nbytes(self) -> int:
        return int(self._frames.held.nbytes + self._waiting.nbytes)

    def figures(self) -> dict[str, Any]:
        measure, held = self._work.plan.measure, [self._frames.held, self._waiting]
        return {
            "watermark": known_position(self._watermark, measure),
            "newest": known_position(self.newest, measure),
            "slices": sum(each.num_rows for each in held),
            "keys": _count_keys(held, self._work.plan.by),
            "open_windows": self._waiting.num_rows + int((~self._frames.is_done).sum()),
            "next_end": None,
        }


@dataclass(frozen=True)
class FrameWork(Work):
    """Frames over rows."""

    plan: FramePlan
    delay: Any  # in positions
    schema: pa.Schema
    results: pa.Schema
    keeps_late: bool

    @property
    def measure(self) -> Measure:
        return self.plan.measure

    @property
    def on(self) -> str:
        return self.plan.on

    @property
    def by(self) -> Sequence[str]:
        return self.plan.by

    @property
    def logged_columns(self) -> list[str]:
        return list(self.schema.names)

    @property
    def text(self) -> str:
        """The frames as text: a snapshot of other frames has another text."""
        return "; ".join([f"watermark {self.delay}", *self.plan.lines()])

    @property
    def meanings(self) -> list[Meanings]:
        """Digests of users' functions, frame by frame."""
        return [meanings_of(frame.aggregates) for frame in self.plan.frames]

    def new_bucket(self) -> FrameBucket:
        lowest, empty = self.measure.lowest, self.schema.empty_table()
        return FrameBucket(self, Frames(self.plan, empty), empty, lowest, lowest)

    def restore(self, snapshot: bytes) -> FrameBucket:
        content = with_parts(unpack(snapshot, BUCKET_MAGIC, "bucket"), "newest", "rejected")
        if "frames" not in content:
            raise InvalidState.other("function", "sash.aggregate", "sash.rolling")
        with_parts(content, "schema", "watermark", "held", "is_done", "waiting")
        meanings, python = content.get("meanings", []), content.get("python", PYTHON)
        if not isinstance(meanings, list) or not all(map(are_meanings, meanings)) or not isinstance(python, str):
            raise InvalidState.damaged("its digests of functions are not digests")
        for frame, known in zip(self.plan.frames, meanings, strict=False):
            check_meanings("sash.rolling", known, frame.aggregates, python)
        if not isinstance(content["frames"], str) or not isinstance(content["schema"], str):
            raise InvalidState.damaged("its frames or its columns are not text")
        if content["frames"] != self.text:
            raise InvalidState.other("frames", content["frames"], self.text)
        if content["schema"] != str(self.schema):
            columns = (" ".join(each.split()) for each in (content["schema"], str(self.schema)))
            raise InvalidState.other("columns", *columns)
        held, waiting = (_cast(table_of_bytes(content[name]), self.schema) for name in ("held", "waiting"))
        is_done = check_array(content["is_done"], np.bool_, "marks of rows", held.num_rows)
        frames = Frames(self.plan, held, is_done)
        return FrameBucket(self, frames, waiting, *head_of(content, self.measure, "newest", "watermark"))

    def late_columns(self, rejected: RejectedRows) -> dict[str, Any]:
        return {name: rejected.rows.column(name) for name in self.schema.names}


def _cast(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows in the columns of a schema; refuse saved rows that have other columns."""
    if rows.schema.equals(schema):
        return rows
    try:
        return rows.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise InvalidState.unreadable("its rows have other columns", error) from error


def _count_keys(tables: Sequence[pa.Table], by: Sequence[str]) -> int:
    """Return the number of keys; without key columns it is 1 if there are rows."""
    rows = pa.concat_tables(tables)
    return len(rows.group_by(list(by)).aggregate([])) if by else min(1, rows.num_rows)
