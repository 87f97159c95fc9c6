"""Sketches: answers about many values from a partial of a fixed size.

Hash      Every value becomes 64 bits, mixed by the finaliser of splitmix64 (Steele, Lea, Flood.
          Fast Splittable Pseudorandom Number Generators. OOPSLA 2014). Whole numbers are their
          two's complement, whatever type they came in, so 3 and 3.0, 0.0 and -0.0 are one value;
          other floats are their IEEE 754 bits, all NaN alike; strings and bytes are eight bytes
          of BLAKE2b. Nothing depends on the process: sketches of two machines combine.
Slots     A value that needs d slots of n takes (h + i · g) mod n, i < d, with g odd, from two hashes
          (Kirsch, Mitzenmacher. Less Hashing, Same Performance. ESA 2006).
Nulls     are skipped, and a window of nulls gives null.
"""

import hashlib
import math
import struct
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from sash.algebra import moments
from sash.algebra.aggregate import Builtin, Template, counted
from sash.algebra.compiler import compiled_reading, jitable
from sash.algebra.decimals import through_floats
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Column, Component, Parts
from sash.algebra.pieces import named, some
from sash.errors import InvalidAggregate, UnsupportedAggregate

__all__ = [
    "bloom_contains",
    "bloom_filter",
    "count_min",
    "count_min_estimate",
    "hyperloglog",
    "moment_sketch",
]

F8 = Field("f8")
Columns = tuple[Column, ...]

_ALL_BITS = 0xFFFF_FFFF_FFFF_FFFF
_GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2⁶⁴ / φ, the step of splitmix64
_FIRST_MIX = 0xBF58_476D_1CE4_E5B9
_SECOND_MIX = 0x94D0_49BB_1331_11EB
_NAN_BITS = 0x7FF8_0000_0000_0000


# --- hashes: Python has no 64-bit integers and the compiler no others, so five words have two readings ---


def _wrapped(x: int) -> int:
    """A whole number as 64 unsigned bits."""
    return int(x) & _ALL_BITS


def _float_bits(x: float) -> int:
    bits: int = struct.unpack("<Q", struct.pack("<d", x))[0]
    return bits


def _times(a: int, b: int) -> int:
    return (a * b) & _ALL_BITS


def _plus(a: int, b: int) -> int:
    return (a + b) & _ALL_BITS


def _slot(bits: int, slots: int) -> int:
    return bits % slots


@compiled_reading(_wrapped)
def _wrapped_compiled(x: Any) -> Any:
    return lambda x: np.uint64(x)


@compiled_reading(_float_bits)
def _float_bits_compiled(x: Any) -> Any:
    return lambda x: np.float64(x).view(np.uint64)


@compiled_reading(_times)
def _times_compiled(a: Any, b: Any) -> Any:
    return lambda a, b: np.uint64(a) * np.uint64(b)


@compiled_reading(_plus)
def _plus_compiled(a: Any, b: Any) -> Any:
    return lambda a, b: np.uint64(a) + np.uint64(b)


@compiled_reading(_slot)
def _slot_compiled(bits: Any, slots: Any) -> Any:
    return lambda bits, slots: np.int64(bits % np.uint64(slots))


@jitable
def _bits_of_float(x: Any) -> int:
    number = float(x)
    if number != number:
        return _wrapped(_NAN_BITS)
    if -9223372036854775808.0 <= number < 9223372036854775808.0 and number == math.floor(number):
        return _wrapped(int(number))
    return _float_bits(number)


@jitable
def _bits_of_integer(x: Any) -> int:
    return _wrapped(x)


def _bits_of_object(x: Any) -> int:
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, bool | int):
        return _wrapped(x)
    if isinstance(x, float):
        return _bits_of_float(x)
    if isinstance(x, str | bytes):
        return _bits_of_bytes(x.encode("utf-8", "surrogatepass") if isinstance(x, str) else x)
    if isinstance(x, Decimal):
        number = float(x)  # as it is equal to a float, if there is one; else by the fraction that it is
        if number != number or number == x:
            return _bits_of_float(number)
        return _bits_of_bytes("{}/{}".format(*x.as_integer_ratio()).encode())
    raise UnsupportedAggregate.of_type("a sketch", type(x).__name__, "numbers, strings and bytes")


def _bits_of_bytes(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _bits(column: Column) -> Callable[[Any], int]:
    kind = column.field.dtype.kind
    return _bits_of_object if kind == "O" else jitable(_bits_of_float if kind == "f" else _bits_of_integer)


@jitable
def _mixed(bits: int) -> int:
    bits = _times(bits ^ (bits >> 30), _FIRST_MIX)
    bits = _times(bits ^ (bits >> 27), _SECOND_MIX)
    return bits ^ (bits >> 31)


@jitable
def _hash(bits: int) -> int:
    return _mixed(_plus(bits, _GOLDEN))


@jitable
def _stride(bits: int) -> int:
    """A second hash, odd, so that it visits every slot of a power of two."""
    return _mixed(_plus(bits, _times(_GOLDEN, 2))) | _wrapped(1)


# --- what all sketches share ---------------------------------------------------------------------


def _whole(name: str, parameter: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidAggregate.parameter(name, parameter, value, f"a whole number from {least} to {most}")


def _copy(p: Partial) -> Any:
    return p[0].copy()


def _sketch(columns: Columns, component: Component, lower: Callable[[Partial], Any], result: Field) -> Parts:
    """A sketch of one component; beside a count where there can be nothing to sketch."""
    if not columns[0].nullable:
        return Parts((component,), lower, result)
    inner = jitable(lower)
    return Parts((counted(columns), component), lambda p: inner(p[1:]), result, some)


# --- Bloom filter --------------------------------------------------------------------------------


def _union(a: Partial, b: Partial) -> Partial:
    return (a[0] | b[0],)


def bloom_filter(column: str | None = None, bits: int = 1024, hashes: int = 3) -> Template:
    """A set that may say yes to a stranger, but never no to a member; ask with `bloom_contains`.

    The result is an array of `bits // 64` words. After n distinct values a stranger is taken for a
    member with a probability of about (1 - e^(-hashes · n / bits))^hashes (Bloom, CACM 1970).

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
        bits_of = _bits(columns[0])

        def lift(x: Any) -> Partial:
            words = np.zeros(bits // 64, np.uint64)
            value = bits_of(x)
            place, stride = _hash(value), _stride(value)
            for _ in range(hashes):
                bit = _slot(place, bits)
                words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
                place = _plus(place, stride)
            return (words,)

        field = Field(f"u8[{bits // 64}]")
        return _sketch(columns, Component(f"bloom_filter {bits} {hashes}", (field,), (0,), lift, _union), _copy, field)

    return Builtin(
        "bloom_filter",
        columns=named(column),
        commutative=True,
        make=make,
        parameters=(("bits", bits), ("hashes", hashes)),
    )


def bloom_contains(words: npt.ArrayLike, value: Any, hashes: int = 3) -> bool:
    """Whether a Bloom filter may hold the value; no means no. `hashes` is as the filter was made.

    >>> import numpy, sash
    >>> bloom_contains(sash.swag.slide(numpy.array([2.0, 7.5]), 2, sash.bloom_filter())[-1], 2)
    True
    """
    _whole("bloom_filter", "hashes", hashes, 1, 64)
    array = np.asarray(words, np.uint64)
    if array.ndim != 1 or not len(array):
        raise InvalidAggregate.parameter("bloom_filter", "words", words, "a result of bloom_filter, an array of words")
    bits = _bits_of_object(value)
    place, stride = _hash(bits), _stride(bits)
    for _ in range(hashes):
        bit = _slot(place, 64 * len(array))
        if not int(array[bit >> 6]) >> (bit & 63) & 1:
            return False
        place = _plus(place, stride)
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


def hyperloglog(column: str | None = None, precision: int = 10) -> Template:
    """About how many distinct values there are, with a standard error of 1.04 / √2^precision.

    2^precision registers of a byte; few values are counted by the registers that are still empty.
    A 64-bit hash needs no correction for large counts (Flajolet, Fusy, Gandouet, Meunier.
    HyperLogLog. AofA 2007).

    >>> import sash
    >>> [round(x) for x in sash.swag.slide([3, 1, 4, 1, 5], 3, sash.hyperloglog())]
    [1, 2, 3, 2, 3]
    """
    _whole("hyperloglog", "precision", precision, 4, 16)
    size, most = 1 << precision, 65 - precision

    def make(columns: Columns, invertible: bool) -> Parts:
        bits_of = _bits(columns[0])

        def lift(x: Any) -> Partial:
            registers = np.zeros(size, np.uint8)
            bits = _hash(bits_of(x))
            register = _slot(bits, size)
            rest = bits >> precision
            rank = 1
            while rank < most and _slot(rest, 2) == 0:
                rest = rest >> 1
                rank += 1
            registers[register] = rank
            return (registers,)

        component = Component(f"hyperloglog {precision}", (Field(f"u1[{size}]"),), (0,), lift, _larger_registers)
        return _sketch(columns, component, _cardinality, F8)

    return Builtin(
        "hyperloglog", columns=named(column), commutative=True, make=make, parameters=(("precision", precision),)
    )


# --- Count-min -----------------------------------------------------------------------------------


def _add_tables(a: Partial, b: Partial) -> Partial:
    return (a[0] + b[0],)


def _subtract_tables(whole: Partial, older: Partial) -> Partial:
    return (whole[0] - older[0],)


def count_min(column: str | None = None, width: int = 64, depth: int = 4) -> Template:
    """About how often each value occurs, never too low; ask with `count_min_estimate`.

    The result is a table of `depth` rows of `width` counters, one after the other. Of n values, an
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
        bits_of = _bits(columns[0])

        def lift(x: Any) -> Partial:
            table = np.zeros(width * depth, np.int64)
            bits = bits_of(x)
            place, stride = _hash(bits), _stride(bits)
            for row in range(depth):
                table[row * width + _slot(place, width)] = 1
                place = _plus(place, stride)
            return (table,)

        field = Field(f"i8[{width * depth}]")
        component = Component(f"count_min {width} {depth}", (field,), (0,), lift, _add_tables, _subtract_tables)
        return _sketch(columns, component, _copy, field)

    return Builtin(
        "count_min",
        columns=named(column),
        invertible=True,
        commutative=True,
        make=make,
        parameters=(("width", width), ("depth", depth)),
    )


def count_min_estimate(table: npt.ArrayLike, value: Any, width: int = 64, depth: int = 4) -> int:
    """How often the value occurs, or a little more; `width` and `depth` are as the sketch was made.

    >>> import sash
    >>> count_min_estimate(sash.swag.slide(["a", "b", "a"], 3, sash.count_min())[-1], "a")
    2
    """
    counters = np.asarray(table, np.int64)
    if counters.shape != (width * depth,):
        raise InvalidAggregate.parameter("count_min", "table", counters.shape, f"of {depth} rows of {width} counters")
    bits = _bits_of_object(value)
    place, stride = _hash(bits), _stride(bits)
    least = int(counters[_slot(place, width)])
    for row in range(1, depth):
        place = _plus(place, stride)
        least = min(least, int(counters[row * width + _slot(place, width)]))
    return least


# --- moments -------------------------------------------------------------------------------------


def _join_moments(a: Partial, b: Partial) -> Partial:
    # A NaN on either side stays: neither comparison holds for it.
    low = a[0] if a[0] != a[0] or a[0] < b[0] else b[0]
    high = a[1] if a[1] != a[1] or a[1] > b[1] else b[1]
    return low, high, a[2] + b[2]


def moment_sketch(column: str | None = None, k: int = 10, quantile: float | None = None) -> Template:
    """Count, extremes and k power sums; with `quantile`, the value below which that share of the rows lies.

    Without `quantile` the result is the array [n, min, max, Σx, Σx², … Σx^k], to be asked with
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
            powers[j] = power if abs(power) < 1e290 else math.nan  # of no use, and sums of the others must not overflow
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

    return Builtin(
        "moment_sketch",
        columns=named(column),
        commutative=True,
        make=made,
        parameters=(("k", k), ("quantile", quantile)),
    )
