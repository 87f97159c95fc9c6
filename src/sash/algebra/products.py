"""Products that can divide again: a scaled magnitude with its rounding error, and what has no reciprocal, counted.

Partial   (high, low, exponent, negatives, zeros, infinities, nans). The magnitude is (high + low) · 2^exponent, where
          0.5 ≤ high < 1 and low is the rounding error of high. No product can overflow or underflow on the way.
Counted   Signs, zeros, infinities and NaN are counted, and never multiplied, so they leave a window again.
Error     A factor that is multiplied and divided out again leaves a relative error of at most 2⁻¹⁰⁰: errors of
          factors do not depend on their size. A product of integers that fits 64 bits is exact for 2³⁴ such pairs.
"""

import math
from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.exact import two_sum
from sash.algebra.fields import Partial

__all__ = ["divide", "factor_of_float", "factor_of_integer", "fits", "multiply", "product_of_floats", "whole_product"]

_SPLITTER = 134217729.0  # 2²⁷ + 1
_NEAR = 2.0**-65  # half of the relative distance of 2⁶³ and 2⁶³ - 1, for a magnitude of 0.5


@jitable
def _exact_product(a: float, b: float) -> tuple[float, float]:
    """Return a · b, and the rounding error of the multiplication (Dekker, 1971)."""
    product = a * b
    part = _SPLITTER * a
    a_high = part - (part - a)
    a_low = a - a_high
    part = _SPLITTER * b
    b_high = part - (part - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@jitable
def _scaled(high: float, low: float, exponent: int) -> tuple[float, float, int]:
    """Return a positive magnitude with 0.5 ≤ high < 1."""
    high, low = two_sum(high, low)
    mantissa, shift = math.frexp(high)
    return mantissa, math.ldexp(low, -shift), exponent + shift


@jitable
def factor_of_float(x: Any) -> Partial:
    x = float(x)
    if x != x:
        return 0.5, 0.0, 1, 0, 0, 0, 1
    negative = 1 if math.copysign(1.0, x) < 0.0 else 0
    if x == 0.0:
        return 0.5, 0.0, 1, negative, 1, 0, 0
    if math.isinf(x):
        return 0.5, 0.0, 1, negative, 0, 1, 0
    mantissa, exponent = math.frexp(abs(x))
    return mantissa, 0.0, exponent, negative, 0, 0, 0


def factor_of_integer(x: Any) -> Partial:
    if x == 0:
        return 0.5, 0.0, 1, 0, 1, 0, 0
    # Halves are exact as floats, also of -2⁶³, whose magnitude is no 64-bit integer.
    sign = -1.0 if x < 0 else 1.0
    high, low, exponent = _scaled(sign * float(x >> 32) * 4294967296.0, sign * float(x & 0xFFFFFFFF), 0)
    return high, low, exponent, 1 if x < 0 else 0, 0, 0, 0


def multiply(a: Partial, b: Partial) -> Partial:
    product, lost = _exact_product(a[0], b[0])
    high, low, exponent = _scaled(product, lost + (a[0] * b[1] + a[1] * b[0]), a[2] + b[2])
    return high, low, exponent, a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6]


def divide(whole: Partial, older: Partial) -> Partial:
    quotient = whole[0] / older[0]
    product, lost = _exact_product(quotient, older[0])
    rest = ((whole[0] - product) - lost) + (whole[1] - quotient * older[1])
    high, low, exponent = _scaled(quotient, rest / older[0], whole[2] - older[2])
    return (high, low, exponent, whole[3] - older[3], whole[4] - older[4], whole[5] - older[5], whole[6] - older[6])


def product_of_floats(p: Partial) -> float:
    """Return the number of a product; too large a magnitude is infinite, too small a one is 0."""
    if p[6] > 0 or (p[4] > 0 and p[5] > 0):
        return math.nan
    sign = -1.0 if p[3] % 2 == 1 else 1.0
    if p[5] > 0:
        return sign * math.inf
    if p[4] > 0 or p[2] < -1100:
        return sign * 0.0
    if p[2] > 1024:
        return sign * math.inf
    # In two steps: interpreted, ldexp raises an error for a result that exceeds a float.
    return sign * (math.ldexp(p[0] + p[1], int(p[2]) - 1) * 2.0)


def whole_product(p: Partial) -> int:
    """Return the integer of a product, which must fit."""
    if p[4] > 0:
        return 0
    # Negative, because -2⁶³ fits 64 bits. `low` counts only above 2⁵³, where high is a whole number.
    exponent = int(p[2])  # ldexp accepts no integer of NumPy
    minus = int(-math.ldexp(p[0], exponent)) + math.floor(0.5 - math.ldexp(p[1], exponent))
    return minus if p[3] % 2 == 1 else -minus


@jitable
def fits(p: Partial) -> int:
    """Return Presence.VALUE if a product of integers fits a 64-bit integer, else Presence.OVERFLOW."""
    if p[4] > 0 or p[2] < 64:
        return 1
    is_near = p[2] == 64 and p[0] == 0.5  # near 2⁶³
    most = _NEAR if p[3] % 2 == 1 else -_NEAR
    return 1 if is_near and p[1] < most else 2
