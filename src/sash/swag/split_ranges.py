"""Fold ranges that leave out a part in the middle: before it, the row itself or nothing, and after it.

All three parts move forward, so two windows slide, one before the gap and one after it, and a result is at most three
partials combined, oldest left.
"""

from typing import Any

from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, load
from sash.algebra.monoid import Monoid, combine, emit, lift
from sash.swag.contract import Algorithm, Answer, evict, insert, query

__all__ = ["over_split_ranges"]


@jitable
def _move(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Any, oldest: int, newest: int, start: int, end: int
) -> Any:
    """Move a window to [start, end); return its new oldest and newest row."""
    while oldest < start and oldest < newest:  # evict first: then room for the longest range suffices
        evict(algorithm, aggregate, state)
        oldest += 1
    if oldest < start:  # rows that no range covers are never inserted
        oldest = start
        newest = start
    while newest < end:
        insert(algorithm, aggregate, state, lift(aggregate, load(inputs, newest)))
        newest += 1
    return oldest, newest


@kernel
def _split_ranges(
    algorithm: Algorithm,
    aggregate: Monoid,
    before: Any,
    after: Any,
    inputs: Fields,
    starts: Any,
    ends: Any,
    out: Answer,
) -> None:
    results, presences = out
    first, first_end, last, last_end = 0, 0, 0, 0
    for row in range(starts.shape[1]):
        first, first_end = _move(algorithm, aggregate, before, inputs, first, first_end, starts[0, row], ends[0, row])
        last, last_end = _move(algorithm, aggregate, after, inputs, last, last_end, starts[2, row], ends[2, row])
        folded = query(algorithm, aggregate, before)
        if starts[1, row] < ends[1, row]:
            folded = combine(aggregate, folded, lift(aggregate, load(inputs, starts[1, row])))
        emit(aggregate, results, presences, row, combine(aggregate, folded, query(algorithm, aggregate, after)))


def over_split_ranges(
    algorithm: Algorithm, aggregate: Monoid, inputs: Fields, starts: Any, ends: Any, results: Fields, presences: Fields
) -> None:
    """Write the result of each frame of three parts, of which the middle has one row or none."""
    longest = (ends - starts).max(axis=1, initial=1)
    before, after = (algorithm.steps.start(aggregate, int(longest[k]), (int(longest[k]),)) for k in (0, 2))
    _split_ranges(algorithm, aggregate, before, after, inputs, starts, ends, (results, presences))
