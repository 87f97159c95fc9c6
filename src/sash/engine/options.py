"""The options of a call and those of a stream, checked as far as that needs no types."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sash.errors import InvalidInput, InvalidWindow
from sash.limits import LIMITS, Limits
from sash.plan.plan import Options
from sash.plan.query import RESERVED_NAMES
from sash.windows.duration import duration
from sash.windows.lengths import LONGEST, is_number

__all__ = ["CallOptions", "Emit", "Late", "length_of", "options_of", "with_free_names"]

Emit = Literal["final", "updates"]
Late = Literal["count", "keep"]


@dataclass(frozen=True)
class CallOptions:
    """The options of `sash.aggregate`, `sash.rolling` or `sash.explain` as they were given; a table has few of them."""

    on: Any
    by: Any = None
    watermark: Any = None
    allowed_lateness: Any = 0
    emit: Any = "final"
    partial: Any = False
    in_order: Any = False
    late: Any = "count"
    flush: Any = None
    initial: Any = None
    max_future: Any = None
    limits: Limits = LIMITS

    def of_stream(self, delay: Any) -> Options:
        """The options of a stream; `delay` is its watermark."""
        return options_of(
            self.on, self.by, self.allowed_lateness, delay, self.in_order, self.emit, self.partial, limits=self.limits
        )

    def of_table(self) -> Options:
        """The options of a table, in which no row is late: the others are checked and not used."""
        self.of_stream(self.watermark)
        self.check_partial()
        return options_of(self.on, self.by, 0, None, False, "final", self.partial, is_table=True, limits=self.limits)

    def check_partial(self) -> None:
        if not isinstance(self.partial, bool):
            raise InvalidInput.option("partial", self.partial, "True or False")

    def check_late(self) -> None:
        if self.late not in ("count", "keep"):
            raise InvalidInput.option("late", self.late, "'count' or 'keep'")


def options_of(
    on: Any,
    by: Any,
    lateness: Any,
    delay: Any,
    in_order: bool,
    emit: str,
    partial: bool = False,
    is_table: bool = False,
    limits: Limits = LIMITS,
) -> Options:
    """The options of a stream, checked as far as that needs no types."""
    if not isinstance(on, str) or not on:
        raise InvalidInput.option("on", on, "the name of a column that advances")
    keys = (
        () if by is None else (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else (None,)
    )
    if not all(isinstance(each, str) and each for each in keys) or len(set(keys)) < len(keys):
        raise InvalidInput.option("by", by, "the name of a column, or a list of different names")
    if emit not in ("final", "updates"):
        raise InvalidInput.option("emit", emit, "'final' or 'updates'")
    if not isinstance(in_order, bool):
        raise InvalidInput.option("in_order", in_order, "True or False")
    lateness, delay = length_of(lateness, "allowed_lateness"), None if delay is None else length_of(delay, "watermark")
    if in_order and (delay is not None or _number(lateness) != 0):
        raise InvalidInput.option(
            "in_order", True, "alone: in an ordered stream there is no lateness and no watermark delay"
        )
    return Options(on, keys, in_order, lateness, delay, emit, partial, is_table, limits)


def length_of(value: Any, what: str) -> Any:
    """A length as a user gives it, a duration or a number; `what` names it where it is refused."""
    if isinstance(value, bool):
        raise InvalidInput.option(what, value, "a duration such as '10 seconds', or a number")
    length = duration(value) if not is_number(value) else value.item() if isinstance(value, np.generic) else value
    if not 0 <= _number(length) < LONGEST:
        raise InvalidWindow.not_negative(what, value)
    return length


def with_free_names(options: Options) -> Options:
    """The options, if the key columns can stand beside the columns of every table of results."""
    for name in options.by:
        if name in RESERVED_NAMES:
            expected = f"none of {', '.join(RESERVED_NAMES)}, which results have: rename the column"
            raise InvalidInput.option("by", name, expected)
    return options


def _number(length: Any) -> Any:
    return getattr(length, "microseconds", length)
