"""Check the types of Python objects in a saved state before functions or Arrow read them."""

import datetime as dt
import decimal
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from sash.algebra.monoid import Component
from sash.errors import InvalidState

__all__ = ["refuse_foreign", "refuse_foreign_partials"]

_DIGITS = 100  # more than any Arrow decimal has


def refuse_foreign(values: Sequence[Any], arrow: Any) -> None:
    """Refuse values that are not Python objects of this Arrow type."""
    kinds = _kinds_of(arrow)
    if not all(type(each) in kinds for each in values):
        raise InvalidState.damaged(f"its values are not of type {arrow}")
    if kinds == _DECIMALS:
        if not all(map(_is_short, values)):
            raise InvalidState.damaged("one of its decimals has too many digits")
    elif not pa.types.is_temporal(arrow):
        try:
            pa.array(values, arrow)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise InvalidState.unreadable(f"its values are not of type {arrow}", error) from error


_DECIMALS = frozenset((decimal.Decimal,))


def _kinds_of(arrow: Any) -> frozenset[type]:
    if pa.types.is_decimal(arrow):
        return _DECIMALS
    if pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow):
        return frozenset((str,))
    if pa.types.is_temporal(arrow):
        return frozenset((dt.date, dt.datetime, dt.time))
    if pa.types.is_primitive(arrow) or pa.types.is_boolean(arrow):
        return frozenset((int, float, bool))
    return frozenset((bytes,))


def _is_short(value: decimal.Decimal) -> bool:
    return value.is_finite() and len(value.as_tuple().digits) <= _DIGITS and abs(value.adjusted()) <= _DIGITS


def refuse_foreign_partials(component: Component, values: Sequence[Any], arrow: Any) -> None:
    """Refuse values that a built-in component cannot hold; components of users may hold anything."""
    if component.name == "collected":
        refuse_foreign(list(_members(values)), arrow)
    elif component.name == "values":
        if any(not isinstance(each, tuple) or len(each) != 2 for each in values):
            raise InvalidState.damaged("one of its partials is not values and counts")
        lists = [tuple(map(len, pair)) for pair in values if all(isinstance(each, tuple) for each in pair)]
        counts = list(_members(pair[1] for pair in values))
        if (
            len(lists) < len(values)
            or any(a != b for a, b in lists)
            or not all(type(n) is int and n > 0 for n in counts)
        ):
            raise InvalidState.damaged("one of its partials is not values and counts")
        refuse_foreign(list(_members(pair[0] for pair in values)), arrow)
    elif component.name == "decimal sum":
        if not all(type(each) is int for each in values):
            raise InvalidState.damaged("a sum of decimals is not an integer")
    elif component.selective and "@" not in component.name:
        refuse_foreign([each for each in values if each is not None], arrow)


def _members(values: Iterable[Any]) -> Iterable[Any]:
    found = list(values)
    if not all(isinstance(each, tuple) for each in found):
        raise InvalidState.damaged("one of its partials is not a tuple of values")
    return chain.from_iterable(found)
