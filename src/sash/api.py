"""The public functions on tables: the same line for Arrow, pandas, Polars and Spark."""

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast, overload

import pyarrow as pa

from sash import text as texts
from sash.algebra.aggregate import Template
from sash.engine import batch
from sash.engine.options import CallOptions, Emit, Late
from sash.engine.rolling import Closed, Frame, frames_of
from sash.engine.tables import Kind, kind_of, like, read_rows
from sash.errors import InvalidInput, InvalidText, UnknownName
from sash.plan.query import Query, named_queries
from sash.text import arrow_expressions
from sash.text.functions import register

__all__ = ["aggregate", "explain", "progress", "register", "rolling", "sql", "state", "why", "windowed"]

Rest = ParamSpec("Rest")
Table = TypeVar("Table")


class SameKind(Protocol[Rest]):
    """A function of a table that returns a table of the same kind; for a dict of lists, an Arrow table."""

    @overload
    def __call__(self, rows: Mapping[str, Any], /, *args: Rest.args, **kwargs: Rest.kwargs) -> pa.Table: ...
    @overload
    def __call__(self, rows: Table, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Table: ...


def _same_kind(function: Callable[Concatenate[Any, Rest], Any]) -> SameKind[Rest]:
    """Tell type checkers what comes out; nothing happens when it is called."""
    return cast("SameKind[Rest]", function)


@_same_kind
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
) -> Any:
    """All windows of a table, each once: Arrow, pandas, Polars or Spark in, the same kind out; a stream gives a stream.

    The end of the table is the end of the stream, so every window is sent; `partial=True` also sends count windows that
    are not full. `watermark`, `allowed_lateness`, `emit` and `late` are for streams: in a table no row is late. On
    Spark the job runs when the result is asked for; a dict of lists gives an Arrow table.

    Of a streaming DataFrame, `watermark` says how late rows may come. With `late="keep"` rows that are in no window are
    sent on: `query` is "_late", `late_row` the row, `late_reason` why. `flush="at_end"` closes all windows when a
    query that is triggered with `availableNow` has read everything. `initial` is a bounded DataFrame of rows from
    before the stream. Rows that are more than `max_future` ahead of the clock are treated as late ones.

    >>> import sash
    >>> peaks = sash.query("peaks", sash.tumbling(10), peak=sash.max("load"))
    >>> sash.aggregate({"t": [1, 12, 7], "load": [3, 4, 5]}, peaks, on="t").select(["window_start", "peak"]).to_pylist()
    [{'window_start': 0, 'peak': 5}, {'window_start': 10, 'peak': 4}]
    """
    given = CallOptions(on, by, watermark, allowed_lateness, emit, partial, False, late, flush, initial, max_future)
    return _shell(rows, given).aggregate(rows, queries, given)


def windowed(queries: Query | Sequence[Query], /, *, on: str, **options: Any) -> SameKind[[]]:
    """`sash.aggregate` as a step of a pipeline: `events.transform(sash.windowed(hourly, on="ts", by="plug"))`.

    >>> import sash
    >>> peaks = sash.windowed(sash.query("peaks", sash.tumbling(10), peak=sash.max("load")), on="t")
    >>> peaks({"t": [1, 12], "load": [3, 4]}).column("peak").to_pylist()
    [3, 4]
    """
    _check_known(options, aggregate)
    named_queries(queries)

    @_same_kind
    def step(rows: Any) -> Any:
        return aggregate(rows, queries, on=on, **options)

    return step


@_same_kind
def rolling(
    table: Any,
    /,
    *frames_given: Frame,
    on: str,
    by: str | Sequence[str] | None = None,
    rows: int | None = None,
    range: Any = None,
    closed: Closed = "both",
    min_samples: int = 1,
    watermark: Any = None,
    late: Late = "count",
    flush: Literal["at_end"] | None = None,
    initial: Any = None,
    max_future: Any = None,
    **aggregates: Template,
) -> Any:
    """Aggregates of each row and those before it: the last `rows` rows of its key, or those within `range` before it.

    The table comes back, of its own kind and, but for Spark's, in its own order, with a column for each aggregate;
    pandas' under its own index. Rows are taken in the order of `on`, equals as they stand. `range` is SQL's RANGE
    frame, [p - range, p] with all rows at p; `closed="right"` leaves out p - range. A frame without rows gives null,
    and 0 for counts. Where fewer than `min_samples` values are not null, the result is null.
    A row without a position is in no frame and has none. Several frames at once are given as `sash.frame(…)`.

    The rows of a stream are sent when the watermark has passed them, so that none can come before them; the options for
    streams are those of `sash.aggregate`. With `late="keep"` a late row is sent without results, and `late_reason`
    says why.

    >>> import sash
    >>> rows = {"t": [1, 2, 4, 9], "x": [5, 3, 4, 1]}
    >>> sash.rolling(rows, on="t", rows=2, peak=sash.max("x")).column("peak").to_pylist()
    [5, 5, 4, 4]
    >>> sash.rolling(rows, on="t", range=3, peak=sash.max("x"), n=sash.count()).select(["peak", "n"]).to_pylist()
    [{'peak': 5, 'n': 1}, {'peak': 5, 'n': 2}, {'peak': 5, 'n': 3}, {'peak': 1, 'n': 1}]
    """
    _check_known({name: each for name, each in aggregates.items() if _is_option(each)}, rolling, near=True)
    given = CallOptions(on, by, watermark, late=late, flush=flush, initial=initial, max_future=max_future)
    shell = _shell(table, given)
    return shell.rolling(table, frames_of(frames_given, rows, range, closed, min_samples, aggregates), given)


@overload
def sql(
    text: str,
    /,
    *,
    on: str | None = ...,
    by: str | Sequence[str] | None = ...,
    watermark: Any = ...,
    allowed_lateness: Any = ...,
    emit: Emit = ...,
    partial: bool = ...,
    late: Late = ...,
    flush: Literal["at_end"] | None = ...,
    initial: Any = ...,
    max_future: Any = ...,
    functions: Mapping[str, Template] | None = ...,
    **tables: Mapping[str, Any],
) -> pa.Table: ...
@overload
def sql(
    text: str,
    /,
    *,
    on: str | None = ...,
    by: str | Sequence[str] | None = ...,
    watermark: Any = ...,
    allowed_lateness: Any = ...,
    emit: Emit = ...,
    partial: bool = ...,
    late: Late = ...,
    flush: Literal["at_end"] | None = ...,
    initial: Any = ...,
    max_future: Any = ...,
    functions: Mapping[str, Template] | None = ...,
    **tables: Table,
) -> Table: ...
def sql(
    text: str,
    /,
    *,
    on: str | None = None,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    emit: Emit = "final",
    partial: bool = False,
    late: Late = "count",
    flush: Literal["at_end"] | None = None,
    initial: Any = None,
    max_future: Any = None,
    functions: Mapping[str, Template] | None = None,
    **tables: Any,
) -> Any:
    """What a text asks for: the papers' CQL, window table functions, or OVER; tables are given by their names.

    The result is that of `sash.aggregate`, or of `sash.rolling` where there is one result per row; so are the options.
    What the text does not say, `on` and `by` do. Several SELECTs with ; between them share slices. `functions` are
    aggregates of your own by the names that the text calls them; `sash.register` makes one known to every call.

    >>> import sash
    >>> rows = {"t": [1, 12, 7], "load": [3, 4, 5]}
    >>> sash.sql("SELECT MAX(load) AS peak FROM plugs [RANGE 10 SLIDE 10]", plugs=rows, on="t")["peak"].to_pylist()
    [5, 4]
    >>> sash.sql("SELECT MAX(lod) AS peak FROM plugs [RANGE 10 SLIDE 10]", plugs=rows, on="t")
    Traceback (most recent call last):
    sash.errors.InvalidText: Line 1: There is no column 'lod'. Did you mean 'load'? The known ones: load, t.
        SELECT MAX(lod) AS peak FROM plugs [RANGE 10 SLIDE 10]
                   ^
    """
    request = texts.request_of(texts.parse(text, functions), on, by)
    _check_known({name: each for name, each in tables.items() if _is_option(each) and name != request.table}, sql)
    if request.table not in tables:
        raise InvalidText.no_table(request.selects[0].place, request.table, tables).within(text)
    given = tables[request.table]
    rows = prepared(given, request)
    if _is_stream(given) and initial is not None:
        initial = prepared(initial, request)
    options: dict[str, Any] = {"on": request.on, "by": list(request.by), "watermark": watermark, "late": late}
    options |= {"flush": flush, "initial": initial, "max_future": max_future}
    for_windows = {"allowed_lateness": allowed_lateness, "emit": emit, "partial": partial}
    if request.queries:
        result = aggregate(rows, request.queries, **options, **for_windows)
    else:
        result = _per_row(rows, request, options, for_windows)
    if _is_spark(rows) or rows is given:
        return result
    found = like(result, kind_of(given))
    if request.frames and kind_of(given) is Kind.PANDAS:
        mask = arrow_expressions.kept(read_rows(given).table(), request)
        found.index = given.index if mask is None else given.index[mask.fill_null(False).to_numpy()]
    return found


def prepared(rows: Any, request: texts.Request) -> Any:
    """Rows as a request wants them; a table of which it wants windows of nothing but columns stays as it is."""
    if _is_spark(rows):
        request.check_columns(rows.columns)
        from sash.spark.driver import expressions

        return expressions.prepared(rows, request)
    given = read_rows(rows)
    request.check_columns(given.names, given.levels)
    if request.queries and request.where is None and not request.computed:
        return rows
    return arrow_expressions.prepared(given.table(), request)


def _per_row(rows: Any, request: texts.Request, options: dict[str, Any], for_windows: Mapping[str, Any]) -> Any:
    """A result for each row, of the columns that were asked for."""
    for name, value in for_windows.items():
        if value not in (0, "final", False):
            raise InvalidInput.for_windows(name, value)
    if _is_stream(rows) and request.is_unbounded:
        place = request.selects[0].place
        what = "A frame that reaches back to the first row would keep every row of a stream"
        raise InvalidText.meaning(place, what, "give it a length").within(request.text)
    result = rolling(rows, *request.frames, **options)
    names = result.columns if _is_spark(rows) else result.column_names
    wanted = [name for name in names if name not in request.computed]
    if request.selected is not None:
        own = rows.columns if _is_spark(rows) else rows.column_names
        results = [name for each in request.frames for name, _ in each.aggregates]
        wanted = [*request.selected, *(name for name in names if name not in (*own, *results))]
    if wanted == list(names):
        return result
    if _is_spark(rows):
        from sash.spark.driver.checkpoints import selected

        return selected(result, wanted)
    return result.select(wanted)


def explain(
    rows: Any,
    queries: Query | Sequence[Query],
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    watermark: Any = None,
    allowed_lateness: Any = 0,
    in_order: bool = False,
    emit: Emit = "final",
) -> Any:
    """What would be kept and computed for a table of these types, and why; prints as text, shows as HTML in a notebook.

    >>> import sash
    >>> hourly = sash.query("hourly", sash.sliding(60, every=1), peak=sash.max("load"), mean=sash.mean("load"))
    >>> recent = sash.query("recent", sash.sliding(rows=1000, every=100), last=sash.last("load"))
    >>> print(sash.explain({"t": [0], "load": [0.5]}, [hourly, recent], on="t"))
    stream  on t (integer), by no key, any order, lateness 0
    ...
    """
    given = CallOptions(on, by, watermark, allowed_lateness, emit, in_order=in_order and not _is_spark(rows))
    return _shell(rows, given).explain(rows, queries, given)


def progress(query: Any) -> Any:
    """What a streaming query has done: rows, watermark, windows, late rows, slices, state; None before there is any.

    >>> import sash
    >>> sash.progress("not a query")
    Traceback (most recent call last):
    sash.errors.InvalidInput: query must be what start() of a streaming DataFrame gave, but is 'not a query'.
    """
    return _watched(query).progress(query)


def why(query: Any) -> str:
    """What a streaming query waits for, and what holds its watermark back, in sentences.

    >>> import sash
    >>> sash.why(None)
    Traceback (most recent call last):
    sash.errors.InvalidInput: query must be what start() of a streaming DataFrame gave, but is None.
    """
    return str(_watched(query).why(query))


def state(checkpoint: str, queries: Query | Sequence[Query] | None = None) -> Any:
    """What a stopped streaming query remembers: keys, slices and windows that are open, from its checkpoint.

    Windows of your own are not known by the checkpoint: give the `queries` then. A Spark session must be active.

    >>> import sash
    >>> sash.state(42)
    Traceback (most recent call last):
    sash.errors.InvalidInput: checkpoint must be the path of a checkpoint, but is 42.
    """
    if not isinstance(checkpoint, str | PathLike):
        raise InvalidInput.option("checkpoint", checkpoint, "the path of a checkpoint")
    from sash.spark.monitoring import checkpoint_state

    return checkpoint_state.state(str(checkpoint), queries)


def _watched(query: Any) -> Any:
    if not (type(query).__module__.startswith("pyspark.sql.") and type(query).__name__ == "StreamingQuery"):
        raise InvalidInput.option("query", query, "what start() of a streaming DataFrame gave")
    from sash.spark.monitoring import progress

    return progress


def _is_spark(rows: Any) -> bool:
    """Whether it is a Spark DataFrame, told without importing Spark."""
    return type(rows).__module__.startswith("pyspark.sql.") and type(rows).__name__ == "DataFrame"


def _is_stream(rows: Any) -> bool:
    return _is_spark(rows) and bool(rows.isStreaming)


def _shell(rows: Any, given: CallOptions) -> Any:
    """The module that runs rows of this kind; refuse options that are for streams if the rows are none."""
    if not _is_stream(rows):
        given.check_late()  # a table has no late rows, so what is to happen to them does not matter
        for name in ("flush", "initial", "max_future"):
            if getattr(given, name) is not None:
                raise InvalidInput.for_streams(name, getattr(given, name))
    if not _is_spark(rows):
        return batch
    from sash.spark.driver import batch as bounded
    from sash.spark.driver import streaming as unbounded

    return unbounded if rows.isStreaming else bounded


def _is_option(value: Any) -> bool:
    """Whether a value can be meant for an option, and for no table or aggregate."""
    return isinstance(value, str | int | float | timedelta)


def _check_known(options: Mapping[str, Any], function: Callable[..., Any], near: bool = False) -> None:
    """Refuse options that a function has not; with `near`, only those that are nearly one that it has."""
    parameters = inspect.signature(function).parameters.values()
    known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    for name in options:
        if name not in known and (not near or difflib.get_close_matches(name, known)):
            raise UnknownName.of("option", name, known)
