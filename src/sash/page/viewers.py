"""The browsers that follow the page, each with a bounded queue of events."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sash.page.contract import Bye

__all__ = ["Viewers", "event"]

MOST_VIEWERS = 50
MOST_WAITING = 64  # events of one viewer
SEND_S = 10.0  # a viewer that does not take an event for so long is gone
KEEP_ALIVE_S = 15.0  # without an event, a comment shows that the connection works

FULL = f"The page has {MOST_VIEWERS} viewers, and no room for more. Close one, and open the page again."
SLOW = "This viewer was too slow to take the updates of the page. Reload the page to continue."


def event(name: str, data: Any) -> bytes:
    """Return a server-sent event.

    >>> print(event("bye", {"message": "done"}).decode().rstrip())
    event: bye
    data: {"message":"done"}
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return f"event: {name}\ndata: {text}\n\n".encode()


def bye(message: str) -> bytes:
    """Return the last event of a viewer."""
    return event("bye", Bye(message=message))


class Viewer:
    """One browser: events that wait for it, and whether it was told goodbye."""

    def __init__(self, first: Iterable[bytes], most: int) -> None:
        self._waiting: list[bytes] = list(first)
        self._most, self._more, self.is_ended = most + len(self._waiting), asyncio.Event(), False
        self._more.set()

    def put(self, data: bytes) -> None:
        """Add an event; a viewer that is too slow gets a message instead, as its last event."""
        if self.is_ended:
            return
        if len(self._waiting) >= self._most:
            self.end(bye(SLOW))
            return
        self._waiting.append(data)
        self._more.set()

    def end(self, last: bytes) -> None:
        """Make this the next and last event."""
        self._waiting, self.is_ended = [last], True
        self._more.set()

    async def take(self) -> bytes:
        """Wait for events, and return them as one block."""
        await self._more.wait()
        self._more.clear()
        data, self._waiting = b"".join(self._waiting), []
        return data


class Viewers:
    """All viewers of a page; used by its event loop alone.

    Without a viewer, nobody needs to call `show`: `before_first` does it when a viewer comes.
    """

    def __init__(
        self,
        most: int = MOST_VIEWERS,
        most_waiting: int = MOST_WAITING,
        send_s: float = SEND_S,
        before_first: Callable[[], None] = lambda: None,
    ) -> None:
        self._most, self._most_waiting, self._send_s = most, most_waiting, send_s
        self._before_first = before_first
        self._all: set[Viewer] = set()
        self._last: dict[str, bytes] = {}  # the last event of each panel, for new viewers
        self._sent_at = time.monotonic()

    def __len__(self) -> int:
        return len(self._all)

    def show(self, panels: Mapping[str, bytes]) -> None:
        """Send panels that differ from the last ones, by name; without any, from time to time a comment."""
        for name, data in panels.items():
            if self._last.get(name) != data:
                self._last[name] = data
                self.send(data)
        if time.monotonic() - self._sent_at > KEEP_ALIVE_S:
            self.send(b": alive\n\n")

    def send(self, data: bytes) -> None:
        """Send an event to all."""
        self._sent_at = time.monotonic()
        for viewer in self._all:
            viewer.put(data)

    def end(self, message: str) -> None:
        """Say goodbye to all, and to those that come later."""
        self._last = {"bye": bye(message)}
        for viewer in self._all:
            viewer.end(self._last["bye"])

    async def follow(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request for events until the viewer goes, is too slow, or the page ends."""
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        is_full = len(self._all) >= self._most
        if not self._all and "bye" not in self._last:
            self._before_first()
        viewer = Viewer([] if is_full else self._last.values(), self._most_waiting)
        if is_full:
            viewer.end(bye(FULL))
        elif "bye" in self._last:
            viewer.end(self._last["bye"])
        else:
            self._all.add(viewer)
        gone = asyncio.ensure_future(_disconnect(receive, viewer))
        try:
            while not gone.done():
                data = await viewer.take()
                body = {"type": "http.response.body", "body": data, "more_body": True}
                async with asyncio.timeout(self._send_s):
                    await send(body)
                if viewer.is_ended and b"event: bye\n" in data:
                    break
            async with asyncio.timeout(self._send_s):
                await send({"type": "http.response.body", "body": b""})
        except (TimeoutError, OSError):
            pass  # it took nothing for too long, or is gone
        finally:
            gone.cancel()
            self._all.discard(viewer)


async def _disconnect(receive: Any, viewer: Viewer) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    viewer.end(b"")
