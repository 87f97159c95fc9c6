"""What the columns of a table of results tell about its stream."""

from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.page.records import LateRow, QueryFacts

__all__ = ["as_sentence", "by_of", "late_rows", "queries_of", "seconds_of", "unit_of"]

_OTHERS = ("query", "window_start", "window_end", "rank_start", "rank_end", "revision", "op", "late_row", "late_reason")
LATE = "_late"
MOST_LATE = 100


def by_of(results: pa.Table) -> tuple[str, ...]:
    """Return the columns of keys: those before `query`.

    >>> by_of(pa.table({"house": [1], "plug": [2], "query": ["hour"], "peak": [3.0]}))
    ('house', 'plug')
    """
    names = results.column_names
    return tuple(names[: names.index("query")])


def unit_of(results: pa.Table) -> Literal["time", "number"]:
    """Return the unit of positions."""
    return "time" if pa.types.is_timestamp(results.schema.field("window_end").type) else "number"


def queries_of(results: pa.Table, texts: dict[str, QueryFacts]) -> list[QueryFacts]:
    """Return the queries that have results, with the names of their aggregates: columns that are not null.

    >>> table = pa.table({"query": ["a", "b"], "window_end": [1, 1], "x": [1.0, None], "y": [None, 2]})
    >>> [(each.name, each.aggregates) for each in queries_of(table, {})]
    [('a', ('x',)), ('b', ('y',))]
    """
    found = []
    candidates = [name for name in results.column_names if name not in (*_OTHERS, *by_of(results))]
    for name in pc.unique(results.column("query")).to_pylist():
        if name is None or name == LATE:
            continue
        if name in texts:
            found.append(texts[name])
            continue
        own = results.filter(pc.equal(results.column("query"), name))
        filled = tuple(each for each in candidates if own.column(each).null_count < own.num_rows)
        found.append(QueryFacts(name, name, filled))
    return found


def late_rows(results: pa.Table, on: str | None, watermark: float | None = None) -> list[LateRow]:
    """Return the last rejected rows among results, which are there with late="keep"."""
    if "late_row" not in results.column_names:
        return []
    own = results.filter(pc.equal(results.column("query"), LATE))
    own = own.slice(max(0, own.num_rows - MOST_LATE))
    found = []
    for row, reason in zip(own.column("late_row").to_pylist(), own.column("late_reason").to_pylist(), strict=True):
        text = ", ".join(f"{name}={value}" for name, value in (row or {}).items())
        found.append(LateRow(text, seconds_of((row or {}).get(on)) if on else None, watermark, as_sentence(reason)))
    return found


def as_sentence(reason: str) -> str:
    """Return a reason as a sentence.

    >>> as_sentence("it has no position")
    'It has no position.'
    """
    return f"{reason[:1].upper()}{reason[1:]}."


def seconds_of(position: Any) -> float | None:
    """Return a position that is a time, a number or None in the unit of the page.

    >>> import datetime
    >>> seconds_of(datetime.datetime(1970, 1, 1, 0, 1, tzinfo=datetime.UTC)), seconds_of(7), seconds_of(None)
    (60.0, 7.0, None)
    """
    if position is None:
        return None
    if isinstance(position, datetime) and position.tzinfo is None:  # Spark's times without a zone
        position = position.replace(tzinfo=UTC)
    found = position.timestamp() if hasattr(position, "timestamp") else float(position)
    return found if np.isfinite(found) else None
