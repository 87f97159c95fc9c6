"""CAST on Arrow, with the results of Spark: numbers are cut to whole ones, and what does not fit is an error."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sash.syntax.casts import CastType

__all__ = ["cast_values", "whole_numbers"]

_TYPES: dict[str, Any] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.large_string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")


def cast_values(value: Any, kind: CastType, is_try: bool) -> Any:
    """Return values of another type; None if there is no such cast. An error becomes null if `is_try`."""
    to = pa.decimal128(*kind.digits) if kind.digits is not None else _TYPES[kind.name]
    if pa.types.is_null(value.type):
        return value.cast(to)
    cast = _cast_of(value.type, to)
    if cast is None:
        return None
    try:
        return cast(value, to)
    except pa.ArrowInvalid:
        if not is_try:
            raise
    if isinstance(value, pa.Scalar):
        return pa.scalar(None, to)
    return pa.chunked_array([pa.array([_one(cast, each, to) for each in value], to)])


def _one(cast: Callable[[Any, Any], Any], value: Any, to: Any) -> Any:
    try:
        return cast(value, to).as_py()
    except pa.ArrowInvalid:
        return None


def _cast_of(given: Any, to: Any) -> Callable[[Any, Any], Any] | None:
    is_text = pa.types.is_string(given) or pa.types.is_large_string(given)
    is_number = pa.types.is_integer(given) or pa.types.is_floating(given) or pa.types.is_decimal(given)
    to_number = pa.types.is_integer(to) or pa.types.is_floating(to) or pa.types.is_decimal(to)
    if is_text:
        return _parsed
    if pa.types.is_boolean(given):
        return _plain if not pa.types.is_temporal(to) and not pa.types.is_decimal(to) else None
    if is_number and to_number:
        return whole_numbers if pa.types.is_integer(to) else _rounded if pa.types.is_decimal(to) else _plain
    if is_number and pa.types.is_boolean(to):
        return lambda value, _: pc.not_equal(value, pa.scalar(0).cast(value.type))
    if pa.types.is_large_string(to):
        # The text of a float or of a time is not the same in Arrow and in Spark.
        return _plain if pa.types.is_integer(given) or pa.types.is_date(given) else None
    if pa.types.is_temporal(to) and (pa.types.is_timestamp(given) or pa.types.is_date(given)):
        return _as_date if pa.types.is_date(to) else _as_timestamp
    return None


def _plain(value: Any, to: Any) -> Any:
    is_exact = not pa.types.is_floating(to)  # a large integer becomes the nearest float
    return value.cast(to, safe=is_exact)


def whole_numbers(value: Any, to: Any) -> Any:
    """Return numbers without their fractions as integers; one that does not fit is an error."""
    if pa.types.is_integer(value.type):
        return value.cast(to)
    return pc.trunc(value).cast(to)


def _rounded(value: Any, to: Any) -> Any:
    """Return decimals, rounded half away from zero."""
    if pa.types.is_integer(value.type):
        return value.cast(pa.decimal128(19 if value.type != pa.uint64() else 20, 0)).cast(to)
    return pc.round(value, to.scale, round_mode="half_towards_infinity").cast(to)


def _parsed(value: Any, to: Any) -> Any:
    """Read texts, without spaces around them."""
    text = pc.utf8_trim_whitespace(value.cast(pa.large_string()))
    if pa.types.is_large_string(to):
        return value.cast(to)
    if pa.types.is_decimal(to):
        return _rounded(text.cast(pa.decimal128(38, max(18, to.scale))), to)
    if not pa.types.is_boolean(to):
        return text.cast(to)
    words = pc.utf8_lower(text)
    is_true, is_false = (pc.is_in(words, value_set=pa.array(each, pa.large_string())) for each in (_TRUE, _FALSE))
    if not pc.all(pc.or_(pc.or_(is_true, is_false), pc.is_null(words))).as_py():
        raise pa.ArrowInvalid("a text is no boolean such as true or false")
    return pc.if_else(pc.is_valid(words), is_true, pa.scalar(None, pa.bool_()))


def _as_date(value: Any, to: Any) -> Any:
    local = pc.local_timestamp(value) if pa.types.is_timestamp(value.type) and value.type.tz is not None else value
    return local.cast(to)


def _as_timestamp(value: Any, to: Any) -> Any:
    return value if pa.types.is_timestamp(value.type) else value.cast(to)
