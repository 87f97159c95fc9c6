"""The rows of frames, sorted by key and position: their columns as arrays, as ranks and as codes.

Columns of strings, binaries and decimals are coded before (`coded_columns.py`), so that all ranks are those of numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.frame_ranges import Ranges
from sash.engine.input_rows import cast_column
from sash.engine.results import arrow_of
from sash.engine.tables import Rows
from sash.errors import InvalidInput
from sash.plan.share import ColumnType
from sash.slicing.runs import Read, Statistic
from sash.slicing.slices import Array
from sash.swag.range_distinct import distinct_counts, list_codes
from sash.swag.range_modes import modes
from sash.swag.range_quantiles import Ranking, quantiles, rank

__all__ = ["SortedRows"]

_MOST_ITEMS = 2**31 - 1  # of all lists of an Arrow array
_SPREAD = 4  # integers are codes themselves up to this many counters per row


class SortedRows:
    """Rows sorted by key and position; each column is read, ranked and numbered once for all frames.

    Results are for these rows, or for `asking` rows: how many there are, and the places of those with results.
    """

    def __init__(
        self,
        given: Rows,
        types: dict[str, ColumnType],
        order: Array,
        begins: Array,
        asking: tuple[int, Array] | None = None,
        threads: int | None = None,
    ) -> None:
        self.given, self.types, self.order = given, types, order
        self.result_count, self.result_places = (given.count, order) if asking is None else asking
        self.begins = begins  # the first row of each key
        self.threads = threads  # that compute ranges; None: as many as there are cores
        self._columns: dict[str, tuple[Any, Array]] = {}
        self._rankings: dict[str, Ranking] = {}
        self._codes: dict[str, tuple[Array, int]] = {}

    def __len__(self) -> int:
        return len(self.order)

    def column(self, name: str) -> tuple[Any, Array]:
        """Return data and validity of a column."""
        if name not in self._columns:
            given = self.given.column(name)
            data, valid = cast_column(name, given, self.types[name])
            self._columns[name] = data[self.order], valid[: len(self)] if given.valid is None else valid[self.order]
        return self._columns[name]

    def valid(self, name: str) -> Array:
        """Return which rows are not null."""
        if name not in self._columns and self.types[name].column.field.is_object:  # spare the conversion to objects
            return np.asarray(self._array(name).is_valid().to_numpy(zero_copy_only=False)[self.order])
        return self.column(name)[1]

    def can_compute(self, statistic: Statistic, name: str) -> bool:
        """Return whether `compute` can compute a statistic of a column."""
        return not self.types[name].column.field.is_object

    def compute(self, statistics: Sequence[Statistic], name: str, ranges: Ranges) -> list[tuple[Array, Array]]:
        """Return for each statistic of a column the results of ranges of rows, and where there is one."""
        starts, ends = ranges.starts, ranges.ends
        shares = np.array([each.q for each in statistics if each.read is Read.QUANTILE], np.float64)
        results: list[tuple[Array, Array]] = []
        if len(shares):
            values, exists = quantiles(self._rank(name), self.valid(name), starts, ends, shares)
            found = iter(values)
        for each in statistics:
            if each.read is Read.QUANTILE:
                results.append((next(found), exists))
            elif each.read is Read.MODE:
                results.append(self._modes(name, starts, ends))
            else:
                counts = distinct_counts(*self._number(name), starts, ends)
                results.append((counts, np.ones(len(counts), np.bool_)))
        return results

    def _modes(self, name: str, starts: Array, ends: Array) -> tuple[Array, Array]:
        """Return the most frequent values of ranges, and where there is one."""
        (data, valid), (codes, count) = self.column(name), self._number(name)
        values = np.zeros(count + 1, data.dtype)
        values[codes[valid]] = _without_minus_zero(data[valid])
        found = modes(codes, count, starts, ends)
        return values[found], found >= 0

    def can_list(self, name: str) -> bool:
        """Return whether the values of a column have the type of the plan, so that Arrow can make lists of them."""
        kind = self.given.arrow(name).type
        return bool((kind.value_type if pa.types.is_dictionary(kind) else kind) == self.types[name].arrow)

    def lists(self, name: str, ranges: Ranges, enough: Array | None) -> Any:
        """Return for each row of the table a list of the values in its range that are not null.

        The list of a row that was left out, or has not `enough` samples, is null.
        """
        array, count, parts = self._array(name), self.result_count, len(ranges.starts)
        known = array.is_valid().to_numpy(zero_copy_only=False)[self.order]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
        first, size = (np.zeros((count, parts), np.int64) for _ in range(2))  # the parts of a range follow each other
        is_null = np.ones(count, np.bool_)
        is_null[self.result_places] = False if enough is None else ~enough
        first[self.result_places] = before[ranges.starts].T
        size[self.result_places] = (before[ranges.ends] - before[ranges.starts]).T
        size[is_null] = 0
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
        if offsets[-1] > _MOST_ITEMS:
            raise InvalidInput.long_lists(column=name, count=int(offsets[-1]), most=_MOST_ITEMS)
        places = np.repeat(first.reshape(-1) - offsets[:-1], size.reshape(-1)) + np.arange(offsets[-1])
        values = array.take(pa.array(self.order[known][places]))
        return pa.ListArray.from_arrays(pa.array(offsets[::parts], pa.int32()), values, mask=pa.array(is_null))

    def distinct_lists(self, name: str, ranges: Ranges, enough: Array | None) -> Any:
        """Return for each row of the table the distinct values in its range, ascending; null as in `lists`."""
        (data, valid), (codes, distinct) = self.column(name), self._number(name)
        values = np.zeros(distinct, data.dtype)
        values[codes[valid]] = _without_minus_zero(data[valid])
        counts = distinct_counts(codes, distinct, ranges.starts, ranges.ends)
        is_null = np.ones(self.result_count, np.bool_)
        is_null[self.result_places] = False if enough is None else ~enough
        sizes = np.zeros(self.result_count, np.int64)
        sizes[self.result_places] = counts
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        if offsets[-1] > _MOST_ITEMS:
            raise InvalidInput.long_lists(column=name, count=int(offsets[-1]), most=_MOST_ITEMS)
        places = offsets[self.result_places]
        listed = list_codes(codes, distinct, ranges.starts, ranges.ends, counts, places)
        items = arrow_of(values, np.ones(distinct, np.bool_), self.types[name].arrow).take(pa.array(listed))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, mask=pa.array(is_null))

    def scatter(self, values: Any, valid: Array, kind: Any) -> Any:
        """Return results as an Arrow column in the order of the table; null for rows that were left out."""
        if isinstance(values, np.ndarray):
            column, known = (
                np.zeros((self.result_count, *values.shape[1:]), values.dtype),
                np.zeros(self.result_count, bool),
            )
            column[self.result_places], known[self.result_places] = values, valid
            return arrow_of(column, known, kind)
        back = np.full(self.result_count, -1, np.int64)
        back[self.result_places] = np.arange(len(self.result_places))
        return arrow_of(values, valid, kind).take(pa.array(back, mask=back < 0))

    # --- ranks and codes -------------------------------------------------------------------------

    def _rank(self, name: str) -> Ranking:
        if name not in self._rankings:
            self._rankings[name] = rank(self.column(name)[0], self.begins)
        return self._rankings[name]

    def _number(self, name: str) -> tuple[Array, int]:
        """Return a code per row, the same for equal values, -1 for nulls; and how many codes there are."""
        if name not in self._codes:
            data, valid = self.column(name)
            self._codes[name] = _close_together(data, valid) or _codes_by_rank(data, valid, self._rank(name).ranks)
        return self._codes[name]

    def _array(self, name: str) -> Any:
        """Return a column as one Arrow array of values, in the order of the table."""
        array = self.given.arrow(name)
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        # A dictionary may have a value twice.
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _without_minus_zero(data: Array) -> Array:
    return data + data.dtype.type(0) if data.dtype.kind == "f" else data


def _close_together(data: Array, valid: Array) -> tuple[Array, int] | None:
    """Return codes of integers that lie close together, and how many codes there are; None for other numbers."""
    if data.dtype.kind == "f":
        return None
    if not valid.any():
        return np.full(len(data), -1), 0
    has_nulls = not valid.all()
    if has_nulls:
        data = np.where(valid, data, data[np.argmax(valid)])
    least, largest = int(data.min()), int(data.max())
    if largest - least > _SPREAD * len(data):
        return None
    codes = (data if data.dtype.itemsize == 8 else data.astype(np.int64)) - data.dtype.type(least)
    codes = codes.astype(np.int64, copy=False)
    return (np.where(valid, codes, -1) if has_nulls else codes), largest - least + 1


def _codes_by_rank(data: Array, valid: Array, ranks: Array) -> tuple[Array, int]:
    """Return codes of numbers from their ranks: a new code wherever the next number differs."""
    ascending = np.empty_like(data)
    ascending[ranks] = data
    differs = np.zeros(len(data), np.bool_)
    differs[1:] = ascending[1:] != ascending[:-1]
    if data.dtype.kind == "f":
        is_number = ascending == ascending
        differs[1:] &= is_number[1:] | is_number[:-1]  # NaN equals NaN
    codes = np.cumsum(differs)
    return np.where(valid, codes[ranks], -1), int(codes[-1]) + 1 if len(codes) else 0
