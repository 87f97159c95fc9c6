"""Sliding-window aggregation at a cost per row that does not grow with the window."""

from typing import Never

from sash import swag
from sash.algebra import laws
from sash.algebra.aggregate import Aggregate, Template
from sash.algebra.compiler import on_compile
from sash.algebra.extremes import argmax, argmin, first, last, m4, max, max_count, min, min_count, range
from sash.algebra.holistic import collect, collect_distinct, count_distinct, median, mode, quantile, string_agg
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
from sash.api import aggregate, explain, join, progress, rolling, state, why, windowed
from sash.engine.frame import Frame, frame
from sash.engine.join import Lookback, lookback
from sash.engine.stream import Stream
from sash.errors import SashError, UnknownAttribute

# This import makes `sash.page` a function; modules of the package sash.page can still be imported.
from sash.page import page
from sash.plan.plan import Plan
from sash.plan.query import Query, query
from sash.query_text import register, sql
from sash.synonyms import NAMES, nearest_name
from sash.warming import start_helper, warm
from sash.windows.built_in import cumulative, landmark, punctuated, session, sliding, tumbling
from sash.windows.calendar import calendar
from sash.windows.user import ContextAwareWindow, ContextFreeWindow, ForwardFreeWindow, MarkedWindow
from sash.windows.window import Window

__version__ = "0.1.0"
on_compile.append(start_helper)


def __getattr__(name: str) -> Never:
    """Refuse a name that does not exist; if another library has it or it is misspelt, say what to write."""
    instead = NAMES.get(name) or nearest_name(name, __all__)
    if instead is not None:
        raise UnknownAttribute.in_sash(name, instead)
    raise AttributeError(f"module 'sash' has no attribute {name!r}")


# By purpose, so that a reader sees on one screen what there is.
# fmt: off
__all__ = [  # noqa: RUF022
    # tables, rows and text
    "aggregate", "rolling", "frame", "join", "lookback", "sql", "windowed", "register", "explain", "warm",
    # streams
    "Stream", "progress", "state", "why", "page",
    # queries and windows
    "query", "tumbling", "sliding", "cumulative", "session", "punctuated", "landmark", "calendar",
    "ContextFreeWindow", "ForwardFreeWindow", "MarkedWindow", "ContextAwareWindow",
    # aggregates
    "count", "sum", "product", "mean", "geometric_mean", "variance", "stddev",
    "min", "max", "range", "min_count", "max_count", "argmin", "argmax", "first", "last", "m4",
    "median", "mode", "quantile", "collect", "collect_distinct", "count_distinct", "string_agg",
    "hyperloglog", "bloom_filter", "bloom_contains", "count_min", "count_min_estimate", "moment_sketch", "quantile_of",
    "Aggregate", "laws",
    # the data structures
    "swag",
    # types, for annotations and `except`
    "Frame", "Lookback", "Plan", "Query", "SashError", "Template", "Window",
]
