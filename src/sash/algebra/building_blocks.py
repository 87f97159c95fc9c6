"""Building blocks of built-in aggregates: functions that read a partial, and checks of a column."""

from collections.abc import Callable
from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Column, Component, Parts
from sash.errors import InvalidAggregate, UnsupportedAggregate

__all__ = [
    "B1",
    "F8",
    "I8",
    "OBJECT",
    "Columns",
    "add",
    "after_count",
    "before_last",
    "counted",
    "first_field",
    "is_float",
    "last_is_set",
    "numeric",
    "some",
    "subtract",
    "whole_number",
    "with_count",
]

F8, I8, B1, OBJECT = Field("f8"), Field("i8"), Field("b1"), Field("O")
Columns = tuple[Column, ...]


def numeric(name: str, column: Column) -> None:
    if column.field.is_object or column.is_time:
        raise UnsupportedAggregate.of_type(name, column, "numbers")


def is_float(column: Column) -> bool:
    return column.field.dtype.kind == "f"


def add(a: Partial, b: Partial) -> Partial:
    return (a[0] + b[0],)


def subtract(whole: Partial, older: Partial) -> Partial:
    return (whole[0] - older[0],)


def _one(*_row: Any) -> Partial:
    return (1,)


def _one_less(p: Partial, *_row: Any) -> Partial:
    return (p[0] - 1,)


def counted(columns: Columns) -> Component:
    """Return the component that counts the rows with a value in each of these columns."""
    inputs = tuple(range(len(columns)))
    return Component("count", (I8,), (0,), _one, add, subtract, inputs=inputs, release=_one_less)


def whole_number(name: str, parameter: str, value: Any, least: int, most: int) -> None:
    """Check a parameter of an aggregate."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidAggregate.parameter(name, parameter, value, f"a whole number from {least} to {most}")


def first_field(p: Partial) -> Any:
    return p[0]


def last_is_set(p: Partial) -> int:
    return 1 if p[-1] else 0  # Presence.VALUE, Presence.NULL


def some(p: Partial) -> int:
    return 1 if p[0] > 0 else 0


def after_count(function: Callable[[Partial], Any]) -> Callable[[Partial], Any]:
    """Return the same function for a partial that starts with a count."""
    inner = jitable(function)
    return lambda p: inner(p[1:])


def with_count(
    columns: Columns,
    component: Component,
    lower: Callable[[Partial], Any],
    result: Field,
    fits: Callable[[Partial], int] | None = None,
) -> Parts:
    """Return the parts of one component; with a count before it, if a window can be without a value."""
    if not columns[0].nullable:
        return Parts((component,), lower, result, fits)
    inner = None if fits is None else jitable(fits)
    presence = some if inner is None else lambda p: inner(p[1:]) if p[0] > 0 else 0
    return Parts((counted(columns), component), after_count(lower), result, presence)


def before_last(function: Callable[[Partial], Any]) -> Callable[[Partial], Any]:
    """Return the same function for a partial that ends with a flag."""
    inner = jitable(function)
    return lambda p: inner(p[:-1])
