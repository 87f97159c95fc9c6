"""What sash is doing at the moment, so that work that takes long can be shown.

Calls open steps with `doing`. `watchers` are called when the first step opens and when the last one ends; without a
watcher, steps cost nothing.
"""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

__all__ = ["Step", "doing", "steps", "watchers"]


class Step:
    """A part of the work: what is done, the table that it is done with, and when it began."""

    __slots__ = ("began", "table", "what")

    def __init__(self, what: str, table: Any = None) -> None:
        self.what, self.table = what, table

    def __enter__(self) -> None:
        if watchers:
            self.began = time.monotonic()
            steps.append(self)
            if len(steps) == 1:
                _call(True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self in steps:
            steps.remove(self)
            if not steps:
                _call(False)


steps: list[Step] = []  # open ones, the oldest first; those of all threads
watchers: list[Callable[[bool], None]] = []  # called with True when work begins, with False when all of it has ended


def doing(what: str, table: Any = None) -> Step:
    """Say what is done, as a context.

    >>> with doing("sorting rows"):
    ...     pass
    """
    return Step(what, table)


def _call(begins: bool) -> None:
    for watch in watchers:
        watch(begins)
