"""Log one warning for each query whose watermark is ahead of the clock."""

import atexit
import logging
import weakref
from collections.abc import Callable
from typing import Any

from sash.spark.monitoring.listener import Listener
from sash.spark.monitoring.progress import Progress, ahead_text

__all__ = ["warn_once", "watch_clock"]

MOST_MILLISECONDS = 2000  # to wait for an event that Spark is telling the listener
_LOG = logging.getLogger("sash")
_watched: "weakref.WeakSet[Any]" = weakref.WeakSet()  # sessions


def warn_once() -> Callable[[str, Progress], None]:
    """Return a function that logs the first micro-batch of each query whose watermark is ahead of the clock."""
    warned: set[str] = set()

    def warn(name: str, now: Progress) -> None:
        if now.ahead is not None and name not in warned:
            warned.add(name)
            _LOG.warning("Query %s: %s", name, ahead_text(now))

    return warn


def watch_clock(rows: Any) -> None:
    """Watch the queries of a session, once; on Spark Connect only `sash.progress` and `sash.why` compare the clock."""
    session = rows.sparkSession
    if hasattr(rows, "_jdf") and session not in _watched:
        _watched.add(session)
        listener = Listener(warn_once())
        session.streams.addListener(listener)
        atexit.register(_remove, session, listener)


def _remove(session: Any, listener: Listener) -> None:
    """Remove a listener before Python ends: Spark would call it, and print a long stack trace for each event."""
    try:
        session.streams.removeListener(listener)
        session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(MOST_MILLISECONDS)
    except Exception as error:
        _LOG.debug("The session has ended before its listener was removed: %s", error)
