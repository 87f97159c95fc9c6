"""The strings, binaries and decimals of a table as numbers, for frames.

All values of a table are known, so labels are ranks: nothing is labelled anew. Frames make lists of values, and join
strings, from the columns themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Template
from sash.engine.derived_columns import derive, read_values
from sash.engine.dictionary import Dictionary
from sash.engine.results import result_column, values_of_result
from sash.engine.tables import Rows
from sash.plan.coding import Coding, code_queries
from sash.plan.query import Query
from sash.plan.share import ColumnType
from sash.slicing.lists import Lists

__all__ = ["CodedRows", "code_columns"]

Aggregates: TypeAlias = tuple[tuple[str, Template], ...]
_AS_THEY_ARE = frozenset({"collect", "string_agg"})
_BY_EQUALITY = frozenset({"count_distinct"})  # the order of values does not matter, and no value is a result


@dataclass(frozen=True)
class CodedRows:
    """The rows of a table with columns of numbers, and how results become values again."""

    rows: Rows
    coding: Coding
    dictionaries: Mapping[str, Dictionary]

    def decode(self, columns: Mapping[str, Any], function: str = "rolling") -> dict[str, Any]:
        """Return columns of results, by their names, with values in place of numbers; errors name the function."""
        found = dict(columns)
        for query in self.coding.queries:
            names = [name for name, _ in query.aggregates]
            for each in self.coding.results[query.name]:
                if each.is_made:
                    parts = [_numbers(columns[names[k]]) for k in each.readings]
                    typed = replace(each, arrow=each.type_of(None))
                    values, valid = values_of_result(typed, parts, f"{function}.{each.name}", self.dictionaries)
                    found[each.name] = result_column(typed, values, valid, self.dictionaries)
        return found


def code_columns(rows: Rows, queries: Sequence[Query], types: Mapping[str, ColumnType]) -> CodedRows | None:
    r"""Make the columns of numbers that the aggregates of queries read; return None if there are none.

    >>> import sash
    >>> from sash.engine.input_rows import types_of
    >>> from sash.engine.tables import read_rows
    >>> rows = read_rows({"name": ["pear", None, "fig"]})
    >>> queries = [sash.query("q", sash.tumbling(1), top=sash.max("name"))]
    >>> coded = code_columns(rows, queries, types_of(queries, rows))
    >>> coded.rows.names, coded.rows.arrow("name\0labels").to_pylist()
    (('name', 'name\x00labels'), [0, None, -1])
    >>> coded.decode({"top": pa.array([0, -1])})["top"].to_pylist()
    ['pear', 'fig']
    """
    coding = code_queries([replace(each, aggregates=_others(each)) for each in queries], types, is_table=True)
    wanted = {name: kind for name, kind in coding.types.items() if kind.derived is not None}
    if not wanted:
        return None
    coded = tuple(
        replace(
            each, aggregates=each.aggregates + tuple(own for own in given.aggregates if own[1].name in _AS_THEY_ARE)
        )
        for each, given in zip(coding.queries, queries, strict=True)
    )
    arrays, dictionaries = {}, {}
    for name, kind in wanted.items():
        assert kind.derived is not None
        data, valid = derive(read_values(rows, kind.derived.source, kind.arrow), kind)
        if kind.has_labels and _readers(coding, name) <= _BY_EQUALITY:
            arrays[name] = data.dictionary_encode().indices  # in the order of first rows: nothing is sorted
            continue
        if kind.has_labels:
            dictionaries[kind.derived.source] = Dictionary(gap=1)
            data, _ = dictionaries[kind.derived.source].encode(data)
        arrays[name] = pa.array(data, mask=None if valid.all() else ~valid)
    return CodedRows(rows.with_arrays(arrays), replace(coding, queries=coded), dictionaries)


def _readers(coding: Coding, column: str) -> set[str]:
    """Return the names of the aggregates that read a column."""
    return {each.name for query in coding.queries for _, each in query.aggregates if column in each.columns}


def _others(query: Query) -> Aggregates:
    return tuple(each for each in query.aggregates if each[1].name not in _AS_THEY_ARE)


def _numbers(column: Any) -> tuple[Any, Any]:
    """Return an Arrow column of numbers, or of lists of numbers, as values and validity."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_list(array.type):
        return Lists(array.offsets.to_numpy().astype(np.int64), array.values.to_numpy()), valid
    return array.fill_null(0).to_numpy(), valid
