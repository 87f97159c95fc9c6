"""Queries and rows for the oracle: text → plain data.

Positions are plain numbers here: times are microseconds since 1970, durations are microseconds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeAlias

__all__ = ["Call", "Key", "Number", "Query", "Row", "Window", "calls", "number", "parse"]

Number: TypeAlias = int | float
Key: TypeAlias = tuple[Any, ...]

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
DURATION = re.compile(r"(-?\d+)(us|ms|s|m|h|d)")


@dataclass(frozen=True)
class Window:
    """`sliding 10 every 4 offset 1` as a kind and its words; values as written: numbers, durations, times."""

    kind: str
    words: tuple[tuple[str, Any], ...]

    @cached_property
    def _by_name(self) -> dict[str, Any]:
        return dict(self.words)

    def __getitem__(self, word: str) -> Any:
        return self._by_name.get(word)

    def of(self, word: str, default: Number = 0) -> Number:
        return number(self[word]) if self[word] is not None else default

    @cached_property
    def by_count(self) -> bool:
        return (self["rows"] is not None and not self.is_multi_measure) or self["every_rows"] is not None

    @cached_property
    def is_multi_measure(self) -> bool:
        return self["rows"] is not None and isinstance(self["every"], str | float)

    @cached_property
    def by_overlap(self) -> bool:
        """Late rows move its edges, so that only overlap tells which windows are the same."""
        return self.kind in ("session", "punctuated", "elevens", "parities", "switches", "echoes")


@dataclass(frozen=True)
class Call:
    """`quantile(x, 0.9)`: a function, the columns or parameters that it is given, the name of its result."""

    function: str
    arguments: tuple[Any, ...]
    name: str


@dataclass(frozen=True)
class Query:
    window: Window
    calls: tuple[Call, ...]
    text: str


def number(value: Any) -> Number:
    """A position, a time or a duration as a number.

    >>> number("2s"), number(datetime(1970, 1, 1, 0, 0, 1)), number(2.5)
    (2000000, 1000000, 2.5)
    """
    if isinstance(value, str):
        written = DURATION.fullmatch(value)
        assert written, f"{value!r} is no duration such as 10s"
        return int(written[1]) * UNITS[written[2]]
    if isinstance(value, datetime):
        since = value.replace(tzinfo=value.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    assert isinstance(value, int | float), value
    return value


def parse(text: str) -> Query:
    """A query as the transcripts write it.

    >>> parse("sum(x), count() over sliding 10 every 4").window
    Window(kind='sliding', words=(('size', 10), ('every', 4)))
    >>> [call.name for call in parse("sum(x), count(), quantile(x, 0.9) over session gap 5s").calls]
    ['sum_x', 'count', 'quantile_x']
    """
    aggregates, _, window = text.partition(" over ")
    return Query(_window(window.split()), calls(aggregates), text)


def calls(text: str) -> tuple[Call, ...]:
    found = []
    for function, inside in re.findall(r"(\w+)\(([^)]*)\)", text):
        arguments = tuple(_word(word.strip()) for word in inside.split(",") if word.strip())
        columns = [word for word in arguments if isinstance(word, str) and word.isidentifier()]
        found.append(Call(function, arguments, "_".join([function, *columns])))
    return tuple(found)


def _window(words: Sequence[str]) -> Window:
    kind, *rest = words
    unnamed = {"punctuated": "column"}.get(kind, "size")
    if len(rest) % 2:
        rest = [unnamed, *rest]
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return Window(kind, tuple((name, value if name == "column" else _word(value)) for name, value in pairs))


def _word(text: str) -> Any:
    for read in (int, float, datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    return text


@dataclass(frozen=True)
class Row:
    position: Number
    arrival: int
    key: Key
    columns: Mapping[str, Any]
