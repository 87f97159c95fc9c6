"""Calls of a window that move one row: compiled functions and buffers that are found once and used again.

Looking up the types of all arguments takes 20 µs per call, many times as long as the step itself. A window keeps its
algorithm, its aggregate and the types of its arrays. So the lookup is done once, and again only if the arrays of the
state have other types. These calls do the same as the general ones in `window`; what they cannot do, they leave to
those and return false or None.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sash.algebra.compiler import JIT_DISABLED, entry_point
from sash.algebra.monoid import Monoid, Presence
from sash.swag import window_kernels as kernels
from sash.swag.contract import Algorithm
from sash.swag.facts import Sizes
from sash.swag.window_room import LEAST_CAPACITY, kept, layout_of

__all__ = ["RowCalls"]

_KINDS = {"f8": float, "i8": int, "b1": bool}  # Python's types of the values that calls of one row read
_VALUE = int(Presence.VALUE)
_NEVER = 1 << 62  # more steps than a window can live


class RowCalls:
    """The compiled functions of one window, and buffers of one row."""

    def __init__(self, algorithm: Algorithm, monoid: Monoid) -> None:
        self.rows = -1  # in the window; -1: not known
        self.kept = 0  # how much of the capacity is in use, at most
        self.capacity = 0
        self.review = _NEVER  # steps until a ring may be freed, or be too long
        self.may_shrink = True
        self.positions = 0  # how many rows can be appended before positions end
        self._statics = algorithm, monoid
        layout = layout_of(algorithm)
        self._layout = layout
        self._drops_rows = layout is not None and layout.kept is not None
        self.state: Any = None
        self._to_insert: tuple[Any, ...] = ()  # arguments of the compiled function
        self._to_query: tuple[Any, ...] = ()
        self._types: Any = None
        self._move: Callable[..., None] | None = None
        self._lift: Callable[..., None] | None = None
        self._none, self._partial, self._answer = monoid.allocate(0), monoid.allocate(1), monoid.allocate(1)
        self._items = tuple(each.item for each in self._answer)
        kinds = [_KINDS.get(each.field.code) for each in monoid.columns]
        self._data = tuple(np.zeros(1, each.field.dtype) for each in monoid.columns)
        self._valid = tuple(np.ones(1, np.bool_) for _ in kinds)
        self._to_lift = monoid, (*self._data, *self._valid), self._partial
        self._has_null = False
        self._cells = tuple(zip(self._data, self._valid, kinds, strict=True))
        self._kind = kinds[0] if len(kinds) == 1 else None  # of the values, if there is one column
        output = monoid.outputs[0]
        self._lower, self._presence = output.lower, output.presence
        self._fields = None if output.fields == tuple(range(len(monoid.fields))) else output.fields

    @staticmethod
    def serve(algorithm: Algorithm, monoid: Monoid) -> bool:
        """Return whether the steps of a window are compiled, and its partials and values are plain numbers."""
        is_compiled = not JIT_DISABLED and algorithm.is_compiled and monoid.is_compiled
        return is_compiled and not monoid.needs_heap and not monoid.has_objects

    def find_functions(self, state: Any) -> bool:
        """Find the compiled functions for a state; return whether there are any: a general call compiles them."""
        if self.state is state and self._move is not None:
            return True
        self.rows, self.may_shrink = -1, True
        types = _types_of(state)
        if self._move is None or types != self._types:
            algorithm, monoid = self._statics
            self._move = entry_point(kernels.move, (algorithm, monoid, state, 0, self._none, self._none))
            self._types = types
        self.state = state
        self._to_insert = (*self._statics, state, 0, self._partial, self._none)
        self._to_query = (*self._statics, state, 0, self._none, self._answer)
        return self._move is not None

    def count(self) -> None:
        """Read from the state how many rows there are, how many fit, and how many positions are left."""
        steps, state = self._statics[0].steps, self.state
        self.rows, self.capacity = int(steps.count(state)), steps.capacity(state)
        self.kept = kept(self._statics[0], state)
        left = 0 if self._layout is None else self._layout.steps_left(state)
        # A step can drop any number of rows: then what is kept is read from the state, but not every time.
        self.review = left or (self.capacity if self._drops_rows and self.capacity > LEAST_CAPACITY else _NEVER)
        is_unordered = self._statics[0].facts.sizes is Sizes.UNORDERED
        self.positions = 2**63 - 1 - (int(steps.newest(state)) if is_unordered else 0)

    def insert(self) -> None:
        """Insert the row that `lift` has lifted."""
        self._move(*self._to_insert)  # type: ignore[misc]
        self.rows += 1
        self.kept += 1
        self.positions -= 1
        self.review -= 1

    def evict(self, count: int) -> None:
        """Evict the oldest rows."""
        self._move(*self._statics, self.state, count, self._none, self._none)  # type: ignore[misc]
        self.rows -= count
        self.review -= count
        if not self._drops_rows:
            self.kept = self.rows

    @property
    def is_roomy(self) -> bool:
        """Whether there is much room, or a ring may be freed."""
        if self.review <= 0:
            return True
        return self.may_shrink and 4 * self.kept <= self.capacity > LEAST_CAPACITY and self.review > _NEVER // 2

    def query(self) -> tuple[Any, ...]:
        """Return the partial of the window, as Python numbers."""
        self._move(*self._to_query)  # type: ignore[misc]
        items = self._items
        if len(items) == 2:  # sums, means and extremes; a loop takes as long as the step
            return items[0](), items[1]()
        return tuple([read() for read in items])

    def lower(self, partial: tuple[Any, ...]) -> tuple[Any, int]:
        """Return the result and whether there is one, as `Output.read` does."""
        own = partial if self._fields is None else tuple([partial[k] for k in self._fields])
        if self._presence is None or (presence := self._presence(own)) == _VALUE:
            return self._lower(own), _VALUE
        return None, presence

    def lift(self, values: tuple[Any, ...]) -> bool:
        """Lift a row of plain numbers; return false if a general call must insert it, or say why it cannot be."""
        if self.kept >= self.capacity or not self.positions:
            return False
        if self._lift is None:
            self._lift = entry_point(kernels.lift_rows, self._to_lift)
            if self._lift is None:
                return False
        try:
            if len(values) == 1 and type(values[0]) is self._kind and not self._has_null:
                self._data[0][0] = values[0]
            elif not self._read(values):
                return False
            self._lift(*self._to_lift)
        except Exception:
            return False
        return True

    def _read(self, values: tuple[Any, ...]) -> bool:
        """Write the values of a row to the buffers; return false if one is of another type."""
        if len(values) != len(self._cells):
            return False
        self._has_null = None in values
        for value, (data, valid, kind) in zip(values, self._cells, strict=True):
            valid[0] = value is not None
            if value is None:
                data[0] = 0
            elif type(value) is kind or (type(value) is int and kind is float and -(2**63) <= value < 2**63):
                data[0] = value
            else:
                return False
        return True


def _types_of(state: Any) -> Any:
    """Return what distinguishes the arrays of a state to the compiler."""
    if isinstance(state, tuple):
        return tuple(_types_of(each) for each in state)
    flags = state.flags
    return state.dtype, state.ndim, flags.c_contiguous, flags.writeable, flags.aligned
