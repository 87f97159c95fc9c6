"""The ordered slices of every key, without their partials.

Idea      A slice is a number. Arrays hold its range and its partials under that number, and they never move.
          Only the order moves: each key has a segment of one arena that lists its slices from the oldest to
          the newest.
Picture     key k       begin ┐        ┌ begin + count        ┌ begin + room
            arena  … [ 7 | 3 | 12 | 4 )  free                 ) …
            slice 12     ends[12] firsts[12] lasts[12] ranks[12] opens[12]      fields[·][12]
Keeps     S1  the segments of two keys do not overlap; count ≤ room, room is 0 or a power of two
          S2  a slice is in one segment, or on the stack of free ones
          S3  along a segment firsts ascend, firsts[i] ≤ lasts[i] < ends[i], and lasts[i] ≤ firsts[i + 1]
          S4  `ends` is the first edge after the rows: rows with an edge between them are in two slices, until the
              windows at that edge were emitted and the slices are merged
          S5  ranks[i] is how many rows the key had before the slice, where rows are placed in order
"""

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from sash.errors import InvalidState

__all__ = ["FREE", "NEXT", "NO_CUT", "TOP", "USED", "Slices", "check_array", "with_room"]

# The places of the counters in `cursor`.
TOP, NEXT, FREE, USED = range(4)
NO_CUT = np.iinfo(np.int64).max  # the rank of a cut that never comes

Array = np.ndarray[Any, Any]


@dataclass
class Slices:
    """All slices by number, and the order of the slices of each key. Kernels change the arrays in place."""

    begin: Array
    count: Array
    room: Array
    seen: Array  # rows of the key so far: the rank of the next one
    cut: Array  # the rank at which the next slice must begin
    dirty: Array  # the oldest place in the key's order that changed since its tree was updated
    ends: Array
    firsts: Array
    lasts: Array
    ranks: Array
    opens: Array  # a bit for each punctuation column that opens a window here
    order: Array  # the arena
    free: Array  # a stack of numbers to reuse
    cursor: Array

    @classmethod
    def empty(cls, dtype: Any) -> "Slices":
        """Return no slices of no keys, for positions of this type."""
        arrays = {each.name: np.zeros(0, dtype if each.name in _POSITIONS else np.int64) for each in fields(cls)}
        return cls(**{**arrays, "cursor": np.zeros(4, np.int64)})

    @property
    def used(self) -> int:
        """The number of slices in use."""
        return int(self.cursor[USED])

    @property
    def keys(self) -> int:
        """The number of keys that fit."""
        return len(self.begin)

    @property
    def capacity(self) -> int:
        """The number of slices that fit."""
        return len(self.ends)

    def copy(self) -> "Slices":
        """Return a copy that shares no array."""
        return replace(self, **{each.name: getattr(self, each.name).copy() for each in fields(self)})

    def arrays(self) -> tuple[Array, ...]:
        """Return all arrays for kernels, in the order of the fields."""
        found: tuple[Array, ...] = _ARRAYS(self)
        return found

    def ensure_keys(self, keys: int) -> None:
        """Make room for this many keys."""
        if keys > len(self.begin):
            size = max(keys, 2 * len(self.begin), 8)
            for name in ("begin", "count", "room", "seen", "cut", "dirty"):
                setattr(self, name, with_room(getattr(self, name), size))

    def grow_slices(self, expected: int = 0) -> None:
        """Make room for twice as many slices, or for the expected number if that is much larger.

        The size is never a power of two: arrays at such distances evict each other from the CPU cache.
        """
        size = 2 * self.capacity + 20
        if expected > 4 * self.capacity:
            size = self.capacity + expected
        for name in ("ends", "firsts", "lasts", "ranks", "opens", "free"):
            setattr(self, name, with_room(getattr(self, name), size))

    def grow_arena(self, least: int) -> None:
        """Make room at the end of the arena for a segment of this length; pack the arena if half is unused."""
        used = int(self.room.sum())
        if used + least <= len(self.order) // 2:
            self._pack()
        else:
            self.order = with_room(self.order, max(2 * len(self.order), int(self.cursor[TOP]) + 2 * least) + 20)

    def _pack(self) -> None:
        """Move all segments to the front of the arena, without gaps."""
        kept = np.flatnonzero(self.room)
        kept = kept[np.argsort(self.begin[kept], kind="stable")]
        room = self.room[kept]
        begin = np.concatenate([[0], np.cumsum(room)[:-1]]) if len(kept) else room
        source = np.repeat(self.begin[kept] - begin, room) + np.arange(int(room.sum()))
        packed = np.zeros_like(self.order)
        packed[: len(source)] = self.order[source]
        self.order = packed
        self.begin[kept] = begin
        self.cursor[TOP] = len(source)
        self.dirty[kept] = 0

    def save(self) -> tuple[dict[str, Array], Array]:
        """Return the slices in use, renumbered without gaps, and their old numbers."""
        numbers, _ = self.list_all()
        arrays = {name: getattr(self, name)[numbers] for name in _OF_SLICES}
        arrays |= {name: getattr(self, name) for name in ("count", "seen", "cut")}
        return {**arrays, **_layout(self.count)}, numbers

    @classmethod
    def from_saved(cls, saved: Any, dtype: Any, least: Any, greatest: Any, highest: Any) -> "Slices":
        """Return slices from what `save` returned; rows lie from `least` to `greatest`, edges end at `highest`.

        The layout follows from the number of slices of each key. Indices that kernels follow are computed from it and
        never read from the saved bytes.
        """
        if not isinstance(saved, dict) or saved.keys() != {each.name for each in fields(cls)}:
            raise InvalidState.damaged("its slices are not whole")
        count = check_array(saved["count"], np.int64, "counts of slices")
        total = len(check_array(saved["ends"], dtype, "ends of slices"))
        if (len(count) and not 0 <= count.min() <= count.max() <= total) or count.sum() != total:
            raise InvalidState.damaged(f"its {total} slices are not those that it counts")
        arrays = {
            name: check_array(saved[name], dtype if name in _POSITIONS else np.int64, f"{name} of slices", total)
            for name in _OF_SLICES
        }
        arrays |= {name: check_array(saved[name], np.int64, f"{name} of keys", len(count)) for name in ("seen", "cut")}
        layout = _layout(count)
        if not all(np.array_equal(array, check_array(saved[name], np.int64, name)) for name, array in layout.items()):
            raise InvalidState.damaged("its slices are not laid out as they are saved")
        slices = cls(**{name: array.copy() for name, array in {"count": count, **arrays, **layout}.items()})
        slices.free = with_room(slices.free, slices.capacity)
        slices._refuse_disorder(least, greatest, highest)
        return slices

    def _refuse_disorder(self, least: Any, greatest: Any, highest: Any) -> None:
        """Reject slices that break S3 or S5, as far as kernels rely on them."""
        firsts, lasts, ends = self.firsts, self.lasts, self.ends
        in_range = (least <= firsts) & (firsts <= lasts) & (lasts <= greatest) & (lasts < ends) & (ends <= highest)
        is_next = np.ones(len(ends), np.bool_)  # slices are numbered key by key: the older neighbour is one below
        is_next[1:] = lasts[:-1] <= firsts[1:]
        is_next[(np.cumsum(self.count) - self.count)[self.count > 0]] = True
        if not in_range.all() or not is_next.all():
            raise InvalidState.damaged("the positions of its slices are out of range or out of order (S3)")
        known = np.repeat(self.seen, self.count)
        if (self.seen < 0).any() or (self.cut < 0).any() or ((self.ranks < -1) | (self.ranks > known)).any():
            raise InvalidState.damaged("a slice of it has rows after the last that was counted (S5)")

    def of_key(self, key: int) -> Array:
        """Return the numbers of a key's slices, oldest first."""
        begin = int(self.begin[key])
        return self.order[begin : begin + int(self.count[key])]

    def list_all(self) -> tuple[Array, Array]:
        """Return the numbers of all slices, key by key and oldest first, and the key of each."""
        held = np.flatnonzero(self.count)
        counts = self.count[held]
        keys = np.repeat(held, counts)
        within = np.arange(len(keys)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.order[self.begin[keys] + within], keys

    def check(self) -> None:
        """Assert the S-lines."""
        owners = np.flatnonzero(self.room)
        segments = sorted((int(self.begin[k]), int(self.begin[k] + self.room[k])) for k in owners)
        assert all(a[1] <= b[0] for a, b in pairwise(segments)), "S1"
        assert (self.count <= self.room).all() and all(int(r) & (int(r) - 1) == 0 for r in self.room), "S1"
        listed = [int(i) for k in range(self.keys) for i in self.of_key(k)]
        stack = self.free[: int(self.cursor[FREE])].tolist()
        assert sorted(listed + stack) == list(range(int(self.cursor[NEXT]))), "S2"
        assert len(listed) == self.used, "S2"
        for key in range(self.keys):
            own = self.of_key(key)
            first, last, end = self.firsts[own], self.lasts[own], self.ends[own]
            assert (first <= last).all() and (last < end).all() and (last[:-1] <= first[1:]).all(), "S3"


_ARRAYS = attrgetter(*(each.name for each in fields(Slices)))
_POSITIONS = ("ends", "firsts", "lasts")
_OF_SLICES = (*_POSITIONS, "ranks", "opens")


def _layout(count: Array) -> dict[str, Array]:
    """Return the layout of keys one after the other, their slices numbered from 0; all trees are dirty."""
    room = np.where(count > 0, 1 << np.ceil(np.log2(np.maximum(count, 1))).astype(np.int64), 0)
    begin = np.cumsum(room) - room
    keys = np.repeat(np.arange(len(count)), count)
    numbers = np.arange(len(keys))
    order = np.zeros(int(room.sum()), np.int64)
    order[begin[keys] + numbers - (np.cumsum(count) - count)[keys]] = numbers
    cursor = np.zeros(4, np.int64)
    cursor[TOP], cursor[NEXT], cursor[USED] = len(order), len(numbers), len(numbers)
    free, dirty = np.zeros(0, np.int64), np.zeros(len(count), np.int64)
    return {"begin": begin, "room": room, "order": order, "cursor": cursor, "free": free, "dirty": dirty}


def check_array(given: Any, dtype: Any, what: str, length: int | None = None) -> Array:
    """Return a saved value if it is an array of this type and length; else raise InvalidState."""
    if not isinstance(given, np.ndarray) or given.dtype != dtype or given.ndim != 1:
        raise InvalidState.damaged(f"its {what} are no array of {np.dtype(dtype).name}")
    if length is not None and len(given) != length:
        raise InvalidState.damaged(f"it has {len(given)} {what} where {length} should be")
    return given


def with_room(array: Array, size: int) -> Array:
    """Return the array, or a longer copy if it has fewer than `size` places."""
    if len(array) >= size:
        return array
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
