"""A bucket of the table function: it collects rows one by one, and computes results after the last."""

import pickle
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sash.engine import batch
from sash.engine.options import CallOptions
from sash.errors import InvalidInput
from sash.spark.wire.results import cast_results
from sash.spark.worker.failing_rows import with_failing_rows
from sash.spark.worker.task import without_traceback
from sash.syntax import arrow_expressions
from sash.text import Request, arrow_outputs

__all__ = ["FunctionBucket", "Job", "computes"]

# Rows that are held as Python objects, and rows of results at once.
_BATCH = 65_536
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?")


@dataclass(frozen=True)
class Job:
    """A query over the rows of a bucket; it travels."""

    request: Request
    sent: pa.Schema
    results: pa.Schema

    def read(self, rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        """Read rows: the columns, then the session's time zone if the query has expressions."""
        zone = rows[0][-1] if computes(self.request) else "UTC"
        columns = zip(self.sent, zip(*rows, strict=True), strict=False)
        arrays = [pa.array(values, _in_zone(field.type, zone)) for field, values in columns]
        return pa.record_batch(arrays, names=self.sent.names)

    def answer(self, table: pa.Table) -> pa.Table:
        request = self.request
        rows, options = (
            arrow_expressions.prepare_rows(table, request),
            CallOptions(request.on, list(request.by), order=request.order),
        )
        if request.queries:
            found = batch.aggregate(rows, request.queries, options)
        else:
            found = batch.rolling(rows, request.frames, options)
        return cast_results(arrow_outputs.compute_outputs(found, request, rows.column_names), self.results)


class FunctionBucket:
    """Collect the rows of a bucket, and compute the results after the last."""

    def __init__(self, analyzed: Any) -> None:
        # `analyze` of this query made these bytes, as Spark sends any function of a user; they are never stored.
        self._job: Job = pickle.loads(analyzed.packed)
        self._batches: list[pa.RecordBatch] = []
        self._rows: list[Sequence[Any]] = []

    def eval(self, rows: Sequence[Any], query: str, on: Any = None, by: Any = None) -> None:
        self._rows.append(rows)
        if len(self._rows) == _BATCH:
            self._pack()

    def terminate(self) -> Iterator[tuple[Any, ...]]:
        if self._rows:
            self._pack()
        if not self._batches:
            return
        request, table = self._job.request, pa.Table.from_batches(self._batches)
        with without_traceback():
            found = with_failing_rows(self._job.answer, table, request.by, request.on)
            for part in found.to_batches(max_chunksize=_BATCH):
                yield from zip(*map(_objects, part.schema.names, part.columns), strict=True)

    def _pack(self) -> None:
        self._batches.append(self._job.read(self._rows))
        self._rows = []


def _objects(name: str, column: pa.Array) -> list[Any]:
    """Return values as Spark reads them: an instant has a zone, or Spark would read it in that of the machine."""
    try:
        values: list[Any] = column.to_pylist()
    except OverflowError:
        why = "it holds a time before year 1 or after 9999, which Python has not: use sash.sql"
        raise InvalidInput.in_column(name, why) from None
    return values


def computes(request: Request) -> bool:
    return request.where is not None or bool(request.computed)


def _in_zone(kind: Any, zone: str) -> Any:
    return pa.timestamp("us", _arrow_zone(zone)) if pa.types.is_timestamp(kind) and kind.tz is not None else kind


def _arrow_zone(zone: str) -> str:
    """Return Arrow's name of a time zone of Spark.

    >>> [_arrow_zone(each) for each in ("GMT+8", "UTC-03:30", "+1", "Z", "America/New_York")]
    ['+08:00', '-03:30', '+01:00', 'UTC', 'America/New_York']
    """
    found = _OFFSET.fullmatch(zone)
    if found is None:
        return "UTC" if zone == "Z" else zone
    return f"{found[1]}{int(found[2]):02}:{found[3] or '00'}"
