"""The process of a page: updates come from the stream, and HTML and events go to browsers.

`sash.page` starts it, so that neither the web server nor the drawing takes time from the process of the stream. It ends
with the last update, or with the process that started it.
"""

import asyncio
import json
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import BinaryIO

import pyarrow.acero  # noqa: F401  # now, and not when the first results come
import uvicorn

from sash.page import contract, metrics
from sash.page.board import Board
from sash.page.kept_results import KeptResults
from sash.page.server import application
from sash.page.transport import Settings, Update, read_settings, read_update
from sash.page.viewers import Viewers, event

__all__ = ["Served", "main"]

TICK_S = 1.0  # without an update
ANSWER_S = 2.0  # for a question to the stream
MOST_ASKED = 8  # questions under way: a pipe has room for more of them, so that putting one never waits
LOST = "The process of the stream has ended."


class Served:
    """Everything that viewers can see of a stream."""

    def __init__(
        self, keep_results: int, put_question: Callable[[str], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._results = KeptResults(keep_results)
        self._board, self._put_question = Board(self._results, clock), put_question
        self.viewers = Viewers(before_first=self.show)
        self._changed = threading.Condition()
        self._missed = self._asked = self._answered = 0

    def add(self, update: Update) -> None:
        """Take an update; called in the thread that reads the pipe."""
        with self._changed:
            for record in update.records:
                self._board.add(record)
            if update.results is not None:
                self._results.add([update.results])
            self._missed, self._answered = update.missed, update.answered
            self._changed.notify_all()

    def show(self) -> None:
        """Send what has changed; called in the event loop."""
        with self._changed:
            panels = {name: event(name, data) for name, data in self._board.panels().items()}
        for each in self._results.news():
            panels[f"results of {each['query']}"] = event("results", each)
        self.viewers.show(panels)

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
        """Return the slices of one key; ask the stream for them."""
        with self._changed:
            if self._asked - self._answered < MOST_ASKED:
                self._asked += 1
                self._put_question(key)
            number = self._asked
            self._changed.wait_for(lambda: self._answered >= number, ANSWER_S)
            return self._board.sharing()

    def metrics(self) -> bytes:
        """Return all figures for Prometheus."""
        with self._changed:
            board = self._board
            return metrics.exposition(board.facts, board.figures, board.state, len(self.viewers), self._missed)


async def serve(served: Served, settings: Settings, updates: BinaryIO) -> None:
    """Answer browsers until the last update."""
    app = application(served, served.viewers, settings.token, f"sash_page_{settings.port}", settings.host)
    config = uvicorn.Config(
        app, lifespan="off", log_config=None, access_log=False, server_header=False, ws="none", http="h11",
        loop="asyncio", timeout_graceful_shutdown=1, limit_concurrency=200, proxy_headers=False,
    )  # fmt: skip
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())  # a viewer that goes is no news
    server, loop, news = uvicorn.Server(config), asyncio.get_running_loop(), asyncio.Event()
    goodbye: list[str] = []

    def read() -> None:
        try:
            while not goodbye:
                update = read_update(updates)
                served.add(update)
                if update.goodbye:
                    goodbye.append(update.goodbye)
                loop.call_soon_threadsafe(news.set)
        except EOFError:
            goodbye.append(LOST)
        except Exception as error:  # the page fails, the stream does not
            goodbye.append(f"The page has failed: {error}")
        loop.call_soon_threadsafe(news.set)

    parent = os.getppid()
    threading.Thread(target=read, name="sash-page-updates", daemon=True).start()
    serving = asyncio.create_task(server.serve([socket.socket(fileno=settings.socket)]))
    try:
        while not goodbye and not serving.done() and os.getppid() == parent:
            try:
                async with asyncio.timeout(TICK_S):
                    await news.wait()
            except TimeoutError:
                pass
            news.clear()
            if len(served.viewers):
                served.show()
    except Exception as error:
        goodbye.append(f"The page has failed: {error}")
    finally:
        served.viewers.end(goodbye[0] if goodbye else LOST)
        server.should_exit = True
        await serving


def main() -> None:
    """Serve a page; the pipes are the standard input and output."""
    # Only questions go to the stream, whatever a package prints.
    updates, questions = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    settings = read_settings(updates)

    def put_question(key: str) -> None:
        print(json.dumps(key), file=questions, flush=True)

    asyncio.run(serve(Served(settings.keep_results, put_question), settings, updates))


if __name__ == "__main__":
    main()
