"""The windows of all techniques, in whole numbers, and the arithmetic of their edges."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable
from sash.errors import InvalidInput

__all__ = ["FOREVER", "NEVER", "Kind", "Layout", "Window", "first_open", "next_edge"]

NEVER = -(2**62)  # before every position
FOREVER = 2**62  # after every position


class Kind(Enum):
    """What decides where a window begins and ends."""

    TIME = "time"
    COUNT = "count"
    SESSION = "session"
    PUNCTUATED = "punctuated"


@dataclass(frozen=True)
class Window:
    """One window definition.

    time        [offset + n · every, … + size), by position; emitted when its end ≤ watermark
    count       ranks [i · every, … + size), rows ranked by position, then arrival; emitted when it is complete and
                all of its rows lie before the watermark
    session     rows at most `size` apart; [first, last + size), emitted when last + size < watermark
    punctuated  from one mark to the next, the first one from the first row; emitted when its end ≤ watermark
    """

    kind: Kind
    size: int = 0
    every: int = 1
    offset: int = 0

    def __post_init__(self) -> None:
        if self.kind is not Kind.PUNCTUATED and self.size < 1:
            raise InvalidInput.at_least("size", self.size, 1)
        if self.every < 1:
            raise InvalidInput.at_least("every", self.every, 1)
        if self.kind is Kind.COUNT and self.every > self.size:
            raise InvalidInput.option("every", self.every, f"at most {self.size}, the size of a count window")

    @classmethod
    def time(cls, size: int, every: int | None = None, offset: int = 0) -> "Window":
        return cls(Kind.TIME, size, size if every is None else every, offset)

    @classmethod
    def count(cls, size: int, every: int | None = None) -> "Window":
        return cls(Kind.COUNT, size, size if every is None else every)

    @classmethod
    def session(cls, gap: int) -> "Window":
        return cls(Kind.SESSION, gap)

    @classmethod
    def punctuated(cls) -> "Window":
        return cls(Kind.PUNCTUATED)


class Layout:
    """Windows as kernels read them: an array per property; a place of -1 means that there is none of the kind."""

    def __init__(self, windows: tuple[Window, ...]) -> None:
        if not windows:
            raise InvalidInput.option("windows", windows, "at least one window")
        by_kind = {kind: [place for place, each in enumerate(windows) if each.kind is kind] for kind in Kind}
        for kind in (Kind.SESSION, Kind.PUNCTUATED):
            if len(by_kind[kind]) > 1:
                raise InvalidInput.option("windows", windows, f"with at most one {kind.value} window")
        self.windows = windows
        self.times = self._layout(by_kind[Kind.TIME])
        self.counts = self._layout(by_kind[Kind.COUNT])
        self.session = by_kind[Kind.SESSION][0] if by_kind[Kind.SESSION] else -1
        self.gap = windows[self.session].size if self.session >= 0 else -1
        self.punctuated = by_kind[Kind.PUNCTUATED][0] if by_kind[Kind.PUNCTUATED] else -1

    def _layout(self, places: list[int]) -> tuple[Any, Any, Any, Any]:
        chosen = [self.windows[place] for place in places]
        columns = (places, [w.size for w in chosen], [w.every for w in chosen], [w.offset for w in chosen])
        which, sizes, everys, offsets = (np.array(column, np.int64) for column in columns)
        return which, sizes, everys, offsets

    def first_open_windows(self, watermark: int) -> Any:
        """Return, for each time window, the number of the first that ends after the watermark."""
        _which, sizes, everys, offsets = self.times
        return (watermark - sizes - offsets) // everys + 1


@jitable
def first_open(position: int, size: int, every: int, offset: int) -> int:
    """Return the number of the first window that ends after a position."""
    return (position - size - offset) // every + 1


@jitable
def next_edge(position: int, every: int, offset: int) -> int:
    """Return the first of the edges offset + n · every after a position."""
    return offset + ((position - offset) // every + 1) * every
