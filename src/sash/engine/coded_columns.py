"""Coded columns: the strings, binaries and decimals of a bounded table as integers.

Idea      Kernels compute with numbers. All values of a table are known, so each gets its rank among the distinct
          values. Ranks are equal where values are equal, and have their order. An aggregate that only compares and
          returns values computes the same with ranks; its results become values again by one `take`.
Picture     name     code          sorted      results        values
            "pear"    1            0 "fig"     max 1    ─▶    "pear"
            null     null    ─▶    1 "pear"    first 1  ─▶    "pear"
            "fig"     0                        distinct 2     2
Needs     An aggregate that only compares values, counts them or returns them.
Limits    The codes of two tables differ, so they are for bounded tables only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.aggregate import Builtin, Template
from sash.engine.tables import Rows
from sash.errors import SashError
from sash.plan.query import Query

__all__ = ["Codes", "code_columns", "decode"]

# Aggregates that compute the same with ranks, by what their results are.
_COUNTS = frozenset({"count", "count_distinct", "max_count", "min_count"})
_VALUES = frozenset({"min", "max", "first", "last", "argmin", "argmax"})
_LISTS = frozenset({"collect", "collect_distinct"})
_CODABLE = _COUNTS | _VALUES | _LISTS

Aggregates = tuple[tuple[str, Template], ...]
_NOT_CODED = "\0"


@dataclass(frozen=True)
class Codes:
    """The rows of a table with coded columns, and how results become values again."""

    rows: Rows
    names: Mapping[str, str]  # of a column → of its coded column
    values: Mapping[str, Any]  # of a column → its distinct values, sorted
    results: Mapping[str, str | None]  # of a result → the column of its codes; None if it counts

    def aggregates(self, given: Aggregates) -> Aggregates:
        """Return the aggregates, reading coded columns where they can."""
        return tuple((name, self._coded(name, template)) for name, template in given)

    def queries(self, queries: Sequence[Query]) -> tuple[Query, ...]:
        """Return the queries, reading coded columns where they can."""
        return tuple(replace(query, aggregates=self.aggregates(query.aggregates)) for query in queries)

    def decode_table(self, table: Any) -> Any:
        """Return a table of results with values in place of codes."""
        for name, column in self.results.items():
            at = table.schema.get_field_index(name)
            if column in self.names and at >= 0:
                table = table.set_column(at, name, decode(table.column(at), self.values[column]))
        return table

    def _coded(self, name: str, template: Template) -> Template:
        if name not in self.results:
            return template
        return replace(template, columns=tuple(self.names.get(each, each) for each in template.columns))


def code_columns(rows: Rows, aggregates: Aggregates) -> Codes:
    """Code the columns that aggregates read and that are no numbers.

    >>> import sash
    >>> from sash.engine.tables import read_rows
    >>> codes = code_columns(read_rows({"name": ["pear", None, "fig"]}), (("top", sash.max("name")),))
    >>> codes.values["name"].to_pylist(), codes.rows.arrow(codes.names["name"]).to_pylist()
    (['fig', 'pear'], [1, None, 0])
    """
    sources: dict[str, set[Any]] = {}
    for name, template in aggregates:
        sources.setdefault(name, set()).add(_source(template))
    # Several queries may have a result of one name; it is coded only if all of them decode it in the same way.
    results = {name: found.pop() for name, found in sources.items() if len(found) == 1 and _NOT_CODED not in found}
    wanted = dict.fromkeys(
        column for name, each in aggregates if name in results for column in each.columns if column in rows.names
    )
    names, values, given = {}, {}, {}
    for name in wanted:
        array = _values_of(rows, name)
        if array is not None:
            names[name] = f"{name} (coded)"
            while names[name] in rows.names:
                names[name] += "'"
            given[names[name]], values[name] = _rank(array)
    return Codes(rows.with_arrays(given) if given else rows, names, values, results if given else {})


def _source(template: Template) -> str | None:
    """Return the column whose values are the results; None for counts."""
    if not isinstance(template, Builtin) or template.name not in _CODABLE:
        return _NOT_CODED
    return None if template.name in _COUNTS else template.columns[-1]


def decode(results: Any, values: Any) -> Any:
    """Return the values of an Arrow array of codes, or of lists of codes."""
    if isinstance(results, pa.ChunkedArray):
        return pa.chunked_array([decode(each, values) for each in results.chunks], type=_decoded(results.type, values))
    if pa.types.is_null(results.type):
        return results
    if pa.types.is_list(results.type):
        offsets = pa.array(results.offsets, mask=_mask_of_offsets(results))
        return pa.ListArray.from_arrays(offsets, decode(results.values, values))
    return values.take(results)


def _decoded(kind: Any, values: Any) -> Any:
    return kind if pa.types.is_null(kind) else pa.list_(values.type) if pa.types.is_list(kind) else values.type


def _mask_of_offsets(lists: Any) -> Any:
    """Return which offsets stand for a list that is null; the last offset ends a list."""
    return np.append(lists.is_null().to_numpy(zero_copy_only=False), False)


def _values_of(rows: Rows, name: str) -> Any:
    """Return a column of strings, binaries or decimals as one array; None if it is of another type."""
    try:
        array = rows.arrow(name)
    except SashError:  # raised again, in the words for its place, where the column is read
        return None
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    if not (is_text or is_binary or pa.types.is_decimal128(kind)):
        return None
    if pa.types.is_dictionary(array.type):
        array = array.cast(kind)
    if isinstance(array, pa.ChunkedArray):
        return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], kind)
    return array


def _rank(array: Any) -> tuple[Any, Any]:
    """Return the rank of each value among the distinct ones, and these in order."""
    coded = array.dictionary_encode()
    order = pc.sort_indices(coded.dictionary)
    ranks = np.empty(len(order), np.int64)
    ranks[order.to_numpy()] = np.arange(len(order))
    codes = pa.array(ranks).take(coded.indices)
    return codes, coded.dictionary.take(order)
