"""One call at a time: what a window or a stream remembers is changed in place, by kernels that let other threads run.

A call from another thread waits until the one that runs is done. A call from within it, by a function of the user that
it called, can wait for nothing: it is refused.
"""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sash.errors import CallWithinCall

__all__ = ["Guard", "guarded"]


class Guard:
    """The lock of one object; a copy of the object has one of its own."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.running = ""  # the method that runs, by name

    def __reduce__(self) -> Any:
        return Guard, ()


class _Guarded(Protocol):
    _guard: Guard


Own = TypeVar("Own", bound=_Guarded)
P = ParamSpec("P")
R = TypeVar("R")


def guarded(method: Callable[Concatenate[Own, P], R]) -> Callable[Concatenate[Own, P], R]:
    """Let a method of an object run when no other of them does: 0.3 µs for each call."""
    name = method.__name__

    @wraps(method)
    def alone(self: Own, /, *arguments: P.args, **named: P.kwargs) -> R:
        guard = self._guard
        with guard.lock:
            if guard.running:
                raise CallWithinCall.of(type(self).__name__.lower(), name, guard.running)
            guard.running = name
            try:
                return method(self, *arguments, **named)
            finally:
                guard.running = ""

    return alone
