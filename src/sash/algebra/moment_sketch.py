"""The moment sketch: count, extremes and power sums of values, from which `moments` estimates quantiles."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sash.algebra import moments
from sash.algebra.aggregate import Template, builtin
from sash.algebra.building_blocks import F8, Columns, counted, some, whole_number
from sash.algebra.decimals import through_floats
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Component, Parts
from sash.errors import UnsupportedAggregate
from sash.keywords import checked

__all__ = ["moment_sketch"]


def _join_moments(a: Partial, b: Partial) -> Partial:
    # A NaN on either side stays: neither comparison holds for it.
    low = a[0] if a[0] != a[0] or a[0] < b[0] else b[0]
    high = a[1] if a[1] != a[1] or a[1] > b[1] else b[1]
    return low, high, a[2] + b[2]


def _merge_moments(a: Partial, b: Partial) -> Partial:
    low = a[0] if a[0] != a[0] or a[0] < b[0] else b[0]
    high = a[1] if a[1] != a[1] or a[1] > b[1] else b[1]
    sums, others = a[2], b[2]
    for j in range(len(sums)):
        sums[j] += others[j]
    return low, high, sums


@checked
def moment_sketch(
    column: str | None = None, k: int = 10, quantile: float | None = None, *, where: str | None = None
) -> Template:
    """Return count, extremes and k power sums; with `quantile`, estimate the value below which that share of rows is.

    Without `quantile`, the result is the array [n, min, max, Σx, Σx², … Σx^k], which `quantile_of` reads. For smooth
    data, the rank of an estimate is typically wrong by less than one percent of the rows.

    - Power sums of raw values lose about log10(1 + |centre| / half-width) digits with each power. So if values are far
      from zero and close together, only the lower moments are used. Subtract a typical value first in this case.
    - Powers beyond 1e±290 are not used either (NaN in the array): keep |x| within 1e±29 for k = 10.
    - One far outlier makes all estimates inaccurate. A NaN or an infinity gives NaN.

    >>> import sash
    >>> [
    ...     round(x, 6)
    ...     for x in sash.swag.slide(
    ...         [1.0, 2.0, 9.0, 9.0], 3, sash.moment_sketch(quantile=0.5)
    ...     )
    ... ]
    [1.0, 1.5, 2.0, 9.0]
    """
    whole_number("moment_sketch", "k", k, 2, 20)
    if quantile is not None:
        moments.check_share("quantile", quantile)

    def lift(x: Any) -> Partial:
        powers = np.empty(k, np.float64)
        number = x * 1.0  # booleans, too
        power = 1.0
        for j in range(k):
            power *= number
            powers[j] = power if abs(power) < 1e290 else math.nan  # so that no sum overflows
        return number, number, powers

    def absorb(p: Partial, x: Any) -> Partial:
        sums = p[2]
        number = x * 1.0
        low = p[0] if p[0] != p[0] or p[0] < number else number
        high = p[1] if p[1] != p[1] or p[1] > number else number
        power = 1.0
        for j in range(k):
            power *= number
            sums[j] += power if abs(power) < 1e290 else math.nan
        return low, high, sums

    def array(p: Partial) -> Any:
        result = np.empty(k + 3, np.float64)
        result[0], result[1], result[2] = p[0], p[1], p[2]
        for j in range(k):
            result[3 + j] = p[3][j]
        return result

    share = 0.5 if quantile is None else float(quantile)

    def estimate(p: Partial) -> float:
        return moments.estimate(float(p[0]), p[1], p[2], p[3], share)

    def make(columns: Columns, invertible: bool) -> Parts:
        if columns[0].field.is_object or columns[0].is_time:
            raise UnsupportedAggregate.of_type("moment_sketch", columns[0], "numbers")
        component = Component(
            *(f"moments {k}", (F8, F8, Field(f"f8[{k}]")), (math.inf, -math.inf, 0.0), lift, _join_moments),
            absorb=absorb,
            merge=_merge_moments,
        )
        return Parts(
            (counted(columns), component),
            array if quantile is None else estimate,
            Field(f"f8[{k + 3}]") if quantile is None else F8,
            some if columns[0].nullable else None,
        )

    def made(columns: Columns, invertible: bool) -> Parts:
        parts = through_floats(make)(columns, invertible)
        if quantile is None or columns[0].field.decimal is None:
            return parts
        # Decimals are interpreted; the search for a density, as plain Python, takes a quarter of a second.
        return replace(parts, lower=lambda p: moments.quantile_of(array(p), share))

    return builtin("moment_sketch", column, made, ("k", k), ("quantile", quantile), commutative=True, where=where)
