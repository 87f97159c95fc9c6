"""One window that slides by hand: insert, evict, query, save, restore."""

from typing import Any, Never

import numpy as np

from sash.algebra.aggregate import Template
from sash.errors import (
    CallWithinCall,
    EmptyWindow,
    InvalidInput,
    InvalidState,
    SashError,
    UnknownAttribute,
    UnsupportedAggregate,
)
from sash.keywords import checked
from sash.swag import state_bytes, window_rows, window_state
from sash.swag import values as border
from sash.swag import window_kernels as kernels
from sash.swag.catalog import ALGORITHMS
from sash.swag.facts import Sizes
from sash.swag.guard import guarded
from sash.swag.window_steps import LAST_POSITION, WindowSteps

__all__ = ["Window", "open"]


@checked
def open(algorithm: str, aggregate: Template, *, dtype: Any = None) -> "Window":
    """Open an empty window over one aggregate, to insert and evict by hand.

    The type of its values is `dtype`, or that of the first value inserted (float64 if that is None).

    >>> import sash
    >>> w = sash.swag.open("daba_lite", sash.max())
    >>> w.insert(3); w.insert(1); w.query(), len(w)
    (3, 2)
    >>> w.evict(); w.query()
    1
    """
    return Window(algorithm, aggregate, dtype)


# Names of the methods of other data structures.
_ELSEWHERE = {
    "window.insert(value)": ("push", "add", "append", "put", "update", "enqueue"),
    "window.evict()": ("pop", "popleft", "remove", "dequeue"),
    "window.query()": ("get", "value", "result", "aggregate_value", "max", "min", "sum", "mean"),
}


class Window(WindowSteps):
    """A sliding window over one aggregate; `open` makes one.

    Threads can share it: each call waits until the previous one is done.

    >>> import sash
    >>> window = sash.swag.open("daba_lite", sash.max())
    >>> window.insert_many([3, 1, 2]); window.evict(); window.query()
    2
    >>> sash.swag.open("daba_lite", sash.max()).restore(window.save()).query()
    2
    """

    def __getattr__(self, name: str) -> Never:
        for ours, theirs in _ELSEWHERE.items():
            if name in theirs:
                raise UnknownAttribute.of_kind("sash.swag.Window", name, ours)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- in order --------------------------------------------------------------------------------

    # `insert`, `evict` and `query` do what `guarded` does by themselves: its wrapper takes a quarter of a short call.

    def insert(self, *values: Any) -> None:
        """Insert one value at the newest end; for an aggregate of several columns, one value each."""
        guard = self._guard
        with guard.lock:
            if guard.running:
                raise CallWithinCall.of("window", "insert", guard.running)
            guard.running = "insert"
            try:
                calls = self._calls
                if calls is None or calls.state is not self._state or calls.rows < 0 or self._has_gaps:
                    calls = self._row_calls()
                if calls is not None and calls.kept >= calls.capacity:
                    self._reserve(1)
                    calls = self._row_calls()
                if calls is None or not calls.lift(values):
                    self._insert(self._row(values))
                    return
                try:
                    calls.insert()
                except Exception as error:
                    raise self._broken_by(error) from error
                if calls.review <= 0:
                    self._release()
            finally:
                guard.running = ""

    @guarded
    def insert_many(self, values: Any) -> None:
        """Insert a column of values in order, all or none of them.

        >>> import sash
        >>> w = sash.swag.open("two_stacks_lite", sash.sum())
        >>> w.insert_many([1, 2, 3]); w.query()
        6
        """
        columns = border.read(values, max(1, self.aggregate.arity), self.aggregate.name)
        if len(columns[0]):
            self._insert(self._typed(columns))

    def evict(self, count: int = 1) -> None:
        """Evict the oldest value, or the `count` oldest."""
        guard = self._guard
        with guard.lock:
            if guard.running:
                raise CallWithinCall.of("window", "evict", guard.running)
            guard.running = "evict"
            try:
                calls = self._calls
                if calls is None or calls.state is not self._state or calls.rows < 0 or self._has_gaps:
                    calls = self._row_calls()
                if calls is None or type(count) is not int or not 1 <= count <= calls.rows:
                    self._evict(count)
                    return
                try:
                    calls.evict(count)
                except Exception as error:
                    raise self._broken_by(error) from error
                if calls.is_roomy:
                    self._release()
            finally:
                guard.running = ""

    def _evict(self, count: Any) -> None:
        count = border.at_least("count", count, 1)
        if len(self) < count:
            raise EmptyWindow.cannot("evict from" if count == 1 else f"evict {count} rows from")
        none = self._usable().allocate(0)
        self._run(kernels.move, count, none, none)
        self._release()

    def query(self, last: int | None = None) -> Any:
        """Return the aggregate of the window, or of its `last` newest values if the algorithm answers many ranges."""
        guard = self._guard
        with guard.lock:
            if guard.running:
                raise CallWithinCall.of("window", "query", guard.running)
            guard.running = "query"
            try:
                calls = self._calls
                if calls is None or calls.state is not self._state or calls.rows < 0 or self._has_gaps:
                    calls = self._row_calls()
                if calls is None or last is not None or not calls.rows:
                    return self._query(last)
                try:
                    partial = calls.query()
                except Exception as error:
                    raise self._broken_by(error) from error
                return self._lowered(partial, calls.lower)
            finally:
                guard.running = ""

    def _query(self, last: Any) -> Any:
        if not len(self):
            raise EmptyWindow.cannot("query")
        monoid = self._usable()
        answer = monoid.allocate(1)
        if last is None:
            self._run(kernels.move, 0, monoid.allocate(0), answer)
        else:
            if not self._algorithm.facts.ranges:
                raise UnsupportedAggregate.many_ranges(self.algorithm, ["flat_fat", "fiba"])
            if isinstance(last, bool) or not isinstance(last, int | np.integer) or not 1 <= last <= len(self):
                raise InvalidInput.option("last", last, f"a whole number from 1 to {len(self)}")
            self._run(kernels.query_newest, int(last), answer)
        return self._lowered_first(answer)

    # --- anywhere in the window, by index --------------------------------------------------------

    @guarded
    def update_at(self, index: Any, *values: Any) -> None:
        """Replace the value at an index, or the values at many: all or none of them.

        Index 0 is the oldest row. With an array of indexes, pass a column of values; of a repeated index, the last
        value counts. Many at once take fewer combines than one by one.

        >>> import sash
        >>> w = sash.swag.open("flat_fat", sash.sum())
        >>> w.insert_many([1, 2, 3, 4]); w.update_at(0, 10); w.query()
        19
        >>> w.update_at([3, 1], [40, 20]); w.query()
        73
        """
        self._needs_step("update_at")
        if not len(self):
            raise EmptyWindow.cannot("update")
        if not window_rows.is_column(index):
            indexes = np.array([window_rows.index("index", index, 0, len(self) - 1)])
            typed = self._row(values)
        else:
            indexes = window_rows.indexes(index, len(self))
            many = values[0] if len(values) == 1 else values
            typed = self._typed(border.read(many, max(1, self.aggregate.arity), self.aggregate.name))
            if len(indexes) != len(typed[0]):
                raise InvalidInput.ragged([len(indexes), len(typed[0])])
        monoid = self._usable()
        order = np.argsort(indexes, kind="stable")
        order = order[np.append(np.diff(indexes[order]) > 0, True)] if len(order) else order
        partials = window_rows.rows_in_order(window_rows.lifted(self.aggregate, monoid, typed), order)
        places = indexes[order] if monoid.is_compiled else indexes[order].tolist()
        self._run(kernels.update_indexes, places, partials, len(order))

    @guarded
    def remove_at(self, index: int) -> None:
        """Remove the row at an index; index 0 is the oldest row, and the rows after it move up by one.

        >>> import sash
        >>> w = sash.swag.open("flat_fat", sash.sum())
        >>> w.insert_many([1, 2, 3, 4]); w.remove_at(1); w.query(), w.query_range(0, 2)
        (8, 4)
        """
        self._needs_step("remove_at")
        if not len(self):
            raise EmptyWindow.cannot("remove a row from")
        place = window_rows.index("index", index, 0, len(self) - 1)
        self._has_gaps = self._has_gaps or self._algorithm.facts.sizes is Sizes.UNORDERED
        self._run(kernels.remove_index, place)
        self._release()

    @guarded
    def query_range(self, lo: int, hi: int) -> Any:
        """Return the aggregate of the rows with indexes in [lo, hi); index 0 is the oldest row.

        >>> import sash
        >>> w = sash.swag.open("b_int", sash.max())
        >>> w.insert_many([5, 1, 4, 2]); w.query_range(1, 3), w.query_range(0, len(w))
        (4, 5)
        """
        self._needs_step("query_range", "query_between")
        if not len(self):
            raise EmptyWindow.cannot("query")
        start = window_rows.index("lo", lo, 0, len(self))
        end = window_rows.index("hi", hi, start, len(self))
        answer = self._usable().allocate(1)
        self._run(kernels.query_indexes, start, end, answer)
        return self._lowered_first(answer)

    def _needs_step(self, call: str, step: str = "") -> None:
        if not self._algorithm.has_step(step or call):
            able = [name for name, each in ALGORITHMS.items() if each.has_step(step or call)]
            raise InvalidInput.no_index(self.algorithm, call, able)

    # --- in any order, by position ---------------------------------------------------------------

    @guarded
    def insert_at(self, positions: Any, values: Any) -> None:
        """Insert values at whole-number positions, in any order; values at one position are combined.

        >>> import sash
        >>> w = sash.swag.open("fiba", sash.sum())
        >>> w.insert_at([10, 30, 20], [1, 3, 2]); w.query_positions(10, 21), w.query()
        (3, 6)
        >>> w.evict_until(10); w.query()
        5
        """
        self._needs_positions()
        columns = border.read(values, max(1, self.aggregate.arity), self.aggregate.name)
        places = np.asarray(positions)
        if places.ndim != 1 or len(places) != len(columns[0]):
            raise InvalidInput.ragged([places.size, len(columns[0])])
        if len(places) and (places.dtype.kind not in "iu" or int(places.max()) > LAST_POSITION):
            raise InvalidInput.option("positions", positions, "whole numbers of 64 bits, one per value")
        order = np.argsort(places, kind="stable")
        typed = self._typed(columns)
        partials = window_rows.lifted(self.aggregate, self._usable(), typed)
        self._reserve(len(order))
        self._has_gaps = True
        ordered = window_rows.rows_in_order(partials, order)
        self._run(kernels.insert_at_positions, places[order].astype(np.int64), ordered, len(order))

    @guarded
    def evict_at(self, position: int) -> bool:
        """Evict what is at a position; return whether there was something."""
        self._needs_positions()
        place = window_rows.position(position)
        self._has_gaps = True
        return len(self) > 0 and bool(self._run(kernels.evict_at_position, place))

    @guarded
    def evict_until(self, position: int) -> None:
        """Evict everything up to and at a position; the cost hardly grows with the number of rows."""
        self._needs_positions()
        place = window_rows.position(position)
        if len(self):
            self._run(kernels.evict_until_position, place)
            self._release()

    @guarded
    def query_positions(self, start: int, end: int) -> Any:
        """Return the aggregate of the positions in [start, end)."""
        self._needs_positions()
        first, last = window_rows.position(start), window_rows.position(end)
        if not len(self):
            raise EmptyWindow.cannot("query")
        answer = self._usable().allocate(1)
        self._run(kernels.query_positions, first, last, answer)
        return self._lowered_first(answer)

    def _needs_positions(self) -> None:
        if self._algorithm.facts.sizes is not Sizes.UNORDERED:
            raise InvalidInput.in_order(self.algorithm)

    # --- saved -----------------------------------------------------------------------------------

    @guarded
    def save(self) -> bytes:
        """Return the window as bytes; `restore` on a window opened alike continues from there."""
        kind = window_state.fingerprint(self.aggregate)
        content: dict[str, Any] = {"algorithm": self.algorithm, "aggregate": kind, "columns": None}
        if self._monoid is not None:
            content["state"] = self._run(window_state.save)
            content["columns"] = tuple(each.field.code for each in self._monoid.columns)
        return state_bytes.pack(content)

    @guarded
    def restore(self, blob: bytes) -> "Window":
        """Continue from what `save` returned; other bytes raise and change nothing.

        >>> import sash
        >>> w = sash.swag.open("daba_lite", sash.max())
        >>> w.insert_many([3, 1])
        >>> again = sash.swag.open("daba_lite", sash.max()).restore(w.save())
        >>> again.evict(); again.query()
        1
        """
        columns, state = window_state.read(state_bytes.unpack(blob), self.algorithm, self.aggregate)
        fresh = Window(self.algorithm, self.aggregate)
        if columns is not None:
            try:
                fresh._bind(window_state.columns_of(columns, max(1, self.aggregate.arity)))
            except SashError as error:
                raise InvalidState.damaged(f"it is not of values that {self.aggregate.name} takes") from error
            if self._monoid is not None and self._monoid.columns != fresh._usable().columns:
                raise InvalidState.other("value types", ", ".join(columns), self._usable().columns[0])
            fresh._state = window_state.restore(self._algorithm, fresh._usable(), fresh._state, state)
        self._monoid, self._state, self._calls, self._broken = fresh._monoid, fresh._state, fresh._calls, None
        self._is_restored = self._has_gaps = True
        return self
