"""Columns of values: read them from NumPy, Arrow or lists, and write results as the same kind."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.algebra.aggregate import Builtin, Template
from sash.algebra.fields import Field
from sash.algebra.monoid import Column
from sash.errors import InvalidAggregate, InvalidInput

__all__ = [
    "Values",
    "arrow_array",
    "as_array",
    "as_type",
    "at_least",
    "column_of",
    "has_arrow",
    "is_pandas",
    "narrow",
    "plain",
    "read",
    "read_one",
    "write",
]


@dataclass(frozen=True)
class Values:
    """One column as kernels read it: data, where it is valid (None: everywhere), and its original kind."""

    data: Any  # a NumPy array, or a list of objects
    valid: np.ndarray[Any, Any] | None
    column: Column
    source: str  # "numpy", "arrow" or "list": what results are given back as
    logical: Any = None  # the NumPy or Arrow type behind an integer: dates and times

    def __len__(self) -> int:
        return len(self.data)


def read(values: Any, arity: int, name: str) -> tuple[Values, ...]:
    """Return the columns that an aggregate reads: one, or a tuple of as many as it names."""
    given = values if isinstance(values, tuple) else (values,)
    if len(given) < arity or (len(given) > 1 and len(given) != arity):
        raise InvalidInput.columns(name, arity, len(given))
    columns = tuple(read_one(each) for each in given)
    if len({len(each) for each in columns}) > 1:
        raise InvalidInput.ragged([len(each) for each in columns])
    return columns


def read_one(values: Any) -> Values:
    """Return one column from any supported kind of values."""
    if isinstance(values, np.ma.MaskedArray):
        plain = _numpy(np.asarray(values.data))
        mask = np.ma.getmaskarray(values)
        if not mask.any():
            return plain
        return _with_nulls(plain, ~mask if plain.valid is None else ~mask & plain.valid)
    if isinstance(values, np.ndarray):
        return _numpy(values)
    if type(values).__module__.startswith("pyspark."):
        raise InvalidInput.option("values", values, "an array or a list: of a DataFrame use sash.rolling")
    if getattr(values, "ndim", 1) != 1:
        raise InvalidInput.not_flat(getattr(values, "shape", "of a table"))
    if has_arrow(values) or is_pandas(values):
        return _arrow(values)
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidInput.option("values", values, "a NumPy array, an Arrow array or a list, one per column")
    return _list(values)


def is_pandas(values: Any) -> bool:
    """Return whether the class of the values is of pandas, or derived from one of pandas."""
    return any(each.__module__.startswith("pandas.") for each in type(values).__mro__)


def has_arrow(values: Any) -> bool:
    """Return whether a column or a table can be converted to Arrow without a look at its values."""
    return hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__") or _is_polars(values)


def arrow_array(values: Any) -> Any:
    """Return a column of Arrow, pandas or Polars as an Arrow array.

    >>> import pyarrow as pa
    >>> arrow_array(pa.array([1, 2])).to_pylist()
    [1, 2]
    """
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if is_pandas(values):
        return pa.Array.from_pandas(values)
    if _is_polars(values):  # some versions have no stream of Arrow, or one that fails for times
        return values.to_arrow()
    return pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)


def _is_polars(values: Any) -> bool:
    return type(values).__module__.startswith("polars.") and hasattr(values, "to_arrow")


def at_least(what: str, value: Any, least: int) -> int:
    """Return a whole number that is not below another."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput.at_least(what, value, least)
    return int(value)


def narrow(values: Values, size: int, templates: Iterable[Template]) -> Column:
    """Return the type of a column; as small integers, if only sums are asked for and none can exceed 64 bits."""
    column, data = values.column, values.data
    if column.field.code != "i8" or column.is_time or not isinstance(data, np.ndarray) or not len(data):
        return column
    if not all(isinstance(each, Builtin) and each.name in ("sum", "mean") for each in templates):
        return column
    largest = max(-int(data.min()), int(data.max()))
    return replace(column, is_small=largest * min(size, len(data)) < 2**63)


def column_of(dtype: Any) -> Column:
    """Return the column type that a dtype names: numbers, booleans, or Python objects for str and object."""
    if dtype in (str, object, "str", "string", "object"):
        return Column(Field("O"))
    try:
        return Column(Field(np.dtype(dtype).str[1:]))
    except (TypeError, InvalidAggregate) as error:
        raise InvalidInput.option("dtype", dtype, "a NumPy dtype of numbers or booleans, or str") from error


def as_type(values: Values, bound: Column) -> Values:
    """Return the values in the type of another column, if no value changes."""
    if values.column.field == bound.field:
        return values
    known = values.data if values.valid is None else [v for v, k in zip(values.data, values.valid, strict=True) if k]
    if len(known) == 0:  # nothing but nulls
        empty = [None] * len(values) if bound.field.is_object else np.zeros(len(values), bound.field.dtype)
        return Values(empty, values.valid, bound, values.source)
    source, target = values.column.field.dtype, bound.field.dtype
    if "O" in (source.kind, target.kind) or not np.can_cast(source, target, "same_kind") or source.kind == "b":
        raise InvalidInput.value_type(plain(known[0]), target.name)
    converted = values.data.astype(target)
    if target.kind in "iu" and not np.array_equal(converted, values.data):
        raise InvalidInput.value_type(plain(known[0]), target.name)
    return Values(converted, values.valid, bound, values.source)


def plain(value: Any) -> Any:
    """Return a Python value for a NumPy scalar, and anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _with_nulls(plain: Values, valid: np.ndarray[Any, Any]) -> Values:
    column = replace(plain.column, nullable=True)
    return Values(plain.data, valid, column, plain.source, plain.logical)


def _numpy(array: np.ndarray[Any, Any]) -> Values:
    if array.ndim != 1:
        raise InvalidInput.not_flat(array.shape)
    kind = array.dtype.kind
    if kind in "OUS":
        objects = _list(array.tolist())
        return Values(objects.data, objects.valid, objects.column, "numpy")
    if kind in "Mm":
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
        plain = Values(array.view(np.int64), None, Column(Field("i8"), is_time=True), "numpy", array.dtype)
        missing = np.isnat(array)
        return _with_nulls(plain, ~missing) if missing.any() else plain
    if kind not in "biuf":
        raise InvalidInput.option("values", array.dtype, "numbers, booleans, strings, dates or times")
    size = array.dtype.itemsize
    if kind == "f" and size not in (4, 8):
        array = array.astype(np.float32 if size == 2 else np.float64)
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return Values(array, None, Column(Field(array.dtype.str[1:])), "numpy")


def _list(values: Sequence[Any]) -> Values:
    present = [value for value in values if value is not None]
    valid = None if len(present) == len(values) else np.array([value is not None for value in values], np.bool_)
    kinds = {type(value) for value in present}
    for kind, example in ((type(value), value) for value in present):
        if issubclass(kind, list | tuple | dict | set | np.ndarray):
            raise InvalidInput.mixed(example, "a value is itself a collection")
    # Of no values the type is open: integers suit every aggregate; of nulls, floats suit what may follow.
    code = _code_of(kinds, present) if present else "f8" if values else "i8"
    if code == "O":
        data: Any = list(values)
    else:
        filler = False if code == "b1" else 0
        try:
            data = np.array([filler if value is None else value for value in values], np.dtype(code))
        except OverflowError as error:
            large = next(value for value in present if isinstance(value, int) and not -(2**63) <= value < 2**63)
            raise InvalidInput.mixed(
                f"{large:.3g}" if large < 1e300 else "a huge one", "an integer does not fit 64 bits"
            ) from error
    return Values(data, valid, Column(Field(code), nullable=valid is not None), "list")


def _code_of(kinds: set[type], present: list[Any]) -> str:
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return "b1"
    if not any(issubclass(kind, bool | np.timedelta64) for kind in kinds):
        if all(issubclass(kind, int | np.integer) for kind in kinds):
            return "i8"
        if all(issubclass(kind, int | float | np.integer | np.floating) for kind in kinds):
            return "f8"
    if len(kinds) > 1:
        first = type(present[0])
        other = next(value for value in present if type(value) is not first)
        raise InvalidInput.mixed(other, f"{first.__name__} and {type(other).__name__} are mixed")
    return "O"


def _arrow(values: Any) -> Values:
    import pyarrow as pa

    try:
        return _arrow_column(values, pa)
    except pa.ArrowException as error:
        kind = getattr(values, "type", getattr(values, "dtype", type(values).__name__))
        raise InvalidInput.option("values", kind, f"numbers, booleans, strings, dates or times ({error})") from error


def _arrow_column(values: Any, pa: Any) -> Values:
    array = arrow_array(values)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if pa.types.is_null(array.type):
        array = array.cast(pa.float64())
    kind, logical = array.type, None
    if pa.types.is_temporal(kind):
        logical = kind
        array = array.cast(pa.int64() if kind.bit_width == 64 else pa.int32()).cast(pa.int64())
    elif pa.types.is_float16(kind):
        array = array.cast(pa.float32())
    elif pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    valid = None if array.null_count == 0 else np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type) or pa.types.is_boolean(array.type)):
        if pa.types.is_nested(kind):
            raise InvalidInput.option("values", kind, "numbers, booleans, strings, dates or times")
        # Strings and decimals have a type even where there are none.
        field = Field("O", (kind.precision, kind.scale)) if pa.types.is_decimal(kind) else Field("O")
        return Values(array.to_pylist(), valid, Column(field, nullable=valid is not None), "arrow", array.type)
    if valid is not None:
        array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    data = np.ascontiguousarray(array.to_numpy(zero_copy_only=False))
    column = Column(Field(data.dtype.str[1:]), nullable=valid is not None, is_time=logical is not None)
    return Values(data, valid, column, "arrow", logical)


def as_array(result: list[Any], field: Field) -> np.ndarray[Any, Any]:
    """Return interpreted results in the type of compiled ones."""
    array: np.ndarray[Any, Any] = field.empty(len(result), compiled=True)
    for row, value in enumerate(result):
        if value is not None:
            array[row] = value
    return array


def write(values: Values, result: Any, missing: np.ndarray[Any, Any] | None, keeps_type: bool) -> Any:
    """Return results as the kind of the values; with `keeps_type`, in their type, since results are values.

    `missing` says which rows have no result.
    """
    if missing is not None:
        places = np.flatnonzero(missing)
        if not len(places):
            missing = None
        elif isinstance(result, np.ndarray) and result.dtype.kind == "f":
            result[places] = np.nan  # there are few: a mask would read every result
    logical = values.logical if keeps_type else None
    return _WRITERS[values.source](result, missing, logical)


def _to_list(result: Any, missing: np.ndarray[Any, Any] | None, _logical: Any) -> list[Any]:
    items = list(result) if isinstance(result, list) else result.tolist()
    return items if missing is None else [None if gone else item for item, gone in zip(items, missing, strict=True)]


def _to_numpy(result: Any, missing: np.ndarray[Any, Any] | None, logical: Any) -> Any:
    if isinstance(result, list):
        kinds = {type(item) for item in result if item is not None}
        numbers = kinds and all(issubclass(kind, int | float | np.number | np.ndarray) for kind in kinds)
        if not (numbers and (missing is None or kinds == {float})):
            array = np.empty(len(result), object)
            for place, item in enumerate(result):  # as a whole, lists of one length would be taken for a matrix
                array[place] = None if missing is not None and missing[place] else item
            return array
        result = np.array([math.nan if item is None else item for item in result])
    if missing is None:
        return result.view(logical) if logical is not None else result
    if logical is not None:
        result = result.copy()
        result[missing] = np.iinfo(np.int64).min  # NaT
        return result.view(logical)
    if result.dtype.kind == "f":
        return result
    mask = np.broadcast_to(missing.reshape(-1, *[1] * (result.ndim - 1)), result.shape)
    return np.ma.MaskedArray(result, mask=mask)


def _to_arrow(result: Any, missing: np.ndarray[Any, Any] | None, logical: Any) -> Any:
    import pyarrow as pa

    if isinstance(result, list):
        known = [
            None if missing is not None and missing[k] else item.tolist() if isinstance(item, np.ndarray) else item
            for k, item in enumerate(result)
        ]
        return pa.array(known, type=logical)
    if result.ndim == 2:
        flat = pa.array(result.reshape(-1))
        mask = None if missing is None else pa.array(missing)
        return pa.FixedSizeListArray.from_arrays(flat, result.shape[1], mask=mask)
    array = pa.array(result, mask=missing)
    if logical is None:
        return array
    return array.cast(pa.int32()).cast(logical) if logical.bit_width == 32 else array.cast(logical)


_WRITERS: dict[str, Callable[[Any, np.ndarray[Any, Any] | None, Any], Any]] = {
    "list": _to_list,
    "numpy": _to_numpy,
    "arrow": _to_arrow,
}
