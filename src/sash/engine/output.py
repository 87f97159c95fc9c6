"""Results like the rows: a table of the same kind, whose columns have the types that the rows have.

Idea      A result takes the family of types from the column that it reads: NumPy, nullable or Arrow-backed types of
          pandas. Keys, window edges, and aggregates that return one of their values have the very type of the column.
Limits    In the NumPy family, whole numbers and booleans with nulls become Int64 and boolean of pandas.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.aggregate import Template
from sash.engine.tables import Kind, kind_of, read_rows
from sash.errors import InvalidInput

__all__ = ["GivenTable", "Source", "Sources", "check_kinds", "edge_sources", "open_table", "result_sources"]

_COLLECTED = {Kind.LAZY: Kind.POLARS, Kind.DUCKDB: Kind.ARROW}  # kinds, and those of their rows


@dataclass(frozen=True)
class Source:
    """The column of the rows that a column of results is like."""

    column: str
    is_same: bool = True  # the values are values of the column; else only the family of types is the same


Sources: TypeAlias = Mapping[str, Source]


def result_sources(aggregates: Iterable[tuple[str, Template]], on: str) -> dict[str, Source]:
    """Return what the results of aggregates are like.

    >>> import sash
    >>> result_sources([("peak", sash.max("x")), ("n", sash.count())], "t")
    {'peak': Source(column='x', is_same=True), 'n': Source(column='t', is_same=False)}
    """
    found: dict[str, Source] = {}
    for name, template in aggregates:
        is_same = bool(template.columns) and (template.selective or template.name == "mode")
        found.setdefault(name, Source(template.columns[-1] if template.columns else on, is_same))
    return found


def edge_sources(on: str) -> dict[str, Source]:
    """Return what the columns are like that all results of windows have."""
    ranks = dict.fromkeys(("rank_start", "rank_end", "revision"), Source(on, False))
    return {"window_start": Source(on), "window_end": Source(on), "query": Source(on, False), **ranks}


@dataclass(frozen=True)
class GivenTable:
    """A table as a user gave it, and its rows, which are read once."""

    given: Any
    kind: Kind
    rows: Any  # a lazy frame is collected, and a relation is an Arrow table

    def like(self, results: Any, sources: Sources) -> Any:
        """Return an Arrow table of results as a table of the given kind."""
        if self.kind is Kind.PANDAS:
            return _pandas_frame(results, self.rows, sources)
        return self.close(_like(results, self.rows, self.kind, sources))

    def with_columns(self, columns: Mapping[str, Any], sources: Sources) -> Any:
        """Return the rows with further Arrow columns; a DataFrame keeps its index, its types and its order."""
        added = pa.table(dict(columns))
        if self.kind is Kind.PANDAS:
            return _beside(self.rows, _pandas_frame(added, self.rows, sources))
        if self.kind in (Kind.POLARS, Kind.LAZY):
            return self.close(self.rows.hstack(_like(added, self.rows, self.kind, sources)))
        table = read_rows(self.rows).table()
        for name, column in columns.items():
            table = table.append_column(name, column)
        return self.close(table)

    def close(self, table: Any) -> Any:
        """Return a table of the kind of the rows as a table of the given kind."""
        if self.kind is Kind.LAZY:
            return table.lazy()
        if self.kind is Kind.DUCKDB:
            return _relation(self.given, table)
        return table


def open_table(rows: Any) -> GivenTable:
    """Read a table: collect a lazy frame, run a relation.

    >>> open_table({"x": [1]}).with_columns({"y": pa.array([2])}, {}).to_pylist()
    [{'x': 1, 'y': 2}]
    """
    kind = kind_of(rows)
    if kind is Kind.LAZY:
        return GivenTable(rows, kind, rows.collect())
    if kind is Kind.DUCKDB:
        return GivenTable(rows, kind, read_rows(rows).table())
    return GivenTable(rows, kind, rows)


def check_kinds(labels: Any, tables: Sequence[Any]) -> None:
    """Refuse tables of different kinds; dicts go with any, and lazy frames with collected ones."""
    kinds = {kind_of(each) for each in (labels, *tables)}
    alike = {_COLLECTED.get(each, each) for each in kinds}
    if len(alike - {Kind.DICT}) > 1:
        raise InvalidInput.kinds(sorted(each.value for each in kinds))


def _relation(given: Any, found: pa.Table) -> Any:
    """Return a table as a relation of the same connection; DuckDB finds the table by the name of the variable."""
    return given.query("sash_rows", "SELECT * FROM found")


# --- Arrow and Polars --------------------------------------------------------------------------------


def _like(results: Any, rows: Any, kind: Kind, sources: Sources) -> Any:
    """Return results with the types of the rows, such as categories, for Arrow and Polars."""
    if kind in (Kind.POLARS, Kind.LAZY):
        polars = sys.modules["polars"]  # imported already by the caller
        wanted = {name: rows.schema.get(each.column) for name, each in sources.items() if each.is_same}
        for place, field in enumerate(results.schema):
            unit = getattr(wanted.get(field.name), "time_unit", None)
            if unit is not None and pa.types.is_timestamp(field.type):
                results = results.set_column(place, field.name, _in_unit(results.column(place), unit))
        found = polars.from_arrow(results)
        coded = {name: kind for name, kind in wanted.items() if kind in (polars.Categorical, polars.Enum)}
        return found.cast({name: kind for name, kind in coded.items() if name in found.columns})
    if kind is not Kind.ARROW:
        return results
    schema = read_rows(rows).table().schema
    for place, field in enumerate(results.schema):
        source = sources.get(field.name)
        if source is None or not source.is_same or source.column not in schema.names:
            continue
        wanted = schema.field(source.column).type
        if pa.types.is_dictionary(wanted) and field.type == wanted.value_type:
            encoded = results.column(place).dictionary_encode().cast(wanted)
            results = results.set_column(place, field.name, encoded)
    return results


def _in_unit(times: Any, unit: str) -> Any:
    """Return times in another unit; in their own if one of them does not fit it."""
    try:
        return times.cast(pa.timestamp(unit, times.type.tz))
    except pa.ArrowInvalid:
        return times


# --- pandas --------------------------------------------------------------------------------------------


def _pandas_frame(results: Any, rows: Any, sources: Sources) -> Any:
    """Return an Arrow table as a DataFrame, with the types of the rows."""
    pandas = sys.modules["pandas"]  # imported already by the caller
    found = results.to_pandas()
    columns = {str(name): place for place, name in enumerate(rows.columns)}
    dtypes = list(rows.dtypes)
    for name, column in zip(results.column_names, results.columns, strict=True):
        source = sources.get(name)
        place = None if source is None else columns.get(source.column)
        dtype = None if place is None else dtypes[place]
        series = _series(pandas, column, dtype, source is not None and source.is_same)
        if series is not None:
            found[name] = series
    return found


def _beside(rows: Any, added: Any) -> Any:
    """Return the columns of two DataFrames of the same rows, with the index of the first."""
    pandas = sys.modules["pandas"]
    added.index, added.attrs = rows.index, rows.attrs
    deeper = [""] * (rows.columns.nlevels - 1)
    added.columns = pandas.Index([(name, *deeper) if deeper else name for name in added.columns])
    added.columns.names = rows.columns.names
    return pandas.concat([rows, added], axis=1)


def _series(pandas: Any, values: Any, dtype: Any, is_same: bool) -> Any:
    """Return an Arrow column with the type, or the family of types, of a column of the rows; None for Arrow's own."""
    kind = values.type
    if isinstance(dtype, np.dtype) and dtype.kind != "M" and not pa.types.is_dictionary(kind):
        return values.to_pandas(types_mapper=_nullable(None).get) if _needs_nulls(values) else None
    if isinstance(dtype, pandas.ArrowDtype):
        wanted = dtype.pyarrow_dtype
        if is_same and pa.types.is_dictionary(wanted) and kind == wanted.value_type:
            values = values.dictionary_encode().cast(wanted)
        return pandas.Series(pandas.arrays.ArrowExtensionArray(values))
    if pa.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
    if is_same and isinstance(dtype, pandas.CategoricalDtype) and _are_categories(values, dtype):
        return pandas.Series(pandas.Categorical(values.to_pandas(), dtype=dtype))
    if is_same and getattr(dtype, "kind", "") == "M" and pa.types.is_timestamp(kind):
        unit = dtype.unit if hasattr(dtype, "unit") else np.datetime_data(dtype)[0]
        return _in_unit(values, unit).to_pandas()
    text = dtype if isinstance(dtype, pandas.StringDtype) else None
    nullable = _nullable(text)
    is_nullable = isinstance(dtype, pandas.api.extensions.ExtensionDtype) and dtype in nullable.values()
    if text is not None and text.na_value is not pandas.NA:  # NumPy's family has it for text, with NaN as the null
        is_nullable = _is_text(kind)
    if is_nullable or _needs_nulls(values):
        return values.to_pandas(types_mapper=nullable.get)
    return values.to_pandas() if values.type != kind else None


def _needs_nulls(values: Any) -> bool:
    """Return whether NumPy has no type for a column."""
    return bool(values.null_count) and (_is_whole(values.type) or pa.types.is_boolean(values.type))


@cache
def _nullable(text: Any) -> dict[Any, Any]:
    """Return the nullable types of pandas by Arrow types; `text` is that of strings, if a column has one."""
    pandas = sys.modules["pandas"]
    names = {"Int": "int", "UInt": "uint"}
    found = {
        getattr(pa, f"{own}{bits}")(): getattr(pandas, f"{name}{bits}Dtype")()
        for name, own in names.items()
        for bits in (8, 16, 32, 64)
    }
    found |= {pa.float32(): pandas.Float32Dtype(), pa.float64(): pandas.Float64Dtype()}
    text = pandas.StringDtype() if text is None else text
    return {**found, pa.bool_(): pandas.BooleanDtype(), pa.string(): text, pa.large_string(): text}


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_whole(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind))


def _are_categories(values: Any, dtype: Any) -> bool:
    """Return whether all values are categories of a type; else the column of a query text has another meaning."""
    try:
        categories = pa.Array.from_pandas(dtype.categories).cast(values.type)
    except (pa.ArrowException, TypeError):
        return False
    return pc.all(pc.is_in(values.drop_null(), value_set=categories)).as_py() is not False
