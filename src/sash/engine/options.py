"""The options of a call and those of a stream, and the checks that need no types."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sash.engine.frame import PLAIN, Order
from sash.engine.nested import key_names
from sash.errors import InvalidInput, InvalidWindow
from sash.limits import LIMITS, Limits
from sash.plan.plan import Options
from sash.plan.query import RESERVED_NAMES
from sash.references import name_of, names_of
from sash.windows.duration import duration
from sash.windows.lengths import LONGEST, is_number

__all__ = ["CallOptions", "Emit", "Late", "Store", "length_of", "options_of", "with_free_names", "with_key_names"]

Emit = Literal["final", "updates"]
Late = Literal["count", "keep"]
Store = Literal["auto", "lazy", "eager"]


@dataclass(frozen=True)
class CallOptions:
    """The options of `sash.aggregate`, `sash.rolling` or `sash.explain` as given; tables use few of them."""

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
    order: Order = PLAIN  # of frames
    limits: Limits = LIMITS
    store: Any = "auto"

    def of_stream(self, delay: Any) -> Options:
        """Return the options of a stream; `delay` is that of its watermark."""
        return options_of(
            self.on,
            self.by,
            self.allowed_lateness,
            delay,
            self.in_order,
            self.emit,
            self.partial,
            limits=self.limits,
            store=self.store,
        )

    def of_table(self) -> Options:
        """Return the options of a table, where no row is late; check the others, which are not used."""
        self.of_stream(self.watermark)
        self.check_partial()
        return options_of(
            self.on, self.by, 0, None, False, "final", self.partial, True, limits=self.limits, store=self.store
        )

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
    store: str = "auto",
) -> Options:
    """Check the options of a stream, and return them."""
    on, by = name_of(on), names_of(by)
    if not isinstance(on, str) or not on:
        raise InvalidInput.option("on", on, "the name of a column of times or numbers")
    keys = (
        () if by is None else (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else (None,)
    )
    if not all(isinstance(each, str) and each for each in keys) or len(set(keys)) < len(keys):
        raise InvalidInput.option("by", by, "the name of a column, or a list of different names")
    if emit not in ("final", "updates"):
        raise InvalidInput.option("emit", emit, "'final' or 'updates'")
    if store not in ("auto", "lazy", "eager"):
        raise InvalidInput.option("store", store, "'auto', 'lazy' or 'eager'")
    if not isinstance(in_order, bool):
        raise InvalidInput.option("in_order", in_order, "True or False")
    lateness, delay = length_of(lateness, "allowed_lateness"), None if delay is None else length_of(delay, "watermark")
    if in_order and (delay is not None or _number(lateness) != 0):
        raise InvalidInput.ordered()
    return Options(on, keys, in_order, lateness, delay, emit, partial, is_table, limits, store)


def length_of(value: Any, what: str) -> Any:
    """Return a length that a user gave as a duration or a number; `what` is its name in errors."""
    if isinstance(value, bool):
        raise InvalidInput.option(what, value, "a duration such as '10 seconds', or a number")
    length = duration(value) if not is_number(value) else value.item() if isinstance(value, np.generic) else value
    if not 0 <= _number(length) < LONGEST:
        raise InvalidWindow.not_negative(what, value)
    return length


def with_free_names(options: Options) -> Options:
    """Return the options; refuse key columns with the name of a result column."""
    for name in options.by:
        if name in RESERVED_NAMES:
            raise InvalidInput.key_reserved(name, RESERVED_NAMES)
    return options


def with_key_names(options: Options, names: Sequence[str]) -> Options:
    """Return the options with the names of keys in results; `names` are those of the columns of the rows."""
    if options.key_names or not any("." in name for name in options.by):
        return options
    return replace(options, key_names=key_names(options.by, names, RESERVED_NAMES))


def _number(length: Any) -> Any:
    return getattr(length, "microseconds", length)
