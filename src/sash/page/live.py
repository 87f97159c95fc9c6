"""The page of one stream: a thread that feeds the process of the page."""

import html
import itertools
import json
import logging
import os
import secrets
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Self, cast

import pyarrow as pa

from sash.errors import InvalidInput
from sash.page.records import Inbox, Source, Stopped
from sash.page.transport import Settings, Update, write_settings, write_update

__all__ = ["Page"]

TICK_S = 0.25  # between two updates
LEAST_TICK_S = 0.1  # however many questions viewers have: an answer takes time from the stream
END_S = 10.0
CLOSED = "The page was closed."
_LOG = logging.getLogger("sash")


class Page:
    """A page that shows a stream, made by `sash.page`.

    It is also a context manager, which closes the page at its end. A notebook shows the page as the value of a cell.
    """

    def __init__(self, source: Source, host: str, port: int, stays: bool, keep_results: int = 1_000_000) -> None:
        self._source, self._host, self._stays = source, host, stays
        self._inbox, self._end = Inbox(), threading.Event()
        self._token = secrets.token_urlsafe(24)
        with _listen(host, port) as listener:
            self.port: int = listener.getsockname()[1]
            settings = Settings(listener.fileno(), host, self.port, self._token, keep_results)
            self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the process has ended
            self._process = _start(settings, self._errors)
        try:
            source.start(self._inbox)
        except BaseException:
            _end(self._process)
            self._errors.close()
            raise
        self._thread = threading.Thread(target=self._run, name="sash-page", daemon=True)
        self._thread.start()

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
        self._end.set()
        if self._thread is threading.current_thread():
            return
        self._thread.join(END_S)
        if self._thread.is_alive():  # its process takes no updates
            self._process.kill()
            self._thread.join(END_S)

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
        updates, questions = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
        try:
            try:
                goodbye = self._feed(updates, questions)
            except OSError:
                raise
            except Exception as error:  # the page fails, the stream does not
                goodbye = f"The page has failed: {error}"
            write_update(updates, Update(missed=self._inbox.missed, goodbye=goodbye))
        except OSError:
            pass  # the process of the page is gone, and the stream continues
        finally:
            self._source.stop()
            _end(self._process)
            if self._process.returncode and not self._end.is_set():
                _LOG.warning("The live page has ended, and the stream continues: %s", _last_line(self._errors))
            self._errors.close()

    def _feed(self, updates: BinaryIO, questions: BinaryIO) -> str:
        """Send updates until the page ends, and return why it ends."""
        answered = 0
        for keys in itertools.chain([[]], _keys_asked(questions, TICK_S)):
            if self._end.is_set():
                break
            if keys:
                self._source.ask_slices(keys[-1])  # it shows the slices of one key
            self._source.poll()
            answered += len(keys)
            records, tables = self._inbox.take()
            results = _joined(tables)
            if keys or records or results is not None:
                write_update(updates, Update(records, results, self._inbox.missed, answered))
            stopped = next((each for each in records if isinstance(each, Stopped)), None)
            if stopped is not None and not self._stays:
                return stopped.why
        return CLOSED


def _joined(tables: list[pa.Table]) -> pa.Table | None:
    """Return one table; of tables with one schema, as those of a stream are, without copies."""
    if not tables:
        return None
    is_same = all(each.schema == tables[0].schema for each in tables[1:])
    return pa.concat_tables(tables, promote_options="none" if is_same else "permissive")


def _keys_asked(pipe: BinaryIO, seconds: float) -> Iterator[list[str]]:
    """Yield the keys whose slices viewers ask for; nothing if none does within some seconds."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if selector.select(seconds):
                found = os.read(pipe.fileno(), 1 << 16)
                if not found:
                    raise BrokenPipeError  # the process has ended
                rest += found
            *lines, rest = rest.split(b"\n")
            yield [str(json.loads(line)) for line in lines]
            if lines:
                time.sleep(LEAST_TICK_S)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that accepts connections at once; they wait for the process of the page."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen()
    except OSError as error:
        found.close()
        raise InvalidInput.option(
            "host and port", f"{host}:{port}", f"free on this machine ({error.strerror})"
        ) from error
    return found


def _start(settings: Settings, errors: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Start the process of the page, with the same sash and in its own session: Ctrl-C is for the stream.

    Its pipes have no buffers: at the end of the interpreter, nothing has to be written.
    """
    folders = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "sash.page.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        bufsize=0,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders), "SASH_WARM": "off"},
        pass_fds=[settings.socket],
        start_new_session=True,
    )
    write_settings(cast("BinaryIO", process.stdin), settings)
    return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_line(errors: IO[bytes]) -> str:
    """Return the last line that the process wrote, such as the text of an error."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4096))
    lines = errors.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "its process was killed.")
