"""The plan that queries with different ranges and slides share: where slices end, and what is answered there.

The pattern of slices and answers repeats after the composite slide, the least common multiple of all slides
(Krishnamurthy, Wu, Franklin, SIGMOD 2006; Shein, Chrysanthis, Labrinidis, EDBT 2018, section 2.3). The plan holds one
composite slide, or the rows that there are if these are fewer.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from sash.errors import UnknownName

__all__ = ["SLICES", "SharedPlan", "share"]

Array: TypeAlias = np.ndarray[Any, Any]
Query: TypeAlias = tuple[int, int]  # range and slide, in rows
Steps: TypeAlias = set[tuple[int, int]]  # slices end at all multiples of the first number, plus the second


@dataclass(frozen=True)
class SharedPlan:
    """What happens in one composite slide, at its moments: a slice ends, queries are answered, or both."""

    length: int  # rows of the composite slide
    at: Array  # moment → its row, in (0, length]
    is_edge: Array  # moment → whether a slice ends there
    begins: Array  # moment → the first of its answers; one entry more, for the end of the last
    queries: Array  # answer → the query
    ranges: Array  # answer → the number of its range: distinct ranges are numbered, the longest first
    counts: Array  # answer → slices that have ended since its window began; they descend within a moment
    sizes: tuple[int, ...]  # range → slices at most

    @property
    def slices(self) -> int:
        """The number of slices in a composite slide."""
        return int(self.is_edge.sum())

    @property
    def longest(self) -> int:
        """The number of slices that must be kept."""
        return max(1, *self.sizes)


def _panes(size: int, slide: int) -> Steps:
    """Slices of one length, which divides the range and the slide (Li et al., SIGMOD Record 2005)."""
    return {(math.gcd(size, slide), 0)}


def _pairs(size: int, slide: int) -> Steps:
    """At most two slices per slide: windows end at the one, and start at the other (Krishnamurthy et al., 2006)."""
    return {(slide, 0), (slide, -size % slide)}


def _cutty(size: int, slide: int) -> Steps:
    """Slices end where windows start; the open slice is read where windows end (Carbone et al., CIKM 2016)."""
    return {(slide, -size % slide)}


SLICES: Mapping[str, Callable[[int, int], Steps]] = MappingProxyType(
    {"panes": _panes, "pairs": _pairs, "cutty": _cutty}
)


def share(queries: Sequence[Query], slices: str, rows: int) -> SharedPlan:
    """Return the plan for queries (range, slide) over so many rows; a window ends at each multiple of its slide."""
    if not isinstance(slices, str) or slices not in SLICES:
        raise UnknownName.of("way to slice", slices, SLICES)
    length = min(math.lcm(*(slide for _, slide in queries)), max(1, rows))
    before = max(size for size, _ in queries)  # rows before the composite slide that a window can hold
    is_edge = np.zeros(before + length + 1, np.bool_)  # by position + before
    for step, phase in set().union(*(SLICES[slices](size, slide) for size, slide in queries)):
        is_edge[(before + phase) % step :: step] = True
    is_end = np.zeros(length + 1, np.bool_)
    for slide in {slide for _, slide in queries}:
        is_end[::slide] = True
    is_moment = is_edge[before:] | is_end
    is_moment[0] = False
    at = np.flatnonzero(is_moment)
    edges, moments = np.cumsum(is_edge), np.cumsum(is_moment) - 1

    lengths = sorted({size for size, _ in queries}, reverse=True)
    of_length = {size: number for number, size in enumerate(lengths)}
    # Longer ranges first: a finisher that walks from its oldest slice meets their starts in this order.
    order = sorted(range(len(queries)), key=lambda k: -queries[k][0])
    ends = [np.arange(slide, length + 1, slide) for _, slide in (queries[k] for k in order)]
    counts: list[Array] = [
        edges[before + end] - edges[before + end - queries[k][0]] for k, end in zip(order, ends, strict=True)
    ]
    sizes = [0] * len(lengths)
    for k, count in zip(order, counts, strict=True):
        number = of_length[queries[k][0]]
        sizes[number] = max(sizes[number], int(count.max(initial=0)))
    moment = moments[np.concatenate(ends)]
    sorted_answers = np.argsort(moment, kind="stable")
    repeats = [len(end) for end in ends]
    numbers = [of_length[queries[k][0]] for k in order]
    return SharedPlan(
        length=length,
        at=at,
        is_edge=is_edge[before + at],
        begins=np.searchsorted(moment[sorted_answers], np.arange(len(at) + 1)),
        queries=np.repeat(np.array(order), repeats)[sorted_answers],
        ranges=np.repeat(np.array(numbers), repeats)[sorted_answers],
        counts=np.concatenate(counts)[sorted_answers],
        sizes=tuple(sizes),
    )
