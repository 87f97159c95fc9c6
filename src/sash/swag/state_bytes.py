"""The state of a window or a stream as bytes, without pickle: reading bytes never runs code.

Layout    magic, format version, length and SHA-256 of the rest; then a value of the small grammar
          below. Numbers are little-endian.
Grammar   N none · T F booleans · I integer · D float · S string · B bytes · E decimal · W date or time
          A array (dtype, shape, raw) · ( tuple · [ list · { dict · < set, each with its count
"""

import datetime as dt
import decimal
import hashlib
import math
import struct
from typing import Any

import numpy as np

from sash.errors import InvalidState

__all__ = ["pack", "unpack"]

MAGIC = b"SASHWIN\0"
VERSION = 5
_HEAD = struct.Struct("<8sHQ32s")
_COUNT = struct.Struct("<Q")
_FLOAT = struct.Struct("<d")
_TIMES: dict[str, Any] = {"datetime": dt.datetime, "date": dt.date, "time": dt.time}
_DEEPEST = 64  # nesting that no window has, but that damaged bytes might claim
_DTYPES = frozenset(
    np.dtype(each).newbyteorder("<").str
    for each in ("b1", *(f"{kind}{width}" for kind in "iu" for width in (1, 2, 4, 8)), "f4", "f8")
)


def pack(value: Any, magic: bytes = MAGIC) -> bytes:
    """Return the bytes of a value; `magic` identifies what it is the state of."""
    out: list[bytes] = []
    _write(value, out)
    body = b"".join(out)
    return _HEAD.pack(magic, VERSION, len(body), hashlib.sha256(body).digest()) + body


def unpack(blob: Any, magic: bytes = MAGIC, what: str = "window") -> Any:
    """Return the value that was packed; other bytes raise an error with the reason."""
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise InvalidState.not_ours(what)
    blob = bytes(blob)
    if len(blob) < len(magic) or blob[: len(magic)] != magic:
        raise InvalidState.not_ours(what)
    if len(blob) < _HEAD.size:
        raise InvalidState.damaged(f"it ends after {len(blob)} bytes, within its head")
    _magic, version, length, checksum = _HEAD.unpack_from(blob)
    if version != VERSION:
        raise InvalidState.version(version, VERSION)
    body = blob[_HEAD.size :]
    if len(body) != length:
        raise InvalidState.damaged(f"{length} bytes were written, {len(body)} are here")
    if hashlib.sha256(body).digest() != checksum:
        raise InvalidState.damaged("its checksum does not match")
    try:
        value, end = _read(body, 0, 0)
    except (struct.error, LookupError, ValueError, TypeError, ArithmeticError) as error:
        raise InvalidState.unreadable("its content cannot be read", error) from error
    if end != len(body):
        raise InvalidState.damaged("there is more in it than was written")
    return value


def _sized(tag: bytes, content: bytes) -> bytes:
    return tag + _COUNT.pack(len(content)) + content


def _write(value: Any, out: list[bytes]) -> None:
    if value is None:
        out.append(b"N")
    elif isinstance(value, bool | np.bool_):
        out.append(b"T" if value else b"F")
    elif isinstance(value, int | np.integer):
        number = int(value)
        out.append(_sized(b"I", number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)))
    elif isinstance(value, float | np.floating):
        out.append(b"D" + _FLOAT.pack(value))
    elif isinstance(value, str):
        out.append(_sized(b"S", value.encode("utf-8", "surrogatepass")))
    elif isinstance(value, bytes):
        out.append(_sized(b"B", value))
    elif isinstance(value, decimal.Decimal):
        out.append(_sized(b"E", str(value).encode()))
    elif type(value).__name__ in _TIMES and isinstance(value, dt.date | dt.time):
        out.append(_sized(b"W", f"{type(value).__name__} {value.isoformat()}".encode()))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        out.append(_sized(b"A", f"{array.dtype.str} {' '.join(map(str, array.shape))}".encode()))
        out.append(_sized(b"B", array.tobytes()))
    elif isinstance(value, tuple | list | set | frozenset | dict):
        tag = b"(" if isinstance(value, tuple) else b"[" if isinstance(value, list) else b"<"
        items = [part for pair in value.items() for part in pair] if isinstance(value, dict) else list(value)
        out.append((b"{" if isinstance(value, dict) else tag) + _COUNT.pack(len(value)))
        for item in items:
            _write(item, out)
    else:
        raise InvalidState.not_savable(value)


def _read(body: bytes, at: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    tag, at = body[at : at + 1], at + 1
    if tag in (b"N", b"T", b"F"):
        return {b"N": None, b"T": True, b"F": False}[tag], at
    if tag == b"D":
        return _FLOAT.unpack_from(body, at)[0], at + _FLOAT.size
    (count,) = _COUNT.unpack_from(body, at)
    at += _COUNT.size
    if tag in (b"(", b"[", b"{", b"<"):
        items = []
        for _ in range(2 * count if tag == b"{" else count):
            item, at = _read(body, at, depth + 1)
            items.append(item)
        if tag == b"{":
            return dict(zip(items[::2], items[1::2], strict=True)), at
        return {b"(": tuple, b"[": list, b"<": set}[tag](items), at  # type: ignore[operator]
    if at + count > len(body):
        raise ValueError("a part is longer than the whole")
    content, at = body[at : at + count], at + count
    if tag == b"A":
        raw, at = _read(body, at, depth + 1)
        return _array(content.decode(), raw), at
    return _decoded(tag, content), at


def _array(described: str, raw: Any) -> np.ndarray[Any, Any]:
    kind, *lengths = described.split(" ")
    if kind not in _DTYPES or not isinstance(raw, bytes) or not 1 <= len(lengths) <= 2:
        raise ValueError(f"an array is described as {described[:40]!r}")
    shape = [int(each) for each in lengths]
    array = np.frombuffer(raw, np.dtype(kind)).copy()
    # An array of no bytes is as long as it claims to be: an empty one has no rows.
    if min(shape) < 0 or math.prod(shape) != len(array) or (not len(array) and shape[0]):
        raise ValueError(f"{len(array)} numbers are no array of {described[:40]!r}")
    if kind == "|b1" and (array.view(np.uint8) > 1).any():
        raise ValueError("a truth value is neither true nor false")
    return array.reshape(shape)


def _decoded(tag: bytes, content: bytes) -> Any:
    if tag == b"I":
        return int.from_bytes(content, "little", signed=True)
    if tag == b"S":
        return content.decode("utf-8", "surrogatepass")
    if tag == b"B":
        return content
    if tag == b"E":
        return decimal.Decimal(content.decode())
    if tag == b"W":
        kind, _, text = content.decode().partition(" ")
        return _TIMES[kind].fromisoformat(text)
    raise ValueError(f"{tag!r} is no part of the format")
