"""The partials of slices: fold rows into them, merge slices, and compute the results of windows.

Lazy      Fold the slices of each window one by one, or slide over them with an algorithm of `swag` if windows overlap.
Eager     Keep a tree over the slices of each key (FlatFAT): a window is the fold of O(log n) nodes. Partials that are
          arrays have trees with fewer nodes (`wide_trees`).
Picture     segment of a key, room 4      order   [ s0 | s1 | s2 | s3 )          leaves 4 5 6 7
                                          inner   [  – | n1 | n2 | n3 )          n2 = s0⊕s1  n3 = s2⊕s3  n1 = n2⊕n3
Keeps     T1  a node whose leaves are all in use and lie before `dirty` is the fold of its leaves, oldest left;
              no other node is ever read
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.algebra.compiler import bound_kernel, jitable, kernel
from sash.algebra.fields import Field, Fields, allocate, load, store
from sash.algebra.monoid import Monoid, absorb, borrow, combine, emit, identity, lift, merge
from sash.errors import InvalidState
from sash.slicing.runs import Statistic
from sash.slicing.slices import NO_CUT, Array, Slices, with_room
from sash.slicing.wide_trees import grow_wide_trees, inner_room, read_wide_trees
from sash.slicing.window_manager import Ended
from sash.swag.catalog import find
from sash.swag.contract import Algorithm, evict, insert, query

__all__ = ["Answer", "Partials", "View", "empty_answer", "lengthen", "mark_trees_updated", "shape_of"]

Answer = tuple[Fields, Fields]  # results and presences


@dataclass(frozen=True)
class View:
    """What one query reads: its monoid, and the places of its fields among all fields that are kept."""

    monoid: Monoid
    places: tuple[int, ...]
    statistics: tuple[Statistic, ...] = ()  # if runs are kept instead of partials: the results to read from them

    def of(self, fields: Fields) -> Fields:
        """Return the fields that the query reads."""
        return tuple(fields[place] for place in self.places)


@kernel
def _add(aggregate: Monoid, fields: Fields, inputs: Fields, ids: Any) -> None:
    current = ids[0]
    folded = load(fields, current)
    for row in range(len(ids)):
        if ids[row] != current:
            store(fields, current, folded)
            current = ids[row]
            folded = load(fields, current)
        folded = combine(aggregate, folded, lift(aggregate, load(inputs, row)))
    store(fields, current, folded)


@kernel
def _absorb(aggregate: Monoid, fields: Fields, inputs: Fields, ids: Any) -> None:
    for row in range(len(ids)):
        absorb(aggregate, fields, ids[row], load(inputs, row))


@kernel
def _merge(aggregate: Monoid, fields: Fields, pairs: Any) -> None:
    for k in range(len(pairs)):
        store(fields, pairs[k, 0], merge(aggregate, load(fields, pairs[k, 0]), borrow(aggregate, fields, pairs[k, 1])))


@kernel
def _fold(aggregate: Monoid, fields: Fields, order: Any, windows: Any, answer: Answer) -> None:
    _slots, lows, highs = windows
    results, presences = answer
    for place in range(len(lows)):
        folded = load(fields, order[lows[place]])
        for at in range(lows[place] + 1, highs[place]):
            folded = merge(aggregate, folded, borrow(aggregate, fields, order[at]))
        emit(aggregate, results, presences, place, folded)


@kernel
def _slide(
    algorithm: Algorithm, aggregate: Monoid, state: Any, fields: Fields, order: Any, windows: Any, answer: Answer
) -> None:
    _slots, lows, highs = windows
    results, presences = answer
    oldest, newest = 0, 0
    for place in range(len(lows)):
        low, high = lows[place], highs[place]
        if low < oldest or low > newest or high < newest:  # another key, or no slice in common
            while oldest < newest:
                evict(algorithm, aggregate, state)
                oldest += 1
            oldest, newest = low, low
        while oldest < low:
            evict(algorithm, aggregate, state)
            oldest += 1
        while newest < high:
            insert(algorithm, aggregate, state, load(fields, order[newest]))
            newest += 1
        emit(aggregate, results, presences, place, query(algorithm, aggregate, state))


@jitable
def _node(aggregate: Monoid, fields: Any, inner: Any, order: Any, begin: int, room: int, node: int) -> Any:
    return (
        borrow(aggregate, fields, order[begin + node - room])
        if node >= room
        else borrow(aggregate, inner, begin + node)
    )


@kernel
def _grow_trees(aggregate: Monoid, fields: Fields, inner: Fields, shape: Any) -> None:
    begins, counts, rooms, dirty, order = shape
    for slot in range(len(begins)):
        begin, count, room = begins[slot], counts[slot], rooms[slot]
        first = room + dirty[slot] if dirty[slot] < count else 0
        if first == 0:
            continue
        last = room + count - 1
        span = 1
        while first > 1:
            first, last, span = first // 2, last // 2, span * 2
            for node in range(first, last + 1):
                if (node + 1) * span <= room + count:
                    left = _node(aggregate, fields, inner, order, begin, room, 2 * node)
                    right = _node(aggregate, fields, inner, order, begin, room, 2 * node + 1)
                    store(inner, begin + node, combine(aggregate, left, right))


@kernel
def _read_trees(aggregate: Monoid, fields: Fields, inner: Fields, shape: Any, windows: Any, answer: Answer) -> None:
    slots, lows, highs = windows
    results, presences = answer
    begins, _counts, rooms, _dirty, order = shape
    for place in range(len(lows)):
        begin, room = begins[slots[place]], rooms[slots[place]]
        low, high = lows[place], highs[place]
        # Leaves are looked up by slice number, inner nodes by place, so the leaves at both ends come first.
        # A window has at least one slice.
        left = load(fields, order[low])
        low += 1
        right = identity(aggregate)
        if low < high and (low - begin) & 1:
            left = merge(aggregate, left, borrow(aggregate, fields, order[low]))
            low += 1
        if low < high and (high - begin) & 1:
            high -= 1
            right = load(fields, order[high])
        low, high = (low - begin + room) // 2, (high - begin + room) // 2
        while low < high:
            if low & 1:
                left = merge(aggregate, left, borrow(aggregate, inner, begin + low))
                low += 1
            if high & 1:
                high -= 1
                right = merge(aggregate, load(inner, begin + high), right)
            low, high = low // 2, high // 2
        emit(aggregate, results, presences, place, merge(aggregate, left, right))


class Partials:
    """One partial per slice, for all aggregates that can be kept together; if eager, with a tree over them."""

    def __init__(self, monoid: Monoid, eager: bool) -> None:
        self.monoid = monoid
        self.fields = monoid.allocate(0)
        self.inner = monoid.allocate(0) if eager else None
        self._is_wide = any(each.is_array for each in monoid.fields)
        self._add = bound_kernel(_add if monoid.absorb is None else _absorb, monoid)

    def copy(self) -> "Partials":
        """Return a copy that shares no array; the next `update_trees` rebuilds its trees."""
        twin = Partials(self.monoid, self.inner is not None)
        twin.fields = tuple(each.copy() for each in self.fields)
        return twin

    def ensure(self, capacity: int) -> None:
        """Make room for this many slices."""
        if self.fields and len(self.fields[0]) < capacity:
            self.fields = lengthen(self.fields, capacity)

    def reset(self, numbers: Array) -> None:
        """Set the partials of these slices to the identity."""
        if not len(numbers):
            return
        if self.monoid.is_compiled:
            for field, value in zip(self.fields, self.monoid.initial, strict=True):
                field[numbers] = value
        else:
            for number in numbers.tolist():
                store(self.fields, number, identity(self.monoid))

    def forget(self, numbers: Array) -> None:
        """Do nothing: a dropped slice holds no memory besides its place in the arrays."""

    def add(self, ids: Array, inputs: Fields) -> None:
        """Fold each row into its slice, in the order of rows."""
        if not len(ids):
            return
        if self.monoid.is_compiled:
            self._add(self.fields, inputs, ids)
            return
        by_slice: dict[int, list[Any]] = {}
        rows = zip(*(each.tolist() if isinstance(each, np.ndarray) else each for each in inputs), strict=True)
        if not inputs:
            rows = (() for _ in range(len(ids)))  # type: ignore[assignment]
        for number, row in zip(ids.tolist(), rows, strict=True):
            by_slice.setdefault(number, []).append(self.monoid.lift(row))
        for number, lifted in by_slice.items():
            folded = _fold_by_halves(self.monoid, lifted)
            store(self.fields, number, combine(self.monoid, load(self.fields, number), folded))

    def merge(self, pairs: Array) -> None:
        """Merge the second slice of each pair into the first, which is older."""
        if len(pairs):
            _merge(self.monoid, self.fields, pairs)

    def answer(self, view: View, slices: Slices, ended: Ended, algorithm: str | None, family: str = "") -> Answer:
        """Return the results of windows, from the trees if eager, else by sliding if an algorithm is given."""
        answer, windows = empty_answer(view, len(ended)), (ended.slots, ended.lows, ended.highs)
        fields, order = view.of(self.fields), slices.order
        if not len(ended):
            return answer
        if self.inner is not None:
            read = read_wide_trees if self._is_wide else _read_trees
            read(view.monoid, fields, view.of(self.inner), shape_of(slices), windows, answer)
        elif algorithm is None:
            bound_kernel(_fold, view.monoid)(fields, order, windows, answer)
        else:
            slides = find(algorithm)
            longest = int((ended.highs - ended.lows).max())
            state = slides.steps.start(view.monoid, longest, (longest,))
            _slide(slides, view.monoid, state, fields, order, windows, answer)
        return answer

    def update_trees(self, slices: Slices) -> None:
        """Recompute the nodes above slices that changed; `mark_trees_updated` must follow, once for all partials."""
        if self.inner is None:
            return
        room = inner_room(len(slices.order)) if self._is_wide else len(slices.order)
        if len(self.inner) and len(self.inner[0]) < room:
            self.inner = lengthen(self.inner, room)
        grow = grow_wide_trees if self._is_wide else _grow_trees
        grow(self.monoid, self.fields, self.inner, shape_of(slices))

    @property
    def nbytes(self) -> int:
        """The size of the fields in bytes."""
        fields = (*self.fields, *(self.inner or ()))
        return sum(each.nbytes if isinstance(each, np.ndarray) else 8 * len(each) for each in fields)

    def restore(self, saved: Fields, slices: int) -> None:
        """Continue from what `save` returned for this many slices."""
        try:
            found = [
                field.restored(given, self.monoid.is_compiled)
                for field, given in zip(self.monoid.fields, saved, strict=True)
            ]
        except ValueError as error:
            raise InvalidState.damaged(str(error)) from error
        if any(len(each) != slices for each in found):
            raise InvalidState.damaged(f"it has not a partial for each of its {slices} slices")
        numbers = [each for field, each in zip(self.monoid.fields, found, strict=True) if not field.is_object]
        if any(value is None for each in numbers if isinstance(each, list) for value in each):
            raise InvalidState.damaged("a partial of it is missing")
        self.fields = tuple(found)

    def save(self, numbers: Array) -> Fields:
        """Return the partials of these slices."""
        if self.monoid.is_compiled:
            return tuple(each[numbers] for each in self.fields)
        return tuple([each[number] for number in numbers.tolist()] for each in self.fields)


def empty_answer(view: View, windows: int) -> Answer:
    """Return room for the results of so many windows."""
    outputs, compiled = view.monoid.outputs, view.monoid.is_compiled
    results = tuple(each.result.empty(windows, compiled) for each in outputs)
    return results, allocate(tuple(Field("u1") for each in outputs if each.presence), windows, compiled)


def shape_of(slices: Slices) -> tuple[Array, ...]:
    """Return what kernels get of the slices to find nodes of trees."""
    return slices.begin, slices.count, slices.room, slices.dirty, slices.order


def mark_trees_updated(slices: Slices) -> None:
    """Note that every tree is up to date."""
    slices.dirty[:] = NO_CUT


def lengthen(fields: Fields, capacity: int) -> Fields:
    """Return the fields with room for this many partials."""
    return tuple(
        with_room(each, capacity) if isinstance(each, np.ndarray) else each + [None] * (capacity - len(each))
        for each in fields
    )


def _fold_by_halves(monoid: Monoid, partials: list[Any]) -> Any:
    """Return the fold of partials, by halves: combining a long list with a short one each time would be quadratic."""
    while len(partials) > 1:
        joined = [combine(monoid, a, b) for a, b in zip(partials[::2], partials[1::2], strict=False)]
        partials = joined + partials[len(partials) - len(partials) % 2 :]
    return partials[0]
