"""Rows of a window moved by hand: their types, their positions, and their partials."""

from dataclasses import replace
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate, Template
from sash.algebra.fields import Fields
from sash.algebra.monoid import Column, Monoid
from sash.errors import InvalidAggregate, InvalidInput, SashError
from sash.swag import values as border
from sash.swag import window_kernels as kernels

__all__ = ["columns_of", "index", "indexes", "is_column", "lifted", "position", "rows_in_order"]


def position(value: Any) -> int:
    """Return a position, a whole number of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not -(2**63) <= value < 2**63:
        raise InvalidInput.option("position", value, "a whole number of 64 bits")
    return int(value)


def index(what: str, value: Any, least: int, most: int) -> int:
    """Return an index that is in a range, both ends included."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        expected = f"a whole number from {least} to {most}"
        raise InvalidInput.option(what, value, expected)
    return int(value)


def is_column(value: Any) -> bool:
    """Return whether a value is a column of values, and not a single one."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0


def indexes(values: Any, rows: int) -> Any:
    """Return an array of indexes of a window of so many rows."""
    try:
        given = np.asarray(values)
    except ValueError:  # lists of several lengths
        given = np.asarray(None)
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "iu"):
        raise InvalidInput.option("index", values, "a whole number, or a one-dimensional array of whole numbers")
    wrong = given[(given < 0) | (given >= rows)]
    if len(wrong):
        raise InvalidInput.option("index", wrong[0].item(), f"a whole number from 0 to {rows - 1}")
    return given.astype(np.int64)


def rows_in_order(partials: Fields, order: Any) -> Fields:
    """Return partials in another order."""
    return tuple(
        each[order] if isinstance(each, np.ndarray) else [each[k] for k in order.tolist()] for each in partials
    )


def columns_of(dtype: Any, arity: int) -> tuple[Column, ...]:
    """Return the columns of a window whose values have a dtype, or one dtype for each column."""
    each = dtype if isinstance(dtype, tuple) else (dtype,) * arity
    return tuple(replace(border.column_of(kind), nullable=True) for kind in each)


def lifted(aggregate: Template, monoid: Monoid, columns: tuple[border.Values, ...]) -> Fields:
    """Return the partials of all rows; a bad row raises here, before the state changes."""
    rows = len(columns[0])
    given = [each.data for each in columns]
    given += [np.ones(rows, np.bool_) if each.valid is None else each.valid for each in columns]
    if not monoid.is_compiled:
        given = [each.tolist() if isinstance(each, np.ndarray) else each for each in given]
    partials = monoid.allocate(rows)
    try:
        kernels.lift_rows(monoid, tuple(given), partials)
    except SashError:
        raise
    except Exception as error:
        if not isinstance(aggregate, Aggregate):
            raise
        example = tuple(each.data[0] for each in columns) if rows == 1 else "these values"
        raise InvalidAggregate.fails(aggregate.name, "lift", example, error) from error
    return partials
