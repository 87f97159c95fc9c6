"""Coded columns: the strings, binaries and decimals of a bounded table as numbers.

Idea      Kernels compute with numbers. All values of a table are known, so each gets its rank among the distinct
          values. Ranks are equal where values are equal, and have their order. An aggregate that only compares and
          returns values computes the same with ranks; its results become values again by one `take`. Sums and means
          of decimals come from sums of their limbs (`decimal_words.py`); what is a float in Spark, from floats;
          sketches come from the bits that they hash.
Picture     name     code          sorted      results        values
            "pear"    1            0 "fig"     max 1    ─▶    "pear"
            null     null    ─▶    1 "pear"    first 1  ─▶    "pear"
            "fig"     0                        distinct 2     2
Limits    The codes of two tables differ, so they are for bounded tables only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.aggregate import Builtin, Template
from sash.algebra.hashing import bits_of_object
from sash.algebra.sums import count, sum
from sash.engine.decimal_words import mean_of, split_into_limbs, sum_of, to_floats
from sash.engine.tables import Rows
from sash.errors import SashError
from sash.plan.query import Query

__all__ = ["Codes", "code_columns", "decode"]

# Aggregates that compute the same with ranks, by what their results are.
_COUNTS = frozenset({"count", "count_distinct", "max_count", "min_count"})
_VALUES = frozenset({"min", "max", "first", "last", "argmin", "argmax"})
_LISTS = frozenset({"collect", "collect_distinct"})
# Aggregates that only hash values: an integer is its own 64 bits, so the bits of a value stand for it.
_SKETCHES = frozenset({"bloom_filter", "count_min", "hyperloglog"})
# Aggregates of decimals whose results are floats.
_FLOATS = frozenset({"variance", "stddev", "geometric_mean", "median", "quantile"})

Aggregates: TypeAlias = tuple[tuple[str, Template], ...]


@dataclass(frozen=True)
class Rewrite:
    """An aggregate as aggregates of numbers, and what makes its result from theirs; None if theirs is the result."""

    parts: Aggregates
    finish: Callable[[list[Any]], Any] | None = None


@dataclass(frozen=True)
class Codes:
    """The rows of a table with coded columns, and how results become values again."""

    rows: Rows
    rewrites: Mapping[str, Rewrite]  # by the name of the result

    def aggregates(self, given: Aggregates) -> Aggregates:
        """Return the aggregates, reading coded columns where they can."""
        return tuple(
            part
            for name, template in given
            for part in (self.rewrites[name].parts if name in self.rewrites else ((name, template),))
        )

    def queries(self, queries: Sequence[Query]) -> tuple[Query, ...]:
        """Return the queries, reading coded columns where they can."""
        return tuple(replace(query, aggregates=self.aggregates(query.aggregates)) for query in queries)

    def decode(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return columns of results, by their names, with values in place of codes."""
        found = dict(columns)
        for name, rewrite in self.rewrites.items():
            if rewrite.finish is not None:
                found[name] = rewrite.finish([columns[part] for part, _ in rewrite.parts])
        hidden = {part for rewrite in self.rewrites.values() for part, _ in rewrite.parts} - set(self.rewrites)
        return {name: found[name] for name in found if name not in hidden}

    def decode_table(self, table: Any) -> Any:
        """Return a table of results with values in place of codes."""
        if not self.rewrites:
            return table
        columns = dict(zip(table.column_names, table.columns, strict=True))
        return pa.table({name: _whole(column) for name, column in self.decode(columns).items()})


def code_columns(rows: Rows, aggregates: Aggregates, labels: Mapping[str, str] | None = None) -> Codes:
    """Code the columns that aggregates read and that are no numbers; `labels` name results in errors.

    >>> import sash
    >>> from sash.engine.tables import read_rows
    >>> codes = code_columns(read_rows({"name": ["pear", None, "fig"]}), (("top", sash.max("name")),))
    >>> codes.rows.names, codes.rows.arrow("name (ranks)").to_pylist()
    (('name', 'name (ranks)'), [1, None, 0])
    >>> codes.decode({"top": pa.array([1, 0])})["top"].to_pylist()
    ['pear', 'fig']
    """
    coder = _Coder(rows, labels or {})
    named: dict[str, Template] = {}
    ambiguous = set()
    for name, template in aggregates:
        if named.setdefault(name, template) != template:  # results of one name, of several queries
            ambiguous.add(name)
    rewrites = {
        name: rewrite
        for name, template in named.items()
        if name not in ambiguous and (rewrite := coder.rewrite(name, template)) is not None
    }
    return Codes(rows.with_arrays(coder.arrays) if coder.arrays else rows, rewrites)


@dataclass
class _Coder:
    """Codes each column once, when an aggregate reads it."""

    rows: Rows
    labels: Mapping[str, str]
    arrays: dict[str, Any] = field(default_factory=dict)  # coded columns
    _found: dict[str, Any] = field(default_factory=dict)
    _sorted: dict[str, Any] = field(default_factory=dict)

    def rewrite(self, name: str, template: Template) -> Rewrite | None:
        """Return an aggregate over coded columns; None if it reads none that can be coded."""
        if not isinstance(template, Builtin) or all(self._values(each) is None for each in template.columns):
            return None  # a user's function may do anything with a value
        if template.name in _COUNTS | _VALUES | _LISTS:
            coded = replace(template, columns=tuple(self._ranks(each) for each in template.columns))
            source = template.columns[-1]
            if template.name in _COUNTS or source not in self._sorted:
                return Rewrite(((name, coded),))
            values = self._sorted[source]
            return Rewrite(((name, coded),), lambda results: decode(results[0], values))
        (column,) = template.columns
        if template.name in _SKETCHES:
            bits = self._add(column, "bits", partial(_bits_of, self._values(column)))
            return Rewrite(((name, replace(template, columns=(bits,))),))
        if not pa.types.is_decimal(self._values(column).type):
            return None
        if template.name in _FLOATS:
            return Rewrite(
                (
                    (
                        name,
                        replace(
                            template, columns=(self._add(column, "floats", partial(to_floats, self._values(column))),)
                        ),
                    ),
                )
            )
        if template.name in ("sum", "mean"):
            return self._add_up(name, column, template.name == "mean")
        return None

    def _add_up(self, name: str, column: str, is_mean: bool) -> Rewrite:
        kind, label = self._values(column).type, self.labels.get(name, name)
        limbs = self._limbs(column)
        parts = [(name if k == 0 else f"{name} (limb {k})", sum(limb)) for k, limb in enumerate(limbs)]
        if not is_mean:
            return Rewrite(tuple(parts), lambda results: sum_of(list(map(_whole, results)), kind, label))
        parts.append((f"{name} (count)", count(limbs[0])))

        def mean(results: list[Any]) -> Any:
            *sums, counts = map(_whole, results)
            return mean_of(sums, counts, kind, label)

        return Rewrite(tuple(parts), mean)

    def _limbs(self, column: str) -> list[str]:
        """Return the names of the columns of limbs."""
        key = f"{column} limbs"
        if key not in self._found:
            arrays = split_into_limbs(self._values(column))
            self._found[key] = [self._add(column, f"limb {k}", partial(_whole, each)) for k, each in enumerate(arrays)]
        limbs: list[str] = self._found[key]
        return limbs

    def _ranks(self, column: str) -> str:
        values = self._values(column)
        if values is None:
            return column

        def rank() -> Any:
            codes, self._sorted[column] = _rank(values)
            return codes

        return self._add(column, "ranks", rank)

    def _add(self, column: str, what: str, code: Callable[[], Any]) -> str:
        name = f"{column} ({what})"
        while name in self.rows.names:
            name += "'"
        if name not in self.arrays:
            self.arrays[name] = code()
        return name

    def _values(self, column: str) -> Any:
        if column not in self._found:
            self._found[column] = _values_of(self.rows, column) if column in self.rows.names else None
        return self._found[column]


def decode(results: Any, values: Any) -> Any:
    """Return the values of an Arrow array of codes, or of lists of codes."""
    array = _whole(results)
    if pa.types.is_null(array.type):
        return array
    if pa.types.is_list(array.type):
        offsets = pa.array(array.offsets.to_numpy(), mask=_mask_of_offsets(array))
        return pa.ListArray.from_arrays(offsets, decode(array.values, values))
    return values.take(array)


def _whole(array: Any) -> Any:
    """Return a column as one array."""
    if isinstance(array, pa.ChunkedArray):
        return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array


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
    return _whole(array if array.type == kind else array.cast(kind))


def _bits_of(array: Any) -> Any:
    """Return the 64 bits that sketches hash for each value, computed once for each distinct one."""
    coded = array.dictionary_encode()
    bits = np.array([bits_of_object(each) for each in coded.dictionary.to_pylist()], np.uint64).view(np.int64)
    return pa.array(bits).take(coded.indices)


def _rank(array: Any) -> tuple[Any, Any]:
    """Return the rank of each value among the distinct ones, and these in order."""
    coded = array.dictionary_encode()
    order = pc.sort_indices(coded.dictionary)
    ranks = np.empty(len(order), np.int64)
    ranks[order.to_numpy()] = np.arange(len(order))
    codes = pa.array(ranks).take(coded.indices)
    return codes, coded.dictionary.take(order)
