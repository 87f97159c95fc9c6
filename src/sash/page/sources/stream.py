"""Read a `sash.Stream`: an observer counts each push, and reads the state a few times per second."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.observation import Observation
from sash.engine.stream import Stream
from sash.page.records import (
    Arrivals,
    Figures,
    Inbox,
    LateRow,
    MicroBatch,
    OpenWindow,
    QueryFacts,
    SliceFacts,
    Stopped,
    StreamFacts,
    key_text,
)
from sash.page.sources.budget import Budget

__all__ = ["StreamSource"]

INTERVAL_S = 0.25  # between two readings of the state
MOST_SAMPLED = 4096  # rows of one reading whose positions and keys are counted
MOST_KEYS = 2000  # keys whose open windows are listed
MOST_WINDOWS = 400  # open windows per query
MOST_LATE = 100
MOST_SLICES = 200


class StreamSource:
    """Observes a stream until it ends or the page is closed."""

    def __init__(self, stream: Stream, title: str) -> None:
        self._stream, self._title = stream, title
        self._inbox = Inbox()
        self._budget, self._late_budget = Budget(), Budget(share=0.002)
        self._facts: StreamFacts | None = None
        self._key: str | None = None  # whose slices are shown; None: the key with the most
        self._unobserve: Callable[[], None] = lambda: None
        self._at = time.monotonic()  # of the last reading
        self._rows = self._results = self._batch = 0  # since the last reading; number of readings
        self._late = 0  # rejected rows at the last push
        self._late_read = 0  # at the last reading
        self._newest: Any = None  # at the last reading

    def start(self, inbox: Inbox) -> None:
        """Read the stream once, and then at its pushes."""
        self._inbox = inbox
        self._stream.inspect(self._begin)

    def ask_slices(self, key: str) -> None:
        self._key = key
        self._stream.inspect(self._read)

    def poll(self) -> None:
        """Read pushes that came since the last reading, if no push has done it."""
        if self._rows and time.monotonic() - self._at >= INTERVAL_S:
            self._stream.inspect(self._read)

    def stop(self) -> None:
        self._unobserve()

    def _begin(self, observation: Observation) -> None:
        self._unobserve = self._stream.observe(self._observe)
        self._late = self._late_read = self._stream.late_count
        self._read(observation)

    # --- each push -----------------------------------------------------------------------------------

    def _observe(self, push: Observation) -> None:
        self._rows += push.count
        results = push.results
        if results.num_rows:
            self._results += results.num_rows
            self._inbox.put_results(results)
        late = self._stream.late_count
        if late != self._late:
            self._late = late
            self._read_late(push)
        if time.monotonic() - self._at >= INTERVAL_S and self._budget.has_time():
            self._read(push)

    def _read_late(self, push: Observation) -> None:
        if not self._late_budget.has_time():
            return
        with self._late_budget.spent():
            rows, before = push.rejected(MOST_LATE)
            watermark = self._position(push, before)
            for row in rows.to_pylist():
                position = row.pop("_position")
                own = None if position is None else self._position(push, position)
                self._inbox.put(LateRow(_text(row), own, watermark, _reason(own)))

    # --- a few times per second --------------------------------------------------------------------------

    def _read(self, push: Observation) -> None:
        with self._budget.spent():
            facts = self._facts_of(push)
            if facts != self._facts:
                self._facts = facts
                self._inbox.put(facts)
            if push.plan is not None:
                self._read_figures(push)
                self._read_arrivals(push)
                self._read_windows(push)
                self._read_slices(push)
            self._newest = None if push.state is None else push.state.newest
        self._at, self._rows, self._results, self._late_read = time.monotonic(), 0, 0, self._late

    def _facts_of(self, push: Observation) -> StreamFacts:
        plan, stream = push.plan, self._stream
        by = tuple(stream.options.by)
        if plan is None:
            names = [QueryFacts(each.name, str(each), _aggregates(each)) for each in stream.queries]
            return StreamFacts(self._title, "number", by, None, 0.0, tuple(names))
        names = [QueryFacts(each.name, str(each), _aggregates(each)) for each in stream.queries]
        delay = None if plan.delay is None else self._length(push, plan.delay)
        lateness, fields = self._length(push, plan.lateness), tuple(plan.field_names())
        return StreamFacts(self._title, self._unit(push), by, delay, lateness, tuple(names), fields)

    def _read_figures(self, push: Observation) -> None:
        plan, state = push.plan, push.state
        assert plan is not None and state is not None
        elapsed = max(1e-3, time.monotonic() - self._at)
        self._batch += 1
        folds = self._stream.combines - state.rows
        rows = max(1, state.rows)
        figures = Figures(
            batch=self._batch,
            rows=self._rows,
            rows_per_second=self._rows / elapsed,
            watermark=self._position(push, state.watermark),
            newest=self._position(push, state.newest),
            results=self._results,
            open_windows=push.open_windows,
            late=self._late - self._late_read,
            late_rows=self._late,
            slices=len(state.slices.list_all()[0]),
            keys=len(state.keys),
            state_bytes=self._stream.state_bytes,
            combines_per_row=self._stream.combines / rows,
            next_end=self._position(push, push.next_end),
            is_ended=state.watermark >= plan.measure.highest,
            results_per_second=self._results / elapsed,
            without_sharing=len(plan.queries) + folds / rows,
            why="",
        )
        self._inbox.put(figures)
        if self._rows:
            self._inbox.put(MicroBatch(self._batch, self._rows, (("interval", elapsed * 1e3),)))
        if figures.is_ended:
            self._inbox.put(Stopped("stopped", "The stream has ended."))

    def _read_arrivals(self, push: Observation) -> None:
        sample = push.sample(MOST_SAMPLED)
        if not sample.num_rows:
            return
        assert push.plan is not None
        positions = sample.column("position").to_numpy().astype(np.float64)
        if self._unit(push) == "time":
            positions = positions / 1e6
        by = push.plan.options.by
        counts: list[tuple[str, int]] = []
        if by:
            grouped = sample.select(by).group_by(list(by)).aggregate([([], "count_all")])
            places = np.argsort(-grouped.column("count_all").to_numpy())[:100]
            for row in grouped.take(pa.array(places)).to_pylist():
                counts.append((key_text([row[name] for name in by]), row["count_all"]))
        before = self._position(push, self._newest)
        weight = max(1.0, self._rows / sample.num_rows)
        self._inbox.put(Arrivals(positions, before, weight, tuple(counts)))

    def _read_windows(self, push: Observation) -> None:
        rows = push.windows(MOST_KEYS)
        if not rows.num_rows:
            self._inbox.put(())
            return
        scale = 1e-6 if self._unit(push) == "time" else 1.0
        starts, ends = (_numbers(rows.column(name)) * scale for name in ("window_start", "window_end"))
        found = zip(
            rows.column("query").to_pylist(),
            starts.tolist(),
            ends.tolist(),
            rows.column("keys").to_pylist(),
            strict=True,
        )
        self._inbox.put(tuple(OpenWindow(*each) for each in found)[:MOST_WINDOWS])

    def _read_slices(self, push: Observation) -> None:
        plan = push.plan
        assert plan is not None
        key = None
        rows = push.slices(key)
        scale = 1e-6 if self._unit(push) == "time" else 1.0
        first, end = (_numbers(rows.column(name)) * scale for name in ("first", "end"))
        names = [rows.column(name)[0].as_py() for name in plan.options.by] if rows.num_rows else []
        slices = tuple((a, b, None, ()) for a, b in zip(first.tolist(), end.tolist(), strict=True))
        self._inbox.put(SliceFacts(key_text(names), slices[-MOST_SLICES:]))

    # --- positions -----------------------------------------------------------------------------------------

    def _unit(self, push: Observation) -> Any:
        assert push.plan is not None
        return "time" if push.plan.measure.kind.value == "time" else "number"

    def _position(self, push: Observation, position: Any) -> float | None:
        """Return a position in the unit of the page; None if it is that of no row."""
        assert push.plan is not None
        measure = push.plan.measure
        if position is None or not measure.lowest < position < measure.highest:
            return None
        return self._length(push, position)

    def _length(self, push: Observation, length: Any) -> float:
        return float(length) / 1e6 if self._unit(push) == "time" else float(length)


def _aggregates(query: Any) -> tuple[str, ...]:
    return tuple(name for name, _ in query.aggregates)


def _numbers(column: Any) -> Any:
    """Return the positions of a column of edges."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array
    return array.to_numpy(zero_copy_only=False).astype(np.float64)


def _text(row: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in row.items())


def _reason(position: float | None) -> str:
    if position is None:
        return "It has no position: the value of `on` is null, not finite, or too large."
    return "It came after the watermark had passed it by more than the allowed lateness."
