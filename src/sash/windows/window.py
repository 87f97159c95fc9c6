"""The base class of windows.

Context   The rows that determine where windows start and end (Li et al., 2005):
            free           none: tumbling, sliding, cumulative, landmark, and count windows by rank
            forward-free   the rows before a position determine all edges before it: punctuated, session
            forward-aware  rows after a position can add an edge before it: the last rows at regular positions
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, TypeVar

from sash.report import Call
from sash.windows.measure import Measure

__all__ = ["Context", "Window", "call_of"]

W = TypeVar("W", bound="Window")


class Context(Enum):
    """The rows that determine the edges of windows; see the module."""

    FREE = "context-free"
    FORWARD_FREE = "forward-context-free"
    FORWARD_AWARE = "forward-context-aware"


@dataclass(frozen=True, repr=False)
class Window(Call, ABC):
    """A window as a frozen description.

    >>> import sash
    >>> isinstance(sash.tumbling(10), sash.Window), str(sash.session(gap="5s"))
    (True, 'session gap 5s')
    >>> sash.sliding("1 hour", every="5 minutes")
    sash.sliding('1h', every='5m')
    """

    context: ClassVar[Context]
    by_count: ClassVar[bool] = False  # its edges are ranks of rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, besides `on`, that determine where it starts and ends."""
        return ()

    @property
    def flags(self) -> tuple[str, ...]:
        """The boolean columns whose true values open windows."""
        return ()

    @property
    def finest(self) -> float:
        """The shortest of its lengths: where the spacing of floats is larger, edges would coincide."""
        return math.inf

    @property
    def furthest(self) -> float:
        """The largest distance from zero at which its windows are defined; rows beyond have no position."""
        return math.inf

    def on(self: W, measure: Measure) -> W:
        """Return the window with lengths in positions; raise an error if a length does not fit the measure."""
        return self

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return f"<{self}>"


def call_of(function: str, *values: object, **named: object) -> str:
    """Return the call that makes a window, as a user writes it; arguments that are None are left out.

    >>> call_of("sliding", 10, every=2, zone=None)
    'sash.sliding(10, every=2)'
    """
    given = [repr(each) for each in values if each is not None]
    given += [f"{name}={each!r}" for name, each in named.items() if each is not None]
    return f"sash.{function}({', '.join(given)})"
