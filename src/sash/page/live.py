"""The page of one stream: a server in a thread of its own."""

import asyncio
import html
import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import uvicorn

from sash.errors import InvalidInput
from sash.page import contract, metrics
from sash.page.board import Board
from sash.page.kept_results import KeptResults
from sash.page.records import Inbox, Source
from sash.page.server import application
from sash.page.viewers import Viewers, event

__all__ = ["Page"]

TICK_S = 0.3  # between two updates
START_S = 10.0
CLOSED = "The page was closed."


class Page:
    """A page that shows a stream, made by `sash.page`.

    It is also a context manager, which closes the page at its end. A notebook shows the page as the value of a cell.
    """

    def __init__(
        self,
        source: Source,
        host: str,
        port: int,
        stays: bool,
        keep_results: int = 1_000_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._source, self._host, self._stays = source, host, stays
        self._inbox, self._results = Inbox(), KeptResults(keep_results)
        self._board, self._viewers = Board(self._results, clock), Viewers()
        self._socket = _listen(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._token = secrets.token_urlsafe(24)
        app = application(self, self._viewers, self._token, f"sash_page_{self.port}", host)
        config = uvicorn.Config(
            app, lifespan="off", log_config=None, access_log=False, server_header=False, ws="none", http="h11",
            loop="asyncio", timeout_graceful_shutdown=1, limit_concurrency=200, proxy_headers=False,
        )  # fmt: skip
        logging.getLogger("uvicorn").addHandler(logging.NullHandler())  # a viewer that goes is no news
        self._server = uvicorn.Server(config)
        self._goodbye = ""
        self._reading, self._lock = threading.Lock(), threading.Lock()  # of the source, and of the board
        self._ready, self._end = threading.Event(), threading.Event()
        source.start(self._inbox)
        self._thread = threading.Thread(target=self._run, name="sash-page", daemon=True)
        self._thread.start()
        self._ready.wait(START_S)

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        shown = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{shown}:{self.port}/?token={self._token}"

    @property
    def is_open(self) -> bool:
        """Whether the page still answers."""
        return self._thread.is_alive()

    def close(self) -> None:
        """End the page; the stream continues."""
        self._goodbye = self._goodbye or CLOSED
        self._end.set()
        if self._thread is not threading.current_thread():
            self._thread.join(START_S)

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the page ends."""
        self._thread.join(seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sash.page at {self.url}>" if self.is_open else "<sash.page, closed>"

    def _repr_html_(self) -> str:
        """Return a frame for a notebook."""
        return f'<iframe src="{html.escape(self.url)}" width="100%" height="720" style="border:0"></iframe>'

    # --- the thread ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._ready.set()
            self._source.stop()
            self._socket.close()

    async def _serve(self) -> None:
        serving = asyncio.create_task(self._server.serve([self._socket]))
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.005)
        self._ready.set()
        try:
            while not self._end.is_set() and not serving.done():
                await asyncio.to_thread(self._read)
                self._show()
                await asyncio.sleep(TICK_S)
        except Exception as error:  # the page fails, the stream does not
            self._goodbye = f"The page has failed: {error}"
        finally:
            self._viewers.end(self._goodbye or CLOSED)
            self._server.should_exit = True
            await serving

    def _read(self) -> None:
        """Take everything that came since the last update."""
        with self._reading:
            self._source.poll()
            records, results = self._inbox.take()
        with self._lock:
            for record in records:
                self._board.add(record)
            self._results.add(results)
            stopped = self._board.stopped
        if stopped is not None and not self._stays:
            self._goodbye = stopped.why
            self._end.set()

    def _show(self) -> None:
        with self._lock:
            panels = {name: event(name, data) for name, data in self._board.panels().items()}
        for each in self._results.news():
            panels[f"results of {each['query']}"] = event("results", each)
        self._viewers.show(panels)

    # --- answers, called in worker threads of the server -------------------------------------------------

    def series(self, query: str | None, search: str) -> contract.SeriesList:
        """Return what can be drawn."""
        return self._results.series(query, search)

    def m4(
        self, query: str, key: str, aggregate: str, start: float | None, end: float | None, width: int
    ) -> contract.M4:
        """Return the M4 of a range."""
        return self._results.m4(query, key, aggregate, start, end, width)

    def sharing(self, key: str) -> contract.Sharing:
        """Return the slices of one key."""
        self._source.ask_slices(key)
        self._read()
        with self._lock:
            return self._board.sharing()

    def metrics(self) -> bytes:
        """Return all figures for Prometheus."""
        with self._lock:
            board = self._board
            return metrics.exposition(board.facts, board.figures, board.state, len(self._viewers), self._inbox.missed)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise InvalidInput.option(
            "host and port", f"{host}:{port}", f"free on this machine ({error.strerror})"
        ) from error
    return found
