"""Sliding-window aggregation at a cost per row that does not grow with the window."""

from sash.algebra.aggregate import Aggregate
from sash.algebra.builtin import (
    argmax,
    argmin,
    count,
    first,
    geometric_mean,
    last,
    m4,
    max,
    max_count,
    mean,
    min,
    min_count,
    product,
    range,
    stddev,
    sum,
    variance,
)

__all__ = [
    "Aggregate",
    "argmax",
    "argmin",
    "count",
    "first",
    "geometric_mean",
    "last",
    "m4",
    "max",
    "max_count",
    "mean",
    "min",
    "min_count",
    "product",
    "range",
    "stddev",
    "sum",
    "variance",
]
