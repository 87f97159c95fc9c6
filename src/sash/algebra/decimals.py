"""Exact decimals: a decimal(p, s) is summed as a whole number of units of 10⁻ˢ.

Idea      Python's Decimal rounds to the digits of the thread's context; whole numbers do not round, and need no
          context. So a value is lifted to its units, and becomes a Decimal again when the result is read.
Types     as Spark's: sum is decimal(p + 10, s), mean decimal(p + 4, s + 4) rounded half up, a difference
          decimal(p + 1, s); all within the 38 digits of decimal128, or the 76 of decimal256 where p is beyond 38.
          A result with more digits than that does not fit.
Floats    What is a double in Spark (variance and the like) is computed of the values as floats.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sash.algebra import exact
from sash.algebra.aggregate import Template, builtin
from sash.algebra.building_blocks import F8, I8, OBJECT, Columns, add, counted, last_is_set, some, subtract
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Component, Parts
from sash.errors import InvalidInput

__all__ = ["difference_parts", "half_of_sum", "mean_parts", "sum_parts", "through_floats"]


def _widen(field: Field, digits: int, decimals: int) -> Field:
    assert field.decimal is not None
    precision, scale = field.decimal
    most = 38 if precision <= 38 else 76
    return Field("O", (min(most, precision + digits), min(most, scale + decimals)))


def _scale(field: Field) -> int:
    assert field.decimal is not None
    return field.decimal[1]


def _units_of(field: Field) -> Callable[[Any], int]:
    """Return a function that converts a Decimal to whole units of a column's last digit."""
    scale = _scale(field)
    times, over = 10 ** max(scale, 0), 10 ** max(-scale, 0)

    def units(x: Any) -> int:
        whole, rest = 0, 1
        try:
            above, below = x.as_integer_ratio()
            whole, rest = divmod(above * times, below * over)
        except (AttributeError, ValueError, OverflowError):
            pass  # not a number, or not a finite one
        if rest:  # a stream's columns are bound by its first rows, and later ones may be finer
            raise InvalidInput.option("A value", x, f"a decimal with at most {scale} digits after the point")
        return whole

    return units


def _decimal(units: int, scale: int) -> Decimal:
    return Decimal(f"{units}E{-scale}")  # exact whatever the context


def _total(field: Field) -> Component:
    """Return the component of the sum in units, shared by sum and mean."""
    units = _units_of(field)
    return Component("decimal sum", (OBJECT,), (0,), lambda x: (units(x),), add, subtract)


def _exactly(
    components: tuple[Component, ...],
    units: Callable[[Partial], int],
    result: Field,
    is_some: Callable[[Partial], int] | None,
) -> Parts:
    """Return functions that read a decimal from a partial, as units of the result's last digit, if it fits."""
    assert result.decimal is not None
    precision, scale = result.decimal
    limit = 10**precision

    def lower(p: Partial) -> Decimal:
        return _decimal(units(p), scale)

    def presence(p: Partial) -> int:
        if is_some is not None and not is_some(p):
            return 0  # Presence.NULL
        return 1 if -limit < units(p) < limit else 2  # Presence.VALUE, Presence.OVERFLOW

    return Parts(components, lower, result, presence)


def _last(p: Partial) -> int:
    return p[-1]  # type: ignore[no-any-return]


def sum_parts(columns: Columns) -> Parts:
    """Return the parts of the sum of decimals."""
    field, total = columns[0].field, _total(columns[0].field)
    if not columns[0].nullable:
        return _exactly((total,), _last, _widen(field, 10, 0), None)
    return _exactly((counted(columns), total), _last, _widen(field, 10, 0), some)


def mean_parts(columns: Columns) -> Parts:
    """Return the parts of the mean of decimals, rounded half up (away from zero)."""
    field = columns[0].field
    result = _widen(field, 4, 4)
    finer = 10 ** (_scale(result) - _scale(field))

    def units(p: Partial) -> int:
        half_up: int = (2 * abs(p[1]) * finer + p[0]) // (2 * p[0])
        return half_up if p[1] >= 0 else -half_up

    return _exactly((counted(columns), _total(field)), units, result, some)


def difference_parts(columns: Columns, high: Component, low: Component) -> Parts:
    """Return the parts of the difference of two values, such as the largest and the smallest."""
    field, width = columns[0].field, len(high.fields)
    units = _units_of(field)

    def difference(p: Partial) -> int:
        return units(p[0]) - units(p[width])

    return _exactly((high, low), difference, _widen(field, 1, 0), last_is_set)


def half_of_sum(column: str, half: str) -> Template:
    """Return one half, "high" or "low", of an exact sum of whole numbers, whose total may exceed 64 bits.

    >>> import sash
    >>> sash.swag.slide([2**62, 2**62], 2, half_of_sum("x", "high"))
    [1073741824, 2147483648]
    """
    place = {"high": 1, "low": 2}[half]

    def make(columns: Columns, invertible: bool) -> Parts:
        total = Component("sum", (I8, I8), (0, 0), exact.halves, exact.add, exact.subtract)
        return Parts((counted(columns), total), lambda p: p[place], I8, some)

    return builtin(f"{half} half of sum", column, make, invertible=True, commutative=True)


def through_floats(make: Callable[[Columns, bool], Parts]) -> Callable[[Columns, bool], Parts]:
    """Return the same aggregate, which converts decimals to floats."""

    def made(columns: Columns, invertible: bool) -> Parts:
        if columns[0].field.decimal is None:
            return make(columns, invertible)
        parts = make((replace(columns[0], field=F8),), invertible)
        return replace(parts, components=tuple(_of_floats(each) for each in parts.components))

    return made


def _of_floats(component: Component) -> Component:
    if component.name == "count":
        return component
    lift = component.lift
    return replace(
        component,
        name=f"{component.name} of floats",
        lift=lambda x: lift(float(x)),
        absorb=None,
        tally=None,
        reads=tuple(name if name == "count" else f"{name} of floats" for name in component.reads),
    )
