"""Read the state of a stopped query from its checkpoint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sash.engine.inspection import cut_by, open_windows, slices_of
from sash.engine.positions import position_on, shown
from sash.errors import InvalidInput, InvalidState, sentence_of
from sash.plan.query import Query, named_queries
from sash.report import Report
from sash.spark.state.bucket import MicroBatch
from sash.spark.state.snapshot_log import HEAD, LOG, SNAPSHOT, STATE_VARIABLE, Head
from sash.spark.state.window_bucket import WindowBucket, read_windows
from sash.spark.versions import check_streams

__all__ = ["CheckpointState", "state"]

_Entries = dict[tuple[str, int], tuple[bytes, bytes]]  # of a bucket: a nonce and data, by kind and number


@dataclass(frozen=True, repr=False)
class CheckpointState(Report):
    """The state of a stopped query, as its checkpoint contains it."""

    queries: tuple[tuple[str, str], ...]  # names and texts
    buckets: int
    watermark: Any
    newest: Any
    late_rows: int
    state_bytes: int
    slices: pa.Table  # by key: first and last row, the edge after them, and the queries that have this edge
    windows: pa.Table  # by key: windows that are not closed yet

    def lines(self) -> list[tuple[str, str]]:
        keys = self.slices.select(self.slices.column_names[:-4])
        count = len(keys.group_by(keys.column_names).aggregate([])) if keys.num_columns else min(1, keys.num_rows)
        return [
            *(("query", text) for _, text in self.queries),
            ("time", f"watermark {shown(self.watermark)}, newest row {shown(self.newest)}"),
            ("state", f"{count:,} keys in {self.buckets} buckets, {self.state_bytes:,} bytes"),
            ("slices", f"{self.slices.num_rows:,}"),
            ("windows", f"{self.windows.num_rows:,} open"),
            ("late", f"{self.late_rows:,} rows"),
        ]


def state(checkpoint: str, queries: Query | Sequence[Query] | None = None, operator: int = 0) -> CheckpointState:
    """Return the state of a stopped query, read from its checkpoint: keys, slices and open windows.

    The checkpoint does not contain the code of windows and aggregates that users wrote. If there are any, pass the
    `queries`.
    """
    check_streams()
    try:
        session = SparkSession.active()
    except PySparkException as error:
        raise InvalidInput.no_session() from error
    entries: dict[int, _Entries] = {}  # by bucket
    for row in _read(session, checkpoint, operator):
        kind, number = row["user_map_key"]
        nonce, data = row["user_map_value"]
        entries.setdefault(row["key"][0], {})[kind, number] = bytes(nonce), bytes(data)
    entries = {bucket: own for bucket, own in entries.items() if (HEAD, 0) in own}  # the others wait for rows
    if not entries:
        raise InvalidInput.option("checkpoint", checkpoint, "the checkpoint of a query of sash that has had rows")
    given = () if queries is None else named_queries(queries)
    found = [_bucket(entries[each], given) for each in sorted(entries)]
    queries_saved = found[0][1]
    buckets = [bucket for bucket, _ in found]
    plan = buckets[0].plan
    return CheckpointState(
        tuple(queries_saved),
        len(entries),
        max((position_on(each.watermark, plan.measure) for each in buckets), key=_order),
        max((position_on(each.newest, plan.measure) for each in buckets), key=_order),
        sum(each.rejected_count for each in buckets),
        sum(each.nbytes for each in buckets),
        pa.concat_tables([_slices(each) for each in buckets]),
        pa.concat_tables([open_windows(each.plan, each.state) for each in buckets]),
    )


def _bucket(entries: _Entries, queries: tuple[Query, ...]) -> tuple[WindowBucket, list[tuple[str, str]]]:
    """Return a bucket, and the names and texts of its queries."""
    head = Head.from_bytes(*entries[HEAD, 0])
    try:
        snapshot = b"".join(entries[SNAPSHOT, part][1] for part in range(head.parts))
        log = [entries[LOG, version][1] for version in range(head.snapshot + 1, head.version + 1)]
    except KeyError as error:
        raise InvalidState.unreadable("a part of it is missing", error) from error
    bucket, texts = read_windows(snapshot, queries)
    for entry in log:
        bucket.replay(MicroBatch.from_bytes(entry, bucket.measure))
    return bucket, texts


def _slices(bucket: WindowBucket) -> pa.Table:
    """Return the slices of a bucket, and which queries cut at their ends."""
    slices = slices_of(bucket.plan, bucket.state)
    ends, _ = bucket.plan.measure.positions(slices.column("end"))
    edges, places = np.unique(ends, return_inverse=True)
    names = pa.array(cut_by(bucket.plan, edges), pa.list_(pa.string()))
    return slices.append_column("cut_by", names.take(pa.array(places)))


def _read(session: SparkSession, checkpoint: str, operator: int) -> list[Any]:
    source = session.read.format("statestore").option("stateVarName", STATE_VARIABLE[0]).option("operatorId", operator)
    try:
        return list(source.load(checkpoint).collect())
    except Exception as error:
        expected = "the checkpoint of a query of sash that has stopped"
        raise InvalidInput.option("checkpoint", checkpoint, f"{expected} ({sentence_of(error)})") from error


def _order(position: Any) -> Any:
    return (position is not None, position)
