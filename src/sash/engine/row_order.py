"""Sort rows by key, position, further columns, and arrival."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.compiler import kernel
from sash.engine.frame_ranges import Line
from sash.engine.keys import Keys
from sash.engine.row_batch import order_by_key
from sash.engine.tables import Rows
from sash.slicing.slices import Array

__all__ = ["KeySlots", "key_slots", "sort_rows"]

_RUN = 16  # rows that are sorted by insertion


@dataclass(frozen=True)
class KeySlots:
    """A number for the key of each row, from 0 on, and how many numbers there are."""

    slots: Array
    count: int


def key_slots(rows: Rows, by: tuple[str, ...]) -> KeySlots:
    """Return a number for the key of each row; without columns, all rows have one key."""
    if not by:
        return KeySlots(np.zeros(rows.count, np.int64), 1)
    columns = [rows.arrow(name) for name in by]
    keys = Keys([each.type for each in columns], by)
    return KeySlots(keys.slots(columns, rows.count), keys.capacity)


def sort_rows(
    keys: KeySlots, positions: Array, valid: Array | None, further: Sequence[tuple[Any, bool]] = ()
) -> tuple[Array, Line]:
    """Return the places of rows sorted by key, position, further columns and arrival, and the sorted rows.

    Rows without a position are left out. `further` has a column and whether it descends.
    """
    kept = None if valid is None else np.flatnonzero(valid)
    own, slots = (each if kept is None else each[kept] for each in (positions, keys.slots))
    if further:
        ranks = [_ranks_of(column, down) for column, down in further]
        ranks = ranks if kept is None else [each[kept] for each in ranks]
        order = np.lexsort((*reversed(ranks), own, slots))
        slots, own, *ranks = slots[order], own[order], *(each[order] for each in ranks)
    else:
        ranks = []
        order, slots, own = _sort(slots, keys.count, own)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = slots[1:] != slots[:-1]
    line = Line(np.flatnonzero(is_first), slots, own, tuple(ranks))
    return (order if kept is None else kept[order]), line


def _sort(slots: Array, keys: int, positions: Array) -> tuple[Array, Array, Array]:
    """Return the places of rows sorted by key, position and arrival, and their slots and positions in this order."""
    if keys == 1:
        if (positions[1:] >= positions[:-1]).all():
            return np.arange(len(positions)), slots, positions
        order = np.argsort(positions, kind="stable")
        return order, slots, positions[order]
    order = order_by_key(slots, keys)
    own, sorted_positions = slots[order], positions[order]
    if ((sorted_positions[1:] < sorted_positions[:-1]) & (own[1:] == own[:-1])).any():
        edges = np.flatnonzero(np.diff(own, prepend=-1, append=-1))
        most = int(np.diff(edges).max())
        _sort_within_keys(edges, sorted_positions, order, np.empty(most, positions.dtype), np.empty(most, np.int64))
    return order, own, sorted_positions


@kernel
def _sort_within_keys(edges: Any, positions: Any, order: Any, spare: Any, spare_order: Any) -> None:
    """Sort the rows of each key by position, ties by arrival: runs by insertion, then merges.

    The rows of a key fit into the cache more often than all rows do: twice as fast as a sort of all positions.
    """
    for key in range(len(edges) - 1):
        begin, end = edges[key], edges[key + 1]
        for start in range(begin, end, _RUN):
            for row in range(start + 1, min(start + _RUN, end)):
                position, place, at = positions[row], order[row], row
                while at > start and positions[at - 1] > position:
                    positions[at], order[at] = positions[at - 1], order[at - 1]
                    at -= 1
                positions[at], order[at] = position, place
        width = _RUN
        while width < end - begin:
            for start in range(begin, end, 2 * width):
                middle, stop = min(start + width, end), min(start + 2 * width, end)
                if middle == stop or positions[middle - 1] <= positions[middle]:
                    continue
                count = middle - start
                for row in range(count):
                    spare[row], spare_order[row] = positions[start + row], order[start + row]
                left, right, at = 0, middle, start
                while left < count:
                    if right < stop and positions[right] < spare[left]:
                        positions[at], order[at] = positions[right], order[right]
                        right += 1
                    else:
                        positions[at], order[at] = spare[left], spare_order[left]
                        left += 1
                    at += 1
            width *= 2


def _ranks_of(column: Any, is_descending: bool) -> Array:
    """Return whole numbers in the order of a column; nulls are first in an ascending order, as in Spark."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    ranks = pc.rank(array, sort_keys="ascending", tiebreaker="dense").to_numpy(zero_copy_only=False)
    found = np.where(array.is_valid().to_numpy(zero_copy_only=False), ranks.astype(np.int64), 0)
    return -found if is_descending else found
