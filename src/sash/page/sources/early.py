"""The page of a query that has not started yet: Spark takes some seconds to start."""

import threading

from sash.page.records import Figures, Inbox, Source, StreamFacts

__all__ = ["EarlySource"]


class EarlySource:
    """Shows one sentence until it gets the source that it then follows."""

    def __init__(self, title: str, why: str) -> None:
        self._facts, self._why = StreamFacts(title, "number", (), None, 0.0, ()), why
        self._inbox = Inbox()
        self._source: Source | None = None
        self._lock = threading.Lock()

    def follow(self, source: Source) -> None:
        """Read this source from now on."""
        with self._lock:
            source.start(self._inbox)
            self._source = source

    def start(self, inbox: Inbox) -> None:
        with self._lock:
            self._inbox = inbox
            inbox.put(self._facts)
            inbox.put(Figures(why=self._why))

    def poll(self) -> None:
        with self._lock:
            if self._source is not None:
                self._source.poll()

    def ask_slices(self, key: str) -> None:
        with self._lock:
            if self._source is not None:
                self._source.ask_slices(key)

    def stop(self) -> None:
        with self._lock:
            if self._source is not None:
                self._source.stop()
