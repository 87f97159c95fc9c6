"""Chunks of time that a hot key is cut into, each a bucket of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sash.errors import InvalidState

__all__ = ["Chunk", "HotKey", "by_bucket"]


@dataclass(frozen=True)
class Chunk:
    """A stretch of the time of one key."""

    bucket: int
    start: Any
    end: Any  # for the last chunk, the highest position
    halo: Any  # the start of its halo, the earlier rows that it also gets
    halo_end: Any  # the end of the later rows that it also gets
    rows: int = 0  # the earlier rows that the halo must have, for frames by rows or groups
    later_rows: int = 0

    @property
    def own(self) -> "Chunk":
        """The same chunk without a halo."""
        return replace(self, halo=self.start, halo_end=self.end)

    def check_earlier(self, found: int, lowest: Any) -> None:
        """Refuse a halo with fewer rows than were counted: the source changed, and frames would be wrong."""
        if self.halo > lowest and found < self.rows:
            raise InvalidState.source_changed(self.rows, found)

    def check_later(self, found: int, highest: Any) -> None:
        """Refuse the same for the rows after the chunk."""
        if self.halo_end < highest and found < self.later_rows:
            raise InvalidState.source_changed(self.later_rows, found)


@dataclass(frozen=True)
class HotKey:
    """A key that most rows have, and its chunks; without key columns, all rows."""

    key: tuple[Any, ...]  # Arrow arrays of one value: scalars are pickled as Python values, which end at the year 9999
    chunks: tuple[Chunk, ...]


def by_bucket(hot: Sequence[HotKey]) -> dict[int, Chunk]:
    """Return the chunks of all hot keys by their buckets."""
    return {chunk.bucket: chunk for each in hot for chunk in each.chunks}
