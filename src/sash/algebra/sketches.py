"""Sketches: approximate answers about many values from a partial of a fixed size.

Hashes are those of `hashing`: nothing depends on the process, so sketches of two machines combine.
Nulls are skipped, and a window of nulls gives null.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sash.algebra import moments
from sash.algebra.aggregate import Template, builtin
from sash.algebra.building_blocks import F8, Columns, add, counted, some, subtract, with_count
from sash.algebra.decimals import through_floats
from sash.algebra.fields import Field, Partial
from sash.algebra.hashing import bit_function, bits_of_object, hash_of, plus, slot_of, stride_of
from sash.algebra.monoid import Component, Parts
from sash.errors import InvalidAggregate, UnsupportedAggregate

__all__ = ["bloom_contains", "bloom_filter", "count_min", "count_min_estimate", "hyperloglog", "moment_sketch"]


def _whole(name: str, parameter: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidAggregate.parameter(name, parameter, value, f"a whole number from {least} to {most}")


def _copy(p: Partial) -> Any:
    return p[0].copy()


# --- Bloom filter --------------------------------------------------------------------------------


def _union(a: Partial, b: Partial) -> Partial:
    return (a[0] | b[0],)


def bloom_filter(column: str | None = None, bits: int = 1024, hashes: int = 3, *, where: str | None = None) -> Template:
    """Return a set with false positives, but no false negatives; query it with `bloom_contains`.

    The result is an array of `bits // 64` words. After n distinct values, the probability of a false
    positive is about (1 - e^(-hashes · n / bits))^hashes (Bloom, CACM 1970).

    >>> import numpy, sash
    >>> words = sash.swag.slide(numpy.array([3, 1, 4, 1, 5]), 3, sash.bloom_filter())
    >>> sash.bloom_contains(words[-1], 4), sash.bloom_contains(words[-1], 3)
    (True, False)
    """
    _whole("bloom_filter", "bits", bits, 64, 1 << 24)
    _whole("bloom_filter", "hashes", hashes, 1, 64)
    if bits % 64:
        raise InvalidAggregate.parameter("bloom_filter", "bits", bits, "a multiple of 64")

    def make(columns: Columns, invertible: bool) -> Parts:
        bits_of = bit_function(columns[0])

        def lift(x: Any) -> Partial:
            words = np.zeros(bits // 64, np.uint64)
            value = bits_of(x)
            place, stride = hash_of(value), stride_of(value)
            for _ in range(hashes):
                bit = slot_of(place, bits)
                words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
                place = plus(place, stride)
            return (words,)

        field = Field(f"u8[{bits // 64}]")
        component = Component(f"bloom_filter {bits} {hashes}", (field,), (0,), lift, _union)
        return with_count(columns, component, _copy, field)

    return builtin("bloom_filter", column, make, ("bits", bits), ("hashes", hashes), commutative=True, where=where)


def bloom_contains(words: npt.ArrayLike, value: Any, hashes: int = 3) -> bool:
    """Return whether a Bloom filter may contain the value; False is certain. `hashes` must be that of the filter.

    >>> import numpy, sash
    >>> bloom_contains(sash.swag.slide(numpy.array([2.0, 7.5]), 2, sash.bloom_filter())[-1], 2)
    True
    """
    _whole("bloom_filter", "hashes", hashes, 1, 64)
    array = np.asarray(words, np.uint64)
    if array.ndim != 1 or not len(array):
        raise InvalidAggregate.parameter("bloom_filter", "words", words, "a result of bloom_filter, an array of words")
    bits = bits_of_object(value)
    place, stride = hash_of(bits), stride_of(bits)
    for _ in range(hashes):
        bit = slot_of(place, 64 * len(array))
        if not int(array[bit >> 6]) >> (bit & 63) & 1:
            return False
        place = plus(place, stride)
    return True


# --- HyperLogLog ---------------------------------------------------------------------------------


def _larger_registers(a: Partial, b: Partial) -> Partial:
    return (np.maximum(a[0], b[0]),)


def _cardinality(p: Partial) -> float:
    registers = p[0]
    size = len(registers)
    inverse, zeros = 0.0, 0
    for k in range(size):
        rank = int(registers[k])
        inverse += 0.5**rank
        zeros += 1 if rank == 0 else 0
    bias = 0.673 if size == 16 else 0.697 if size == 32 else 0.709 if size == 64 else 0.7213 / (1.0 + 1.079 / size)
    estimate = bias * size * size / inverse
    if estimate <= 2.5 * size and zeros > 0:
        return size * math.log(size / zeros)
    return estimate


def hyperloglog(column: str | None = None, precision: int = 10, *, where: str | None = None) -> Template:
    """Estimate the number of distinct values, with a standard error of 1.04 / √2^precision.

    The sketch has 2^precision registers of a byte. Small counts are estimated from the number of
    empty registers; a 64-bit hash needs no correction for large counts (Flajolet, Fusy, Gandouet,
    Meunier. HyperLogLog. AofA 2007).

    >>> import sash
    >>> [round(x) for x in sash.swag.slide([3, 1, 4, 1, 5], 3, sash.hyperloglog())]
    [1, 2, 3, 2, 3]
    """
    _whole("hyperloglog", "precision", precision, 4, 16)
    size, most = 1 << precision, 65 - precision

    def make(columns: Columns, invertible: bool) -> Parts:
        bits_of = bit_function(columns[0])

        def lift(x: Any) -> Partial:
            registers = np.zeros(size, np.uint8)
            bits = hash_of(bits_of(x))
            register = slot_of(bits, size)
            rest = bits >> precision
            rank = 1
            while rank < most and slot_of(rest, 2) == 0:
                rest = rest >> 1
                rank += 1
            registers[register] = rank
            return (registers,)

        component = Component(f"hyperloglog {precision}", (Field(f"u1[{size}]"),), (0,), lift, _larger_registers)
        return with_count(columns, component, _cardinality, F8)

    return builtin("hyperloglog", column, make, ("precision", precision), commutative=True, where=where)


# --- Count-min -----------------------------------------------------------------------------------


def count_min(column: str | None = None, width: int = 64, depth: int = 4, *, where: str | None = None) -> Template:
    """Estimate how often each value occurs, never too low; query it with `count_min_estimate`.

    The result is a table of `depth` rows of `width` counters, one after the other. After n values, an
    estimate is too high by more than e · n / width with a probability below e^-depth (Cormode,
    Muthukrishnan. An Improved Data Stream Summary. J. Algorithms, 2005).

    >>> import numpy, sash
    >>> tables = sash.swag.slide(numpy.array([3, 1, 4, 1, 5]), 4, sash.count_min())
    >>> count_min_estimate(tables[-1], 1), count_min_estimate(tables[-1], 3)
    (2, 0)
    """
    _whole("count_min", "width", width, 1, 1 << 24)
    _whole("count_min", "depth", depth, 1, 64)

    def make(columns: Columns, invertible: bool) -> Parts:
        bits_of = bit_function(columns[0])

        def lift(x: Any) -> Partial:
            table = np.zeros(width * depth, np.int64)
            bits = bits_of(x)
            place, stride = hash_of(bits), stride_of(bits)
            for row in range(depth):
                table[row * width + slot_of(place, width)] = 1
                place = plus(place, stride)
            return (table,)

        field = Field(f"i8[{width * depth}]")
        component = Component(f"count_min {width} {depth}", (field,), (0,), lift, add, subtract)
        return with_count(columns, component, _copy, field)

    sizes = ("width", width), ("depth", depth)
    return builtin("count_min", column, make, *sizes, invertible=True, commutative=True, where=where)


def count_min_estimate(table: npt.ArrayLike, value: Any, width: int = 64, depth: int = 4) -> int:
    """Return about how often the value occurs, never too low; `width` and `depth` must be those of the sketch.

    >>> import sash
    >>> count_min_estimate(sash.swag.slide(["a", "b", "a"], 3, sash.count_min())[-1], "a")
    2
    """
    counters = np.asarray(table, np.int64)
    if counters.shape != (width * depth,):
        raise InvalidAggregate.parameter("count_min", "table", counters.shape, f"of {depth} rows of {width} counters")
    bits = bits_of_object(value)
    place, stride = hash_of(bits), stride_of(bits)
    least = int(counters[slot_of(place, width)])
    for row in range(1, depth):
        place = plus(place, stride)
        least = min(least, int(counters[row * width + slot_of(place, width)]))
    return least


# --- moments -------------------------------------------------------------------------------------


def _join_moments(a: Partial, b: Partial) -> Partial:
    # A NaN on either side stays: neither comparison holds for it.
    low = a[0] if a[0] != a[0] or a[0] < b[0] else b[0]
    high = a[1] if a[1] != a[1] or a[1] > b[1] else b[1]
    return low, high, a[2] + b[2]


def moment_sketch(
    column: str | None = None, k: int = 10, quantile: float | None = None, *, where: str | None = None
) -> Template:
    """Return count, extremes and k power sums; with `quantile`, estimate the value below which that share of rows is.

    Without `quantile` the result is the array [n, min, max, Σx, Σx², … Σx^k], to be queried with
    `quantile_of`. An estimate is typically within one percent of rank for smooth data. Power sums
    of raw values lose about log10(1 + |centre| / half-width) digits with each power: of values far
    from zero and close together only the lower moments are used; subtract a typical value first if all
    values are alike. Powers beyond 1e±290 are not used either (NaN in the array): keep |x| within 1e±29
    for k = 10. One far outlier hides the shape of all the rest. A NaN or an infinity gives NaN.

    >>> import sash
    >>> [round(x, 6) for x in sash.swag.slide([1.0, 2.0, 9.0, 9.0], 3, sash.moment_sketch(quantile=0.5))]
    [1.0, 1.5, 2.0, 9.0]
    """
    _whole("moment_sketch", "k", k, 2, 20)
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

    def array(p: Partial) -> Any:
        result = np.empty(k + 3, np.float64)
        result[0], result[1], result[2] = p[0], p[1], p[2]
        result[3:] = p[3]
        return result

    share = 0.5 if quantile is None else float(quantile)

    def estimate(p: Partial) -> float:
        return moments.estimate(float(p[0]), p[1], p[2], p[3], share)

    def make(columns: Columns, invertible: bool) -> Parts:
        if columns[0].field.is_object or columns[0].is_time:
            raise UnsupportedAggregate.of_type("moment_sketch", columns[0], "numbers")
        component = Component(
            f"moments {k}", (F8, F8, Field(f"f8[{k}]")), (math.inf, -math.inf, 0.0), lift, _join_moments
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
