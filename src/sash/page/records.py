"""What a source tells the page: plain records, without objects of the engine or of Spark.

Positions are floats: seconds since 1970 if the column `on` is a time, and otherwise its own unit.
"""

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import pyarrow as pa

from sash.page.m4 import Replaces

__all__ = [
    "Arrivals",
    "Behind",
    "BucketRows",
    "Figures",
    "Inbox",
    "LateRow",
    "MicroBatch",
    "OpenWindow",
    "QueryFacts",
    "SliceFacts",
    "SlicesOfKeys",
    "Source",
    "Stopped",
    "StreamFacts",
]

State = Literal["running", "stopped", "failed"]


@dataclass(frozen=True)
class QueryFacts:
    """One query: its name, its text, and the names of its aggregates."""

    name: str
    text: str
    aggregates: tuple[str, ...] = ()
    replaces: Replaces = "extent"  # which results a revision replaces


@dataclass(frozen=True)
class StreamFacts:
    """What does not change while a stream runs, except when a query is added or removed."""

    title: str
    unit: Literal["time", "number"]
    by: tuple[str, ...]
    delay: float | None
    lateness: float
    queries: tuple[QueryFacts, ...]
    fields: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()  # a panel, and a sentence about what it shows of this stream


@dataclass(frozen=True)
class Figures:
    """The figures of `sash.progress`, under the same names."""

    batch: int = 0
    rows: int = 0
    rows_per_second: float = 0.0
    watermark: float | None = None
    newest: float | None = None
    results: int = 0
    open_windows: int = 0
    late: int = 0
    late_rows: int = 0
    slices: int = 0
    keys: int = 0
    state_bytes: int = 0
    written_bytes: int = 0
    combines_per_row: float = 0.0
    next_end: float | None = None
    ahead: float | None = None  # seconds that the watermark is ahead of the clock; None if it is not
    is_ended: bool = False  # the watermark has passed every row
    results_per_second: float = 0.0
    input_rows_per_second: float | None = None  # of the source; None: not known
    without_sharing: float | None = None  # combines per row if nothing were shared
    why: str = ""

    @property
    def watermark_lag(self) -> float | None:
        """The distance of the watermark behind the newest row."""
        return None if self.watermark is None or self.newest is None else self.newest - self.watermark


@dataclass(frozen=True)
class Arrivals:
    """Some of the rows that came, and how many rows each stands for."""

    positions: Any  # float64 array, NaN without a position
    newest_before: float | None
    weight: float
    keys: tuple[tuple[str, int], ...] = ()  # texts of keys, and how many of the rows they have
    counts_lateness: bool = True  # whether the positions are those of single rows


@dataclass(frozen=True)
class Behind:
    """How far rows came behind the newest row, for a source that does not know where each came."""

    on_time: float  # rows that are not behind
    distances: Any  # float64 array
    rows: Any  # float64 array: how many rows are so far behind


@dataclass(frozen=True)
class BucketRows:
    """The rows of one bucket of keys in one micro-batch, and its busiest keys."""

    bucket: int
    rows: int
    keys: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class OpenWindow:
    """A window that is not closed, for all keys."""

    query: str
    start: float
    end: float
    keys: int | None


@dataclass(frozen=True)
class SliceFacts:
    """The slices of one key."""

    key: str
    slices: tuple[
        tuple[float, float, int | None, tuple[str, ...]], ...
    ]  # start, end, rows, queries that cut at the end
    note: str = ""  # a sentence about them


@dataclass(frozen=True)
class SlicesOfKeys:
    """Keys with the most slices, for a source that does not count rows."""

    keys: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class LateRow:
    """One rejected row."""

    row: str
    position: float | None
    watermark: float | None
    reason: str


@dataclass(frozen=True)
class MicroBatch:
    """One micro-batch of Spark, or some pushes of a stream."""

    number: int
    rows: int
    phases: tuple[tuple[str, float], ...] = ()
    written_bytes: int = 0
    restarted: bool = False


@dataclass(frozen=True)
class Stopped:
    """The stream has ended."""

    state: State
    why: str


Record = (
    Figures
    | Arrivals
    | Behind
    | BucketRows
    | tuple[OpenWindow, ...]
    | SliceFacts
    | SlicesOfKeys
    | LateRow
    | MicroBatch
    | Stopped
    | StreamFacts
)


@dataclass
class Inbox:
    """Records that wait for the page; threads of sources put them in, and the page takes them out.

    Tables of results are kept until `most_results` wait; the page counts those that it missed.
    """

    most_results: int = 1_000_000
    most_records: int = 10_000
    missed: int = 0
    _records: deque[Record] = field(default_factory=deque)
    _results: list[pa.Table] = field(default_factory=list)
    _waiting: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, record: Record) -> None:
        """Add a record; drop the oldest one if too many wait."""
        with self._lock:
            self._records.append(record)
            if len(self._records) > self.most_records:
                self._records.popleft()

    def put_results(self, results: pa.Table) -> None:
        """Add a table of results, with the columns of `sash.aggregate`."""
        with self._lock:
            if self._waiting + results.num_rows > self.most_results:
                self.missed += results.num_rows
                return
            self._waiting += results.num_rows
            self._results.append(results)

    def take(self) -> tuple[list[Record], list[pa.Table]]:
        """Return everything that waits, oldest first, and forget it."""
        with self._lock:
            records, results = list(self._records), self._results
            self._records.clear()
            self._results, self._waiting = [], 0
        return records, results


class Source(Protocol):
    """Reads a stream and puts records into an inbox."""

    def start(self, inbox: Inbox) -> None:
        """Begin; the first record is a `StreamFacts`."""

    def poll(self) -> None:
        """Read what came since the last reading; called a few times per second."""

    def ask_slices(self, key: str) -> None:
        """Put the slices of this key into the inbox, now and from now on."""

    def stop(self) -> None:
        """End; called once."""
