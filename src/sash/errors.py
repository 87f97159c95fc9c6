"""What can go wrong, worded once: what was given, what is expected, what to do.

Every error is a `SashError` and the builtin that a caller would catch.
"""

import difflib
from collections.abc import Iterable

__all__ = [
    "BrokenWindow",
    "EmptyWindow",
    "InvalidAggregate",
    "InvalidInput",
    "InvalidState",
    "NumberOverflow",
    "SashError",
    "UnknownName",
    "UnsupportedAggregate",
]


class SashError(Exception):
    """Anything that sash refuses."""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


class UnknownName(SashError, LookupError):
    """A name that is not on the list."""

    @classmethod
    def of(cls, kind: str, name: object, known: Iterable[str]) -> "UnknownName":
        known = sorted(known)
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return cls(f"There is no {kind} {name!r}.{hint} The known ones: {_listed(known)}.")


class EmptyWindow(SashError, IndexError):
    """The window holds no row."""

    @classmethod
    def cannot(cls, verb: str) -> "EmptyWindow":
        return cls(f"Cannot {verb} an empty window: insert a value first, or check len(window).")


class BrokenWindow(SashError, RuntimeError):
    """A user function failed while the window was being changed."""

    @classmethod
    def since(cls, aggregate: str, cause: BaseException) -> "BrokenWindow":
        return cls(
            f"The window is no longer usable: combine or invert of {aggregate!r} raised "
            f"{type(cause).__name__}: {cause}. Restore it from its last save()."
        )


class InvalidAggregate(SashError, TypeError):
    """An aggregate that does not fit together."""

    @classmethod
    def field(cls, code: object) -> "InvalidAggregate":
        return cls(
            f"{code!r} is not a field: use i1 i2 i4 i8, u1 u2 u4 u8, f4 f8, b1, one of them with a length "
            "such as 'f8[10]', or 'O' for any Python object."
        )

    @classmethod
    def shape(cls, name: str, what: str, expected: int, value: object) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: {what} must give {expected} value(s), one per field of its state, but gave {value!r}."
        )

    @classmethod
    def not_a_function(cls, name: str, what: str, value: object) -> "InvalidAggregate":
        return cls(f"Aggregate {name!r}: {what} must be a function, but is {value!r}.")

    @classmethod
    def fails(cls, name: str, what: str, arguments: object, cause: BaseException) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: {what} raised {type(cause).__name__}: {cause}, when given {arguments}. "
            "Nothing was changed. Mend the function, or filter such values before."
        )

    @classmethod
    def breaks(cls, name: str, cause: BaseException) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: combine or invert raised {type(cause).__name__}: {cause}, while the window was being "
            "changed. It can no longer be used: restore it from its last save(), and mend the function."
        )

    @classmethod
    def truncates(cls, name: str, what: str, given: str, kept: str) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: {what} gives {given} where {kept} is declared, which would cut it off. Declare f8."
        )

    @classmethod
    def not_compilable(cls, name: str, reason: str) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r} cannot be compiled: {reason} "
            "Keep to numbers, tuples, math and NumPy, or declare state=('O',) to run it as plain Python."
        )

    @classmethod
    def parameter(cls, name: str, parameter: str, value: object, expected: str) -> "InvalidAggregate":
        return cls(f"Aggregate {name!r}: {parameter} must be {expected}, but is {value!r}.")

    @classmethod
    def not_an_aggregate(cls, value: object) -> "InvalidAggregate":
        return cls(f"Expected an aggregate such as sash.max() or a dict of them, but got {value!r}.")


class UnsupportedAggregate(SashError, TypeError):
    """An aggregate that this algorithm or this type does not admit."""

    @classmethod
    def lacks(cls, trait: str, algorithm: str, aggregate: str, instead: Iterable[str]) -> "UnsupportedAggregate":
        have = {
            "invert": "an aggregate with `invert`, and {!r} has none",
            "selective": "a selective aggregate (combine returns one of its operands), and {!r} is not",
            "quantile": "the median or a quantile of numbers, and {!r} is not one",
        }[trait].format(aggregate)
        return cls(f"{algorithm} cannot slide {aggregate!r}: it needs {have}. Use {' or '.join(instead)}.")

    @classmethod
    def of_type(cls, aggregate: str, given: object, expected: str) -> "UnsupportedAggregate":
        return cls(f"{aggregate!r} does not take values of type {given}: it takes {expected}. Cast them first.")

    @classmethod
    def many_ranges(cls, algorithm: str, instead: Iterable[str]) -> "UnsupportedAggregate":
        return cls(f"{algorithm} answers one range per pass, not many. Use {' or '.join(instead)}.")


class InvalidInput(SashError, ValueError):
    """Values, sizes or options that make no sense."""

    @classmethod
    def at_least(cls, what: str, value: object, least: int) -> "InvalidInput":
        return cls(f"{what} must be a whole number of at least {least}, but is {value!r}.")

    @classmethod
    def ragged(cls, lengths: object) -> "InvalidInput":
        return cls(f"The columns must have the same length, but have {lengths}.")

    @classmethod
    def names(cls, names: object) -> "InvalidInput":
        return cls(f"Aggregates in a dict are named by strings, but these are {names}.")

    @classmethod
    def not_flat(cls, shape: object) -> "InvalidInput":
        return cls(f"Values must be one-dimensional, but have shape {shape}. Pass one column at a time.")

    @classmethod
    def mixed(cls, value: object, why: str) -> "InvalidInput":
        return cls(f"Cannot read the values as one column: {why}, at {value!r}. Give all values one type.")

    @classmethod
    def columns(cls, aggregate: str, expected: int, given: int) -> "InvalidInput":
        return cls(f"{aggregate!r} takes {expected} column(s) of values, but got {given}. Pass a tuple of columns.")

    @classmethod
    def value_type(cls, value: object, bound: str) -> "InvalidInput":
        return cls(
            f"{value!r} is not a value for a window of {bound}. Convert it, or open the window with another dtype=…"
        )

    @classmethod
    def whole_array(cls, algorithm: str) -> "InvalidInput":
        return cls(
            f"{algorithm} slides windows of one size over a whole array: use sash.swag.slide, or another algorithm."
        )

    @classmethod
    def in_order(cls, algorithm: str) -> "InvalidInput":
        return cls(f"{algorithm} takes rows in order, without positions: open the window with 'fiba'.")

    @classmethod
    def ranges(cls, why: str) -> "InvalidInput":
        return cls(f"The ranges are not usable: {why}. Give starts and ends that never decrease, with start <= end.")

    @classmethod
    def option(cls, what: str, value: object, expected: str) -> "InvalidInput":
        return cls(f"{what} must be {expected}, but is {value!r}.")


class NumberOverflow(SashError, OverflowError):
    """An exact integer result that does not fit."""

    @classmethod
    def at(cls, aggregate: str, row: int) -> "NumberOverflow":
        return cls(
            f"{aggregate!r} overflows 64-bit integers at result {row}: the exact answer does not fit. "
            "Cast the values to float64, or make the window smaller."
        )


class InvalidState(SashError, ValueError):
    """Bytes that are not a state of this window."""

    @classmethod
    def not_ours(cls) -> "InvalidState":
        return cls("These bytes are not a saved window: they do not start as save() writes them.")

    @classmethod
    def version(cls, given: int, known: int) -> "InvalidState":
        return cls(
            f"The state has format {given}, and this version of sash reads format {known}. Use the sash that saved it."
        )

    @classmethod
    def damaged(cls, why: str) -> "InvalidState":
        return cls(f"The saved state is damaged: {why}. Restore an older copy.")

    @classmethod
    def other(cls, what: str, saved: object, given: object) -> "InvalidState":
        return cls(f"The state was saved with {what} {saved}, not {given}. Restore it with the one that saved it.")

    @classmethod
    def not_savable(cls, value: object) -> "InvalidState":
        return cls(
            f"A partial holds a {type(value).__name__}, which cannot be saved: keep to numbers, strings, bytes, "
            "dates, decimals, and tuples, lists, dicts or sets of them."
        )
