"""The results that the page keeps: chunks of columns for each query, and lines of those that viewers look at.

A push costs one copy of its results. A line is made when a viewer first asks for it, from all chunks, and follows the
chunks that come later.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.page.contract import M4, Results, Revised, Series, SeriesList
from sash.page.key_texts import key_texts
from sash.page.m4 import Array, Line, Replaces
from sash.page.records import QueryFacts

__all__ = ["KeptResults"]

CHUNK_ROWS = 65_536
MOST_KEYS = 100  # in one answer
MOST_REVISED = 100
RECENT_WINDOWS = 40


@dataclass(frozen=True)
class Chunk:
    """Results of one query that came one after another."""

    begin: int  # the number of its first result among all results of the query
    keys: pa.DictionaryArray  # texts
    starts: Array
    ends: Array
    values: dict[str, Array]

    def __len__(self) -> int:
        return len(self.ends)

    def places_of(self, key: str, since: int) -> Array:
        """Return the places of the results of one key, from a number on."""
        code = pc.index(self.keys.dictionary, key).as_py()
        if code < 0:
            return np.zeros(0, np.int64)
        skipped = max(0, since - self.begin)
        return np.flatnonzero(self.keys.indices.to_numpy()[skipped:] == code) + skipped

    def followed_by(self, other: "Chunk") -> "Chunk":
        """Return one chunk of both."""
        keys = pa.chunked_array([self.keys.dictionary_decode(), other.keys.dictionary_decode()])
        values = {}
        for name in self.values.keys() | other.values.keys():
            parts = [each.values.get(name, np.full(len(each), np.nan)) for each in (self, other)]
            values[name] = np.concatenate(parts)
        starts, ends = np.concatenate([self.starts, other.starts]), np.concatenate([self.ends, other.ends])
        return Chunk(self.begin, keys.combine_chunks().dictionary_encode(), starts, ends, values)


@dataclass
class QueryResults:
    """The kept results of one query."""

    replaces: Replaces = "extent"
    aggregates: tuple[str, ...] = ()
    chunks: deque[Chunk] = field(default_factory=deque)
    count: int = 0  # results in chunks
    seen: int = 0  # results so far
    latest: float | None = None
    revised: deque[Revised] = field(default_factory=lambda: deque(maxlen=MOST_REVISED))
    windows: OrderedDict[tuple[float, float], tuple[int, bool]] = field(default_factory=OrderedDict)


@dataclass
class Followed:
    """A line that viewers look at, and the number of the next result that it needs."""

    line: Line
    number: int = 0


class KeptResults:
    """At most so many results; the oldest chunks go first. Threads share it."""

    def __init__(self, most: int = 1_000_000) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._queries: dict[str, QueryResults] = {}
        self._lines: OrderedDict[tuple[str, str, str], Followed] = OrderedDict()
        self._by: tuple[str, ...] = ()
        self._unit: Literal["time", "number"] = "number"

    def describe(self, by: tuple[str, ...], unit: Literal["time", "number"], queries: Iterable[QueryFacts]) -> None:
        """Set what is known of the stream."""
        with self._lock:
            self._by, self._unit = by, unit
            for each in queries:
                own = self._queries.setdefault(each.name, QueryResults())
                own.replaces, own.aggregates = each.replaces, each.aggregates

    # --- new results ---------------------------------------------------------------------------------

    def add(self, tables: list[pa.Table]) -> None:
        """Keep results, oldest first."""
        if not tables:
            return
        table = pa.concat_tables(tables, promote_options="permissive")
        with self._lock:
            for name in pc.unique(table.column("query")).to_pylist():
                if name is not None and not name.startswith("_"):
                    self._add(name, table.filter(pc.equal(table.column("query"), name)).combine_chunks())
            self._forget()

    def _add(self, name: str, table: pa.Table) -> None:
        own = self._queries.setdefault(name, QueryResults())
        by = [each for each in self._by if each in table.column_names]
        keys = key_texts([table.column(each) for each in by], table.num_rows).dictionary_encode()
        starts, ends = (_positions(table.column(each)) for each in ("window_start", "window_end"))
        values = {each: _numbers(table.column(each)) for each in own.aggregates if each in table.column_names}
        chunk = Chunk(own.seen, keys, starts, ends, values)
        self._note(own, table, chunk)
        own.count += len(chunk)
        own.seen += len(chunk)
        # Neighbours of similar sizes become one, so that there are few chunks and each result is copied rarely.
        while own.chunks and len(own.chunks[-1]) <= 2 * len(chunk) and len(own.chunks[-1]) + len(chunk) <= CHUNK_ROWS:
            chunk = own.chunks.pop().followed_by(chunk)
        own.chunks.append(chunk)

    def _note(self, own: QueryResults, table: pa.Table, chunk: Chunk) -> None:
        """Note the newest windows, and those that were emitted again."""
        own.latest = max(float(chunk.ends.max()), -np.inf if own.latest is None else own.latest)
        again = np.zeros(len(chunk), np.bool_)
        if "revision" in table.column_names:
            again = table.column("revision").fill_null(0).to_numpy() > 0
        keys, starts, ends = chunk.keys, chunk.starts, chunk.ends
        for place in np.flatnonzero(again)[-MOST_REVISED:].tolist():
            own.revised.append(Revised(key=keys[place].as_py(), start=float(starts[place]), end=float(ends[place])))
        edges = pa.table({"start": starts, "end": ends, "again": again.astype(np.int64)})
        grouped = edges.group_by(["start", "end"]).aggregate([([], "count_all"), ("again", "sum")])
        for row in grouped.to_pylist():
            count, was_again = own.windows.get((row["start"], row["end"]), (0, False))
            new = row["count_all"] - row["again_sum"]
            own.windows[row["start"], row["end"]] = count + new, was_again or row["again_sum"] > 0
        if len(own.windows) > 2 * RECENT_WINDOWS:
            newest = sorted(own.windows, key=lambda each: each[::-1])[-RECENT_WINDOWS:]
            own.windows = OrderedDict((each, own.windows[each]) for each in newest)

    def _forget(self) -> None:
        """Drop the oldest chunk of the query with the most results, until there are few enough."""
        while sum(each.count for each in self._queries.values()) > self._most:
            largest = max(self._queries.values(), key=lambda each: each.count)
            largest.count -= len(largest.chunks.popleft())

    # --- questions -----------------------------------------------------------------------------------

    def news(self) -> list[Results]:
        """Return what viewers must know of each query: how many results, and those that were emitted again."""
        with self._lock:
            found = []
            for name, own in self._queries.items():
                revised, own.revised = list(own.revised), deque(maxlen=MOST_REVISED)
                dropped = own.seen - own.count
                found.append(Results(query=name, count=own.count, dropped=dropped, latest=own.latest, revised=revised))
            return found

    def recent_windows(self, query: str) -> list[tuple[float, float, int, bool]]:
        """Return the newest emitted windows: start, end, keys, and whether one was emitted again."""
        with self._lock:
            own = self._queries.get(query)
            windows = {} if own is None else own.windows
            newest = sorted(windows, key=lambda each: each[::-1])[-RECENT_WINDOWS:]
            return [(*each, *windows[each]) for each in newest]

    def series(self, query: str | None, search: str) -> SeriesList:
        """Return what can be drawn, with the first keys that contain a text."""
        with self._lock:
            found = [
                Series(name=name, aggregates=list(own.aggregates), keys=_keys(own.chunks, search), unit=self._unit)
                for name, own in self._queries.items()
                if query in (None, name)
            ]
            return SeriesList(queries=found)

    def m4(self, query: str, key: str, aggregate: str, start: float | None, end: float | None, width: int) -> M4:
        """Return the M4 of a range of results; without an end, up to the ends of the line."""
        with self._lock:
            line = self._line(query, key, aggregate)
            bounds = (float(line.times[0]), float(line.times[-1])) if len(line) else None
            start = start if start is not None else bounds[0] if bounds else 0.0
            end = end if end is not None else bounds[1] if bounds else 1.0
            pixels, *places = line.columns(np.linspace(start, max(start, end), width + 1))
            count = int((places[1] - places[0] + 1).sum())
            times, values = line.times, line.values
            points = [each[place].tolist() for place in places for each in (times, values)]
        columns = list(zip(pixels.tolist(), *points, strict=True))
        return M4(**{"from": start, "to": end, "width": width, "columns": columns, "count": count, "bounds": bounds})

    def _line(self, query: str, key: str, aggregate: str) -> Line:
        own = self._queries.get(query)
        if own is None or aggregate not in own.aggregates:
            return Line()
        name = query, key, aggregate
        if name not in self._lines:
            self._lines[name] = Followed(Line(self._most))
        self._lines.move_to_end(name)
        followed = self._lines[name]
        for chunk in own.chunks:
            if chunk.begin + len(chunk) > followed.number and aggregate in chunk.values:
                places = chunk.places_of(key, followed.number)
                values = chunk.values[aggregate][places]
                followed.line.add(chunk.starts[places], chunk.ends[places], values, own.replaces)
        followed.number = own.seen
        while len(self._lines) > 1 and sum(len(each.line) for each in self._lines.values()) > 2 * self._most:
            self._lines.popitem(last=False)
        return followed.line


def _keys(chunks: Iterable[Chunk], search: str) -> list[str]:
    found: dict[str, None] = {}
    for chunk in chunks:
        texts = chunk.keys.dictionary
        matching = texts.filter(pc.match_substring(texts, search)) if search else texts
        found |= dict.fromkeys(matching[:MOST_KEYS].to_pylist())
        if len(found) >= MOST_KEYS:
            break
    return list(found)[:MOST_KEYS]


def _positions(column: Any) -> Array:
    """Return edges of windows in the unit of the page."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    scale = 1.0
    if pa.types.is_timestamp(array.type):
        array, scale = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64()), 1e6
    return np.asarray(array.to_numpy(zero_copy_only=False), np.float64) / scale


def _numbers(column: Any) -> Array:
    """Return results as floats; NaN for those that no line can show."""
    kind = column.type
    if (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    ):
        values = column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)
        return np.where(np.isfinite(values), values, np.nan)
    return np.full(len(column), np.nan)
