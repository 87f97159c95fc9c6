"""Positions in the unit of `on`, as users read them."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from sash.windows.measure import Measure, MeasureKind

__all__ = ["later", "position_on", "shown"]


def position_on(position: Any, measure: Measure) -> Any:
    """Return a position in the unit of `on`, a time in UTC; None if there is none, infinity at the end."""
    if position is None or position <= measure.lowest:
        return None
    if position >= measure.highest:
        return math.inf
    return _time(position) if measure.kind is MeasureKind.TIME else position


_EPOCH, _FIRST, _LAST = (each.replace(tzinfo=UTC) for each in (datetime(1970, 1, 1), datetime.min, datetime.max))


def _time(position: int) -> datetime:
    """Return a time; before the year 1 and after 9999, the first and the last that Python has."""
    try:
        return _EPOCH + timedelta(microseconds=position)
    except OverflowError:
        return _LAST if position > 0 else _FIRST


def later(position: Any, delay: Any) -> Any:
    try:
        return position + delay
    except OverflowError:
        return _LAST


def shown(value: Any) -> str:
    if value is None:
        return "none"
    return str(value) if not isinstance(value, datetime) else value.isoformat(sep=" ")
