"""Rows as the engine sees them: arrays.

Rows that wait until no earlier one can come lie in the order of their positions, ties by arrival.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.engine.saved_objects import refuse_foreign
from sash.errors import InvalidState
from sash.plan.share import ColumnType
from sash.slicing.slices import Array, check_array

__all__ = ["RowBatch", "order_by_key"]


@kernel
def _sort_by_slot(slots: Any, places: Any, order: Any) -> None:
    for slot in slots:
        places[slot + 1] += 1
    for slot in range(1, len(places)):
        places[slot] += places[slot - 1]
    for row in range(len(slots)):
        slot = slots[row]
        order[places[slot]] = row
        places[slot] += 1


def order_by_key(slots: Array, keys: int) -> Array:
    """The places of rows key by key, each key's in their order."""
    order = np.empty(len(slots), np.int64)
    _sort_by_slot(slots, np.zeros(keys + 1, np.int64), order)
    return order


def _restore_column(name: str, given: Any, kind: ColumnType, rows: int) -> tuple[Array, Array]:
    """A column of waiting rows: data, and where it is valid."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidState.damaged(f"column {name!r} of waiting rows is missing")
    valid = check_array(given[1], np.bool_, f"values of column {name!r}", rows)
    if not kind.column.field.is_object:
        return check_array(given[0], kind.column.field.dtype, f"values of column {name!r}", rows), valid
    if not isinstance(given[0], list) or len(given[0]) != rows:
        raise InvalidState.damaged(f"column {name!r} of waiting rows is cut short")
    refuse_foreign([value for value, known in zip(given[0], valid.tolist(), strict=True) if known], kind.arrow)
    objects = np.empty(rows, object)
    objects[:] = given[0]
    return objects, valid


@dataclass(frozen=True)
class RowBatch:
    """Some rows: their keys' slots, positions, punctuations, and the columns that aggregates read."""

    slots: Array
    positions: Array
    bits: Array  # empty where nothing is punctuated
    columns: dict[str, tuple[Any, Array]]  # data (an array, or an array of objects) and validity

    def __len__(self) -> int:
        return len(self.slots)

    @classmethod
    def empty(cls, columns: Mapping[str, ColumnType], dtype: Any) -> "RowBatch":
        """No rows, of these columns."""
        kinds = {
            name: object if each.column.field.is_object else each.column.field.dtype for name, each in columns.items()
        }
        ints = np.zeros(0, np.int64)
        none = {name: (np.zeros(0, kind), np.zeros(0, np.bool_)) for name, kind in kinds.items()}
        return cls(ints, np.zeros(0, dtype), ints, none)

    @classmethod
    def from_saved(cls, saved: Any, dtype: Any, columns: Mapping[str, ColumnType]) -> "RowBatch":
        """Rows that were saved, with these of their columns, if they are in order."""
        if not isinstance(saved, dict) or not isinstance(found := saved.get("columns"), dict):
            raise InvalidState.damaged("the rows that wait are not whole")
        slots = check_array(saved.get("slots"), np.int64, "slots of waiting rows")
        rows = len(slots)
        positions = check_array(saved.get("positions"), dtype, "positions of waiting rows", rows)
        bits = check_array(saved.get("bits"), np.int64, "bits of waiting rows")
        if not (positions[1:] >= positions[:-1]).all() or (len(bits) and len(bits) != rows):
            raise InvalidState.damaged("the rows that wait are not in order")
        return cls(
            slots,
            positions,
            bits,
            {name: _restore_column(name, found.get(name), kind, rows) for name, kind in columns.items()},
        )

    def part(self, begin: int, end: int) -> "RowBatch":
        """A stretch of rows."""
        if begin == 0 and end >= len(self):
            return self
        columns = {name: (data[begin:end], valid[begin:end]) for name, (data, valid) in self.columns.items()}
        return RowBatch(self.slots[begin:end], self.positions[begin:end], self.bits[begin:end], columns)

    def take(self, places: Array) -> "RowBatch":
        """These rows, in this order."""
        columns = {name: (data[places], valid[places]) for name, (data, valid) in self.columns.items()}
        bits = self.bits[places] if len(self.bits) else self.bits
        return RowBatch(self.slots[places], self.positions[places], bits, columns)

    def extent(self, is_sorted: bool) -> tuple[Any, Any]:
        """The smallest and the largest position."""
        if is_sorted:
            return self.positions[0], self.positions[-1]
        return self.positions.min(), self.positions.max()

    def by_key(self, keys: int) -> "RowBatch":
        """The same rows key by key, each key's in their order: so that what is known of a key is looked up once."""
        return self.take(order_by_key(self.slots, keys))

    def with_newer(self, newer: "RowBatch") -> "RowBatch":
        """These rows and those that came after them, sorted by position; of equals the older is first."""
        if not len(newer):
            return self
        joined = newer
        if len(self):
            columns = {
                name: tuple(np.concatenate([mine, other]) for mine, other in zip(own, newer.columns[name], strict=True))
                for name, own in self.columns.items()
            }
            joined = RowBatch(
                np.concatenate([self.slots, newer.slots]),
                np.concatenate([self.positions, newer.positions]),
                np.concatenate([self.bits, newer.bits]),
                columns,  # type: ignore[arg-type]
            )
        if (joined.positions[1:] < joined.positions[:-1]).any():
            return joined.take(np.argsort(joined.positions, kind="stable"))
        return joined

    def until(self, position: Any) -> int:
        """How many rows lie at or before a position, where rows are sorted."""
        return int(np.searchsorted(self.positions, position, side="right"))
