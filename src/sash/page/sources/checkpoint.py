"""Read the state of a query from its checkpoint: of a stopped one once, of a running one when a viewer asks."""

import threading
import time
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.errors import sentence_of
from sash.page.key_texts import key_texts
from sash.page.records import (
    Figures,
    Inbox,
    LateRow,
    OpenWindow,
    QueryFacts,
    SliceFacts,
    SlicesOfKeys,
    Stopped,
    StreamFacts,
)
from sash.page.sources.result_columns import seconds_of
from sash.page.texts import bytes_text, position_text
from sash.spark.monitoring.checkpoint_state import CheckpointState, state

__all__ = ["CheckpointSource", "RunningState"]

MOST_WINDOWS = 400
MOST_SLICES = 100
MOST_KEYS = 100
MOST_BYTES = 50_000_000  # of the state of a running query that is read
SHARE = 0.01  # of the time may go into reading the state of a running query
NOTES = (
    ("time", "A checkpoint has open windows and the watermark. It has no arrivals, no lateness and no closed windows."),
    ("results", "A checkpoint has no results: they are where the query wrote them."),
    ("sharing", "Combines per row and shared fields belong to a running query."),
    ("batches", "A checkpoint has no durations: open the page of a query while it runs to see them."),
    ("keys", "Keys with the most slices in the checkpoint. It does not count the rows of keys."),
)


class CheckpointSource:
    """Shows what a checkpoint contains."""

    def __init__(self, found: CheckpointState, title: str | None) -> None:
        self._state, self._title = found, title or "stopped stream"
        self._inbox = Inbox()

    def start(self, inbox: Inbox) -> None:
        """Put everything."""
        self._inbox, found = inbox, self._state
        unit = _unit(found)
        queries = tuple(QueryFacts(name, text) for name, text in found.queries)
        inbox.put(StreamFacts(self._title, unit, _by(found), None, 0.0, queries, notes=NOTES))
        keys = _keys(found).value_counts()
        watermark = seconds_of(found.watermark)
        count = found.windows.num_rows
        where = "" if watermark is None else f" at the watermark {position_text(watermark, unit)}"
        left = f"It has {count:,} open windows, counted by key." if count else "It has no open window."
        why = f"The query has stopped, and this is its checkpoint{where}. {left} A new run continues from here."
        figures = Figures(
            watermark=watermark,
            newest=seconds_of(found.newest),
            open_windows=found.windows.num_rows,
            late_rows=found.late_rows,
            slices=found.slices.num_rows,
            keys=len(keys),
            state_bytes=found.state_bytes,
            why=why,
        )
        inbox.put(figures)
        if found.late_rows:
            inbox.put(LateRow(f"{found.late_rows:,} rows", None, watermark, "The checkpoint has only their number."))
        inbox.put(Stopped("stopped", why))
        grouped = found.windows.group_by(["query", "window_start", "window_end"]).aggregate([([], "count_all")])
        rows = grouped.sort_by([("window_end", "ascending")]).slice(0, MOST_WINDOWS)
        windows = [
            OpenWindow(row["query"], _position(row["window_start"]), _position(row["window_end"]), row["count_all"])
            for row in rows.to_pylist()
        ]
        inbox.put(tuple(windows))
        if len(keys):
            texts, counts = keys.field(0), keys.field(1)
            most = np.argsort(-counts.to_numpy(), kind="stable")[:MOST_KEYS]
            inbox.put(SlicesOfKeys(tuple((texts[each].as_py(), counts[each].as_py()) for each in most.tolist())))
            self.ask_slices(texts[int(most[0])].as_py())

    def poll(self) -> None:
        """Do nothing: a checkpoint of a stopped query does not change."""

    def ask_slices(self, key: str) -> None:
        """Put the slices of this key."""
        self._inbox.put(slices_of_key(self._state, key))

    def stop(self) -> None:
        """Do nothing."""


class RunningState:
    """The slices in the checkpoint of a running query: its last state is read in a thread, when it is needed.

    Reading takes time from the query, so it happens rarely: all readings together may take 1 % of the time.
    """

    def __init__(self, inbox: Inbox, checkpoint: str) -> None:
        self._inbox, self._checkpoint = inbox, checkpoint
        self._found: CheckpointState | None = None
        self._key = self._text = ""
        self._next = 0.0  # when it may be read again
        self._thread: threading.Thread | None = None

    def ask(self, key: str, state_bytes: int) -> None:
        """Put the slices of this key, now or when they have been read."""
        self._key = key
        if state_bytes > MOST_BYTES:
            text = f"The state has {bytes_text(state_bytes)}. The page reads at most {bytes_text(MOST_BYTES)} of it."
            self._inbox.put(SliceFacts(key, (), text))
        elif self._found is not None and time.monotonic() < self._next:
            self._inbox.put(slices_of_key(self._found, key, self._text))
        elif self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._read, name="sash-page-state", daemon=True)
            self._thread.start()

    def _read(self) -> None:
        begin = time.monotonic()
        try:
            found = self._found = state(self._checkpoint)
        except Exception as error:  # before the first commit, or windows that users wrote
            self._inbox.put(SliceFacts(self._key, (), f"The state cannot be read: {sentence_of(error)}"))
        else:
            at = seconds_of(found.watermark)
            when = "" if at is None else f" at the watermark {position_text(at, _unit(found))}"
            self._text = f"These are the slices of the checkpoint{when}."
            self._inbox.put(slices_of_key(found, self._key, self._text))
        took = time.monotonic() - begin
        self._next = time.monotonic() + took / SHARE


def slices_of_key(found: CheckpointState, key: str, note: str = "") -> SliceFacts:
    """Return the last slices of a key."""
    own = found.slices.filter(pc.equal(_keys(found), key)).sort_by([("first", "ascending")])
    rows = own.slice(max(0, own.num_rows - MOST_SLICES)).to_pylist()
    slices = [(_position(row["first"]), _position(row["end"]), None, tuple(row["cut_by"])) for row in rows]
    return SliceFacts(key, tuple(slices), note)


def _by(found: CheckpointState) -> tuple[str, ...]:
    return tuple(found.slices.column_names[:-4])


def _keys(found: CheckpointState) -> Any:
    return key_texts([found.slices.column(name) for name in _by(found)], found.slices.num_rows)


def _unit(found: CheckpointState) -> Literal["time", "number"]:
    return "time" if pa.types.is_timestamp(found.windows.schema.field("window_end").type) else "number"


def _position(value: object) -> float:
    position = seconds_of(value)
    return np.nan if position is None else position
