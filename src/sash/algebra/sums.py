"""Aggregates that add up: count, sum, mean, variance, stddev, geometric mean, product.

Nulls are skipped and a window of nulls gives null. Some aggregates have two forms. The plain form
only adds rows. The form that can subtract also keeps what subtraction would lose: rounding errors,
and the numbers of NaN and infinities.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sash.algebra import exact, products
from sash.algebra.aggregate import Kind, Template, builtin
from sash.algebra.building_blocks import (
    F8,
    I8,
    Columns,
    add,
    counted,
    first_field,
    is_float,
    numeric,
    some,
    subtract,
    with_count,
)
from sash.algebra.compiler import jitable
from sash.algebra.decimals import mean_parts, sum_parts, through_floats
from sash.algebra.fields import Partial
from sash.algebra.monoid import Column, Component, Parts
from sash.keywords import checked

__all__ = ["count", "geometric_mean", "mean", "product", "stddev", "sum", "variance"]


def _plain(x: Any) -> Partial:
    return (float(x),)


def _itself(x: Any) -> Partial:
    return (x,)


def _as_float(total: Partial) -> float:
    return float(total[0])


def _total(column: Column, invertible: bool) -> Component:
    """Return the component of the sum of a column, shared by sum, mean and variance."""
    if column.is_small:
        return Component("small sum", (I8,), (0,), _itself, add, subtract)
    if not is_float(column):
        return Component("sum", (I8, I8), (0, 0), exact.halves, exact.add, exact.subtract)
    return _exact("exact sum", exact.exact_of) if invertible else Component("sum", (F8,), (0.0,), _plain, add)


def _exact(name: str, lift: Callable[[Any], Partial]) -> Component:
    """Return the component of a sum of floats that can subtract."""
    fields, zero = (F8, F8, I8, I8, I8), (0.0, 0.0, 0, 0, 0)
    return Component(name, fields, zero, lift, exact.add_exactly, exact.subtract_exactly)


def _as_number(column: Column, invertible: bool) -> Callable[[Partial], float]:
    """Return a function that reads the sum of a column as a float."""
    if column.is_small:
        return _as_float
    if not is_float(column):
        return exact.halves_as_float
    return exact.exact_total if invertible else first_field


def _count(columns: Columns, invertible: bool) -> Parts:
    return Parts((counted(columns),), first_field, I8)


def _sum(columns: Columns, invertible: bool) -> Parts:
    column = columns[0]
    if column.field.decimal is not None:
        return sum_parts(columns)
    numeric("sum", column)
    total = _total(column, invertible)
    if is_float(column):
        return with_count(columns, total, _as_number(column, invertible), F8)
    if column.is_small:
        return with_count(columns, total, first_field, I8)
    return with_count(columns, total, exact.whole, I8, exact.fits)


def _mean(columns: Columns, invertible: bool) -> Parts:
    if columns[0].field.decimal is not None:
        return mean_parts(columns)
    numeric("mean", columns[0])
    number = jitable(_as_number(columns[0], invertible))

    def lower(p: Partial) -> Any:
        return number(p[1:]) / p[0]

    return Parts((counted(columns), _total(columns[0], invertible)), lower, F8, some if columns[0].nullable else None)


def _m2_of(x: Any) -> Partial:
    return (x * 0.0,)  # zero, or NaN for what is not finite


def _join_m2(a: Partial, b: Partial) -> Partial:
    return (_combine_m2(a[0], a[1], a[2], b[0], b[1], b[2]),)


def _join_m2_of_integers(a: Partial, b: Partial) -> Partial:
    older, newer = exact.halves_as_float((a[1], a[2])), exact.halves_as_float((b[1], b[2]))
    return (_combine_m2(a[0], older, a[3], b[0], newer, b[3]),)


@jitable
def _combine_m2(n: int, sum_n: float, m2_n: float, k: int, sum_k: float, m2_k: float) -> float:
    """Return Σ(x - mean)² of two parts together. Sums of squares would cancel when the mean is large."""
    if n == 0:
        return m2_k
    if k == 0:
        return m2_n
    # `apart` is the difference of the means times n·k: this needs one division instead of three, and no square that
    # could overflow early.
    apart = sum_k * n - sum_n * k
    joined = m2_n + m2_k + apart * (apart / (float(n) * float(k) * float(n + k)))
    if joined < math.inf:
        return joined
    if not abs(sum_n) < math.inf or not abs(sum_k) < math.inf:
        return m2_n + m2_k + math.inf  # NaN if a value is not finite
    apart = sum_k / k - sum_n / n
    return m2_n + m2_k + apart * (apart * (float(n) * float(k) / float(n + k)))


def _spread(name: str, freedom: int, root: bool) -> Callable[[Columns, bool], Parts]:
    """Return the maker of variance or stddev; `freedom` is 1 for a sample, 0 for a population.

    They have no inverse: squares have twice the exponents of floats, so the rounding error of an outlier of 1e16 is
    larger than the variance of all other rows. The result of finite values is never NaN. It is infinite if it, or the
    sum of the values, exceeds a float.
    """

    def enough(p: Partial) -> int:
        return 1 if p[0] > freedom else 0

    def make(columns: Columns, invertible: bool) -> Parts:
        column = columns[0]
        numeric(name, column)
        join = _join_m2 if is_float(column) else _join_m2_of_integers
        m2 = Component("m2", (F8,), (0.0,), _m2_of, join, reads=("count", "sum"))
        components = (counted(columns), _total(column, invertible=False), m2)

        def lower_integers(p: Partial) -> float:
            return p[-1] / (p[0] - freedom)  # type: ignore[no-any-return]

        def lower_floats(p: Partial) -> float:
            if math.isinf(p[1]) and p[2] == p[2]:
                return math.inf
            return p[2] / (p[0] - freedom)  # type: ignore[no-any-return]

        lower = lower_floats if is_float(column) else lower_integers
        of_root = jitable(lower)
        return Parts(components, (lambda p: math.sqrt(of_root(p))) if root else lower, F8, enough)

    return through_floats(make)


def _log(x: Any) -> float:
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


def _geometric_mean(columns: Columns, invertible: bool) -> Parts:
    numeric("geometric_mean", columns[0])
    log = jitable(_log)
    if invertible:

        def exact_log(x: Any) -> Partial:
            return exact.exact_of(log(x))

        logs = _exact("exact logs", exact_log)
    else:
        logs = Component("logs", (F8,), (0.0,), lambda x: (log(x),), add)
    number = jitable(exact.exact_total if invertible else first_field)

    def lower(p: Partial) -> float:
        return math.exp(number(p[1:]) / p[0])

    return Parts((counted(columns), logs), lower, F8, some if columns[0].nullable else None)


def _multiply(a: Partial, b: Partial) -> Partial:
    return (a[0] * b[0],)


_BOTTOM = -9223372036854775808  # -2⁶³


def _factor(x: Any) -> Partial:
    """Return an integer as (minus its magnitude, number of negative factors, number of zeros).

    Zeros are counted separately, so the magnitude of a product only grows, and 0 can mark an overflow of
    64 bits. It is kept negative because -2⁶³ fits 64 bits and 2⁶³ does not.
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


def _product(columns: Columns, invertible: bool) -> Parts:
    column = columns[0]
    numeric("product", column)
    if invertible:
        fields, one = (F8, F8, I8, I8, I8, I8, I8), (0.5, 0.0, 1, 0, 0, 0, 0)
        lift = products.factor_of_float if is_float(column) else products.factor_of_integer
        divisible = Component("exact product", fields, one, lift, products.multiply, products.divide)
        if is_float(column):
            return with_count(columns, divisible, products.product_of_floats, F8)
        return with_count(columns, divisible, products.whole_product, I8, products.fits)
    if is_float(column):
        return with_count(columns, Component("product", (F8,), (1.0,), _plain, _multiply), first_field, F8)
    factor = _factor_of_unsigned if column.field.dtype.kind == "u" else _factor
    component = Component("product", (I8, I8, I8), (-1, 0, 0), factor, _multiply_factors)
    return with_count(columns, component, _product_of_factors, I8, _product_fits)


_ADDED: dict[str, Any] = {"invertible": True, "commutative": True, "kind": Kind.DISTRIBUTIVE}


@checked
def count(column: str | None = None, *, where: str | None = None) -> Template:
    """Count the rows; with a column, the values that are not null.

    >>> import sash
    >>> (
    ...     sash.swag.slide([1, None, 3], 2, sash.count()),
    ...     sash.swag.slide([1, None, 3], 2, sash.count("x")),
    ... )
    ([1, 2, 2], [1, 1, 1])
    """
    given: Any = column
    if type(given) in (str, int) and given in ("*", 1):  # as SQL counts rows
        column = None
    return builtin("count", column, _count, arity=0 if column is None else 1, **_ADDED, where=where)


@checked
def sum(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the total; it is exact for integers and Arrow decimals, and an error beyond 64 bits or 38 digits.

    >>> import sash
    >>> sash.swag.slide([1, 2, 3, 4], 2, sash.sum())
    [1, 3, 5, 7]
    """
    return builtin("sum", column, _sum, **_ADDED, where=where)


@checked
def mean(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the average; for Arrow decimals, it is a decimal with four more digits, rounded half up.

    >>> import sash
    >>> sash.swag.slide([1, 2, 6], 2, sash.mean())
    [1.0, 1.5, 4.0]
    """
    return builtin("mean", column, _mean, invertible=True, commutative=True, where=where)


@checked
def variance(column: str | None = None, *, population: bool = False, where: str | None = None) -> Template:
    """Return the variance of a sample, or of a whole population; null if there are too few values.

    The result is infinite if the variance or the sum of the values is too large for a float. It is NaN if a value is
    NaN or infinite.

    >>> import sash
    >>> sash.swag.slide([1, 3, 5], 3, sash.variance())
    [None, 2.0, 4.0]
    """
    make = _spread("variance", 0 if population else 1, root=False)
    return builtin("variance", column, make, ("population", population), commutative=True, where=where)


@checked
def stddev(column: str | None = None, *, population: bool = False, where: str | None = None) -> Template:
    """Return the standard deviation of a sample, or of a whole population.

    >>> import sash
    >>> sash.swag.slide([1, 3, 5], 3, sash.stddev(population=True))
    [0.0, 1.0, 1.632993161855452]
    """
    make = _spread("stddev", 0 if population else 1, root=True)
    return builtin("stddev", column, make, ("population", population), commutative=True, where=where)


@checked
def geometric_mean(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the n-th root of the product of n values; 0 if one is 0, NaN if one is negative.

    >>> import sash
    >>> [round(x, 9) for x in sash.swag.slide([1, 4, 16], 2, sash.geometric_mean())]
    [1.0, 2.0, 8.0]
    """
    return builtin(
        "geometric_mean", column, through_floats(_geometric_mean), invertible=True, commutative=True, where=where
    )


@checked
def product(column: str | None = None, *, where: str | None = None) -> Template:
    """Return the product; it is exact for integers, and an error beyond 64 bits.

    >>> import sash
    >>> sash.swag.slide([2, 3, 0, 5], 2, sash.product())
    [2, 6, 0, 0]
    """
    return builtin("product", column, through_floats(_product), **_ADDED, where=where)
