"""What a micro-batch brings to a bucket, and the entry of the log that holds it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from sash.engine.arrow_bytes import table_bytes, table_of_bytes
from sash.errors import InvalidState
from sash.swag.state_bytes import pack, unpack
from sash.windows.measure import Measure

__all__ = ["MicroBatch", "is_count", "with_parts"]

_MAGIC = b"SASHMBT\0"


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
        return pack(content, _MAGIC)

    @classmethod
    def from_bytes(cls, data: bytes, measure: Measure) -> "MicroBatch":
        """Read an entry of the log; refuse damaged bytes."""
        content = with_parts(unpack(data, _MAGIC, "micro-batch"), "rows", "newest", "far", "end")
        newest, far_rows, is_end = content["newest"], content["far"], content["end"]
        if newest is not None and not measure.holds(newest):
            raise InvalidState.damaged("the newest position of a micro-batch is not a position")
        if not is_count(far_rows) or not isinstance(is_end, bool):
            raise InvalidState.damaged("the counts of a micro-batch are not counts")
        return cls(table_of_bytes(content["rows"]), newest, far_rows, is_end)


def is_count(value: Any) -> bool:
    """Return whether a value can be a number of rows, parts or micro-batches."""
    return type(value) is int and 0 <= value < 2**62


def with_parts(content: Any, *names: str) -> dict[str, Any]:
    """Return unpacked content, which must be a dict with these parts."""
    if not isinstance(content, dict) or not content.keys() >= set(names):
        raise InvalidState.damaged(f"it lacks {', '.join(names)}")
    return content
