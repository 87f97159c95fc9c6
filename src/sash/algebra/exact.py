"""Sums that stay exact: integers in two halves, floats with their rounding errors.

Integers  x = high · 2³² + low with 0 ≤ low < 2³². Halves are added apart, so no addition can
          overflow for 2³¹ rows, and only a result that does not fit 64 bits is refused.
Floats    A total is high + low, low being what high lost by rounding (Neumaier, 1974; Knuth's
          two-sum, Dekker's two-product), so that a row that enters and leaves leaves at most
          2⁻¹⁰⁴ of itself behind (of its square, in a variance). NaN and the infinities are counted,
          never added; a total that itself overflows stays infinite.
"""

import math

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial

__all__ = [
    "add",
    "add_exactly",
    "add_squares",
    "exact_of",
    "exact_of_halves",
    "exact_total",
    "exact_variance",
    "fits",
    "halves",
    "halves_as_float",
    "square_of",
    "subtract",
    "subtract_exactly",
    "subtract_squares",
    "whole",
]

_HALF = 4294967296  # 2³²
_SPLIT = 134217729.0  # 2²⁷ + 1


# --- integers ------------------------------------------------------------------------------------


def halves(x: int) -> Partial:
    """An integer as (high, low)."""
    return x >> 32, x & 0xFFFFFFFF  # an unsigned integer divided by a signed one would be a float when compiled


def add(a: Partial, b: Partial) -> Partial:
    return a[0] + b[0], a[1] + b[1]


def subtract(whole: Partial, older: Partial) -> Partial:
    return whole[0] - older[0], whole[1] - older[1]


@jitable
def _carried(total: Partial) -> int:
    high: int = total[0] + total[1] // _HALF
    return high


@jitable
def fits(total: Partial) -> int:
    """Presence.VALUE if the total is a 64-bit integer, else Presence.OVERFLOW."""
    high = _carried(total)
    return 1 if -2147483648 <= high < 2147483648 else 2


def whole(total: Partial) -> int:
    """The integer again; only where it fits."""
    result: int = _carried(total) * _HALF + total[1] % _HALF
    return result


@jitable
def halves_as_float(total: Partial) -> float:
    # Carried first: apart, the halves of a negative total are large and would cancel.
    return float(_carried(total)) * 4294967296.0 + float(total[1] % _HALF)


# --- floats --------------------------------------------------------------------------------------
# A total is (high, low, nans, plus_infinities, minus_infinities).


@jitable
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b, and what the addition rounded away."""
    total = a + b
    if math.isinf(total):
        return total, 0.0
    part = total - a
    return total, (a - (total - part)) + (b - part)


@jitable
def _two_product(a: float, b: float) -> tuple[float, float]:
    """a · b, and what the multiplication rounded away."""
    product = a * b
    if math.isinf(product) or abs(a) > 1e150 or abs(b) > 1e150:  # the split would overflow
        return product, 0.0
    c = _SPLIT * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = _SPLIT * b
    b_high = c - (c - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@jitable
def _renormalised(high: float, low: float, rest: float) -> tuple[float, float]:
    return _two_sum(high, low + rest)


@jitable
def exact_of(x: float) -> Partial:
    """The total of one number."""
    x = float(x)
    if x != x:
        return 0.0, 0.0, 1, 0, 0
    if math.isinf(x):
        return (0.0, 0.0, 0, 1, 0) if x > 0 else (0.0, 0.0, 0, 0, 1)
    return float(x), 0.0, 0, 0, 0


def square_of(x: float) -> Partial:
    """The square of one number as (high, low); what is not finite is counted elsewhere."""
    if x != x or math.isinf(x):
        return 0.0, 0.0
    return _two_product(float(x), float(x))


def add_exactly(a: Partial, b: Partial) -> Partial:
    total, lost = _two_sum(a[0], b[0])
    high, low = _renormalised(total, lost, a[1] + b[1])
    return high, low, a[2] + b[2], a[3] + b[3], a[4] + b[4]


def subtract_exactly(whole: Partial, older: Partial) -> Partial:
    total, lost = _two_sum(whole[0], -older[0])
    high, low = _renormalised(total, lost, whole[1] - older[1])
    return high, low, whole[2] - older[2], whole[3] - older[3], whole[4] - older[4]


def add_squares(a: Partial, b: Partial) -> Partial:
    total, lost = _two_sum(a[0], b[0])
    return _renormalised(total, lost, a[1] + b[1])


def subtract_squares(whole: Partial, older: Partial) -> Partial:
    total, lost = _two_sum(whole[0], -older[0])
    return _renormalised(total, lost, whole[1] - older[1])


@jitable
def exact_of_halves(total: Partial) -> Partial:
    """An integer total as a float total."""
    high, low = _two_sum(float(_carried(total)) * 4294967296.0, float(total[1] % _HALF))
    return high, low, 0, 0, 0


@jitable
def exact_total(total: Partial) -> float:
    """The number again."""
    if total[2] > 0 or (total[3] > 0 and total[4] > 0):
        return math.nan
    if total[3] > 0:
        return math.inf
    if total[4] > 0:
        return -math.inf
    result: float = total[0] + total[1]
    return result


@jitable
def exact_variance(count: int, total: Partial, squares: Partial, freedom: int) -> float:
    """(Σx² - (Σx)²/n) / (n - freedom), every step carried with its rounding error."""
    if total[2] > 0 or total[3] > 0 or total[4] > 0:
        return math.nan
    square, lost = _two_product(total[0], total[0])
    square, lost = _renormalised(square, lost, 2.0 * total[0] * total[1])
    mean_square = square / count
    back, back_lost = _two_product(mean_square, float(count))
    mean_square_low = ((square - back) - back_lost + lost) / count
    high, rest = _two_sum(squares[0], -mean_square)
    left = high + (rest + (squares[1] - mean_square_low))
    return (0.0 if left < 0.0 else left) / (count - freedom)
