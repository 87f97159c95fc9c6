"""The key table: each distinct key of the `by` columns has a slot, where its state is.

Idea      Arrow finds the distinct values of a column; only those are looked up, in a dict. What
          is looked up is plain: the integer behind a number or time, or a str, bytes or Decimal.
Keeps     K1  a slot below capacity is free or has one key, and no key has two slots
          K2  a new key takes the lowest free slot, so slots are a function of what save() keeps
          K3  null is a key, all NaNs are one, and -0.0 is 0.0
"""

import heapq
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from sash.engine.arrow_bytes import table_bytes, table_of_bytes
from sash.errors import InvalidInput, InvalidState
from sash.slicing.slices import checked

__all__ = ["Keys"]

Array: TypeAlias = np.ndarray[Any, Any]

_FEW = 32  # rows that are looked up one by one: below, Arrow's fixed cost per column is more than theirs
_SPREAD = 8  # integers per key for which looking up by value is worth its room
_NO_SLOTS: Array = np.zeros(0, np.int64)
_NO_SLOTS.flags.writeable = False


def _still(table: Array, gone: Array, capacity: int) -> Array:
    """The slots in a table, without those that are gone."""
    alive = np.ones(capacity, np.bool_)
    alive[gone] = False
    known = table[table >= 0]
    return np.where(alive[known], known, -1)


class Keys:
    """The slots of the keys seen so far.

    >>> keys = Keys([pa.string()], ["plug"])
    >>> keys.slots([pa.array(["a", "b", "a", None])], 4)
    array([0, 1, 0, 2])
    >>> keys.free(np.array([0]))
    >>> keys.slots([["c", "b"]], 2), keys.new
    (array([0, 1]), array([0]))
    >>> keys.columns(np.array([2, 0]))[0].to_pylist()
    [None, 'c']
    """

    def __init__(self, types: Sequence[Any], names: Sequence[str] | None = None) -> None:
        names = [f"by[{k}]" for k in range(len(types))] if names is None else names
        self._columns = [_Column(kind, name) for kind, name in zip(types, names, strict=True)]
        self._table: dict[Any, int] = {}
        self._free: list[int] = []  # a heap
        self._near: tuple[int, Array] | None = None  # of whole numbers close together: the first, and a slot for each
        self.capacity = 0  # slots ever in use: the largest, and one
        self.new = _NO_SLOTS  # that the last call of `slots` gave to keys it had not seen

    def __len__(self) -> int:
        return len(self._table)

    @property
    def types(self) -> tuple[Any, ...]:
        """Of the key columns that come back."""
        return tuple(column.kind for column in self._columns)

    def slots(self, columns: Sequence[Any], n_rows: int) -> Array:
        """The slot of each row's key; columns are Arrow arrays, or lists of Python values."""
        self.new = _NO_SLOTS
        if n_rows <= _FEW:
            few = self._slots_of_few(columns, n_rows)
            if few is not None:
                return few
        if not self._columns:
            return self._slots_of([()])[np.zeros(n_rows, np.int64)]
        near = self._slots_of_near(columns, n_rows)
        if near is not None:
            return near
        codes, parts = self._encoded(columns)
        return self._slots_of(parts[0] if len(parts) == 1 else list(zip(*parts, strict=True)))[codes]

    @property
    def unused(self) -> Array:
        """Slots below the capacity that no key has."""
        return np.array(self._free, np.int64)

    def free(self, slots: Array) -> None:
        """Forget the keys in these slots: their state is gone, and others may have the slots."""
        if not len(slots):
            return
        deque(map(self._table.pop, self._keys_in(slots)), maxlen=0)
        if self._near is not None:
            self._near[1][self._near[1] >= 0] = _still(self._near[1], slots, self.capacity)
        for column in self._columns:
            column.clear(slots)
        if len(slots) > len(self._free) // 8:
            self._free += slots.tolist()
            heapq.heapify(self._free)
        else:
            for slot in slots.tolist():
                heapq.heappush(self._free, slot)

    def columns(self, slots: Array) -> list[Any]:
        """The keys in these slots, as a column for each of `by`."""
        return [column.take(slots, self.capacity) for column in self._columns]

    def frozen(self) -> tuple[Any, ...]:
        """All of it as plain values; equal tables freeze to equal values."""
        values = pa.table(self.columns(np.arange(self.capacity)), names=[column.name for column in self._columns])
        return self.capacity, np.array(sorted(self._free), np.int64), table_bytes(values)

    @classmethod
    def thawed(cls, frozen: tuple[Any, ...]) -> "Keys":
        """The table that was frozen, with the same slots, and the same slots free.

        >>> keys = Keys([pa.int64()])
        >>> before = keys.slots([[7, 9]], 2)
        >>> Keys.thawed(keys.frozen()).slots([[9, 8]], 2)
        array([1, 2])
        """
        if not isinstance(frozen, tuple) or len(frozen) != 3:
            raise InvalidState.damaged("its keys are not whole")
        capacity, free, values = (
            frozen[0],
            checked(frozen[1], np.int64, "free slots"),
            table_of_bytes(frozen[2], "the table of its keys"),
        )
        try:
            keys = cls(values.schema.types, values.schema.names)
        except InvalidInput as error:
            raise InvalidState.unreadable("its keys cannot be read", error) from error
        if type(capacity) is not int or any(len(each) != capacity for each in values.columns):
            raise InvalidState.damaged(f"there are {values.num_rows} keys, not one for each slot")
        if not len(free) <= capacity <= len(free) + (values.num_rows or 1):
            raise InvalidState.damaged(f"{len(free)} slots are free, and there are not as many keys")
        if len(free) and not (free[0] >= 0 and free[-1] < capacity and (free[1:] > free[:-1]).all()):
            raise InvalidState.damaged("a slot is free that was never in use by a key")
        live = np.ones(capacity, np.bool_)
        live[free] = False
        slots = np.flatnonzero(live)
        keys.capacity, keys._free = capacity, free.tolist()
        for column, saved_values in zip(keys._columns, values.columns, strict=True):
            try:
                codes, distinct = column.encoded(saved_values)
            except (pa.ArrowException, ValueError) as error:
                raise InvalidState.unreadable("its keys cannot be read", error) from error
            column.reserve(capacity)
            column.store(slots, list(map(distinct.__getitem__, codes[slots].tolist())))
        keys._table = dict(zip(keys._keys_in(slots), slots.tolist(), strict=True))
        if len(keys._table) != len(slots):
            raise InvalidState.damaged("a key has two slots")
        return keys

    def _slots_of_few(self, columns: Sequence[Any], n_rows: int) -> Array | None:
        """Looked up one by one; None if their types need Arrow's reading."""
        parts: list[list[Any]] = []
        for column, given in zip(self._columns, columns, strict=True):
            values = column.few(given)
            if values is None:
                return None
            parts.append(values)
        table = self._table
        keys: Any = parts[0] if len(parts) == 1 else zip(*parts, strict=True) if parts else repeat((), n_rows)
        found = list(map(table.get, keys))
        if None in found:
            if not all(column.admits(values) for column, values in zip(self._columns, parts, strict=True)):
                return None
            keys = list(parts[0] if len(parts) == 1 else zip(*parts, strict=True) if parts else repeat((), n_rows))
            self._slots_of(list(dict.fromkeys(keys)))
            found = list(map(table.get, keys))
        return np.array(found, np.int64)

    def _slots_of_near(self, columns: Sequence[Any], n_rows: int) -> Array | None:
        """Looked up by value where keys are whole numbers that lie close together; None if they do not."""
        column, given = self._columns[0], columns[0]
        if len(columns) > 1 or type(given) is list or given.type != column.plain or given.null_count:
            return None
        if not pa.types.is_integer(column.plain) or column.plain == pa.uint64():
            return None
        values = _flat(given).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        low, high = int(values.min()), int(values.max())
        if high - low > _SPREAD * n_rows:
            return None
        if self._near is None or low < self._near[0] or high >= self._near[0] + len(self._near[1]):
            first, last = low, high + 1
            if self._near is not None:
                first, last = min(first, self._near[0]), max(last, self._near[0] + len(self._near[1]))
            if last - first > _SPREAD * (n_rows + len(self._table)):
                return None
            table = np.full(last - first, -1, np.int64)
            if self._near is not None:
                begin = self._near[0] - first
                table[begin : begin + len(self._near[1])] = self._near[1]
            self._near = first, table
        first, table = self._near
        slots = table[values - first]
        if (slots < 0).any():
            fresh = list(dict.fromkeys(values[slots < 0].tolist()))
            table[np.array(fresh) - first] = self._slots_of(fresh)
            slots = table[values - first]
        return np.asarray(slots)

    def _encoded(self, columns: Sequence[Any]) -> tuple[Array, list[list[Any]]]:
        """The code of each row's key, and for each column the values of the distinct keys."""
        encoded = [column.encoded(given) for column, given in zip(self._columns, columns, strict=True)]
        codes, values = encoded[0]
        if len(encoded) == 1:
            return codes, [values]
        places = [np.arange(len(values))]  # of each distinct key so far, in the values of its columns
        for other, distinct in encoded[1:]:
            # Both factors are at most the number of rows, so their product fits 64 bits.
            joint = pa.array(codes.astype(np.int64) * len(distinct) + other).dictionary_encode()
            codes, pairs = joint.indices.to_numpy(), joint.dictionary.to_numpy()
            left, right = np.divmod(pairs, len(distinct))
            places = [*(place[left] for place in places), right]
        return codes, [
            list(map(distinct.__getitem__, place.tolist()))
            for place, (_, distinct) in zip(places, encoded, strict=True)
        ]

    def _slots_of(self, keys: list[Any]) -> Array:
        """The slots of distinct keys, where new ones get one."""
        slots = np.fromiter(map(self._table.get, keys, repeat(-1)), np.int64, len(keys))
        missing = np.flatnonzero(slots < 0)
        if not len(missing):
            return slots
        fresh = keys if len(missing) == len(keys) else list(map(keys.__getitem__, missing.tolist()))
        given = self._lowest(len(fresh))
        self._table.update(zip(fresh, given.tolist(), strict=True))
        parts = [fresh] if len(self._columns) == 1 else map(list, zip(*fresh, strict=True))
        for column, values in zip(self._columns, parts, strict=True):
            column.reserve(self.capacity)
            column.store(given, values)
        slots[missing] = given
        self.new = given
        return slots

    def _lowest(self, count: int) -> Array:
        """The lowest slots that are free, in order (K2)."""
        reused = min(count, len(self._free))
        if reused > 8:
            self._free.sort()  # sorted, it is still a heap
            taken, self._free = self._free[:reused], self._free[reused:]
        else:
            taken = [heapq.heappop(self._free) for _ in range(reused)]
        taken += range(self.capacity, self.capacity + count - reused)
        self.capacity += count - reused
        return np.array(taken, np.int64)

    def _keys_in(self, slots: Array) -> list[Any]:
        parts = [column.keys(slots) for column in self._columns]
        if len(parts) == 1:
            return parts[0]
        return list(zip(*parts, strict=True)) if parts else [()] * len(slots)


# --- one key column ------------------------------------------------------------------------------

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
    """Types of one family are cast into each other where no value is lost; None: no key at all."""
    return next((k for k, belongs in enumerate(_FAMILIES) if belongs(kind)), None)


def _flat(given: Any) -> Any:
    if not isinstance(given, pa.ChunkedArray):
        return given
    if given.num_chunks == 1:
        return given.chunk(0)
    return given.unify_dictionaries().combine_chunks()


class _Column:
    """The values of one key column, by slot.

    Fixed-width values are in an array of the integers behind them, with a mask; others are objects.
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
        # A dictionary of one push need not have room for the keys of the next.
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
        # Values of these types are keys as they stand; of others, equal ones could differ or unlike ones be equal.
        self.direct = frozenset((direct, type(None)))
        self.values: Array = np.zeros(0, object if self.dtype is None else self.dtype)
        self.valid: Array = np.zeros(0, np.bool_)

    def few(self, given: Any) -> list[Any] | None:
        """What is looked up for a short column, if that is plain to see."""
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

    def admits(self, values: list[Any]) -> bool:
        """Whether new values given by Python fit the type."""
        present = [value for value in values if value is not None]
        if self.dtype is not None and self.dtype.kind in "iu":
            bounds = np.iinfo(self.dtype)
            return all(bounds.min <= value <= bounds.max for value in present)
        if self.family == _STRINGS:
            return all(value.isascii() or _is_encodable(value) for value in present)
        return True

    def encoded(self, given: Any) -> tuple[Array, list[Any]]:
        """The code of each row's value, and the distinct values, in the order in which they first occur."""
        array = self._read(given) if isinstance(given, list) else _flat(given)
        if not pa.types.is_dictionary(array.type):
            return self._encoded(array)
        used = array.indices.dictionary_encode(null_encoding="encode")
        # A dictionary may hold a value twice, or none at all.
        codes, distinct = self._encoded(self._cast(array.dictionary).take(used.dictionary))
        return codes[used.indices.to_numpy()], distinct

    def _read(self, values: list[Any]) -> Any:
        # Told the type, Arrow cuts floats off to integers, and times to their unit; a cast does not.
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
        """Room for slots below `capacity`."""
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
        """Hold nothing in these slots."""
        self.values[slots] = None if self.dtype is None else 0
        self.valid[slots] = False

    def keys(self, slots: Array) -> list[Any]:
        """What is looked up for these slots."""
        keys: list[Any] = self.values[slots].tolist()
        if self.dtype is not None:
            for k in np.flatnonzero(~self.valid[slots]).tolist():
                keys[k] = None
        return keys

    def take(self, slots: Array, capacity: int) -> Any:
        """The values in these slots as an Arrow column."""
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
    """Floats as the integers that stand for them, equal where the keys are (K3)."""
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    data = (array if missing is None else array.fill_null(0)).to_numpy()
    return pa.array(_float_bits(data), mask=missing)


def _float_bits(data: Array) -> Array:
    data = data + data.dtype.type(0)  # -0.0 becomes 0.0
    data[np.isnan(data)] = np.nan
    return data.view(f"i{data.dtype.itemsize}")
