"""A bounded table: one long push, and then the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sash.engine.options import options_of, with_free_names
from sash.engine.reading import types_of
from sash.engine.stream import Stream
from sash.engine.tables import kind_of, like, read_rows
from sash.errors import InvalidInput, InvalidQuery
from sash.plan.plan import Plan
from sash.plan.planner import make_plan
from sash.plan.query import Query, named_queries

__all__ = ["aggregate", "explain"]


def aggregate(
    rows: Any,
    queries: Query | Sequence[Query],
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    emit: str = "final",
    partial: bool = False,
) -> Any:
    """`sash.aggregate` of what is no DataFrame of Spark: Arrow, pandas, Polars or a dict of lists."""
    options_of(on, by, allowed_lateness, watermark, False, emit)
    if not isinstance(partial, bool):
        raise InvalidInput.option("partial", partial, "True or False")
    stream = Stream(queries, on=on, by=by)
    stream.options = options_of(on, by, 0, None, False, "final", partial, is_table=True)
    return like(stream.push(rows, watermark=np.inf), kind_of(rows))


def explain(
    rows: Any,
    queries: Query | Sequence[Query],
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    in_order: bool = False,
    emit: str = "final",
) -> Plan:
    """`sash.explain` of the same."""
    given = read_rows(rows)
    wanted = named_queries(queries)
    if not wanted:
        raise InvalidQuery.none()
    options = with_free_names(options_of(on, by, allowed_lateness, watermark, in_order, emit))
    for name in (options.on, *options.by):
        given.known(name)
    keys = [given.arrow(name).type for name in options.by]
    return make_plan(wanted, options, types_of(wanted, given), given.measure(on), keys)
