"""What all calls of a window share: its types, its state and its room, and what a failed step means."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sash.algebra.aggregate import Aggregate, Template, bind
from sash.algebra.fields import Fields, Partial, load
from sash.algebra.monoid import Column, Monoid, Presence
from sash.errors import BrokenWindow, InvalidAggregate, InvalidInput, InvalidState, NumberOverflow, UnsupportedAggregate
from sash.swag import values as border
from sash.swag import window_kernels as kernels
from sash.swag import window_room, window_rows
from sash.swag.choose import choose, task_of
from sash.swag.facts import Needs, Sizes
from sash.swag.guard import Guard
from sash.swag.window_calls import RowCalls

__all__ = ["LAST_POSITION", "WindowSteps"]

LAST_POSITION = 2**63 - 1
_OVERFLOW = int(Presence.OVERFLOW)


class WindowSteps:
    """The state of a window over one aggregate, and the steps that change it."""

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

    # --- types -----------------------------------------------------------------------------------

    def _bind(self, columns: tuple[Column, ...]) -> None:
        invertible = self._algorithm.facts.needs is Needs.INVERT
        for column in columns:
            if column.is_time:
                raise UnsupportedAggregate.of_type("a window moved by hand", column, "numbers, booleans or strings")
        monoid = bind(self.aggregate, columns, invertible)
        if not self._algorithm.is_compiled:
            monoid = replace(monoid, is_compiled=False)
        self._monoid = monoid
        self._state = window_room.empty(self._algorithm, monoid)
        self._calls = RowCalls(self._algorithm, monoid) if RowCalls.serve(self._algorithm, monoid) else None

    def _usable(self) -> Monoid:
        if self._broken is not None:
            raise BrokenWindow.since(self.aggregate.name, self._broken) from self._broken
        assert self._monoid is not None
        return self._monoid

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

    # --- steps -----------------------------------------------------------------------------------

    def _row_calls(self) -> RowCalls | None:
        """Return the calls that move one row; None if a general call must run."""
        calls = self._calls
        if calls is None or self._broken is not None or not calls.find_functions(self._state):
            return None
        if calls.rows < 0 or self._has_gaps:  # rows that fill gaps change the capacity
            calls.count()
        return calls

    def _insert(self, columns: tuple[border.Values, ...]) -> None:
        partials = window_rows.lifted(self.aggregate, self._usable(), columns)
        if self._algorithm.facts.sizes is Sizes.UNORDERED:
            newest = int(self._algorithm.steps.newest(self._state))
            if newest > LAST_POSITION - len(columns[0]):
                raise InvalidInput.option("position", newest + 1, "a whole number of 64 bits: there is none after it")
        self._reserve(len(columns[0]))
        self._run(kernels.move, 0, partials, self._usable().allocate(0))
        self._release()

    def _reserve(self, rows: int) -> None:
        """Make room for `rows` more rows."""
        self._state = window_room.with_room(self._algorithm, self._usable(), self._state, rows)
        if self._calls is not None:
            self._calls.rows = -1

    def _release(self) -> None:
        """Free a ring that was replaced, and shrink if little of the room is in use."""
        before = self._state
        self._state = window_room.released(self._algorithm, self._usable(), before)
        if self._calls is not None:
            self._calls.rows = -1
            self._calls.may_shrink = self._state is not before

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

    # --- results ---------------------------------------------------------------------------------

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
