"""One window that slides by hand: insert, evict, query, save, restore."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate, Template, bind
from sash.algebra.fields import Fields, Partial, load
from sash.algebra.monoid import Column, Monoid, Presence
from sash.errors import (
    BrokenWindow,
    CallWithinCall,
    EmptyWindow,
    InvalidAggregate,
    InvalidInput,
    InvalidState,
    NumberOverflow,
    SashError,
    UnsupportedAggregate,
)
from sash.swag import state_bytes, window_rows, window_state
from sash.swag import values as border
from sash.swag import window_kernels as kernels
from sash.swag.choose import choose, task_of
from sash.swag.contract import Needs, Sizes
from sash.swag.guard import Guard, guarded
from sash.swag.window_calls import RowCalls

__all__ = ["Window", "open"]

_OVERFLOW = int(Presence.OVERFLOW)
_LAST_POSITION = 2**63 - 1
_LEAST_CAPACITY = 16  # rows: a window does not shrink below this


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


class Window:
    """A sliding window over one aggregate; `open` makes one.

    Threads can share it: each call waits until the previous one is done.

    >>> import sash
    >>> window = sash.swag.open("daba_lite", sash.max())
    >>> window.insert_many([3, 1, 2]); window.evict(); window.query()
    2
    >>> sash.swag.open("daba_lite", sash.max()).restore(window.save()).query()
    2
    """

    def __init__(self, algorithm: str, aggregate: Template, dtype: Any = None) -> None:
        if not isinstance(aggregate, Template):
            raise InvalidAggregate.not_an_aggregate(aggregate)
        task = task_of({aggregate.name: aggregate}, objects=False, stepwise=True)
        chosen = choose(task, algorithm).algorithm
        self.aggregate = aggregate
        self._algorithm = chosen
        self._monoid: Monoid | None = None
        self._state: Any = None
        self._broken: BaseException | None = None
        self._is_restored = False
        self._has_gaps = False  # positions may be missing between rows
        self._calls: RowCalls | None = None
        self._guard = Guard()
        if dtype is not None:
            self._bind(window_rows.columns_of(dtype, max(1, aggregate.arity)))

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self._algorithm.name

    def __len__(self) -> int:
        return 0 if self._monoid is None else int(self._algorithm.steps.count(self._state))

    def __repr__(self) -> str:
        kind = "" if self._monoid is None else f" of {self._monoid.columns[0].field.dtype.name}"
        return f"<sash window: {self.aggregate.name}{kind} by {self.algorithm}, {len(self)} rows>"

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
                if calls is None or not calls.lift(values):
                    self._insert(self._row(values))
                    return
                try:
                    calls.insert()
                except Exception as error:
                    raise self._broken_by(error) from error
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
                if calls.may_shrink and 4 * calls.rows <= calls.capacity > _LEAST_CAPACITY:
                    before = self._state
                    self._release()
                    calls.may_shrink = self._state is not before
            finally:
                guard.running = ""

    def _evict(self, count: Any) -> None:
        count = border.at_least("count", count, 1)
        if len(self) < count:
            raise EmptyWindow.cannot("evict from" if count == 1 else f"evict {count} rows from")
        none = self._usable().allocate(0)
        self._run(kernels.move, count, none, none)
        self._release()

    def _release(self) -> None:
        """Halve the capacity while at most a quarter of it is in use."""
        monoid, steps = self._usable(), self._algorithm.steps
        while steps.capacity(self._state) > _LEAST_CAPACITY and 4 * len(self) <= steps.capacity(self._state):
            smaller = steps.resize(monoid, self._state, steps.capacity(self._state) // 2)
            if steps.capacity(smaller) >= steps.capacity(self._state):
                break  # the algorithm resizes itself
            self._state = smaller

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

    # --- in any order, by position ---------------------------------------------------------------

    @guarded
    def insert_at(self, positions: Any, values: Any) -> None:
        """Insert values at whole-number positions, in any order; values at one position are combined.

        >>> import sash
        >>> w = sash.swag.open("fiba", sash.sum())
        >>> w.insert_at([10, 30, 20], [1, 3, 2]); w.query_range(10, 21), w.query()
        (3, 6)
        >>> w.evict_until(10); w.query()
        5
        """
        self._needs_positions()
        columns = border.read(values, max(1, self.aggregate.arity), self.aggregate.name)
        places = np.asarray(positions)
        if places.ndim != 1 or len(places) != len(columns[0]):
            raise InvalidInput.ragged([places.size, len(columns[0])])
        if len(places) and (places.dtype.kind not in "iu" or int(places.max()) > _LAST_POSITION):
            raise InvalidInput.option("positions", positions, "whole numbers of 64 bits, one per value")
        order = np.argsort(places, kind="stable")
        typed = self._typed(columns)
        partials = window_rows.lifted(self.aggregate, self._usable(), typed)
        ordered = tuple(
            each[order] if isinstance(each, np.ndarray) else [each[k] for k in order.tolist()] for each in partials
        )
        self._reserve(len(order))
        self._has_gaps = True
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
    def query_range(self, start: int, end: int) -> Any:
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
        >>> w.insert_many([3, 1]); again = sash.swag.open("daba_lite", sash.max()).restore(w.save())
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

    # --- internal --------------------------------------------------------------------------------

    def _bind(self, columns: tuple[Column, ...]) -> None:
        invertible = self._algorithm.facts.needs is Needs.INVERT
        for column in columns:
            if column.is_time:
                raise UnsupportedAggregate.of_type("a window moved by hand", column, "numbers, booleans or strings")
        monoid = bind(self.aggregate, columns, invertible)
        if not self._algorithm.is_compiled:
            monoid = replace(monoid, is_compiled=False)
        self._monoid = monoid
        self._state = self._algorithm.steps.start(monoid, _LEAST_CAPACITY, ())
        self._calls = RowCalls(self._algorithm, monoid) if RowCalls.serve(self._algorithm, monoid) else None

    def _usable(self) -> Monoid:
        if self._broken is not None:
            raise BrokenWindow.since(self.aggregate.name, self._broken) from self._broken
        assert self._monoid is not None
        return self._monoid

    def _row_calls(self) -> RowCalls | None:
        """Return the calls that move one row; None if a general call must run."""
        calls = self._calls
        if calls is None or self._broken is not None or not calls.prepare(self._state):
            return None
        if calls.rows < 0 or self._has_gaps:  # rows that fill gaps change the capacity
            calls.count()
        return calls

    def _row(self, values: tuple[Any, ...]) -> tuple[border.Values, ...]:
        arity = max(1, self.aggregate.arity)
        if len(values) != arity:
            raise InvalidInput.columns(self.aggregate.name, arity, len(values))
        return self._typed(tuple(border.read_one([value]) for value in values))

    def _typed(self, columns: tuple[border.Values, ...]) -> tuple[border.Values, ...]:
        """Return the columns in the types that the window is bound to, by the first of them if it was not yet."""
        if self._monoid is None:
            self._bind(tuple(replace(each.column, nullable=True) for each in columns))
        return tuple(border.as_type(each, bound) for each, bound in zip(columns, self._usable().columns, strict=True))

    def _insert(self, columns: tuple[border.Values, ...]) -> None:
        partials = window_rows.lifted(self.aggregate, self._usable(), columns)
        if self._algorithm.facts.sizes is Sizes.UNORDERED:
            newest = int(self._algorithm.steps.newest(self._state))
            if newest > _LAST_POSITION - len(columns[0]):
                raise InvalidInput.option("position", newest + 1, "a whole number of 64 bits: there is none after it")
        self._reserve(len(columns[0]))
        self._run(kernels.move, 0, partials, self._usable().allocate(0))

    def _reserve(self, rows: int) -> None:
        """Make room for `rows` more rows."""
        steps, needed = self._algorithm.steps, len(self) + rows
        while steps.capacity(self._state) < needed:
            self._state = steps.resize(self._usable(), self._state, max(2 * steps.capacity(self._state), needed))

    def _run(self, step: Any, *arguments: Any) -> Any:
        monoid = self._usable()
        if self._calls is not None:
            self._calls.rows = -1
        try:
            return step(self._algorithm, monoid, self._state, *arguments)
        except Exception as error:
            raise self._broken_by(error) from error

    def _broken_by(self, error: Exception) -> Exception:
        """Note that a step failed halfway; return the error to raise."""
        self._broken = error
        if self._calls is not None:
            self._calls.rows = -1
        return self._unusable(error) or InvalidAggregate.breaks(self.aggregate.name, error)

    def _unusable(self, error: Exception) -> InvalidState | None:
        """Return the error for restored partials that a built-in aggregate cannot compute with."""
        if not self._is_restored or isinstance(self.aggregate, Aggregate):
            return None
        return InvalidState.partials(self.aggregate.name, error)

    def _lowered_first(self, answer: Fields) -> Any:
        return self._lowered(tuple(border.plain(each) for each in load(answer, 0)), self._usable().outputs[0].read)

    def _lowered(self, partial: Partial, read: Callable[[Partial], tuple[Any, int]]) -> Any:
        """Return the result of a partial of plain values."""
        try:
            value, presence = read(partial)
        except Exception as error:
            if isinstance(self.aggregate, Aggregate):
                raise InvalidAggregate.fails(self.aggregate.name, "lower", partial, error) from error
            raise self._unusable(error) or error from error
        if presence == _OVERFLOW:
            raise NumberOverflow.at(self.aggregate.name, 0)
        return value if type(value) is float else border.plain(value)
