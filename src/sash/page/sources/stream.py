"""Read a `sash.Stream`: an observer counts each push, and reads the state a few times per second."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.engine.observation import Observation
from sash.engine.status_text import why_of
from sash.engine.stream import Stream
from sash.page.key_texts import key_texts
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
)
from sash.page.sources.budget import Budget
from sash.page.sources.plan_facts import facts_of_plan, length_on, unit_of_plan

__all__ = ["StreamSource"]

INTERVAL_S = 0.25  # between two readings of the figures
WINDOWS_S = 1.0  # between two readings of open windows and slices, while pushes follow each other
SAMPLE_S = 0.05  # between two samples of arriving or rejected rows
IDLE_S = 0.05  # after a push that no other push follows, the page reads it
MOST_SAMPLED = 4096  # rows of one push whose positions and keys are counted
MOST_KEYS = 2000  # keys whose open windows are listed
MOST_WINDOWS = 400  # open windows per query
MOST_LATE = 100
MOST_SLICES = 100
MOST_BUSY = 100  # keys of one push
EARLIER = (
    "results",
    "The line begins where the page was opened. The stream does not keep the results that push returned before.",
)


class StreamSource:
    """Observes a stream until it ends or the page is closed."""

    def __init__(self, stream: Stream, title: str) -> None:
        self._stream, self._title = stream, title
        self._inbox = Inbox()
        self._budget, self._late_budget, self._arrival_budget = Budget(), Budget(0.001), Budget(0.002)
        self._facts: StreamFacts | None = None
        self._notes: tuple[tuple[str, str], ...] = ()
        self._key: tuple[str, int] | None = None  # text and slot of the key whose slices are shown; None: the longest
        self._unobserve: Callable[[], None] = lambda: None
        self._at = self._pushed_at = time.monotonic()  # of the last reading, and of the last push
        self._windows_at = self._tried_at = 0.0
        self._pause = 0.0  # seconds between pushes
        self._inside = 0.0  # seconds of pushes since the last reading
        self._rows = self._results = self._batch = 0  # since the last reading; number of readings
        self._unsampled = 0  # rows since the last sample
        self._late = 0  # rejected rows at the last push
        self._late_read = 0  # at the last reading
        self._newest: Any = None  # at the last sample
        self._unread: Observation | None = None  # the last push with rejected rows, until they are read

    def start(self, inbox: Inbox) -> None:
        """Read the stream once, and then at its pushes."""
        self._inbox = inbox
        self._stream.inspect(self._begin)

    def ask_slices(self, key: str) -> None:
        self._stream.inspect(lambda observation: self._find(observation, key))
        self._stream.inspect(self._read)

    def poll(self) -> None:
        """Read pushes that came since the last reading, if no push follows that would do it."""
        if self._rows and time.monotonic() - self._pushed_at >= min(IDLE_S, INTERVAL_S):
            self._stream.inspect(self._read_at_rest)

    def stop(self) -> None:
        self._unobserve()

    def _begin(self, observation: Observation) -> None:
        self._notes = () if observation.state is None else (EARLIER,)
        self._unobserve = self._stream.observe(self._observe)
        self._late = self._late_read = self._stream.late_count
        self._read(observation)

    # --- each push -----------------------------------------------------------------------------------

    def _observe(self, push: Observation) -> None:
        """Count a push; read more of it if it is time, because a push can be as short as some microseconds."""
        count, results, late = push.count, push.results, self._stream.late_count
        self._rows += count
        self._unsampled += count
        if results.num_rows:
            self._results += results.num_rows
            self._inbox.put_results(results)
        now = time.monotonic()
        self._pause += max(0.0, push.began - self._pushed_at)
        self._inside += now - push.began
        self._pushed_at = now
        if late != self._late:
            self._late, self._unread = late, push
        if now - self._tried_at >= SAMPLE_S:
            self._tried_at = now
            self._read_more(push, now)

    def _read_more(self, push: Observation, now: float) -> None:
        """Read rejected rows, arriving rows and the state, as far as there is time for them."""
        clock = self._clock()
        if self._unread is push and self._late_budget.has_time(clock):
            self._read_late()
        if self._arrival_budget.has_time(clock):
            with self._arrival_budget.spent():
                self._read_arrivals(push)
        if now - self._at >= INTERVAL_S and self._budget.has_time(clock):
            self._read(push, now - self._windows_at >= WINDOWS_S)

    def _clock(self) -> float:
        """Return the time that the stream has had: on a busy machine, a push takes long, but computes no more."""
        return time.thread_time() + self._pause

    def _read_late(self) -> None:
        """Put the rejected rows of the last push that has some."""
        push, self._unread = self._unread, None
        if push is None:
            return
        with self._late_budget.spent():
            rows, before = push.rejected(MOST_LATE)
            watermark = self._position(push, before)
            for row in rows.to_pylist():
                position = row.pop("_position")
                own = None if position is None else self._position(push, position)
                self._inbox.put(LateRow(_text(row), own, watermark, _reason(own)))

    # --- a few times per second --------------------------------------------------------------------------

    def _read(self, push: Observation, with_windows: bool = True) -> None:
        with self._budget.spent():
            facts = self._facts_of(push)
            if facts != self._facts:
                self._facts = facts
                self._inbox.put(facts)
            if push.plan is not None:
                self._read_figures(push)
                if with_windows:
                    self._read_windows(push)
                    self._read_slices(push)
                    self._windows_at = time.monotonic()
        self._at, self._rows, self._results, self._late_read = time.monotonic(), 0, 0, self._late
        self._inside = 0.0

    def _read_at_rest(self, stream: Observation) -> None:
        self._read_late()
        self._read(stream)

    def _facts_of(self, push: Observation) -> StreamFacts:
        plan, by = push.plan, tuple(self._stream.options.by)
        if plan is None:
            unplanned = tuple(
                QueryFacts(each.name, str(each), tuple(name for name, _ in each.aggregates))
                for each in self._stream.queries
            )
            return StreamFacts(self._title, "number", by, None, 0.0, unplanned)
        return facts_of_plan(plan, self._title, self._notes)

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
            why=why_of(push),
        )
        self._inbox.put(figures)
        if self._rows:
            inside = min(elapsed, self._inside)
            self._inbox.put(
                MicroBatch(self._batch, self._rows, (("pushes", inside * 1e3), ("pauses", (elapsed - inside) * 1e3)))
            )
        if figures.is_ended:
            self._inbox.put(Stopped("stopped", "The stream has ended."))

    def _read_arrivals(self, push: Observation) -> None:
        sample = push.sample(MOST_SAMPLED)
        if not sample.num_rows:
            return
        positions = _numbers(sample.column("position"), self._unit(push))
        texts = key_texts([sample.column(name) for name in self._stream.options.by], sample.num_rows)
        counts = pa.table({"key": texts}).group_by("key").aggregate([([], "count_all")])
        busiest = counts.sort_by([("count_all", "descending")]).slice(0, MOST_BUSY)
        keys = zip(busiest.column("key").to_pylist(), busiest.column("count_all").to_pylist(), strict=True)
        weight, self._unsampled = max(1.0, self._unsampled / sample.num_rows), 0
        self._inbox.put(Arrivals(positions, self._position(push, self._newest), weight, tuple(keys)))
        self._newest = None if push.state is None else push.state.newest

    def _read_windows(self, push: Observation) -> None:
        rows = push.windows(MOST_KEYS)
        starts, ends = (_numbers(rows.column(name), self._unit(push)) for name in ("window_start", "window_end"))
        columns = rows.column("query").to_pylist(), starts.tolist(), ends.tolist(), rows.column("keys").to_pylist()
        self._inbox.put(tuple(OpenWindow(*each) for each in zip(*columns, strict=True))[:MOST_WINDOWS])

    def _find(self, observation: Observation, key: str) -> None:
        """Find the slot of a key."""
        slots, columns = observation.keys()
        place = pc.index(key_texts(columns, len(slots)), key).as_py()
        self._key = None if place < 0 else (key, int(slots[place]))

    def _read_slices(self, push: Observation) -> None:
        if self._key is not None:
            text, slot = self._key
            slots, columns = push.keys(np.array([slot]))
            if key_texts(columns, len(slots))[0].as_py() != text:
                self._key = None  # the key is gone, and another one has its slot
        rows, cut_by = push.slices(None if self._key is None else self._key[1])
        if not rows.num_rows:
            return
        unit, by = self._unit(push), self._stream.options.by
        starts, ends = (_numbers(rows.column(name), unit).tolist() for name in ("first", "end"))
        key = key_texts([rows.column(name).slice(0, 1) for name in by], 1)[0].as_py()
        slices = [(start, end, None, cuts) for start, end, cuts in zip(starts, ends, cut_by, strict=True)]
        self._inbox.put(SliceFacts(key, tuple(slices[-MOST_SLICES:])))

    # --- positions -----------------------------------------------------------------------------------------

    def _unit(self, push: Observation) -> Any:
        assert push.plan is not None
        return unit_of_plan(push.plan)

    def _position(self, push: Observation, position: Any) -> float | None:
        """Return a position in the unit of the page; None if it is that of no row."""
        assert push.plan is not None
        measure = push.plan.measure
        if position is None or not measure.lowest < position < measure.highest:
            return None
        return self._length(push, position)

    def _length(self, push: Observation, length: Any) -> float:
        assert push.plan is not None
        return length_on(push.plan, length)


def _numbers(column: Any, unit: Any) -> Any:
    """Return positions or edges in the unit of the page; NaN for null."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array
    numbers = array.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers / 1e6 if unit == "time" else numbers


def _text(row: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in row.items())


def _reason(position: float | None) -> str:
    if position is None:
        return "It has no position: the value of `on` is null, not finite, or too large."
    return "It came after the watermark had passed it by more than the allowed lateness."
