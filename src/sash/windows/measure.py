"""Measures: convert the column `on` into positions, which are numbers, and back.

Picture   on         2024-01-01 00:00:00.000001   7        0.5
          measure    TIME                         INTEGER  FLOAT
          position   microseconds since 1970      7        0.5       int64, int64, float64
Keeps     lowest < position of a row < highest, and its distance from zero is at most `reach`; a row that would break
          this has no position.
"""

import datetime as dt
import math
import sys
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import InvalidInput

__all__ = ["Measure", "MeasureKind", "Positions"]

Positions = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any] | None]

# Positions of rows stay within 2⁶¹, so that a position plus a length (also within 2⁶¹) never passes the outermost ones.
_LEAST, _GREATEST = -(2**61), 2**61
_LOWEST, _HIGHEST = -(2**62), 2**62
_WHOLE_FLOATS = 2**53  # beyond, neighbouring integers share one float

_PER_DAY = 86_400_000_000
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_PER_TICK = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
_TICKS_PER = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


class MeasureKind(Enum):
    """What positions count."""

    TIME = "time"
    INTEGER = "integer"
    FLOAT = "float"


_EXPECTED = {
    MeasureKind.TIME: "a datetime, a date, whole microseconds, or math.inf for the end, as `on` is a time",
    MeasureKind.INTEGER: "an integer, or math.inf for the end, as `on` is an integer",
    MeasureKind.FLOAT: "a number, as `on` is a float",
}


@dataclass(frozen=True)
class Measure:
    """The type of `on`, with conversions between its values and positions.

    >>> time = Measure.of(pa.timestamp("ns", "Europe/Berlin"))
    >>> time.position(dt.datetime(1970, 1, 1, 0, 0, 1))
    1000000
    >>> time.to_arrow(np.array([1_000_000])).type
    TimestampType(timestamp[us, tz=Europe/Berlin])
    """

    kind: MeasureKind
    logical: Any = None  # for a time: the Arrow type of results
    reach: float = field(default=sys.float_info.max, repr=False, compare=False)  # largest distance from zero
    is_strict: bool = field(default=False, repr=False, compare=False)  # raise an error for numbers beyond `reach`

    @classmethod
    def of(cls, kind: Any, name: str = "on") -> "Measure":
        """Return the measure of a column of an Arrow type; raise an error with the column's name for other types.

        >>> Measure.of(pa.int32())
        Measure(kind=<MeasureKind.INTEGER: 'integer'>, logical=None)
        """
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return cls(MeasureKind.TIME, pa.timestamp("us", getattr(kind, "tz", None)))
        if pa.types.is_integer(kind):
            return cls(MeasureKind.INTEGER)
        if pa.types.is_floating(kind) or pa.types.is_null(kind):
            return cls(MeasureKind.FLOAT)
        raise InvalidInput.on_type(name, kind)

    def within(self, reach: float, is_strict: bool) -> "Measure":
        """Return the measure with another reach: numbers beyond it are not positions; if strict, they are errors."""
        return replace(self, reach=min(reach, sys.float_info.max), is_strict=is_strict)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of positions."""
        return np.dtype(np.float64 if self.kind is MeasureKind.FLOAT else np.int64)

    @cached_property
    def lowest(self) -> Any:
        """A position before every row."""
        return -math.inf if self.kind is MeasureKind.FLOAT else _LOWEST

    @cached_property
    def highest(self) -> Any:
        """A position after every row; as a watermark, the end of the stream."""
        return math.inf if self.kind is MeasureKind.FLOAT else _HIGHEST

    @property
    def extent(self) -> tuple[Any, Any]:
        """The first and the last position that a row can have."""
        if self.kind is MeasureKind.FLOAT:
            return -self.reach, self.reach
        return max(_LEAST, -int(self.reach)), min(_GREATEST, int(self.reach))

    def holds(self, value: Any) -> bool:
        """Return whether a number is a position of this measure, from `lowest` to `highest`.

        >>> Measure(MeasureKind.INTEGER).holds(-(2**63)), Measure(MeasureKind.FLOAT).holds(math.nan)
        (False, False)
        """
        kinds = int | float if self.kind is MeasureKind.FLOAT else int
        if isinstance(value, bool) or not isinstance(value, kinds):
            return False
        return bool(self.lowest <= value <= self.highest)

    def position(self, value: Any, what: str = "watermark") -> Any:
        """Return a user's value as a position; an error names it as `what`.

        >>> Measure(MeasureKind.INTEGER).position("soon")
        Traceback (most recent call last):
        sash.errors.InvalidInput: watermark must be an integer, or math.inf for the end, as `on` is ... but is 'soon'.
        """
        if isinstance(value, np.integer | np.floating) and value.dtype.kind != "m":
            value = value.item()
        elif isinstance(value, pa.Scalar) and value.is_valid:
            value = _scalar(value)
        found: Any = None
        if isinstance(value, bool):
            pass
        elif isinstance(value, int):
            found = value
        elif isinstance(value, float):
            found = self._of_float(value)
        elif self.kind is MeasureKind.TIME:
            found = _of_time(value)
        if found is None:
            raise InvalidInput.option(what, value, _EXPECTED[self.kind])
        if self.kind is MeasureKind.FLOAT:
            if abs(found) >= 2**1023:  # not a float, or sums with it overflow
                return self.highest if found > 0 else self.lowest
            return float(found) + 0.0
        return min(max(found, self.lowest), self.highest)

    def _of_float(self, value: float) -> Any:
        if math.isinf(value):
            return self.highest if value > 0 else self.lowest
        if self.kind is MeasureKind.FLOAT:
            return None if math.isnan(value) else value
        return int(value) if self.kind is MeasureKind.INTEGER and value.is_integer() else None

    def positions_or_lowest(self, column: Any, name: str) -> Any:
        """Return the positions of an Arrow column; a row without one gets the lowest."""
        positions, valid = self.positions(column, name)
        return positions if valid is None else np.where(valid, positions, self.dtype.type(self.lowest))

    def positions(self, column: Any, name: str = "on") -> Positions:
        """Return the positions of an Arrow column, and which rows have one (None: all).

        A row with null, NaN, infinity or a number beyond `reach` has no position.

        >>> Measure(MeasureKind.INTEGER).positions(pa.array([3, None]))
        (array([3, 0]), array([ True, False]))
        """
        array = column
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        given = Measure.of(array.type, name)
        if array.null_count == len(array):
            return np.zeros(len(array), self.dtype), np.zeros(len(array), np.bool_)
        if not (given.kind is self.kind or self._accepts(given.kind)):
            raise InvalidInput.on_changed(name, array.type, self.kind.value)
        valid = None
        if array.null_count:
            valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
            array = array.fill_null(_zero(array.type))
        data, factor = _numbers(array)
        data, valid = self._scale(data, factor, valid, name)
        return self.of_numbers(data, valid, name)

    def of_numbers(
        self, data: np.ndarray[Any, Any], valid: np.ndarray[Any, Any] | None = None, name: str = "on"
    ) -> Positions:
        """Return the positions of plain numbers, and which rows have one (None: all); for a time, of microseconds.

        >>> Measure(MeasureKind.FLOAT).of_numbers(np.array([1, 2]))
        (array([1., 2.]), None)
        """
        if data.dtype.kind == "f":
            if self.kind is MeasureKind.TIME:
                raise InvalidInput.on_changed(name, data.dtype, self.kind.value)
            data = data.astype(np.float64) + 0.0  # -0.0 becomes 0.0
            valid = self._restrict(data, valid, np.abs(data) <= self.reach, name)
            if self.kind is MeasureKind.FLOAT:
                return _zero_missing(data, valid), valid
            whole = (np.trunc(data) == data) & (np.abs(data) <= _WHOLE_FLOATS)
            if not (whole if valid is None else whole | ~valid).all():
                raise InvalidInput.on_changed(name, data.dtype, self.kind.value)
            return _zero_missing(data, valid).astype(np.int64), valid
        if data.dtype == np.uint64 and len(data):
            largest = (data if valid is None else np.where(valid, data, 0)).max()
            if largest > np.uint64(2**63 - 1):
                raise InvalidInput.option(f"Column {name!r}", int(largest), "of integers that fit int64")
        if self.kind is MeasureKind.FLOAT:
            data = data.astype(np.float64)
            if self.reach < 2.0**63:
                valid = self._restrict(data, valid, np.abs(data) <= self.reach, name)
            return _zero_missing(data, valid), valid
        data = data.astype(np.int64, copy=False)
        least, greatest = self.extent
        if _exceeds(data, least, greatest):
            valid = self._restrict(data, valid, (data >= least) & (data <= greatest), name)
        return _zero_missing(data, valid), valid

    def _scale(
        self, ticks: np.ndarray[Any, Any], factor: int, valid: np.ndarray[Any, Any] | None, name: str
    ) -> Positions:
        if factor == 1 or not len(ticks):
            return ticks, valid
        bound = _GREATEST // factor
        if ticks.min() < -bound or ticks.max() > bound:
            near = (ticks >= -bound) & (ticks <= bound)
            valid = self._restrict(ticks, valid, near, name)
            ticks = np.where(near, ticks, 0)
        return ticks * factor, valid

    def _restrict(
        self, data: np.ndarray[Any, Any], valid: np.ndarray[Any, Any] | None, near: np.ndarray[Any, Any], name: str
    ) -> np.ndarray[Any, Any] | None:
        """Return which rows have a position, given which are near enough to zero."""
        if near.all():
            return valid
        if self.is_strict:
            far = data[np.isfinite(data) & ~near & (True if valid is None else valid)]
            if len(far):
                reach = min(self.reach, float(_GREATEST)) if self.kind is MeasureKind.TIME else self.reach
                raise InvalidInput.too_far(name, far[0].item(), self.kind.value, reach)
        return near if valid is None else valid & near

    def _accepts(self, given: MeasureKind) -> bool:
        # Every measure accepts integers. Whole floats count as integers: pandas converts integers with nulls to floats.
        return given is MeasureKind.INTEGER or (given is MeasureKind.FLOAT and self.kind is MeasureKind.INTEGER)

    def to_arrow(self, positions: np.ndarray[Any, Any], valid: np.ndarray[Any, Any] | None = None) -> Any:
        """Return positions as a column of the type of `on`.

        >>> Measure(MeasureKind.INTEGER).to_arrow(np.array([7, 8]), np.array([True, False])).to_pylist()
        [7, None]
        """
        array = pa.array(positions, mask=None if valid is None else ~valid)
        return array if self.logical is None else array.cast(self.logical)


def _exceeds(data: np.ndarray[Any, Any], least: int, greatest: int) -> bool:
    if len(data) <= 8:  # a NumPy call costs more than a few comparisons
        return any(value < least or value > greatest for value in data.tolist())
    return bool(data.min() < least or data.max() > greatest)


def _zero_missing(data: np.ndarray[Any, Any], valid: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """Return positions with 0 for rows that have none, so that no kernel computes with garbage."""
    return data if valid is None else np.where(valid, data, data.dtype.type(0))


def _zero(kind: Any) -> Any:
    return pa.scalar(0, pa.int32() if pa.types.is_date32(kind) else pa.int64()).cast(kind)


def _numbers(array: Any) -> tuple[np.ndarray[Any, Any], int]:
    """Return the numbers of an array without nulls, and for times the microseconds per tick."""
    kind = array.type
    if pa.types.is_date32(kind):
        return array.view(pa.int32()).to_numpy().astype(np.int64), _PER_DAY
    if pa.types.is_date64(kind):
        return array.view(pa.int64()).to_numpy(), 1_000
    if pa.types.is_timestamp(kind):
        ticks = array.view(pa.int64()).to_numpy()
        return (ticks // 1000, 1) if kind.unit == "ns" else (ticks, _PER_TICK[kind.unit])
    return array.to_numpy(), 1


def _scalar(value: Any) -> Any:
    """Return an Arrow scalar as a Python value; floor nanoseconds, which as_py rejects without pandas."""
    if pa.types.is_timestamp(value.type) and value.type.unit == "ns":
        return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=value.value // 1000)
    return value.as_py()


def _of_time(value: Any) -> int | None:
    """Return the microseconds since 1970 of a time, in UTC if it has no zone; None if it is not a time."""
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else _of_numpy(value)
    if not isinstance(value, dt.date) or value != value:  # NaT of pandas is a datetime that differs from itself
        return None
    position = (value.toordinal() - _EPOCH_DAY) * _PER_DAY
    if isinstance(value, dt.datetime):
        offset = value.utcoffset() or dt.timedelta()
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        position += seconds * 1_000_000 + value.microsecond - offset // dt.timedelta(microseconds=1)
    return position


def _of_numpy(value: np.datetime64) -> int:
    # Use Python integers: NumPy's cast overflows without an error.
    unit, count = np.datetime_data(value.dtype)
    if unit in ("Y", "M", "W", "D"):
        return int(value.astype("datetime64[D]").astype(np.int64)) * _PER_DAY
    ticks = int(value.astype(np.int64)) * count
    return ticks * _PER_TICK[unit] if unit in _PER_TICK else ticks // _TICKS_PER[unit]
