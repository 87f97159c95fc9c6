"""Every aggregate of sash once, beside a reference in plain Python: the one table that the tests read."""

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sash
from sash.algebra.aggregate import Template, bind
from sash.algebra.compiler import kernel
from sash.algebra.fields import Field, Fields, length, load
from sash.algebra.monoid import Column, Monoid, combine, emit, identity, invert, lift

NUMBERS = ("i8", "f8")
ANY = ("i8", "f8", "O")


@dataclass(frozen=True)
class Case:
    template: Template
    reference: Callable[[list[Any]], Any]  # of the rows of a window that have no null
    types: tuple[str, ...] = NUMBERS
    of_nothing: Any = None


def by_size(value: Any) -> Any:
    return (value != value, 0 if value != value else value)


def total(values: list[Any]) -> Any:
    if all(isinstance(value, int) for value in values):
        return sum(values)
    odd = [value for value in values if not math.isfinite(value)]
    return sum(odd) if odd else math.fsum(values)


def spread(freedom: int, root: bool) -> Callable[[list[Any]], Any]:
    def reference(values: list[Any]) -> Any:
        if len(values) <= freedom:
            return None
        if not all(math.isfinite(value) for value in values):
            return math.nan
        exactly = (statistics.variance if freedom else statistics.pvariance)(values)
        return math.sqrt(exactly) if root else float(exactly)

    return reference


def geometric_mean(values: list[Any]) -> float:
    if any(value != value or value < 0 for value in values):
        return math.nan
    logs = [math.log(value) if value else -math.inf for value in values]
    return math.exp(total(logs) / len(logs))


def m4(values: list[Any]) -> list[Any]:
    return [values[0], values[-1], min(values, key=by_size), max(values, key=by_size)]


def occurrences(choose: Callable[..., Any]) -> Callable[[list[Any]], int]:
    def reference(values: list[Any]) -> int:
        extreme = by_size(choose(values, key=by_size))
        return [by_size(value) for value in values].count(extreme)

    return reference


def where(choose: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """The first on ties, as Python's max and min do."""

    def reference(rows: list[Any]) -> Any:
        rows = [row for row in rows if row[0] is not None]
        return choose(rows, key=lambda row: by_size(row[0]))[1] if rows else None

    return reference


def percentile(q: float) -> Callable[[list[Any]], float]:
    def reference(values: list[Any]) -> float:
        ranked = sorted(values, key=by_size)
        place = q * (len(ranked) - 1)
        below = math.floor(place)
        low, high, share = ranked[below], ranked[min(below + 1, len(ranked) - 1)], place - below
        return float(low) if share == 0 or low == high else (1 - share) * low + share * high

    return reference


def distinct(values: list[Any]) -> list[Any]:
    keys = sorted({by_size(value) for value in values})
    return [math.nan if is_nan else value for is_nan, value in keys]


def most_frequent(values: list[Any]) -> Any:
    keys = [by_size(value) for value in values]
    is_nan, value = min(keys, key=lambda key: (-keys.count(key), key))
    return math.nan if is_nan else value


CASES: dict[str, Case] = {
    "rows": Case(sash.count(), len, ANY),
    "count": Case(sash.count("x"), len, ANY, 0),
    "sum": Case(sash.sum(), total),
    "mean": Case(sash.mean(), lambda values: total(values) / len(values)),
    "variance": Case(sash.variance(), spread(1, False)),
    "population variance": Case(sash.variance(population=True), spread(0, False)),
    "stddev": Case(sash.stddev(), spread(1, True)),
    "geometric_mean": Case(sash.geometric_mean(), geometric_mean),
    "product": Case(sash.product(), math.prod),
    "max": Case(sash.max(), lambda values: max(values, key=by_size), ANY),
    "min": Case(sash.min(), lambda values: min(values, key=by_size), ANY),
    "range": Case(sash.range(), lambda values: max(values, key=by_size) - min(values, key=by_size)),
    "first": Case(sash.first(), lambda values: values[0], ANY),
    "last": Case(sash.last(), lambda values: values[-1], ANY),
    "m4": Case(sash.m4(), m4),
    "max_count": Case(sash.max_count(), occurrences(max), ANY),
    "min_count": Case(sash.min_count(), occurrences(min), ANY),
    "argmax": Case(sash.argmax(), where(max), ANY),
    "argmin": Case(sash.argmin(), where(min), ANY),
    "collect": Case(sash.collect(), list, ANY, []),
    "collect_distinct": Case(sash.collect_distinct(), distinct, ANY, []),
    "count_distinct": Case(sash.count_distinct(), lambda values: len(distinct(values)), ANY, 0),
    "mode": Case(sash.mode(), most_frequent, ANY),
    "median": Case(sash.median(), percentile(0.5)),
    "quantile": Case(sash.quantile(q=0.9), percentile(0.9)),
    "string_agg": Case(sash.string_agg(separator="-"), "-".join, ("O",)),
}

# Without a reference: what they answer is an estimate.
SKETCHES: dict[str, tuple[Template, tuple[str, ...]]] = {
    "moment_sketch": (sash.moment_sketch(), NUMBERS),
    "moment_sketch median": (sash.moment_sketch(quantile=0.5), NUMBERS),
    "bloom_filter": (sash.bloom_filter(bits=128), ANY),
    "hyperloglog": (sash.hyperloglog(precision=6), ANY),
    "count_min": (sash.count_min(width=16, depth=3), ANY),
}

POOLS: dict[str, list[Any]] = {
    "i8": [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5],
    "f8": [-2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 1.5, 3.0, 7.25, 0.1, 1e9, math.nan, math.inf, -math.inf],
    "O": ["", "a", "b", "ab", "ba", "abc"],
}


def together(names: Iterable[str], code: str, nullable: bool, invertible: bool = False) -> Monoid:
    """Several aggregates of one column as one compiled monoid: one compilation instead of many."""
    return bind({name: CASES[name].template for name in names}, (Column(Field(code), nullable),), invertible)


def bound(template: Template, code: str, nullable: bool, invertible: bool = False, compiled: bool = False) -> Monoid:
    columns = (Column(Field(code), nullable),) * max(template.arity, 1)
    monoid = bind(template, columns, invertible)
    return monoid if compiled else replace(monoid, is_compiled=False)


def column(code: str, rows: int, nulls: float, seed: int) -> list[Any]:
    """Random values; in long runs there are none of NaN and the infinities, so that plain numbers meet, too."""
    rng = np.random.default_rng(seed)
    pool = POOLS[code]
    tame = [value for value in pool if not isinstance(value, float) or math.isfinite(value)]
    return [
        None
        if rng.random() < nulls
        else (pool if k // 40 % 2 else tame)[rng.integers(len(pool if k // 40 % 2 else tame))]
        for k in range(rows)
    ]


def inputs(monoid: Monoid, columns: list[list[Any]]) -> Fields:
    """Columns as kernels read them: values, then where they are valid."""
    filled, valid = [], []
    for kind, values in zip(monoid.columns, columns, strict=True):
        filler = None if kind.field.is_object else 0
        plain = [filler if value is None else value for value in values]
        known = [value is not None for value in values]
        filled.append(np.array(plain, kind.field.dtype) if monoid.is_compiled else plain)
        if kind.nullable:
            valid.append(np.array(known) if monoid.is_compiled else known)
    return (*filled, *valid)


@kernel
def folded(aggregate: Monoid, columns: Fields, size: int, results: Fields, presences: Fields) -> None:
    """Each window folded anew."""
    for row in range(length(columns)):
        partial = identity(aggregate)
        for older in range(max(0, row - size + 1), row + 1):
            partial = combine(aggregate, partial, lift(aggregate, load(columns, older)))
        emit(aggregate, results, presences, row, partial)


@kernel
def subtracted(aggregate: Monoid, columns: Fields, size: int, results: Fields, presences: Fields) -> None:
    """One running partial: the newest row is combined, the oldest is inverted out of it."""
    partial = identity(aggregate)
    for row in range(length(columns)):
        partial = combine(aggregate, partial, lift(aggregate, load(columns, row)))
        if row >= size:
            partial = invert(aggregate, partial, lift(aggregate, load(columns, row - size)))
        emit(aggregate, results, presences, row, partial)


def answers(monoid: Monoid, columns: list[list[Any]], size: int, by: Any = folded) -> list[tuple[Any, int]]:
    """The results of the first output at every row and what they are: value, null or overflow."""
    return next(iter(all_answers(monoid, columns, size, by).values()))


def all_answers(
    monoid: Monoid, columns: list[list[Any]], size: int, by: Any = folded
) -> dict[str, list[tuple[Any, int]]]:
    rows = len(columns[0])
    absent = sum(output.presence is not None for output in monoid.outputs)
    results = tuple(output.result.empty(rows, monoid.is_compiled) for output in monoid.outputs)
    presences = tuple(np.ones(rows, np.uint8) for _ in range(absent))
    by(monoid, inputs(monoid, columns), size, results, presences)
    kinds = iter(presences)
    found = {}
    for output, result in zip(monoid.outputs, results, strict=True):
        values = result.tolist() if isinstance(result, np.ndarray) else result
        known = next(kinds).tolist() if output.presence is not None else [1] * rows
        found[output.name] = [(value if kind == 1 else None, kind) for value, kind in zip(values, known, strict=True)]
    return found


def alike(a: Any, b: Any, within: float = 1e-9) -> bool:
    """Equal, floats nearly; NaN equals NaN."""
    if isinstance(a, list | np.ndarray) and isinstance(b, list | np.ndarray):
        return len(a) == len(b) and all(alike(one, other, within) for one, other in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float) and not (math.isinf(a) or math.isinf(b)):
        return (a != a and b != b) or math.isclose(a, b, rel_tol=within, abs_tol=within)
    return bool(a == b)
