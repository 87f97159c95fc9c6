"""Pages for tests: a source that tests feed by hand, and requests with every header under control."""

import http.client
import json
import time
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, urlsplit

from sash.page.live import Page
from sash.page.records import Figures, Inbox, QueryFacts, StreamFacts

FACTS = StreamFacts("test", "number", ("k",), 2.0, 0.0, (QueryFacts("q", "q: tumbling 10: x=max('x')", ("x",)),))


class HandSource:
    """Puts what tests put."""

    def __init__(self) -> None:
        self.inbox, self.is_stopped = Inbox(), False
        self.asked: list[str] = []
        self.fails: Exception | None = None

    def start(self, inbox: Any) -> None:
        self.inbox = inbox
        inbox.put(FACTS)
        inbox.put(Figures(batch=1, rows=10, watermark=5.0, newest=7.0, why="It waits."))

    def poll(self) -> None:
        if self.fails is not None:
            raise self.fails

    def ask_slices(self, key: Any) -> None:
        self.asked.append(key)

    def stop(self) -> None:
        self.is_stopped = True


def hand_page(**options: Any) -> Any:
    source = HandSource()
    return source, Page(source, options.pop("host", "127.0.0.1"), 0, options.pop("stays", False), **options)


def wait_until(is_true: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)


def token_of(page: Any) -> Any:
    return parse_qs(urlsplit(page.url).query)["token"][0]


def ask(page: Any, path: Any, *, method: Any = "GET", token: Any = True, headers: Any = None, **parameters: Any) -> Any:
    """Return the response, its headers and its body."""
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
    if token is True:
        token = token_of(page)
    given = {**({"token": token} if token else {}), **parameters}
    query = "&".join(f"{name}={quote(str(value))}" for name, value in given.items())
    connection.request(method, f"{path}?{query}", headers=headers or {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


class Events:
    """An open connection to /events; the fixture `closed_events` closes those that a test leaves open."""

    opened: ClassVar[list[Any]] = []

    def __init__(self, page: Any, timeout: Any = 30) -> None:
        self.opened.append(self)
        self._connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=timeout)
        self._connection.request("GET", f"/events?token={token_of(page)}")
        self.response = self._connection.getresponse()

    def __iter__(self) -> Any:
        """Yield the name and the data of each event, until the connection ends."""
        name = None
        for line in iter(self.response.readline, b""):
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: "):
                yield name, json.loads(line[6:])

    def until(self, wanted: Any) -> Any:
        """Return the data of the first event with this name."""
        return next(data for name, data in self if name == wanted)

    def close(self) -> None:
        self.response.close()
        self._connection.close()
