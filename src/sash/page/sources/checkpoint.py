"""Read the state of a stopped query: one reading, which does not change."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.page.key_texts import key_texts
from sash.page.records import Figures, Inbox, OpenWindow, QueryFacts, SliceFacts, Stopped, StreamFacts
from sash.page.sources.result_columns import seconds_of
from sash.spark.monitoring.checkpoint_state import CheckpointState

__all__ = ["CheckpointSource"]

MOST_WINDOWS = 400
MOST_SLICES = 200


class CheckpointSource:
    """Shows what a checkpoint contains."""

    def __init__(self, state: CheckpointState, title: str | None) -> None:
        self._state, self._title = state, title or "stopped stream"
        self._inbox = Inbox()
        self._by = tuple(state.slices.column_names[:-3])

    def start(self, inbox: Inbox) -> None:
        """Put everything."""
        self._inbox, state = inbox, self._state
        unit = "time" if pa.types.is_timestamp(state.windows.schema.field("window_end").type) else "number"
        queries = tuple(QueryFacts(name, text) for name, text in state.queries)
        inbox.put(StreamFacts(self._title, unit, self._by, None, 0.0, queries))  # type: ignore[arg-type]
        keys = state.slices.select(list(self._by))
        count = len(keys.group_by(list(self._by)).aggregate([])) if self._by else min(1, keys.num_rows)
        why = f"The query has stopped. {state.windows.num_rows:,} windows are open in its checkpoint."
        figures = Figures(
            watermark=seconds_of(state.watermark),
            newest=seconds_of(state.newest),
            open_windows=state.windows.num_rows,
            late_rows=state.late_rows,
            slices=state.slices.num_rows,
            keys=count,
            state_bytes=state.state_bytes,
            why=why,
        )
        inbox.put(figures)
        inbox.put(Stopped("stopped", why))
        grouped = state.windows.group_by(["query", "window_start", "window_end"]).aggregate([([], "count_all")])
        rows = grouped.sort_by([("window_end", "ascending")]).slice(0, MOST_WINDOWS)
        windows = [
            OpenWindow(row["query"], _position(row["window_start"]), _position(row["window_end"]), row["count_all"])
            for row in rows.to_pylist()
        ]
        inbox.put(tuple(windows))
        if state.slices.num_rows:
            self.ask_slices(key_texts([state.slices.column(name).slice(0, 1) for name in self._by], 1)[0].as_py())

    def poll(self) -> None:
        """Do nothing: a checkpoint of a stopped query does not change."""

    def ask_slices(self, key: str) -> None:
        """Put the slices of this key."""
        slices = self._state.slices
        texts = key_texts([slices.column(name) for name in self._by], slices.num_rows)
        own = slices.filter(pc.equal(texts, key)).sort_by([("first", "ascending")])
        rows = [(_position(row["first"]), _position(row["end"]), None, ()) for row in own.to_pylist()]
        self._inbox.put(SliceFacts(key, tuple(rows[-MOST_SLICES:])))

    def stop(self) -> None:
        """Do nothing."""


def _position(value: object) -> float:
    found = seconds_of(value)
    return np.nan if found is None else found
