"""The rows of one push as arrays, and the types of the columns of a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Builtin
from sash.algebra.fields import Field
from sash.algebra.monoid import Column
from sash.engine.derived_columns import derive, read_values
from sash.engine.keys import Keys
from sash.engine.row_batch import RowBatch
from sash.engine.tables import Rows
from sash.errors import InvalidInput
from sash.plan.plan import Plan
from sash.plan.query import Query
from sash.plan.share import ColumnType
from sash.slicing.slices import Array
from sash.swag.values import Values

__all__ = ["InputRows", "cast_column", "is_encodable", "read_input", "types_of"]

_ENCODABLE = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_fixed_size_binary, pa.types.is_decimal128, pa.types.is_decimal256),
)


@dataclass(frozen=True)
class InputRows:
    """The rows of one push as arrays, including those that the watermark rejects."""

    positions: Array
    valid: Array | None  # which rows have a position; None: all
    bits: Array  # a bit for each punctuation column; empty if the plan has none
    columns: dict[str, tuple[Any, Array]]
    keys: list[Any]  # columns

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, keys: Keys, accepted: Array | None) -> RowBatch:
        """Return the accepted rows, with values in place of labels; add new keys to `keys`, after all checks."""
        positions, bits, columns, own = self.positions, self.bits, self.columns, self.keys
        if accepted is not None:
            positions = positions[accepted]
            bits = bits[accepted] if len(bits) else bits
            columns = {name: (_take(data, accepted), valid[accepted]) for name, (data, valid) in columns.items()}
            own = [_take(each, accepted) for each in own]
        return RowBatch(_slots(keys, own, len(positions)), positions, bits, columns)


def read_input(plan: Plan, given: Rows) -> InputRows:
    """Read the columns of a table that a plan needs; refuse bad input before the state changes."""
    if given.count == 0 and not given.names:
        nothing = RowBatch.empty(plan.columns, plan.measure.dtype)
        return InputRows(nothing.positions, None, nothing.bits, nothing.columns, [])
    positions, valid = given.positions(plan.options.on, plan.measure)
    columns = _read_columns(plan.columns, given)
    keys = [given.key(name) for name in plan.options.by]
    return InputRows(positions, valid, _bits(plan, given), columns, keys)


def _read_columns(wanted: Mapping[str, ColumnType], given: Rows) -> dict[str, tuple[Any, Array]]:
    """Return data and validity of columns; of labels, the values that a dictionary encodes when they are accepted."""
    values: dict[str, Any] = {}  # of columns that others are derived from
    columns = {}
    for name, kind in wanted.items():
        if kind.derived is None:
            columns[name] = cast_column(name, given.column(name), kind)
            continue
        source = kind.derived.source
        if source not in values:
            values[source] = read_values(given, source, kind.arrow)
        columns[name] = derive(values[source], kind)
    return columns


def _bits(plan: Plan, rows: Rows) -> Array:
    bits = np.zeros(rows.count if plan.punctuations else 0, np.int64)
    for k, name in enumerate(plan.punctuations):
        given = rows.column(name)
        if given.column.field.code != "b1" and not (given.valid is not None and not given.valid.any()):
            raise InvalidInput.option(f"Column {name!r} of a punctuated window", given.column, "boolean")
        flags = np.asarray(given.data).astype(np.bool_)
        flags = flags if given.valid is None else flags & given.valid
        bits |= flags.astype(np.int64) << k
    return bits


def _slots(keys: Keys, columns: list[Any], rows: int) -> Array:
    if columns:
        return keys.slots(columns, rows)
    if rows and not keys.capacity:  # without a key, all rows have the same slot
        keys.slots([], 1)
    return np.zeros(rows, np.int64)


def _take(column: Any, places: Array) -> Any:
    if isinstance(column, np.ndarray):
        return column[places]
    if isinstance(column, list):
        return [column[place] for place in places.tolist()]
    return column.take(pa.array(places))


# --- types -----------------------------------------------------------------------------------------


def types_of(queries: Sequence[Query], rows: Rows, may_change: bool = True) -> dict[str, ColumnType]:
    """Return the types of all columns that queries read, or may read later if they may change; all are nullable.

    If queries cannot change, narrow numbers become wide ones where results stay the same: a column of another width
    then needs no kernels of its own. The Arrow type, which is that of results, stays as it is.
    """
    wanted = dict.fromkeys(name for each in queries for _, template in each.aggregates for name in template.columns)
    wanted |= dict.fromkeys(name for each in queries for name in each.window.columns)
    types = {}
    for name in _readable(rows, wanted) if may_change else [each for each in wanted if rows.has(each)]:
        if name in wanted:
            types[name] = _type_of(rows, name)
        else:
            try:
                types[name] = _type_of(rows, name)
            except Exception:  # noqa: S112  # a column that no query reads may have any type
                continue
    for name in wanted:
        rows.known(name)
    return types if may_change else {**types, **_widened(queries, types)}


# Results are numbers of 64 bits whatever the width, or values that return to the type of their column.
_OF_ANY_WIDTH = frozenset(
    {"count", "sum", "mean", "variance", "stddev", "min", "max", "first", "last", "argmin", "argmax"}
    | {"min_count", "max_count", "median", "quantile", "mode", "count_distinct"}
)
_WIDER = {**dict.fromkeys(("i1", "i2", "i4", "u1", "u2", "u4"), "i8"), "f4": "f8"}


def _widened(queries: Sequence[Query], types: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """Return wide types for columns of narrow numbers that only aggregates of any width read."""
    kept = {name for each in queries for name in each.window.columns}
    for each in queries:
        for _, template in each.aggregates:
            if not isinstance(template, Builtin) or template.name not in _OF_ANY_WIDTH:
                kept.update(template.columns)
    return {
        name: replace(kind, column=replace(kind.column, field=Field(_WIDER[kind.column.field.code])))
        for name, kind in types.items()
        if name not in kept and kind.column.field.code in _WIDER and not kind.column.is_time
    }


def _readable(rows: Rows, wanted: Iterable[str]) -> list[str]:
    """Return the names of columns and the paths of nested fields that queries may read, now or later."""
    return list(dict.fromkeys([*rows.names, *rows.nested(), *(each for each in wanted if rows.has(each))]))


def is_encodable(kind: Any) -> bool:
    """Return whether columns of this type are read as objects, which Arrow can number and sort as Python does."""
    return any(belongs(kind) for belongs in _ENCODABLE)


def _type_of(rows: Rows, name: str) -> ColumnType:
    known = rows.arrow_type(name)
    if known is not None and is_encodable(known):  # spare the conversion to Python objects
        decimal = (known.precision, known.scale) if pa.types.is_decimal(known) else None
        return ColumnType(Column(Field("O", decimal), nullable=True), known)
    values = rows.column(name)
    arrow = rows.arrow(name).type
    if pa.types.is_dictionary(arrow):
        arrow = arrow.value_type
    if pa.types.is_null(arrow):
        arrow = pa.float64()
    return ColumnType(replace(values.column, nullable=True), arrow)


def cast_column(name: str, values: Values, kind: ColumnType) -> tuple[Any, Any]:
    """Return data and validity of a column in the type of the plan."""
    data, valid = values.data, values.valid
    field = kind.column.field
    if valid is None:
        valid = np.ones(len(data), np.bool_)
    if field.is_object:
        known = values.column.field
        if (not known.is_object or known.decimal != field.decimal) and valid.any():
            raise InvalidInput.changed(name, values.column, kind.column)
        objects = np.empty(len(data), object)
        objects[:] = data if values.column.field.is_object else [None] * len(data)
        return objects, valid
    if values.column.field.is_object:
        raise InvalidInput.changed(name, values.column, kind.column)
    if values.column.is_time != kind.column.is_time and valid.any():
        raise InvalidInput.changed(name, values.column, kind.column)
    if data.dtype != field.dtype:
        if not np.can_cast(data.dtype, field.dtype, "safe") and valid.any():
            # Accept whole floats as integers: pandas converts integers with nulls to floats.
            fits = data.dtype.kind in "iuf" and field.dtype.kind in "iuf"
            if data.dtype.kind == "f":
                whole = np.isfinite(data) & (np.trunc(data) == data) & (np.abs(data) < 2**53)
                fits = fits and bool((whole | ~valid).all())
                data = np.where(whole, data, 0)
            cast = data.astype(field.dtype) if fits else None
            if cast is None or not (cast.astype(data.dtype) == data)[valid].all():
                raise InvalidInput.changed(name, values.column, kind.column)
        data = data.astype(field.dtype)
    return data, valid
