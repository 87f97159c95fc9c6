"""One column of keys: its values by slot, and what stands for a value in the key table.

Encoding  A number, boolean, date or time is an integer; a string is a str, bytes are bytes, a decimal is a Decimal.
          Equal keys are equal in Python: null is None, all NaNs are one value, and -0.0 is 0.0.
"""

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from sash.errors import InvalidInput

__all__ = ["KeyColumn"]

Array: TypeAlias = np.ndarray[Any, Any]

_FLOAT = frozenset((float,))
_FAMILIES = (
    pa.types.is_boolean,
    pa.types.is_decimal,
    lambda kind: pa.types.is_integer(kind) or pa.types.is_floating(kind),
    lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind),
    lambda kind: (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    ),
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_time,
    pa.types.is_duration,
    pa.types.is_null,
)
_BOOLEANS, _NUMBERS, _STRINGS, _BYTES = 0, 2, 3, 4
_TIMES = {5, 6, 7, 8}
_FIXED = {_BOOLEANS, _NUMBERS, *_TIMES}


def _family(kind: Any) -> int | None:
    """Return the family of a type, or None if it cannot be a key; casts within a family lose no value."""
    return next((k for k, belongs in enumerate(_FAMILIES) if belongs(kind)), None)


def _flat(given: Any) -> Any:
    if not isinstance(given, pa.ChunkedArray):
        return given
    if given.num_chunks == 1:
        return given.chunk(0)
    return given.unify_dictionaries().combine_chunks()


class KeyColumn:
    """The values of one key column, by slot.

    Fixed-width values are in an array of integers with a mask; others are objects.

    >>> column = KeyColumn(pa.string(), "plug")
    >>> column.encoded(pa.array(["a", "b", "a", None]))
    (array([0, 1, 0, 2], dtype=int32), ['a', 'b', None])
    >>> column.reserve(3)
    >>> column.store(np.array([0, 1, 2]), ["a", "b", None])
    >>> column.take(np.array([2, 0]), 3).to_pylist()
    [None, 'a']
    """

    def __init__(self, kind: Any, name: str) -> None:
        self.name = name
        self._become(kind)

    def _become(self, kind: Any) -> None:
        encoded = pa.types.is_dictionary(kind)
        plain = kind.value_type if encoded else kind
        family = _family(plain)
        if family is None:
            raise InvalidInput.key_type(self.name, kind)
        if pa.types.is_string_view(plain) or pa.types.is_binary_view(plain):
            # Arrow has no kernels for views yet; columns that come back are cast to them.
            plain = pa.large_string() if pa.types.is_string_view(plain) else pa.large_binary()
        # The index type of one push may be too small for the keys of the next.
        self.kind = pa.dictionary(pa.int32(), plain) if encoded else kind
        self.plain = plain
        self.family = family
        self.dtype: np.dtype[Any] | None = None
        if family in _FIXED:
            is_plain = family == _BOOLEANS or pa.types.is_integer(plain)
            self.dtype = np.dtype(plain.to_pandas_dtype() if is_plain else f"i{plain.bit_width // 8}")
        self.is_float = pa.types.is_floating(plain)
        self.is_time = family in _TIMES
        self.storage = None if self.dtype is None else pa.from_numpy_dtype(self.dtype)
        direct: type = type(None)
        if family == _STRINGS:
            direct = str
        elif family == _BYTES and not pa.types.is_fixed_size_binary(plain):
            direct = bytes
        elif family == _BOOLEANS or pa.types.is_integer(plain):
            direct = bool if family == _BOOLEANS else int
        # Values of these types are keys as given; of other types, equal values can differ or unlike ones be equal.
        self.direct = frozenset((direct, type(None)))
        self.values: Array = np.zeros(0, object if self.dtype is None else self.dtype)
        self.valid: Array = np.zeros(0, np.bool_)

    def few(self, given: Any) -> list[Any] | None:
        """Return the encoded values of a short column, or None if Arrow has to read them."""
        if type(given) is not list:
            if given.type != self.plain:
                return None
            if self.is_time:
                looked_up: list[Any] = _flat(given).view(self.storage).to_pylist()
                return looked_up
            given = given.to_pylist()
        if self.direct.issuperset(map(type, given)):
            return given  # type: ignore[no-any-return]
        if self.is_float and _FLOAT.issuperset(map(type, given)):
            bits: list[Any] = _float_bits(np.array(given, self.plain.to_pandas_dtype())).tolist()
            return bits
        return None

    def integers(self, given: Any) -> Array | None:
        """Return the values as int64 if this column is of integers and none is null; None otherwise."""
        if type(given) is list or given.type != self.plain or given.null_count:
            return None
        if not pa.types.is_integer(self.plain) or self.plain == pa.uint64():
            return None
        values: Array = _flat(given).to_numpy(zero_copy_only=False)
        return values.astype(np.int64, copy=False)

    def admits(self, values: list[Any]) -> bool:
        """Return whether Python values fit the type."""
        present = [value for value in values if value is not None]
        if self.dtype is not None and self.dtype.kind in "iu":
            bounds = np.iinfo(self.dtype)
            return all(bounds.min <= value <= bounds.max for value in present)
        if self.family == _STRINGS:
            return all(value.isascii() or _is_encodable(value) for value in present)
        return True

    def encoded(self, given: Any) -> tuple[Array, list[Any]]:
        """Return the code of each row's value, and the distinct values in the order of their first rows."""
        array = self._read(given) if isinstance(given, list) else _flat(given)
        if not pa.types.is_dictionary(array.type):
            return self._encoded(array)
        used = array.indices.dictionary_encode(null_encoding="encode")
        # A dictionary may hold a value twice, or none at all.
        codes, distinct = self._encoded(self._cast(array.dictionary).take(used.dictionary))
        return codes[used.indices.to_numpy()], distinct

    def _read(self, values: list[Any]) -> Any:
        # With a type given, Arrow truncates floats to integers, and times to their unit; a cast does not.
        by_cast = self.is_time or any(isinstance(value, float | np.floating) for value in values)
        try:
            return pa.array(values, None if by_cast or pa.types.is_null(self.plain) else self.plain)
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            raise InvalidInput.key_changed(self.name, str(error).rstrip("."), self.plain) from error

    def _encoded(self, array: Any) -> tuple[Array, list[Any]]:
        array = self._cast(array)
        if pa.types.is_floating(array.type):
            array = _bits(array)
        elif pa.types.is_decimal(array.type) and array.type.bit_width < 128:
            array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
        coded = array.dictionary_encode(null_encoding="encode")
        distinct = coded.dictionary
        if self.dtype is None:
            return coded.indices.to_numpy(), distinct.to_pylist()
        if distinct.type.bit_width != 1:
            distinct = distinct.view(self.storage)
        if not distinct.null_count:
            return coded.indices.to_numpy(), distinct.to_numpy(zero_copy_only=False).tolist()
        values = (
            distinct.fill_null(False if distinct.type.bit_width == 1 else 0).to_numpy(zero_copy_only=False).tolist()
        )
        values[int(np.flatnonzero(distinct.is_null().to_numpy(zero_copy_only=False))[0])] = None
        return coded.indices.to_numpy(), values

    def _cast(self, array: Any) -> Any:
        if array.type == self.plain:
            return array
        if pa.types.is_null(self.plain):  # until now all keys were null
            room = len(self.values)
            self._become(array.type)
            self.reserve(room)
            return self._cast(array)
        if not pa.types.is_null(array.type) and _family(array.type) != self.family:
            raise InvalidInput.key_changed(self.name, array.type, self.plain)
        try:
            return array.cast(self.plain)
        except pa.ArrowException as error:
            raise InvalidInput.key_changed(self.name, f"{array.type} ({error})", self.plain) from error

    def reserve(self, capacity: int) -> None:
        """Make room for slots below `capacity`."""
        if capacity <= len(self.values):
            return
        more = max(capacity, 2 * len(self.values), 64) - len(self.values)
        blank = np.full(more, None, object) if self.dtype is None else np.zeros(more, self.dtype)
        self.values = np.concatenate([self.values, blank])
        self.valid = np.concatenate([self.valid, np.zeros(more, np.bool_)])

    def store(self, slots: Array, keys: list[Any]) -> None:
        """Put values into slots."""
        self.valid[slots] = True
        if None in keys:
            missing = [k for k, key in enumerate(keys) if key is None]
            self.valid[slots[missing]] = False
            keys = keys if self.dtype is None else [0 if key is None else key for key in keys]
        if self.dtype is None:
            objects = np.empty(len(keys), object)
            objects[:] = keys
            self.values[slots] = objects
        else:
            self.values[slots] = np.array(keys, self.dtype)

    def clear(self, slots: Array) -> None:
        """Remove the values from these slots."""
        self.values[slots] = None if self.dtype is None else 0
        self.valid[slots] = False

    def keys(self, slots: Array) -> list[Any]:
        """Return the encoded values in these slots."""
        keys: list[Any] = self.values[slots].tolist()
        if self.dtype is not None:
            for k in np.flatnonzero(~self.valid[slots]).tolist():
                keys[k] = None
        return keys

    def take(self, slots: Array, capacity: int) -> Any:
        """Return the values in these slots as an Arrow column."""
        if pa.types.is_dictionary(self.kind):
            used = np.zeros(capacity, np.bool_)
            used[slots] = True
            used &= self.valid[:capacity]  # null is no value of a dictionary
            place = np.cumsum(used, dtype=np.int32) - 1
            codes = pa.array(place[slots].astype(np.int32), mask=~self.valid[slots])
            return pa.DictionaryArray.from_arrays(codes, self._plain(np.flatnonzero(used)))
        if self.dtype is None and len(slots) > capacity:
            column = self._plain(np.arange(capacity)).take(pa.array(slots))
        else:
            column = self._plain(slots)
        return column if self.kind == self.plain else column.cast(self.kind)

    def _plain(self, slots: Array) -> Any:
        if pa.types.is_null(self.plain):
            return pa.nulls(len(slots))
        values = self.values[slots]
        if self.dtype is None:
            return pa.array(values, self.plain)
        valid = self.valid[slots]
        if self.dtype.kind == "b":
            return pa.array(values, mask=~valid)
        bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.Array.from_buffers(self.plain, len(values), [bitmap, pa.py_buffer(values)])


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bits(array: Any) -> Any:
    """Return floats as integers of the same bits, one for equal keys."""
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    data = array.to_numpy(zero_copy_only=False)  # NaN where it is null
    return pa.array(_float_bits(data), mask=missing)


def _float_bits(data: Array) -> Array:
    data = data + data.dtype.type(0)  # -0.0 becomes 0.0
    data[np.isnan(data)] = np.nan
    return data.view(f"i{data.dtype.itemsize}")
