"""The loops that slide any algorithm over its input: over rows, over ranges, over several sizes."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.compiler import bound_kernel, kernel
from sash.algebra.fields import Fields, length, load, store
from sash.algebra.monoid import Monoid, combine, emit, identity, lift
from sash.swag.contract import Algorithm, Answer, evict, insert, query, query_each, sweep, sweep_ranges

__all__ = ["PIECE", "cores", "fold_fragments", "over_ranges", "over_rows", "over_sizes", "places_of"]

# The rows per thread at least. Measured (max, 16 rows): two threads take 1.2 times as long as one for 2¹⁹ rows in all,
# and 0.6 times as long for 2²⁰.
PIECE = 1 << 19
# The bytes of partials per thread at least: a second thread costs half a millisecond, and wide partials take longer.
RANGE_BYTES = 1 << 21

LINE = 8  # results in a line of the cache


def cores() -> int:
    """Return how many threads this process may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- the loops -----------------------------------------------------------------------------------


@kernel
def _rows(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Fields, size: int, begin: int, end: int, out: Answer
) -> None:
    results, presences = out
    first = max(0, begin - size + 1)
    for row in range(first, begin):
        insert(algorithm, aggregate, state, lift(aggregate, load(inputs, row)))
    for row in range(begin, end):
        if row - first >= size:
            evict(algorithm, aggregate, state)
        insert(algorithm, aggregate, state, lift(aggregate, load(inputs, row)))
        emit(aggregate, results, presences, row, query(algorithm, aggregate, state))


@kernel
def _sweep_kernel(
    algorithm: Algorithm, aggregate: Monoid, inputs: Fields, size: int, begin: int, end: int, scratch: Any, out: Answer
) -> None:
    sweep(algorithm, aggregate, inputs, size, begin, end, scratch, out)


@kernel
def _ranges(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Fields, starts: Any, ends: Any, out: Answer
) -> None:
    results, presences = out
    oldest, newest = 0, 0
    for place in range(len(starts)):
        # Evict first: only in this order does room for the longest range suffice.
        while oldest < starts[place] and oldest < newest:
            evict(algorithm, aggregate, state)
            oldest += 1
        if oldest < starts[place]:  # rows that no range covers are never inserted
            oldest = starts[place]
            newest = starts[place]
        while newest < ends[place]:
            insert(algorithm, aggregate, state, lift(aggregate, load(inputs, newest)))
            newest += 1
        emit(aggregate, results, presences, place, query(algorithm, aggregate, state))


@kernel
def _sweep_ranges_kernel(
    algorithm: Algorithm,
    aggregate: Monoid,
    inputs: Fields,
    starts: Any,
    ends: Any,
    before: int,
    scratch: Any,
    out: Answer,
) -> None:
    sweep_ranges(algorithm, aggregate, inputs, starts, ends, before, scratch, out)


@kernel
def _sizes(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Fields, sizes: Any, work: Any, out: Answer
) -> None:
    results, presences = out
    counts, answers, places = work
    rows = length(inputs)
    for row in range(rows):
        if row >= sizes[0]:
            evict(algorithm, aggregate, state)
        insert(algorithm, aggregate, state, lift(aggregate, load(inputs, row)))
        for k in range(len(sizes)):
            counts[k] = min(sizes[k], row + 1)
        query_each(algorithm, aggregate, state, counts, answers)
        for k in range(len(sizes)):
            emit(aggregate, results, presences, places[k] + row, load(answers, k))


@kernel
def _fragments(aggregate: Monoid, inputs: Fields, edges: Any, partials: Fields) -> None:
    for place in range(len(edges) - 1):
        folded = identity(aggregate)
        for row in range(edges[place], edges[place + 1]):
            folded = combine(aggregate, folded, lift(aggregate, load(inputs, row)))
        store(partials, place, folded)


# --- entry points --------------------------------------------------------------------------------


def over_rows(
    algorithm: Algorithm,
    aggregate: Monoid,
    inputs: Fields,
    size: int,
    results: Fields,
    presences: Fields,
    threads: int | None = None,
) -> None:
    """Write the result at every row for its `size` newest rows; use several threads if that is faster."""
    rows = length(inputs)
    size = min(size, rows)
    if algorithm.has_step("run"):
        algorithm.steps.run(aggregate, inputs, size, (results, presences))
        return

    def sweep_rows(algorithm: Algorithm, begin: int, end: int) -> Any:
        scratch = algorithm.steps.scratch(aggregate, size)
        bound_kernel(_sweep_kernel, algorithm, aggregate)(inputs, size, begin, end, scratch, (results, presences))
        return scratch

    def run(begin: int, end: int) -> None:
        if algorithm.has_step("sweep"):
            scratch = sweep_rows(algorithm, begin, end)
            if algorithm.has_step("unfinished"):
                for first, last in algorithm.steps.unfinished(scratch):
                    sweep_rows(algorithm.steps.INSTEAD, first, last)
        else:
            state = algorithm.steps.start(aggregate, size, (size,))
            _rows(algorithm, aggregate, state, inputs, size, begin, end, (results, presences))

    compiled = algorithm.is_compiled and aggregate.is_compiled
    if threads is not None:
        threads = min(threads, rows)
    else:  # each thread also reads the `size` rows before its own, so short pieces do not pay
        threads = max(1, min(cores(), rows // max(PIECE, 4 * size))) if compiled else 1
    _in_threads(run, [rows * k // threads for k in range(threads + 1)])


def _in_threads(run: Callable[[int, int], None], cuts: Sequence[int]) -> None:
    """Run each part between two cuts on a thread of its own, the first one on this thread."""
    first, *others = [(begin, end) for begin, end in pairwise(cuts) if begin < end]
    if not others:
        run(*first)
        return
    with ThreadPoolExecutor(len(others)) as pool:
        waiting = [pool.submit(run, *part) for part in others]
        run(*first)
        for each in waiting:
            each.result()


def over_ranges(
    algorithm: Algorithm,
    aggregate: Monoid,
    inputs: Fields,
    starts: Any,
    ends: Any,
    results: Fields,
    presences: Fields,
    threads: int | None = None,
) -> None:
    """Write the result of each range [start, end); starts and ends must never decrease.

    Several threads sweep the ranges in parts, if there are many; the combines are the same.
    """
    longest = max(1, int((ends - starts).max(initial=1)))
    if not algorithm.has_step("sweep_ranges"):
        state = algorithm.steps.start(aggregate, longest, (longest,))
        _ranges(algorithm, aggregate, state, inputs, starts, ends, (results, presences))
        return

    def run(begin: int, end: int) -> None:
        scratch, part = algorithm.steps.range_scratch(aggregate, longest), slice(begin, end)
        before = int(ends[begin - 1]) if begin else 0
        out = tuple(tuple(each[part] for each in group) for group in (results, presences))
        sweep = bound_kernel(_sweep_ranges_kernel, algorithm, aggregate)
        sweep(inputs, starts[part], ends[part], before, scratch, out)

    ranges = len(starts)
    if threads is None:
        width = sum(each.dtype.itemsize * each.width for each in aggregate.fields)
        threads = max(1, min(cores(), ranges * width // RANGE_BYTES))
    if threads == 1 or not (algorithm.is_compiled and aggregate.is_compiled):
        scratch = algorithm.steps.range_scratch(aggregate, longest)
        _sweep_ranges_kernel(algorithm, aggregate, inputs, starts, ends, 0, scratch, (results, presences))
        return
    cuts = algorithm.steps.range_cuts(starts, ends, [ranges * k // threads for k in range(1, threads)])
    _in_threads(run, [0, *cuts.tolist(), ranges])


def over_sizes(
    algorithm: Algorithm,
    aggregate: Monoid,
    inputs: Fields,
    sizes: tuple[int, ...],
    places: Any,
    results: Fields,
    presences: Fields,
) -> None:
    """Write the results for many sizes in one pass, those of each size from its place on; sizes descend."""
    state = algorithm.steps.start(aggregate, sizes[0], sizes)
    work = np.zeros(len(sizes), np.int64), aggregate.allocate(len(sizes)), places
    _sizes(algorithm, aggregate, state, inputs, np.array(sizes), work, (results, presences))


def places_of(counts: Sequence[int]) -> Any:
    """Return where the results of each of many queries begin, and the room for all of them.

    The results of a row are far apart. With an odd number of cache lines between them, they spread over all sets of the
    cache, also if the number of rows is a power of two (decision 62).

    >>> places_of([16, 5, 24])
    array([ 0, 24, 32, 56])
    """
    return np.concatenate([[0], np.cumsum([LINE * (-(-count // LINE) | 1) for count in counts])])


def fold_fragments(aggregate: Monoid, inputs: Fields, edges: Any) -> Fields:
    """Return the partial of the rows between each two neighbouring edges."""
    partials = aggregate.allocate(len(edges) - 1)
    _fragments(aggregate, inputs, edges, partials)
    return partials
