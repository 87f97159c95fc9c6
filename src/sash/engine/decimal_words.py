"""Decimals of a bounded table as 64-bit words: exact sums and means from sums of integers.

Idea      A decimal(p, s) is a whole number of units of 10⁻ˢ, at most 128 bits long. Cut it into limbs of 32 bits, the
          highest with the sign. The sum of the numbers is the sum of the limbs, each times its power of 2³², and
          sums of 2³¹ limbs fit an int64. If the sum of all numbers fits an int64, the number itself is the only limb.
Picture     units      = l₃·2⁹⁶ + l₂·2⁶⁴ + l₁·2³² + l₀         0 ≤ l₀, l₁, l₂ < 2³²
            Σ units    = Σl₃·2⁹⁶ + Σl₂·2⁶⁴ + Σl₁·2³² + Σl₀     as (high int64, low uint64)
Types     as Spark's: sum is decimal(p + 10, s), mean decimal(p + 4, s + 4) rounded half up.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import NumberOverflow

__all__ = ["mean_of", "split_into_limbs", "sum_of", "sum_type", "to_floats"]

Array = np.ndarray[Any, Any]
_LIMB = np.int64(0xFFFFFFFF)
_DIGIT, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_MOST = 38  # digits of decimal128
_CLOSE = 1e-12  # relative: far above the rounding of an estimate in floats


def split_into_limbs(array: Any) -> list[Any]:
    """Return the limbs of decimals as Arrow arrays of int64, the lowest first.

    >>> from decimal import Decimal
    >>> [each.to_pylist() for each in split_into_limbs(pa.array([Decimal("1.5"), None], pa.decimal128(4, 1)))]
    [[15, None]]
    """
    low, high = _words(array)
    is_null = array.is_null().to_numpy(zero_copy_only=False)
    low, high = np.where(is_null, 0, low), np.where(is_null, 0, high)
    if (high == low.view(np.int64) >> 63).all():
        units = low.view(np.int64)
        fits = len(units) == 0 or float(np.abs(units.astype(np.float64)).max()) * len(units) < 2**62
        limbs = [units] if fits else [units & _LIMB, units >> 32]
    else:
        limbs = [(low & np.uint64(_LIMB)).view(np.int64), (low >> np.uint64(32)).view(np.int64)]
        limbs += [high & _LIMB, high >> 32]
    return [pa.array(each, mask=is_null) for each in limbs]


def to_floats(array: Any) -> Any:
    """Return decimals as float64."""
    low, high = _words(array)
    units = low.view(np.int64)
    is_null = array.is_null().to_numpy(zero_copy_only=False)
    units = np.where(is_null, 0, units)
    is_short = (np.where(is_null, 0, high) == units >> 63).all() and (np.abs(units) < 2**53).all()
    if is_short and 0 <= array.type.scale <= 22:
        return pa.array(units / 10.0**array.type.scale, mask=is_null)  # both are exact, so the quotient is rounded once
    return array.cast(pa.float64())


def sum_type(kind: Any) -> Any:
    """Return the type of the sum of decimals."""
    return pa.decimal128(min(_MOST, kind.precision + 10), kind.scale)


def sum_of(sums: list[Any], kind: Any, name: str) -> Any:
    """Return the sum of decimals of type `kind` from the sums of their limbs; refuse one that does not fit.

    >>> sum_of([pa.array([30, None])], pa.decimal128(4, 1), "total").to_pylist()
    [Decimal('3.0'), None]
    """
    limbs, is_null = _numbers(sums)
    low, high = _join(limbs)
    result = sum_type(kind)
    _check_fit(limbs, is_null, result, name)
    return _decimals(low, high, is_null, result)


def mean_of(sums: list[Any], counts: Any, kind: Any, name: str) -> Any:
    """Return the mean of decimals of type `kind`, rounded half up, from the sums of their limbs and their counts.

    >>> mean_of([pa.array([5, -5])], pa.array([2, 2]), pa.decimal128(4, 0), "mean").to_pylist()
    [Decimal('2.5000'), Decimal('-2.5000')]
    """
    limbs, is_null = _numbers(sums)
    (count,), _ = _numbers([counts])
    is_null = is_null | (count == 0)
    result = pa.decimal128(min(_MOST, kind.precision + 4), min(_MOST, kind.scale + 4))
    finer = 10 ** (result.scale - kind.scale)
    below = 2 * np.where(is_null, 1, count).astype(np.uint64)
    _check_fit(limbs, is_null, pa.decimal128(_MOST, 0), name, result)
    low, high = _join(limbs)
    is_negative = high < 0
    low, high = _negate_where(is_negative, low, high)
    # (2 · |total| · finer + count) // (2 · count), digit by digit in base 2³²; the divisor is shorter than a digit.
    digits = [low & _DIGIT, low >> _HALF, high.view(np.uint64) & _DIGIT, high.view(np.uint64) >> _HALF]
    carry = below // np.uint64(2)
    for place, digit in enumerate(digits):
        carry = carry + digit * np.uint64(2 * finer)
        digits[place], carry = carry & _DIGIT, carry >> _HALF
    rest, quotient = carry % below, [carry // below]
    for digit in reversed(digits):
        rest = (rest << _HALF) | digit
        quotient.append(rest // below)
        rest = rest % below
    over, third, second, first, zeroth = quotient
    parts = [each.view(np.int64) for each in (zeroth, first, second, third)]
    _check_fit([*parts, over.view(np.int64)], is_null, result, name)
    low, high = zeroth | (first << _HALF), (second | (third << _HALF)).view(np.int64)
    return _decimals(*_negate_where(is_negative, low, high), is_null, result)


def _negate_where(chosen: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return numbers of two words, the chosen ones with the other sign."""
    negated = ~low + np.uint64(1)
    return np.where(chosen, negated, low), np.where(chosen, ~high + (negated == 0), high)


def _words(array: Any) -> tuple[Array, Array]:
    """Return the low and the high word of each decimal; those of nulls are arbitrary."""
    if array.buffers()[1] is None:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    words = np.frombuffer(array.buffers()[1], np.uint64).reshape(-1, 2)[array.offset : array.offset + len(array)]
    return words[:, 0].copy(), words[:, 1].copy().view(np.int64)


def _numbers(columns: list[Any]) -> tuple[list[Array], Array]:
    """Return columns of int64 as arrays, 0 for nulls, and where the first one is null."""
    is_null = columns[0].is_null().to_numpy(zero_copy_only=False)
    return [each.fill_null(0).to_numpy(zero_copy_only=False) for each in columns], is_null


def _join(limbs: list[Array]) -> tuple[Array, Array]:
    """Return Σ limbₖ·2³²ᵏ as a low and a high word."""
    low, high = limbs[0].view(np.uint64).copy(), limbs[0] >> 63
    if len(limbs) > 1:
        part = limbs[1].view(np.uint64) << np.uint64(32)
        low = low + part
        high = high + (limbs[1] >> 32) + (low < part)
    if len(limbs) > 2:
        high = high + limbs[2] + (limbs[3] << 32)
    return low, high


def _check_fit(limbs: list[Array], is_null: Array, kind: Any, name: str, shown: Any = None) -> None:
    """Refuse numbers with more digits than `kind` has; the error names the type `shown`, if that is another one."""
    limit = 10**kind.precision
    estimate = sum(np.abs(limb.astype(np.float64)) * 2.0 ** (32 * k) for k, limb in enumerate(limbs))
    for row in np.flatnonzero((estimate >= limit * (1 - _CLOSE)) & ~is_null).tolist():  # seldom any
        if abs(sum(int(limb[row]) << 32 * k for k, limb in enumerate(limbs))) >= limit:
            shown = shown or kind
            raise NumberOverflow.at(name, row, f"decimal({shown.precision}, {shown.scale})")


def _decimals(low: Array, high: Array, is_null: Array, kind: Any) -> Any:
    words = np.empty((len(low), 2), np.uint64)
    words[:, 0], words[:, 1] = low, high.view(np.uint64)
    present = pa.array(~is_null).buffers()[1]
    return pa.Array.from_buffers(kind, len(low), [present, pa.py_buffer(words)], int(is_null.sum()))
