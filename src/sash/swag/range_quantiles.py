"""Range quantiles: exact quantiles over ranges of rows that move forward, one bit per row.

Idea      Rank the rows once, key by key: a row has a rank of its own, and ties have any order. Which ranks are in the
          range is a set of bits; a row that enters or leaves changes one bit. Each quantile has a cursor at its
          rank, and the cursor moves to a neighbouring member, one step per row that entered or left.
Picture     rows of key a           rows of key b
            [ . . x x x x . . )     [ . . . )                 x: in the range
            ranks  0 1 1 0 0 1 1 0   0 0 0                    bit r is set: the row with rank r is in the range
                     at ↑  below = bits set before bit `at`
Keeps     K1  bit r is set exactly if the row with rank r is in the range and not null
          K2  below[j] = how many bits are set before bit at[j], for each quantile j
Costs     The sort, then per row two changes of bits and, per quantile, amortised two steps of a cursor. The size of
          the ranges does not matter.  Space: per row a rank, a value and a bit.
Needs     an exact order statistic.  Order  first in, first out; any sizes, also empty ones.
From      A moving histogram with a remembered place (Huang, Yang, Tang. IEEE TASSP 1979), over ranks
          instead of grey levels.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from sash.algebra.compiler import kernel
from sash.algebra.holistic import interpolate
from sash.swag.bit_levels import Levels, add, check_levels, empty_levels, first_from, last_before, remove

__all__ = ["Ranking", "check", "quantiles", "rank", "slide", "start"]

Array: TypeAlias = np.ndarray[Any, Any]
State: TypeAlias = tuple[Levels, Array, Array, Array, Array]  # bits; `at` and `below` of each quantile; parts; count

# Keys with fewer rows on average are sorted together. Measured: a call of argsort for a key costs as much as sorting
# 100 rows.
_FEW = 256
FIRST, END = range(2)  # the rows [first, end) of each part are in the range; `count` of all are not null


@dataclass(frozen=True)
class Ranking:
    """The rank of each row, and the value at each rank, as float64."""

    ranks: Array
    values: Array


def rank(data: Array, begins: Array) -> Ranking:
    """Rank the values of each key: NaN is the largest; `begins` has the first row of each key, ascending from 0.

    >>> rank(np.array([3, 1, 2, 5, 4]), np.array([0, 3]))
    Ranking(ranks=array([2, 0, 1, 4, 3]), values=array([1., 2., 3., 4., 5.]))
    """
    rows = len(data)
    ranks, values = np.empty(rows, np.int64), np.empty(rows)
    numbers = np.ascontiguousarray(data, np.float64)
    if rows < _FEW * len(begins):
        keys = np.repeat(np.arange(len(begins)), np.diff(begins, append=rows))
        _rank_by_key(np.argsort(data), keys, begins.copy(), numbers, ranks, values)
    else:
        for begin, end in pairwise([*begins.tolist(), rows]):
            _rank_one_key(np.argsort(data[begin:end]), begin, numbers, ranks, values)
    return Ranking(ranks, values)


@kernel
def _rank_by_key(order: Any, keys: Any, following: Any, numbers: Any, ranks: Any, values: Any) -> None:
    """Give each row the following rank of its key; `order` has the rows by their values."""
    for place in range(len(order)):
        row = order[place]
        own = following[keys[row]]
        following[keys[row]] += 1
        ranks[row] = own
        values[own] = numbers[row] + 0.0  # -0.0 + 0.0 = 0.0


@kernel
def _rank_one_key(order: Any, begin: int, numbers: Any, ranks: Any, values: Any) -> None:
    """Give the rows from `begin` on their ranks; `order` has the rows of the key by their values."""
    for place in range(len(order)):
        row = begin + order[place]
        ranks[row] = begin + place
        values[begin + place] = numbers[row] + 0.0  # -0.0 + 0.0 = 0.0


def start(rows: int, shares: int, parts: int = 1) -> State:
    """Return the state of empty ranges at row 0, for `rows` rows and `shares` quantiles; a range may have parts."""
    at, below = np.zeros(shares, np.int64), np.zeros(shares, np.int64)
    return empty_levels(rows), at, below, np.zeros((2, parts), np.int64), np.zeros(1, np.int64)


def quantiles(ranking: Ranking, valid: Array, starts: Array, ends: Array, shares: Array) -> tuple[Array, Array]:
    """Return the interpolated quantiles of each range, a row of results per share, and which ranges have a value.

    A range [start, end) lies within one key; starts and ends never decrease. A range may have several parts that do
    not overlap: starts and ends then have a line for each part.

    >>> ranking = rank(np.array([3, 1, 2]), np.array([0]))
    >>> quantiles(ranking, np.ones(3, bool), np.array([0, 0, 3]), np.array([2, 3, 3]), np.array([0.5]))
    (array([[2., 2., 0.]]), array([ True,  True, False]))
    """
    starts, ends = np.atleast_2d(starts), np.atleast_2d(ends)
    results = np.zeros((len(shares), starts.shape[1]))
    presences = np.zeros(starts.shape[1], np.bool_)
    state = start(len(ranking.ranks), len(shares), len(starts))
    slide(state, ranking.ranks, ranking.values, valid, starts, ends, shares, results, presences)
    return results, presences


@kernel
def slide(
    state: Any, ranks: Any, values: Any, valid: Any, starts: Any, ends: Any, shares: Any, results: Any, presences: Any
) -> None:
    """Move the parts of a range over ranges, and write the quantiles of each."""
    bits, at, below, cursor, counted = state
    count = counted[0]
    for place in range(starts.shape[1]):
        for part in range(len(starts)):
            first, end = cursor[FIRST, part], cursor[END, part]
            low = starts[part, place]
            while first < low and first < end:
                if valid[first]:
                    old = ranks[first]
                    remove(bits, old)
                    count -= 1
                    for j in range(len(shares)):
                        below[j] -= old < at[j]
                first += 1
            if first < low:  # rows that no range covers never enter
                first = low
                end = low
            cursor[FIRST, part] = first
            cursor[END, part] = end
        # Rows leave all parts before others enter: with rows of two keys, `below` would count those of both.
        for part in range(len(starts)):
            end, high = cursor[END, part], ends[part, place]
            while end < high:
                if valid[end]:
                    new = ranks[end]
                    add(bits, new)
                    if count == 0:
                        # The range may have moved to another key, so the cursors move at once.
                        for j in range(len(shares)):
                            at[j] = new
                            below[j] = 0
                    else:
                        for j in range(len(shares)):
                            below[j] += new < at[j]
                    count += 1
                end += 1
            cursor[END, part] = end
        presences[place] = count > 0
        if count == 0:
            continue
        for j in range(len(shares)):
            exact = float(shares[j] * (count - 1))  # a Python float: NumPy warns of infinities
            wanted = int(exact)
            own, before = at[j], below[j]
            while before > wanted:
                own = last_before(bits, own)
                before -= 1
            own = first_from(bits, own)  # the row at the cursor may have left
            while before < wanted:
                own = first_from(bits, own + 1)
                before += 1
            at[j] = own
            below[j] = before
            value = float(values[own])
            share = exact - wanted
            if share > 0.0:
                value = interpolate(value, float(values[first_from(bits, own + 1)]), share)
            results[j, place] = value
    counted[0] = count


def check(state: State, ranks: Array, valid: Array) -> None:
    """Assert the K-lines."""
    bits, at, below, cursor, (count,) = state
    check_levels(bits)
    members = sorted(int(ranks[row]) for first, end in cursor.T.tolist() for row in range(first, end) if valid[row])
    found = [64 * place + bit for place, word in enumerate(bits[0].tolist()) for bit in range(64) if word >> bit & 1]
    assert found == members and count == len(members), "K1"
    for place, before in zip(at.tolist(), below.tolist(), strict=True):
        assert not members or before == sum(member < place for member in members), "K2"
