"""The state of a bucket in Spark's state store: a snapshot, and a log of the micro-batches since.

Idea      A bucket is deterministic, so the log holds what each micro-batch brought, not what it changed: the bytes
          written per micro-batch do not grow with the window. When the log is larger than twice the state, a new
          snapshot is written and the log is emptied.
Picture     head 0                     nonce, (version, version of the snapshot, …)
            snapshot 0 | 1 | …         the state after micro-batch s, in parts
            log s+1 | … | version      nonce, (rows, newest)
            initial 0 | 1 | …          pieces of the rows before the stream, until its first micro-batch
Keeps     L1  the state at `version` is the snapshot, after a replay of the log entries s+1 … version in order
          L2  the log entries of every micro-batch have their own nonce, and the head has that of the last: two states
              with one version and nonce are equal, whichever worker and attempt made them
          L3  the log has at most `log_ratio` times the bytes of a snapshot, or one micro-batch more

A worker holds its buckets from one micro-batch to the next. A worker that missed micro-batches replays them. A bucket
whose nonce is not in the log belongs to an attempt that failed, and is dropped.
"""

import uuid
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.types import BinaryType, LongType, StringType, StructType

from sash.engine.arrow_bytes import batch_of_bytes
from sash.errors import InvalidState
from sash.limits import Limits
from sash.spark.state.bucket import Bucket, MicroBatch, Work, is_count
from sash.spark.wire.pieces import Piece
from sash.swag.state_bytes import pack, unpack
from sash.windows.measure import Measure

__all__ = [
    "HEAD",
    "INITIAL",
    "LOG",
    "SNAPSHOT",
    "STATE_VARIABLE",
    "Head",
    "SnapshotLog",
    "WorkerMemory",
    "initial_entry",
    "initial_piece",
]

_MOST = 1 << 20  # parts, log entries, or buckets: a head with more is damaged

# One map for everything: each state variable costs Spark 9 to 23 ms in every task of every micro-batch. The schemas are
# objects: Spark would have to parse a text.
STATE_VARIABLE = (
    "snapshot_log",
    StructType().add("kind", StringType()).add("number", LongType()),
    StructType().add("nonce", BinaryType()).add("data", BinaryType()),
)
HEAD, SNAPSHOT, LOG, INITIAL = "head", "snapshot", "log", "initial"
_HEAD, _INITIAL = b"SASHHED\0", b"SASHINI\0"


@dataclass(frozen=True)
class Head:
    """The head of a bucket in the state store: it describes the other entries."""

    version: int
    nonce: bytes
    snapshot: int  # the version of the snapshot
    parts: int  # of the snapshot
    log_bytes: int
    buckets: int

    def to_bytes(self) -> bytes:
        return pack((self.version, self.snapshot, self.parts, self.log_bytes, self.buckets), _HEAD)

    @classmethod
    def from_bytes(cls, nonce: bytes, data: bytes) -> "Head":
        content = unpack(data, _HEAD, "head")
        if not isinstance(content, tuple) or len(content) != 5 or not all(is_count(each) for each in content):
            raise InvalidState.damaged("the counts of its head are not counts")
        version, snapshot, parts, log_bytes, buckets = content
        if not snapshot <= version <= snapshot + _MOST or not parts <= _MOST or buckets > _MOST:
            raise InvalidState.damaged("the counts of its head are too large")
        return cls(version, nonce, snapshot, parts, log_bytes, buckets)


def initial_entry(piece: Piece) -> bytes:
    """Return a piece of the rows before the stream as an entry of the store."""
    return pack((piece.bucket, piece.task, piece.number, piece.rows, piece.newest, piece.data.to_pybytes()), _INITIAL)


def initial_piece(data: bytes, measure: Measure, schema: pa.Schema) -> Piece:
    """Read such an entry, whose rows have this schema; refuse damaged bytes."""
    content = unpack(data, _INITIAL, "piece")
    if not isinstance(content, tuple) or len(content) != 6:
        raise InvalidState.damaged("a piece of its initial rows is not a piece")
    bucket, task, number, rows, newest, packed = content
    # Numbers of tasks and pieces may be negative.
    if not all(type(each) is int for each in (bucket, task, number)) or not is_count(rows):
        raise InvalidState.damaged("the counts of its initial rows are not counts")
    if newest is not None and not measure.holds(newest):
        raise InvalidState.damaged("the newest position of its initial rows is not a position")
    if type(packed) is not bytes:
        raise InvalidState.damaged("its initial rows are not bytes")
    if rows:
        batch_of_bytes(packed, schema)
    return Piece(bucket, task, number, rows, None, newest, pa.py_buffer(packed))


@dataclass
class _CachedBucket:
    """A bucket in the memory of this worker."""

    version: int
    nonce: bytes
    bucket: Bucket


class WorkerMemory:
    """The buckets in a worker's memory, by stream and number; the least recently used are dropped first."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, int], _CachedBucket] = OrderedDict()

    def __iter__(self) -> Iterator[_CachedBucket]:
        return iter(self._held.values())

    def take(self, stream: str, number: int) -> _CachedBucket | None:
        """Remove a bucket and return it, so that a failed attempt leaves no bucket in memory."""
        return self._held.pop((stream, number), None)

    def hold(self, stream: str, number: int, held: _CachedBucket, most_bytes: int) -> None:
        """Keep a bucket, and as many others as fit."""
        self._held[stream, number] = held
        nbytes = sum(each.bucket.nbytes for each in self._held.values())
        while nbytes > most_bytes and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            nbytes -= dropped.bucket.nbytes


_OF_THIS_PROCESS = WorkerMemory()


class SnapshotLog:
    """The state store of one task, bucket by bucket."""

    def __init__(
        self,
        handle: Any,  # of Spark's state operator
        work: Work,
        stream: str,
        buckets: int,
        limits: Limits,
        memory: WorkerMemory | None = None,
    ) -> None:
        self._entries = handle.getMapState(*STATE_VARIABLE)
        self._work, self._stream, self._buckets, self._limits = work, stream, buckets, limits
        self._memory = _OF_THIS_PROCESS if memory is None else memory
        self.written_bytes = 0  # by the last micro-batch

    def read(self, number: int) -> tuple[Bucket, Head, bool]:
        """Return a bucket, its head, and whether its queries have changed since the last micro-batch."""
        found = self._entry(HEAD, 0)
        if found is None:
            bucket = self._work.new_bucket()
            return bucket, Head(0, b"", 0, self._write_snapshot(bucket.snapshot()), 0, self._buckets), False
        head = Head.from_bytes(*found)
        if head.buckets != self._buckets:
            raise InvalidState.partitions(head.buckets, self._buckets)
        held = self._memory.take(self._stream, number)
        if held is not None and self._catch_up(held, head):
            return held.bucket, head, False
        parts = [self._existing(SNAPSHOT, part)[1] for part in range(head.parts)]
        bucket = self._work.restore(b"".join(parts))
        self._replay(bucket, head.snapshot, head.version)
        return bucket, head, self._work.update_queries(bucket)

    def _catch_up(self, held: _CachedBucket, head: Head) -> bool:
        """Replay the micro-batches that other workers had; return False if the bucket is of a failed attempt."""
        if held.nonce == head.nonce:
            return True
        if not head.snapshot < held.version < head.version or self._existing(LOG, held.version)[0] != held.nonce:
            return False
        self._replay(held.bucket, held.version, head.version)
        return True

    def _replay(self, bucket: Bucket, after: int, until: int) -> None:
        for version in range(after + 1, until + 1):
            bucket.replay(MicroBatch.from_bytes(self._existing(LOG, version)[1], bucket.measure))

    def _existing(self, kind: str, number: int) -> tuple[bytes, bytes]:
        """Return an entry of the snapshot or of the log; refuse a state that lacks it."""
        found = self._value(kind, number)
        if found is None:
            what = f"part {number} of its snapshot" if kind == SNAPSHOT else f"micro-batch {number} of its log"
            raise InvalidState.damaged(f"{what} is missing")
        return found

    def _entry(self, kind: str, number: int) -> tuple[bytes, bytes] | None:
        """Return an entry that may be missing: if one reads the value of a missing key, Spark logs a warning."""
        return self._value(kind, number) if self._entries.containsKey((kind, number)) else None

    def _value(self, kind: str, number: int) -> tuple[bytes, bytes] | None:
        found = self._entries.getValue((kind, number))
        return None if found is None else (bytes(found[0]), bytes(found[1]))

    def write_initial(self, number: int, piece: Piece) -> None:
        """Keep rows from before the stream: Spark gives them in the first micro-batch only, which may have no rows."""
        self._write(INITIAL, number, b"", initial_entry(piece))

    def take_initial(self, schema: pa.Schema) -> list[Piece]:
        """Return the pieces of rows from before the stream, and remove them from the store."""
        pieces: list[Piece] = []
        while (found := self._entry(INITIAL, len(pieces))) is not None:
            pieces.append(initial_piece(found[1], self._work.measure, schema))
            self._entries.removeKey((INITIAL, len(pieces) - 1))
        return pieces

    def _write(self, kind: str, number: int, nonce: bytes, data: bytes) -> None:
        self._entries.updateValue((kind, number), (nonce, data))

    def write(self, number: int, bucket: Bucket, head: Head, batches: list[MicroBatch], is_changed: bool) -> None:
        """Add micro-batches that the bucket has had to the log, or write a snapshot if that is less."""
        nonce = uuid.uuid4().bytes
        version = head.version + len(batches)
        self.written_bytes = 0
        if is_changed or head.log_bytes + sum(batch.rows.nbytes for batch in batches) > self._most_log_bytes(bucket):
            parts = self._write_snapshot(bucket.snapshot(), head)
            new = Head(version, nonce, version, parts, 0, self._buckets)
        else:
            for entry, batch in enumerate(batches, head.version + 1):
                data = batch.to_bytes()
                self._write(LOG, entry, nonce, data)
                self.written_bytes += len(data)
            new = replace(head, version=version, nonce=nonce, log_bytes=head.log_bytes + self.written_bytes)
        self._write(HEAD, 0, nonce, new.to_bytes())
        self._memory.hold(self._stream, number, _CachedBucket(version, nonce, bucket), self._limits.held_bytes)

    def _write_snapshot(self, snapshot: bytes, old: Head | None = None) -> int:
        """Write a snapshot in parts and return their number; remove the old parts and the log."""
        size = self._limits.part_bytes
        parts = [snapshot[at : at + size] for at in range(0, len(snapshot), size)]
        for number, part in enumerate(parts):
            self._write(SNAPSHOT, number, b"", part)
        if old is not None:
            for number in range(len(parts), old.parts):
                self._entries.removeKey((SNAPSHOT, number))
            for version in range(old.snapshot + 1, old.version + 1):
                self._entries.removeKey((LOG, version))
        self.written_bytes += len(snapshot)
        return len(parts)

    def _most_log_bytes(self, bucket: Bucket) -> int:
        return max(self._limits.log_ratio * bucket.snapshot_nbytes, self._limits.small_log_bytes)
