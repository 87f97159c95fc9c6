"""Coding: aggregates of strings, binaries and decimals as aggregates of numbers.

Idea      Kernels compute with numbers. An aggregate that only compares and returns values computes the same with
          numbers that are equal where the values are equal, and that have their order. So a query that reads a column
          of values is planned with columns of numbers that are made from it. A result is made of the outputs of
          aggregates of numbers.
Picture     max("name")    ─▶  max of the labels of name          ─▶  the string of the label
            mean("price")  ─▶  both halves of the sum, a count    ─▶  a decimal
            n("name")      ─▶  itself; what users wrote may do anything with a value
Labels    of strings, binaries and decimals of more than 18 digits come from a dictionary, which the state keeps
          (`engine/dictionary.py`). A shorter decimal is a whole number of units of its last digit, which fits an int64.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import pyarrow as pa

from sash.algebra import extremes
from sash.algebra.aggregate import Builtin, Template
from sash.algebra.decimals import half_of_sum
from sash.algebra.fields import Field
from sash.algebra.holistic import collect
from sash.algebra.monoid import Column
from sash.algebra.sums import count
from sash.plan.query import Query
from sash.plan.share import ColumnType, Derived, Encoding, Reading

__all__ = ["Coding", "Decoding", "Result", "code_queries", "derived_name", "is_short", "source_of", "typed", "uncoded"]

_COUNTS = frozenset({"count_distinct", "max_count", "min_count"})
_VALUES = frozenset(
    {"min", "max", "first", "last", "argmin", "argmax", "last_row", "mode", "collect", "collect_distinct"}
)
_SKETCHES = frozenset({"bloom_filter", "count_min", "hyperloglog"})  # they only hash values
_FLOATS = frozenset({"variance", "stddev", "geometric_mean", "product", "m4", "median", "quantile", "moment_sketch"})
_SHORT = 18  # digits of decimals whose units fit an int64
_MARK = "\0"  # between the name of a column and what was made of it


class Decoding(Enum):
    """How a result is made of outputs."""

    AS_READ = "as read"
    LABELS = "labels"
    UNITS = "units"
    SUM = "sum"
    MEAN = "mean"
    RANGE = "range"
    RANGE_OF_LABELS = "range of labels"


_DIGITS = {
    Decoding.SUM: (10, 0),
    Decoding.MEAN: (4, 4),
    Decoding.RANGE: (1, 0),
    Decoding.RANGE_OF_LABELS: (1, 0),
}  # more than values have, as in Spark


@dataclass(frozen=True)
class Result:
    """One result column of a query: the readings that it is made of, and how."""

    name: str
    readings: tuple[int, ...]
    arrow: Any  # None: the type depends on the objects
    made: Decoding = Decoding.AS_READ
    source: str = ""  # the column of values
    kind: Any = None  # its type
    separator: str | None = None  # joins a list of strings

    @property
    def is_made(self) -> bool:
        """Whether values are made of numbers."""
        return self.made is not Decoding.AS_READ

    @property
    def has_words(self) -> bool:
        """Whether values are decimals of two words."""
        return self.made in _DIGITS

    def type_of(self, read: Any) -> Any:
        """Return the type of the result; `read` is that of its reading."""
        if self.separator is not None:
            return pa.string()
        if not self.has_words:
            return self.kind if read is None else read
        digits, decimals = _DIGITS[self.made]
        return pa.decimal128(min(38, self.kind.precision + digits), min(38, self.kind.scale + decimals))


@dataclass(frozen=True)
class Coding:
    """Queries as they are planned: with aggregates of numbers, the types of their columns, and the results."""

    queries: tuple[Query, ...]
    types: Mapping[str, ColumnType]
    results: Mapping[str, tuple[Result, ...]]  # by query


def source_of(name: str) -> str:
    r"""Return the column of the input that a column of the plan is made from.

    >>> source_of("plug"), source_of("plug\0labels")
    ('plug', 'plug')
    """
    return name.partition(_MARK)[0]


def derived_name(source: str, how: Encoding) -> str:
    """Return the name of a column of numbers in a plan."""
    return f"{source}{_MARK}{how.value}"


def is_short(kind: Any) -> bool:
    """Return whether the units of decimals of a type fit an int64."""
    return bool(pa.types.is_decimal128(kind) and kind.precision <= _SHORT)


def uncoded(queries: Sequence[Query], types: Mapping[str, ColumnType]) -> Coding:
    """Return queries that compute with the values themselves."""
    results = {
        each.name: tuple(Result(name, (k,), None) for k, (name, _) in enumerate(each.aggregates)) for each in queries
    }
    return Coding(tuple(queries), types, results)


def code_queries(queries: Sequence[Query], types: Mapping[str, ColumnType], is_table: bool = False) -> Coding:
    """Return queries that compute with numbers wherever they can.

    The types of a table are those of all its rows. Later rows of a stream may have decimals of more digits, if they are
    Python objects.
    """
    if any(_MARK in name for name in types):
        return uncoded(queries, types)
    coder = _Coder(types, is_table)
    coded, results = [], {}
    for each in queries:
        own: list[tuple[str, Template]] = []
        results[each.name] = tuple(coder.result(name, template, own) for name, template in each.aggregates)
        coded.append(replace(each, aggregates=tuple(own)))
    return Coding(tuple(coded), {**types, **coder.made}, results)


class _Coder:
    """Makes the types of columns of numbers as aggregates need them."""

    def __init__(self, types: Mapping[str, ColumnType], is_table: bool) -> None:
        self.types = types
        self.is_table = is_table
        self.made: dict[str, ColumnType] = {}

    def result(self, name: str, template: Template, own: list[tuple[str, Template]]) -> Result:
        """Append the aggregates of numbers that a result needs, and return how it is made."""
        parts, result = self._parts(name, template)
        first = len(own)
        own += [(name if k == 0 else f"{name}{_MARK}{k}", part) for k, part in enumerate(parts)]
        return replace(result, readings=tuple(range(first, len(own))))

    def _parts(self, name: str, template: Template) -> tuple[tuple[Template, ...], Result]:
        plain = (template,), Result(name, (), None)
        known = [self.types.get(each) for each in template.columns]
        if not isinstance(template, Builtin) or None in known or not any(map(self._is_coded, known)):
            return plain
        if template.name in _VALUES | _COUNTS:
            coded = replace(template, columns=tuple(map(self._ordered, template.columns)))
            if template.name in _COUNTS or not self._is_coded(known[-1]):
                return (coded,), plain[1]
            source = template.columns[-1]
            made = Decoding.UNITS if self._is_short(known[-1]) else Decoding.LABELS
            return (coded,), Result(name, (), None, made, source, known[-1].arrow)  # type: ignore[union-attr]
        (source,), (kind,) = template.columns, known
        assert kind is not None
        if template.name == "count":
            how = Encoding.UNITS if pa.types.is_decimal128(kind.arrow) else Encoding.KNOWN  # sums count units, too
            return (replace(template, columns=(self._derive(source, how),)),), plain[1]
        if template.name in _SKETCHES:
            return (replace(template, columns=(self._derive(source, Encoding.BITS),)),), plain[1]
        if template.name == "string_agg" and _is_text(kind.arrow):
            separator = dict(template.parameters)["separator"]
            return (collect(self._derive(source, Encoding.LABELS)),), Result(
                name, (), None, Decoding.LABELS, source, kind.arrow, separator
            )
        if not self._is_decimal(kind):
            return plain
        if template.name in _FLOATS:
            return (replace(template, columns=(self._derive(source, Encoding.FLOATS),)),), plain[1]
        if not pa.types.is_decimal128(kind.arrow):
            return plain
        if template.name == "range":
            made = Decoding.RANGE if self._is_short(kind) else Decoding.RANGE_OF_LABELS
            column = self._ordered(source)
            return (extremes.max(column), extremes.min(column)), Result(name, (), None, made, source, kind.arrow)
        if template.name not in ("sum", "mean"):
            return plain
        units = self._derive(source, Encoding.UNITS)
        words = (units,) if self._is_short(kind) else (units, self._derive(source, Encoding.HIGH))
        halves = tuple(half_of_sum(word, half) for word in words for half in ("low", "high"))
        if template.name == "sum":
            return halves, Result(name, (), None, Decoding.SUM, source, kind.arrow)
        return (*halves, count(units)), Result(name, (), None, Decoding.MEAN, source, kind.arrow)

    def _ordered(self, name: str) -> str:
        """Return the column of numbers with the order of a column of values; the column itself if it has numbers."""
        kind = self.types[name]
        return (
            name
            if not self._is_coded(kind)
            else self._derive(name, Encoding.UNITS if self._is_short(kind) else Encoding.LABELS)
        )

    def _derive(self, source: str, how: Encoding) -> str:
        name = derived_name(source, how)
        if name not in self.made:
            column = Column(Field("f8" if how is Encoding.FLOATS else "i8"), nullable=True)
            self.made[name] = ColumnType(column, self.types[source].arrow, Derived(source, how))
        return name

    def _is_coded(self, kind: ColumnType | None) -> bool:
        """Return whether numbers can stand for the values of a column."""
        if kind is None or not kind.column.field.is_object:
            return False
        return self._is_decimal(kind) or _is_text(kind.arrow) or _is_binary(kind.arrow)

    def _is_decimal(self, kind: ColumnType) -> bool:
        return pa.types.is_decimal(kind.arrow) and (self.is_table or kind.column.field.decimal is not None)

    def _is_short(self, kind: ColumnType | None) -> bool:
        return kind is not None and self._is_decimal(kind) and is_short(kind.arrow)


def typed(results: Sequence[Result], readings: Sequence[Reading]) -> tuple[Result, ...]:
    """Return results with their types, which readings tell."""
    return tuple(replace(each, arrow=each.type_of(readings[each.readings[0]].arrow)) for each in results)


def _is_text(arrow: Any) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))


def _is_binary(arrow: Any) -> bool:
    return bool(pa.types.is_binary(arrow) or pa.types.is_large_binary(arrow) or pa.types.is_fixed_size_binary(arrow))
