"""A bounded table: one long push, and then the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sash.engine.stream import Stream, bound, options_of, with_free_names
from sash.engine.tables import kind_of, like, read_rows
from sash.errors import InvalidInput, InvalidQuery, UnknownName
from sash.plan.plan import Plan, make_plan
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
    """All windows of a table, each once: Arrow, pandas or Polars in, the same kind out (Arrow for a dict of lists).

    The end of the table is the end of the stream, so every window is sent; `partial=True` also sends count windows that
    are not full. `watermark`, `allowed_lateness` and `emit` are for streams: in a table no row is late.

    >>> import sash
    >>> peaks = sash.query("peaks", sash.tumbling(10), peak=sash.max("load"))
    >>> sash.aggregate({"t": [1, 12, 7], "load": [3, 4, 5]}, peaks, on="t").select(["window_start", "peak"]).to_pylist()
    [{'window_start': 0, 'peak': 5}, {'window_start': 10, 'peak': 4}]
    """
    options_of(on, by, allowed_lateness, watermark, False, emit)
    if not isinstance(partial, bool):
        raise InvalidInput.option("partial", partial, "True or False")
    stream = Stream(queries, on=on, by=by)
    stream.options = options_of(on, by, 0, None, False, "final", partial)
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
    """What would be kept and computed for a table of these types, and why; prints as text, shows as HTML in a notebook.

    >>> import sash
    >>> hourly = sash.query("hourly", sash.sliding(60, every=1), peak=sash.max("load"), mean=sash.mean("load"))
    >>> recent = sash.query("recent", sash.sliding(rows=1000, every=100), last=sash.last("load"))
    >>> print(sash.explain({"t": [0], "load": [0.5]}, [hourly, recent], on="t"))
    stream  on t (integer), by no key, any order, lateness 0
    ...
    """
    given = read_rows(rows)
    wanted = named_queries(queries)
    if not wanted:
        raise InvalidQuery.none()
    options = with_free_names(options_of(on, by, allowed_lateness, watermark, in_order, emit))
    for name in (options.on, *options.by):
        if name not in given.names:
            raise UnknownName.of("column", name, given.names)
    keys = [given.arrow(name).type for name in options.by]
    return make_plan(wanted, options, bound(wanted, given), given.measure(on), keys)
