"""Storage of partials: one array per field, one slot per partial.

A partial is a tuple of fields. Fixed-width fields are NumPy arrays, one per field, as in Arrow. A
field that is itself an array (`f8[10]`) is a matrix with a row per slot. Objects, and all fields if
interpreted, are Python lists. `load`, `store` and `length` work interpreted and compiled.
"""

import re
from dataclasses import dataclass
from dataclasses import field as member
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numba import types

from sash.algebra.compiler import compiled_reading, from_source, jitable
from sash.errors import InvalidAggregate

__all__ = ["Field", "Fields", "Partial", "allocate", "length", "load", "same", "set_row", "store"]

Fields: TypeAlias = tuple[Any, ...]
Partial: TypeAlias = tuple[Any, ...]

_CODE = re.compile(r"(?P<kind>[iuf][1248]|b1|O)(\[(?P<width>[1-9]\d*)\])?")
_FIXED = {f"{kind}{width}" for kind in "iu" for width in (1, 2, 4, 8)} | {"f4", "f8", "b1"}


@lru_cache(maxsize=1024)
def _is_code(code: str) -> bool:
    match = _CODE.fullmatch(code)
    return match is not None and (match["kind"] == "O" or match["kind"] in _FIXED) and not code.startswith("O[")


@lru_cache(maxsize=1024)
def _dtype_of(code: str) -> np.dtype[Any]:
    return np.dtype(code.partition("[")[0])


@dataclass(frozen=True)
class Field:
    """One field of a partial: `f8`, `i8`, `b1` …, `u8[16]` for an array, `O` for any object."""

    code: str
    # For decimals: precision and scale. They tell how objects are read, not how they are stored, so fields are compared
    # without them.
    decimal: tuple[int, int] | None = member(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.code, str) or not _is_code(self.code):
            raise InvalidAggregate.field(self.code)

    @property
    def is_object(self) -> bool:
        return self.code == "O"

    @property
    def is_array(self) -> bool:
        return "[" in self.code

    @property
    def width(self) -> int:
        """The number of numbers in a slot."""
        return int(self.code.partition("[")[2].rstrip("]")) if self.is_array else 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of one number of the field."""
        return _dtype_of(self.code)

    def empty(self, slots: int, compiled: bool, clear: bool = True) -> Any:
        """Allocate `slots` values, not yet set."""
        if not compiled or self.is_object:
            return [None] * slots
        return (np.zeros if clear else np.empty)((slots, self.width) if self.is_array else slots, dtype=self.dtype)

    def restored(self, given: Any, compiled: bool) -> Any:
        """Return saved values in the form of `empty`; raise ValueError if they do not fit the field.

        Values saved as an array can be restored as a list, and the other way round, since the compiler may be off.
        """
        if self.is_object:
            if not isinstance(given, list):
                raise ValueError("objects of it are not in a list")
            return given
        if isinstance(given, np.ndarray):
            width = (self.width,) if self.is_array else ()
            if given.dtype != self.dtype or given.shape[1:] != width:
                raise ValueError(f"an array of it is not of {self.code}")
            return given if compiled else list(given) if self.is_array else given.tolist()
        if not isinstance(given, list) or not all(each is None or self._holds(each) for each in given):
            raise ValueError(f"a list of it is not of {self.code}")
        if not compiled:
            return given
        array = self.empty(len(given), compiled=True)
        for place, value in enumerate(given):
            if value is not None:  # a slot that was never set
                array[place] = value
        return array

    def _holds(self, value: Any) -> bool:
        """Return whether a slot can hold a Python value."""
        if self.is_array:
            return isinstance(value, np.ndarray) and value.dtype == self.dtype and value.shape == (self.width,)
        if self.dtype.kind == "f":
            return isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**1023)
        if self.dtype.kind == "b":
            return isinstance(value, bool)
        bounds = np.iinfo(self.dtype)
        return isinstance(value, int) and bounds.min <= value <= bounds.max


def allocate(fields: tuple[Field, ...], slots: int, compiled: bool) -> Fields:
    """Allocate `slots` partials."""
    return tuple(field.empty(slots, compiled) for field in fields)


def load(fields: Fields, slot: int) -> Partial:
    """Return the partial in a slot; an array field is copied, so a later store cannot change it."""
    if len(fields) == 1:  # interpreted, three times as fast as the loop
        return (fields[0][slot],)
    return tuple([field[slot] for field in fields])


def store(fields: Fields, slot: int, partial: Partial) -> None:
    """Store a partial in a slot."""
    if len(fields) == 1:
        (fields[0][slot],) = partial
        return
    for field, value in zip(fields, partial, strict=True):
        field[slot] = value


def length(fields: Fields) -> int:
    """Return the number of slots."""
    return len(fields[0])


def same(a: Partial, b: Partial) -> bool:
    """Return whether two partials are equal field by field; NaN equals NaN, and -0.0 equals 0.0."""
    return all(
        bool(_all_same(x, y)) if isinstance(x, np.ndarray) else bool(x == y or (x != x and y != y))
        for x, y in zip(a, b, strict=True)
    )


@jitable
def _all_same(x: Any, y: Any) -> Any:
    return np.all((x == y) | ((x != x) & (y != y)))


# Slots are never negative; unsigned ones spare compiled code the test for negative indices.
_UNSIGNED = ("uint64", np.uint64)


@compiled_reading(load)
def _load(fields: Any, slot: Any) -> Any:
    reads = ", ".join(f"fields[{k}][at]" + (".copy()" if array.ndim == 2 else "") for k, array in enumerate(fields))
    source = f"def generated(fields, slot):\n    at = uint64(slot)\n    return ({reads}{',' if reads else ''})"
    return from_source(source, _UNSIGNED)


@compiled_reading(store)
def _store(fields: Any, slot: Any, partial: Any) -> Any:
    writes = "".join(
        f"    set_row(fields[{k}], at, partial[{k}])\n" if array.ndim == 2 else f"    fields[{k}][at] = partial[{k}]\n"
        for k, array in enumerate(fields)
    )
    source = f"def generated(fields, slot, partial):\n    at = uint64(slot)\n{writes}"
    return from_source(source, _UNSIGNED, ("set_row", set_row))


def set_row(rows: Any, slot: int, values: Any) -> None:
    """Set a row of a matrix."""
    rows[slot] = values


@compiled_reading(set_row)
def _set_row(rows: Any, slot: Any, values: Any) -> Any:
    if not isinstance(values, types.Array):
        return lambda rows, slot, values: _fill_row(rows, slot, values)
    return lambda rows, slot, values: _copy_row(rows, slot, values)


@jitable
def _fill_row(rows: Any, slot: int, value: Any) -> None:
    for k in range(rows.shape[1]):
        rows[slot, k] = value


@jitable
def _copy_row(rows: Any, slot: int, values: Any) -> None:
    # Not as a slice: with it, Numba compiles the words of an error for 2.3 of 3.8 s.
    if len(values) != rows.shape[1]:
        raise ValueError("an array has another length than its field")
    for k in range(rows.shape[1]):
        rows[slot, k] = values[k]


@compiled_reading(length)
def _length(fields: Any) -> Any:
    if isinstance(fields, types.BaseTuple):
        return lambda fields: len(fields[0])
    return None


@compiled_reading(same)
def _compiled_same(a: Any, b: Any) -> Any:
    tests = " and ".join(
        f"all_same(a[{k}], b[{k}])"
        if isinstance(kind, types.Array)
        else f"(a[{k}] == b[{k}] or (a[{k}] != a[{k}] and b[{k}] != b[{k}]))"
        for k, kind in enumerate(a)
    )
    return from_source(f"def generated(a, b):\n    return {tests or 'True'}", ("all_same", _all_same))
