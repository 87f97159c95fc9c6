"""Range distinct: distinct values over ranges of rows that move forward, one counter per value.

Idea      Number the distinct values. Count for each how many rows of the range have it; a value is in the range while
          its counter is not 0. To list the values of a range, keep the codes in it as a set of bits.
Keeps     K1  counts[c] = how many rows of the range have code c
          K2  distinct = how many counters are not 0
          K3  the set has the codes whose counters are not 0
Costs     per row two changes of a counter. The size of the ranges does not matter, but a list takes a few
          nanoseconds per value.  Space: per row a code, per distinct value a counter and a bit.
Needs     equality of values.  Order  first in, first out; any sizes, also empty ones.
"""

from typing import Any, TypeAlias

import numpy as np

from sash.algebra.compiler import jitable, kernel
from sash.swag.bit_levels import Levels, add, check_levels, empty_levels, first_from, remove

__all__ = ["check", "codes_of", "distinct_counts", "list_codes", "slide", "slide_lists", "start"]

Array: TypeAlias = np.ndarray[Any, Any]
State: TypeAlias = tuple[Array, Levels, Array]  # counters, the set of codes (no words: none is kept), cursors

FIRST, END = range(2)  # the rows [first, end) of each part are in the range


def start(codes: int, parts: int = 1, has_set: bool = False) -> State:
    """Return the state of empty ranges at row 0, for this many distinct values; a range may have several parts."""
    none = np.zeros(0, np.uint64)
    levels = empty_levels(codes) if has_set else (none, none, none)
    return np.zeros(codes, np.int64), levels, np.zeros((2, parts), np.int64)


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


def list_codes(codes: Array, distinct: int, starts: Array, ends: Array, counts: Array, places: Array) -> Array:
    """Return the distinct codes of each range, ascending; the list of range k begins at places[k] and has counts[k].

    >>> codes, starts, ends = np.array([2, 0, 2, -1]), np.array([0, 0, 2]), np.array([1, 3, 4])
    >>> counts = distinct_counts(codes, 3, starts, ends)
    >>> list_codes(codes, 3, starts, ends, counts, np.array([0, 1, 3]))
    array([2, 0, 2, 2])
    """
    starts, ends = np.atleast_2d(starts), np.atleast_2d(ends)
    listed = np.empty(int(counts.sum()), np.int64)
    slide_lists(start(distinct, len(starts), has_set=True), codes, starts, ends, counts, places, listed)
    return listed


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


@jitable
def _move(counts: Any, levels: Any, codes: Any, cursor: Any, part: int, low: int, high: int, distinct: int) -> int:
    """Move a part of a range, and return how many values the range has now; without words, there is no set of bits."""
    has_set = len(levels[0]) > 0
    first, end = cursor[FIRST, part], cursor[END, part]
    while first < low and first < end:
        code = codes[first]
        if code >= 0:
            counts[code] -= 1
            if counts[code] == 0:
                distinct -= 1
                if has_set:
                    remove(levels, code)
        first += 1
    if first < low:  # rows that no range covers never enter
        first = low
        end = low
    while end < high:
        code = codes[end]
        if code >= 0:
            if counts[code] == 0:
                distinct += 1
                if has_set:
                    add(levels, code)
            counts[code] += 1
        end += 1
    cursor[FIRST, part] = first
    cursor[END, part] = end
    return distinct


@jitable
def _slide_whole(counts: Any, codes: Any, cursor: Any, starts: Any, ends: Any, distinct: int, results: Any) -> None:
    """Do the same for ranges of one part, without a set.

    Whether a row is the first or the last with its value is random, so it is added and not tested: the CPU would guess
    wrong every third time.
    """
    first, end = cursor[FIRST, 0], cursor[END, 0]
    for place in range(len(starts)):
        low, high = starts[place], ends[place]
        while first < low and first < end:
            code = codes[first]
            if code >= 0:
                left = counts[np.uint64(code)] - 1  # never negative: the compiler need not test for it
                counts[np.uint64(code)] = left
                distinct -= left == 0
            first += 1
        if first < low:  # rows that no range covers never enter
            first = low
            end = low
        while end < high:
            code = codes[end]
            if code >= 0:
                before = counts[np.uint64(code)]
                counts[np.uint64(code)] = before + 1
                distinct += before == 0
            end += 1
        results[place] = distinct
    cursor[FIRST, 0] = first
    cursor[END, 0] = end


@kernel
def slide(state: Any, codes: Any, starts: Any, ends: Any, results: Any) -> None:
    """Move the parts of a range over ranges, and write the distinct count of each."""
    counts, levels, cursor = state
    distinct = 0
    for code in range(len(counts)):
        distinct += counts[code] > 0
    if len(starts) == 1 and len(levels[0]) == 0:
        _slide_whole(counts, codes, cursor, starts[0], ends[0], distinct, results)
        return
    for place in range(starts.shape[1]):
        for part in range(len(starts)):
            distinct = _move(counts, levels, codes, cursor, part, starts[part, place], ends[part, place], distinct)
        results[place] = distinct


@kernel
def slide_lists(state: Any, codes: Any, starts: Any, ends: Any, sizes: Any, places: Any, listed: Any) -> None:
    """Move the parts of a range over ranges, and write the distinct codes of each; their number is known."""
    counts, levels, cursor = state
    for place in range(starts.shape[1]):
        for part in range(len(starts)):
            _move(counts, levels, codes, cursor, part, starts[part, place], ends[part, place], 0)
        code, at = -1, places[place]
        for k in range(sizes[place]):
            code = first_from(levels, code + 1)
            listed[at + k] = code


def check(state: State, codes: Array, distinct: int) -> None:
    """Assert the K-lines for the last result."""
    counts, levels, cursor = state
    inside = [code for first, end in cursor.T.tolist() for code in codes[first:end].tolist() if code >= 0]
    assert counts.tolist() == [inside.count(code) for code in range(len(counts))], "K1"
    assert distinct == len(set(inside)), "K2"
    if len(levels[0]):
        check_levels(levels)
        members = [code for code in range(len(counts)) if int(levels[0][code >> 6]) >> (code & 63) & 1]
        assert members == sorted(set(inside)), "K3"
