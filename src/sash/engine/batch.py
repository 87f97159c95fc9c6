"""Bounded tables: one push of all rows, then the end of the stream."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.conditions import conditions_of
from sash.engine.frame import Frame
from sash.engine.input_rows import types_of
from sash.engine.keys import Keys
from sash.engine.options import CallOptions, with_free_names, with_key_names
from sash.engine.output import Source, edge_sources, open_table, result_sources
from sash.engine.rolling import compute_frames, plan_frames
from sash.engine.stream import Stream
from sash.engine.tables import Rows, read_rows
from sash.plan.plan import Options, Plan
from sash.plan.planner import make_plan
from sash.plan.query import Query, named_queries, some_queries

__all__ = ["aggregate", "compute_windows", "explain", "rolling"]


def aggregate(rows: Any, queries: Query | Sequence[Query], given: CallOptions) -> Any:
    """Run `sash.aggregate` on a table of Arrow, pandas or Polars, or on a dict of lists."""
    wanted, options = named_queries(queries), with_free_names(given.of_table())
    given_table = open_table(rows)
    table = read_rows(given_table.rows)
    table.known(options.on)  # a stream accepts a push without columns, a table without them is a mistake
    options = with_key_names(options, table.names)
    names = options.result_keys
    sources = {**result_sources([each for one in wanted for each in one.aggregates], options.on)}
    sources |= {**edge_sources(options.on), **dict(zip(names, map(Source, options.by), strict=True))}
    return given_table.like(compute_windows(table, wanted, options), sources)


def compute_windows(rows: Rows, queries: Sequence[Query], options: Options) -> pa.Table:
    """Return all windows of a bounded table."""
    conditions = conditions_of(queries, rows.names)
    stream = Stream.with_options(conditions.rewrite(queries), options)
    return stream.push(conditions.rows(rows), watermark=np.inf)


def rolling(table: Any, frames: tuple[Frame, ...], given: CallOptions) -> Any:
    """Run `sash.rolling` on such a table."""
    given_table = open_table(table)
    rows = read_rows(given_table.rows)
    sources = result_sources([each for one in frames for each in one.aggregates], given.on)
    conditions = conditions_of(frames, rows.names, "rolling")
    rows, frames = conditions.rows(rows), conditions.rewrite(frames)
    found = compute_frames(plan_frames(rows, frames, given.on, given.by, given.order), rows)
    return given_table.with_columns(found, sources)


def explain(rows: Any, queries: Query | Sequence[Query], given: CallOptions) -> Plan:
    """Run `sash.explain` on such a table."""
    wanted = some_queries(queries)
    table = read_rows(rows)
    conditions = conditions_of(wanted, table.names)
    table, wanted = conditions.rows(table), conditions.rewrite(wanted)
    options = with_free_names(given.of_stream(given.watermark))
    for name in (options.on, *options.by):
        table.known(name)
    keys = [table.arrow(name).type for name in options.by]
    Keys(keys, options.by)  # refuses types that cannot be keys
    return make_plan(wanted, options, types_of(wanted, table), table.measure(options.on), keys)
