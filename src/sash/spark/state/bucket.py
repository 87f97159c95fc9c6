"""Process the micro-batches of one bucket of keys.

A `Work` describes what buckets do, and travels to the workers. It makes a `Bucket`, which stays in its worker. A bucket
is deterministic: the same micro-batches in the same order give the same state and the same results.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.arrow_bytes import table_bytes, table_of_bytes
from sash.errors import InvalidState
from sash.spark.wire.results import cast_results
from sash.swag.state_bytes import pack, unpack
from sash.windows.measure import Measure

__all__ = [
    "BUCKET_MAGIC",
    "NONE_REJECTED",
    "TOO_FAR",
    "Bucket",
    "MicroBatch",
    "RejectedRows",
    "Work",
    "head_of",
    "is_count",
    "known_position",
    "rejected_rows",
    "with_parts",
]

BUCKET_MAGIC = b"SASHBKT\0"  # of snapshots
_BATCH_MAGIC = b"SASHMBT\0"  # of entries of the log
# Why a row is rejected.
TOO_LATE = "its position is before the watermark"
NO_POSITION = "it has no position"
TOO_FAR = "it is too far ahead of the clock"


@dataclass(frozen=True)
class RejectedRows:
    """Rows that are in no window, and why."""

    rows: pa.Table
    reasons: Any

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def concat(self, other: "RejectedRows") -> "RejectedRows":
        """Return the rows of both."""
        if not len(self) or not len(other):
            return self if len(self) else other
        rows = pa.concat_tables([self.rows.select(other.rows.schema.names), other.rows])
        return RejectedRows(rows, pa.concat_arrays([self.reasons, other.reasons]))


NONE_REJECTED = RejectedRows(pa.table({}), pa.array([], pa.string()))


@dataclass(frozen=True)
class MicroBatch:
    """The rows of a bucket in one micro-batch."""

    rows: pa.Table
    newest: Any  # the largest position in any bucket; None if there is none
    far_rows: int = 0  # rows beyond max_future: they are counted, and not in `rows`
    is_end: bool = False  # the end of the stream

    def with_columns(self, names: Sequence[str]) -> "MicroBatch":
        """Return the micro-batch with only these columns of its rows."""
        return replace(self, rows=self.rows.select(names))

    def to_bytes(self) -> bytes:
        """Return an entry of the log."""
        content = {"rows": table_bytes(self.rows), "newest": self.newest, "far": self.far_rows, "end": self.is_end}
        return pack(content, _BATCH_MAGIC)

    @classmethod
    def from_bytes(cls, data: bytes, measure: Measure) -> "MicroBatch":
        """Read an entry of the log; refuse damaged bytes."""
        content = with_parts(unpack(data, _BATCH_MAGIC, "micro-batch"), "rows", "newest", "far", "end")
        newest, far_rows, is_end = content["newest"], content["far"], content["end"]
        if newest is not None and not measure.holds(newest):
            raise InvalidState.damaged("the newest position of a micro-batch is not a position")
        if not is_count(far_rows) or not isinstance(is_end, bool):
            raise InvalidState.damaged("the counts of a micro-batch are not counts")
        return cls(table_of_bytes(content["rows"]), newest, far_rows, is_end)


class Bucket(ABC):
    """The state of one bucket."""

    measure: Measure
    newest: Any  # the largest position in any bucket so far
    rejected: RejectedRows  # rows of the last micro-batch
    rejected_count: int  # rows of all micro-batches, rows beyond max_future included

    @abstractmethod
    def push(self, batch: MicroBatch) -> pa.Table:
        """Add the rows of a micro-batch, move the watermark, and return the results that are due."""

    @abstractmethod
    def replay(self, batch: MicroBatch) -> None:
        """Change the state as `push` does, for a micro-batch of the log whose results were emitted before."""

    @abstractmethod
    def snapshot(self) -> bytes:
        """Return the whole state as bytes."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The approximate memory of the state in bytes."""

    @property
    def snapshot_nbytes(self) -> int:
        """Return the approximate size of a snapshot in bytes."""
        return self.nbytes

    @property
    def combines(self) -> int:
        """The approximate number of combines in this process."""
        return 0

    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """Return the watermark, the newest position, and the numbers of slices, keys and open windows."""


class Work(ABC):
    """The description of what buckets compute, sent to workers."""

    schema: pa.Schema  # of rows
    results: pa.Schema  # as Spark expects them
    keeps_late: bool

    @property
    @abstractmethod
    def measure(self) -> Measure: ...

    @property
    @abstractmethod
    def on(self) -> str:
        """The column of positions."""

    @property
    @abstractmethod
    def by(self) -> Sequence[str]:
        """The columns of keys."""

    @property
    @abstractmethod
    def logged_columns(self) -> list[str]:
        """The columns that a replay needs."""

    @abstractmethod
    def new_bucket(self) -> Bucket:
        """Return a bucket before its first row."""

    @abstractmethod
    def restore(self, snapshot: bytes) -> Bucket:
        """Return the bucket of a snapshot; `update_queries` adds new queries after the replay of the log."""

    def update_queries(self, bucket: Bucket) -> bool:
        """Change a restored bucket to the current queries; return whether its queries have changed."""
        return False

    @abstractmethod
    def late_columns(self, rejected: RejectedRows) -> dict[str, Any]:
        """Return the columns of results that rejected rows have, besides the reason."""

    def output(self, results: pa.Table, rejected: RejectedRows) -> pa.Table:
        """Return results as Spark expects them, with rejected rows if they are kept."""
        if not self.keeps_late:
            return cast_results(results, self.results)
        for field in self.results:
            if field.name not in results.column_names:
                results = results.append_column(field.name, pa.nulls(results.num_rows, field.type))
        table = cast_results(results, self.results)
        if not len(rejected):
            return table
        columns = {**self.late_columns(rejected), "late_reason": rejected.reasons}
        late = [
            columns[field.name] if field.name in columns else pa.nulls(len(rejected), field.type)
            for field in table.schema
        ]
        return pa.concat_tables([table, pa.table(late, schema=table.schema)])


def head_of(content: dict[str, Any], measure: Measure, *positions: str) -> list[Any]:
    """Return positions in a snapshot, and the number of rejected rows; refuse damaged ones."""
    for name in positions:
        if not measure.holds(content[name]):
            raise InvalidState.damaged(f"its {name} is not a position")
    if not is_count(content["rejected"]):
        raise InvalidState.damaged("its number of rejected rows is not a count")
    return [*(content[name] for name in positions), content["rejected"]]


def rejected_rows(rows: pa.Table, on: str, measure: Measure) -> RejectedRows:
    """Return rows that a push rejected, with the reasons."""
    if not rows.num_rows:
        return NONE_REJECTED
    _, valid = measure.positions(rows.column(on), on)
    has_none = np.zeros(rows.num_rows, np.bool_) if valid is None else ~valid
    return RejectedRows(rows, pa.array(np.where(has_none, NO_POSITION, TOO_LATE).tolist(), pa.string()))


def known_position(position: Any, measure: Measure) -> Any:
    """Return a position, or None if it is the lowest, which means no rows so far."""
    return None if position <= measure.lowest else position


def is_count(value: Any) -> bool:
    """Return whether a value can be a number of rows, parts or micro-batches."""
    return type(value) is int and 0 <= value < 2**62


def with_parts(content: Any, *names: str) -> dict[str, Any]:
    """Return unpacked content, which must be a dict with these parts."""
    if not isinstance(content, dict) or not content.keys() >= set(names):
        raise InvalidState.damaged(f"it lacks {', '.join(names)}")
    return content
