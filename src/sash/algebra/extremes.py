"""Aggregates that choose one of two values: min, max, range, first, last, m4, argmin, argmax.

Nulls are skipped and a window of nulls gives null; NaN is the largest number, as in Spark.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sash.algebra.aggregate import Builtin, Kind, Template, builtin
from sash.algebra.building_blocks import B1, I8, Columns, first_field, last_is_set, numeric
from sash.algebra.compiler import jitable
from sash.algebra.decimals import difference_parts, through_floats
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Column, Component, Parts, optional
from sash.algebra.order import larger, less, smaller
from sash.errors import InvalidAggregate
from sash.keywords import checked

__all__ = ["argmax", "argmin", "first", "last", "last_row", "m4", "max", "max_count", "min", "min_count", "range"]


def _itself(x: Any) -> Partial:
    return (x,)


def _larger(a: Partial, b: Partial) -> Partial:
    return (larger(a[0], b[0]),)


def _smaller(a: Partial, b: Partial) -> Partial:
    return (smaller(a[0], b[0]),)


def _older(a: Partial, b: Partial) -> Partial:
    return a


def _newer(a: Partial, b: Partial) -> Partial:
    return b


def _bottom(column: Column) -> Any:
    """Return a value that is not larger than any other."""
    kind = column.field.dtype.kind
    if kind == "O":
        return None
    return -math.inf if kind == "f" else False if kind == "b" else int(np.iinfo(column.field.dtype).min)


def _extreme(column: Column, largest: bool) -> Component:
    """Return the component of the largest or smallest value; optional if a window can have no value."""
    has_identity = not column.nullable and not column.field.is_object
    name, choose = ("max", _larger) if largest else ("min", _smaller)
    worst = _bottom(column)
    if has_identity and not largest:
        kind = column.field.dtype.kind
        # A window has a row, so the identity is never the answer; NaN is the one value that it must lose to.
        worst = math.nan if kind == "f" else True if kind == "b" else int(np.iinfo(column.field.dtype).max)
    component = Component(name, (column.field,), (worst,), _itself, choose, selective=True, keeps=1)
    return component if has_identity else optional(component)


def _end(column: Column, name: str, choose: Callable[[Partial, Partial], Partial]) -> Component:
    return optional(
        Component(
            name, (column.field,), (_bottom(column),), _itself, choose, commutative=False, selective=True, keeps=1
        )
    )


def _chosen(component: Component, column: Column) -> Parts:
    is_optional = len(component.fields) > 1 and column.nullable
    return Parts((component,), first_field, column.field, last_is_set if is_optional else None)


def _max(columns: Columns, invertible: bool) -> Parts:
    return _chosen(_extreme(columns[0], True), columns[0])


def _min(columns: Columns, invertible: bool) -> Parts:
    return _chosen(_extreme(columns[0], False), columns[0])


def _first(columns: Columns, invertible: bool) -> Parts:
    return _chosen(_end(columns[0], "first", _older), columns[0])


def _last(columns: Columns, invertible: bool) -> Parts:
    return _chosen(_end(columns[0], "last", _newer), columns[0])


def _range(columns: Columns, invertible: bool) -> Parts:
    column = columns[0]
    high, low = _extreme(column, True), _extreme(column, False)
    if column.field.decimal is not None:
        return difference_parts(columns, high, low)
    numeric("range", column)
    width = len(high.fields)

    def lower(p: Partial) -> Any:
        return 1 * p[0] - 1 * p[width]  # NumPy does not subtract booleans

    @jitable
    def fits(p: Partial) -> int:
        # Compare without the difference, which could wrap.
        return 2 if p[width] < 0 and p[0] > 9223372036854775807 + p[width] else 1  # Presence.OVERFLOW, Presence.VALUE

    def some_that_fits(p: Partial) -> int:
        return fits(p) if p[-1] else 0

    if column.field.code == "i8":
        return Parts((high, low), lower, I8, some_that_fits if column.nullable else fits)
    result = column.field if column.field.code in ("f4", "f8", "u8") else I8
    return Parts((high, low), lower, result, last_is_set if column.nullable else None)


def _m4(columns: Columns, invertible: bool) -> Parts:
    column = columns[0]
    numeric("m4", column)
    components = (
        _end(column, "first", _older),
        _end(column, "last", _newer),
        _extreme(column, False),
        _extreme(column, True),
    )
    highest = 4 + len(components[2].fields)
    dtype = column.field.dtype.type

    def lower(p: Partial) -> Any:
        return np.array([p[0], p[2], p[4], p[highest]], dtype)

    return Parts(components, lower, Field(f"{column.field.code}[4]"), last_is_set if column.nullable else None)


def _extreme_count(name: str, largest: bool) -> Callable[[Columns, bool], Parts]:
    def lift(x: Any) -> Partial:
        return x, 1

    def combine(a: Partial, b: Partial) -> Partial:
        if b[1] == 0:
            return a
        if a[1] == 0:
            return b
        if less(a[0], b[0]):
            return b if largest else a
        if less(b[0], a[0]):
            return a if largest else b
        return a[0], a[1] + b[1]

    def make(columns: Columns, invertible: bool) -> Parts:
        column = columns[0]
        component = Component(name, (column.field, I8), (_bottom(column), 0), lift, combine, keeps=1)
        return Parts((component,), lambda p: p[1], I8, last_is_set if column.nullable else None)

    return make


def _first_largest(a: Partial, b: Partial) -> Partial:
    return b if less(a[0], b[0]) else a


def _first_smallest(a: Partial, b: Partial) -> Partial:
    return b if less(b[0], a[0]) else a


def _arg(name: str, combine: Callable[[Partial, Partial], Partial]) -> Callable[[Columns, bool], Parts]:
    """Return the parts of argmax or argmin: `who` may be null, the value may not."""

    def lift(x: Any, who: Any, who_is_known: bool) -> Partial:
        return x, who, who_is_known

    def present(p: Partial) -> int:
        return 1 if p[3] and p[2] else 0

    def make(columns: Columns, invertible: bool) -> Parts:
        value, who = columns
        component = optional(
            Component(
                name,
                (value.field, who.field, B1),
                (_bottom(value), _bottom(who), False),
                lift,
                combine,
                commutative=False,
                selective=True,
                inputs=(0, 1),
                passes=(1,),
                keeps=2,
            )
        )
        return Parts((component,), lambda p: p[1], who.field, present if value.nullable or who.nullable else None)

    return make


@checked
def max(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the largest value, of numbers, booleans or strings; NaN is larger than any number.

    >>> import sash
    >>> (
    ...     sash.swag.slide([3, 1, 2], 2, sash.max()),
    ...     sash.swag.slide(["b", "a"], 2, sash.max()),
    ... )
    ([3, 3, 2], ['b', 'b'])
    """
    return builtin("max", column, _max, commutative=True, selective=True, kind=Kind.DISTRIBUTIVE, where=where)


@checked
def min(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the smallest value, of numbers, booleans or strings.

    >>> import sash
    >>> sash.swag.slide([3, 1, 2], 2, sash.min())
    [3, 1, 1]
    """
    return builtin("min", column, _min, commutative=True, selective=True, kind=Kind.DISTRIBUTIVE, where=where)


@checked
def range(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the largest minus the smallest value.

    >>> import sash
    >>> sash.swag.slide([3, 1, 2], 2, sash.range())
    [0, 2, 1]
    """
    return builtin("range", column, _range, commutative=True, where=where)


@checked
def first(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the oldest value that is not null.

    >>> import sash
    >>> sash.swag.slide([None, 1, 2], 2, sash.first())
    [None, 1, 1]
    """
    return builtin("first", column, _first, selective=True, kind=Kind.DISTRIBUTIVE, where=where)


@checked
def last(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the newest value that is not null.

    >>> import sash
    >>> sash.swag.slide([1, None, 3], 2, sash.last())
    [1, 1, 3]
    """
    return builtin("last", column, _last, selective=True, kind=Kind.DISTRIBUTIVE, where=where)


@checked
def m4(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the first, last, smallest and largest value: what a line chart draws in a column of pixels.

    >>> import numpy, sash
    >>> sash.swag.slide(numpy.array([3, 1, 2]), 3, sash.m4())[-1].tolist()
    [3, 2, 1, 3]
    """
    return builtin("m4", column, through_floats(_m4), where=where)


@checked
def max_count(column: str | None = None, *, where: str | None = None) -> Template:
    """Count how often the largest value occurs.

    >>> import sash
    >>> sash.swag.slide([2, 2, 1], 3, sash.max_count())
    [1, 2, 2]
    """
    return builtin("max_count", column, _extreme_count("max_count", True), commutative=True, where=where)


@checked
def min_count(column: str | None = None, *, where: str | None = None) -> Template:
    """Count how often the smallest value occurs.

    >>> import sash
    >>> sash.swag.slide([2, 2, 1], 3, sash.min_count())
    [1, 2, 1]
    """
    return builtin("min_count", column, _extreme_count("min_count", False), commutative=True, where=where)


@checked
def argmax(column: str | None = None, who: str | None = None, *, where: str | None = None) -> Template:
    """Return the value of the second column where the first is largest; the first such row on ties.

    >>> import sash
    >>> sash.swag.slide(([3, 1, 3], ["ann", "bob", "cy"]), 3, sash.argmax())
    ['ann', 'ann', 'ann']
    """
    return _of_two("argmax", column, who, _arg("argmax", _first_largest), where=where)


@checked
def argmin(column: str | None = None, who: str | None = None, *, where: str | None = None) -> Template:
    """Return the value of the second column where the first is smallest; the first such row on ties.

    >>> import sash
    >>> sash.swag.slide(([3, 1, 1], [30, 10, 11]), 3, sash.argmin())
    [30, 10, 10]
    """
    return _of_two("argmin", column, who, _arg("argmin", _first_smallest), where=where)


def last_row(column: str | None = None, who: str | None = None, *, where: str | None = None) -> Template:
    """Return the value of the second column in the newest row, null if it is null there; the first is a constant.

    >>> import sash
    >>> sash.swag.slide(([1, 1, 1], [30, None, 10]), 2, last_row())
    [30, None, 10]
    """
    return _of_two("last_row", column, who, _arg("last_row", _newer), where=where)


def _of_two(
    name: str, column: str | None, who: str | None, make: Callable[[Columns, bool], Parts], where: str | None
) -> Template:
    if (column is None) != (who is None):
        raise InvalidAggregate.parameter(name, "columns", (column, who), "two column names, or none")
    columns = tuple(each for each in (column, who) if each is not None)
    return Builtin(name, columns=columns, arity=2, selective=True, kind=Kind.DISTRIBUTIVE, make=make, where=where)
