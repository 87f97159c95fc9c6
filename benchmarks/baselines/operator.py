"""The common part of all techniques: add rows, find the windows that are due, fold them, drop old rows.

A push runs only kernels, which cannot allocate. A kernel that runs out of room returns where it stopped; the caller
adds room and calls it again.
"""

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.baselines.windows import NEVER, Layout
from sash.algebra.compiler import compiled_reading, from_source, jitable
from sash.algebra.fields import Field, Fields, allocate
from sash.algebra.monoid import Monoid
from sash.errors import InvalidInput

__all__ = ["Facts", "Operator", "Results", "announce", "place_of", "shift_down", "shift_up", "widen_column"]


@dataclass(frozen=True)
class Facts:
    """What a technique can do; the tests check it."""

    title: str
    memory: str  # by Table 1 of the paper
    ordered: bool  # aggregates that do not commute, though rows are late
    late: bool  # rows in any order
    counts: bool
    sessions: bool
    punctuated: bool = False
    paper: str = "Traub et al. EDBT 2019, doi:10.5441/002/edbt.2019.10"


@dataclass(frozen=True)
class Results:
    """The windows that a push ended: the definition, [start, end), and a column per output."""

    windows: np.ndarray[Any, Any]
    starts: np.ndarray[Any, Any]
    ends: np.ndarray[Any, Any]
    outputs: Fields
    presences: Fields

    def __len__(self) -> int:
        return len(self.windows)


class Operator(ABC):
    """A technique that runs on one stream."""

    def __init__(self, aggregate: Monoid, layout: Layout) -> None:
        self.aggregate = aggregate
        self.layout = layout
        self.watermark = NEVER
        self.nexts = layout.first_open_windows(NEVER)  # the next number to emit, of each time window
        self.due = tuple(np.zeros(64, np.int64) for _ in range(6))

    def push(self, positions: Any, values: Any, watermark: int, marks: Any = None) -> Results:
        """Add rows, then return the windows that end in (previous watermark, watermark].

        `values` is a column, or a tuple of columns. `marks` says which rows are punctuations.
        Rows before the previous watermark are ignored. A smaller watermark has no effect.
        """
        given = _writable(positions, np.int64)
        inputs = self._inputs(values, len(given))
        marked = np.zeros(0, np.bool_) if marks is None else _writable(marks, np.bool_)
        if len(marked) not in (0, len(given)):
            raise InvalidInput.ragged((len(given), len(marked)))
        done = self._take(given, inputs, marked, 0)
        while done < len(given):
            self._grow()
            done = self._take(given, inputs, marked, done)
        self.watermark = max(self.watermark, int(watermark))
        self.due[-1][0] = 0
        while not self._find_due():
            self.due = (*(widen_column(each, 2 * len(each)) for each in self.due[:-1]), self.due[-1])
        results = self._results(int(self.due[-1][0]))
        self._drop()
        return results

    def _inputs(self, values: Any, rows: int) -> Fields:
        columns = values if isinstance(values, tuple) else (values,)
        types = self.aggregate.columns
        if len(columns) != len(types) or any(len(column) != rows for column in columns):
            raise InvalidInput.ragged((rows, *(len(column) for column in columns)))
        given = tuple(_writable(column, each.field.dtype) for column, each in zip(columns, types, strict=True))
        return given if self.aggregate.is_compiled else tuple(column.tolist() for column in given)

    def _results(self, count: int) -> Results:
        aggregate = self.aggregate
        results = allocate(tuple(output.result for output in aggregate.outputs), count, aggregate.is_compiled)
        flags = tuple(Field("u1") for output in aggregate.outputs if output.presence)
        presences = allocate(flags, count, aggregate.is_compiled)
        if count:
            self._fold(count, results, presences)
        which, starts, ends = (each[:count].copy() for each in self.due[:3])
        return Results(which, starts, ends, results, presences)

    def _row_bytes(self) -> int:
        """Return the bytes of a row: its position and its values."""
        return 8 + sum(each.field.dtype.itemsize * each.field.width for each in self.aggregate.columns)

    def _partial_bytes(self, partials: Fields, slots: Any) -> int:
        """Return the bytes of the partials in some slots; for objects, by sys.getsizeof."""
        if self.aggregate.is_compiled:
            width = sum(each.dtype.itemsize * each.width for each in self.aggregate.fields)
            return width * len(slots)
        return sum(8 + _object_bytes(field[slot]) for field in partials for slot in slots)

    @abstractmethod
    def size_bytes(self) -> int:
        """Return the bytes in use by the formula of the technique: rows, partials and metadata."""

    @abstractmethod
    def _take(self, positions: Any, inputs: Fields, marks: Any, begin: int) -> int:
        """Add rows from `begin` on while there is room; return how many were added."""

    @abstractmethod
    def _grow(self) -> None:
        """Make room for more rows."""

    @abstractmethod
    def _find_due(self) -> bool:
        """List the windows that the watermark ends; return False if the list is full and this must be called again."""

    @abstractmethod
    def _fold(self, count: int, results: Fields, presences: Fields) -> None:
        """Write the results of the windows on the list."""

    @abstractmethod
    def _drop(self) -> None:
        """Drop the rows and slices that no window needs."""


def _writable(column: Any, dtype: Any) -> Any:
    """Return a contiguous and writable array, so that the compiler sees one type."""
    return np.require(column, dtype, ["C", "W"])


def _object_bytes(value: Any) -> int:
    inner = sum(map(_object_bytes, value)) if isinstance(value, tuple | list) else 0
    return sys.getsizeof(value) + inner


def widen_column(column: Any, slots: int) -> Any:
    """Return the column with more room."""
    if isinstance(column, list):
        return column + [None] * (slots - len(column))
    wider = np.zeros((slots, *column.shape[1:]), column.dtype)
    wider[: len(column)] = column
    return wider


# --- what kernels share ----------------------------------------------------------------------------


@jitable
def announce(due: Any, which: int, start: int, end: int, low: int, high: int) -> bool:
    """Append a window to the list, to be folded from slots [low, high); return False if the list is full."""
    windows, starts, ends, lows, highs, filled = due
    place = filled[0]
    if place == len(windows):
        return False
    windows[place] = which
    starts[place] = start
    ends[place] = end
    lows[place] = low
    highs[place] = high
    filled[0] += 1
    return True


@jitable
def place_of(positions: Any, begin: int, end: int, position: int) -> int:
    """Return the first of the slots [begin, end) whose position is not before this one."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if positions[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low


def shift_up(fields: Fields, start: int, end: int) -> None:
    """Move the slots [start, end) one further."""
    for field in fields:
        for slot in range(end, start, -1):
            field[slot] = field[slot - 1]


@compiled_reading(shift_up)
def _shift_up(fields: Any, start: Any, end: Any) -> Any:
    # A loop of its own for each field, without a test for negative slots: that is a memmove to the compiler.
    return _moves(fields, "back in range(end - start)", "end - back", "end - back - 1")


def shift_down(fields: Fields, start: int, end: int) -> None:
    """Move the slots [start, end) one back."""
    for field in fields:
        for slot in range(start, end):
            field[slot - 1] = field[slot]


@compiled_reading(shift_down)
def _shift_down(fields: Any, start: Any, end: Any) -> Any:
    return _moves(fields, "slot in range(start, end)", "slot - 1", "slot")


def _moves(fields: Any, loop: str, target: str, source: str) -> Any:
    lines = "".join(
        f"    for {loop}:\n        fields[{k}][uint64({target}){', :' if array.ndim == 2 else ''}] = "
        f"fields[{k}][uint64({source})]\n"
        for k, array in enumerate(fields)
    )
    return from_source(f"def generated(fields, start, end):\n{lines}", ("uint64", np.uint64))
