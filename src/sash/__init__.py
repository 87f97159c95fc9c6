"""Sliding-window aggregation at a cost per row that does not grow with the window."""

from sash import swag
from sash.algebra import laws
from sash.algebra.aggregate import Aggregate
from sash.algebra.extremes import argmax, argmin, first, last, m4, max, max_count, min, min_count, range
from sash.algebra.holistic import collect, collect_distinct, count_distinct, median, quantile, string_agg
from sash.algebra.moments import quantile_of
from sash.algebra.sketches import (
    bloom_contains,
    bloom_filter,
    count_min,
    count_min_estimate,
    hyperloglog,
    moment_sketch,
)
from sash.algebra.sums import count, geometric_mean, mean, product, stddev, sum, variance
from sash.door import aggregate, explain, progress, register, rolling, sql, state, why, windowed
from sash.engine.rolling import frame
from sash.engine.stream import Stream
from sash.plan.query import Query, query
from sash.windows.built_in import cumulative, landmark, punctuated, session, sliding, tumbling
from sash.windows.calendar import calendar
from sash.windows.user import ContextAwareWindow, ContextFreeWindow

__version__ = "0.1.0"

__all__ = [
    "Aggregate",
    "ContextAwareWindow",
    "ContextFreeWindow",
    "Query",
    "Stream",
    "aggregate",
    "argmax",
    "argmin",
    "bloom_contains",
    "bloom_filter",
    "calendar",
    "collect",
    "collect_distinct",
    "count",
    "count_distinct",
    "count_min",
    "count_min_estimate",
    "cumulative",
    "explain",
    "first",
    "frame",
    "geometric_mean",
    "hyperloglog",
    "landmark",
    "last",
    "laws",
    "m4",
    "max",
    "max_count",
    "mean",
    "median",
    "min",
    "min_count",
    "moment_sketch",
    "product",
    "progress",
    "punctuated",
    "quantile",
    "quantile_of",
    "query",
    "range",
    "register",
    "rolling",
    "session",
    "sliding",
    "sql",
    "state",
    "stddev",
    "string_agg",
    "sum",
    "swag",
    "tumbling",
    "variance",
    "why",
    "windowed",
]
