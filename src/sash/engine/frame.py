"""Frames as users describe them: which rows around each row, and the aggregates of these rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from sash.algebra.aggregate import Template
from sash.errors import InvalidInput, InvalidWindow
from sash.keywords import checked, keywords_of
from sash.plan.query import check_aggregates, query, written
from sash.references import names_of
from sash.report import Call
from sash.windows.built_in import tumbling
from sash.windows.duration import Duration, duration
from sash.windows.lengths import is_number, signed_length_on
from sash.windows.measure import Measure

__all__ = [
    "PLAIN",
    "Closed",
    "Exclude",
    "Extent",
    "Frame",
    "Order",
    "Unit",
    "check_ends",
    "extent_of",
    "frame",
    "frames_of",
    "is_whole",
    "order_of",
]

Unit: TypeAlias = Literal["rows", "range", "groups"]
Closed: TypeAlias = Literal["both", "left", "right", "neither"]
Exclude: TypeAlias = Literal["row", "group", "ties"]

_CLOSED = ("both", "left", "right", "neither")
_EXCLUDE = ("row", "group", "ties")


@dataclass(frozen=True, repr=False)
class Frame(Call):
    """The rows from `low` to `high` around each row, in rows, in positions or in groups, and the aggregates of them.

    >>> import sash
    >>> found = sash.frame(rows=2, peak=sash.max("x"))
    >>> isinstance(found, sash.Frame), found.unit, found.low, found.high
    (True, 'rows', -1, 0)
    >>> found
    sash.frame(rows=(-1, 0), peak=sash.max('x'))
    """

    unit: Unit
    low: Any  # None: an open end; of a range, as the user gave it
    high: Any
    closed: Closed
    exclude: Exclude | None
    min_samples: int
    aggregates: tuple[tuple[str, Template], ...]

    def __repr__(self) -> str:
        given: dict[str, Any] = {self.unit: (self.low, self.high)}
        defaults = {"closed": "both", "exclude": None, "min_samples": 1}
        given |= {name: getattr(self, name) for name, usual in defaults.items() if getattr(self, name) != usual}
        options = ", ".join(f"{name}={each!r}" for name, each in given.items())
        return f"sash.frame({options}, {written(self.aggregates)})"

    def seal(self) -> "Frame":
        """Return the same frame, to be sent to another process, with aggregates that do not change on the way."""
        return replace(self, aggregates=tuple((name, each.seal()) for name, each in self.aggregates))


@dataclass(frozen=True)
class Extent:
    """A frame on a measure: its ends are numbers of rows or groups, or positions relative to that of the row."""

    unit: Unit
    low: Any  # None: an open end
    high: Any
    is_low_open: bool = False  # rows exactly at the end are left out
    is_high_open: bool = False
    exclude: Exclude | None = None

    def __str__(self) -> str:
        ends = " to ".join("open" if each is None else str(each) for each in (self.low, self.high))
        left, right = "(" if self.is_low_open else "[", ")" if self.is_high_open else "]"
        return f"{self.unit} {left}{ends}{right}{f' without {self.exclude}' if self.exclude else ''}"


@dataclass(frozen=True)
class Order:
    """The order of rows: by `on`, then by further columns, then by arrival; each column ascending or descending."""

    columns: tuple[str, ...] = ()  # after `on`
    descending: tuple[bool, ...] = (False,)  # of `on` and of each further column

    @property
    def is_plain(self) -> bool:
        """Whether rows are in the order of `on`, ascending."""
        return not self.columns and self.descending == (False,)

    def __str__(self) -> str:
        names = ("on", *self.columns)
        return ", ".join(
            f"{name}{' descending' if down else ''}" for name, down in zip(names, self.descending, strict=True)
        )


PLAIN = Order()


def order_of(order: Any, descending: Any) -> Order:
    """Return the order that the options of a call describe."""
    order = names_of(order)
    columns = (order,) if isinstance(order, str) else tuple(order or ())
    if not all(isinstance(each, str) for each in columns) or len(set(columns)) < len(columns):
        raise InvalidInput.option("order", order, "the name of a column, or a list of different names")
    flags = (descending,) * (len(columns) + 1) if isinstance(descending, bool) else tuple(descending or ())
    if len(flags) != len(columns) + 1 or not all(isinstance(each, bool) for each in flags):
        expected = f"True, False, or a list of {len(columns) + 1} of them: for `on` and each column of `order`"
        raise InvalidInput.option("descending", descending, expected)
    return Order(columns, flags)


@checked
def frame(
    *,
    rows: Any = None,
    range: Any = None,
    groups: Any = None,
    closed: Closed = "both",
    exclude: Exclude | None = None,
    center: bool = False,
    min_samples: int = 1,
    **aggregates: Template,
) -> Frame:
    """Describe one of several frames of a call of `rolling`.

    >>> import sash
    >>> near, far = (
    ...     sash.frame(rows=2, near=sash.max("x")),
    ...     sash.frame(range=10, far=sash.max("x")),
    ... )
    >>> sash.rolling({"t": [1, 2, 4], "x": [5, 3, 1]}, near, far, on="t").select(
    ...     ["near", "far"]
    ... ).to_pylist()
    [{'near': 5, 'far': 5}, {'near': 5, 'far': 5}, {'near': 3, 'far': 5}]
    """
    check_aggregates(aggregates, "sash.frame", keywords_of(frame))
    given: dict[Unit, Any] = {"rows": rows, "range": range, "groups": groups}
    named = [unit for unit, value in given.items() if value is not None]
    if len(named) != 1:
        raise InvalidInput.one_extent(given)
    (unit,) = named
    if closed not in _CLOSED:
        raise InvalidInput.option("closed", closed, "'both', 'left', 'right' or 'neither'")
    if closed != "both" and unit != "range":
        raise InvalidInput.closed_without_range(closed, unit)
    if exclude is not None and exclude not in _EXCLUDE:
        raise InvalidInput.option("exclude", exclude, "'row', 'group' or 'ties'")
    if not isinstance(center, bool):
        raise InvalidInput.option("center", center, "True or False")
    if not is_whole(min_samples) or min_samples < 0:
        raise InvalidInput.at_least("min_samples", min_samples, 0)
    low, high = _ends(unit, given[unit], center)
    wanted = query("rolling", tumbling(1), **aggregates)
    return Frame(unit, low, high, closed, exclude, int(min_samples), wanted.aggregates)


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def _ends(unit: Unit, value: Any, center: bool) -> tuple[Any, Any]:
    """Return both ends of a frame; a single number or length ends at the row, or lies around it if `center`."""
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise InvalidInput.option(unit, value, "a pair such as (-10, 5), where None is an open end")
        if center:
            raise InvalidInput.center(unit, value)
        low, high = value
        if unit == "range":
            return low, high
        for end in (low, high):
            if end is not None and not is_whole(end):
                raise InvalidInput.option(f"An end of {unit}", end, "a whole number, or None for an open end")
        low, high = (None if end is None else int(end) for end in (low, high))
        if low is not None and high is not None and low > high:
            raise InvalidInput.ends(unit, low, high)
        return low, high
    if unit == "range":
        if (value if is_number(value) else duration(value).microseconds) < 0:
            raise InvalidWindow.not_negative("range", value)
        if center:
            half = value / 2 if is_number(value) else Duration(duration(value).microseconds // 2)
            if is_number(value) and is_whole(value):
                half = int(value) // 2
            return _negated(half), half
        return _negated(value), 0
    if not is_whole(value) or value < 1:
        raise InvalidInput.at_least(unit, value, 1)
    after = (int(value) - 1) // 2 if center else 0
    return after - int(value) + 1, after


def _negated(length: Any) -> Any:
    return -length if is_number(length) else Duration(-duration(length).microseconds)


def extent_of(frame: Frame, measure: Measure) -> Extent:
    """Return a frame on the positions of a measure."""
    low, high = frame.low, frame.high
    if frame.unit == "range":
        low, high = (None if end is None else signed_length_on(measure, "range", end) for end in (low, high))
        if low is not None and high is not None and low > high:
            raise InvalidInput.ends("range", frame.low, frame.high)
    opens = {"both": (False, False), "left": (False, True), "right": (True, False), "neither": (True, True)}
    return Extent(frame.unit, low, high, *opens[frame.closed], frame.exclude)


def check_ends(frames: Sequence[Frame]) -> None:
    """Refuse the frames that a stream cannot compute: those with an open end."""
    for each in frames:
        if each.low is None or each.high is None:
            raise InvalidInput.open_frame(each.unit, (each.low, each.high))


def frames_of(frames: Sequence[Frame], options: dict[str, Any], aggregates: dict[str, Template]) -> tuple[Frame, ...]:
    """Return all frames of a call: the given ones, and the one of the call's own options."""
    for each in frames:
        if not isinstance(each, Frame):
            raise InvalidInput.frame(each)
    has_own = any(options[unit] is not None for unit in ("rows", "range", "groups"))
    if frames and not has_own and not aggregates:
        return tuple(frames)
    everything: dict[str, Any] = {**options, **aggregates}
    return (*frames, frame(**everything))
