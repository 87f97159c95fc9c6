"""A set of ranks as bits in three levels: the next and the previous member are a few words away.

Picture     top      [ 1 . . 1 … ]                              bit k: word k of the middle level is not 0
            middle   [ 1 1 . . … | 0 | 0 | . . 1 . … ]          bit k: word k of the lowest level is not 0
            lowest   [ 0 1 0 … | 0 1 … | 0 … ]                  bit r: rank r is in the set
Keeps     L1  a bit above the lowest level is set exactly if the word that it stands for is not 0
Costs     Adding and removing change at most three words. A search reads at most five words, and for sets of more
          than 2¹⁸ ranks one more per 2¹⁸ ranks between two members.
"""

from typing import Any, TypeAlias

import numpy as np

from sash.algebra.compiler import compiled_reading, jitable
from sash.algebra.numba_parts import HAS_PARTS, count_leading_zeros, count_trailing_zeros

__all__ = ["Levels", "add", "check_levels", "empty_levels", "first_from", "highest", "last_before", "lowest", "remove"]

Levels: TypeAlias = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]


def empty_levels(ranks: int) -> Levels:
    """Return an empty set with room for ranks below `ranks`."""
    words = [(ranks >> bits) + 1 for bits in (6, 12, 18)]
    return np.zeros(words[0], np.uint64), np.zeros(words[1], np.uint64), np.zeros(words[2], np.uint64)


def check_levels(levels: Levels) -> None:
    """Assert the L-line."""
    for lower, upper in ((levels[0], levels[1]), (levels[1], levels[2])):
        for place, word in enumerate(lower.tolist()):
            assert (int(upper[place >> 6]) >> (place & 63) & 1) == (word != 0), "L1"


def lowest(word: Any) -> int:
    """Return the place of the lowest set bit."""
    return (int(word) & -int(word)).bit_length() - 1


def highest(word: Any) -> int:
    """Return the place of the highest set bit."""
    return int(word).bit_length() - 1


@jitable
def _highest_by_halves(word: Any) -> Any:
    """Return the place of the highest set bit, by halves of the word."""
    rest, place = np.uint64(word), np.int64(0)
    for bits in (32, 16, 8, 4, 2, 1):
        upper = rest >> np.uint64(bits)
        if upper != np.uint64(0):
            rest, place = upper, place + bits
    return place


if HAS_PARTS:
    compiled_reading(lowest)(lambda word: lambda word: count_trailing_zeros(word))
    compiled_reading(highest)(lambda word: lambda word: np.int64(63) - count_leading_zeros(word))
else:
    compiled_reading(lowest)(lambda word: lambda word: _highest_by_halves(word & (~word + np.uint64(1))))
    compiled_reading(highest)(lambda word: lambda word: _highest_by_halves(word))


@jitable
def _bit(place: int) -> Any:
    return np.uint64(1) << np.uint64(place & 63)


@jitable
def add(levels: Any, rank: int) -> None:
    """Add a rank."""
    words, middle, top = levels
    words[rank >> 6] |= _bit(rank)
    middle[rank >> 12] |= _bit(rank >> 6)
    top[rank >> 18] |= _bit(rank >> 12)


@jitable
def remove(levels: Any, rank: int) -> None:
    """Remove a rank."""
    words, middle, top = levels
    words[rank >> 6] &= ~_bit(rank)
    if words[rank >> 6] == 0:
        middle[rank >> 12] &= ~_bit(rank >> 6)
        if middle[rank >> 12] == 0:
            top[rank >> 18] &= ~_bit(rank >> 12)


@jitable
def first_from(levels: Any, rank: int) -> int:
    """Return the first member at or after a rank; there must be one."""
    words, middle, top = levels
    word = words[rank >> 6] >> np.uint64(rank & 63)
    if word != 0:
        return rank + int(lowest(word))
    place = (rank >> 6) + 1  # not after the word of the member that must exist, so within the arrays
    word = middle[place >> 6] >> np.uint64(place & 63)
    if word != 0:
        place += int(lowest(word))
        return (place << 6) + int(lowest(words[place]))
    block = (place >> 6) + 1
    at = block >> 6
    word = top[at] & ~(_bit(block) - np.uint64(1))
    while word == 0:
        at += 1
        word = top[at]
    block = (at << 6) + int(lowest(word))
    place = (block << 6) + int(lowest(middle[block]))
    return (place << 6) + int(lowest(words[place]))


@jitable
def last_before(levels: Any, rank: int) -> int:
    """Return the last member before a rank; there must be one."""
    words, middle, top = levels
    place = rank >> 6
    word = words[place] & (_bit(rank) - np.uint64(1))
    if word != 0:
        return (place << 6) + int(highest(word))
    block = place >> 6
    word = middle[block] & (_bit(place) - np.uint64(1))
    if word == 0:
        at = block >> 6
        word = top[at] & (_bit(block) - np.uint64(1))
        while word == 0:
            at -= 1
            word = top[at]
        block = (at << 6) + int(highest(word))
        word = middle[block]
    place = (block << 6) + int(highest(word))
    return (place << 6) + int(highest(words[place]))
