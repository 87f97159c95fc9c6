"""Sums of shifted values: rows less a row near their mean, added up in blocks, for `shifted`.

A row that is null adds nothing. A difference that is NaN, or a sum that overflows, makes all sums of its window
NaN or infinite, so that `shifted` does not use them.
"""

import math
from typing import Any

import numpy as np
from numba import types

from sash.algebra.compiler import compiled_reading, jitable
from sash.algebra.fields import Fields

__all__ = [
    "add_up",
    "add_up_chunks",
    "add_up_short",
    "count_between",
    "count_rows",
    "find_pivot",
    "shift",
    "sweep_back",
]


# --- the value near the mean ---------------------------------------------------------------------


@jitable
def find_pivot(inputs: Fields, start: int, end: int) -> Any:
    """Return the middle one of the first, the middle and the last value; of those that are null or NaN, the next."""
    start = max(start, 0)
    a = _value_from(inputs, start, end)
    b = _value_from(inputs, (start + end) // 2, end)
    c = _value_from(inputs, end - 1, end)
    return max(min(a, b), min(max(a, b), c))


@jitable
def _value_from(inputs: Fields, row: int, end: int) -> Any:
    data = inputs[0]
    while row < end - 1 and not (_is_valid(inputs, row) and data[row] == data[row]):
        row += 1
    return data[row]


def _is_valid(inputs: Fields, row: Any) -> Any:
    return len(inputs) == 1 or inputs[1][row]


@compiled_reading(_is_valid)
def _compiled_is_valid(inputs: Any, row: Any) -> Any:
    if len(inputs) == 1:
        return lambda inputs, row: True
    return lambda inputs, row: inputs[1][row]


def _difference(x: Any, pivot: Any) -> float:
    """Return x - pivot, rounded once; NaN if a difference of integers exceeds 64 bits."""
    return float(x - pivot)


@compiled_reading(_difference)
def _compiled_difference(x: Any, pivot: Any) -> Any:
    if isinstance(x, types.Integer) and x.bitwidth == 64:
        return _signed_difference if x.signed else _unsigned_difference
    return lambda x, pivot: x * 1.0 - pivot * 1.0


@jitable
def _signed_difference(x: Any, pivot: Any) -> float:
    difference = x - pivot
    wraps = ((x ^ pivot) & (x ^ difference)) < 0
    return math.nan if wraps else float(difference)


@jitable
def _unsigned_difference(x: Any, pivot: Any) -> float:
    return float(x - pivot) if x >= pivot else -float(pivot - x)


@jitable
def shift(inputs: Fields, start: int, rows: int, pivot: Any, shifted: Any) -> None:
    """Write the differences of rows and the pivot; 0 for nulls and for rows before the first one."""
    data = inputs[0]
    missing = max(0, -start)
    for i in range(missing):
        shifted[i] = 0.0
    for i in range(missing, rows):
        row = np.uint64(start + i)  # never negative: the compiler need not test for it
        y = _difference(data[row], pivot)
        shifted[np.uint64(i)] = y if _is_valid(inputs, row) else 0.0


# --- sums ----------------------------------------------------------------------------------------


@jitable
def sweep_back(inputs: Fields, begin: int, size: int, pivot: Any, suffixes: Any) -> None:
    """Add up y and y² of the `size` rows before `begin`, from the newest to the oldest."""
    totals, total_squares = suffixes
    total = squares = 0.0
    totals[size] = total_squares[size] = 0.0
    data = inputs[0]
    missing = max(0, size - begin)
    for i in range(size - 1, missing - 1, -1):
        row = np.uint64(begin - size + i)
        y = _difference(data[row], pivot) if _is_valid(inputs, row) else 0.0
        total += y
        squares += y * y
        totals[np.uint64(i)], total_squares[np.uint64(i)] = total, squares
    for i in range(missing):
        totals[i], total_squares[i] = total, squares


@jitable
def add_up(shifted: Any, rows: int, first: int, last: int, older: Any, newer: Any, sums: Any, ends: Any) -> Any:
    """Add up windows of a piece: older suffixes and prefixes; and, from the other end of the chunk, its suffixes.

    Both sweeps are in one loop: they do not depend on each other, so the CPU runs them in parallel.
    """
    ahead, back, _ = shifted
    older_totals, older_squares = older
    newer_totals, newer_squares = newer
    totals, total_squares, _ = sums
    prefix, prefix_squares, suffix, suffix_squares = ends
    for row in range(rows):
        y = ahead[np.uint64(row)]
        prefix += y
        prefix_squares += y * y
        i, j = np.uint64(row + 1), np.uint64(first + row + 1)
        totals[i] = older_totals[j] + prefix
        total_squares[i] = older_squares[j] + prefix_squares
        z = back[np.uint64(rows - 1 - row)]
        suffix += z
        suffix_squares += z * z
        k = np.uint64(last - 1 - row)
        newer_totals[k], newer_squares[k] = suffix, suffix_squares
    return prefix, prefix_squares, suffix, suffix_squares


@jitable
def add_up_chunks(shifted: Any, size: int, count: int, suffixes: Any, sums: Any) -> None:
    """Add up y and y² in a block of several chunks: suffixes of each but the last, prefixes of each but the first."""
    older, older_squares = suffixes
    newer, newer_squares, _ = sums
    for chunk in range(0, count, size):
        rows = min(size, count - chunk)
        prefix = prefix_squares = suffix = suffix_squares = 0.0
        for row in range(chunk + size - 1, chunk + rows - 1, -1):  # only the last chunk of an array is shorter
            suffix += shifted[row]
            suffix_squares += shifted[row] * shifted[row]
        older[chunk + rows], older_squares[chunk + rows] = suffix, suffix_squares
        # Both sweeps in one loop: they do not depend on each other, so the CPU runs them in parallel.
        for row in range(rows):
            y = shifted[np.uint64(chunk + size + row)]
            prefix += y
            prefix_squares += y * y
            at = np.uint64(chunk + row + 1)
            newer[at], newer_squares[at] = prefix, prefix_squares
            mirrored = np.uint64(chunk + rows - 1 - row)
            z = shifted[mirrored]
            suffix += z
            suffix_squares += z * z
            older[mirrored], older_squares[mirrored] = suffix, suffix_squares
        if chunk > 0:
            newer[chunk] = newer_squares[chunk] = 0.0  # K2
    for k in range(1, count + 1):
        i = np.uint64(k)
        newer[i] += older[i]
        newer_squares[i] += older_squares[i]


@jitable
def add_up_short(shifted: Any, size: int, count: int, sums: Any) -> None:
    """Add up windows of 4, 8, 16 … rows, and of those the ones that together with up to three rows have `size` rows.

    The sums of a row do not depend on those of the row before. `shifted` is overwritten.
    """
    values, fours, squares = shifted
    totals, total_squares, _ = sums
    rest = size & 3
    one, two, three = (rest > 0) * 1.0, (rest > 1) * 1.0, (rest > 2) * 1.0
    rows = size + count
    for after in range(rows, rows + 3):
        values[after] = 0.0
    for k in range(rows):
        i = np.uint64(k)
        a, b, c, d = values[i], values[i + np.uint64(1)], values[i + np.uint64(2)], values[i + np.uint64(3)]
        fours[i] = (a + b) + (c + d)
        squares[i] = (a * a + b * b) + (c * c + d * d)
    for k in range(count + 1):
        i = np.uint64(k)
        a, b, c = values[i], values[i + np.uint64(1)], values[i + np.uint64(2)]
        totals[i] = one * a + two * b + three * c
        total_squares[i] = one * (a * a) + two * (b * b) + three * (c * c)
    added, width = rest, 4
    while added < size:
        if size & width:
            for k in range(count + 1):
                i, j = np.uint64(k), np.uint64(k + added)
                totals[i] += fours[j]
                total_squares[i] += squares[j]
            added += width
        if added < size:
            rows -= width
            _double(fours, values, rows, width)
            _double(squares, fours, rows, width)
            values, fours, squares = squares, values, fours
        width *= 2


@jitable
def _double(sums: Any, doubled: Any, rows: int, width: int) -> None:
    for k in range(rows):
        doubled[np.uint64(k)] = sums[np.uint64(k)] + sums[np.uint64(k + width)]


@jitable
def count_between(inputs: Fields, start: int, end: int) -> int:
    values = 0
    for row in range(max(0, start), end):
        values += 1 if _is_valid(inputs, row) else 0
    return values


@jitable
def count_rows(inputs: Fields, begin: int, size: int, rows: int, values: int, counts: Any) -> int:
    """Write how many values each window has; `values` are those of the window before, and of the last one returned."""
    for i in range(1, rows + 1):
        row = begin + i - 1
        values += 1 if _is_valid(inputs, row) else 0
        if row >= size and _is_valid(inputs, row - size):
            values -= 1
        counts[i] = values
    return values
