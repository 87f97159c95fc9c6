"""Range modes: the most frequent value of ranges of rows that move forward, by a tournament of counters.

Idea      Number the distinct values in their order. A tree over the counters of the values holds the larger counter of
          each pair. From the root down, the larger side leads to the most frequent value; on ties, the left side: the
          smallest value.
Picture                    1: 3                 tree[1] is the largest counter
                   2: 2           3: 3          tree[n] = max(tree[2n], tree[2n + 1])
                4: 2   5: 0    6: 3   7: 3      leaves, from `room` on: how often each code occurs; the mode is code 2
Keeps     K1  tree[room + c] = how many rows of the range have code c
          K2  each inner node is the larger one of its two children
Costs     per row two changes, each O(log codes) at most; most stop after few nodes, where the larger one stays. Per
          result O(log codes). The size of the ranges does not matter.  Space: per row a code, per code two counters.
Needs     an order of values.  Order  first in, first out; any sizes, also empty ones.
"""

from typing import Any, TypeAlias

import numpy as np

from sash.algebra.compiler import jitable, kernel

__all__ = ["change", "check", "modes", "most_frequent", "room_for", "slide", "start"]

Array: TypeAlias = np.ndarray[Any, Any]
State: TypeAlias = tuple[Array, Array]

FIRST, END = range(2)  # the rows [first, end) of each part are in the range


@jitable
def room_for(codes: int) -> int:
    """Return the number of leaves for this many codes: a power of two."""
    room = 1
    while room < codes:
        room *= 2
    return room


def start(codes: int, parts: int = 1) -> State:
    """Return the state of empty ranges at row 0, for this many distinct values; a range may have several parts."""
    return np.zeros(2 * room_for(codes), np.int64), np.zeros((2, parts), np.int64)


def modes(codes: Array, distinct: int, starts: Array, ends: Array) -> Array:
    """Return the most frequent code of each range, on ties the smallest; -1 if there is none.

    Codes are numbers from 0 to `distinct`, without it; -1 is a null. Starts and ends never decrease. A range may have
    several parts that do not overlap: starts and ends then have a line for each part.

    >>> modes(np.array([1, 0, 1, -1]), 2, np.array([0, 0, 0, 3]), np.array([1, 2, 3, 4]))
    array([ 1,  0,  1, -1])
    """
    starts, ends = np.atleast_2d(starts), np.atleast_2d(ends)
    results = np.empty(starts.shape[1], np.int64)
    slide(start(distinct, len(starts)), codes, starts, ends, results)
    return results


@jitable
def change(tree: Any, room: int, code: int, step: int) -> None:
    """Add to the counter of a code."""
    node = room + code
    tree[node] += step
    while node > 1:
        node >>= 1
        largest = max(tree[2 * node], tree[2 * node + 1])
        if tree[node] == largest:
            break
        tree[node] = largest


@jitable
def most_frequent(tree: Any, room: int) -> int:
    """Return the code with the largest counter, the smallest such code; -1 if all counters are 0."""
    if tree[1] == 0:
        return -1
    node = 1
    while node < room:
        node *= 2
        node += int(tree[node] < tree[node + 1])
    return node - room


@kernel
def slide(state: Any, codes: Any, starts: Any, ends: Any, results: Any) -> None:
    """Move the parts of a range over ranges, and write the most frequent code of each."""
    tree, cursor = state
    room = len(tree) // 2
    for place in range(starts.shape[1]):
        for part in range(len(starts)):
            first, end = cursor[FIRST, part], cursor[END, part]
            low, high = starts[part, place], ends[part, place]
            while first < low and first < end:
                if codes[first] >= 0:
                    change(tree, room, codes[first], -1)
                first += 1
            if first < low:  # rows that no range covers never enter
                first = low
                end = low
            while end < high:
                if codes[end] >= 0:
                    change(tree, room, codes[end], 1)
                end += 1
            cursor[FIRST, part] = first
            cursor[END, part] = end
        results[place] = most_frequent(tree, room)


def check(state: State, codes: Array) -> None:
    """Assert the K-lines for the last result."""
    tree, cursor = state
    room = len(tree) // 2
    inside = [code for first, end in cursor.T.tolist() for code in codes[first:end].tolist() if code >= 0]
    assert tree[room:].tolist() == [inside.count(code) for code in range(room)], "K1"
    assert all(tree[node] == max(tree[2 * node], tree[2 * node + 1]) for node in range(1, room)), "K2"
