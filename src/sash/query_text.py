"""`sash.sql`: query text on tables of every kind."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, overload

import pyarrow as pa

from sash import text as texts
from sash.algebra.aggregate import Template
from sash.api import aggregate, check_known, is_option, is_spark, is_stream, join, rolling
from sash.engine.join import lookback
from sash.engine.options import Emit, Late
from sash.engine.output import GivenTable, Source, check_kinds, edge_sources, open_table, result_sources
from sash.engine.tables import Kind, kind_of, read_rows
from sash.errors import InvalidInput, InvalidText
from sash.keywords import checked
from sash.syntax import arrow_expressions
from sash.text import arrow_outputs
from sash.text.functions import register

__all__ = ["prepare_rows", "read_text", "register", "sql"]

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
    selects, tables = read_text(text, tables, functions)
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
    if is_stream(given):
        request.check_bounded(revises=False)
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
        if is_stream(given):
            request.check_bounded(revises="revision" in result.columns)
    else:
        result = _per_row(rows, request, options, for_windows)
    return _finish(result, given, rows, request, given_table)


def read_text(
    text: str, tables: Mapping[str, Any], functions: Mapping[str, Template] | None = None
) -> tuple[tuple[texts.Select, ...], dict[str, Any]]:
    """Return the statements of a text on tables, and the tables with those of WITH."""
    selects = texts.parse(text, functions, lambda name: _column_names(tables.get(name)))
    found = dict(tables)
    for each in selects[0].inputs:
        if each.table not in found:
            raise InvalidText.no_table(each.place, each.table, tables).within(text)
        found[each.name] = _input_rows(found[each.table], each)
    return selects, found


def _column_names(rows: Any) -> Sequence[str] | None:
    if rows is None or is_option(rows):
        return None
    if is_spark(rows):
        from sash.spark.versions import check_types

        check_types(rows)
        return list(rows.columns)
    kind = kind_of(rows)
    if kind is Kind.LAZY:  # it is collected once, where its rows are read
        return list(rows.collect_schema().names())
    return list(rows.columns) if kind is Kind.DUCKDB else read_rows(rows).names


def _input_rows(rows: Any, given: texts.NamedInput) -> Any:
    """Return a table of WITH, of the same kind."""
    if is_spark(rows):
        from sash.spark.driver import text_outputs

        return text_outputs.input_rows(rows, given)
    opened = open_table(rows)
    table = read_rows(opened.rows).table()
    sources = {name: Source(name) for name in table.column_names}
    sources |= {name: Source(each.column_name) for name, each in given.columns if each.column_name is not None}
    made = opened.like(arrow_outputs.input_table(table, given), sources)
    if opened.kind is Kind.PANDAS:
        mask = arrow_outputs.input_mask(table, given)
        made.index = rows.index if mask is None else rows.index[mask.to_numpy()]
    return made


def _sources(request: texts.Request, steps: texts.Steps, names: Sequence[str]) -> dict[str, Source]:
    """Return what the columns of results are like; one that is computed is of the family of `on`."""
    aggregates = [each for query in request.queries for each in query.aggregates]
    aggregates += [each for frame in request.frames for each in frame.aggregates]
    found = {name: Source(name) for name in names} | result_sources(aggregates, request.on)
    if request.queries:
        found |= edge_sources(request.on)
    other = Source(request.on, False)
    return {name: found.get(each.column_name or "", other) for name, each in steps.columns}


def _finish(result: Any, given: Any, rows: Any, request: texts.Request, given_table: GivenTable | None) -> Any:
    """Return the results of a text from those of the engine, as a table of the kind of the given one."""
    names = list(result.columns) if is_spark(rows) else list(read_rows(result).names)
    own = () if request.queries else list(rows.columns) if is_spark(rows) else rows.column_names
    steps = request.steps(names, own)
    if given_table is None:
        from sash.spark.driver import text_outputs

        return text_outputs.apply_steps(result, steps, request.text) if steps.are_needed(names) else result
    if rows is given and not steps.are_needed(names):
        return given_table.close(result)
    kept = arrow_outputs.kept_rows(result, steps, request.text)
    made = arrow_outputs.apply_steps(result, steps, request.text, kept)
    found = given_table.like(made, _sources(request, steps, read_rows(given).names))
    if request.frames and kind_of(given) is Kind.PANDAS:
        mask = arrow_expressions.where_mask(read_rows(given).table(), request)
        index = given.index if mask is None else given.index[mask.fill_null(False).to_numpy()]
        found.index = index if kept is None else index[kept.to_numpy()]
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
    if request.queries and request.where is None and not request.computed and not request.is_computing:
        return rows
    return arrow_expressions.prepare_rows(given.table(), request)


def _per_row(rows: Any, request: texts.Request, options: dict[str, Any], for_windows: Mapping[str, Any]) -> Any:
    """Return the rows with the results of their frames."""
    for name, value in for_windows.items():
        if value not in (0, "final", False):
            raise InvalidInput.for_windows(name, value)
    if is_stream(rows) and request.is_unbounded:
        place = request.selects[0].place
        what = "A frame that reaches back to the first row would keep every row of a stream"
        raise InvalidText.meaning(place, what, "limit its length").within(request.text)
    return rolling(rows, *request.frames, order=request.order.columns, descending=request.order.descending, **options)
