"""The strings of a stream as numbers that keep their order.

Idea      Every string that the state needs has a label, an int64. Equal strings have equal labels, and labels have the
          order of the strings, so one number serves equality, order and payload. A new string gets a label between
          those of its neighbours. If there is none left, all strings are labelled anew, evenly, and the labels in the
          state are replaced; order is kept, so nothing is sorted again. A string that the state no longer needs is
          dropped; the labels of the others stay.
Picture     entry    0 "pear"   1 "fig"   2 "kiwi"         as they arrived
            order    1 "fig"    2 "kiwi"  0 "pear"         ascending
            labels   0          2³¹       2³²              "kiwi" came last, between the two
Keeps     D1  along `order` strings ascend strictly, by their bytes, and so do labels
          D2  every label is within ±2⁶¹, so that differences fit an int64
          D3  arrays are never changed in place, so copies share them
Cost      A push looks up its distinct strings only: a search in a sorted array each. New strings cost a pass over the
          arrays of numbers, for all of a push together.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.compiler import jitable, kernel
from sash.engine.decimal_words import as_bytes, of_bytes
from sash.errors import InvalidState
from sash.slicing.slices import Array, check_array

__all__ = ["NO_LABEL", "Dictionary", "Relabelling"]

NO_LABEL = int(np.iinfo(np.int64).min)  # of a null, and of a partial without a value
_FARTHEST = 2**61
_FEW = 32  # values of a small push
_MOST_KNOWN = 4096
_NO_PLACES = np.zeros(0, np.int64)


class Relabelling:
    """Old labels, ascending, and the new label of each."""

    def __init__(self, old: Array, new: Array) -> None:
        self.old, self.new = old, new

    def apply(self, labels: Array) -> Array:
        """Return labels with the new ones in place of the old ones; others are kept."""
        if not len(self.old):
            return labels
        places = np.minimum(np.searchsorted(self.old, labels), len(self.old) - 1)
        return np.where(self.old[places] == labels, self.new[places], labels)


@jitable
def _compare(a: Any, begin: int, end: int, b: Any, first: int, stop: int) -> int:
    """Return -1, 0 or 1 if the bytes a[begin:end] are before, equal to or after b[first:stop]."""
    shorter = min(end - begin, stop - first)
    for k in range(shorter):
        if a[begin + k] != b[first + k]:
            return -1 if a[begin + k] < b[first + k] else 1
    if end - begin == stop - first:
        return 0
    return -1 if end - begin < stop - first else 1


@kernel
def _find(data: Any, offsets: Any, order: Any, given: Any, ends: Any, places: Any, known: Any) -> None:
    """Find for each given string, ascending, the first of the ordered strings that is not before it."""
    low, size = 0, len(order)
    for k in range(len(ends) - 1):
        first, stop = ends[k], ends[k + 1]
        step, high = 1, low
        while high < size and _compare(data, offsets[order[high]], offsets[order[high] + 1], given, first, stop) < 0:
            low, high = high + 1, high + step
            step *= 2
        high = min(high, size)
        while low < high:
            middle = (low + high) // 2
            if _compare(data, offsets[order[middle]], offsets[order[middle] + 1], given, first, stop) < 0:
                low = middle + 1
            else:
                high = middle
        places[k] = low
        known[k] = low < size and _compare(data, offsets[order[low]], offsets[order[low] + 1], given, first, stop) == 0


class Dictionary:
    """The strings of one column, and their labels."""

    def __init__(self, gap: int) -> None:
        self.gap = gap
        self.data, self.offsets = np.zeros(0, np.uint8), np.zeros(1, np.int64)
        self.order, self.labels = _NO_PLACES, _NO_PLACES
        self.swept = 0  # strings that were left after the last sweep
        self.known: dict[Any, int] = {}  # labels of values of small pushes, which Arrow takes longer for

    def __len__(self) -> int:
        return len(self.order)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return self.data.nbytes + self.offsets.nbytes + self.order.nbytes + self.labels.nbytes

    def copy(self) -> "Dictionary":
        """Return an independent copy."""
        twin = Dictionary(self.gap)
        vars(twin).update(vars(self), known=dict(self.known))
        return twin

    # --- strings and labels ----------------------------------------------------------------------

    def encode(self, values: Any) -> tuple[Array, Relabelling | None]:
        """Return the label of each value of an Arrow array, and how labels have changed; add new values.

        >>> fruit = Dictionary(gap=8)
        >>> fruit.encode(pa.array(["pear", None, "fig"]))[0] == [0, NO_LABEL, -8]
        array([ True,  True,  True])
        >>> fruit.encode(pa.array(["kiwi", "pear"]))
        (array([-4,  0]), None)
        """
        if len(values) <= _FEW and not pa.types.is_decimal(values.type):
            return self._encode_few(values.to_pylist())
        coded = values.dictionary_encode()
        strings = as_bytes(coded.dictionary)
        ascending = pc.sort_indices(strings)
        labels, moved = self._labels_of(*_bytes_of(strings.take(ascending)))
        by_code = np.full(len(labels) + 1, NO_LABEL)  # the last one is for nulls, at -1
        by_code[ascending.to_numpy()] = labels
        indices = coded.indices.fill_null(-1) if coded.indices.null_count else coded.indices
        return by_code[indices.to_numpy()], moved

    def _encode_few(self, values: list[Any]) -> tuple[Array, Relabelling | None]:
        moved = None
        if len(self.known) > _MOST_KNOWN:
            self.known = {}
        while new := {
            each for each in values if each is not None and each not in self.known
        }:  # again if labels have changed
            keys = sorted((each.encode() if isinstance(each, str) else each, each) for each in new)
            content = np.frombuffer(bytearray().join(key for key, _ in keys), np.uint8)
            labels, changed = self._labels_of(content, np.cumsum([0, *(len(key) for key, _ in keys)]))
            moved = moved if changed is None else changed
            self.known.update(zip((each for _, each in keys), labels.tolist(), strict=True))
        return np.array([NO_LABEL if each is None else self.known[each] for each in values], np.int64), moved

    def _labels_of(self, given: Array, ends: Array) -> tuple[Array, Relabelling | None]:
        """Return the labels of distinct strings, ascending; add new ones."""
        places, known = np.empty(len(ends) - 1, np.int64), np.empty(len(ends) - 1, np.bool_)
        _find(self.data, self.offsets, self.order, given, ends, places, known)
        if known.all():
            return self.labels[places], None
        is_new, sizes = ~known, np.diff(ends)
        moved = self._add(given[np.repeat(is_new, sizes)], sizes[is_new], places[is_new])
        places += np.cumsum(is_new) - is_new  # the new strings before it
        return self.labels[places], moved

    def _add(self, data: Array, sizes: Array, places: Array) -> Relabelling | None:
        """Add strings, ascending, before the known strings at these places."""
        entries = np.arange(len(self), len(self) + len(sizes))
        self.data = np.concatenate([self.data, data])
        self.offsets = np.concatenate([self.offsets, np.cumsum(sizes) + self.offsets[-1]])
        self.order = np.insert(self.order, places, entries)
        labels, old = self._labels_between(places), self.labels
        if labels is not None:
            self.labels = np.insert(old, places, labels)
            return None
        self.known = {}
        size = len(self.order)
        gap = max(1, min(self.gap, 2 * _FARTHEST // (size + 1)))
        self.labels = (np.arange(size) - size // 2) * gap
        is_old = np.ones(size, np.bool_)
        is_old[places + np.arange(len(places))] = False
        return Relabelling(old, self.labels[is_old])

    def _labels_between(self, places: Array) -> Array | None:
        """Return labels for new strings before these places, evenly between their neighbours; None if one has none."""
        if len(places) == 1:
            return self._label_before(int(places[0]))
        begins = np.flatnonzero(np.append(True, places[1:] != places[:-1]))  # of new strings between the same two
        sizes = np.diff(np.append(begins, len(places)))
        nth = np.arange(len(places)) - np.repeat(begins, sizes) + 1
        beside, size = places[begins], len(self.labels)
        if not size:
            labels = self.gap * (nth - (len(places) + 1) // 2 - 1)
            return labels if len(places) * self.gap < _FARTHEST else None
        above = np.where(beside < size, self.labels[np.minimum(beside, size - 1)], 0)
        below = np.where(beside > 0, self.labels[np.maximum(beside - 1, 0)], above - (sizes + 1) * self.gap)
        above = np.where(beside < size, above, below + (sizes + 1) * self.gap)
        steps = (above - below) // (sizes + 1)
        is_far = below[0] < -_FARTHEST or above[-1] > _FARTHEST
        return None if is_far or (steps < 1).any() else np.repeat(below, sizes) + nth * np.repeat(steps, sizes)

    def _label_before(self, place: int) -> Array | None:
        """Return the label of one new string, as `_labels_between` does."""
        below = int(self.labels[place - 1]) if place > 0 else None
        above = int(self.labels[place]) if place < len(self.labels) else None
        if above is None:
            above = 0 if below is None else below + 2 * self.gap
        if below is None:
            below = above - 2 * self.gap
        is_free = above - below > 1 and below >= -_FARTHEST and above <= _FARTHEST
        return np.array([(below + above) // 2]) if is_free else None

    def decode(self, labels: Array, valid: Array | None, kind: Any) -> Any:
        """Return the values of labels as an Arrow array of a type; null where a label is not valid, or not known."""
        if not len(self):
            return pa.nulls(len(labels), kind)
        is_dense = self.labels[-1] - self.labels[0] == len(self) - 1
        places = labels - self.labels[0] if is_dense else np.searchsorted(self.labels, labels)
        places = np.clip(places, 0, len(self) - 1)
        is_null = self.labels[places] != labels
        if valid is not None:
            is_null |= ~valid
        chosen = pa.array(self.order[places], mask=is_null)
        if len(labels) < len(self):
            return of_bytes(self._strings().take(chosen), kind)
        return of_bytes(self._strings(), kind).take(chosen)

    def knows(self, labels: Array) -> bool:
        """Return whether every label is one of a string, or that of a null."""
        return bool(np.isin(labels[labels != NO_LABEL], self.labels).all())

    def sweep(self, used: Array) -> None:
        """Drop all strings without one of these labels."""
        kept = np.isin(self.labels, used)
        self.data, self.offsets = _bytes_of(self._strings().take(pa.array(self.order[kept])))
        self.labels = self.labels[kept]
        self.order = np.arange(len(self.labels))
        self.swept = len(self)
        self.known = {}

    def _strings(self) -> Any:
        """Return all strings, as they arrived."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    # --- saving and restoring --------------------------------------------------------------------

    def save(self) -> tuple[Any, ...]:
        """Return the strings in order, and their labels."""
        data, offsets = _bytes_of(self._strings().take(pa.array(self.order)))
        return data, offsets, self.labels, self.swept

    @classmethod
    def from_saved(cls, saved: Any, gap: int, kind: Any) -> "Dictionary":
        """Restore saved values of a type; refuse any that do not follow the D-lines."""
        if not isinstance(saved, tuple) or len(saved) != 4 or type(saved[3]) is not int or not 0 <= saved[3] < 2**62:
            raise InvalidState.damaged("a dictionary of its strings is incomplete")
        found = cls(gap)
        found.data = check_array(saved[0], np.uint8, "bytes of strings").copy()
        found.labels = check_array(saved[2], np.int64, "labels of strings")
        found.offsets = check_array(saved[1], np.int64, "offsets of strings", len(found.labels) + 1)
        found.order, found.swept = np.arange(len(found.labels)), saved[3]
        offsets, labels = found.offsets, found.labels
        if offsets[0] != 0 or offsets[-1] != len(found.data) or (offsets[1:] < offsets[:-1]).any():
            raise InvalidState.damaged("the offsets of its strings do not match their bytes")
        if not _ascends(labels):
            raise InvalidState.damaged("the labels of its strings do not ascend (D1)")
        strings = found._strings()
        if len(labels) > 1 and not pc.all(pc.less(strings[:-1], strings[1:])).as_py():
            raise InvalidState.damaged("its strings do not ascend (D1)")
        try:
            of_bytes(strings, kind).validate(full=True)
        except (pa.ArrowException, ValueError) as error:
            raise InvalidState.unreadable(f"its values are not of type {kind}", error) from error
        return found

    def check(self) -> None:
        """Assert the D-lines."""
        strings = self._strings().take(pa.array(self.order)).to_pylist()
        assert sorted(set(strings)) == strings and (self.labels[1:] > self.labels[:-1]).all(), "D1"
        assert sorted(self.order.tolist()) == list(range(len(self))) and len(self.labels) == len(self), "D1"
        assert (np.abs(self.labels) <= _FARTHEST).all(), "D2"


def _ascends(labels: Array) -> bool:
    is_near = (labels[:1] >= -_FARTHEST).all() and (labels[-1:] <= _FARTHEST).all()
    return bool(is_near and (labels[1:] > labels[:-1]).all())


def _bytes_of(strings: Any) -> tuple[Array, Array]:
    """Return the bytes and offsets of an Arrow array of large binaries without nulls."""
    if not len(strings):
        return _NO_BYTES, np.zeros(1, np.int64)
    _, offsets, data = strings.buffers()
    ends = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    content = _NO_BYTES if data is None else np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
    return content.copy(), ends - ends[0]  # a copy can be written to, and kernels are compiled for such arrays only


_NO_BYTES = np.zeros(0, np.uint8)
