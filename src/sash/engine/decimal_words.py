"""Decimals as 64-bit words: exact sums and means from sums of integers.

Idea      A decimal(p, s) is a whole number of units of 10⁻ˢ. Up to 18 digits it is one int64; a longer one is two: the
          low word, which is signed too, and the high word that completes it. The sum of the numbers is the sum of each
          word, and a sum of words is kept in two halves of 32 bits (`algebra/exact.py`), which do not overflow.
Picture     units      = high·2⁶⁴ + low                                      -2⁶³ ≤ low < 2⁶³
            Σ units    = l₃·2⁹⁶ + l₂·2⁶⁴ + l₁·2³² + l₀                       the halves of Σ high and of Σ low
                       = as (high int64, low uint64), the words of an Arrow decimal
Types     as Spark's: sum is decimal(p + 10, s), mean decimal(p + 4, s + 4) rounded half up.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import NumberOverflow

__all__ = [
    "as_bytes",
    "decimals_of",
    "limbs_of",
    "mean_words",
    "of_bytes",
    "sum_words",
    "to_floats",
    "units_of",
    "words_of",
]

Array = np.ndarray[Any, Any]
_DIGIT, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_SIGN = np.uint64(1 << 63)
_MOST = 38  # digits of decimal128
_CLOSE = 1e-12  # relative: far above the rounding of an estimate in floats


def units_of(array: Any) -> tuple[Array, Array]:
    """Return the words of decimals, low and high, both signed; those of nulls are zero.

    >>> from decimal import Decimal
    >>> units_of(pa.array([Decimal("-1.5"), None], pa.decimal128(4, 1)))
    (array([-15,   0]), array([0, 0]))
    """
    low, high = _words(array)
    if array.null_count:
        is_null = array.is_null().to_numpy(zero_copy_only=False)
        low, high = np.where(is_null, 0, low), np.where(is_null, 0, high)
    signed = low.view(np.int64)
    return signed, high + (signed < 0)


def limbs_of(array: Any) -> list[Array]:
    """Return the halves of the words of decimals, the lowest first."""
    low, high = units_of(array)
    return [half for word in (low, high) for half in (word & 0xFFFFFFFF, word >> 32)]


def to_floats(array: Any) -> Array:
    """Return decimals as float64; those of nulls are arbitrary."""
    if not pa.types.is_decimal128(array.type):
        return _cast_to_floats(array)
    units, high = units_of(array)
    is_short = not high.any() and (np.abs(units) < 2**53).all()
    if is_short and 0 <= array.type.scale <= 22:
        return np.asarray(units / 10.0**array.type.scale)  # both are exact, so the quotient is rounded once
    return _cast_to_floats(array)


def _cast_to_floats(array: Any) -> Array:
    return np.asarray(array.cast(pa.float64()).fill_null(0.0).to_numpy())


def sum_words(limbs: list[Array], valid: Array, kind: Any, name: str) -> Array:
    """Return sums as the words of decimals of a type, from their limbs, the lowest first; refuse one that does not fit.

    >>> kind = pa.decimal128(4, 1)
    >>> decimals_of(sum_words([np.array([30])], np.array([True]), kind, "total"), None, kind).to_pylist()
    [Decimal('3.0')]
    """
    _check_fit(limbs, ~valid, kind, name)
    return words_of(*_join(limbs))


def mean_words(limbs: list[Array], count: Array, valid: Array, finer: int, kind: Any, name: str) -> Array:
    """Return means as the words of decimals of a type, rounded half up, from limbs of sums and counts.

    `finer` is how many units of the type are one of the sums.

    >>> kind = pa.decimal128(8, 4)
    >>> means = mean_words([np.array([5, -5])], np.array([2, 2]), np.array([True, True]), 10**4, kind, "mean")
    >>> decimals_of(means, None, kind).to_pylist()
    [Decimal('2.5000'), Decimal('-2.5000')]
    """
    below = 2 * np.where(valid, count, 1).astype(np.uint64)
    _check_fit(limbs, ~valid, pa.decimal128(_MOST, 0), name, kind)
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
    _check_fit([*parts, over.view(np.int64)], ~valid, kind, name)
    low, high = zeroth | (first << _HALF), (second | (third << _HALF)).view(np.int64)
    return words_of(*_negate_where(is_negative, low, high))


def words_of(low: Array, high: Array) -> Array:
    """Return the words of decimals side by side, as Arrow has them."""
    return np.stack([low.view(np.int64), high], axis=1)


def decimals_of(words: Array, valid: Array | None, kind: Any) -> Any:
    """Return decimals of a type from their words, or from one word each."""
    if words.ndim == 1:
        words = np.stack([words, words >> 63], axis=1)
    present, nulls = (None, 0) if valid is None else (pa.array(valid).buffers()[1], int((~valid).sum()))
    return pa.Array.from_buffers(kind, len(words), [present, pa.py_buffer(np.ascontiguousarray(words))], nulls)


def as_bytes(array: Any) -> Any:
    """Return strings, binaries or decimals without nulls as binaries that are equal and ordered as they are."""
    if not pa.types.is_decimal(array.type):
        return array.cast(pa.large_binary())
    words = _all_words(array)[:, ::-1]  # the highest first
    words[:, 0] ^= _SIGN
    ends = np.arange(len(array) + 1) * array.type.byte_width
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(words, ">u8"))]
    return pa.Array.from_buffers(pa.large_binary(), len(array), buffers)


def of_bytes(array: Any, kind: Any) -> Any:
    """Return values of a type from what `as_bytes` made of them."""
    if not pa.types.is_decimal(kind):
        return array.cast(kind)
    words = _all_words(array.cast(pa.binary(kind.byte_width))).view(">u8").astype(np.uint64)
    words[:, 0] ^= _SIGN
    valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    return decimals_of(words[:, ::-1], valid, kind)


def _negate_where(chosen: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return numbers of two words, the chosen ones with the other sign."""
    negated = ~low + np.uint64(1)
    return np.where(chosen, negated, low), np.where(chosen, ~high + (negated == 0), high)


def _words(array: Any) -> tuple[Array, Array]:
    """Return the low and the high word of each decimal; those of nulls are arbitrary."""
    words = _all_words(array)
    return words[:, 0].copy(), words[:, 1].copy().view(np.int64)


def _all_words(array: Any) -> Array:
    """Return a copy of the words of values of a fixed width."""
    width = array.type.byte_width // 8
    if not len(array):
        return np.zeros((0, width), np.uint64)
    words = np.frombuffer(array.buffers()[1], np.uint64).reshape(-1, width)
    return words[array.offset : array.offset + len(array)].copy()


def _join(limbs: list[Array]) -> tuple[Array, Array]:
    """Return Σ limbₖ·2³²ᵏ as a low and a high word."""
    low, high = limbs[0].view(np.uint64), limbs[0] >> 63
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
