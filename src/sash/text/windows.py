"""Translate windows and frames of the syntax tree to those of Python."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sash.algebra.aggregate import Template
from sash.engine.rolling import UNBOUNDED, Frame, frame
from sash.errors import InvalidText, SashError
from sash.text.expressions import Column
from sash.text.syntax import Argument, Bound, Bracket, FrameSpec, Function, Length
from sash.windows.built_in import cumulative, punctuated, session, sliding, tumbling
from sash.windows.calendar import Span
from sash.windows.duration import Duration, duration
from sash.windows.window import Window

__all__ = ["frame_of", "order_of", "reach_of", "window_in_brackets", "window_of_function"]

# Window table functions: the Python function of their windows, and their arguments in order, with their names in
# Python; required ones first.
_FUNCTIONS: dict[str, tuple[Callable[..., Window], dict[str, str], tuple[str, ...]]] = {
    "TUMBLE": (tumbling, {"SIZE": "size"}, ("OFFSET", "ZONE")),
    "HOP": (sliding, {"SLIDE": "every", "SIZE": "size"}, ("OFFSET", "ZONE")),
    "CUMULATE": (cumulative, {"STEP": "every", "SIZE": "size"}, ("OFFSET", "ZONE")),
    "SESSION": (session, {"GAP": "gap"}, ()),
}


# --- windows -------------------------------------------------------------------------------------


def window_in_brackets(bracket: Bracket) -> Window | tuple[str, Any]:
    """Return the window of a bracket, or the reach of a frame."""
    try:
        return _IN_BRACKETS[bracket.kind](bracket)
    except InvalidText:
        raise
    except SashError as error:
        raise InvalidText.because(bracket.place, error) from None


def _unbounded(bracket: Bracket) -> tuple[str, Any]:
    if bracket.slide is not None:
        what = "An unbounded window has no slide"
        raise InvalidText.meaning(bracket.slide.place, what, "leave out SLIDE, or use CUMULATE, which starts anew")
    return "range", Duration(UNBOUNDED)


def _punctuated(bracket: Bracket) -> Window:
    assert bracket.column is not None
    return punctuated(bracket.column.name)


def _by_rows(bracket: Bracket) -> Window | tuple[str, Any]:
    _check_slide(bracket)
    length = _value(bracket.length)
    if bracket.slide is None:
        return "rows", length
    return sliding(rows=length, every=_value(bracket.slide), offset=_value(bracket.offset, 0))


def _by_range(bracket: Bracket) -> Window | tuple[str, Any]:
    _check_slide(bracket)
    if bracket.slide is None:
        return "range", _value(bracket.length)
    offset = _as_written(bracket.offset, 0)
    return sliding(_as_written(bracket.length), every=_as_written(bracket.slide), offset=offset, zone=bracket.zone)


def _check_slide(bracket: Bracket) -> None:
    """Refuse options that only sliding windows have."""
    if bracket.slide is None and bracket.offset is not None:
        raise InvalidText.meaning(bracket.offset.place, "OFFSET needs a SLIDE", "add one")
    if bracket.slide is None and bracket.zone is not None:
        raise InvalidText.meaning(bracket.place, "ZONE needs a SLIDE", "add one")


_IN_BRACKETS: dict[str, Callable[[Bracket], Window | tuple[str, Any]]] = {
    "range": _by_range,
    "rows": _by_rows,
    "unbounded": _unbounded,
    "session": lambda bracket: session(gap=_value(bracket.length)),
    "punctuated": _punctuated,
}


def window_of_function(function: Function) -> tuple[Column, Column, Window, tuple[Column, ...] | None]:
    """Return table, `on`, window and keys of a window table function."""
    name = function.name.name.upper()
    if name not in _FUNCTIONS:
        raise InvalidText.unknown(function.name.place, "window table function", name, _FUNCTIONS)
    make, needed, optional = _FUNCTIONS[name]
    order = ("DATA", "TIMECOL", *needed, *optional)
    given: dict[str, Argument] = {}
    for place, each in enumerate(function.arguments):
        if each.name is None and place >= len(order):
            words = f"{len(order) - len(optional)} to {len(order)} arguments" if optional else f"{len(order)} arguments"
            raise InvalidText.arguments(each.place, name, words, len(function.arguments))
        word = order[place] if each.name is None else each.name.name.upper()
        if word not in order:
            raise InvalidText.unknown(each.place if each.name is None else each.name.place, "argument", word, order)
        if word in given:
            raise InvalidText.meaning(each.place, f"{word} is given twice", "leave out one of them")
        given[word] = each
    for word in (*order[: len(order) - len(optional)],):
        if word not in given:
            raise InvalidText.meaning(
                function.name.place, f"{name} lacks {word}", f"its arguments are {', '.join(order)}"
            )
    data, timecol = given.pop("DATA"), given.pop("TIMECOL")
    if data.table is None:
        raise InvalidText.meaning(
            data.place, f"The first argument of {name} must be its table", "write for example TABLE t"
        )
    if timecol.column is None:
        raise InvalidText.meaning(
            timecol.place, f"{name} needs the column of times", "write for example DESCRIPTOR(ts)"
        )
    options: dict[str, Any] = {"zone": _zone(given.pop("ZONE"))} if "ZONE" in given else {}
    for word, each in given.items():
        if each.length is None:
            raise InvalidText.meaning(each.place, f"{word} must be a length", "write for example INTERVAL '10' MINUTES")
        options[needed.get(word, word.lower())] = _as_written(each.length)
    try:
        window = make(**options)
    except SashError as error:
        raise InvalidText.because(function.name.place, error) from None
    return data.table, timecol.column, window, data.keys


def _zone(argument: Argument) -> str:
    if argument.zone is None:
        raise InvalidText.meaning(argument.place, "ZONE must be a string", "write for example ZONE => 'Europe/Berlin'")
    return argument.zone


# --- frames --------------------------------------------------------------------------------------


def reach_of(spec: FrameSpec, place: int) -> tuple[str, Any]:
    """Return the reach of a frame; by default, it reaches back to the first row, as in SQL."""
    if spec.unit is None or spec.start is None:
        return "range", Duration(UNBOUNDED)
    for bound in (spec.start, spec.end):
        if bound is not None and bound.is_following:
            raise InvalidText.unsupported(
                bound.place, "FOLLOWING", "a frame ends at its row, so write … AND CURRENT ROW"
            )
    if spec.end is not None and not _is_current(spec.end):
        raise InvalidText.meaning(spec.end.place, "A frame must end at its row", "write … AND CURRENT ROW")
    start = spec.start
    if start.is_unbounded:
        return ("rows", UNBOUNDED) if spec.unit == "ROWS" else ("range", Duration(UNBOUNDED))
    length = _value(start.length, 0)
    if spec.unit == "RANGE":
        return "range", length
    if not isinstance(length, int):
        raise InvalidText.meaning(start.place, "ROWS needs a whole number", "write one, or use RANGE")
    return "rows", length + 1  # and the row itself


def _is_current(bound: Bound) -> bool:
    return bound.length is None and not bound.is_unbounded


def frame_of(reach: tuple[str, Any], aggregates: dict[str, Template], place: int) -> Frame:
    """Return a frame with this reach and these aggregates."""
    unit, length = reach
    one = next(iter(aggregates.values()))  # names of results may be those of options
    try:
        made = frame(rows=length, result=one) if unit == "rows" else frame(range=length, result=one)
    except SashError as error:
        raise InvalidText.because(place, error) from None
    return replace(made, aggregates=tuple(aggregates.items()))


def order_of(spec: FrameSpec) -> str:
    """Return keys and order of a frame as text."""
    keys = ", ".join(each.name for each in spec.keys or ())
    return f"{f'PARTITION BY {keys} ' if keys else ''}ORDER BY {spec.order}"


def _as_written(length: Length | None, otherwise: Any = None) -> Any:
    """Return a length as it was written: the calendar reads days and weeks in its own way."""
    return otherwise if length is None else length.value if length.text is None else length.text


def _value(length: Length | None, otherwise: Any = None) -> Any:
    """Return a length that is no part of a calendar; months are refused."""
    if length is None:
        return otherwise
    try:
        return duration(length.text) if isinstance(length.value, Span) else length.value
    except SashError as error:
        raise InvalidText.because(length.place, error) from None
