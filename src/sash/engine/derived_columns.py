"""Columns of numbers made from columns of strings, binaries and decimals, and values made from numbers again."""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.hashing import bits_of_all, bits_of_object
from sash.engine.decimal_words import to_floats, units_of
from sash.engine.tables import Rows
from sash.errors import InvalidInput
from sash.plan.share import ColumnType, Encoding
from sash.slicing.slices import Array

__all__ = ["derive", "read_values"]

_FEW = 32  # values that Arrow takes longer for
_SHORT = 18  # powers of ten that fit an int64
_FAMILIES = (
    (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view),
)


def read_values(rows: Rows, name: str, kind: Any) -> Any:
    """Return a column as one Arrow array of a type; refuse values of another one."""
    array = rows.arrow(rows.known(name))
    if isinstance(array, pa.ChunkedArray):
        array = (
            array.chunk(0) if array.num_chunks == 1 else pa.concat_arrays(array.chunks or [pa.array([], array.type)])
        )
    if array.type == kind:
        return array
    if array.null_count == len(array):
        return pa.nulls(len(array), kind)
    own = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if own == kind or any(any(is_a(own) for is_a in each) and any(is_a(kind) for is_a in each) for each in _FAMILIES):
        try:
            return array.cast(kind)
        except (pa.ArrowException, ValueError) as error:
            raise InvalidInput.in_column(name, f"it is of type {own}, and before it was of type {kind}") from error
    raise InvalidInput.changed(name, *(str(each).replace("decimal128", "decimal") for each in (own, kind)))


def derive(values: Any, kind: ColumnType) -> tuple[Any, Array]:
    """Return data and validity of a column of numbers; instead of labels, the values, which a dictionary encodes."""
    assert kind.derived is not None
    how = kind.derived.how
    valid = (
        np.ones(len(values), np.bool_) if not values.null_count else values.is_valid().to_numpy(zero_copy_only=False)
    )
    if how is Encoding.LABELS:
        return values, valid
    if how is Encoding.KNOWN:
        return np.zeros(len(values), np.int64), valid
    if how is Encoding.FLOATS:
        return to_floats(values), valid
    if how is Encoding.BITS:
        return _bits_of(values), valid
    return units_of(values)[0 if how is Encoding.UNITS else 1], valid


def _bits_of(values: Any) -> Array:
    """Return the 64 bits that sketches hash for each value, computed once for each distinct one; 0 for nulls."""
    if len(values) <= _FEW:
        few = [0 if each is None else bits_of_object(each) for each in values.to_pylist()]
        return np.array(few, np.uint64).view(np.int64)
    coded = values.dictionary_encode()
    distinct = coded.dictionary
    if not pa.types.is_decimal(values.type):
        known = bits_of_all(distinct.cast(pa.large_binary()).to_pylist())
    else:
        known = _bits_of_decimals(distinct)
    bits = np.append(known, np.uint64(0)).view(np.int64)
    return np.asarray(bits[coded.indices.fill_null(-1).to_numpy()])


def _bits_of_decimals(decimals: Any) -> Array:
    """Return what `bits_of_object` returns for each: a decimal that is a float or a whole number has their bits."""
    units, high = units_of(decimals)
    scale = decimals.type.scale
    if not pa.types.is_decimal128(decimals.type) or high.any() or not 0 <= scale <= _SHORT:
        return np.array([*map(bits_of_object, decimals.to_pylist())], np.uint64)
    bits = np.empty(len(units), np.uint64)
    whole, is_float = units % 10**scale == 0, units % 5**scale == 0
    bits[whole] = (units[whole] // 10**scale).view(np.uint64)
    floats = is_float & ~whole
    bits[floats] = ((units[floats] // 5**scale) / 2.0**scale).view(np.uint64)
    for place in np.flatnonzero(is_float & (np.abs(units // 5**scale) >= 2**53)).tolist():  # it may need more digits
        bits[place] = bits_of_object(decimals[place].as_py())
    rest = np.flatnonzero(~is_float)
    shared = np.gcd(units[rest], 10**scale)
    ratios = zip((units[rest] // shared).tolist(), (10**scale // shared).tolist(), strict=True)
    bits[rest] = bits_of_all([b"%d/%d" % each for each in ratios])
    return bits
