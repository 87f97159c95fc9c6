"""Chunks of time that a hot key is cut into, each a bucket of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sash.errors import InvalidState

__all__ = ["Chunk", "HotKey", "by_bucket"]


@dataclass(frozen=True)
class Chunk:
    """A stretch of one key's time."""

    bucket: int
    start: Any
    end: Any  # the highest position there is: the last chunk
    halo: Any  # from here on it is sent the rows before its start
    rows: int = 0  # that must be among these, for frames by rows

    def check(self, before: int, lowest: Any) -> None:
        """The rows that were counted are there: a source that changes while it is read would give wrong frames."""
        if self.halo > lowest and before < self.rows:
            raise InvalidState.source_changed(self.rows, before)


@dataclass(frozen=True)
class HotKey:
    """A key that most rows have, and its chunks; without key columns, all rows."""

    key: tuple[Any, ...]  # Arrow arrays of one value: scalars travel as Python's values, which end at the year 9999
    chunks: tuple[Chunk, ...]


def by_bucket(hot: Sequence[HotKey]) -> dict[int, Chunk]:
    """The chunks of all such keys."""
    return {chunk.bucket: chunk for each in hot for chunk in each.chunks}
