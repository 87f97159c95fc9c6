"""Parse lengths of time, such as "1 hour", into whole microseconds.

Units have a fixed length: a day is 24 hours, and months are rejected.
"""

import datetime as dt
import difflib
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sash.errors import InvalidInput

__all__ = ["Duration", "duration"]

_UNITS = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
_SPELLINGS: dict[str, Fraction] = {
    spelling: Fraction(microseconds)
    for microseconds, spellings in (
        (Fraction(1, 1000), "ns nano nanos nanosecond nanoseconds"),
        (1, "us µs μs micro micros microsecond microseconds"),
        (_UNITS["ms"], "ms milli millis millisecond milliseconds"),
        (_UNITS["s"], "s sec secs second seconds"),
        (_UNITS["m"], "m min mins minute minutes"),
        (_UNITS["h"], "h hr hrs hour hours"),
        (_UNITS["d"], "d day days"),
        (7 * _UNITS["d"], "w week weeks"),
    )
    for spelling in spellings.split()
}
_VARYING = {"mo", "mon", "mons", "month", "months", "q", "quarter", "quarters", "y", "yr", "yrs", "year", "years"}

_AMOUNT = r"[0-9]+(?:[.,][0-9]+)?"
_PART = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zµμ]+)", re.IGNORECASE)
_ISO = re.compile(
    rf"P(?:({_AMOUNT})Y)?(?:({_AMOUNT})M)?(?:({_AMOUNT})W)?(?:({_AMOUNT})D)?"
    rf"(?:T(?=[0-9])(?:({_AMOUNT})H)?(?:({_AMOUNT})M)?(?:({_AMOUNT})S)?)?",
    re.IGNORECASE,
)
_ISO_UNITS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
_INTERVAL = re.compile(r"interval\s+(?P<quote>['\"]?)(?P<amount>.*?)(?P=quote)\s*(?P<unit>[a-z]*)", re.IGNORECASE)

_LONGEST_TEXT = 200  # no duration needs more, and parsing digits takes quadratic time
_LONGEST = 2**62  # microseconds, 146,000 years: a sum of two of them still fits 64 bits

_NO_UNIT = "a bare number has no unit"
_NO_FIXED_LENGTH = "months and years have no fixed length, so give days or weeks"
_UNREADABLE = "it does not read as amounts with units"
_MISSING = "it is missing"
_COMMA = "its comma could be a point or part thousands, so write such as 1.5 or 1500"


@dataclass(frozen=True, order=True, repr=False)
class Duration:
    """A length of time; `duration` parses its text.

    >>> str(Duration(5_400_000_000))
    '1h30m'
    """

    microseconds: int

    def __str__(self) -> str:
        text, rest = "", abs(self.microseconds)
        for unit, length in _UNITS.items():
            count, rest = divmod(rest, length)
            text += f"{count}{unit}" if count else ""
        return f"{'-' if self.microseconds < 0 else ''}{text or '0s'}"

    def __repr__(self) -> str:
        return repr(str(self))  # the text that a user writes


def duration(value: Any) -> Duration:
    """Return a duration from text such as "1 hour", "90s" or "PT1H", or from a timedelta.

    >>> duration("1 day 2 hours"), str(duration("PT90M")), str(duration(dt.timedelta(milliseconds=250)))
    ('1d2h', '1h30m', '250ms')
    >>> duration("1 month")
    Traceback (most recent call last):
    sash.errors.InvalidInput: '1 month' is not a valid duration: months and years have no fixed length, so ...
    """
    if isinstance(value, Duration):
        return value
    if isinstance(value, str):
        microseconds = _of_text(value)
    elif isinstance(value, np.timedelta64):
        microseconds = _of_numpy(value)
    elif isinstance(value, dt.timedelta):
        # The Timedelta of pandas derives from timedelta and adds nanoseconds.
        microseconds = value // dt.timedelta(microseconds=1) + Fraction(getattr(value, "nanoseconds", 0), 1000)
    elif isinstance(value, int | float | np.number):
        raise InvalidInput.duration(value, _NO_UNIT)
    elif value is None or type(value).__name__ == "NaTType":
        raise InvalidInput.duration(value, _MISSING)
    else:
        raise InvalidInput.duration(value, f"its type is {type(value).__name__}")
    if microseconds.denominator != 1:
        raise InvalidInput.duration(value, "it is finer than a microsecond")
    if abs(microseconds) > _LONGEST:
        raise InvalidInput.duration(value, "it is longer than 146,000 years")
    return Duration(int(microseconds))


def _of_numpy(value: np.timedelta64) -> Fraction:
    if np.isnat(value):
        raise InvalidInput.duration(value, _MISSING)
    unit, count = np.datetime_data(value.dtype)
    if unit == "generic":
        raise InvalidInput.duration(value, _NO_UNIT)
    if unit in ("Y", "M"):
        raise InvalidInput.duration(value, _NO_FIXED_LENGTH)
    fine = {"ps": Fraction(1, 10**6), "fs": Fraction(1, 10**9), "as": Fraction(1, 10**12)}
    return (fine.get(unit) or _SPELLINGS[unit.lower()]) * count * int(value.astype(np.int64))


def _of_text(text: str) -> Fraction:
    inner = text.strip()
    if len(inner) > _LONGEST_TEXT:
        raise InvalidInput.duration(f"{inner[:20]}…", _UNREADABLE)
    spelled = _INTERVAL.fullmatch(inner)
    if spelled:
        inner = f"{spelled['amount']} {spelled['unit']}".strip()
    sign = -1 if inner.startswith(("-", "−")) else 1
    body = inner[1:].lstrip() if inner.startswith(("-", "−", "+")) else inner
    iso = _ISO.fullmatch(body)
    if iso and any(iso.groups()):
        return sign * sum(
            (_length(amount, unit, text) for amount, unit in zip(iso.groups(), _ISO_UNITS, strict=True) if amount),
            Fraction(0),
        )
    if sign < 0 and len(_PART.findall(body)) > 1 and re.search(r"\s", body):
        # Spark negates the first part only, Polars all of them.
        raise InvalidInput.duration(text, "the minus could mean one part or all of them, so write such as -1h30m")
    total, at = Fraction(0), 0
    while part := _PART.match(body, at):
        total += _length(part[1], part[2], text)
        at = part.end()
    if at == 0 or body[at:].strip():
        why = _NO_UNIT if re.fullmatch(_AMOUNT, body) else _COMMA if re.search("[0-9],[0-9]", body) else _UNREADABLE
        raise InvalidInput.duration(text, why)
    return sign * total


def _length(amount: str, unit: str, text: str) -> Fraction:
    # A single M is a month in pandas. It is a minute only in ISO 8601, after a T, which `_of_text` has parsed.
    if unit == "M" or unit.lower() in _VARYING:
        raise InvalidInput.duration(text, _NO_FIXED_LENGTH)
    if unit.lower() not in _SPELLINGS:
        near = difflib.get_close_matches(unit.lower(), _SPELLINGS, n=1)
        hint = f", {near[0]!r} is" if near and len(near[0]) > 2 else ""
        raise InvalidInput.duration(text, f"{unit!r} is no unit of time{hint}")
    return Fraction(amount.replace(",", ".")) * _SPELLINGS[unit.lower()]
