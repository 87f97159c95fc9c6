"""The public door to tables: the same line for Arrow, pandas, Polars and Spark."""

from collections.abc import Sequence
from typing import Any

from sash.algebra.aggregate import Template
from sash.engine import batch
from sash.engine import rolling as frames
from sash.engine.rolling import Frame
from sash.plan.query import Query

__all__ = ["aggregate", "explain", "rolling"]


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
    """All windows of a table, each once: Arrow, pandas, Polars or Spark in, the same kind out.

    The end of the table is the end of the stream, so every window is sent; `partial=True` also sends count windows that
    are not full. `watermark`, `allowed_lateness` and `emit` are for streams: in a table no row is late. On Spark
    the job runs when the result is asked for; a dict of lists gives an Arrow table.

    >>> import sash
    >>> peaks = sash.query("peaks", sash.tumbling(10), peak=sash.max("load"))
    >>> sash.aggregate({"t": [1, 12, 7], "load": [3, 4, 5]}, peaks, on="t").select(["window_start", "peak"]).to_pylist()
    [{'window_start': 0, 'peak': 5}, {'window_start': 10, 'peak': 4}]
    """
    run = _spark().aggregate if _is_spark(rows) else batch.aggregate
    return run(
        rows,
        queries,
        on=on,
        by=by,
        watermark=watermark,
        allowed_lateness=allowed_lateness,
        emit=emit,
        partial=partial,
    )


def rolling(
    table: Any,
    /,
    *frames_given: Frame,
    on: str,
    by: str | Sequence[str] | None = None,
    rows: int | None = None,
    range: Any = None,
    closed: str = "both",
    min_samples: int = 1,
    **aggregates: Template,
) -> Any:
    """Aggregates of each row and those before it: the last `rows` rows of its key, or those within `range` before it.

    The table comes back, of its own kind and, but for Spark's, in its own order, with a column for each aggregate. Rows
    are taken in the order of `on`, equals as they stand. `range` is SQL's RANGE frame, [p - range, p] with all rows
    at p; `closed="right"` leaves out p - range. Where fewer than `min_samples` values are not null, the result is null.
    A row without a position is in no frame and has none. Several frames at once are given as `sash.frame(…)`.

    >>> import sash
    >>> rows = {"t": [1, 2, 4, 9], "x": [5, 3, 4, 1]}
    >>> sash.rolling(rows, on="t", rows=2, peak=sash.max("x")).column("peak").to_pylist()
    [5, 5, 4, 4]
    >>> sash.rolling(rows, on="t", range=3, peak=sash.max("x"), n=sash.count()).select(["peak", "n"]).to_pylist()
    [{'peak': 5, 'n': 1}, {'peak': 5, 'n': 2}, {'peak': 5, 'n': 3}, {'peak': 1, 'n': 1}]
    """
    run = _spark().rolling if _is_spark(table) else frames.rolling
    return run(
        table, *frames_given, on=on, by=by, rows=rows, range=range, closed=closed, min_samples=min_samples, **aggregates
    )


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
) -> Any:
    """What would be kept and computed for a table of these types, and why; prints as text, shows as HTML in a notebook.

    >>> import sash
    >>> hourly = sash.query("hourly", sash.sliding(60, every=1), peak=sash.max("load"), mean=sash.mean("load"))
    >>> recent = sash.query("recent", sash.sliding(rows=1000, every=100), last=sash.last("load"))
    >>> print(sash.explain({"t": [0], "load": [0.5]}, [hourly, recent], on="t"))
    stream  on t (integer), by no key, any order, lateness 0
    ...
    """
    if _is_spark(rows):
        return _spark().explain(rows, queries, on=on, by=by)
    return batch.explain(
        rows,
        queries,
        on=on,
        by=by,
        watermark=watermark,
        allowed_lateness=allowed_lateness,
        in_order=in_order,
        emit=emit,
    )


def _is_spark(rows: Any) -> bool:
    """Whether it is a Spark DataFrame, told without importing Spark."""
    return type(rows).__module__.startswith("pyspark.sql.") and type(rows).__name__ == "DataFrame"


def _spark() -> Any:
    from sash.spark import batch as spark_batch

    return spark_batch
