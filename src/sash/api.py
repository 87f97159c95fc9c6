"""The public functions on tables of Arrow, pandas, Polars, DuckDB and Spark."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast, overload

import pyarrow as pa

from sash import progress_display  # noqa: F401  # it shows what `doing` says
from sash.activity import doing
from sash.algebra.aggregate import Template
from sash.engine import batch
from sash.engine import join as joins
from sash.engine.frame import Closed, Exclude, Frame, frames_of, order_of
from sash.engine.join import JoinOptions, Lookback
from sash.engine.options import CallOptions, Emit, Late, Store
from sash.engine.status_text import why_of
from sash.engine.stream import Stream
from sash.engine.tables import kind_of
from sash.errors import InvalidInput
from sash.keywords import checked, keywords_of, unknown_keyword
from sash.plan.query import Query, check_aggregates, named_queries
from sash.references import name_of, names_of

__all__ = [
    "aggregate",
    "check_known",
    "explain",
    "is_option",
    "is_spark",
    "is_stream",
    "join",
    "progress",
    "rolling",
    "state",
    "why",
    "windowed",
]

Rest = ParamSpec("Rest")
Table = TypeVar("Table")


class SameKind(Protocol[Rest]):
    """A function of a table that returns a table of the same kind; for a dict of lists, an Arrow table."""

    @overload
    def __call__(self, rows: Mapping[str, Any], /, *args: Rest.args, **kwargs: Rest.kwargs) -> pa.Table: ...
    @overload
    def __call__(self, rows: Table, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Table: ...


def _same_kind(function: Callable[Concatenate[Any, Rest], Any]) -> SameKind[Rest]:
    """Declare the return type for type checkers; at run time the function is unchanged."""
    return cast("SameKind[Rest]", function)


@_same_kind
@checked
def aggregate(
    rows: Any,
    queries: Query | Sequence[Query],
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    emit: Emit = "final",
    partial: bool = False,
    late: Late = "count",
    flush: Literal["at_end"] | None = None,
    initial: Any = None,
    max_future: Any = None,
    store: Store = "auto",
) -> Any:
    """Aggregate the rows of a table or of a stream in windows; the result is a table of the same kind, or a stream.

    `rows` is an Arrow, pandas, Polars, DuckDB or Spark table, or a dict of lists, which gives an Arrow table. Columns
    may be nested fields, such as `by="meta.device"`; the column of the results is then `device`. A table emits
    every window once; `partial=True` also emits count windows that are not full. `watermark`, `allowed_lateness`,
    `emit` and `late` are options of streams: in a table no row is late. Spark runs the job when the result is used.

    For a streaming DataFrame, `watermark` is the delay of the watermark. With `late="keep"`, rejected rows are in the
    results, too: `query` is "_late", `late_row` is the row, and `late_reason` is the reason. `flush="at_end"` closes
    all windows when a query with the trigger `availableNow` has read everything. `initial` is a bounded DataFrame with
    the rows before the stream. Rows whose time is ahead of the clock by more than `max_future` are rejected.

    `store` says how sash computes a window from its slices. "lazy" combines all slices of a window when the window
    ends. "eager" keeps a tree over the slices of each key, so that a window of n slices needs only about log n
    combines. "auto", the default, chooses by the number of slices per window. Results do not depend on `store`.

    >>> import sash
    >>> peaks = sash.query("peaks", sash.tumbling(10), peak=sash.max("load"))
    >>> table = sash.aggregate({"t": [1, 12, 7], "load": [3, 4, 5]}, peaks, on="t")
    >>> table.select(["window_start", "peak"]).to_pylist()
    [{'window_start': 0, 'peak': 5}, {'window_start': 10, 'peak': 4}]
    """
    on, by = name_of(on), names_of(by)
    given = CallOptions(
        on, by, watermark, allowed_lateness, emit, partial, False, late, flush, initial, max_future, store=store
    )
    with doing("aggregating", rows):
        return _shell(rows, given).aggregate(rows, queries, given)


@checked
def windowed(queries: Query | Sequence[Query], /, *, on: str, **options: Any) -> SameKind[[]]:
    """Return `sash.aggregate` as a step of a pipeline: `events.transform(sash.windowed(hourly, on="ts", by="plug"))`.

    >>> import sash
    >>> peaks = sash.windowed(
    ...     sash.query("peaks", sash.tumbling(10), peak=sash.max("load")), on="t"
    ... )
    >>> peaks({"t": [1, 12], "load": [3, 4]}).column("peak").to_pylist()
    [3, 4]
    """
    check_known("sash.windowed", options, aggregate)
    named_queries(queries)

    @_same_kind
    def step(rows: Any) -> Any:
        return aggregate(rows, queries, on=on, **options)

    return step


@_same_kind
@checked
def rolling(
    table: Any,
    /,
    *frames_given: Frame,
    on: str,
    by: str | Sequence[str] | None = None,
    rows: int | tuple[int | None, int | None] | None = None,
    range: Any = None,
    groups: int | tuple[int | None, int | None] | None = None,
    closed: Closed = "both",
    exclude: Exclude | None = None,
    center: bool = False,
    min_samples: int = 1,
    order: str | Sequence[str] | None = None,
    descending: bool | Sequence[bool] = False,
    watermark: Any = None,
    late: Late = "count",
    flush: Literal["at_end"] | None = None,
    initial: Any = None,
    max_future: Any = None,
    **aggregates: Template,
) -> Any:
    """Aggregate, for each row, its frame: the last `rows` rows of its key, or the rows within `range` before it.

    The result is the table, of the same kind, with a column for each aggregate. The rows keep their order (except on
    Spark), and pandas tables keep their index. Rows follow each other in the order of `on`, then of the columns
    `order`, then of arrival; `descending=True` reverses the order, as DESC does in SQL. A frame has one of three
    extents:

    - `rows=100`: the row and the 99 before it. `rows=(-10, 5)`: from 10 rows before the row to 5 after it.
    - `range="1 hour"`: the rows with positions in [p - 1 hour, p], where p is the position of the row.
      `range=("-1 hour", "-5 minutes")` has both ends. `closed` says which ends belong to the range.
    - `groups=(-1, 0)`: the same with groups of rows that are equal in `on` and `order`.

    None is an open end, such as in `rows=(None, 0)`. `center=True` puts a single length around the row. `exclude`
    leaves out the row itself ("row"), its whole group ("group"), or the other rows of its group ("ties"). A frame
    without rows gives null, and 0 for counts. If fewer than `min_samples` values are not null, the result is null. A
    row without a position is in no frame and has no result. Pass several frames as `sash.frame(…)`.

    A stream emits a row when the watermark shows that no more rows of its frame can arrive. The options of streams are
    those of `sash.aggregate`. With `late="keep"`, a late row is emitted without results, and `late_reason` is the
    reason.

    >>> import sash
    >>> rows = {"t": [1, 2, 4, 9], "x": [5, 3, 4, 1]}
    >>> sash.rolling(rows, on="t", rows=2, peak=sash.max("x")).column("peak").to_pylist()
    [5, 5, 4, 4]
    >>> both = sash.rolling(rows, on="t", range=3, peak=sash.max("x"), n=sash.count())
    >>> both.select(["peak", "n"]).to_pylist()
    [{'peak': 5, 'n': 1}, {'peak': 5, 'n': 2}, {'peak': 5, 'n': 3}, {'peak': 1, 'n': 1}]
    >>> near = sash.rolling(rows, on="t", rows=(-1, 1), exclude="row", sum=sash.sum("x"))
    >>> near.column("sum").to_pylist()
    [3, 9, 4, 4]
    """
    check_aggregates(aggregates, "sash.rolling", keywords_of(rolling))
    on, by = name_of(on), names_of(by)
    given = CallOptions(
        on, by, watermark, late=late, flush=flush, initial=initial, max_future=max_future,
        order=order_of(order, descending),
    )  # fmt: skip
    extent = {"rows": rows, "range": range, "groups": groups, "closed": closed, "exclude": exclude, "center": center}
    frames = frames_of(frames_given, {**extent, "min_samples": min_samples}, aggregates)
    with doing("computing frames of", table):
        return _shell(table, given).rolling(table, frames, given)


@_same_kind
@checked
def join(
    labels: Any,
    /,
    *lookbacks: Lookback,
    on: str,
    by: str | Sequence[str] | None = None,
    closed: Closed = "left",
    delay: Any = 0,
) -> Any:
    """Aggregate, for each label, the rows of other tables that are before the label, and no later rows.

    The result has all rows and columns of `labels`, in their order, and a column for each aggregate of each
    `sash.lookback(events, …)`. For a label at p, a lookback with `range=d` takes the events of its key with positions
    in [p - d, p); `closed` says which ends belong to the range. `rows=n` takes the last n events before p. `delay` is
    the time until an event becomes known: the join uses position + delay as the position of the event. A label without
    events gets null, and 0 for counts. A label without a position, or with a null key, gets null.

    >>> import sash
    >>> clicks = {
    ...     "user": ["a", "a", "b", "a"],
    ...     "ts": [1, 4, 5, 9],
    ...     "price": [3.0, 2.0, 7.0, 1.0],
    ... }
    >>> labels = {"user": ["a", "b", "a"], "ts": [4, 9, 10]}
    >>> recent = sash.lookback(clicks, range=6, spent=sash.sum("price"), n=sash.count())
    >>> sash.join(labels, recent, on="ts", by="user").select(["spent", "n"]).to_pylist()
    [{'spent': 3.0, 'n': 1}, {'spent': 7.0, 'n': 1}, {'spent': 3.0, 'n': 2}]
    """
    on, by = name_of(on), names_of(by)
    tables = [labels, *(each.table for each in lookbacks if isinstance(each, Lookback))]
    with doing("joining", labels):
        return _joiner(tables).join(labels, lookbacks, JoinOptions(on, by, closed, delay))


def _joiner(tables: Sequence[Any]) -> Any:
    """Return the module that joins tables of their kind."""
    if is_pandas_on_spark(tables[0]):
        from sash.spark.driver import pandas_api

        return pandas_api
    if not any(map(is_spark, tables)):
        return joins
    if not all(map(is_spark, tables)):
        raise InvalidInput.kinds(sorted({"spark" if is_spark(each) else kind_of(each).value for each in tables}))
    from sash.spark.driver import join as spark_joins

    return spark_joins


@checked
def explain(
    rows: Any,
    queries: Query | Lookback | Sequence[Query] | Sequence[Lookback],
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    in_order: bool = False,
    emit: Emit = "final",
    store: Store = "auto",
) -> Any:
    """Return the plan for a table of these types, with reasons; it prints as text, and as HTML in a notebook.

    If you pass lookbacks instead of queries, the result is the plan of `sash.join`.

    >>> import sash
    >>> hourly = sash.query("hourly", sash.sliding(60, every=1), mean=sash.mean("load"))
    >>> rows = sash.sliding(rows=1000, every=100)
    >>> recent = sash.query("recent", rows, last=sash.last("load"))
    >>> print(sash.explain({"t": [0], "load": [0.5]}, [hourly, recent], on="t"))
    stream  on t (integer), by no key, any order, lateness 0
    ...
    """
    on, by = name_of(on), names_of(by)
    lookbacks: list[Any] = list(queries) if isinstance(queries, list | tuple) else [queries]
    if lookbacks and all(isinstance(each, Lookback) for each in lookbacks):
        return _joiner([rows, *(each.table for each in lookbacks)]).explain(rows, lookbacks, JoinOptions(on, by))
    in_order = in_order and not is_spark(rows)
    given = CallOptions(on, by, watermark, allowed_lateness, emit, in_order=in_order, store=store)
    return _shell(rows, given).explain(rows, queries, given)


@checked
def progress(query: Any) -> Any:
    """Return the progress of a streaming query: rows, watermark, windows, state; None before the first micro-batch.

    >>> import sash
    >>> sash.progress("not a query")
    Traceback (most recent call last):
    sash.errors.InvalidInput: query must be the StreamingQuery that start() returned,
      but is 'not a query'.
    """
    return _progress_module(query).progress(query)


@checked
def why(query: Any) -> str:
    """Explain in sentences what a streaming query or a `sash.Stream` waits for, and why its watermark does not move.

    If the watermark is ahead of the clock, the text says so.

    >>> import sash
    >>> tens = sash.query("n", sash.tumbling(10), n=sash.count())
    >>> stream = sash.Stream(tens, on="t", watermark=2)
    >>> _ = stream.push({"t": [1, 5]})
    >>> print(sash.why(stream))
    The watermark is 3: the newest row is at 5, and rows may come 2 late. About one window
    is open. The next ends at 10, and closes when a row at 12 or later comes.
    """
    if isinstance(query, Stream):
        found: list[str] = []
        query.inspect(lambda observation: found.append(why_of(observation)))
        return found[0]
    return str(_progress_module(query).why(query))


@checked
def state(checkpoint: str, queries: Query | Sequence[Query] | None = None) -> Any:
    """Return the state of a stopped streaming query from its checkpoint: keys, slices and open windows.

    A checkpoint does not contain the code of your own windows: pass the `queries` then. A Spark session must be active.

    >>> import sash
    >>> sash.state(42)
    Traceback (most recent call last):
    sash.errors.InvalidInput: checkpoint must be the path of a checkpoint, but is 42.
    """
    if not isinstance(checkpoint, str | PathLike):
        raise InvalidInput.option("checkpoint", checkpoint, "the path of a checkpoint")
    from sash.spark.monitoring import checkpoint_state

    return checkpoint_state.state(str(checkpoint), queries)


def _progress_module(query: Any) -> Any:
    if not (type(query).__module__.startswith("pyspark.sql.") and type(query).__name__ == "StreamingQuery"):
        raise InvalidInput.option("query", query, "the StreamingQuery that start() returned")
    from sash.spark.monitoring import progress

    return progress


def is_spark(rows: Any) -> bool:
    """Return whether the rows are a Spark DataFrame, without importing Spark."""
    return type(rows).__module__.startswith("pyspark.sql.") and type(rows).__name__ == "DataFrame"


def is_pandas_on_spark(rows: Any) -> bool:
    """Return whether the rows are a DataFrame of pyspark.pandas, without importing Spark."""
    return type(rows).__module__.startswith("pyspark.pandas.") and type(rows).__name__ == "DataFrame"


def is_stream(rows: Any) -> bool:
    return is_spark(rows) and bool(rows.isStreaming)


def _shell(rows: Any, given: CallOptions) -> Any:
    """Return the module that runs rows of this kind; refuse options of streams for tables."""
    if not is_stream(rows):
        given.check_late()  # a table has no late rows: the option is checked and not used
        for name in ("flush", "initial", "max_future"):
            if getattr(given, name) is not None:
                raise InvalidInput.for_streams(name, getattr(given, name))
    if is_pandas_on_spark(rows):
        from sash.spark.driver import pandas_api

        return pandas_api
    if not is_spark(rows):
        return batch
    if not rows.isStreaming:
        from sash.spark.driver import batch as bounded

        return bounded
    from sash.spark.versions import check_streams

    check_streams()
    from sash.spark.driver import streaming as unbounded
    from sash.spark.monitoring.clock import watch_clock

    if given.max_future is None:
        watch_clock(rows)
    return unbounded


def is_option(value: Any) -> bool:
    """Return whether a value can be that of an option, and not a table or an aggregate."""
    return isinstance(value, str | int | float | timedelta)


def check_known(call: str, options: Iterable[str], function: Callable[..., Any]) -> None:
    """Refuse keywords of a call that a function does not have."""
    known = [each.name for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise unknown_keyword(call, name, known)
