"""The aggregates that come with sash, one definition each, named after SQL.

Nulls are skipped and a window of nulls gives null; NaN is the largest number, as in Spark.
Where an aggregate has two forms, the plain one only ever adds rows, and the one that can subtract
carries what subtraction loses: rounding errors, and how many NaN and infinities are in it.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sash.algebra import exact
from sash.algebra.aggregate import Builtin, Kind, Template, counted
from sash.algebra.compiler import jitable
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Column, Component, Parts, optional
from sash.algebra.order import larger, less, smaller
from sash.errors import InvalidAggregate, UnsupportedAggregate

__all__ = [
    "argmax",
    "argmin",
    "count",
    "first",
    "geometric_mean",
    "last",
    "m4",
    "max",
    "max_count",
    "mean",
    "min",
    "min_count",
    "product",
    "range",
    "stddev",
    "sum",
    "variance",
]

F8, I8, B1 = Field("f8"), Field("i8"), Field("b1")
Columns = tuple[Column, ...]


# --- pieces that several definitions use ---------------------------------------------------------


def _named(column: str | None) -> tuple[str, ...]:
    return () if column is None else (column,)


def _numeric(name: str, column: Column) -> None:
    if column.field.is_object or column.is_time:
        raise UnsupportedAggregate.of_type(name, column, "numbers")


def _is_float(column: Column) -> bool:
    return column.field.dtype.kind == "f"


def _first_field(p: Partial) -> Any:
    return p[0]


def _last_is_set(p: Partial) -> int:
    return 1 if p[-1] else 0  # Presence.VALUE, Presence.NULL


def _some(p: Partial) -> int:
    return 1 if p[0] > 0 else 0


def _after_count(function: Callable[[Partial], Any]) -> Callable[[Partial], Any]:
    """The same function of a partial that starts with a count."""
    inner = jitable(function)
    return lambda p: inner(p[1:])


# --- sums: count, sum, mean, variance, geometric mean, product -----------------------------------


def _plain(x: Any) -> Partial:
    return (float(x),)


def _add(a: Partial, b: Partial) -> Partial:
    return (a[0] + b[0],)


def _total(column: Column, invertible: bool) -> Component:
    """The sum of a column, shared by sum, mean and variance."""
    if not _is_float(column):
        return Component("sum", (I8, I8), (0, 0), exact.halves, exact.add, exact.subtract)
    if invertible:
        return Component(
            "exact sum",
            (F8, F8, I8, I8, I8),
            (0.0, 0.0, 0, 0, 0),
            exact.exact_of,
            exact.add_exactly,
            exact.subtract_exactly,
        )
    return Component("sum", (F8,), (0.0,), _plain, _add)


def _as_number(column: Column, invertible: bool) -> Callable[[Partial], float]:
    """Reads the sum of a column as a float."""
    if not _is_float(column):
        return exact.halves_as_float
    return exact.exact_total if invertible else _first_field


def _count(columns: Columns, invertible: bool) -> Parts:
    return Parts((counted(columns),), _first_field, I8)


def _sum(columns: Columns, invertible: bool) -> Parts:
    column = columns[0]
    _numeric("sum", column)
    total = _total(column, invertible)
    lower = _as_number(column, invertible) if _is_float(column) else exact.whole
    presence = None if _is_float(column) else exact.fits
    if not column.nullable:
        return Parts((total,), lower, F8 if _is_float(column) else I8, presence)
    return Parts(
        (counted(columns), total),
        _after_count(lower),
        F8 if _is_float(column) else I8,
        _some if presence is None else _some_that_fits,
    )


def _some_that_fits(p: Partial) -> int:
    return exact.fits(p[1:]) if p[0] > 0 else 0


def _mean(columns: Columns, invertible: bool) -> Parts:
    _numeric("mean", columns[0])
    number = jitable(_as_number(columns[0], invertible))

    def lower(p: Partial) -> Any:
        return number(p[1:]) / p[0]

    return Parts((counted(columns), _total(columns[0], invertible)), lower, F8, _some if columns[0].nullable else None)


def _m2_of(x: Any) -> Partial:
    return (x * 0.0,)  # zero, or NaN for what is not finite


def _join_m2(a: Partial, b: Partial) -> Partial:
    return (_joined_m2(a[0], a[1], a[2], b[0], b[1], b[2]),)


def _join_m2_of_integers(a: Partial, b: Partial) -> Partial:
    older, newer = exact.halves_as_float((a[1], a[2])), exact.halves_as_float((b[1], b[2]))
    return (_joined_m2(a[0], older, a[3], b[0], newer, b[3]),)


@jitable
def _joined_m2(n: int, sum_n: float, m2_n: float, k: int, sum_k: float, m2_k: float) -> float:
    """Σ(x - mean)² of two parts together. Sums of squares would cancel when the mean is large."""
    if n == 0:
        return m2_k
    if k == 0:
        return m2_n
    apart = sum_k / k - sum_n / n
    return m2_n + m2_k + apart * apart * (float(n) * float(k) / float(n + k))


def _spread(name: str, freedom: int, root: bool) -> Callable[[Columns, bool], Parts]:
    """Variance and stddev; `freedom` is 1 for a sample, 0 for a population."""

    def enough(p: Partial) -> int:
        return 1 if p[0] > freedom else 0

    def make(columns: Columns, invertible: bool) -> Parts:
        column = columns[0]
        _numeric(name, column)
        total = _total(column, invertible)
        if invertible:
            squares = Component(
                "exact squares", (F8, F8), (0.0, 0.0), exact.square_of, exact.add_squares, exact.subtract_squares
            )
            whole = jitable(exact.exact_of_halves) if not _is_float(column) else None

            def variance(p: Partial) -> float:
                return exact.exact_variance(p[0], p[1:6], p[6:], freedom)

            def variance_of_integers(p: Partial) -> float:
                return exact.exact_variance(p[0], whole(p[1:3]), p[3:], freedom)  # type: ignore[misc]

            lower = variance if whole is None else variance_of_integers
            components = (counted(columns), total, squares)
        else:
            join = _join_m2 if _is_float(column) else _join_m2_of_integers
            m2 = Component("m2", (F8,), (0.0,), _m2_of, join, reads=("count", "sum"))
            components = (counted(columns), total, m2)

            def lower(p: Partial) -> float:
                return p[-1] / (p[0] - freedom)  # type: ignore[no-any-return]

        of_root = jitable(lower)
        return Parts(components, (lambda p: math.sqrt(of_root(p))) if root else lower, F8, enough)

    return make


def _log(x: Any) -> float:
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


def _geometric_mean(columns: Columns, invertible: bool) -> Parts:
    _numeric("geometric_mean", columns[0])
    log = jitable(_log)
    if invertible:

        def exact_log(x: Any) -> Partial:
            return exact.exact_of(log(x))

        logs = Component(
            "exact logs",
            (F8, F8, I8, I8, I8),
            (0.0, 0.0, 0, 0, 0),
            exact_log,
            exact.add_exactly,
            exact.subtract_exactly,
        )
    else:
        logs = Component("logs", (F8,), (0.0,), lambda x: (log(x),), _add)
    number = jitable(exact.exact_total if invertible else _first_field)

    def lower(p: Partial) -> float:
        return math.exp(number(p[1:]) / p[0])

    return Parts((counted(columns), logs), lower, F8, _some if columns[0].nullable else None)


def _multiply(a: Partial, b: Partial) -> Partial:
    return (a[0] * b[0],)


_BOTTOM = -9223372036854775808  # -2⁶³


def _factor(x: Any) -> Partial:
    """An integer as (minus the size of the product, how many negative factors, how many zeros).

    Zeros are counted apart, so a size only grows, and 0 can say that it has outgrown 64 bits. It is kept
    negative because 2⁶³ has no other place in them.
    """
    if x == 0:
        return -1, 0, 1
    return (x, 1, 0) if x < 0 else (-x, 0, 0)


def _factor_of_unsigned(x: Any) -> Partial:
    if x == 0:
        return -1, 0, 1
    return (-np.int64(x) if x <= 9223372036854775807 else 0), 0, 0


def _multiply_factors(a: Partial, b: Partial) -> Partial:
    return _times(a[0], b[0]), a[1] + b[1], a[2] + b[2]


@jitable
def _times(a: int, b: int) -> int:
    if a == -1 or b == 0:
        return b
    if b == -1 or a == 0:
        return a
    return a * -b if a >= -(_BOTTOM // b) else 0


@jitable
def _product_fits(p: Partial) -> int:
    fits = p[2] > 0 or (p[0] != 0 and (p[0] > _BOTTOM or p[1] % 2 == 1))
    return 1 if fits else 2  # Presence.VALUE, Presence.OVERFLOW


def _product_of_factors(p: Partial) -> int:
    if p[2] > 0:
        return 0
    return p[0] if p[1] % 2 == 1 else -p[0]  # type: ignore[no-any-return]


def _some_product_fits(p: Partial) -> int:
    return _product_fits(p[1:]) if p[0] > 0 else 0


def _product(columns: Columns, invertible: bool) -> Parts:
    column = columns[0]
    _numeric("product", column)
    if _is_float(column):
        component = Component("product", (F8,), (1.0,), _plain, _multiply)
        if column.nullable:
            return Parts((counted(columns), component), _after_count(_first_field), F8, _some)
        return Parts((component,), _first_field, F8)
    factor = _factor_of_unsigned if column.field.dtype.kind == "u" else _factor
    component = Component("product", (I8, I8, I8), (-1, 0, 0), factor, _multiply_factors)
    if column.nullable:
        return Parts((counted(columns), component), _after_count(_product_of_factors), I8, _some_product_fits)
    return Parts((component,), _product_of_factors, I8, _product_fits)


# --- extremes and ends: components that keep one of two ------------------------------------------


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
    """Not larger than anything."""
    kind = column.field.dtype.kind
    if kind == "O":
        return None
    return -math.inf if kind == "f" else False if kind == "b" else int(np.iinfo(column.field.dtype).min)


def _extreme(column: Column, largest: bool) -> Component:
    """The largest or smallest value; always optional for min, for nothing is above NaN."""
    component = Component(
        "max" if largest else "min",
        (column.field,),
        (_bottom(column),),
        _itself,
        _larger if largest else _smaller,
        selective=True,
    )
    has_identity = not column.nullable and not column.field.is_object
    if has_identity and not largest:
        kind = column.field.dtype.kind
        # A window has a row, so the identity is never the answer; NaN is the one value that it must lose to.
        top = math.nan if kind == "f" else True if kind == "b" else int(np.iinfo(column.field.dtype).max)
        return Component("min", (column.field,), (top,), _itself, _smaller, selective=True)
    return component if has_identity else optional(component)


def _end(column: Column, name: str, choose: Callable[[Partial, Partial], Partial]) -> Component:
    component = Component(name, (column.field,), (_bottom(column),), _itself, choose, commutative=False, selective=True)
    return optional(component)


def _chosen(component: Component, column: Column) -> Parts:
    is_optional = len(component.fields) > 1 and column.nullable
    return Parts((component,), _first_field, column.field, _last_is_set if is_optional else None)


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
    _numeric("range", column)
    high, low = _extreme(column, True), _extreme(column, False)
    width = len(high.fields)

    def lower(p: Partial) -> Any:
        return p[0] - p[width]

    @jitable
    def fits(p: Partial) -> int:
        # Asked without the difference, which could wrap.
        return 2 if p[width] < 0 and p[0] > 9223372036854775807 + p[width] else 1  # Presence.OVERFLOW, Presence.VALUE

    def some_that_fits(p: Partial) -> int:
        return fits(p) if p[-1] else 0

    if column.field.code == "i8":
        return Parts((high, low), lower, I8, some_that_fits if column.nullable else fits)
    result = column.field if column.field.code in ("f4", "f8", "u8") else I8
    return Parts((high, low), lower, result, _last_is_set if column.nullable else None)


def _m4(columns: Columns, invertible: bool) -> Parts:
    column = columns[0]
    _numeric("m4", column)
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

    return Parts(components, lower, Field(f"{column.field.code}[4]"), _last_is_set if column.nullable else None)


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
        component = Component(name, (column.field, I8), (_bottom(column), 0), lift, combine)
        return Parts((component,), lambda p: p[1], I8, _last_is_set if column.nullable else None)

    return make


def _arg(name: str, largest: bool) -> Callable[[Columns, bool], Parts]:
    """Which one had the extreme: the first on ties; `who` may be null, the value may not."""

    def lift(x: Any, who: Any, who_is_known: bool) -> Partial:
        return x, who, who_is_known

    def combine(a: Partial, b: Partial) -> Partial:
        return b if (less(a[0], b[0]) if largest else less(b[0], a[0])) else a

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
            )
        )
        return Parts((component,), lambda p: p[1], who.field, present if value.nullable or who.nullable else None)

    return make


# --- the names that users write ------------------------------------------------------------------


def count(column: str | None = None) -> Template:
    """How many rows; of a column, how many values that are not null.

    >>> import sash
    >>> sash.swag.slide([1, None, 3], 2, sash.count()), sash.swag.slide([1, None, 3], 2, sash.count("x"))
    ([1, 2, 2], [1, 1, 1])
    """
    return Builtin(
        "count",
        columns=_named(column),
        arity=0 if column is None else 1,
        invertible=True,
        commutative=True,
        kind=Kind.DISTRIBUTIVE,
        make=_count,
    )


def sum(column: str | None = None) -> Template:
    """The total; of integers exact, and refused where it does not fit 64 bits.

    >>> import sash
    >>> sash.swag.slide([1, 2, 3, 4], 2, sash.sum())
    [1, 3, 5, 7]
    """
    return Builtin("sum", columns=_named(column), invertible=True, commutative=True, kind=Kind.DISTRIBUTIVE, make=_sum)


def mean(column: str | None = None) -> Template:
    """The average.

    >>> import sash
    >>> sash.swag.slide([1, 2, 6], 2, sash.mean())
    [1.0, 1.5, 4.0]
    """
    return Builtin("mean", columns=_named(column), invertible=True, commutative=True, make=_mean)


def variance(column: str | None = None, *, population: bool = False) -> Template:
    """The variance of a sample, or of a whole population; null where there are too few values.

    >>> import sash
    >>> sash.swag.slide([1, 3, 5], 3, sash.variance())
    [None, 2.0, 4.0]
    """
    return Builtin(
        "variance",
        columns=_named(column),
        invertible=True,
        commutative=True,
        make=_spread("variance", 0 if population else 1, root=False),
        parameters=(("population", population),),
    )


def stddev(column: str | None = None, *, population: bool = False) -> Template:
    """The standard deviation of a sample, or of a whole population.

    >>> import sash
    >>> sash.swag.slide([1, 3, 5], 3, sash.stddev(population=True))
    [0.0, 1.0, 1.632993161855452]
    """
    return Builtin(
        "stddev",
        columns=_named(column),
        invertible=True,
        commutative=True,
        make=_spread("stddev", 0 if population else 1, root=True),
        parameters=(("population", population),),
    )


def geometric_mean(column: str | None = None) -> Template:
    """The n-th root of the product of n values; 0 if one is 0, NaN if one is negative.

    >>> import sash
    >>> [round(x, 9) for x in sash.swag.slide([1, 4, 16], 2, sash.geometric_mean())]
    [1.0, 2.0, 8.0]
    """
    return Builtin("geometric_mean", columns=_named(column), invertible=True, commutative=True, make=_geometric_mean)


def product(column: str | None = None) -> Template:
    """The product; of integers exact, and refused where it does not fit 64 bits.

    >>> import sash
    >>> sash.swag.slide([2, 3, 0, 5], 2, sash.product())
    [2, 6, 0, 0]
    """
    return Builtin("product", columns=_named(column), commutative=True, kind=Kind.DISTRIBUTIVE, make=_product)


def max(column: str | None = None) -> Template:
    """The largest value, of numbers, booleans or strings; NaN is larger than any number.

    >>> import sash
    >>> sash.swag.slide([3, 1, 2], 2, sash.max()), sash.swag.slide(["b", "a"], 2, sash.max())
    ([3, 3, 2], ['b', 'b'])
    """
    return Builtin("max", columns=_named(column), commutative=True, selective=True, kind=Kind.DISTRIBUTIVE, make=_max)


def min(column: str | None = None) -> Template:
    """The smallest value, of numbers, booleans or strings.

    >>> import sash
    >>> sash.swag.slide([3, 1, 2], 2, sash.min())
    [3, 1, 1]
    """
    return Builtin("min", columns=_named(column), commutative=True, selective=True, kind=Kind.DISTRIBUTIVE, make=_min)


def range(column: str | None = None) -> Template:
    """The largest minus the smallest value.

    >>> import sash
    >>> sash.swag.slide([3, 1, 2], 2, sash.range())
    [0, 2, 1]
    """
    return Builtin("range", columns=_named(column), commutative=True, make=_range)


def first(column: str | None = None) -> Template:
    """The oldest value that is not null.

    >>> import sash
    >>> sash.swag.slide([None, 1, 2], 2, sash.first())
    [None, 1, 1]
    """
    return Builtin("first", columns=_named(column), selective=True, kind=Kind.DISTRIBUTIVE, make=_first)


def last(column: str | None = None) -> Template:
    """The newest value that is not null.

    >>> import sash
    >>> sash.swag.slide([1, None, 3], 2, sash.last())
    [1, 1, 3]
    """
    return Builtin("last", columns=_named(column), selective=True, kind=Kind.DISTRIBUTIVE, make=_last)


def m4(column: str | None = None) -> Template:
    """First, last, smallest and largest: what a line chart needs of a column of pixels.

    >>> import numpy, sash
    >>> sash.swag.slide(numpy.array([3, 1, 2]), 3, sash.m4())[-1].tolist()
    [3, 2, 1, 3]
    """
    return Builtin("m4", columns=_named(column), make=_m4)


def max_count(column: str | None = None) -> Template:
    """How often the largest value occurs.

    >>> import sash
    >>> sash.swag.slide([2, 2, 1], 3, sash.max_count())
    [1, 2, 2]
    """
    return Builtin("max_count", columns=_named(column), commutative=True, make=_extreme_count("max_count", True))


def min_count(column: str | None = None) -> Template:
    """How often the smallest value occurs.

    >>> import sash
    >>> sash.swag.slide([2, 2, 1], 3, sash.min_count())
    [1, 2, 1]
    """
    return Builtin("min_count", columns=_named(column), commutative=True, make=_extreme_count("min_count", False))


def argmax(column: str | None = None, who: str | None = None) -> Template:
    """What the second column holds where the first is largest; the first such row on ties.

    >>> import sash
    >>> sash.swag.slide(([3, 1, 3], ["ann", "bob", "cy"]), 3, sash.argmax())
    ['ann', 'ann', 'ann']
    """
    return _of_two("argmax", column, who, _arg("argmax", True))


def argmin(column: str | None = None, who: str | None = None) -> Template:
    """What the second column holds where the first is smallest; the first such row on ties.

    >>> import sash
    >>> sash.swag.slide(([3, 1, 1], [30, 10, 11]), 3, sash.argmin())
    [30, 10, 10]
    """
    return _of_two("argmin", column, who, _arg("argmin", False))


def _of_two(name: str, column: str | None, who: str | None, make: Callable[[Columns, bool], Parts]) -> Template:
    if (column is None) != (who is None):
        raise InvalidAggregate.parameter(name, "columns", (column, who), "two column names, or none")
    return Builtin(
        name, columns=(*_named(column), *_named(who)), arity=2, selective=True, kind=Kind.DISTRIBUTIVE, make=make
    )
