"""DataFrames of pyspark.pandas: run on Spark, and return a DataFrame of pyspark.pandas."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sash.engine.frame import Frame
from sash.engine.join import JoinOptions, Lookback, check_lookbacks
from sash.engine.options import CallOptions
from sash.plan.query import Query
from sash.spark.driver import batch
from sash.spark.driver import join as joins

__all__ = ["aggregate", "explain", "join", "rolling", "to_spark"]


def aggregate(rows: Any, queries: Query | Sequence[Query], given: CallOptions) -> Any:
    """Run `sash.aggregate`; the index is not part of the rows."""
    return batch.aggregate(to_spark(rows), queries, given).pandas_api()


def rolling(table: Any, frames: tuple[Frame, ...], given: CallOptions) -> Any:
    """Run `sash.rolling`; each row keeps its index."""
    levels, rows = _with_index(table)
    return _with_names(batch.rolling(rows, frames, given).pandas_api(index_col=levels), table)


def explain(rows: Any, asked: Any, given: CallOptions | JoinOptions) -> Any:
    """Run `sash.explain` on queries, or on the lookbacks of a join."""
    if isinstance(given, JoinOptions):
        return joins.explain(to_spark(rows), _on_spark(asked), given)
    return batch.explain(to_spark(rows), asked, given)


def join(labels: Any, lookbacks: Sequence[Lookback], given: JoinOptions) -> Any:
    """Run `sash.join`; each label keeps its index."""
    levels, rows = _with_index(labels)
    found = joins.join(rows, _on_spark(lookbacks), given)
    return _with_names(found.pandas_api(index_col=levels), labels)


def to_spark(rows: Any) -> Any:
    """Return the rows as a DataFrame of Spark; other tables as they are."""
    return rows.to_spark() if type(rows).__module__.startswith("pyspark.pandas.") else rows


def _on_spark(lookbacks: Sequence[Lookback]) -> list[Lookback]:
    """Return lookbacks over DataFrames of Spark; those over one table still share it."""
    check_lookbacks(lookbacks)
    tables = {id(each.table): to_spark(each.table) for each in lookbacks}
    return [replace(each, table=tables[id(each.table)]) for each in lookbacks]


def _with_index(rows: Any) -> tuple[list[str], Any]:
    levels = [f"__index_level_{place}__" for place in range(rows.index.nlevels)]
    return levels, rows.to_spark(index_col=levels)


def _with_names(found: Any, given: Any) -> Any:
    found.index.names = given.index.names
    return found
