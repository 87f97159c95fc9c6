"""Tables of results from windows and their values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.fields import Field
from sash.algebra.monoid import Output, Presence
from sash.engine.decimal_words import decimals_of, limbs_of, mean_words, sum_words, words_of
from sash.engine.dictionary import Dictionary
from sash.engine.keys import Keys
from sash.engine.revisions import Columns
from sash.errors import InvalidInput, NumberOverflow
from sash.plan.coding import Decoding, Result
from sash.plan.plan import Plan, PlannedQuery
from sash.slicing.lists import Lists
from sash.slicing.partials import Answer
from sash.slicing.slices import Array

__all__ = [
    "RANKS",
    "FiredWindows",
    "arrow_of",
    "columns_of",
    "names_of",
    "result_column",
    "schema_of",
    "table_of",
    "values_of",
    "values_of_result",
    "values_of_results",
]

RANKS = ("rank_start", "rank_end")
_MOST_ITEMS = 2**31 - 1  # of all lists of an Arrow array


@dataclass(frozen=True)
class FiredWindows:
    """Windows to emit: of one query, or of several with the same results, where `which` is the query."""

    queries: tuple[PlannedQuery, ...]
    which: Array | None
    known_names: Any  # the names of several queries, as a column
    slots: Array
    starts: Array
    ends: Array
    columns: Columns
    revisions: Array | None
    ranks: tuple[Array, Array] | None = None  # of count windows

    def names(self) -> Any:
        """Return the name of each window's query."""
        if self.known_names is None:
            return pa.repeat(pa.scalar(self.queries[0].name), len(self.slots))
        return self.known_names.take(pa.array(self.which))

    def rank_column(self, side: int) -> Any:
        """Return the first rank of each window, or the one after the last; null if windows do not count rows."""
        return pa.nulls(len(self.slots), pa.int64()) if self.ranks is None else pa.array(self.ranks[side])


def names_of(queries: Sequence[PlannedQuery]) -> Any:
    """Return the names of queries as a column."""
    return pa.array([each.name for each in queries], pa.string())


def columns_of(query: PlannedQuery, answers: Sequence[Answer | None]) -> Columns:
    """Return the results of a query in the order of its readings: values and validity."""
    columns = []
    flags: list[Any] = [iter(()) if answer is None else iter(answer[1]) for answer in answers]
    for reading in query.readings:
        view, answer = query.views[reading.group], answers[reading.group]
        assert view is not None and answer is not None
        output = view.monoid.outputs[reading.output]
        name = f"{query.name}.{reading.name}"
        columns.append(values_of(output, answer[0][reading.output], flags[reading.group], name))
    return tuple(columns)


def values_of_results(query: PlannedQuery, columns: Columns, dictionaries: Mapping[str, Dictionary]) -> Columns:
    """Return a column per result of a query, made of the columns of its readings; labels and words stay numbers."""
    return tuple(
        values_of_result(result, [columns[k] for k in result.readings], f"{query.name}.{result.name}", dictionaries)
        for result in query.results
    )


def values_of_result(
    result: Result, columns: list[tuple[Any, Array]], name: str, dictionaries: Mapping[str, Dictionary]
) -> tuple[Any, Array]:
    """Return values and validity of a result, made of those of its readings."""
    values, valid = columns[0]
    if result.separator is not None:
        return values, values.sizes > 0
    if not result.has_words:
        return values, valid
    if result.made is Decoding.RANGE_OF_LABELS:
        high, low = (limbs_of(dictionaries[result.source].decode(*each, result.kind)) for each in columns)
        limbs = [a - b for a, b in zip(high, low, strict=True)]
        return sum_words(limbs, valid, result.arrow, name), valid
    numbers = [np.where(known, each, 0) for each, known in columns]
    if result.made is Decoding.RANGE:
        units = numbers[0] - numbers[1]
        return words_of(units, units >> 63), valid
    if result.made is Decoding.SUM:
        return sum_words(numbers, valid, result.arrow, name), valid
    *limbs, counts = numbers
    finer = 10 ** (result.arrow.scale - result.kind.scale)
    return mean_words(limbs, counts, valid, finer, result.arrow, name), valid


def values_of(output: Output, values: Any, flags: Iterator[Any], name: str) -> tuple[Any, Array]:
    """Return values and validity of one output; `flags` are the presences of outputs that can be absent."""
    if output.presence is None:
        valid = np.ones(len(values), np.bool_)
    else:
        presence = np.asarray(next(flags), np.uint8)
        if (presence == Presence.OVERFLOW).any():
            raise NumberOverflow.at(name, int(np.argmax(presence == Presence.OVERFLOW)), _kind(output.result))
        valid = presence == Presence.VALUE
    if isinstance(values, list) and not output.result.is_object:
        kept = output.result.empty(len(values), compiled=True)
        for row, value in enumerate(values):
            if value is not None:
                kept[row] = value
        values = kept
    return values, valid


def _kind(result: Field) -> str:
    """Return the name of the type that a result must fit."""
    return "64-bit integers" if result.decimal is None else "decimal({}, {})".format(*result.decimal)


def schema_of(plan: Plan) -> pa.Schema:
    """Return the schema of the table of results."""
    fields = [pa.field(name, kind) for name, kind in zip(plan.options.result_keys, plan.key_types, strict=True)]
    kind = _edge_type(plan)
    fields += [pa.field("query", pa.string()), pa.field("window_start", kind), pa.field("window_end", kind)]
    if plan.counts_rows:
        fields += [pa.field(name, pa.int64()) for name in RANKS]
    fields += [pa.field(name, pa.null() if kind is None else kind) for name, kind in plan.results]
    if plan.has_revisions:
        fields.append(pa.field("revision", pa.int64()))
    return pa.schema(fields)


def _edge_type(plan: Plan) -> Any:
    if plan.measure.logical is not None:
        return plan.measure.logical
    return pa.from_numpy_dtype(plan.measure.dtype)


def table_of(
    plan: Plan, keys: Keys, dictionaries: Mapping[str, Dictionary], schema: pa.Schema, fired: Sequence[FiredWindows]
) -> pa.Table:
    """Return fired windows as one table."""
    fired = [each for each in fired if len(each.slots)]
    if not fired:
        return schema.empty_table()
    arrays: list[Any] = list(keys.columns(np.concatenate([each.slots for each in fired])))
    counts = [len(each.slots) for each in fired]
    arrays.append(pa.concat_arrays([each.names() for each in fired]))
    kind = _edge_type(plan)
    arrays += [_edges(plan, kind, [getattr(each, which) for each in fired]) for which in ("starts", "ends")]
    if plan.counts_rows:
        arrays += [pa.concat_arrays([each.rank_column(side) for each in fired]) for side in range(len(RANKS))]
    fields = list(schema)
    at = len(arrays)
    for place, (name, known) in enumerate(plan.results):
        parts = [_column(each, name, known, count, dictionaries) for each, count in zip(fired, counts, strict=True)]
        if known is None:
            known = next((part.type for part in parts if not pa.types.is_null(part.type)), pa.null())
            fields[at + place] = pa.field(name, known)
            parts = [part.cast(known) for part in parts]
        arrays.append(pa.concat_arrays(parts))
    if plan.has_revisions:
        revisions = [each.revisions for each in fired if each.revisions is not None]
        arrays.append(pa.array(np.concatenate(revisions)))
    return pa.table(arrays, schema=pa.schema(fields))


def _edges(plan: Plan, kind: Any, parts: list[Array]) -> Any:
    """Return positions in the unit of `on`; the end of a window that never ended is null."""
    values = np.concatenate(parts)
    open_ended = values == plan.measure.highest
    array = pa.array(values, mask=open_ended if open_ended.any() else None)
    return array if array.type == kind else array.cast(kind)


def _column(fired: FiredWindows, name: str, known: Any, count: int, dictionaries: Mapping[str, Dictionary]) -> Any:
    for result, (values, valid) in zip(fired.queries[0].results, fired.columns, strict=True):
        if result.name == name:
            array = result_column(result, values, valid, dictionaries)
            return array if known is None or array.type == known else array.cast(known)
    return pa.nulls(count, known if known is not None else pa.null())


def result_column(result: Result, values: Any, valid: Array, dictionaries: Mapping[str, Dictionary]) -> Any:
    """Return a result as an Arrow array, with values in place of labels, units and words."""
    if result.made is Decoding.AS_READ and not isinstance(values, Lists):
        return arrow_of(values, valid, result.arrow)
    if result.has_words:
        return decimals_of(values, valid, result.arrow)

    def decoded(numbers: Array, known: Array | None) -> Any:
        if result.made is Decoding.LABELS:
            return dictionaries[result.source].decode(numbers, known, result.kind)
        if result.made is Decoding.UNITS:
            return decimals_of(numbers, known, result.kind)
        array = pa.array(numbers)
        return array if array.type == result.arrow.value_type else array.cast(result.arrow.value_type)

    if not isinstance(values, Lists):
        return decoded(values, valid)
    if values.offsets[-1] > _MOST_ITEMS:
        raise InvalidInput.long_lists(column=result.name, count=int(values.offsets[-1]), most=_MOST_ITEMS)
    if values.places is not None and len(values.values) < len(values.places):
        items = decoded(values.values, None).take(pa.array(values.places))
    else:
        items = decoded(values.flat(), None)
    mask = None if valid.all() else pa.array(~valid)
    lists = pa.ListArray.from_arrays(pa.array(values.offsets, pa.int32()), items, mask=mask)
    if result.separator is None:
        return lists
    joined = pc.binary_join(lists, pa.scalar(result.separator, lists.type.value_type))
    return joined if joined.type == result.arrow else joined.cast(result.arrow)


def arrow_of(values: Any, valid: Array, kind: Any) -> Any:
    mask = None if valid.all() else ~valid
    if isinstance(values, list):
        given = [value if known else None for value, known in zip(values, valid.tolist(), strict=True)]
        given = [value.tolist() if isinstance(value, np.ndarray) else value for value in given]
        return pa.array(given, type=kind)
    if values.ndim == 2:
        flat = pa.array(np.ascontiguousarray(values).reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, values.shape[1], mask=None if mask is None else pa.array(mask))
    array = pa.array(values, mask=mask)
    if kind is None or array.type == kind:
        return array
    if pa.types.is_temporal(kind) and kind.bit_width == 32:
        return array.cast(pa.int32()).cast(kind)
    return array.cast(kind)
