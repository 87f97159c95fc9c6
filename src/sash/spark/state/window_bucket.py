"""Windows of queries over the rows of a bucket."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.inspection import next_end, open_count
from sash.engine.results import arrow_of
from sash.engine.state import State
from sash.engine.stream import Stream
from sash.engine.stream_bytes import load as load_stream
from sash.engine.stream_bytes import windows_only
from sash.engine.tables import read_rows
from sash.errors import InvalidAggregate, InvalidState, InvalidWindow
from sash.plan.plan import Options, Plan
from sash.plan.query import Query
from sash.slicing.runs import Runs
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
from sash.spark.wire.recipe import Recipe
from sash.spark.worker.failing_rows import with_failing_rows
from sash.swag.state_bytes import pack, unpack
from sash.windows.measure import Measure

__all__ = ["WindowBucket", "WindowWork", "read_windows"]

# Options as users know them.
_PUBLIC_NAMES = {"delay": "watermark", "lateness": "allowed_lateness"}


class WindowBucket(Bucket):
    """A stream of the engine, whose watermark follows the newest position in any bucket."""

    def __init__(self, stream: Stream, newest: Any, rejected_count: int = 0) -> None:
        self.stream, self.newest, self.rejected_count = stream, newest, rejected_count
        self.measure = self.plan.measure
        self.has_dropped_queries = False  # since the snapshot
        self.rejected = NONE_REJECTED

    def push(self, batch: MicroBatch) -> pa.Table:
        return self._take(batch, self.stream.advance)

    def replay(self, batch: MicroBatch) -> None:
        self._take(batch, self.stream.replay)

    def _take(self, batch: MicroBatch, advance: Callable[..., Any]) -> Any:
        plan, rows = self.plan, batch.rows
        if batch.newest is not None:
            self.newest = max(self.newest, batch.newest)
        mark: Any = np.inf if batch.is_end else None
        if mark is None and plan.delay is None and self.newest > plan.measure.lowest:
            mark = self.newest  # without a delay, the newest position is the watermark
        try:
            results = advance(rows if rows.num_rows else {}, mark, newest=self.newest)
        except (InvalidAggregate, InvalidWindow):
            for given in (rows, self._waiting_rows()):
                with_failing_rows(self._push_alone, given, plan.options.by, plan.options.on)
            raise
        self.rejected = rejected_rows(self.stream.late(), plan.options.on, plan.measure)
        self.rejected_count += len(self.rejected) + batch.far_rows
        return results

    def _push_alone(self, rows: pa.Table) -> pa.Table:
        """Push rows into an empty stream, to find those that a user's function fails for."""
        return Stream.of(self.plan).push(rows if rows.num_rows else {}, watermark=np.inf)

    def _waiting_rows(self) -> pa.Table:
        """Return the rows that wait for their order, with the columns that the state keeps."""
        plan, waiting = self.plan, self.state.waiting
        columns = dict(zip(plan.options.by, self.state.keys.columns(waiting.slots), strict=True))
        columns[plan.options.on] = plan.measure.to_arrow(waiting.positions)
        for name, (data, valid) in waiting.columns.items():
            kind = plan.columns[name]
            if kind.derived is not None:  # no function of a user reads it
                columns.setdefault(kind.derived.source, pa.nulls(len(waiting), kind.arrow))
            else:
                columns[name] = arrow_of(data.tolist() if data.dtype == object else data, valid, kind.arrow)
        return pa.table(columns)

    def snapshot(self) -> bytes:
        content = {
            "newest": self.newest,
            "rejected": self.rejected_count,
            "queries": [query.name for query in self.stream.queries],  # to choose from before the stream is decoded
            "stream": self.stream.save(),
        }
        return pack(content, BUCKET_MAGIC)

    @property
    def plan(self) -> Plan:
        assert self.stream.plan is not None
        return self.stream.plan

    @property
    def state(self) -> State:
        assert self.stream.state is not None
        return self.stream.state

    @property
    def watermark(self) -> Any:
        return self.state.watermark

    @property
    def nbytes(self) -> int:
        return self.stream.state_bytes

    @property
    def snapshot_nbytes(self) -> int:
        runs = sum(each.nbytes for each in self.state.partials if isinstance(each, Runs))
        return self.state.weight(self.plan) + runs

    def figures(self) -> dict[str, Any]:
        plan, state = self.plan, self.state
        return {
            "watermark": known_position(state.watermark, plan.measure),
            "newest": known_position(self.newest, plan.measure),
            "slices": state.slices.used + len(state.waiting),
            "keys": len(state.keys),
            "open_windows": open_count(plan, state),
            "next_end": next_end(plan, state),
        }

    @property
    def combines(self) -> int:
        return self.stream.combines


@dataclass(frozen=True)
class WindowWork(Work):
    """Windows of queries."""

    recipe: Recipe
    schema: pa.Schema
    results: pa.Schema
    keeps_late: bool

    @property
    def measure(self) -> Measure:
        return read_rows(self.recipe.schema.empty_table()).measure(self.recipe.options.on)

    @property
    def on(self) -> str:
        return self.recipe.options.on

    @property
    def by(self) -> Sequence[str]:
        return self.recipe.options.by

    @property
    def logged_columns(self) -> list[str]:
        return list(self.recipe.schema.names)

    def new_bucket(self) -> WindowBucket:
        plan = self.recipe.plan(coded=True)
        stream = Stream.of(plan, None, self.recipe.queries, self.recipe.types(), late="keep")
        return WindowBucket(stream, plan.measure.lowest)

    def restore(self, snapshot: bytes) -> WindowBucket:
        content = _content(snapshot, "sash.aggregate")
        names = content["queries"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidState.damaged("the names of its queries are not texts")
        common = [query for query in self.recipe.queries if query.name in names]
        if not common:
            raise InvalidState.other_queries(names, [query.name for query in self.recipe.queries])
        saved = load_stream(content["stream"], self.recipe.options.limits)
        stream = Stream.of_saved(saved, tuple(common))
        _check_options(stream.options, self.recipe.options)
        if stream.plan is None:
            raise InvalidState.damaged("it has no state")
        bucket = WindowBucket(stream, *head_of(content, stream.plan.measure, "newest"))
        bucket.has_dropped_queries = len(common) < len(names)
        return bucket

    def update_queries(self, bucket: Bucket) -> bool:
        assert isinstance(bucket, WindowBucket)
        known = {query.name for query in bucket.stream.queries}
        new = [query for query in self.recipe.queries if query.name not in known]
        if new:
            bucket.stream.learn(self.recipe.types())
        for query in new:
            bucket.stream.add(query)
        return bool(new) or bucket.has_dropped_queries

    def late_columns(self, rejected: RejectedRows) -> dict[str, Any]:
        options, rows = self.recipe.options, rejected.rows.select(self.schema.names).combine_chunks()
        row = pa.StructArray.from_arrays(
            [each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in rows.columns],
            names=self.schema.names,
        )
        columns: dict[str, Any] = dict(zip(options.result_keys, map(rows.column, options.by), strict=True))
        return columns | {"query": pa.repeat(pa.scalar("_late"), len(rejected)), "late_row": row}


def _content(snapshot: bytes, expected: str) -> dict[str, Any]:
    """Unpack a snapshot of windows; refuse one of frames."""
    content = with_parts(unpack(snapshot, BUCKET_MAGIC, "bucket"), "newest", "rejected")
    if "frames" in content:
        raise InvalidState.other("function", "sash.rolling", expected)
    return with_parts(content, "queries", "stream")


def _check_options(saved: Options, given: Options) -> None:
    names = [field.name for field in fields(Options) if field.compare]
    pairs = [(name, getattr(saved, name), getattr(given, name)) for name in names]
    differences = [(_PUBLIC_NAMES.get(name, name), old, new) for name, old, new in pairs if old != new]
    if differences:
        raise InvalidState.options(differences)


def read_windows(snapshot: bytes, queries: Sequence[Query] = ()) -> tuple[WindowBucket, list[tuple[str, str]]]:
    """Return the bucket of a snapshot without its aggregates, to look at, and the names and texts of its queries."""
    content = _content(snapshot, "sash.aggregate, which sash.state needs")
    saved = load_stream(content["stream"])
    plan, state = windows_only(saved, queries)
    bucket = WindowBucket(Stream.of(plan, state, late="keep"), *head_of(content, plan.measure, "newest"))
    return bucket, saved.queries
