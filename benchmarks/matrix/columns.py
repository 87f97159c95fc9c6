"""The columns of the matrix: every type, with and without nulls, and tables of such columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.algorithms.workloads import SEED
from benchmarks.matrix.windows import EVERY, PAUSE, START, Shape
from benchmarks.settings import Size

__all__ = ["COLUMNS", "ColumnKind", "column_of", "table_of"]

Array = np.ndarray[Any, Any]
MANY = 1_000_000  # different values, where the type has as many
SOME = 10_000  # different strings, binaries and dates
NULLS = 0.1
SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400


@dataclass(frozen=True)
class ColumnKind:
    """A type, and how its column is made from random whole numbers from 0 to `distinct`."""

    name: str
    type: pa.DataType
    distinct: int
    make: Callable[[Array], Any]
    nulls: bool = False

    @property
    def label(self) -> str:
        """Return the name of the type, and whether there are nulls."""
        return f"{self.name} with nulls" if self.nulls else self.name


def _named(numbers: Array) -> pa.Array:
    return pc.binary_join_element_wise("device-", pa.array(numbers).cast(pa.string()), "")


def _plain(numbers: Array) -> Array:
    return numbers


def _kinds() -> list[ColumnKind]:
    integers = [
        ColumnKind(f"int{8 * 2**k}", pa.from_numpy_dtype(f"i{2**k}"), (100, SOME, MANY, MANY)[k], _plain)
        for k in range(4)
    ]
    floats = [
        ColumnKind(f"float{8 * 2**k}", pa.from_numpy_dtype(f"f{2**k}"), MANY, lambda n: n / 1000.0) for k in (2, 3)
    ]
    return [
        *integers,
        *floats,
        ColumnKind("bool", pa.bool_(), 2, lambda n: n.astype(bool)),
        ColumnKind("string", pa.string(), SOME, _named),
        ColumnKind("binary", pa.binary(), SOME, lambda n: _named(n).cast(pa.binary())),
        ColumnKind("decimal_10_2", pa.decimal128(10, 2), MANY, lambda n: n / 100.0),
        ColumnKind("decimal_38_10", pa.decimal128(38, 10), MANY, lambda n: n / 100.0),
        ColumnKind("date", pa.date32(), SOME, lambda n: pa.array(n.astype("i4")).cast(pa.date32())),
        ColumnKind("timestamp", pa.timestamp("us", "UTC"), MANY, lambda n: n * SECOND),
    ]


COLUMNS: Mapping[str, ColumnKind] = {
    made.label: made
    for each in _kinds()
    for made in (each, ColumnKind(each.name, each.type, each.distinct, each.make, nulls=True))
}


def column_of(kind: ColumnKind, rows: int, seed: int = 0, near_one: bool = False) -> pa.Array:
    """Return a column of random values; `near_one`: numbers whose product does not overflow.

    >>> column_of(COLUMNS["decimal_10_2"], 2).type, column_of(COLUMNS["string with nulls"], 1000).null_count > 50
    (Decimal128Type(decimal128(10, 2)), True)
    """
    random = np.random.default_rng(SEED + seed)
    numbers = random.integers(0, kind.distinct, rows)
    values: Any = kind.make(numbers)
    if near_one and kind.name.startswith(("int", "float")):
        values = np.where(numbers % 2, 1, -1) if kind.name.startswith("int") else 1.0 + (numbers % 3 - 1) * 1e-4
    made = values if isinstance(values, pa.Array) else pa.array(values)
    made = made if made.type == kind.type else made.cast(kind.type, safe=False)
    return pc.if_else(pa.array(random.random(rows) >= NULLS), made, None) if kind.nulls else made


@lru_cache(maxsize=24)
def _values(label: str, rows: int, seed: int, near_one: bool) -> pa.Array:
    return column_of(COLUMNS[label], rows, seed, near_one)


@lru_cache(maxsize=48)
def _places(size: Size, shape: Shape, length: int) -> dict[str, pa.Array]:
    """Return the key, the position and the flags of every row; rows are in the order of time."""
    number = np.arange(size.rows)
    place, key = number // size.keys, number % size.keys
    part = place * SECOND + key * (SECOND // size.keys)  # the keys share a second
    begin = int((START - EPOCH).total_seconds()) * SECOND
    if shape.on == "g":
        part = part + place // length * PAUSE * SECOND
    elif shape.on == "d":
        part = part * (DAY // EVERY)
    return {
        "k": pa.array(key),
        shape.on: pa.array(begin + part).cast(pa.timestamp("us", "UTC")),
        "p": pa.array(place % length == 0),
    }


def table_of(kind: ColumnKind, size: Size, shape: Shape, length: int, near_one: bool = False) -> pa.Table:
    """Return a table with the columns k, x, w, p and the position of the shape."""
    values = {name: _values(kind.label, size.rows, seed, near_one) for seed, name in enumerate("xw")}
    return pa.table({**_places(size, shape, length), **values})
