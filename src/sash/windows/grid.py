"""Where the windows of a grid start and end: edges, each computed from its number.

Edge k of a progression is (phase + k · step) / unit, for every whole k. Of integers and times the unit is 1 and
nothing is rounded. A float stands for the fraction that was meant, 0.1 for 1/10: the numbers of a grid are numerators
over one denominator, its unit, so that edge 6 of 0.1 is 6 / 10, which is the float 0.6, as 6 · 0.1 is not.

Window k starts at edge k, and ends at edge k + whole, moved by what the size has besides whole slides, its rest. So a
window of whole slides ends at the very float at which another one starts. Edges never go back as k grows, and none is
moved back by a rest: no position lies between windows that follow each other.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

__all__ = ["Grid", "whole_parts"]

# Of so many digits any decimal is the only one with its float; more digits are what a computation left over.
_DIGITS = 15
_SIMPLE = 2**16  # fractions of larger denominators are not what anybody meant
_EXACT = 2**53  # every whole number up to it is a float
# What rounding may have done to a length that was computed, such as 3 * 0.1: four units of its last place.
_ROUNDING = Fraction(1, 2**50)


@dataclass(frozen=True)
class Grid:
    """The numbers of a grid: steps of its edges, and which of them windows end at.

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
        """The grid of windows of a size every so often; edge 0 is the first one of a `period` from the offset on."""
        if isinstance(every, int):
            return cls(every, offset % (period or every), 1, *divmod(size, every))
        whole, rest = whole_parts(size, every)
        _, phase = whole_parts(offset, period or every)
        step = _meant(every)
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
    """How many times `every` goes into a length, and what is left; of floats, nothing if that is but rounding.

    >>> whole_parts(0.3, 0.1), whole_parts(3 * 0.1, 0.1), whole_parts(1.0, 0.3), whole_parts(7, 2)
    ((3, Fraction(0, 1)), (3, Fraction(0, 1)), (3, Fraction(1, 10)), (3, 1))
    """
    if isinstance(length, int) and isinstance(every, int):
        return divmod(length, every)
    given, step = _meant(length), _meant(every)
    count = round(given / step)
    if count and abs(given - count * step) <= _ROUNDING * abs(given):
        return count, Fraction(0)
    return divmod(given, step)


def _meant(length: float) -> Fraction:
    """The decimal or the simple fraction that a float is nearest to; if it is none, what it is."""
    exact = Fraction(length)
    if exact.denominator == 1:
        return exact
    written = Decimal(repr(float(length)))
    if len(written.as_tuple().digits) <= _DIGITS:
        return Fraction(written)
    simple = exact.limit_denominator(_SIMPLE)
    return simple if float(simple) == length else exact
