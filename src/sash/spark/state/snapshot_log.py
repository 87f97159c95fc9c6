"""The state of a bucket in Spark's state store: a base, and the micro-batches since.

Idea      Live work is a function of what it was given, so a micro-batch is written down as what it brought, not as
          what it changed: state written per micro-batch does not grow with the window. When the micro-batches since the
          base weigh more than the memory itself, the memory is written as a new base and they are dropped.
Picture     head 0                    nonce, (version, base version, …)
            base 0 | 1 | …            the memory after micro-batch `base version`, in parts
            step b+1 | … | version    nonce, (rows, newest)
            before 0 | 1 | …          lines from before the stream began, until its first micro-batch takes them up
Keeps     J1  the memory at `version` is the base, given the steps b+1 … version in order
          J2  the steps of every micro-batch have a nonce of their own, and the head that of the last: two memories of
              one version and nonce are the same, whichever worker and attempt made them
          J3  steps weigh at most `_HEAVY` times the memory, or a step and a base have just been written

A worker keeps the memory of its buckets from one micro-batch to the next. One that missed some takes up the steps
since; one whose nonce is not in the journal was part of an attempt that failed, and is dropped.
"""

import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructType

from sash.errors import InvalidState
from sash.spark.state.bucket import Live, Step, Work, is_count
from sash.swag.saved import pack, unpack

__all__ = ["BASE", "BEFORE", "HEAD", "JOURNAL", "STEP", "Head", "SnapshotLog", "noted_line", "packed_line"]

_PART = 4 << 20  # bytes of a base in one entry of the store
_HEAVY = 2
_LIGHT = 1 << 16  # steps below it are no reason to write a base
_MOST = 1 << 20  # parts, micro-batches since a base, or buckets: whoever claims more is not to be followed

# One map for all of it: each variable costs Spark 9 to 23 ms in every task of every micro-batch. And the schemas as
# they are: a text would be sent to Spark to be read.
JOURNAL = (
    "journal",
    StructType().add("kind", StringType()).add("number", LongType()),
    StructType().add("nonce", BinaryType()).add("data", BinaryType()),
)
HEAD, BASE, STEP, BEFORE = "head", "base", "step", "before"
_HEAD, _BEFORE = b"SASHHED\0", b"SASHBFR\0"


@dataclass(frozen=True)
class Head:
    version: int
    nonce: bytes
    base: int  # the version of the base
    parts: int
    steps_bytes: int  # of the steps since
    buckets: int

    def packed(self) -> bytes:
        return pack((self.version, self.base, self.parts, self.steps_bytes, self.buckets), _HEAD)

    @classmethod
    def unpacked(cls, nonce: bytes, data: bytes) -> "Head":
        content = unpack(data, _HEAD, "journal")
        if not isinstance(content, tuple) or len(content) != 5 or not all(is_count(each) for each in content):
            raise InvalidState.damaged("its head does not count what it should")
        version, base, parts, steps_bytes, buckets = content
        if not base <= version <= base + _MOST or not parts <= _MOST or buckets > _MOST:
            raise InvalidState.damaged("its head counts more than there can be")
        return cls(version, nonce, base, parts, steps_bytes, buckets)


def packed_line(line: Sequence[Any]) -> bytes:
    """A line from before the stream, to be kept."""
    *told, piece = line
    return pack((*told, bytes(piece)), _BEFORE)


def noted_line(data: bytes) -> tuple[Any, ...]:
    """A line that was kept."""
    line = unpack(data, _BEFORE, "journal")
    if not isinstance(line, tuple):
        raise InvalidState.damaged("a line from before the stream is none")
    return line


@dataclass
class _Held:
    """The memory of a bucket in this worker."""

    version: int
    nonce: bytes
    live: Live


# By stream and bucket; the one that was not used for the longest time goes first.
_HELD: OrderedDict[tuple[str, int], _Held] = OrderedDict()


class SnapshotLog:
    """The state store of one task, bucket after bucket."""

    def __init__(self, handle: StatefulProcessorHandle, work: Work, stream: str, buckets: int, held_bytes: int) -> None:
        self._entries = handle.getMapState(*JOURNAL)
        self._work, self._stream, self._buckets, self._held_bytes = work, stream, buckets, held_bytes
        self.written = 0  # bytes, of the last micro-batch

    def memory(self, bucket: int) -> tuple[Live, Head, bool]:
        """What a bucket remembers, its head, and whether its queries have changed since the last micro-batch."""
        found = self._entry(HEAD, 0)
        if found is None:
            live = self._work.fresh()
            return live, Head(0, b"", 0, self._write_base(live.saved()), 0, self._buckets), False
        head = Head.unpacked(*found)
        if head.buckets != self._buckets:
            raise InvalidState.partitions(head.buckets, self._buckets)
        held = _HELD.pop((self._stream, bucket), None)
        if held is not None and self._catch_up(held, head):
            return held.live, head, False
        parts = [self._part(part) for part in range(head.parts)]
        live = self._work.restored(b"".join(parts))
        for version in range(head.base + 1, head.version + 1):
            self._again(live, self._step(version)[1])
        return live, head, self._work.caught_up(live)

    def _catch_up(self, held: _Held, head: Head) -> bool:
        """Take up the micro-batches that another worker had; whether there were none it did not have in common."""
        if held.nonce == head.nonce:
            return True
        if not head.base < held.version < head.version or self._step(held.version)[0] != held.nonce:
            return False
        for version in range(held.version + 1, head.version + 1):
            self._again(held.live, self._step(version)[1])
        return True

    def _again(self, live: Live, data: bytes) -> None:
        live.push(Step.unpacked(data, live.measure))

    def _part(self, part: int) -> bytes:
        found = self._entry(BASE, part)
        if found is None:
            raise InvalidState.damaged(f"part {part} of its base is missing")
        return found[1]

    def _step(self, version: int) -> tuple[bytes, bytes]:
        found = self._entry(STEP, version)
        if found is None:
            raise InvalidState.damaged(f"micro-batch {version} of its journal is missing")
        return found

    def _entry(self, kind: str, number: int) -> tuple[bytes, bytes] | None:
        found = self._entries.getValue((kind, number))
        return None if found is None else (bytes(found[0]), bytes(found[1]))

    def note(self, number: int, line: Sequence[Any]) -> None:
        """Keep a line from before the stream: Spark tells it in the first micro-batch only, and rows may come later."""
        self._write(BEFORE, number, b"", packed_line(line))

    def noted(self) -> list[tuple[Any, ...]]:
        """The lines from before the stream began, which are forgotten now."""
        lines: list[tuple[Any, ...]] = []
        while (found := self._entry(BEFORE, len(lines))) is not None:
            lines.append(noted_line(found[1]))
            self._entries.removeKey((BEFORE, len(lines) - 1))
        return lines

    def _write(self, kind: str, number: int, nonce: bytes, data: bytes) -> None:
        self._entries.updateValue((kind, number), (nonce, data))

    def write(self, bucket: int, live: Live, head: Head, steps: list[Step], is_changed: bool) -> None:
        """Write down what a micro-batch brought, or what is remembered if that is less."""
        nonce = uuid.uuid4().bytes
        version = head.version + len(steps)
        self.written = 0
        if is_changed or head.steps_bytes + sum(each.rows.nbytes for each in steps) > self._most(live):
            parts = self._write_base(live.saved(), head)
            new = Head(version, nonce, version, parts, 0, self._buckets)
        else:
            for number, step in enumerate(steps, head.version + 1):
                data = step.packed()
                self._write(STEP, number, nonce, data)
                self.written += len(data)
            new = replace(head, version=version, nonce=nonce, steps_bytes=head.steps_bytes + self.written)
        self._write(HEAD, 0, nonce, new.packed())
        self._hold(bucket, _Held(version, nonce, live))

    def _most(self, live: Live) -> int:
        return max(_HEAVY * live.weight, _LIGHT)

    def _write_base(self, saved: bytes, old: Head | None = None) -> int:
        """The memory as a new base, in parts; what it takes the place of is dropped."""
        parts = [saved[at : at + _PART] for at in range(0, len(saved), _PART)]
        for number, part in enumerate(parts):
            self._write(BASE, number, b"", part)
        if old is not None:
            for number in range(len(parts), old.parts):
                self._entries.removeKey((BASE, number))
            for version in range(old.base + 1, old.version + 1):
                self._entries.removeKey((STEP, version))
        self.written += len(saved)
        return len(parts)

    def _hold(self, bucket: int, held: _Held) -> None:
        _HELD[self._stream, bucket] = held
        weight = sum(each.live.nbytes for each in _HELD.values())
        while weight > self._held_bytes and len(_HELD) > 1:
            _, gone = _HELD.popitem(last=False)
            weight -= gone.live.nbytes
