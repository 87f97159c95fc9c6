"""Hashes of values, equal in every process and on every machine.

Bits      Every value becomes 64 bits. An integer is its two's complement, whatever its type, so 3
          and 3.0, 0.0 and -0.0 are one value; other floats are their IEEE 754 bits, all NaN alike;
          strings and bytes are eight bytes of BLAKE2b.
Hash      Bits are mixed by the finaliser of splitmix64 (Steele, Lea, Flood. Fast Splittable
          Pseudorandom Number Generators. OOPSLA 2014).
Slots     A value that needs d slots of n gets (h + i · g) mod n, i < d, with g odd, from two hashes
          (Kirsch, Mitzenmacher. Less Hashing, Same Performance. ESA 2006).

Python has no 64-bit integers and Numba no others, so five functions have a compiled reading of their own.
"""

import hashlib
import math
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from sash.algebra.compiler import compiled_reading, jitable
from sash.algebra.monoid import Column
from sash.errors import UnsupportedAggregate

__all__ = ["bit_function", "bits_of_all", "bits_of_object", "hash_of", "plus", "slot_of", "stride_of"]

_ALL_BITS = 0xFFFF_FFFF_FFFF_FFFF
_GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2⁶⁴ / φ, the step of splitmix64
_FIRST_MIX = 0xBF58_476D_1CE4_E5B9
_SECOND_MIX = 0x94D0_49BB_1331_11EB
_NAN_BITS = 0x7FF8_0000_0000_0000


def _wrap(x: int) -> int:
    """Return an integer as 64 unsigned bits."""
    return int(x) & _ALL_BITS


def _float_bits(x: float) -> int:
    bits: int = struct.unpack("<Q", struct.pack("<d", x))[0]
    return bits


def _times(a: int, b: int) -> int:
    return (a * b) & _ALL_BITS


def plus(a: int, b: int) -> int:
    """Add modulo 2⁶⁴."""
    return (a + b) & _ALL_BITS


def slot_of(bits: int, slots: int) -> int:
    """Return which of so many slots a hash belongs to."""
    return bits % slots


# To the compiler they are these: from types, which do not matter here, to an implementation.
compiled_reading(_wrap)(lambda x: lambda x: np.uint64(x))
compiled_reading(_float_bits)(lambda x: lambda x: np.float64(x).view(np.uint64))
compiled_reading(_times)(lambda a, b: lambda a, b: np.uint64(a) * np.uint64(b))
compiled_reading(plus)(lambda a, b: lambda a, b: np.uint64(a) + np.uint64(b))
compiled_reading(slot_of)(lambda bits, slots: lambda bits, slots: np.int64(bits % np.uint64(slots)))


@jitable
def _bits_of_float(x: Any) -> int:
    number = float(x)
    if number != number:
        return _wrap(_NAN_BITS)
    if -9223372036854775808.0 <= number < 9223372036854775808.0 and number == math.floor(number):
        return _wrap(int(number))
    return _float_bits(number)


@jitable
def _bits_of_integer(x: Any) -> int:
    return _wrap(x)


def bits_of_object(x: Any) -> int:
    """Return the 64 bits of a Python value.

    >>> bits_of_object(3) == bits_of_object(3.0), bits_of_object("3") == bits_of_object(b"3")
    (True, True)
    """
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, bool | int):
        return _wrap(x)
    if isinstance(x, float):
        return _bits_of_float(x)
    if isinstance(x, str | bytes):
        return _bits_of_bytes(x.encode("utf-8", "surrogatepass") if isinstance(x, str) else x)
    if isinstance(x, Decimal):
        number = float(x)  # equal numbers of other types have the bits of this float
        if number != number or number == x:
            return _bits_of_float(number)
        return _bits_of_bytes("{}/{}".format(*x.as_integer_ratio()).encode())
    raise UnsupportedAggregate.of_type("a sketch", type(x).__name__, "numbers, strings and bytes")


def _bits_of_bytes(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def bits_of_all(contents: Sequence[bytes]) -> np.ndarray[Any, Any]:
    """Return the 64 bits of each of many strings of bytes.

    >>> bits_of_all([b"3"])[0] == bits_of_object("3")
    np.True_
    """
    blake2b = hashlib.blake2b
    digests = [blake2b(each, digest_size=8).digest() for each in contents]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def bit_function(column: Column) -> Callable[[Any], int]:
    """Return the function that turns a value of a column into 64 bits."""
    kind = column.field.dtype.kind
    return bits_of_object if kind == "O" else jitable(_bits_of_float if kind == "f" else _bits_of_integer)


@jitable
def _mix(bits: int) -> int:
    bits = _times(bits ^ (bits >> 30), _FIRST_MIX)
    bits = _times(bits ^ (bits >> 27), _SECOND_MIX)
    return bits ^ (bits >> 31)


@jitable
def hash_of(bits: int) -> int:
    """Return the hash of a value's bits."""
    return _mix(plus(bits, _GOLDEN))


@jitable
def stride_of(bits: int) -> int:
    """Return a second hash, odd, so that its multiples visit every slot of a power of two."""
    return _mix(plus(bits, _times(_GOLDEN, 2))) | _wrap(1)
