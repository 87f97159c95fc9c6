"""Aggregates for the oracle: a list of values, oldest first → a value."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from tests.engine.descriptions import Call, Row

__all__ = ["by_size", "evaluate", "residues", "turns"]


def by_size(value: Any) -> Any:
    """NaN is the largest number, and equal to itself."""
    return (value != value, 0 if value != value else value)


def _total(values: list[Any]) -> Any:
    if isinstance(values[0], Decimal):
        with localcontext(prec=80):
            return sum(values)
    return sum(values) if all(isinstance(value, int | Decimal) for value in values) else math.fsum(values)


def _finite(values: list[Any]) -> bool:
    return all(math.isfinite(value) for value in values)


def _sum(values: list[Any]) -> Any:
    return _total(values) if _finite(values) else sum(values)


def _mean(values: list[Any]) -> Any:
    if isinstance(values[0], Decimal):  # four digits more, as Spark has it
        digit = Decimal(1).scaleb(int(values[0].as_tuple().exponent) - 4)
        with localcontext(prec=80):
            return (_sum(values) / len(values)).quantize(digit, ROUND_HALF_UP)
    return _sum(values) / len(values)


def _variance(values: list[Any]) -> Any:
    if len(values) < 2:
        return None
    return float(statistics.variance(values)) if _finite(values) else math.nan


def _stddev(values: list[Any]) -> Any:
    spread = _variance(values)
    return None if spread is None else math.sqrt(spread)


def _quantile(values: list[Any], q: float) -> float:
    ranked = [float(each) if isinstance(each, Decimal) else each for each in sorted(values, key=by_size)]
    place = q * (len(ranked) - 1)
    below = math.floor(place)
    low, high, share = ranked[below], ranked[min(below + 1, len(ranked) - 1)], place - below
    return float(low) if share == 0 or low == high else (1 - share) * low + share * high


def _distinct(values: list[Any]) -> list[Any]:
    return [math.nan if is_nan else value for is_nan, value in sorted({by_size(value) for value in values})]


def _mode(values: list[Any]) -> Any:
    """The most frequent value, the smallest on ties; 0.0 for -0.0."""
    keys = [by_size(value) for value in values]
    is_nan, value = min(keys, key=lambda key: (-keys.count(key), key))
    return math.nan if is_nan else value + 0.0 if isinstance(value, float) else value


def _geometric_mean(values: list[Any]) -> float:
    if any(value != value or value < 0 for value in values):
        return math.nan
    return 0.0 if 0 in values else math.exp(math.fsum(math.log(value) for value in values) / len(values))


def turns(values: Iterable[int]) -> int:
    """Affine maps modulo 97, one after the other: exact, associative, and not commutative."""
    a, b = 1, 0
    for x in values:
        c, d = x * x % 97 + 1, (x + 50) % 97
        a, b = a * c % 97, (b * c + d) % 97
    return a * 100 + b


def residues(values: Iterable[int]) -> list[int]:
    """How many values leave 0, 1 and 2 when divided by three."""
    counts = [0, 0, 0]
    for value in values:
        counts[value % 3] += 1
    return counts


OF_VALUES: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "mean": _mean,
    "min": lambda values: min(values, key=by_size),
    "max": lambda values: max(values, key=by_size),
    "range": lambda values: max(values, key=by_size) - min(values, key=by_size),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "variance": _variance,
    "stddev": _stddev,
    "product": math.prod,
    "median": lambda values: _quantile(values, 0.5),
    "quantile": _quantile,
    "string_agg": lambda values, separator: separator.join(values),
    "max_count": lambda values: [by_size(value) for value in values].count(max(by_size(value) for value in values)),
    "min_count": lambda values: [by_size(value) for value in values].count(min(by_size(value) for value in values)),
    "geometric_mean": _geometric_mean,
    "mode": _mode,
    "turns": turns,
    "path": lambda values: ">".join(map(str, values)),
    "bag": lambda values: " ".join(map(str, sorted(values))),
    "residues": residues,
    # So few distinct values do not collide: the estimate is their number, but for its third digit.
    "hyperloglog": lambda values: len(_distinct(values)) + 0.0,
}
OF_ANY_NUMBER_OF_VALUES: dict[str, Callable[..., Any]] = {
    "count": len,
    "collect": list,
    "collect_distinct": _distinct,
    "count_distinct": lambda values: len(_distinct(values)),
}


def evaluate(call: Call, rows: Sequence[Row]) -> Any:
    """The aggregate of these rows, which are in the order (position, arrival)."""
    if call.function == "count" and not call.arguments:
        return len(rows)
    column, *more = call.arguments
    if call.function in ("argmax", "argmin"):
        known = [row.columns for row in rows if row.columns[column] is not None]
        choose = max if call.function == "argmax" else min  # the first on ties, both
        return choose(known, key=lambda each: by_size(each[column]))[more[0]] if known else None
    values = [row.columns[column] for row in rows if row.columns[column] is not None]
    if call.function in OF_ANY_NUMBER_OF_VALUES:
        return OF_ANY_NUMBER_OF_VALUES[call.function](values)
    return OF_VALUES[call.function](values, *more) if values else None
