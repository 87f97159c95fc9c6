"""Cases that laws are tried on: histories of example values, the smallest first.

Order     Fewer rows come before more, and among as many rows simpler values before others, so the
          first case that breaks a law is the smallest.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.fields import Field
from sash.algebra.monoid import Column

__all__ = ["History", "cases", "column_of", "examples_of", "simplest_first"]

MOST_CASES = 4_000  # per law: a tenth of a second for a simple aggregate
EXAMPLES: dict[str, tuple[Any, ...]] = {
    "b": (False, True),
    "i": (0, 1, -1, 2, -2, 3, 7, 100),
    "u": (0, 1, 2, 3, 7, 100),
    "f": (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e6, -0.0, math.inf, -math.inf, math.nan),
    "O": ("", "a", "b", "ab", "ba"),
}
DECIMALS = tuple(Decimal(each) for each in ("0.00", "0.01", "-0.01", "0.10", "1.00", "-2.50", "99999999.99"))

History = tuple[Any, ...]


def examples_of(columns: tuple[Column, ...]) -> list[Any]:
    """Return example values of a column, or tuples of them for several columns."""
    of_each = [
        [
            *(EXAMPLES[each.field.dtype.kind] if each.field.decimal is None else DECIMALS),
            *([None] if each.nullable else []),
        ]
        for each in columns or (Column(Field("i8")),)
    ]
    if len(of_each) == 1:
        return of_each[0]
    # Pairs that tie in one column and differ in another, as well as pairs that differ in both.
    return [
        tuple(
            examples[(k * step) % len(examples)]
            for k, examples in zip(range(1, len(of_each) + 1), of_each, strict=True)
        )
        for step in range(len(of_each[0]))
    ] + [tuple(examples[k if each else 0] for each, examples in enumerate(of_each)) for k in range(1, len(of_each[-1]))]


def column_of(values: Iterable[Any]) -> Column:
    """Return the column that holds these values.

    >>> print(column_of([1, 2.5, None]))
    float64 with nulls
    """
    present = [value for value in values if value is not None]
    kinds = {
        "b1" if isinstance(value, bool | np.bool_)
        else "i8" if isinstance(value, int | np.integer)
        else "f8" if isinstance(value, float | np.floating)
        else "O"
        for value in present
    }  # fmt: skip
    code = kinds.pop() if len(kinds) == 1 else "f8" if kinds == {"i8", "f8"} else "O"
    return Column(Field(code), nullable=len(present) < len(list(values)))


def simplest_first(values: Sequence[Any]) -> list[Any]:
    """Sort small numbers before large, positive before negative, short values before long, nulls last."""

    def complexity(value: Any) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return tuple(sum(each) for each in zip(*(complexity(one)[:2] for one in value), strict=True))
        if isinstance(value, bool | int | float | np.number):
            size = abs(float(value))
            odd = 1 if size != size or math.isinf(size) else 0
            return odd, math.inf if odd else size, not float(value).is_integer(), math.copysign(1, value) < 0
        return (2, 0.0) if value is None else (0, float(len(value)) if hasattr(value, "__len__") else 0.0)

    return sorted(values, key=complexity)


def cases(least: tuple[int, ...], examples: Sequence[Any]) -> Iterator[tuple[History, ...]]:
    """Yield a history for each operand: few rows first, and among as many rows those of simple values.

    In total there is at most one row more than operands: partials of two rows stand for all longer ones.
    """
    left = MOST_CASES
    for rows in range(sum(least), len(least) + 2):
        for places in _ranked(rows, len(examples)):
            for lengths in _shared(rows, least):
                ends = [sum(lengths[:k]) for k in range(len(lengths) + 1)]
                chosen = [examples[place] for place in places]
                yield tuple(tuple(chosen[start:end]) for start, end in pairwise(ends))
                left -= 1
                if not left:
                    return


def _ranked(count: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of integers below `size`, small sums first."""

    def with_sum(count: int, total: int) -> Iterator[tuple[int, ...]]:
        if count == 0:
            if total == 0:
                yield ()
            return
        for one in range(max(0, total - (count - 1) * (size - 1)), min(total, size - 1) + 1):
            for rest in with_sum(count - 1, total - one):
                yield (one, *rest)

    for total in range(count * (size - 1) + 1):
        yield from with_sum(count, total)


def _shared(rows: int, least: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield all ways to distribute rows among operands."""
    if len(least) == 1:
        yield (rows,)
        return
    for one in range(least[0], rows - sum(least[1:]) + 1):
        for rest in _shared(rows - one, least[1:]):
            yield (one, *rest)
