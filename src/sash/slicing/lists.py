"""Lists of numbers, one per window, as arrays."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sash.slicing.slices import Array

__all__ = ["Lists"]


@dataclass(frozen=True)
class Lists:
    """A list of values per window: window k has the values at places[offsets[k] : offsets[k + 1]].

    >>> lists = Lists(np.array([0, 2, 3]), np.array([7, 8]), np.array([0, 1, 0]))
    >>> lists.tolist(), lists.take(np.array([1])).tolist()
    ([[7, 8], [7]], [[7]])
    """

    offsets: Array
    values: Array
    places: Array | None = None  # None: the values themselves, one after the other

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Array:
        """The length of each list."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return self.offsets.nbytes + self.values.nbytes + (0 if self.places is None else self.places.nbytes)

    def flat(self) -> Array:
        """Return the values of all lists, one after the other."""
        return self.values if self.places is None else self.values[self.places]

    def take(self, chosen: Array) -> "Lists":
        """Return the lists at these places, in this order."""
        sizes = self.sizes[chosen]
        offsets = np.append(0, np.cumsum(sizes))
        source = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Lists(offsets, self.flat()[source])

    def concat(self, other: "Lists") -> "Lists":
        """Return the lists of both."""
        offsets = np.append(self.offsets, other.offsets[1:] + self.offsets[-1])
        return Lists(offsets, np.concatenate([self.flat(), other.flat()]))

    def equal(self, other: "Lists") -> Array:
        """Return which lists are equal; NaN equals NaN."""
        same: Array = self.sizes == other.sizes
        alike = np.flatnonzero(same)
        mine, theirs = self.take(alike), other.take(alike)
        a, b = mine.flat(), theirs.flat()
        differs = (a != b) & ((a == a) | (b == b))
        owner = np.repeat(alike, mine.sizes)
        same[owner[differs]] = False
        return same

    def tolist(self) -> list[list[Any]]:
        """Return Python lists."""
        flat, offsets = self.flat().tolist(), self.offsets.tolist()
        return [flat[low:high] for low, high in pairwise(offsets)]
