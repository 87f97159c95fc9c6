"""Exact sums: integers in two halves, floats with their rounding errors.

Integers  x = high · 2³² + low with 0 ≤ low < 2³². Halves are added apart, so no addition can
          overflow for 2³¹ rows. Only a result that does not fit 64 bits is an error.
Floats    A total is high + low, where low is the rounding error of high (Neumaier, 1974; Knuth's
          two-sum). A row that is added and subtracted again leaves an error of at most 2⁻¹⁰⁴ of
          its value. NaN and infinities are counted, not added. A total that overflows stays
          infinite.
"""

import math

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial

__all__ = [
    "add",
    "add_exactly",
    "exact_of",
    "exact_total",
    "fits",
    "halves",
    "halves_as_float",
    "subtract",
    "subtract_exactly",
    "two_sum",
    "whole",
]

# --- integers ------------------------------------------------------------------------------------


def halves(x: int) -> Partial:
    """Return an integer as (high, low)."""
    return x >> 32, x & 0xFFFFFFFF  # an unsigned integer divided by a signed one would be a float when compiled


def add(a: Partial, b: Partial) -> Partial:
    """Return the sum of two integers in halves."""
    return a[0] + b[0], a[1] + b[1]


def subtract(whole: Partial, older: Partial) -> Partial:
    """Return the difference of two integers in halves."""
    return whole[0] - older[0], whole[1] - older[1]


@jitable
def _carry(total: Partial) -> int:
    high: int = total[0] + (total[1] >> 32)
    return high


@jitable
def fits(total: Partial) -> int:
    """Return Presence.VALUE if the total fits a 64-bit integer, else Presence.OVERFLOW."""
    high = _carry(total)
    return 1 if -2147483648 <= high < 2147483648 else 2


def whole(total: Partial) -> int:
    """Return the integer of two halves, which must fit."""
    result: int = (_carry(total) << 32) + (total[1] & 0xFFFFFFFF)
    return result


@jitable
def halves_as_float(total: Partial) -> float:
    # Carried first: apart, the halves of a negative total are large and would cancel.
    return float(_carry(total)) * 4294967296.0 + float(total[1] & 0xFFFFFFFF)


# --- floats --------------------------------------------------------------------------------------
# A total is (high, low, nans, plus_infinities, minus_infinities).


@jitable
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b, and the rounding error of the addition."""
    total = a + b
    if math.isinf(total):
        return total, 0.0
    part = total - a
    return total, (a - (total - part)) + (b - part)


@jitable
def _renormalise(high: float, low: float, rest: float) -> tuple[float, float]:
    return two_sum(high, low + rest)


@jitable
def exact_of(x: float) -> Partial:
    """Return the total of one number."""
    x = float(x)
    if x != x:
        return 0.0, 0.0, 1, 0, 0
    if math.isinf(x):
        return (0.0, 0.0, 0, 1, 0) if x > 0 else (0.0, 0.0, 0, 0, 1)
    return float(x), 0.0, 0, 0, 0


def add_exactly(a: Partial, b: Partial) -> Partial:
    total, lost = two_sum(a[0], b[0])
    high, low = _renormalise(total, lost, a[1] + b[1])
    return high, low, a[2] + b[2], a[3] + b[3], a[4] + b[4]


def subtract_exactly(whole: Partial, older: Partial) -> Partial:
    total, lost = two_sum(whole[0], -older[0])
    high, low = _renormalise(total, lost, whole[1] - older[1])
    return high, low, whole[2] - older[2], whole[3] - older[3], whole[4] - older[4]


@jitable
def exact_total(total: Partial) -> float:
    """Return the number of a total."""
    if total[2] > 0 or (total[3] > 0 and total[4] > 0):
        return math.nan
    if total[3] > 0:
        return math.inf
    if total[4] > 0:
        return -math.inf
    result: float = total[0] + total[1]
    return result
