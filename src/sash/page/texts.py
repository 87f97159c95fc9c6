"""Numbers as people read them."""

import math
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal

__all__ = ["bytes_text", "count_text", "length_text", "position_text", "rate_text"]

Unit = Literal["time", "number"]
_STEPS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))


def count_text(value: float) -> str:
    """Return a count.

    >>> count_text(1234567.0)
    '1,234,567'
    """
    return f"{value:,.0f}"


def rate_text(value: float) -> str:
    """Return a rate; small ones have digits after the point.

    >>> rate_text(12345.6), rate_text(2.5)
    ('12,346', '2.5')
    """
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}"


def bytes_text(value: float) -> str:
    """Return a size in bytes.

    >>> bytes_text(512), bytes_text(1_500_000)
    ('512 B', '1.5 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def length_text(length: float, unit: Unit) -> str:
    """Return a distance between two positions.

    >>> length_text(0.25, "time"), length_text(90, "time"), length_text(7200, "time"), length_text(2.5, "number")
    ('0.25 s', '1.5 min', '2 h', '2.5')
    """
    if unit == "number":
        return f"{length:,.6g}"
    for seconds, name in _STEPS:
        if abs(length) >= seconds:
            return f"{length / seconds:.4g} {name}"
    return f"{length:.4g} s"


@lru_cache(maxsize=4096)  # the same edges are written in every update
def position_text(position: float | None, unit: Unit) -> str:
    """Return a position; times are in UTC.

    >>> position_text(0.5, "time"), position_text(60, "time"), position_text(3, "number"), position_text(None, "time")
    ('1970-01-01 00:00:00.500000 UTC', '1970-01-01 00:01:00 UTC', '3', 'none')
    """
    if position is None or not math.isfinite(position):
        return "none"
    if unit == "number":
        return f"{position:,.15g}"
    try:
        found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=position)
    except OverflowError:
        return f"{position:,.0f} s since 1970"
    return found.strftime("%Y-%m-%d %H:%M:%S") + (f".{found.microsecond:06d}" if found.microsecond else "") + " UTC"
