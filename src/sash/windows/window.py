"""What every window says of itself.

Context   how much of the stream one must have seen to know where windows start and end (Li et al., 2005):
            free           nothing: tumbling, sliding, cumulative, landmark, and count windows by rank
            forward-free   all rows before a position tell all edges before it: punctuated, session
            forward-aware  rows after a position may still tell of an edge before it: the last rows every so often
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import ClassVar, TypeVar

from sash.windows.measure import Measure

__all__ = ["Context", "Window"]

W = TypeVar("W", bound="Window")


class Context(Enum):
    """What one must know of the stream to tell the edges of windows."""

    FREE = "context-free"
    FORWARD_FREE = "forward-context-free"
    FORWARD_AWARE = "forward-context-aware"


@dataclass(frozen=True)
class Window(ABC):
    """A frozen description, as users write it.

    >>> import sash
    >>> isinstance(sash.tumbling(10), sash.Window), str(sash.session(gap="5s"))
    (True, 'session gap 5s')
    """

    context: ClassVar[Context]
    by_count: ClassVar[bool] = False  # its edges are ranks of rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide where it starts and ends, besides `on`."""
        return ()

    @property
    def flags(self) -> tuple[str, ...]:
        """The boolean columns whose true values open windows."""
        return ()

    @property
    def finest(self) -> float:
        """The shortest of its lengths: where floats are coarser than that, edges would fall together."""
        return math.inf

    @property
    def furthest(self) -> float:
        """How far from zero its windows can be told; rows beyond have no position."""
        return math.inf

    def on(self: W, measure: Measure) -> W:
        """The same window in positions; a length that does not fit the measure is refused."""
        return self

    @abstractmethod
    def __str__(self) -> str: ...

    def _repr_html_(self) -> str:
        """In a notebook: as it is written."""
        return f"<code>{escape(str(self))}</code>"
