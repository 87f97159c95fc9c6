"""The M4 of a line of results: the first, last, smallest and largest result of each column of pixels.

Idea      A column of pixels is a window, and a block of 256 results is a slice: the smallest and the largest result
          of each block are computed once. A column folds whole blocks, and single results only at its two ends.
Picture     times    [ · · · · | · · · · | · · · · | · · )      sorted, ties by start
            blocks     low high  low high  low high              places of extremes, the first on ties
            column          └──── fold ────┘
Keeps     L1  times[:n] ascend, and equal times are in the order of their starts
          L2  low[b] is the first place of the smallest value of block b, and high[b] of the largest, for each block
              that has results
Costs     n log n to sort unordered results; a column of k results reads at most 512 of them and k / 256 blocks
From      Jugel, Jerzak, Hackenbroich, Markl. M4: A Visualization-Oriented Time Series Data Aggregation. PVLDB, 2014.
"""

from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from sash.algebra.compiler import kernel

__all__ = ["Line", "Replaces"]

BLOCK = 256
Array = np.ndarray[Any, Any]
Replaces = Literal["extent", "end", "overlap"]


class Line:
    """The results of one query, key and aggregate, by the end of their windows.

    >>> line = Line()
    >>> line.add(np.array([0.0, 10.0, 20.0]), np.array([10.0, 20.0, 30.0]), np.array([5.0, 1.0, 3.0]))
    >>> pixels, first, last, low, high = line.columns(np.array([10.0, 25.0, 40.0]))
    >>> pixels.tolist(), line.values[low].tolist(), line.values[high].tolist()
    ([0, 1], [1.0, 3.0], [5.0, 3.0])
    """

    def __init__(self, most: int = 10_000_000) -> None:
        self._most = most
        self._count = 0
        self._times, self._starts, self._values = (np.zeros(0) for _ in range(3))
        self._low, self._high = (np.zeros(0, np.int64) for _ in range(2))

    def __len__(self) -> int:
        return self._count

    @property
    def times(self) -> Array:
        """The ends of windows, ascending."""
        return self._times[: self._count]

    @property
    def starts(self) -> Array:
        """The starts of windows."""
        return self._starts[: self._count]

    @property
    def values(self) -> Array:
        """The results."""
        return self._values[: self._count]

    # --- changes -------------------------------------------------------------------------------------

    def add(self, starts: Array, ends: Array, values: Array, replaces: Replaces = "extent") -> None:
        """Add results, in the order of arrival; each replaces earlier ones of the same window, and NaN removes them.

        `replaces` says which windows are the same: with the same start and end ("extent"), with the same end ("end"),
        or any that overlap ("overlap"), as sessions do that grow.
        """
        if not len(ends):
            return
        befores = np.concatenate([self.times[-1:], ends[:-1]])
        afters = ends[len(ends) - len(befores) :]
        is_after = (afters > befores).all()
        if replaces == "overlap":
            is_after &= (starts[len(ends) - len(befores) :] >= befores).all()
        if is_after and not np.isnan(values).any():
            self._append(starts, ends, values)
        else:
            self._merge(starts, ends, values, replaces)
        if self._count > self._most:
            self._drop(self._count - self._most + self._most // 8)

    def _append(self, starts: Array, ends: Array, values: Array) -> None:
        before, self._count = self._count, self._count + len(ends)
        room = self._count if self._count <= len(self._times) else max(self._count, 2 * len(self._times), BLOCK)
        for name, new in (("_times", ends), ("_starts", starts), ("_values", values)):
            array = _with_room(getattr(self, name), room)
            array[before : self._count] = new
            setattr(self, name, array)
        self._update_blocks(before)

    def _merge(self, starts: Array, ends: Array, values: Array, replaces: Replaces) -> None:
        """Sort new results among the old ones that they can touch."""
        reach = starts.min() if replaces == "overlap" else ends.min()
        place = int(np.searchsorted(self.times, reach, side="left"))
        all_starts, all_ends, all_values = (
            np.concatenate([old[place:], new])
            for old, new in ((self.starts, starts), (self.times, ends), (self.values, values))
        )
        order = np.lexsort((all_starts, all_ends))  # stable: of equal edges, the newest is last
        kept = order[_is_last(all_ends[order], all_starts[order] if replaces != "end" else None, order)]
        if replaces == "overlap":
            kept = kept[~_overlapped(all_starts[kept], all_ends[kept], kept)]
        kept = kept[~np.isnan(all_values[kept])]
        self._count = place
        self._update_blocks(place)
        self._append(all_starts[kept], all_ends[kept], all_values[kept])

    def _drop(self, oldest: int) -> None:
        count = self._count - oldest
        for name in ("_times", "_starts", "_values"):
            setattr(self, name, getattr(self, name)[oldest : self._count].copy())
        self._count = count
        self._update_blocks(0)

    def _update_blocks(self, since: int) -> None:
        blocks = -(-self._count // BLOCK)
        if blocks > len(self._low):
            self._low, self._high = (_with_room(each, 2 * blocks) for each in (self._low, self._high))
        if blocks:
            find_extremes(self.values, since // BLOCK, self._low, self._high)

    # --- questions -----------------------------------------------------------------------------------

    def columns(self, edges: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return the columns of pixels with results: their numbers, and the places of first, last, min and max.

        Column i has the results with edges[i] ≤ end < edges[i + 1]; the last column has those at its end, too.
        """
        places = np.searchsorted(self.times, edges, side="left")
        places[-1] = np.searchsorted(self.times, edges[-1], side="right")
        pixels = np.flatnonzero(places[1:] > places[:-1])
        first, until = places[:-1][pixels], places[1:][pixels]
        low, high = np.empty(len(pixels), np.int64), np.empty(len(pixels), np.int64)
        if len(pixels):
            fold_columns(self.values, self._low, self._high, first, until, low, high)
        return pixels, first, until - 1, low, high


def _with_room(array: Array, size: int) -> Array:
    if len(array) >= size:
        return array
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger


def _is_last(ends: Array, starts: Array | None, arrival: Array) -> Array:
    """Return which of sorted windows are the newest with their end, and with their start, if starts are given."""
    is_other = ends[1:] != ends[:-1]
    if starts is not None:
        return np.concatenate([is_other | (starts[1:] != starts[:-1]), [True]])
    groups = np.concatenate([[0], np.cumsum(is_other)])
    newest = np.zeros(groups[-1] + 1, np.int64)
    np.maximum.at(newest, groups, arrival)
    return np.asarray(newest[groups] == arrival)


def _overlapped(starts: Array, ends: Array, arrival: Array) -> Array:
    """Return which windows overlap one that arrived later."""
    found = np.zeros(len(ends), np.bool_)
    order = np.argsort(starts, kind="stable")
    touches = starts[order][1:] < np.maximum.accumulate(ends[order])[:-1]
    is_involved = np.concatenate([touches, [False]]) | np.concatenate([[False], touches])
    involved = order[is_involved]
    later: list[tuple[float, float]] = []  # the union of windows that arrived later, ascending
    for place in involved[np.argsort(-arrival[involved], kind="stable")].tolist():  # the newest first
        start, end = float(starts[place]), float(ends[place])
        begin = bisect_left(later, start, key=itemgetter(1))
        until = bisect_right(later, end, key=itemgetter(0))
        touched = later[begin:until]
        found[place] = any(a < end and start < b for a, b in touched)
        later[begin:until] = [(min([start, *(a for a, _ in touched)]), max([end, *(b for _, b in touched)]))]
    return found


@kernel
def find_extremes(values: Any, since: Any, low: Any, high: Any) -> None:
    """Find the extremes of each block from number `since` on (L2)."""
    for block in range(since, (len(values) + BLOCK - 1) // BLOCK):
        begin = block * BLOCK
        least = most = begin
        for place in range(begin + 1, min(begin + BLOCK, len(values))):
            if values[place] < values[least]:
                least = place
            if values[place] > values[most]:
                most = place
        low[block] = least
        high[block] = most


@kernel
def fold_columns(values: Any, low: Any, high: Any, first: Any, until: Any, least_at: Any, most_at: Any) -> None:
    """Find the places of the extremes of each column [first, until), which is not empty."""
    for column in range(len(first)):
        place, end = first[column], until[column]
        least = most = place
        while place < end:
            if place % BLOCK == 0 and place + BLOCK <= end:
                below, above = low[place // BLOCK], high[place // BLOCK]
                place += BLOCK
            else:
                below = above = place
                place += 1
            if values[below] < values[least]:
                least = below
            if values[above] > values[most]:
                most = above
        least_at[column] = least
        most_at[column] = most
