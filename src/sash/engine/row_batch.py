"""A batch of rows as arrays.

Rows that wait until no earlier row can arrive are sorted by position, ties by arrival.
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
    """Return the places of rows grouped by key; the rows of a key keep their order."""
    order = np.empty(len(slots), np.int64)
    _sort_by_slot(slots, np.zeros(keys + 1, np.int64), order)
    return order


def _restore_column(name: str, given: Any, kind: ColumnType, rows: int) -> tuple[Array, Array]:
    """Restore a column of waiting rows: data and validity."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidState.damaged(f"column {name!r} of waiting rows is missing")
    valid = check_array(given[1], np.bool_, f"values of column {name!r}", rows)
    if not kind.column.field.is_object:
        return check_array(given[0], kind.column.field.dtype, f"values of column {name!r}", rows), valid
    if not isinstance(given[0], list) or len(given[0]) != rows:
        raise InvalidState.damaged(f"column {name!r} of waiting rows is incomplete")
    refuse_foreign([value for value, known in zip(given[0], valid.tolist(), strict=True) if known], kind.arrow)
    objects = np.empty(rows, object)
    objects[:] = given[0]
    return objects, valid


@dataclass(frozen=True)
class RowBatch:
    """Rows: the slots of their keys, positions, punctuations, and the columns that aggregates read."""

    slots: Array
    positions: Array
    bits: Array  # empty if no window is punctuated
    columns: dict[str, tuple[Any, Array]]  # data (an array, or an array of objects) and validity

    def __len__(self) -> int:
        return len(self.slots)

    @classmethod
    def empty(cls, columns: Mapping[str, ColumnType], dtype: Any) -> "RowBatch":
        """Return a batch of no rows with these columns."""
        kinds = {
            name: object if each.column.field.is_object else each.column.field.dtype for name, each in columns.items()
        }
        ints = np.zeros(0, np.int64)
        none = {name: (np.zeros(0, kind), np.zeros(0, np.bool_)) for name, kind in kinds.items()}
        return cls(ints, np.zeros(0, dtype), ints, none)

    @classmethod
    def from_saved(cls, saved: Any, dtype: Any, columns: Mapping[str, ColumnType]) -> "RowBatch":
        """Restore saved rows with these columns; refuse rows that are not sorted."""
        if not isinstance(saved, dict) or not isinstance(found := saved.get("columns"), dict):
            raise InvalidState.damaged("its waiting rows are incomplete")
        slots = check_array(saved.get("slots"), np.int64, "slots of waiting rows")
        rows = len(slots)
        positions = check_array(saved.get("positions"), dtype, "positions of waiting rows", rows)
        bits = check_array(saved.get("bits"), np.int64, "bits of waiting rows")
        if not (positions[1:] >= positions[:-1]).all() or (len(bits) and len(bits) != rows):
            raise InvalidState.damaged("its waiting rows are not in order")
        return cls(
            slots,
            positions,
            bits,
            {name: _restore_column(name, found.get(name), kind, rows) for name, kind in columns.items()},
        )

    def part(self, begin: int, end: int) -> "RowBatch":
        """Return the rows [begin, end)."""
        if begin == 0 and end >= len(self):
            return self
        columns = {name: (data[begin:end], valid[begin:end]) for name, (data, valid) in self.columns.items()}
        return RowBatch(self.slots[begin:end], self.positions[begin:end], self.bits[begin:end], columns)

    def take(self, places: Array) -> "RowBatch":
        """Return the rows at these places, in this order."""
        columns = {name: (data[places], valid[places]) for name, (data, valid) in self.columns.items()}
        bits = self.bits[places] if len(self.bits) else self.bits
        return RowBatch(self.slots[places], self.positions[places], bits, columns)

    def extent(self, is_sorted: bool) -> tuple[Any, Any]:
        """Return the smallest and the largest position."""
        if is_sorted:
            return self.positions[0], self.positions[-1]
        return self.positions.min(), self.positions.max()

    def by_key(self, keys: int) -> "RowBatch":
        """Return the same rows grouped by key, so that the state of a key is looked up once."""
        return self.take(order_by_key(self.slots, keys))

    def with_newer(self, newer: "RowBatch") -> "RowBatch":
        """Return these and newer rows sorted by position; of equal positions, older rows are first."""
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
        """Return how many sorted rows are at or before a position."""
        return int(np.searchsorted(self.positions, position, side="right"))
