"""The bucket of a key: the same in every task, whatever other keys there are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pandas.util import hash_array

__all__ = ["bucket_ids", "buckets_of"]

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio spreads neighbours


def buckets_of(table: pa.Table, by: Sequence[str], count: int) -> Any:
    """Return the bucket of each row; the hash is computed here, so that the JVM does not send it as a column."""
    mixed = np.zeros(table.num_rows, np.uint64)
    for name in by:
        mixed = (mixed ^ _numbers(table.column(name).combine_chunks())) * _ODD
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> np.uint64(40)).astype(np.int64) % count


def _numbers(column: Any) -> Any:
    """Return a number for each value, the same for equal values; null is a value."""
    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_floating(kind):
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0  # -0.0 becomes 0.0
        values = np.where(np.isnan(values), np.nan, values)
        numbers = values.view(np.uint64)
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        numbers = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
    elif pa.types.is_temporal(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        numbers = column.view(width).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        return _texts(column)
    if column.null_count:
        numbers = np.where(column.is_valid().to_numpy(zero_copy_only=False), numbers, np.uint64(0x5A5A5A5A))
    return numbers


def _texts(column: Any) -> Any:
    """Return a number for each text, or value that can be cast to one; hash each distinct value once."""
    if not pa.types.is_binary(column.type) and not pa.types.is_large_binary(column.type):
        column = column.cast(pa.string())
    encoded = column.dictionary_encode(null_encoding="encode")
    distinct = np.empty(len(encoded.dictionary), object)
    distinct[:] = ["" if each is None else each for each in encoded.dictionary.to_pylist()]
    return hash_array(distinct, categorize=False)[encoded.indices.to_numpy(zero_copy_only=False)]


def bucket_ids(partitions: int) -> tuple[int, ...]:
    """Return a number for each shuffle partition that Spark hashes to it; 0, 1, 2 … would share partitions."""
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < partitions:
        found.setdefault(_hash(candidate) % partitions, candidate)
        candidate += 1
    return tuple(found[each] for each in range(partitions))


_BITS = 0xFFFFFFFF


def _hash(number: int) -> int:
    """Return Spark's hash of an integer: Murmur3 of four bytes with seed 42, signed."""
    mixed = number * 0xCC9E2D51 & _BITS
    mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & _BITS
    mixed ^= 42
    mixed = (mixed << 13 | mixed >> 19) * 5 + 0xE6546B64 & _BITS
    mixed ^= 4
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _BITS
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _BITS
    mixed ^= mixed >> 16
    return mixed - (mixed >> 31 << 32)
