"""Sketches: approximate answers about many values from a partial of a fixed size.

Hashes are those of `hashing`: nothing depends on the process, so sketches of two machines combine.
Nulls are skipped, and a window of nulls gives null.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from sash.algebra.aggregate import Template, builtin
from sash.algebra.building_blocks import F8, Columns, add, subtract, whole_number, with_count
from sash.algebra.compiler import compiled_reading, jitable
from sash.algebra.fields import Field, Partial
from sash.algebra.hashing import bit_function, bits_of_object, hash_of, plus, slot_of, stride_of
from sash.algebra.moment_sketch import moment_sketch
from sash.algebra.monoid import Component, Parts
from sash.errors import InvalidAggregate
from sash.keywords import checked

__all__ = ["bloom_contains", "bloom_filter", "count_min", "count_min_estimate", "hyperloglog", "moment_sketch"]


def _whole_array(p: Partial) -> Any:
    return p[0].copy()


# Kernels copy what they emit.
compiled_reading(_whole_array)(lambda p: lambda p: p[0])


def _tally(name: str, fields: tuple[Field, ...], absorb: Any, release: Any) -> Component:
    """Return a component that counts what its rows have set, so that they can leave; it is never combined."""

    def lift(x: Any) -> Partial:
        raise AssertionError(name)  # a tally only absorbs and releases rows

    def combine(a: Partial, b: Partial) -> Partial:
        raise AssertionError(name)  # a tally only absorbs and releases rows

    return Component(f"tally {name}", fields, (0,) * len(fields), lift, combine, absorb=absorb, release=release)


# --- Bloom filter --------------------------------------------------------------------------------


def _union(a: Partial, b: Partial) -> Partial:
    return (a[0] | b[0],)


def _unite_words(a: Partial, b: Partial) -> Partial:
    words, others = a[0], b[0]
    for k in range(len(words)):
        words[k] |= others[k]
    return (words,)


@checked
def bloom_filter(column: str | None = None, bits: int = 1024, hashes: int = 3, *, where: str | None = None) -> Template:
    """Return a set with false positives, but no false negatives; query it with `bloom_contains`.

    The result is an array of `bits // 64` words. After n distinct values, the probability of a false
    positive is about (1 - e^(-hashes · n / bits))^hashes (Bloom, CACM 1970).

    >>> import numpy, sash
    >>> words = sash.swag.slide(numpy.array([3, 1, 4, 1, 5]), 3, sash.bloom_filter())
    >>> sash.bloom_contains(words[-1], 4), sash.bloom_contains(words[-1], 3)
    (True, False)
    """
    whole_number("bloom_filter", "bits", bits, 64, 1 << 24)
    whole_number("bloom_filter", "hashes", hashes, 1, 64)
    if bits % 64:
        raise InvalidAggregate.parameter("bloom_filter", "bits", bits, "a multiple of 64")

    def make(columns: Columns, invertible: bool) -> Parts:
        bits_of = bit_function(columns[0])

        @jitable
        def absorb(p: Partial, x: Any) -> Partial:
            words, value = p[0], bits_of(x)
            place, stride = hash_of(value), stride_of(value)
            for _ in range(hashes):
                bit = slot_of(place, bits)
                words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
                place = plus(place, stride)
            return (words,)

        def lift(x: Any) -> Partial:
            return absorb((np.zeros(bits // 64, np.uint64),), x)

        def count_bits(p: Partial, x: Any) -> Partial:
            words, counters, value = p[0], p[1], bits_of(x)
            place, stride = hash_of(value), stride_of(value)
            for _ in range(hashes):
                bit = slot_of(place, bits)
                counters[bit] += 1
                words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
                place = plus(place, stride)
            return words, counters

        def uncount_bits(p: Partial, x: Any) -> Partial:
            words, counters, value = p[0], p[1], bits_of(x)
            place, stride = hash_of(value), stride_of(value)
            for _ in range(hashes):
                bit = slot_of(place, bits)
                counters[bit] -= 1
                if counters[bit] == 0:
                    words[bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))
                place = plus(place, stride)
            return words, counters

        field = Field(f"u8[{bits // 64}]")
        tally = _tally(f"bloom_filter {bits} {hashes}", (field, Field(f"i8[{bits}]")), count_bits, uncount_bits)
        component = Component(
            *(f"bloom_filter {bits} {hashes}", (field,), (0,), lift, _union),
            absorb=absorb,
            merge=_unite_words,
            tally=tally,
        )
        return with_count(columns, component, _whole_array, field)

    return builtin("bloom_filter", column, make, ("bits", bits), ("hashes", hashes), commutative=True, where=where)


@checked
def bloom_contains(words: npt.ArrayLike, value: Any, hashes: int = 3) -> bool:
    """Return whether a Bloom filter may contain the value; False is certain. `hashes` must be that of the filter.

    >>> import numpy, sash
    >>> bloom_contains(
    ...     sash.swag.slide(numpy.array([2.0, 7.5]), 2, sash.bloom_filter())[-1], 2
    ... )
    True
    """
    whole_number("bloom_filter", "hashes", hashes, 1, 64)
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


def _enlarge_registers(a: Partial, b: Partial) -> Partial:
    registers, others = a[0], b[0]
    for k in range(len(registers)):
        registers[k] = max(registers[k], others[k])
    return (registers,)


_HALVES = 0.5 ** np.arange(256)


def _cardinality(p: Partial) -> float:
    registers = p[0]
    size = len(registers)
    # Four sums: an addition need not wait for the one before. There are at least 16 registers, a power of two.
    one, two, three, four, zeros = 0.0, 0.0, 0.0, 0.0, 0
    for k in range(0, size, 4):
        one += _HALVES[registers[k]]
        two += _HALVES[registers[k + 1]]
        three += _HALVES[registers[k + 2]]
        four += _HALVES[registers[k + 3]]
    for k in range(size):
        zeros += int(registers[k] == 0)
    inverse = float(one + two + three + four)
    bias = 0.673 if size == 16 else 0.697 if size == 32 else 0.709 if size == 64 else 0.7213 / (1.0 + 1.079 / size)
    estimate = bias * size * size / inverse
    if estimate <= 2.5 * size and zeros > 0:
        return size * math.log(size / zeros)
    return estimate


@checked
def hyperloglog(column: str | None = None, precision: int = 10, *, where: str | None = None) -> Template:
    """Estimate the number of distinct values, with a standard error of 1.04 / √2^precision.

    The sketch has 2^precision registers of a byte. Small counts are estimated from the number of
    empty registers; a 64-bit hash needs no correction for large counts (Flajolet, Fusy, Gandouet,
    Meunier. HyperLogLog. AofA 2007).

    >>> import sash
    >>> [round(x) for x in sash.swag.slide([3, 1, 4, 1, 5], 3, sash.hyperloglog())]
    [1, 2, 3, 2, 3]
    """
    whole_number("hyperloglog", "precision", precision, 4, 16)
    size, most = 1 << precision, 65 - precision

    def make(columns: Columns, invertible: bool) -> Parts:
        bits_of = bit_function(columns[0])

        @jitable
        def place_of(x: Any) -> tuple[int, int]:
            bits = hash_of(bits_of(x))
            rest = bits >> precision
            rank = 1
            while rank < most and slot_of(rest, 2) == 0:
                rest = rest >> 1
                rank += 1
            return slot_of(bits, size), rank

        @jitable
        def absorb(p: Partial, x: Any) -> Partial:
            registers = p[0]
            register, rank = place_of(x)
            if registers[register] < rank:
                registers[register] = rank
            return (registers,)

        def lift(x: Any) -> Partial:
            return absorb((np.zeros(size, np.uint8),), x)

        def count_rank(p: Partial, x: Any) -> Partial:
            registers, counters = p[0], p[1]
            register, rank = place_of(x)
            counters[register * (most + 1) + rank] += 1
            if registers[register] < rank:
                registers[register] = rank
            return registers, counters

        def uncount_rank(p: Partial, x: Any) -> Partial:
            registers, counters = p[0], p[1]
            register, rank = place_of(x)
            first = register * (most + 1)
            counters[first + rank] -= 1
            if registers[register] == rank:
                while rank > 0 and counters[first + rank] == 0:
                    rank -= 1
                registers[register] = rank
            return registers, counters

        name, field = f"hyperloglog {precision}", Field(f"u1[{size}]")
        tally = _tally(name, (field, Field(f"i8[{size * (most + 1)}]")), count_rank, uncount_rank)
        component = Component(
            *(name, (field,), (0,), lift, _larger_registers), absorb=absorb, merge=_enlarge_registers, tally=tally
        )
        return with_count(columns, component, _cardinality, F8)

    return builtin("hyperloglog", column, make, ("precision", precision), commutative=True, where=where)


# --- Count-min -----------------------------------------------------------------------------------


def _add_tables(a: Partial, b: Partial) -> Partial:
    table, others = a[0], b[0]
    for k in range(len(table)):
        table[k] += others[k]
    return (table,)


@checked
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
    whole_number("count_min", "width", width, 1, 1 << 24)
    whole_number("count_min", "depth", depth, 1, 64)

    def make(columns: Columns, invertible: bool) -> Parts:
        bits_of = bit_function(columns[0])

        @jitable
        def change(table: Any, x: Any, step: int) -> Partial:
            bits = bits_of(x)
            place, stride = hash_of(bits), stride_of(bits)
            for row in range(depth):
                table[row * width + slot_of(place, width)] += step
                place = plus(place, stride)
            return (table,)

        def lift(x: Any) -> Partial:
            return change(np.zeros(width * depth, np.int64), x, 1)

        def absorb(p: Partial, x: Any) -> Partial:
            return change(p[0], x, 1)

        def release(p: Partial, x: Any) -> Partial:
            return change(p[0], x, -1)

        name, field = f"count_min {width} {depth}", Field(f"i8[{width * depth}]")
        component = Component(
            *(name, (field,), (0,), lift, add, subtract),
            absorb=absorb,
            merge=_add_tables,
            tally=_tally(name, (field,), absorb, release),
        )
        return with_count(columns, component, _whole_array, field)

    sizes = ("width", width), ("depth", depth)
    return builtin("count_min", column, make, *sizes, invertible=True, commutative=True, where=where)


@checked
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
