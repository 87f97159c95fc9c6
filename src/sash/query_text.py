"""`sash.sql`: query text on tables of every kind."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, overload

import pyarrow as pa

from sash import text as texts
from sash.algebra.aggregate import Template
from sash.api import aggregate, check_known, is_option, is_spark, is_stream, join, rolling
from sash.engine.join import check_kinds, lookback
from sash.engine.options import Emit, Late
from sash.engine.output import Source, edge_sources, open_table, result_sources
from sash.engine.tables import Kind, kind_of, read_rows
from sash.errors import InvalidInput, InvalidText
from sash.keywords import checked
from sash.syntax import arrow_expressions
from sash.text.functions import register

__all__ = ["prepare_rows", "register", "sql"]

Table = TypeVar("Table")

# Options of `sash.sql` that WINDOW JOIN does not use, and their defaults.
_UNUSED_BY_JOINS = {
    **dict.fromkeys(("watermark", "flush", "initial", "max_future")),
    "allowed_lateness": 0,
    "emit": "final",
    "partial": False,
    "late": "count",
}


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
@checked
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
    """Run query text: CQL of the papers, window table functions, or OVER; pass tables by their names.

    The result and the options are those of `sash.aggregate`, or of `sash.rolling` if there is one result per row. Pass
    `on` and `by` if the text does not contain them. Several SELECTs, separated by `;`, share slices. `functions` maps
    names in the text to your own aggregates; `sash.register` registers one for all calls.

    >>> import sash
    >>> rows = {"t": [1, 12, 7], "load": [3, 4, 5]}
    >>> sash.sql(
    ...     "SELECT MAX(load) AS peak FROM plugs [RANGE 10 SLIDE 10]", plugs=rows, on="t"
    ... )["peak"].to_pylist()
    [5, 4]
    >>> sash.sql(
    ...     "SELECT MAX(lod) AS peak FROM plugs [RANGE 10 SLIDE 10]", plugs=rows, on="t"
    ... )
    Traceback (most recent call last):
    sash.errors.InvalidText: Line 1: There is no column 'lod'. Did you mean 'load'? The
      known ones: load, t.
        SELECT MAX(lod) AS peak FROM plugs [RANGE 10 SLIDE 10]
                   ^
    """
    selects = texts.parse(text, functions)
    if any(each.join is not None for each in selects):
        options: dict[str, Any] = {
            "watermark": watermark,
            "allowed_lateness": allowed_lateness,
            "emit": emit,
            "partial": partial,
        }
        options |= {"late": late, "flush": flush, "initial": initial, "max_future": max_future}
        for name, default in _UNUSED_BY_JOINS.items():
            if type(options[name]) is not type(default) or options[name] != default:
                raise InvalidInput.for_windows(name, options[name])
        return _join_text(texts.join_request_of(selects, on, by), tables)
    request = texts.request_of(selects, on, by)
    check_known("sash.sql", [name for name, each in tables.items() if is_option(each) and name != request.table], sql)
    if request.table not in tables:
        raise InvalidText.no_table(request.selects[0].place, request.table, tables).within(text)
    given = tables[request.table]
    given_table = None if is_spark(given) else open_table(given)
    if given_table is not None:
        given = given_table.rows
    rows = prepare_rows(given, request)
    if is_stream(given) and initial is not None:
        initial = prepare_rows(initial, request)
    options = {"on": request.on, "by": list(request.by), "watermark": watermark, "late": late}
    options |= {"flush": flush, "initial": initial, "max_future": max_future}
    for_windows = {"allowed_lateness": allowed_lateness, "emit": emit, "partial": partial}
    if request.queries:
        result = aggregate(rows, request.queries, **options, **for_windows)
    else:
        result = _per_row(rows, request, options, for_windows)
    if given_table is None:
        return result
    if rows is given:
        return given_table.close(result)
    aggregates = [each for one in (*request.queries, *request.frames) for each in one.aggregates]
    sources = {name: Source(name) for name in read_rows(given).names}
    sources |= result_sources(aggregates, request.on)
    found = given_table.like(result, sources | edge_sources(request.on) if request.queries else sources)
    if request.frames and kind_of(given) is Kind.PANDAS:
        mask = arrow_expressions.where_mask(read_rows(given).table(), request)
        found.index = given.index if mask is None else given.index[mask.fill_null(False).to_numpy()]
    return found


def _join_text(request: texts.JoinRequest, tables: Mapping[str, Any]) -> Any:
    """Run WINDOW JOIN of query text."""
    check_known("sash.sql", [name for name, each in tables.items() if is_option(each)], sql)
    for name, place in request.tables.items():
        if name not in tables:
            raise InvalidText.no_table(place, name, tables).within(request.text)
    labels = tables[request.labels]
    given = {each.clause.table: tables[each.clause.table] for each in request.lookbacks}
    given_labels = None if is_spark(labels) else open_table(labels)
    if given_labels is not None:
        check_kinds(labels, list(given.values()))
        labels = given_labels.rows
    request.check_labels(labels.columns if is_spark(labels) else read_rows(labels).names)
    events = {name: _with_computed(each, name, request) for name, each in given.items()}
    lookbacks = []
    for one in request.lookbacks:
        made = lookback(events[one.clause.table], **request.options(one), result=one.aggregates[0][1])
        lookbacks.append(replace(made, aggregates=one.aggregates))  # names of results may be those of options
    result = join(labels, *lookbacks, on=request.on, by=list(request.by))
    selected = request.selected()
    if selected is not None:
        is_pandas = not is_spark(labels) and kind_of(labels) is Kind.PANDAS
        result = result[selected] if is_pandas else result.select(selected)
    return result if given_labels is None else given_labels.close(result)


def _with_computed(rows: Any, name: str, request: texts.JoinRequest) -> Any:
    """Return the events of a join with a column for each expression that an aggregate reads."""
    computed = request.computed(name)
    if is_spark(rows):
        request.check_events(name, rows.columns)
        from sash.spark.driver import expressions

        return expressions.with_computed(rows, computed, request.text)
    given = read_rows(rows)
    request.check_events(name, given.names)
    if not computed:
        return rows
    return given.with_arrays(arrow_expressions.compute_all(given.table(), computed, request.text))


def prepare_rows(rows: Any, request: texts.Request) -> Any:
    """Return rows filtered and with computed columns, as a request needs them; unchanged if it needs neither."""
    if is_spark(rows):
        request.check_columns(rows.columns)
        from sash.spark.driver import expressions

        return expressions.prepare_rows(rows, request)
    given = read_rows(rows)
    request.check_columns(given.names, given.levels)
    if request.queries and request.where is None and not request.computed:
        return rows
    return arrow_expressions.prepare_rows(given.table(), request)


def _per_row(rows: Any, request: texts.Request, options: dict[str, Any], for_windows: Mapping[str, Any]) -> Any:
    """Return one result per row, with the selected columns."""
    for name, value in for_windows.items():
        if value not in (0, "final", False):
            raise InvalidInput.for_windows(name, value)
    if is_stream(rows) and request.is_unbounded:
        place = request.selects[0].place
        what = "A frame that reaches back to the first row would keep every row of a stream"
        raise InvalidText.meaning(place, what, "limit its length").within(request.text)
    result = rolling(rows, *request.frames, order=request.order.columns, descending=request.order.descending, **options)
    names = result.columns if is_spark(rows) else result.column_names
    wanted = [name for name in names if name not in request.computed]
    if request.selected is not None:
        own = rows.columns if is_spark(rows) else rows.column_names
        results = [name for each in request.frames for name, _ in each.aggregates]
        wanted = [*request.selected, *(name for name in names if name not in (*own, *results))]
    if wanted == list(names):
        return result
    if is_spark(rows):
        from sash.spark.driver.checkpoints import select_columns

        return select_columns(result, wanted)
    return result.select(wanted)
