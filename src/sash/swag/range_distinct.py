"""Range distinct: distinct values over ranges of rows that move forward, one counter per value.

Idea      Number the distinct values. Count for each how many rows of the range have it; a value is in the range while
          its counter is not 0.
Keeps     K1  counts[c] = how many rows of the range have code c
          K2  distinct = how many counters are not 0
Costs     per row two changes of a counter. The size of the ranges does not matter.  Space: per row a code, per
          distinct value a counter.
Needs     equality of values.  Order  first in, first out; any sizes, also empty ones.
"""

from typing import Any, TypeAlias

import numpy as np

from sash.algebra.compiler import kernel

__all__ = ["check", "codes_of", "distinct_counts", "slide", "start"]

Array: TypeAlias = np.ndarray[Any, Any]
State: TypeAlias = tuple[Array, Array]

FIRST, END = range(2)  # the rows [first, end) of each part are in the range


def start(codes: int, parts: int = 1) -> State:
    """Return the state of empty ranges at row 0, for this many distinct values; a range may have several parts."""
    return np.zeros(codes, np.int64), np.zeros((2, parts), np.int64)


def distinct_counts(codes: Array, distinct: int, starts: Array, ends: Array) -> Array:
    """Return how many distinct values each range has.

    Codes are numbers from 0 to `distinct`, without it; -1 is a null. Starts and ends never decrease. A range may have
    several parts that do not overlap: starts and ends then have a line for each part.

    >>> distinct_counts(np.array([0, 1, 0, -1]), 2, np.array([0, 0, 2, 3]), np.array([1, 3, 4, 4]))
    array([1, 2, 1, 0])
    """
    starts, ends = np.atleast_2d(starts), np.atleast_2d(ends)
    results = np.empty(starts.shape[1], np.int64)
    slide(start(distinct, len(starts)), codes, starts, ends, results)
    return results


def codes_of(data: Any, valid: Array) -> tuple[Array, int]:
    """Return a code per value of an array of numbers or a list of objects, -1 for nulls, and how many codes there are.

    >>> codes_of(["b", None, "a", "b"], np.array([True, False, True, True]))
    (array([ 0, -1,  1,  0]), 2)
    """
    if isinstance(data, np.ndarray):
        values, codes = np.unique(data, return_inverse=True)  # NaN equals NaN, and -0.0 equals 0.0
        return np.where(valid, codes, -1), len(values)
    table: dict[Any, int] = {}
    known = zip(data, valid.tolist(), strict=True)
    return np.array(
        [table.setdefault(value, len(table)) if is_valid else -1 for value, is_valid in known], np.int64
    ), len(table)


@kernel
def slide(state: Any, codes: Any, starts: Any, ends: Any, results: Any) -> None:
    """Move the parts of a range over ranges, and write the distinct count of each."""
    counts, cursor = state
    distinct = 0
    for code in range(len(counts)):
        distinct += counts[code] > 0
    for place in range(starts.shape[1]):
        for part in range(len(starts)):
            first, end = cursor[FIRST, part], cursor[END, part]
            low, high = starts[part, place], ends[part, place]
            while first < low and first < end:
                code = codes[first]
                if code >= 0:
                    counts[code] -= 1
                    distinct -= counts[code] == 0
                first += 1
            if first < low:  # rows that no range covers never enter
                first = low
                end = low
            while end < high:
                code = codes[end]
                if code >= 0:
                    distinct += counts[code] == 0
                    counts[code] += 1
                end += 1
            cursor[FIRST, part] = first
            cursor[END, part] = end
        results[place] = distinct


def check(state: State, codes: Array, distinct: int) -> None:
    """Assert the K-lines for the last result."""
    counts, cursor = state
    inside = [code for first, end in cursor.T.tolist() for code in codes[first:end].tolist() if code >= 0]
    assert counts.tolist() == [inside.count(code) for code in range(len(counts))], "K1"
    assert distinct == len(set(inside)), "K2"
