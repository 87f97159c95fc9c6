"""The processor in Spark's state operator: one group per bucket of keys and micro-batch."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from sash.errors import InvalidInput
from sash.limits import Limits
from sash.spark.state.bucket import NONE_REJECTED, TOO_FAR, Bucket, MicroBatch, RejectedRows, Work
from sash.spark.state.snapshot_log import Head, SnapshotLog, WorkerMemory
from sash.spark.wire.bucket_report import report_of
from sash.spark.wire.pieces import FAR, Piece, rows_schema, unpack_row
from sash.spark.wire.results import DETAILS, answer_schema
from sash.spark.worker.task import freeze_loaded, without_traceback

__all__ = ["BucketProcessor"]

_BATCH = 65_536  # results in one row of the answer


class BucketProcessor(StatefulProcessor):
    """Read a bucket from Spark's state, push a micro-batch, and write it to the log."""

    def __init__(
        self,
        work: Work,
        stream: str,
        buckets: int,
        limits: Limits,
        has_far: bool = False,
        flushes: bool = False,
        memory: WorkerMemory | None = None,
    ) -> None:
        self._work, self._stream, self._buckets, self._limits = work, stream, buckets, limits
        self._memory = memory  # None: that of the process it runs in
        self._rows_schema = rows_schema(work.schema, has_far)
        self._has_far, self._flushes = has_far, flushes

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._log = SnapshotLog(handle, self._work, self._stream, self._buckets, self._limits, self._memory)
        self._had_rows: set[int] = set()
        self._initial: dict[int, int] = {}  # the number of pieces from before the stream, by bucket

    def handleInitialState(self, key: Any, initialState: Any, timerValues: TimerValues) -> None:
        (bucket,) = key
        number = self._initial.get(bucket, 0)
        self._log.write_initial(number, unpack_row(initialState))
        self._initial[bucket] = number + 1

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Any]:
        (bucket,) = key
        if bucket in self._had_rows:
            raise InvalidInput.in_parts()
        self._had_rows.add(bucket)
        if self._flushes:  # due in the next micro-batch, with rows or without
            self._handle.registerTimer(max(timerValues.getCurrentWatermarkInMs(), 0) + 1)
        with without_traceback():
            yield from self._push(bucket, rows)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Any]:
        (bucket,) = key
        if bucket not in self._had_rows:  # a micro-batch without rows: there are no more
            with without_traceback():
                yield from self._end(bucket)

    def close(self) -> None:
        freeze_loaded()

    # --- a micro-batch -----------------------------------------------------------------------------------

    def _push(self, number: int, rows: Iterable[Any]) -> Iterable[Row]:
        bucket, head, is_changed = self._log.read(number)
        batches, rejected = [], NONE_REJECTED
        initial = [] if head.version else self._log.take_initial(self._rows_schema)
        if initial:
            batch, far = self._batch(initial)
            bucket.replay(batch)  # windows that ended before the stream began are not emitted
            batches, rejected = [batch], _with_far(bucket.rejected, far)
        batch, far = self._batch(map(unpack_row, rows))
        return self._answer(number, bucket, head, [*batches, batch], is_changed, rejected, far)

    def _end(self, number: int) -> Iterable[Row]:
        bucket, head, is_changed = self._log.read(number)
        batch = MicroBatch(self._work.schema.empty_table(), None, is_end=True)
        return self._answer(number, bucket, head, [batch], is_changed, NONE_REJECTED, None)

    def _answer(
        self,
        number: int,
        bucket: Bucket,
        head: Head,
        batches: list[MicroBatch],
        is_changed: bool,
        rejected: RejectedRows,
        far: pa.Table | None,
    ) -> Iterable[Row]:
        """Push the last micro-batch, write all of them to the log, and return results and figures."""
        batch = batches[-1]
        combines, newest = bucket.combines, bucket.newest
        results = bucket.push(batch)
        rejected = rejected.concat(_with_far(bucket.rejected, far))
        logged = [each.with_columns(self._work.logged_columns) for each in batches]
        self._log.write(number, bucket, head, logged, is_changed)
        figures = bucket.figures()
        figures |= {
            "combines": bucket.combines - combines,
            "rows": batch.rows.num_rows + batch.far_rows,
            "late": len(rejected),
            "late_rows": bucket.rejected_count,
            "results": results.num_rows,
            "state_bytes": bucket.nbytes,
            "written_bytes": self._log.written_bytes,
        }
        work = self._work
        report = report_of(number, batch.rows, batch.far_rows, rejected.reasons, newest, work.on, work.by, work.measure)
        figures[DETAILS] = report.to_text()
        return self._rows(self._work.output(results, rejected), figures)

    def _rows(self, results: pa.Table, figures: dict[str, Any]) -> list[Row]:
        batches = [each for each in results.combine_chunks().to_batches(max_chunksize=_BATCH) if each.num_rows]
        data: list[Any] = [each.serialize().to_pybytes() for each in batches] or [None]
        names = answer_schema(self._work.measure).names
        nothing = dict.fromkeys(names)
        lines = [{**nothing, **figures, "data": data[0]}, *({**nothing, "data": each} for each in data[1:])]
        return [Row(**{name: line[name] for name in names}) for line in lines]

    def _batch(self, pieces: Iterable[Piece]) -> tuple[MicroBatch, pa.Table | None]:
        """Return the rows of a micro-batch in the order of their map tasks, and apart those beyond max_future."""
        pieces = sorted(pieces, key=lambda piece: (piece.task, piece.number))
        known = [piece.newest for piece in pieces if piece.newest is not None]
        schema = self._rows_schema
        table = pa.concat_tables([schema.empty_table(), *(piece.table(schema) for piece in pieces if piece.rows)])
        far = None
        if self._has_far:
            is_far = table.column(FAR)
            table = table.drop_columns([FAR])
            far = table.filter(is_far)
            table = table.filter(pc.invert(is_far))
        return MicroBatch(table, max(known, default=None), 0 if far is None else far.num_rows), far


def _with_far(rejected: RejectedRows, far: pa.Table | None) -> RejectedRows:
    if far is None:
        return rejected
    return rejected.concat(RejectedRows(far, pa.array([TOO_FAR] * far.num_rows, pa.string())))
