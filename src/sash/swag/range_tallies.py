"""Range tallies: sketches over ranges of rows that move forward, one partial that rows enter and leave.

Idea      A row sets few of the numbers of a sketch. Count for each how many rows of the range have set it: then a row
          can leave again. A row that enters or leaves changes its own counters, in place, and no partials are combined.
Picture     hyperloglog   registers  [ 3 | 0 | 1 )    counters  [ rank 1: 2 | rank 2: 0 | rank 3: 1 ) [ … ) [ … )
                          the register is the largest rank whose counter is not 0
Keeps     K1  the partial has the fields of the fold of the rows of the range, then counters
          K2  a counter is the number of rows of the range that have set what it counts
Costs     per row one `absorb` and one `release`, and per result one `lower`. The size of the ranges does not matter.
          Space: one partial, and its counters.
Needs     a commutative aggregate whose components have a `tally`.  Order  first in, first out; any sizes, also empty.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, load
from sash.algebra.monoid import Column, Monoid, Parts, absorb, borrow, emit, release
from sash.algebra.union import unite
from sash.swag.contract import Answer, identities

__all__ = ["check", "over_tallies", "tally_of"]

FIRST, END = range(2)  # the rows [first, end) of each part are in the range


def tally_of(name: str, parts: Parts, columns: tuple[Column, ...]) -> Monoid | None:
    """Return the monoid of an aggregate that rows can enter and leave; None if there is none."""
    if not any(each.tally for each in parts.components):
        return None
    kept = tuple(each if each.tally is None else replace(each.tally, inputs=each.inputs) for each in parts.components)
    monoid = replace(unite({name: replace(parts, components=kept)}, columns), name="tally")
    return monoid if monoid.absorb is not None and monoid.release is not None else None


def over_tallies(
    aggregate: Monoid, inputs: Fields, starts: Any, ends: Any, results: Fields, presences: Fields
) -> tuple[Any, Any]:
    """Write the result of each range, and return the last state.

    Starts and ends never decrease. A range may have several parts that do not overlap: starts and ends have a line for
    each part.
    """
    state = identities(aggregate, 1), np.zeros((2, len(starts)), np.int64)
    _slide(aggregate, state, inputs, starts, ends, (results, presences))
    return state


@kernel
def _slide(aggregate: Monoid, state: Any, inputs: Fields, starts: Any, ends: Any, out: Answer) -> None:
    partial, cursor = state
    results, presences = out
    for place in range(starts.shape[1]):
        for part in range(len(starts)):
            first, end = cursor[FIRST, part], cursor[END, part]
            low, high = starts[part, place], ends[part, place]
            while first < low and first < end:
                release(aggregate, partial, 0, load(inputs, first))
                first += 1
            if first < low:  # rows that no range covers never enter
                first = low
                end = low
            while end < high:
                absorb(aggregate, partial, 0, load(inputs, end))
                end += 1
            cursor[FIRST, part] = first
            cursor[END, part] = end
        emit(aggregate, results, presences, place, borrow(aggregate, partial, 0))


def check(aggregate: Monoid, state: Any, rows: list[tuple[Any, ...]]) -> None:
    """Assert the K-lines for the last result: `rows` are those of the last range."""
    anew = identities(aggregate, 1)
    for row in rows:
        absorb(aggregate, anew, 0, row)
    for kept, counted in zip(state[0], anew, strict=True):
        assert np.array_equal(kept[0], counted[0]), "K1, K2"
