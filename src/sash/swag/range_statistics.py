"""Order statistics and distinct counts of one column over ranges of rows that move forward."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from sash.algebra.aggregate import Builtin, Template
from sash.algebra.monoid import Column
from sash.swag.range_distinct import codes_of, distinct_counts
from sash.swag.range_quantiles import quantiles, rank
from sash.swag.values import Values

__all__ = ["can_rank", "over_ranges", "share_of"]

Array: TypeAlias = np.ndarray[Any, Any]

_DISTINCT = "count_distinct"
_QUANTILES = ("median", "quantile")


def can_rank(templates: Iterable[Template], column: Column) -> bool:
    """Return whether aggregates are order statistics of numbers or distinct counts, and nothing else."""
    known = (_DISTINCT,) if column.field.is_object else (_DISTINCT, *_QUANTILES)
    return all(isinstance(each, Builtin) and each.name in known for each in templates)


def share_of(template: Template) -> float:
    """Return the share of a quantile."""
    share: float = dict(getattr(template, "parameters", ())).get("q", 0.5)
    return share


def over_ranges(templates: Sequence[Template], column: Values, starts: Array, ends: Array) -> list[tuple[Array, Array]]:
    """Return for each aggregate the results of ranges, and where there is one."""
    valid = np.ones(len(column), np.bool_) if column.valid is None else column.valid
    results: list[tuple[Array, Array]] = []
    shares = np.array([share_of(each) for each in templates if each.name in _QUANTILES], np.float64)
    if len(shares):
        ranking = rank(column.data, np.zeros(min(1, len(column)), np.int64))
        values, exists = quantiles(ranking, valid, starts, ends, shares)
        rows = iter(values)
    for each in templates:
        if each.name in _QUANTILES:
            results.append((next(rows), exists))
        else:
            counts = distinct_counts(*codes_of(column.data, valid), starts, ends)
            results.append((counts, np.ones(len(starts), np.bool_)))
    return results
