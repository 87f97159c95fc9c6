"""What travels between a stream and the process that serves its page.

The stream sends updates: records as pickles, and results in the format of Arrow. The process of the page answers with
lines of JSON, which the stream never unpickles. Both use the pipes of the process, which nobody else can open.
"""

import pickle
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from sash.page.records import Record

__all__ = ["Settings", "Update", "read_settings", "read_update", "write_settings", "write_update"]

_SIZES = struct.Struct("<QQ")


@dataclass(frozen=True)
class Settings:
    """What the process of a page needs once; the token is no argument of the process, because all users see those."""

    socket: int
    host: str
    port: int
    token: str
    keep_results: int


@dataclass(frozen=True)
class Update:
    """What is new in a stream."""

    records: Sequence[Record] = ()
    results: pa.Table | None = None
    missed: int = 0  # results that could not be kept
    answered: int = 0  # questions whose answers are in this update or in earlier ones
    goodbye: str = ""  # the last update has one


def write_settings(pipe: BinaryIO, settings: Settings) -> None:
    """Write the settings, once and first."""
    _write(pipe, pickle.dumps(settings), b"")


def read_settings(pipe: BinaryIO) -> Settings:
    """Read the settings."""
    head, _ = _read(pipe)
    settings: Settings = pickle.loads(head)  # from the process that started this one
    return settings


def write_update(pipe: BinaryIO, update: Update) -> None:
    """Write an update; wait until the pipe has room.

    >>> import io
    >>> pipe = io.BytesIO()
    >>> write_update(pipe, Update(results=pa.table({"x": [1, 2, 3]}).slice(1), answered=2))
    >>> _ = pipe.seek(0)
    >>> found = read_update(pipe)
    >>> found.answered, found.results.to_pydict()
    (2, {'x': [2, 3]})
    """
    body: bytes | pa.Buffer = b""
    if update.results is not None:
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, update.results.schema) as writer:
            writer.write_table(update.results)
        body = out.getvalue()
    fields = tuple(update.records), update.missed, update.answered, update.goodbye
    _write(pipe, pickle.dumps(fields, protocol=5), body)


def read_update(pipe: BinaryIO) -> Update:
    """Read an update; EOFError at the end of the pipe."""
    head, body = _read(pipe)
    records, missed, answered, goodbye = pickle.loads(head)  # from the process that started this one
    results = pa.ipc.open_stream(body).read_all() if body else None
    return Update(records, results, missed, answered, goodbye)


def _write(pipe: BinaryIO, head: bytes, body: bytes | pa.Buffer) -> None:
    for part in (_SIZES.pack(len(head), len(body)), head, body):
        rest = memoryview(part)
        while rest:
            rest = rest[pipe.write(rest) :]  # a pipe without a buffer takes as much as it has room for
    pipe.flush()


def _read(pipe: BinaryIO) -> tuple[bytes, bytes]:
    sizes = _SIZES.unpack(_exactly(pipe, _SIZES.size))
    return _exactly(pipe, sizes[0]), _exactly(pipe, sizes[1])


def _exactly(pipe: BinaryIO, size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError
    return found
