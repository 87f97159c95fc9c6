"""Slices of one row each for sketches: keep the row instead of a sketch of it.

Idea      A sketch of one row has a kilobyte or more, and says less than the row. Where each row is a slice of its own,
          to write, move and read these sketches takes nearly all the time of a stream. So a slice keeps its row, and a
          window absorbs the rows at its ends. Between them it is the fold of nodes above whole blocks of slices, as in
          `wide_trees`: only these nodes are sketches.
Picture     order   [ r0 … r15 | r16 … r31 | r32 … r47 | r48 … r63 )     room 64, 4 blocks
            inner   [  – | n1 | n2 | n3 | n4 | n5 | n6 | n7 )            n4 absorbs r0 … r15    n2 = n4⊕n5  n1 = n2⊕n3
Keeps     R1  a slice has a sketch, in `fields`, if it was restored or comes from another plan; else it has its only row
          R2  T1 and T2 of `wide_trees` hold
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, load, store
from sash.algebra.monoid import Monoid, absorb, borrow, emit, identity, merge
from sash.slicing.partials import Answer, Partials, View, empty_answer, lengthen, shape_of
from sash.slicing.slices import Array, Slices, with_room
from sash.slicing.wide_trees import BLOCK, BLOCK_BITS, blocks_of_node, grow_above_blocks, inner_room
from sash.slicing.window_manager import Ended

__all__ = ["SingleRows"]


@jitable
def _merge_into(aggregate: Monoid, target: Fields, place: int, fields: Fields, number: int) -> None:
    """Merge a sketch into an older one at a place of `target`."""
    store(target, place, merge(aggregate, borrow(aggregate, target, place), borrow(aggregate, fields, number)))


@jitable
def _add_slice(aggregate: Monoid, target: Fields, place: int, held: Any, number: int) -> None:
    """Add a slice to an older sketch at a place of `target`."""
    rows, fields, has_sketch = held
    if has_sketch[number]:
        _merge_into(aggregate, target, place, fields, number)
    else:
        absorb(aggregate, target, place, load(rows, number))


@kernel
def _write(aggregate: Monoid, held: Any, numbers: Any, out: Fields, places: Any) -> None:
    for k in range(len(numbers)):
        store(out, places[k], identity(aggregate))
        _add_slice(aggregate, out, places[k], held, numbers[k])


@kernel
def _grow(aggregate: Monoid, held: Any, inner: Fields, shape: Any) -> None:
    begins, counts, rooms, dirty, order = shape
    for slot in range(len(begins)):
        begin, base, blocks = begins[slot], 2 * begins[slot] // BLOCK, rooms[slot] // BLOCK
        full = counts[slot] // BLOCK
        first = dirty[slot] // BLOCK
        if first >= full:
            continue
        for block in range(first, full):
            node = base + blocks + block
            store(inner, node, identity(aggregate))
            for at in range(begin + block * BLOCK, begin + (block + 1) * BLOCK):
                _add_slice(aggregate, inner, node, held, order[at])
        grow_above_blocks(aggregate, inner, base, blocks, first, full)


@kernel
def _read(
    aggregate: Monoid, view: Monoid, held: Any, inner: Any, shape: Any, windows: Any, scratch: Any, answer: Any
) -> None:
    """Write the results of windows; `inner` is None without trees, and `scratch` is a partial, and what is read."""
    slots, lows, highs = windows
    folded, own = scratch
    results, presences = answer
    begins, _counts, rooms, _dirty, order = shape
    for place in range(len(lows)):
        begin = begins[slots[place]]
        base, blocks = 2 * begin // BLOCK, rooms[slots[place]] // BLOCK
        at, stop = lows[place] - begin, highs[place] - begin
        last = stop >> BLOCK_BITS  # the first block that is not whole
        store(folded, 0, identity(aggregate))
        while at < stop:
            block = at >> BLOCK_BITS
            if inner is not None and at & (BLOCK - 1) == 0 and block < last:
                span = blocks_of_node(block, last)
                _merge_into(aggregate, folded, 0, inner, base + (blocks + block) // span)
                at += span * BLOCK
            else:
                _add_slice(aggregate, folded, 0, held, order[begin + at])
                at += 1
        emit(view, results, presences, place, borrow(view, own, 0))


class SingleRows:
    """A row per slice, for aggregates whose partials have arrays and absorb rows; if eager, with a tree of sketches."""

    def __init__(self, monoid: Monoid, eager: bool) -> None:
        self.monoid = monoid
        self.rows = tuple(np.zeros(0, each) for each in _row_types(monoid))
        self.fields = monoid.allocate(0)  # sketches by the number of their slice
        self.has_sketch = np.zeros(0, np.bool_)
        self.inner = monoid.allocate(0) if eager else None

    def copy(self) -> "SingleRows":
        """Return a copy that shares no array; the next `update_trees` rebuilds its trees."""
        twin = SingleRows(self.monoid, self.inner is not None)
        twin.rows = tuple(each.copy() for each in self.rows)
        twin.fields = tuple(each.copy() for each in self.fields)
        twin.has_sketch = self.has_sketch.copy()
        return twin

    def take_over(self, other: "SingleRows") -> None:
        """Continue with the slices of another store, which is not used any more; trees must be rebuilt."""
        self.rows, self.fields, self.has_sketch = other.rows, other.fields, other.has_sketch

    def ensure(self, capacity: int) -> None:
        """Make room for this many slices."""
        if len(self.has_sketch) < capacity:
            self.rows = tuple(with_room(each, capacity) for each in self.rows)
            self.has_sketch = with_room(self.has_sketch, capacity)

    def reset(self, numbers: Array) -> None:
        """Expect a row for each of these slices."""
        self.has_sketch[numbers] = False

    def forget(self, numbers: Array) -> None:
        """Free the sketches if these slices were the last that had one."""
        self.has_sketch[numbers] = False
        if len(self.fields[0]) and not self.has_sketch.any():
            self.fields = self.monoid.allocate(0)

    def add(self, ids: Array, inputs: Fields) -> None:
        """Keep each row as that of its slice."""
        for row, given in zip(self.rows, inputs, strict=True):
            row[ids] = given.astype(row.dtype, copy=False)

    def merge(self, pairs: Array) -> None:
        """Do nothing: where each row is a slice, none is merged."""
        assert not len(pairs), "R1"

    def answer(self, view: View, slices: Slices, ended: Ended, algorithm: str | None, family: str = "") -> Answer:
        """Return the results of windows, as `Partials.answer` does."""
        answer, windows = empty_answer(view, len(ended)), (ended.slots, ended.lows, ended.highs)
        if len(ended):
            folded = self.monoid.allocate(1)
            scratch = folded, view.of(folded)
            _read(self.monoid, view.monoid, self._held, self.inner, shape_of(slices), windows, scratch, answer)
        return answer

    def update_trees(self, slices: Slices) -> None:
        """Recompute the nodes above slices that changed; `mark_trees_updated` must follow, once for all partials."""
        if self.inner is None:
            return
        room = inner_room(len(slices.order))
        if len(self.inner[0]) < room:
            self.inner = lengthen(self.inner, room)
        _grow(self.monoid, self._held, self.inner, shape_of(slices))

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        arrays = (*self.rows, self.has_sketch, *self.fields, *(self.inner or ()))
        return sum(each.nbytes if isinstance(each, np.ndarray) else 8 * len(each) for each in arrays)

    def restore(self, saved: Fields, slices: int) -> None:
        """Continue from what `save` returned for this many slices."""
        whole = Partials(self.monoid, eager=False)
        whole.restore(saved, slices)
        self.ensure(slices)
        self.hold(whole.fields, np.arange(slices))

    def hold(self, fields: Fields, numbers: Array) -> None:
        """Continue with sketches of these slices, by their numbers."""
        self.fields = fields
        self.has_sketch[numbers] = True

    def save(self, numbers: Array) -> Fields:
        """Return these slices as `Partials.save` does: a sketch for each."""
        return self._sketches(numbers, np.arange(len(numbers)), len(numbers))

    def sketches(self, numbers: Array, capacity: int) -> Fields:
        """Return a sketch for each of these slices, by its number."""
        return self._sketches(numbers, numbers, capacity)

    def _sketches(self, numbers: Array, places: Array, capacity: int) -> Fields:
        out = self.monoid.allocate(capacity)
        if len(numbers):
            _write(self.monoid, self._held, numbers, out, places)
        return out

    @property
    def _held(self) -> tuple[Any, ...]:
        return self.rows, self.fields, self.has_sketch


def _row_types(monoid: Monoid) -> list[Any]:
    """Return the types of the columns and validities of a row; functions that are not compiled get Python objects."""
    types = [each.field.dtype for each in monoid.columns] + [
        np.dtype(np.bool_) for each in monoid.columns if each.nullable
    ]
    return types if monoid.is_compiled else [np.dtype(object) for _ in types]
