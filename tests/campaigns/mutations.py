"""Saved states, changed at random under a checksum that is right."""

import copy
import hashlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from sash.errors import InvalidState
from sash.swag import state_bytes

__all__ = ["flipped", "mutated"]

EDGES = (0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**61, 2**62, 2**63 - 1, 2**63, 2**64)
NUMBERS: tuple[Any, ...] = (*EDGES, *(-each for each in EDGES), 10**5000, 0.5, 1e300, float("nan"), float("inf"))
OTHERS: tuple[Any, ...] = (
    None,
    True,
    "",
    "x" * 5000,
    "query",
    b"",
    b"\xff\x00",
    (),
    [],
    {},
    [None],
    (1, 2),
    {"a": 1},
    {1: 2},
    np.zeros(0, np.int64),
    np.zeros((2, 3)),
    np.array([True]),
)
DTYPES = ("b1", "i1", "i8", "u8", "f4", "f8")
MAGICS = (b"SASHWIN\0", b"SASHSTR\0", b"SASHBKT\0", b"SASHSTP\0", b"SASHHED\0", b"SASHBFR\0")
Path = tuple[Any, ...]


def flipped(blob: bytes, bit: int) -> bytes:
    """A blob with one bit turned over."""
    return blob[: bit // 8] + bytes([blob[bit // 8] ^ 1 << bit % 8]) + blob[bit // 8 + 1 :]


def mutated(blob: bytes, rng: random.Random) -> bytes:
    """Other content in the same wrapping: values changed where they stand, or bytes, lengths and tags among them."""
    if rng.random() < 0.25:
        return _rewrapped(blob, rng)
    content = state_bytes.unpack(blob, blob[:8])
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = _changed(content, rng)
    return state_bytes.pack(content, blob[:8])


def _rewrapped(blob: bytes, rng: random.Random) -> bytes:
    """Bytes of the content changed, cut or repeated, with the length and checksum of what they are then."""
    body = bytearray(blob[state_bytes._HEAD.size :])
    for _ in range(rng.choice((1, 1, 2, 5))):
        if not body:
            break
        at = rng.randrange(len(body))
        kind = rng.random()
        if kind < 0.6:
            body[at] = rng.choice((rng.randrange(256), 0, 255, body[at] ^ 1 << rng.randrange(8), *b"NTFIDSBEWA([{<"))
        elif kind < 0.7:
            body[at : at + 8] = (rng.choice(EDGES) % 2**64).to_bytes(8, "little")
        elif kind < 0.85:
            del body[at : at + rng.choice((1, 1, 8, 100, len(body)))]
        else:
            body[at:at] = body[at : at + rng.choice((1, 8, 100))]
    return state_bytes._HEAD.pack(blob[:8], state_bytes.VERSION, len(body), hashlib.sha256(body).digest()) + bytes(body)


def _changed(content: Any, rng: random.Random) -> Any:
    """The content with one thing in it changed."""
    paths: list[Path] = []
    _walk(content, (), paths)
    path = rng.choice(paths)
    return _with(content, path, lambda value: _other(value, rng))


def _walk(value: Any, path: Path, paths: list[Path]) -> None:
    paths.append(path)
    if isinstance(value, dict):
        for key, inner in value.items():
            _walk(inner, (*path, ("value", key)), paths)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value[:40]):
            _walk(inner, (*path, ("item", place)), paths)
    elif isinstance(value, np.ndarray):
        paths += [path] * 3
    elif isinstance(value, bytes) and value[:8] in MAGICS:
        inside: list[Path] = []
        try:
            _walk(state_bytes.unpack(value, value[:8]), (), inside)
        except InvalidState:
            return  # a change before this one was of its bytes
        paths += [(*path, ("packed", None), *each) for each in inside]


def _with(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    (kind, key), rest = path[0], path[1:]
    if kind == "packed":
        return state_bytes.pack(_with(state_bytes.unpack(value, value[:8]), rest, change), value[:8])
    if kind == "value":
        return {each: _with(inner, rest, change) if each == key else inner for each, inner in value.items()}
    items = list(value)
    items[key] = _with(items[key], rest, change)
    return items if isinstance(value, list) else tuple(items)


def _other(value: Any, rng: random.Random) -> Any:
    """Something else in the place of a value: near it, at the edge of its type, or of another type."""
    if rng.random() < 0.06:
        return copy.deepcopy(rng.choice((*OTHERS, *NUMBERS)))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = [value + 1, value - 1, -value, 2 * value] if abs(value) < 2**70 else [0]
        return rng.choice((*near, *NUMBERS, rng.randrange(-(2**63), 2**63), float(rng.gauss(0, 1e6))))
    if isinstance(value, str):
        return rng.choice((value + "x", value[:-1], value[::-1], "", "\0", "ü" * 50, value.upper()))
    if isinstance(value, bytes):
        return _other_bytes(value, rng)
    if isinstance(value, np.ndarray):
        return _other_array(value, rng)
    if isinstance(value, dict):
        return _other_dict(value, rng)
    if isinstance(value, list | tuple):
        return _other_items(value, rng)
    return copy.deepcopy(rng.choice((*OTHERS, *NUMBERS)))


def _other_bytes(value: bytes, rng: random.Random) -> bytes:
    if not value or rng.random() < 0.1:
        return rng.choice((b"", value[:-1], value + b"\0" * 8, value * 2))
    found = bytearray(value)
    for _ in range(rng.choice((1, 1, 3))):
        found[rng.randrange(len(found))] = rng.randrange(256)
    if rng.random() < 0.3:
        at = rng.randrange(len(found))
        found[at : at + 8] = (rng.choice(EDGES) % 2**64).to_bytes(8, "little")
    return bytes(found)


def _other_array(value: np.ndarray[Any, Any], rng: random.Random) -> Any:
    kind = rng.random()
    if len(value) and kind < 0.6:
        found = value.copy()
        for _ in range(rng.choice((1, 1, 2, 4))):
            place = tuple(rng.randrange(each) for each in found.shape)
            with np.errstate(all="ignore"):
                beside = [found[place] + 1, found[place] - 1] if found.dtype.kind != "b" else []
                near = [*beside, rng.choice(value.reshape(-1))]
                wanted = rng.choice((*near, *NUMBERS[:-5], 0.5, float("nan"), float("inf"), -float("inf")))
                try:
                    found[place] = wanted
                except (OverflowError, ValueError):
                    found[place] = np.array(rng.getrandbits(64), np.uint64).astype(found.dtype)
        return found
    if kind < 0.7:
        return value[: rng.randrange(len(value) + 1)]
    if kind < 0.78:
        return np.concatenate([value, value[: rng.randrange(1, 4)]])
    if kind < 0.86:
        with np.errstate(all="ignore"):
            return value.astype(rng.choice(DTYPES))
    if kind < 0.9:
        return value[::-1].copy()
    if kind < 0.93:
        return value.reshape(1, -1) if value.ndim == 1 else value.reshape(-1)
    if kind < 0.96:
        return np.zeros_like(value)
    return value.tolist()


def _other_dict(value: dict[Any, Any], rng: random.Random) -> dict[Any, Any]:
    found = dict(value)
    kind = rng.random()
    if not found or kind < 0.2:
        found[rng.choice(("new", 3, None, "", -1, 2**70))] = copy.deepcopy(rng.choice((*OTHERS, *NUMBERS)))
        return found
    key = rng.choice(list(found))
    if kind < 0.55:
        del found[key]
    elif kind < 0.75:
        found[rng.choice(("other", 5, f"{key}x", None))] = found.pop(key)
    elif kind < 0.9:
        other = rng.choice(list(found))
        found[key], found[other] = found[other], found[key]
    else:
        found.clear()
    return found


def _other_items(value: Any, rng: random.Random) -> Any:
    items = list(value)
    kind = rng.random()
    if not items or kind < 0.2:
        items.insert(rng.randrange(len(items) + 1), copy.deepcopy(rng.choice((*OTHERS, *NUMBERS))))
    elif kind < 0.5:
        del items[rng.randrange(len(items))]
    elif kind < 0.7:
        items.append(copy.deepcopy(rng.choice(items)))
    elif kind < 0.85:
        a, b = rng.randrange(len(items)), rng.randrange(len(items))
        items[a], items[b] = items[b], items[a]
    elif kind < 0.93:
        return tuple(items) if isinstance(value, list) else items
    else:
        items = []
    return items if isinstance(value, list) else tuple(items)
