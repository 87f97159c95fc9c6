"""Streams under small limits: what happens to large states and pushes happens to a few rows."""

from collections.abc import Sequence
from typing import Any

import sash
from sash.engine import stream_bytes
from sash.engine.options import options_of
from sash.limits import LIMITS, Limits
from sash.plan.query import Query, named_queries

__all__ = ["LOW", "restored", "stream_with"]

# Sweeps and merges after every push, trees over three slices, sliding at the first overlap, pushes sorted by key, short
# stretches, no room between the labels of strings.
LOW = Limits(
    tree_slices=3,
    slide_overlaps=1,
    sweep_slices=-(10**9),
    merge_share=0.0,
    merge_slices=0,
    sort_keys=0,
    edges_ahead=2,
    label_gap=1,
    sweep_strings=-(10**9),
)


def stream_with(
    limits: Limits,
    queries: Query | Sequence[Query],
    *,
    on: str,
    by: Any = None,
    allowed_lateness: Any = 0,
    watermark: Any = None,
    in_order: bool = False,
    emit: str = "final",
    late: str = "count",
    store: str = "auto",
) -> sash.Stream:
    """`sash.Stream` under these limits."""
    options = options_of(on, by, allowed_lateness, watermark, in_order, emit, limits=limits, store=store)
    return sash.Stream.with_options(queries, options, late)


def restored(stream: sash.Stream, queries: Query | Sequence[Query], limits: Limits = LIMITS) -> sash.Stream:
    """Save a stream and restore it under these limits."""
    return sash.Stream.of_saved(stream_bytes.load(stream.save(), limits), named_queries(queries))
