"""Read tables of Arrow, pandas, Polars and DuckDB, and dicts of columns.

Columns are converted when they are first read: a row pushed as a dict of lists never becomes a table.
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.fields import Field
from sash.algebra.monoid import Column
from sash.engine.nested import field_at, paths_of, steps_of
from sash.errors import InvalidInput, UnknownName
from sash.swag.values import Values, arrow_array, has_arrow, is_pandas, read_one
from sash.windows.measure import Measure, Positions

__all__ = ["Kind", "Rows", "kind_of", "read_positions", "read_rows", "to_arrow"]

_FEW = 32  # values that keys look up without Arrow
_PLAIN: dict[type, tuple[Column, Any]] = {
    int: (Column(Field("i8")), np.int64),
    float: (Column(Field("f8")), np.float64),
    str: (Column(Field("O")), None),
}
_PLAIN_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
_COARSE = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s", "ps": "ns", "fs": "ns", "as": "ns"}


class Kind(Enum):
    """The kind of a table, so that results can be of the same kind."""

    ARROW = "arrow"
    PANDAS = "pandas"
    POLARS = "polars"
    LAZY = "polars (lazy)"
    DUCKDB = "duckdb"
    DICT = "dict"


def kind_of(rows: Any) -> Kind:
    """Return the kind of a table; other tables with an Arrow interface are Arrow.

    >>> kind_of({"x": [1]}), kind_of(pa.table({"x": [1]}))
    (<Kind.DICT: 'dict'>, <Kind.ARROW: 'arrow'>)
    """
    if isinstance(rows, Mapping):
        return Kind.DICT
    if is_pandas(rows) and hasattr(rows, "columns"):
        return Kind.PANDAS
    package = type(rows).__module__.partition(".")[0]
    if package == "duckdb" and hasattr(rows, "query") and hasattr(rows, "columns"):
        return Kind.DUCKDB
    if package == "polars":
        if type(rows).__name__ == "LazyFrame":
            return Kind.LAZY
        if not has_arrow(rows) or not hasattr(rows, "columns"):
            raise InvalidInput.rows(f"a Polars {type(rows).__name__}", "pass a DataFrame, or name the column in a dict")
        return Kind.POLARS
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        raise InvalidInput.rows(f"a {type(rows).__name__}", "pass it in a dict, under a name")
    if package not in ("pyspark", "pandas") and has_arrow(rows):
        return Kind.ARROW
    fix = "convert them to one of these"
    if isinstance(rows, list) and rows and isinstance(rows[0], Mapping):
        fix = "convert the list with pyarrow.Table.from_pylist"
    elif package == "pandas":
        fix = "pass a DataFrame, or name the column in a dict"
    elif package == "pyspark":
        fix = "collect them with toArrow(), or use sash.aggregate on the DataFrame"
    raise InvalidInput.rows(reprlib.repr(rows), fix)


def to_arrow(rows: Any) -> Any:
    """Convert any table to a pyarrow.Table.

    >>> to_arrow({"ts": [1, 2], "x": [0.5, None]}).column("x").to_pylist()
    [0.5, None]
    """
    return read_rows(rows).table()


def read_positions(column: Any, measure: Measure, name: str = "on") -> Positions:
    """Return the positions in an Arrow column, and which rows have one (None: all); without a column, no positions.

    >>> read_positions(pa.array([7, None]), Measure.of(pa.int64()))
    (array([7, 0]), array([ True, False]))
    """
    if column is None:
        return np.zeros(0, measure.dtype), None
    return measure.positions(column, name)


def read_rows(rows: Any) -> "Rows":
    """Return the rows of a table or of a dict; columns are converted when they are first read.

    >>> rows = read_rows({"ts": [1, 2], "plug": ["a", "b"]})
    >>> rows.count, rows.names, rows.column("ts").data
    (2, ('ts', 'plug'), array([1, 2]))
    >>> rows.column("load")
    Traceback (most recent call last):
    sash.errors.UnknownName: There is no column 'load'. The known ones: plug, ts.
    """
    if isinstance(rows, Rows):
        return rows
    kind = kind_of(rows)
    if kind is Kind.DICT:
        return _of_dict(rows)
    if kind is Kind.PANDAS:
        levels = tuple(str(name) for name in rows.index.names if name is not None)
        return _named([(str(name), series) for name, series in rows.items()], len(rows), None, levels)
    if kind is Kind.LAZY:
        return read_rows(rows.collect())
    try:
        table = rows if isinstance(rows, pa.Table) else rows.to_arrow() if kind is Kind.POLARS else pa.table(rows)
    except (pa.ArrowException, TypeError) as error:
        raise InvalidInput.rows(f"a {type(rows).__name__}", f"convert them to one of these ({error})") from error
    return _named(list(zip(table.column_names, table.columns, strict=True)), table.num_rows, table)


def _of_dict(rows: Mapping[Any, Any]) -> "Rows":
    given: dict[str, Any] = {}
    count = -1
    for name, column in rows.items():
        if not isinstance(name, str):
            raise InvalidInput.rows(f"a dict with a column {name!r}", "the names of columns must be strings")
        if type(column) is not list:
            column = _as_column(name, column)
        given[name] = column
        if len(column) != count:
            if count >= 0:
                raise InvalidInput.ragged({each: len(values) for each, values in given.items()})
            count = len(column)
    return Rows(max(count, 0), tuple(given), given)


def _as_column(name: str, column: Any) -> Any:
    if has_arrow(column):
        if getattr(column, "ndim", 1) == 1 and hasattr(column, "__len__"):
            return column
    elif isinstance(column, np.ndarray):
        if column.ndim == 1:
            return column
    elif is_pandas(column) and getattr(column, "ndim", 1) == 1 and hasattr(column, "__len__"):
        return column
    elif isinstance(column, Sequence) and not isinstance(column, str | bytes):
        return list(column)
    shape = getattr(column, "shape", None) or reprlib.repr(column)
    raise InvalidInput.in_column(name, f"it is {shape}. Pass one list or one-dimensional array per column")


def _named(columns: list[tuple[str, Any]], count: int, table: Any, levels: tuple[str, ...] = ()) -> "Rows":
    given = dict(columns)
    names = tuple(name for name, _ in columns)
    twice = frozenset(name for name in names if names.count(name) > 1) if len(given) < len(names) else frozenset()
    return Rows(count, names, given, levels, twice, {} if table is None else {None: table})


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as columns; each is converted once, when it is first read."""

    count: int
    names: tuple[str, ...]
    _given: Mapping[str, Any] = field(repr=False)
    levels: tuple[str, ...] = field(default=(), repr=False)  # names of levels of pandas' index, which are not columns
    _twice: frozenset[str] = field(default=frozenset(), repr=False)
    _arrow: dict[str | None, Any] = field(default_factory=dict, repr=False)  # under None, the whole table
    _values: dict[str, Values] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.count

    def known(self, name: str) -> str:
        """Return the name; refuse it if there is no such column."""
        if not self.has(name):
            if name in self.levels:
                raise UnknownName.index_level(name)
            raise UnknownName.of("column", name, (*self.names, *self.nested()) if "." in name else self.names)
        return name

    def has(self, name: str) -> bool:
        """Return whether there is a column of this name, or a nested field at this path.

        >>> rows = read_rows({"meta": [{"load": 5}]})
        >>> rows.has("meta.load"), rows.has("load"), rows.column("meta.load").data
        (True, False, array([5]))
        """
        return name in self.names or bool(self._steps(name))

    def nested(self) -> tuple[str, ...]:
        """Return the paths of all nested fields."""
        found: list[str] = []
        for name in self.names:
            try:
                kind = self._kind((name,))
            except InvalidInput:  # a column that cannot be read, which is an error only if it is used
                continue
            found += [] if kind is None else paths_of(name, kind)
        return tuple(found)

    def _steps(self, path: str) -> tuple[str, ...]:
        """Return the column and the fields that a path consists of; none if there are no such."""
        if "." not in path:
            return ()
        return steps_of(path, self.names, lambda steps: _field_names(self._kind(steps)))

    def _kind(self, steps: tuple[str, ...]) -> Any:
        """Return the type of a struct; None if it is none."""
        raw: Any = self._given.get(steps[0])
        if steps[0] in self._twice or isinstance(raw, np.ndarray) or (is_pandas(raw) and raw.dtype.kind in "biufM"):
            return None
        if type(raw) is list and not any(isinstance(each, Mapping) for each in raw):
            return None
        kind = self.arrow(steps[0]).type
        for name in steps[1:]:
            kind = kind.field(name).type
        return kind if pa.types.is_struct(kind) else None

    def column(self, name: str) -> Values:
        """Return a column as kernels read it."""
        values = self._values.get(name)
        if values is None:
            values = self._values[name] = _values(name, self._raw(name))
        return values

    def arrow(self, name: str) -> Any:
        """Return a column as an Arrow array."""
        array = self._arrow.get(name)
        if array is None:
            array = self._arrow[name] = _array(name, self._raw(name))
        return array

    def arrow_type(self, name: str) -> Any:
        """Return the type of a column that is an Arrow array already; None if it would have to be converted.

        >>> rows = read_rows({"plug": pa.array(["a", "b"]), "load": [1, 2]})
        >>> rows.arrow_type("plug"), rows.arrow_type("load")
        (DataType(string), None)
        """
        raw = self._raw(name)
        return _PLAIN_VIEWS.get(raw.type, raw.type) if isinstance(raw, pa.ChunkedArray | pa.Array) else None

    def key(self, name: str) -> Any:
        """Return a column as `Keys` reads it: a short list as it is, anything else as an Arrow array.

        >>> read_rows({"plug": ["a"]}).key("plug")
        ['a']
        """
        raw = self._raw(name)
        return raw if type(raw) is list and self.count <= _FEW else self.arrow(name)

    def measure(self, name: str) -> Measure:
        """Return the measure of a column, used as `on`.

        >>> read_rows({"ts": [1]}).measure("ts")
        Measure(kind=<MeasureKind.INTEGER: 'integer'>, logical=None)
        """
        return Measure.of(self.arrow(name).type, name)

    def positions(self, name: str, measure: Measure) -> Positions:
        """Return the position of each row, and which rows have one (None: all).

        >>> read_rows({"ts": [1, 2]}).positions("ts", Measure.of(pa.float64()))
        (array([1., 2.]), None)
        """
        raw = self._raw(name)
        if type(raw) is list:
            kinds = set(map(type, raw))
            if kinds == {int} or kinds == {float}:
                return measure.of_numbers(self.column(name).data, None, name)
        return measure.positions(self.arrow(name), name)

    def with_arrays(self, arrays: Mapping[str, Any]) -> "Rows":
        """Return the rows with further columns, which are Arrow arrays."""
        return replace(self, names=(*self.names, *arrays), _given={**self._given, **arrays}, _arrow={}, _values={})

    def table(self) -> Any:
        """Return all columns as an Arrow table.

        >>> read_rows({"x": [1, 2]}).table().num_rows
        2
        """
        if None not in self._arrow:
            self._arrow[None] = pa.table([self.arrow(name) for name in self.names], names=list(self.names))
        return self._arrow[None]

    def _raw(self, name: str) -> Any:
        raw = self._given.get(name)
        if raw is None:
            self.known(name)
            if name not in self._arrow:
                column, *fields = self._steps(name)
                self._arrow[name] = _array(name, field_at(self.arrow(column), fields))
            return self._arrow[name]
        if name in self._twice:
            raise InvalidInput.twice(name)
        return raw


def _field_names(kind: Any) -> list[str]:
    return [] if kind is None else [kind.field(place).name for place in range(kind.num_fields)]


def _values(name: str, raw: Any) -> Values:
    if type(raw) is list:
        kinds = set(map(type, raw))
        plain = _PLAIN.get(kinds.pop()) if len(kinds) == 1 else None
        if plain is not None:
            column, dtype = plain
            try:
                data = raw.copy() if dtype is None else np.array(raw, dtype)
            except OverflowError:
                pass  # the error is raised below, where other lists are read
            else:
                return Values(data, None, column, "list")
    if isinstance(raw, pa.ChunkedArray | pa.Array) and pa.types.is_dictionary(raw.type):
        raw = _array(name, raw)
    try:
        return read_one(raw)
    except InvalidInput as error:
        raise InvalidInput.in_column(name, str(error)) from error


def _array(name: str, raw: Any) -> Any:
    """Return a column as an Arrow array."""
    if isinstance(raw, pa.ChunkedArray | pa.Array):
        # The views of Polars: Arrow cannot take or filter them.
        if pa.types.is_dictionary(raw.type) and raw.type.value_type in _PLAIN_VIEWS:
            return _without_views(raw)
        return raw.cast(_PLAIN_VIEWS[raw.type]) if raw.type in _PLAIN_VIEWS else raw
    try:
        if isinstance(raw, np.ndarray):
            return _of_numpy(name, raw)
        if type(raw) is list:
            return _unmixed(name, pa.array(raw), raw)
        array = arrow_array(raw)
        return _unmixed(name, array, raw.tolist()) if is_pandas(raw) and raw.dtype == object else array
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = " ".join(str(each) for each in error.args)
        raise InvalidInput.in_column(name, f"{reason}. Give all its values one type") from error


def _without_views(categories: Any) -> Any:
    """Return the categories of Polars, whose values are views."""
    chunks = categories.chunks if isinstance(categories, pa.ChunkedArray) else [categories]
    plain = _PLAIN_VIEWS[categories.type.value_type]
    found = [pa.DictionaryArray.from_arrays(each.indices, each.dictionary.cast(plain)) for each in chunks]
    return pa.chunked_array(found, pa.dictionary(categories.type.index_type, plain))


def _unmixed(name: str, array: Any, values: list[Any]) -> Any:
    """Return the array that Arrow made from the values; refuse it if it merged different types."""
    for belongs, other in ((pa.types.is_binary, str), (pa.types.is_temporal, int)):
        if belongs(array.type) and any(isinstance(value, other) for value in values):
            raise InvalidInput.in_column(name, f"{array.type} and {other.__name__} are mixed. Give all one type")
    return array


def _of_numpy(name: str, values: np.ndarray[Any, Any]) -> Any:
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    data = np.asarray(values)
    if data.dtype.kind == "O" and mask is None:
        items = data.tolist()
        return _unmixed(name, pa.array(items), items)
    if data.dtype.kind in "Mm":
        unit, _ = np.datetime_data(data.dtype)
        fine = _COARSE.get(unit, unit)
        data = data.astype(f"{data.dtype.kind}8[{fine}]" if fine != "generic" else data.dtype)
    elif data.dtype.kind == "f" and data.dtype.itemsize > 8:
        data = data.astype(np.float64)
    return pa.array(data.astype(data.dtype.newbyteorder("="), copy=False), mask=mask)
