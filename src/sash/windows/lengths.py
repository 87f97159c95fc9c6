"""Check and convert the lengths that users pass: durations, numbers, counts of rows."""

from typing import Any, TypeAlias

import numpy as np

from sash.errors import InvalidWindow
from sash.windows.duration import Duration, duration
from sash.windows.measure import Measure, MeasureKind

__all__ = [
    "LONGEST",
    "Length",
    "count_of",
    "in_positions",
    "is_number",
    "length_of",
    "length_on",
    "shortest",
    "signed_length_on",
]

Length: TypeAlias = int | float | Duration

# The sum of a position and a length must not overflow, so both stay within 2⁶¹.
LONGEST = 2**61


def is_number(value: Any) -> bool:
    """Return whether a length is a plain number; NumPy's timedelta64 counts as an integer there, but not here."""
    numbers = isinstance(value, int | float | np.integer | np.floating)
    return numbers and not isinstance(value, bool | np.timedelta64)


def length_of(window: str, what: str, value: Any, least: str = "positive") -> Length:
    """Return a length as a number or a Duration; raise an error if it is none, or not positive where it must be."""
    if not is_number(value):
        if value is None:
            raise InvalidWindow.missing(window, what)
        found: Length = duration(value)
    else:
        found = value.item() if isinstance(value, np.generic) else value
    number = found.microseconds if isinstance(found, Duration) else found
    if number != number or (least == "positive" and not number > 0) or abs(number) >= LONGEST:
        raise InvalidWindow.length(window, what, value)
    return found


def count_of(window: str, what: str, value: Any) -> int:
    """Return a positive number of rows; raise an error if it is none."""
    if not is_number(value) or not isinstance(value, int | np.integer) or not 0 < value < LONGEST:
        raise InvalidWindow.count(window, what, value)
    return int(value)


def in_positions(measure: Measure, window: str, what: str, value: Length) -> Any:
    """Return a length in positions of this measure."""
    of = window if what == "length" else f"{what} of a {window} window"
    if isinstance(value, Duration):
        if measure.kind is MeasureKind.FLOAT:
            raise InvalidWindow.duration_on_number(of, value)
        return value.microseconds
    if measure.kind is MeasureKind.TIME:
        if value == 0:
            return 0
        raise InvalidWindow.number_on_time(of, value)
    if measure.kind is MeasureKind.FLOAT:
        return float(value)
    if value != int(value):
        raise InvalidWindow.fraction(of, value)
    return int(value)


def length_on(measure: Measure, what: str, value: Any) -> Any:
    """Return a lateness or delay in positions, from a duration or a number that is not negative."""
    if not is_number(value):
        given: Length = duration(value)
    else:
        given = value.item() if isinstance(value, np.generic) else value
    number = given.microseconds if isinstance(given, Duration) else given
    if not 0 <= number < LONGEST:
        raise InvalidWindow.not_negative(what, value)
    if isinstance(given, Duration) and measure.kind is MeasureKind.FLOAT and number == 0:
        return 0.0
    return in_positions(measure, what, "length", given)


def signed_length_on(measure: Measure, what: str, value: Any) -> Any:
    """Return a length in positions that may be negative, such as an end of a frame."""
    if isinstance(value, bool) or value != value:
        raise InvalidWindow.not_negative(what, value)
    given: Length = (
        duration(value) if not is_number(value) else value.item() if isinstance(value, np.generic) else value
    )
    if isinstance(given, Duration):
        size = length_on(measure, what, Duration(abs(given.microseconds)))
        return -size if given.microseconds < 0 else size
    return -length_on(measure, what, -given) if given < 0 else length_on(measure, what, given)


def shortest(*lengths: Length) -> float:
    """Return the shortest of some lengths."""
    return float(min(each.microseconds if isinstance(each, Duration) else each for each in lengths))
