"""Rows that were pushed one by one and change no result yet.

A push has a fixed cost of many array operations. A row of known types and of a known key that lies at or after the
watermark, and moves it past no end of a window, changes no result. Such a row is appended to a list. All of them are
placed by one step, before the next row that is different, and before anything reads the state. So the state is the
same as without the list, whenever it is read (docs/decisions/0016-rows-pushed-one-by-one.md).
"""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.row_batch import RowBatch
from sash.engine.state import State
from sash.engine.step import Engine
from sash.plan.plan import Plan
from sash.plan.share import ColumnType, keeps_runs

__all__ = ["RowBuffer"]

_MOST_ROWS = 1024  # the cost of a step is small then, and the memory too
_LEAST, _GREATEST = -(2**63), 2**63 - 1
_KINDS = {"f8": float, "i8": int, "b1": bool}  # Python's types of the values that are buffered


class RowBuffer:
    """The rows of one stream that wait for the next step."""

    def __init__(self, engine: Engine) -> None:
        plan = engine.plan
        self.no_results = engine.no_results
        self._engine = engine
        self._on, self._by, self._in_order = plan.options.on, plan.options.by, plan.options.in_order
        self._has_delay = plan.delay is not None
        self._position = float if plan.measure.dtype.kind == "f" else int
        self._least, self._greatest = plan.measure.extent
        plain = {name: each for name, each in plan.columns.items() if each.derived is None}
        self._columns = tuple((name, _KINDS[each.column.field.code]) for name, each in plain.items())
        self._texts = {name: each.derived.source for name, each in plan.columns.items() if each.derived is not None}
        self._labels: tuple[tuple[str, dict[Any, int]], ...] = ()  # of strings, by their columns
        self._rows: list[list[Any]] = []  # position, slot, values, labels
        self._most = 0  # rows that can be buffered; 0: it must be computed from the state
        self._watermark: Any = None  # after the buffered rows
        self._newest: Any = None
        self._end: Any = None  # no window ends before it
        self._table: dict[Any, int] = {}
        self._keys: tuple[tuple[str, frozenset[type]], ...] = ()  # names, and the types of keys as given

    @classmethod
    def of(cls, engine: Engine) -> "RowBuffer | None":
        """Return the buffer of a plan; None if every row of it may change a result or call a user's function."""
        return cls(engine) if _is_quiet(engine.plan) else None

    def add(self, state: State | None, rows: Any) -> bool:
        """Append a row that changes no result; return false if a step must process it, after the buffered ones."""
        if type(rows) is not dict or (not self._most and not self._prepare(state)) or len(self._rows) >= self._most:
            return False
        for name, column in rows.items():
            if type(column) is not list or len(column) != 1 or type(name) is not str:
                return False
        try:
            position = rows[self._on][0]
            slot = self._slot(rows)
            row = [position, slot]
            for name, kind in self._columns:
                value = rows[name][0]
                row.append(value)
                if type(value) is int:  # whole numbers are floats, too
                    if kind is bool or not _LEAST <= value <= _GREATEST:
                        return False
                elif type(value) is not kind:
                    return False
            for name, labels in self._labels:
                row.append(labels[rows[name][0]])
        except (KeyError, TypeError):  # a column is missing, or a value is new or of another type
            return False
        if slot is None or type(position) is not self._position or not self._least <= position <= self._greatest:
            return False
        if position < self._watermark:
            return False
        if self._in_order:
            newest = after = position
        else:
            newest = position if position > self._newest else self._newest
            after = self._engine.watermarks.after(self._watermark, newest) if self._has_delay else self._watermark
        if after != self._watermark and after >= self._end:
            return False
        self._watermark, self._newest = after, newest  # first: if an interrupt comes now, a step checks the next row
        self._rows.append(row)
        return True

    def _slot(self, rows: dict[str, list[Any]]) -> int | None:
        """Return the slot of the key of a row; None for a new key, or one that Arrow has to read."""
        key = []
        for name, kinds in self._keys:
            value = rows[name][0]
            if type(value) not in kinds:
                return None
            key.append(value)
        return self._table.get(key[0] if len(key) == 1 else tuple(key))

    def _prepare(self, state: State | None) -> bool:
        """Read from the state which rows change no result; return false if there are none."""
        if state is None or state.broken is not None or state.added or state.unseen or not state.keys.capacity:
            return False
        swept = 2 * state.swept + self._engine.plan.options.limits.sweep_slices
        self._most = max(0, min(_MOST_ROWS, swept - state.slices.used))  # a row makes at most one slice
        self._watermark, self._newest = state.watermark, state.newest
        self._end = self._engine.trigger.next_end(state.watermark)
        self._table = state.keys.table
        self._labels = tuple((source, state.dictionaries[source].known) for source in self._texts.values())
        direct = (each.direct - {type(None)} for each in state.keys.key_columns)
        self._keys = tuple(zip(self._by, direct, strict=True))
        return self._most > 0

    def place(self, state: State) -> None:
        """Place the buffered rows in one step."""
        self._most = 0
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        plan = self._engine.plan
        positions, slots, *values = zip(*rows, strict=True)
        valid = np.ones(len(rows), np.bool_)
        names = (*(name for name, _ in self._columns), *self._texts)
        columns = {
            name: (np.array(each, plan.columns[name].column.field.dtype), valid)
            for name, each in zip(names, values, strict=True)
        }
        batch = RowBatch(
            np.array(slots, np.int64), np.array(positions, plan.measure.dtype) + 0, np.zeros(0, np.int64), columns
        )
        self._engine.advance(state, batch)


def _is_quiet(plan: Plan) -> bool:
    """Return whether only the end of a window on a grid, and rows behind the watermark, change results."""
    return (
        bool(plan.queries)  # all may have been removed
        and not plan.calls_user_functions
        and not plan.waits
        and not plan.punctuations
        and not plan.watched
        and plan.options.emit == "final"
        and not (plan.has_revisions and plan.tree.choice)
        and all(each.kind.shared_grid is not None for each in plan.queries)
        and all(group.is_compiled and not keeps_runs(group) for group in plan.groups)
        and all(_is_plain(each) for each in plan.columns.values())
    )


def _is_plain(kind: ColumnType) -> bool:
    if kind.derived is not None:
        return kind.has_labels and not pa.types.is_decimal(kind.arrow)
    return kind.column.field.code in _KINDS and not kind.column.is_time
