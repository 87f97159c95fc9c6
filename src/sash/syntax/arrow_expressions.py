"""Evaluate expressions on Arrow tables: the condition of WHERE, and the arguments of aggregates.

Results are those of Spark: a null stays null, NaN is the largest number and equals itself, integers divide to a
fraction, and division by zero gives null.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.errors import InvalidText
from sash.syntax.arrow_casts import cast_values, whole_numbers
from sash.syntax.casts import CastType
from sash.syntax.expressions import Expression

__all__ = [
    "FUNCTIONS",
    "Computed",
    "check_types",
    "compute",
    "compute_all",
    "condition_mask",
    "prepare_rows",
    "where_mask",
    "without_views",
]

_PLAIN = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


class Computed(Protocol):
    """What a text computes from rows before anything else."""

    @property
    def text(self) -> str: ...

    @property
    def where(self) -> Expression | None: ...

    @property
    def computed(self) -> Mapping[str, Expression]: ...


def prepare_rows(table: Any, request: Computed) -> Any:
    """Return the rows that WHERE keeps, with a column for each expression in an aggregate."""
    table = without_views(table)
    mask = where_mask(table, request)
    if mask is not None:
        table = table.filter(mask)
    for name, expression in request.computed.items():
        table = table.append_column(name, compute(table, expression, request.text))
    return table


def where_mask(table: Any, request: Computed) -> Any:
    """Return which rows WHERE keeps; a null does not keep a row, and None keeps all."""
    if request.where is None:
        return None
    return condition_mask(without_views(table), request.where, request.text, "WHERE")


def without_views(table: Any) -> Any:
    """Return the table with Polars' string views as plain strings: Arrow cannot filter views."""
    for place, each in enumerate(table.schema):
        if each.type in _PLAIN:
            table = table.set_column(place, each.name, table.column(place).cast(_PLAIN[each.type]))
    return table


def check_types(schema: Any, request: Computed) -> None:
    """Raise if an expression cannot be computed from columns of these types."""
    prepare_rows(schema.empty_table(), request)


def condition_mask(table: Any, condition: Expression, text: str, clause: str) -> Any:
    """Return for which rows a condition is true, false or null; `clause` is named if it is no condition."""
    mask = compute(table, condition, text)
    if pa.types.is_null(mask.type):
        return mask.cast(pa.bool_())
    if not pa.types.is_boolean(mask.type):
        what = f"{clause} takes a condition, and this is {mask.type}"
        raise InvalidText.meaning(condition.place, what, "compare it with something").within(text)
    return mask


def compute_all(table: Any, computed: Mapping[str, Expression], text: str) -> dict[str, Any]:
    """Return a column for each expression."""
    plain = without_views(table)
    return {name: compute(plain, each, text) for name, each in computed.items()}


def compute(table: Any, expression: Expression, text: str | None, rows: int | None = None) -> Any:
    """Return an expression as a column; `rows` is the number of rows of a table that may have no columns."""
    try:
        value = expression.read(_OnArrow(table))
    except InvalidText as error:
        raise (error if text is None else error.within(text)) from None
    if isinstance(value, pa.Scalar):
        return pa.chunked_array([pa.repeat(value, len(table) if rows is None else rows)])
    return value


class _OnArrow:
    """Columns of a table; literals are as narrow as Spark's."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def column(self, name: str) -> Any:
        column = self.table.column(name)
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

    def literal(self, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return pa.scalar(value, pa.int32() if -(2**31) <= value < 2**31 else pa.int64())
        return pa.scalar(value)

    def apply(self, function: str, arguments: Sequence[Any], place: int) -> Any:
        try:
            return FUNCTIONS[function](*arguments)
        except (
            pa.ArrowNotImplementedError,
            pa.ArrowTypeError,
            _TypesDiffer,
        ):  # Arrow's names for types that do not fit
            kinds = dict.fromkeys(each.type for each in arguments)
            if function == "filter" and _sort(arguments[0].type) not in ("bool", "null"):
                what = f"An aggregate is filtered by a condition, and this is {arguments[0].type}"
                raise InvalidText.meaning(place, what, "compare it with something") from None
            raise InvalidText.types(place, function.replace("_", " ").upper(), kinds) from None
        except pa.ArrowInvalid as error:
            raise InvalidText.values(place, function.upper(), str(error)) from None

    def cast(self, value: Any, kind: CastType, is_try: bool, place: int) -> Any:
        try:
            found = cast_values(value, kind, is_try)
        except pa.ArrowInvalid as error:
            raise InvalidText.values(place, "CAST", f"{error}; TRY_CAST gives null instead") from None
        if found is None:
            raise InvalidText.types(place, f"CAST to {kind}", [value.type])
        return found


class _TypesDiffer(Exception):
    """Types that either Arrow or Spark does not accept."""


# --- comparisons ---------------------------------------------------------------------------------


def _sort(kind: Any) -> str:
    """Return the group of types that can be compared with each other."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return "time" if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else str(kind)


def _alike(*values: Any) -> list[Any]:
    """Return the values if they can be compared; a time without a zone is in the zone of the others."""
    sorts = {_sort(each.type) for each in values} - {"null"}
    if len(sorts) > 1:
        raise _TypesDiffer
    values = _typed(values)
    zones = [each.type.tz for each in values if pa.types.is_timestamp(each.type) and each.type.tz is not None]
    if not zones:
        return list(values)
    return [_in_zone(each, zones[0]) for each in values]


def _in_zone(value: Any, zone: str) -> Any:
    if pa.types.is_date(value.type):
        value = value.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(value.type) and value.type.tz is None:
        return _instants(value, zone)
    return value


def _instants(local: Any, zone: str) -> Any:
    """Return the instants of local times: the earlier of two; a skipped time as if the clock had not changed yet."""
    found = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
    day = pa.scalar(dt.timedelta(days=1))
    unmoved = pc.add(pc.assume_timezone(pc.subtract(local, day), zone, ambiguous="earliest", nonexistent="latest"), day)
    return pc.if_else(pc.equal(pc.local_timestamp(found), local), found, unmoved)


def _is_nan(value: Any) -> Any:
    return pc.is_nan(value) if pa.types.is_floating(value.type) else None


def _less(a: Any, b: Any) -> Any:
    """Return a < b, where NaN is the largest number."""
    plain = pc.less(a, b)
    nan = _is_nan(b)
    if nan is None:
        return plain
    other = _is_nan(a)
    return pc.or_kleene(plain, pc.and_kleene(nan, pc.is_valid(a) if other is None else pc.invert(other)))


def _equal(a: Any, b: Any) -> Any:
    plain, ours, theirs = pc.equal(a, b), _is_nan(a), _is_nan(b)
    return plain if ours is None or theirs is None else pc.or_kleene(plain, pc.and_kleene(ours, theirs))


def _comparison(of: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare(a: Any, b: Any) -> Any:
        one, other = _typed(tuple(_alike(a, b)), pa.bool_())  # two NULLs have no type
        known = pc.and_kleene(pc.is_valid(one), pc.is_valid(other))
        return pc.if_else(known, of(one, other), pa.scalar(None, pa.bool_()))

    return compare


def _is_in(value: Any, *members: Any) -> Any:
    if all(pa.types.is_integer(each.type) for each in (value, *members)) and value.type != pa.uint64():
        value = value.cast(pa.int64())
        members = tuple(each.cast(pa.int64()) for each in members)
    if all(each.type == value.type for each in members) and not pa.types.is_floating(value.type):
        found = pc.is_in(value, value_set=pa.array([each.as_py() for each in members], value.type))
        return pc.if_else(pc.is_valid(value), found, pa.scalar(None, pa.bool_()))
    equal = FUNCTIONS["="]
    return reduce(pc.or_kleene, (equal(value, each) for each in members))


# --- numbers -------------------------------------------------------------------------------------


_SORTS = {"number": pa.float64(), "text": pa.large_string(), "bool": pa.bool_()}


def _of_sort(sort: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if any(_sort(each.type) not in (sort, "null") for each in values):
        raise _TypesDiffer
    return _typed(values, _SORTS[sort])


def _typed(values: tuple[Any, ...], otherwise: Any = None) -> tuple[Any, ...]:
    """Return the values, where NULL has the type of the others."""
    kinds = [each.type for each in values if not pa.types.is_null(each.type)]
    kind = kinds[0] if kinds else otherwise
    return tuple(each.cast(kind) if pa.types.is_null(each.type) and kind is not None else each for each in values)


def _numbers(*values: Any) -> tuple[Any, ...]:
    return _of_sort("number", values)


def _floats(*values: Any) -> tuple[Any, ...]:
    return tuple(each.cast(pa.float64()) for each in _numbers(*values))


def _arithmetic(of: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: of(*_numbers(a, b))


def _not_zero(value: Any) -> Any:
    return pc.if_else(pc.equal(value, pa.scalar(0, value.type)), pa.scalar(None, value.type), value)


def _divide(a: Any, b: Any) -> Any:
    if not any(pa.types.is_decimal(each.type) for each in _numbers(a, b)):
        a, b = _floats(a, b)
    return pc.divide(a, _not_zero(b))


def _remainder(a: Any, b: Any) -> Any:
    """Return the remainder with the sign of the first operand; exact for floats."""
    for each in _numbers(a, b):
        if pa.types.is_decimal(each.type):
            raise _TypesDiffer
    kind = pc.add(a, b).type
    count = next((len(each) for each in (a, b) if not isinstance(each, pa.Scalar)), 1)
    wide = [pa.repeat(each, count) if isinstance(each, pa.Scalar) else each for each in (a, b)]
    one, other = (each.cast(kind) for each in wide)
    missing = np.asarray(pc.or_(pc.is_null(one), pc.or_kleene(pc.is_null(other), pc.equal(other, 0)))).astype(bool)
    tops, bottoms = (np.asarray(pc.fill_null(each, pa.scalar(1, kind))) for each in (one, other))
    found = np.fmod(tops, np.where(missing, np.ones(1, bottoms.dtype), bottoms))
    result = pa.array(found, kind, mask=missing)
    return result[0] if all(isinstance(each, pa.Scalar) for each in (a, b)) else pa.chunked_array([result])


def _logarithm(value: Any) -> Any:
    (number,) = _floats(value)
    return pc.ln(pc.if_else(pc.less_equal(number, 0.0), pa.scalar(None, pa.float64()), number))


def _whole(of: Callable[[Any], Any], value: Any) -> Any:
    """Return FLOOR or CEIL, which is an integer, as in Spark."""
    (number,) = _numbers(value)
    if pa.types.is_decimal(number.type):
        raise _TypesDiffer
    return number.cast(pa.int64()) if pa.types.is_integer(number.type) else whole_numbers(of(number), pa.int64())


def _round(value: Any, places: Any = None) -> Any:
    (number,) = _numbers(value)
    return pc.round(number, 0 if places is None else places.as_py(), round_mode="half_towards_infinity")


# --- texts, choices ------------------------------------------------------------------------------


def _texts(*values: Any) -> tuple[Any, ...]:
    return tuple(each.cast(pa.large_string()) for each in _of_sort("text", values))


def _extreme(takes_second: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def extreme(a: Any, b: Any) -> Any:
        a, b = _alike(a, b)
        if pa.types.is_null(a.type):
            return a
        return pc.coalesce(pc.if_else(takes_second(a, b), b, a), a, b)

    return lambda *values: reduce(extreme, values)


def _nullif(a: Any, b: Any) -> Any:
    return pc.if_else(pc.fill_null(FUNCTIONS["="](a, b), False), pa.scalar(None, a.type), a)


def _case(*given: Any) -> Any:
    """Compute CASE: conditions and values alternate, the value of ELSE is last."""
    conditions, values = given[:-1:2], _alike(*given[1::2], given[-1])
    for each in conditions:
        _truths(each)
    result = values[-1]
    for condition, value in zip(reversed(conditions), reversed(values[:-1]), strict=True):
        result = pc.if_else(pc.fill_null(condition.cast(pa.bool_()), False), value, result)
    return result


def _filter(condition: Any, value: Any) -> Any:
    """Return a value where a condition is true, and null elsewhere: FILTER (WHERE …) of an aggregate."""
    (truth,) = _truths(condition)
    return pc.if_else(pc.fill_null(truth, False), value, pa.scalar(None, value.type))


def _truths(*values: Any) -> tuple[Any, ...]:
    return tuple(each.cast(pa.bool_()) for each in _of_sort("bool", values))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": lambda *values: reduce(pc.and_kleene, _truths(*values)),
    "or": lambda *values: reduce(pc.or_kleene, _truths(*values)),
    "not": lambda value: pc.invert(*_truths(value)),
    "=": _comparison(_equal),
    "<>": _comparison(lambda a, b: pc.invert(_equal(a, b))),
    "<": _comparison(_less),
    ">": _comparison(lambda a, b: _less(b, a)),
    "<=": _comparison(lambda a, b: pc.invert(_less(b, a))),
    ">=": _comparison(lambda a, b: pc.invert(_less(a, b))),
    "is_null": pc.is_null,
    "in": _is_in,
    "like": lambda value, pattern: pc.match_like(*_texts(value), pattern.as_py()),
    "+": _arithmetic(pc.add_checked),
    "-": _arithmetic(pc.subtract_checked),
    "*": _arithmetic(pc.multiply_checked),
    "/": _divide,
    "%": _remainder,
    "||": lambda a, b: pc.binary_join_element_wise(*_texts(a, b), pa.scalar("", pa.large_string())),
    "negative": lambda value: pc.negate_checked(*_numbers(value)),
    "case": _case,
    "filter": _filter,
    "abs": lambda value: pc.abs_checked(*_numbers(value)),
    "ceil": lambda value: _whole(pc.ceil, value),
    "coalesce": lambda *values: pc.coalesce(*_alike(*values)),
    "concat": lambda *values: pc.binary_join_element_wise(*_texts(*values), pa.scalar("", pa.large_string())),
    "exp": lambda value: pc.exp(*_floats(value)),
    "floor": lambda value: _whole(pc.floor, value),
    "greatest": _extreme(_less),
    "least": _extreme(lambda a, b: _less(b, a)),
    "if": _case,
    "length": lambda value: pc.utf8_length(*_texts(value)).cast(pa.int32()),
    "ln": _logarithm,
    "lower": lambda value: pc.utf8_lower(*_texts(value)),
    "mod": _remainder,
    "nullif": _nullif,
    "power": lambda a, b: pc.power(*_floats(a, b)),
    "round": _round,
    "sign": lambda value: pc.sign(*_floats(value)),
    "sqrt": lambda value: pc.sqrt(*_floats(value)),
    "trim": lambda value: pc.utf8_trim(*_texts(value), " "),
    "upper": lambda value: pc.utf8_upper(*_texts(value)),
}
