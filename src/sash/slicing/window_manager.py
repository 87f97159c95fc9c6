"""Windows that ended, each a run of one key's slices, and the functions from which each kind builds its kernel.

A kernel walks the slices of each key once. It writes the windows that hold a row and end after one watermark and not
after another. It jumps over gaps between slices, so its cost depends on slices and results, not on the distance between
rows. It skips a window if a slice straddles one of its edges: that slice was cut before the query was added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.errors import InvalidWindow
from sash.slicing.slices import Array, Slices

__all__ = [
    "MOST_ENDED",
    "Ended",
    "advance",
    "collect",
    "find_between",
    "find_first",
    "find_near",
    "given_windows",
    "is_whole",
    "view_of",
    "write",
]

MOST_ENDED = 100_000_000  # windows of one query that a push may end: more is a watermark in another unit


@dataclass(frozen=True)
class Ended:
    """Windows that ended: the slot of the key, start, end, and the range of places in the arena."""

    slots: Array
    starts: Array
    ends: Array
    lows: Array
    highs: Array
    which: Array | None = None  # of several grids in one call: the number of the window's grid

    def __len__(self) -> int:
        return len(self.slots)

    def take(self, places: Array) -> "Ended":
        """Return the windows at these places."""
        which = None if self.which is None else self.which[places]
        return Ended(
            self.slots[places], self.starts[places], self.ends[places], self.lows[places], self.highs[places], which
        )

    @classmethod
    @cache
    def none(cls, dtype: Any) -> "Ended":
        """Return no windows, with edges of this type."""
        ints = np.zeros(0, np.int64)
        return cls(ints, np.zeros(0, dtype), np.zeros(0, dtype), ints, ints)

    @classmethod
    def concat(cls, parts: Sequence["Ended"], dtype: Any) -> "Ended":
        """Return all windows of the parts, one part after the other."""
        parts = [part for part in parts if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else cls.none(dtype)
        names = ("slots", "starts", "ends", "lows", "highs")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@jitable
def find_first(values: Any, order: Any, begin: int, count: int, position: Any) -> int:
    """Return the first place whose slice's value is not before a position."""
    return find_between(values, order, begin, 0, count, position)


@jitable
def find_between(values: Any, order: Any, begin: int, low: int, high: int, position: Any) -> int:
    """Return the first place in [low, high) whose slice's value is not before a position; `high` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if values[order[begin + middle]] < position:
            low = middle + 1
        else:
            high = middle
    return low


@jitable
def write(out: Any, at: int, slot: int, start: Any, end: Any, low: int, high: int) -> int:
    """Write a window if there is room for it; return the number of windows with it, even without room."""
    if at < len(out[0]):
        out[0][at] = slot
        out[1][at] = start
        out[2][at] = end
        out[3][at] = low
        out[4][at] = high
    return at + 1


@jitable
def is_whole(lasts: Any, order: Any, begin: int, low: int, high: int, start: Any, end: Any) -> bool:
    """Return whether no slice straddles an edge of the window."""
    if lasts[order[begin + high - 1]] >= end:
        return False
    return low == 0 or lasts[order[begin + low - 1]] < start


@jitable
def advance(values: Any, order: Any, begin: int, count: int, place: int, position: Any) -> int:
    """Return the first place from `place` on whose slice's value is not before a position; steps double, then halve."""
    step = 1
    while place + step <= count and values[order[begin + place + step - 1]] < position:
        place += step
        step *= 2
    return find_between(values, order, begin, place, min(place + step - 1, count), position)


@jitable
def find_near(values: Any, order: Any, begin: int, count: int, low: int, guess: int, position: Any) -> int:
    """Return the first place from `low` on whose slice's value is not before a position; start at a guess."""
    guess = min(guess, count)
    if guess <= low:
        return advance(values, order, begin, count, low, position)
    if values[order[begin + guess - 1]] < position:
        return advance(values, order, begin, count, guess, position)
    step = 1
    while guess - step > low and values[order[begin + guess - step - 1]] >= position:
        guess -= step
        step *= 2
    return find_between(values, order, begin, max(low, guess - step), guess, position)


@kernel
def _given_windows(arrays: Any, slots: Any, starts: Any, ends: Any, out: Any) -> int:
    begins, counts, firsts, lasts, order = arrays
    written = 0
    for k in range(len(slots)):
        slot = slots[k]
        begin, count = begins[slot], counts[slot]
        low = find_first(firsts, order, begin, count, starts[k])
        high = find_first(firsts, order, begin, count, ends[k])
        if low < high and is_whole(lasts, order, begin, low, high, starts[k], ends[k]):
            written = write(out, written, slot, starts[k], ends[k], begin + low, begin + high)
    return written


def collect(run: Callable[[Any], int], guess: int, dtype: Any) -> Ended:
    """Return the windows that a kernel writes; run it again with more room if they do not fit."""
    room = max(guess, 16)
    while True:
        slots, lows, highs = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
        out = slots, np.empty(room, dtype), np.empty(room, dtype), lows, highs
        written = int(run(out))
        if written < 0:
            raise InvalidWindow.too_many_at_once(MOST_ENDED)
        if written <= room:
            return Ended(*(each[:written] for each in out))
        room = written


def view_of(slices: Slices) -> tuple[Array, ...]:
    """Return the arrays of slices that these kernels read."""
    return slices.begin, slices.count, slices.firsts, slices.lasts, slices.order


def given_windows(slices: Slices, slots: Array, starts: Array, ends: Array) -> Ended:
    """Return those of the given windows that hold a row."""
    return collect(
        lambda out: _given_windows(view_of(slices), slots, starts, ends, out), len(slots), slices.firsts.dtype
    )
