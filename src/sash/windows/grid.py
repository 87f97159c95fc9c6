"""The starts and ends of regular windows, each computed from its number.

Edge k of a progression is (phase + k · step) / unit, for every whole k. For integers and times the unit is 1 and
nothing is rounded. A float stands for a simple fraction: 0.1 means 1/10. The numbers of a grid are numerators over one
denominator, the unit. So edge 6 of step 0.1 is 6 / 10, which is the float 0.6; 6 · 0.1 is another float.

The size of a window is `whole` steps and a `rest`. Window k starts at edge k and ends at edge k + whole, moved by the
rest. If the rest is 0, a window ends at exactly the float at which another one starts. Edges never decrease as k grows,
and a rest never moves an edge back, so no position lies between consecutive windows.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

__all__ = ["Grid", "whole_parts"]

# Decimals with up to 15 digits map to distinct floats; more digits come from rounding in a computation.
_DIGITS = 15
_SIMPLE = 2**16  # nobody means a fraction with a larger denominator
_EXACT = 2**53  # every whole number up to it is a float
# The largest relative error of a computed length, such as 3 * 0.1: four units in the last place.
_ROUNDING = Fraction(1, 2**50)


@dataclass(frozen=True)
class Grid:
    """The edges of windows: starts at (phase + k · step) / unit, ends `whole` steps and a `rest` later.

    >>> Grid.of(0.3, 0.1, 0.0)
    Grid(step=1.0, phase=0.0, unit=10.0, whole=3, rest=0.0)
    >>> Grid.of(10, 4, -1)
    Grid(step=4, phase=3, unit=1, whole=2, rest=2)
    """

    step: Any
    phase: Any
    unit: Any
    whole: int
    rest: Any

    @classmethod
    def of(cls, size: Any, every: Any, offset: Any, period: Any = None) -> "Grid":
        """Return the grid of windows; edge 0 is the offset, modulo `period` (or `every`)."""
        if isinstance(every, int):
            return cls(every, offset % (period or every), 1, *divmod(size, every))
        whole, rest = whole_parts(size, every)
        _, phase = whole_parts(offset, period or every)
        step = _fraction_of(every)
        unit = step.denominator if max(step.numerator, step.denominator) <= _EXACT else 1
        for part in (phase, rest):
            common = math.lcm(unit, part.denominator)
            if max(common, *(each * common for each in (step, phase, rest))) <= _EXACT:
                unit = common
        return cls(float(step * unit), float(phase * unit), float(unit), whole, float(rest * unit))

    @property
    def end_phase(self) -> Any:
        """The phase of ends."""
        return self.phase + self.rest


def whole_parts(length: Any, every: Any) -> tuple[int, Any]:
    """Return how many times `every` fits into a length, and the rest; for floats, 0 if the rest is only rounding.

    >>> whole_parts(0.3, 0.1), whole_parts(3 * 0.1, 0.1), whole_parts(1.0, 0.3), whole_parts(7, 2)
    ((3, Fraction(0, 1)), (3, Fraction(0, 1)), (3, Fraction(1, 10)), (3, 1))
    """
    if isinstance(length, int) and isinstance(every, int):
        return divmod(length, every)
    given, step = _fraction_of(length), _fraction_of(every)
    count = round(given / step)
    if count and abs(given - count * step) <= _ROUNDING * abs(given):
        return count, Fraction(0)
    return divmod(given, step)


def _fraction_of(length: float) -> Fraction:
    """Return the short decimal or simple fraction whose float this is; if there is none, the exact value."""
    exact = Fraction(length)
    if exact.denominator == 1:
        return exact
    written = Decimal(repr(float(length)))
    if len(written.as_tuple().digits) <= _DIGITS:
        return Fraction(written)
    simple = exact.limit_denominator(_SIMPLE)
    return simple if float(simple) == length else exact
