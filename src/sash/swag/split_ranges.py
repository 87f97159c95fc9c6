"""Fold ranges that leave out a part in the middle: before it, the row itself or nothing, and after it.

All three parts move forward, so SBA sweeps two ranges, one before the gap and one after it, and a result is at most
three partials combined, oldest left.
"""

from typing import Any

from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, load
from sash.algebra.monoid import Monoid, combine, emit, identity, lift
from sash.swag.contract import Answer
from sash.swag.sba import move_range, query_moved, range_scratch

__all__ = ["over_split_ranges"]


@kernel
def _split_ranges(
    aggregate: Monoid, before: Fields, after: Fields, inputs: Fields, starts: Any, ends: Any, out: Answer
) -> None:
    results, presences = out
    f, v, b = 0, 0, 0
    prefix = identity(aggregate)
    late_f, late_v, late_b = 0, 0, 0
    late_prefix = identity(aggregate)
    for row in range(starts.shape[1]):
        start, late = starts[0, row], starts[2, row]
        f, v, b, prefix = move_range(aggregate, inputs, before, f, v, b, prefix, start, ends[0, row])
        late_f, late_v, late_b, late_prefix = move_range(
            aggregate, inputs, after, late_f, late_v, late_b, late_prefix, late, ends[2, row]
        )
        # Combine, not merge: the partial can be the prefix itself, which must not change.
        folded = query_moved(aggregate, before, f, v, prefix, start)
        if starts[1, row] < ends[1, row]:
            folded = combine(aggregate, folded, lift(aggregate, load(inputs, starts[1, row])))
        rest = query_moved(aggregate, after, late_f, late_v, late_prefix, late)
        emit(aggregate, results, presences, row, combine(aggregate, folded, rest))


def over_split_ranges(
    aggregate: Monoid, inputs: Fields, starts: Any, ends: Any, results: Fields, presences: Fields
) -> None:
    """Write the result of each frame of three parts, of which the middle has one row or none."""
    longest = (ends - starts).max(axis=1, initial=1)
    before, after = (range_scratch(aggregate, int(longest[k])) for k in (0, 2))
    _split_ranges(aggregate, before, after, inputs, starts, ends, (results, presences))
