"""The key table: a slot for each distinct key of the `by` columns.

Idea      Arrow finds the distinct values of a column; a dict holds the slot of each. Its keys are
          the encoded values of `key_column`, in tuples if there are several columns.
Keeps     K1  a slot below capacity is free or has one key, and no key has two slots
          K2  a new key gets the lowest free slot, so slots are a function of the saved state
          K3  null is a key, all NaNs are one key, and -0.0 is 0.0
"""

import heapq
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from sash.algebra.compiler import bound_kernel, kernel
from sash.engine.arrow_bytes import table_bytes, table_of_bytes
from sash.engine.key_column import KeyColumn
from sash.errors import InvalidInput, InvalidState
from sash.slicing.slices import check_array

__all__ = ["Keys"]

Array: TypeAlias = np.ndarray[Any, Any]

_FEW = 32  # up to so many rows, one lookup per row is cheaper than Arrow's fixed cost per column
_SPREAD = 8  # integers per key up to which a table indexed by value is worth its memory
_NO_SLOTS: Array = np.zeros(0, np.int64)
_NO_SLOTS.flags.writeable = False


@kernel
def _look_up(values: Any, first: int, table: Any, slots: Any, fresh: Any) -> None:
    """Write the slot of each value, or -2 - k for the k-th new value.

    `table` gets the same; `fresh` gets the new values in the order of their first rows, and at its end their number.
    """
    count = 0
    for row in range(len(values)):
        place = values[row] - first
        slot = table[place]
        if slot == -1:
            fresh[count] = values[row]
            slot = -2 - count
            table[place] = slot
            count += 1
        slots[row] = slot
    fresh[-1] = count


@kernel
def _fill_in(slots: Any, given: Any) -> None:
    """Replace -2 - k by the k-th given slot."""
    for row in range(len(slots)):
        if slots[row] < 0:
            slots[row] = given[-2 - slots[row]]


class Keys:
    """A slot for each key seen so far.

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
        self._columns = [KeyColumn(kind, name) for kind, name in zip(types, names, strict=True)]
        self._table: dict[Any, int] = {}
        self._free: list[int] = []  # a heap
        self._by_value: tuple[int, Array] | None = None  # of dense integers: the smallest, and the slot of each or -1
        self.capacity = 0  # the largest slot ever in use, plus one
        self.new = _NO_SLOTS  # slots that the last call of `slots` gave to new keys

    def __len__(self) -> int:
        return len(self._table)

    @property
    def table(self) -> dict[Any, int]:
        """The slot of each key: of one column, by its value; of several, by a tuple of values."""
        return self._table

    @property
    def key_columns(self) -> tuple[KeyColumn, ...]:
        """The columns of keys."""
        return tuple(self._columns)

    @property
    def types(self) -> tuple[Any, ...]:
        """The Arrow types of `columns`."""
        return tuple(column.kind for column in self._columns)

    def slots(self, columns: Sequence[Any], n_rows: int) -> Array:
        """Return the slot of each row's key; columns are Arrow arrays, or lists of Python values."""
        self.new = _NO_SLOTS
        if n_rows <= _FEW:
            few = self._slots_of_few(columns, n_rows)
            if few is not None:
                return few
        if not self._columns:
            return self._slots_of([()])[np.zeros(n_rows, np.int64)]
        dense = self._slots_of_dense(columns, n_rows)
        if dense is not None:
            return dense
        codes, parts = self._encoded(columns)
        return self._slots_of(parts[0] if len(parts) == 1 else list(zip(*parts, strict=True)))[codes]

    @property
    def unused(self) -> Array:
        """Slots below the capacity that no key has."""
        return np.array(self._free, np.int64)

    def free(self, slots: Array) -> None:
        """Forget the keys in these slots, so that new keys can get the slots."""
        if not len(slots):
            return
        deque(map(self._table.pop, self._keys_in(slots)), maxlen=0)
        if self._by_value is not None:
            table = self._by_value[1]
            is_freed = np.zeros(self.capacity, np.bool_)
            is_freed[slots] = True
            table[(table >= 0) & is_freed[table]] = -1
        for column in self._columns:
            column.clear(slots)
        if len(slots) > len(self._free) // 8:
            self._free += slots.tolist()
            heapq.heapify(self._free)
        else:
            for slot in slots.tolist():
                heapq.heappush(self._free, slot)

    def columns(self, slots: Array) -> list[Any]:
        """Return the keys in these slots, one column for each of `by`."""
        return [column.take(slots, self.capacity) for column in self._columns]

    def save(self) -> tuple[Any, ...]:
        """Return the table as plain values; equal tables give equal values."""
        values = pa.table(self.columns(np.arange(self.capacity)), names=[column.name for column in self._columns])
        return self.capacity, np.array(sorted(self._free), np.int64), table_bytes(values)

    @classmethod
    def from_saved(cls, saved: tuple[Any, ...]) -> "Keys":
        """Return the table that was saved, with the same slots, and the same slots free.

        >>> keys = Keys([pa.int64()])
        >>> before = keys.slots([[7, 9]], 2)
        >>> Keys.from_saved(keys.save()).slots([[9, 8]], 2)
        array([1, 2])
        """
        if not isinstance(saved, tuple) or len(saved) != 3:
            raise InvalidState.damaged("its keys are not whole")
        capacity, free, values = (
            saved[0],
            check_array(saved[1], np.int64, "free slots"),
            table_of_bytes(saved[2], "the table of its keys"),
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
        """Return the slots by one lookup per row; None if Arrow has to read the values."""
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

    def _slots_of_dense(self, columns: Sequence[Any], n_rows: int) -> Array | None:
        """Return the slots from a table indexed by value; None if keys are not integers that lie close together."""
        values = self._columns[0].integers(columns[0]) if len(columns) == 1 else None
        if values is None:
            return None
        low, high = int(values.min()), int(values.max())
        if high - low > _SPREAD * n_rows:
            return None
        if self._by_value is None or low < self._by_value[0] or high >= self._by_value[0] + len(self._by_value[1]):
            first, last = low, high + 1
            if self._by_value is not None:
                first, last = min(first, self._by_value[0]), max(last, self._by_value[0] + len(self._by_value[1]))
            if last - first > _SPREAD * (n_rows + len(self._table)):
                return None
            table = np.full(last - first, -1, np.int64)
            if self._by_value is not None:
                begin = self._by_value[0] - first
                table[begin : begin + len(self._by_value[1])] = self._by_value[1]
            self._by_value = first, table
        first, table = self._by_value
        slots, fresh = np.empty(n_rows, np.int64), np.empty(len(table) + 1, np.int64)
        bound_kernel(_look_up)(values, first, table, slots, fresh)
        count = int(fresh[-1])
        if count:
            places = fresh[:count] - first
            table[places] = -1  # until they have slots
            table[places] = given = self._slots_of(fresh[:count].tolist())
            bound_kernel(_fill_in)(slots, given)
        return slots

    def _encoded(self, columns: Sequence[Any]) -> tuple[Array, list[list[Any]]]:
        """Return the code of each row's key, and for each column the values of the distinct keys."""
        encoded = [column.encoded(given) for column, given in zip(self._columns, columns, strict=True)]
        codes, values = encoded[0]
        if len(encoded) == 1:
            return codes, [values]
        places = [np.arange(len(values))]  # for each column, the place of each distinct key's value
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
        """Return the slots of distinct keys; new keys get one."""
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
        """Take the lowest slots that are free, in order (K2)."""
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
