"""What an observer of a stream reads after a push: figures, a few of the rows, open windows, slices."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.inspection import cut_by, next_end, open_count, slices_of, window_counts
from sash.engine.tables import Rows, read_rows
from sash.slicing.slices import Array

if TYPE_CHECKING:
    from sash.engine.state import State
    from sash.engine.stream import Stream
    from sash.plan.plan import Plan

__all__ = ["Observation", "Observer", "Observers", "Rejected"]


class Observation:
    """One push of a stream. Its methods read the stream as it is after the push: call them before you return.

    >>> import sash
    >>> stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t", by="k")
    >>> stop = stream.observe(lambda push: print(push.count, push.results.num_rows, push.windows(100).to_pylist()))
    >>> _ = stream.push({"t": [1, 12], "k": ["a", "a"]}, watermark=10)
    2 1 [{'query': 'n', 'window_start': 10, 'window_end': 20, 'keys': 1}]
    >>> stop()
    """

    __slots__ = ("_rejected", "began", "results", "rows", "stream")

    def __init__(
        self, stream: "Stream", rows: Any, results: pa.Table, rejected: "Rejected | None" = None, began: float = 0.0
    ) -> None:
        self.stream, self._rejected = stream, rejected
        self.began = began  # when the push began, by `time.monotonic`
        self.rows = rows  # as they were pushed
        self.results = results

    @property
    def count(self) -> int:
        """The number of rows of the push."""
        rows = self.rows
        if type(rows) is dict:
            return len(next(iter(rows.values()))) if rows else 0
        return len(rows) if hasattr(rows, "__len__") else int(read_rows(rows).count)

    @property
    def plan(self) -> "Plan | None":
        """The plan; None before the first rows."""
        return self.stream.plan

    @property
    def state(self) -> "State | None":
        """The state; None before the first rows."""
        return self.stream.state

    def sample(self, most: int) -> pa.Table:
        """Return at most so many rows of the push, evenly spaced: the columns `on` and `by`, and `position`."""
        plan, rows = self.plan, read_rows(self.rows)
        if plan is None or not rows.count:
            return pa.table({})
        step = -(-rows.count // most)
        positions, valid = rows.positions(plan.options.on, plan.measure)
        mask = None if valid is None else ~valid[::step]
        columns = {name: rows.arrow(name).take(pa.array(np.arange(0, rows.count, step))) for name in plan.options.by}
        return pa.table({**columns, "position": pa.array(positions[::step], mask=mask)})

    def rejected(self, most: int) -> tuple[pa.Table, Any]:
        """Return the last rejected rows of the push, at most so many, and the watermark that rejected them.

        The rows have all their columns, and `_position`, which is null for a row without one.
        """
        plan, found = self.plan, self._rejected
        if plan is None or found is None:
            return pa.table({}), None
        positions, valid = found.rows.positions(plan.options.on, plan.measure)
        places = found.places[-most:]
        mask = None if valid is None else ~valid[places]
        rows = found.rows.table().take(pa.array(places))
        return rows.append_column("_position", pa.array(positions[places], mask=mask)), found.watermark

    def windows(self, most_keys: int) -> pa.Table:
        """Return open windows with the number of keys that have rows in them, from at most so many keys."""
        if self.plan is None or self.state is None:
            return pa.table({})
        return window_counts(self.plan, self.state, self._some_slots(most_keys))

    def keys(self, slots: Array | None = None) -> tuple[Array, list[Any]]:
        """Return the slots of keys that have slices, or the given ones, and the columns `by` of their keys."""
        if self.state is None:
            return np.zeros(0, np.int64), []
        slots = np.flatnonzero(self.state.slices.count) if slots is None else slots
        return slots, self.state.keys.columns(slots) if self.stream.options.by else []

    def slices(self, slot: int | None) -> tuple[pa.Table, list[tuple[str, ...]]]:
        """Return the slices of one key, and the queries that cut each at its end; without a slot, of some long key."""
        if self.plan is None or self.state is None or not len(self.state.slices.count):
            return pa.table({}), []
        wanted = self.state.slices.count.argmax() if slot is None else slot
        table = slices_of(self.plan, self.state, np.array([wanted]))
        ends, _ = self.plan.measure.positions(table.column("end"))
        return table, cut_by(self.plan, ends)

    @property
    def open_windows(self) -> int:
        """About how many windows have rows and are not closed."""
        return 0 if self.plan is None or self.state is None else open_count(self.plan, self.state)

    @property
    def next_end(self) -> Any:
        """The first end of a window after the watermark, as a position; None if rows decide it."""
        return None if self.plan is None or self.state is None else next_end(self.plan, self.state)

    def _some_slots(self, most: int) -> Array:
        assert self.state is not None
        used = np.flatnonzero(self.state.slices.count)
        return used[:: -(-len(used) // most)] if len(used) > most else used


class Rejected(NamedTuple):
    """The rows of a push, the places of those that were rejected, and the watermark that rejected them."""

    rows: Rows
    places: Array
    watermark: Any


Observer = Callable[[Observation], None]


class Observers:
    """The observers of one stream. One that raises an error is removed: it never fails a push."""

    def __init__(self) -> None:
        self.all: tuple[Observer, ...] = ()
        self.rejected: Rejected | None = None  # of the running push

    def add(self, observer: Observer) -> Callable[[], None]:
        self.all = (*self.all, observer)
        return lambda: self._remove(observer)

    def _remove(self, observer: Observer) -> None:
        self.all = tuple(each for each in self.all if each is not observer)

    def show(self, stream: "Stream", rows: Any, results: pa.Table, began: float) -> pa.Table:
        """Call each observer with a push, and return its results."""
        observation, self.rejected = Observation(stream, rows, results, self.rejected, began), None
        for observer in self.all:
            try:
                observer(observation)
            except Exception:
                self._remove(observer)
        return results
