"""Aggregates that keep every value: as ordered tuples, or as a sorted multiset with run lengths.

Values    A multiset is (values, counts): distinct values ascending and how often each occurs. Two are
          merged and subtracted in one pass. NaN is the largest number and equal to itself, and
          -0.0 is 0.0, as in Spark; median, quantile and the distinct ones share one multiset.
Nulls     are skipped. As in Spark, a window of nulls has no median and no text, but it has an
          empty list, and no distinct values.
"""

import math
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from sash.algebra.aggregate import Kind, Template, builtin
from sash.algebra.building_blocks import F8, I8, OBJECT, Columns, add, numeric
from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial
from sash.algebra.monoid import Column, Component, Parts
from sash.errors import InvalidAggregate, UnsupportedAggregate
from sash.keywords import checked

__all__ = ["collect", "collect_distinct", "count_distinct", "interpolate", "median", "mode", "quantile", "string_agg"]

Multiset: TypeAlias = tuple[tuple[Any, ...], tuple[int, ...]]


def _plain(x: Any) -> Any:
    """Return a Python value for a NumPy scalar."""
    return x.item() if isinstance(x, np.generic) else x


# --- in order of arrival -------------------------------------------------------------------------


def _alone(x: Any) -> Partial:
    return ((_plain(x),),)


def _drop_oldest(whole: Partial, older: Partial) -> Partial:
    return (whole[0][len(older[0]) :],)


_COLLECTED = Component("collected", (OBJECT,), ((),), _alone, add, _drop_oldest, commutative=False)


def _as_list(p: Partial) -> list[Any]:
    return list(p[0])


def _no_times(name: str, column: Column) -> None:
    if column.is_time:
        raise UnsupportedAggregate.of_type(name, column, "numbers, booleans or strings")


def _collect(columns: Columns, invertible: bool) -> Parts:
    _no_times("collect", columns[0])
    return Parts((_COLLECTED,), _as_list, OBJECT)


@checked
def collect(column: str | None = None, *, where: str | None = None) -> Template:
    """Return all values as a list, in the order of the rows.

    >>> import sash
    >>> sash.swag.slide([3, None, 1], 2, sash.collect())
    [[3], [3], [1]]
    """
    return builtin("collect", column, _collect, invertible=True, kind=Kind.HOLISTIC, where=where)


@checked
def string_agg(column: str | None = None, separator: str = ",", *, where: str | None = None) -> Template:
    """Return one string: all strings joined, in the order of the rows.

    >>> import sash
    >>> sash.swag.slide(["a", "b", "c"], 2, sash.string_agg(separator="-"))
    ['a', 'a-b', 'b-c']
    """
    if not isinstance(separator, str):
        raise InvalidAggregate.parameter("string_agg", "separator", separator, "a string")

    def joined(p: Partial) -> str:
        return separator.join(p[0])

    def make(columns: Columns, invertible: bool) -> Parts:
        column = columns[0]
        if not column.field.is_object or column.field.decimal is not None:
            raise UnsupportedAggregate.of_type("string_agg", column, "strings")
        return Parts((_COLLECTED,), joined, OBJECT, _some_collected if column.nullable else None)

    return builtin(
        "string_agg", column, make, ("separator", separator), invertible=True, kind=Kind.HOLISTIC, where=where
    )


def _some_collected(p: Partial) -> int:
    return 1 if p[0] else 0  # Presence.VALUE, Presence.NULL


# --- in order of size ----------------------------------------------------------------------------


def _once(x: Any) -> Partial:
    value = _plain(x)
    if isinstance(value, float):
        value = math.nan if value != value else value + 0.0  # -0.0 + 0.0 = 0.0
    return (((value,), (1,)),)


def _place(values: tuple[Any, ...], value: Any, start: int) -> int:
    """Return the place of a value in sorted values, or where to insert it."""
    has_nan = bool(values) and values[-1] != values[-1]
    end = len(values) - has_nan
    return end if value != value else bisect_left(values, value, start, end)


def _merge_multisets(a: Multiset, b: Multiset, sign: int) -> Multiset:
    """Return the union of two multisets, or a without b if the sign is -1; values with count 0 are left out."""
    if sign > 0 and len(a[0]) < len(b[0]):
        a, b = b, a
    # The values of `a` between two places of values of `b` are copied as a whole.
    values: list[Any] = []
    counts: list[int] = []
    copied = 0
    for value, count in zip(*b, strict=True):
        place = _place(a[0], value, copied)
        values += a[0][copied:place]
        counts += a[1][copied:place]
        copied = place
        count *= sign
        if place < len(a[0]) and (a[0][place] == value or value != value):
            count += a[1][place]
            copied += 1
        if count:
            values.append(value)
            counts.append(count)
    return (*values, *a[0][copied:]), (*counts, *a[1][copied:])


def _join(a: Partial, b: Partial) -> Partial:
    return (_merge_multisets(a[0], b[0], 1),)


def _take_away(whole: Partial, older: Partial) -> Partial:
    return (_merge_multisets(whole[0], older[0], -1),)


_SORTED: dict[str, Any] = {"invertible": True, "commutative": True, "kind": Kind.HOLISTIC}
_VALUES = Component("values", (OBJECT,), (((), ()),), _once, _join, _take_away)


def _some_values(p: Partial) -> int:
    return 1 if p[0][0] else 0


def _distinct(p: Partial) -> list[Any]:
    return list(p[0][0])


def _distinct_count(p: Partial) -> int:
    return len(p[0][0])


@jitable
def interpolate(low: float, high: float, share: float) -> float:
    """Return the linear interpolation between two neighbours, as Spark's percentile computes it."""
    if share == 0.0 or low == high:  # an infinity times nothing would be NaN
        return low
    return (1.0 - share) * low + share * high


@checked
def quantile(column: str | None = None, q: float = 0.5, *, where: str | None = None) -> Template:
    """Return the exact q-quantile, linear between neighbours, as Spark's percentile and NumPy's default.

    >>> import sash
    >>> sash.swag.slide([3, 1, 2, 9], 3, sash.quantile(q=0.75))
    [3.0, 2.5, 2.5, 5.5]
    """
    return _at(q, "quantile", column, where=where)


@checked
def median(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the exact median: the middle value, or the mean of the two in the middle.

    >>> import sash
    >>> sash.swag.slide([3, 1, 2, 9], 3, sash.median())
    [3.0, 2.0, 2.0, 2.0]
    """
    return _at(0.5, "median", column, where=where)


def _at(q: Any, name: str, column: str | None, where: str | None) -> Template:
    if isinstance(q, bool) or not isinstance(q, int | float) or not 0 <= q <= 1:
        raise InvalidAggregate.parameter(name, "q", q, "a number from 0 to 1")

    def lower(p: Partial) -> float:
        values, counts = p[0]
        until = list(accumulate(counts))
        place = q * (until[-1] - 1)
        below = int(place)
        low, high = (values[bisect_right(until, min(rank, until[-1] - 1))] for rank in (below, below + 1))
        return interpolate(float(low), float(high), place - below)

    def make(columns: Columns, invertible: bool) -> Parts:
        if columns[0].field.decimal is None:
            numeric(name, columns[0])
        return Parts((_VALUES,), lower, F8, _some_values if columns[0].nullable else None)

    return builtin(name, column, make, ("q", q), **_SORTED, where=where)


def _collect_distinct(columns: Columns, invertible: bool) -> Parts:
    _no_times("collect_distinct", columns[0])
    return Parts((_VALUES,), _distinct, OBJECT)


def _count_distinct(columns: Columns, invertible: bool) -> Parts:
    return Parts((_VALUES,), _distinct_count, I8)


@checked
def collect_distinct(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the distinct values, sorted, as a list.

    >>> import sash
    >>> sash.swag.slide(["b", "a", "b"], 3, sash.collect_distinct())
    [['b'], ['a', 'b'], ['a', 'b']]
    """
    return builtin("collect_distinct", column, _collect_distinct, **_SORTED, where=where)


@checked
def count_distinct(column: str | None = None, *, where: str | None = None) -> Template:
    """Count the distinct values, exactly.

    >>> import sash
    >>> sash.swag.slide([3, 1, 3, 3], 3, sash.count_distinct())
    [1, 2, 2, 2]
    """
    return builtin("count_distinct", column, _count_distinct, **_SORTED, where=where)


def _most_frequent(p: Partial) -> Any:
    values, counts = p[0]
    return values[counts.index(max(counts))]  # values ascend, so the first one is the smallest


def _mode(columns: Columns, invertible: bool) -> Parts:
    return Parts((_VALUES,), _most_frequent, columns[0].field, _some_values if columns[0].nullable else None)


@checked
def mode(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the most frequent value; if several are as frequent, the smallest one. NaN is the largest value.

    >>> import sash
    >>> sash.swag.slide([3, 1, 3, 1, 2], 4, sash.mode())
    [3, 1, 3, 1, 1]
    """
    return builtin("mode", column, _mode, **_SORTED, where=where)
