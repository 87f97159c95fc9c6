"""Translate windows and frames of the syntax tree to those of Python."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sash.algebra.aggregate import Template
from sash.engine.frame import Frame, frame
from sash.errors import InvalidText, SashError
from sash.syntax.expressions import Call, Column, Expression, Interval, Literal
from sash.syntax.tree import Argument, Bound, Bracket, FrameSpec, Function, Length
from sash.windows.built_in import cumulative, punctuated, session, sliding, tumbling
from sash.windows.calendar import Span
from sash.windows.duration import Duration, duration
from sash.windows.window import Window

__all__ = ["extent_of", "frame_of", "order_text", "window_in_brackets", "window_of_function", "window_of_group"]

# Window table functions: the Python function of their windows, and their arguments in order, with their names in
# Python; required ones first.
_FUNCTIONS: dict[str, tuple[Callable[..., Window], dict[str, str], tuple[str, ...]]] = {
    "TUMBLE": (tumbling, {"SIZE": "size"}, ("OFFSET", "ZONE")),
    "HOP": (sliding, {"SLIDE": "every", "SIZE": "size"}, ("OFFSET", "ZONE")),
    "CUMULATE": (cumulative, {"STEP": "every", "SIZE": "size"}, ("OFFSET", "ZONE")),
    "SESSION": (session, {"GAP": "gap"}, ()),
}


# --- windows -------------------------------------------------------------------------------------


def window_in_brackets(bracket: Bracket) -> Window | dict[str, Any]:
    """Return the window of a bracket, or the extent of a frame."""
    try:
        return _IN_BRACKETS[bracket.kind](bracket)
    except InvalidText:
        raise
    except SashError as error:
        raise InvalidText.because(bracket.place, error) from None


def _unbounded(bracket: Bracket) -> dict[str, Any]:
    if bracket.slide is not None:
        what = "An unbounded window has no slide"
        raise InvalidText.meaning(bracket.slide.place, what, "leave out SLIDE, or use CUMULATE, which starts anew")
    return {"range": (None, 0)}


def _punctuated(bracket: Bracket) -> Window:
    return punctuated(*(column.name for column in bracket.columns))


def _by_rows(bracket: Bracket) -> Window | dict[str, Any]:
    _check_slide(bracket)
    length = _value(bracket.length)
    if bracket.slide is None:
        return {"rows": length}
    return sliding(rows=length, every=_value(bracket.slide), offset=_value(bracket.offset, 0))


def _by_range(bracket: Bracket) -> Window | dict[str, Any]:
    _check_slide(bracket)
    if bracket.slide is None:
        return {"range": _value(bracket.length)}
    offset = _as_written(bracket.offset, 0)
    if bracket.slide.counts_rows:
        count: Any = bracket.slide.value  # `sliding` refuses what is no count
        return sliding(_as_written(bracket.length), every_rows=count, offset=offset, zone=bracket.zone)
    return sliding(_as_written(bracket.length), every=_as_written(bracket.slide), offset=offset, zone=bracket.zone)


def _check_slide(bracket: Bracket) -> None:
    """Refuse options that only sliding windows have."""
    if bracket.slide is None and bracket.offset is not None:
        raise InvalidText.meaning(bracket.offset.place, "OFFSET needs a SLIDE", "add one")
    if bracket.slide is None and bracket.zone is not None:
        raise InvalidText.meaning(bracket.place, "ZONE needs a SLIDE", "add one")


_IN_BRACKETS: dict[str, Callable[[Bracket], Window | dict[str, Any]]] = {
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


# Functions of windows in GROUP BY, as in Spark and Flink: how their windows are made, and the least and most lengths.
_IN_GROUPS: dict[str, tuple[Callable[..., Window], int, int]] = {
    "window": (lambda size, every=None, offset=0: sliding(size, every=every or size, offset=offset), 1, 3),
    "session_window": (lambda gap: session(gap=gap), 1, 1),
    # as in Flink
    "tumble": (tumbling, 1, 1),
    "hop": (lambda every, size: sliding(size, every=every), 2, 2),
    "session": (lambda gap: session(gap=gap), 1, 1),
}


def window_of_group(call: Call) -> tuple[Column, Window]:
    """Return `on` and the window of a function in GROUP BY: window(ts, '1 hour', '10 minutes'), session_window."""
    name = call.name.lower()
    if name in ("date_trunc", "date_bin", "time_bucket"):
        raise InvalidText.unsupported(call.place, call.name, "write GROUP BY window(ts, '1 hour')")
    if name in ("sliding", "slide", "hopping", "sliding_window"):
        raise InvalidText.unsupported(call.place, call.name, "write GROUP BY window(ts, '1 hour', '1 minute')")
    if name not in _IN_GROUPS:
        raise InvalidText.unknown(call.place, "window", call.name, _IN_GROUPS)
    make, least, most = _IN_GROUPS[name]
    if not least + 1 <= len(call.arguments) <= most + 1:
        words = f"{least + 1} to {most + 1}" if most > least else f"{least + 1}"
        raise InvalidText.arguments(call.place, call.name, f"{words} arguments", len(call.arguments))
    on, *lengths = call.arguments
    if not isinstance(on, Column):
        raise InvalidText.meaning(on.place, f"{call.name} needs the column of times first", "write its name")
    try:
        return on, make(*(_length_in_group(call, each) for each in lengths))
    except InvalidText:
        raise
    except SashError as error:
        raise InvalidText.because(call.place, error) from None


def _length_in_group(call: Call, given: Expression) -> Any:
    value = given.text if isinstance(given, Interval) else given.value if isinstance(given, Literal) else None
    if value is None or isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidText.meaning(given.place, f"{call.name} needs a length here", "write for example '10 minutes'")
    return value


def _zone(argument: Argument) -> str:
    if argument.zone is None:
        raise InvalidText.meaning(argument.place, "ZONE must be a string", "write for example ZONE => 'Europe/Berlin'")
    return argument.zone


# --- frames --------------------------------------------------------------------------------------


def extent_of(spec: FrameSpec) -> dict[str, Any]:
    """Return the extent of a frame, as options of `sash.frame`; by default, it reaches back to the first row."""
    if spec.unit is None or spec.start is None:
        # With several columns of the order, peers are equal in all of them: groups count such peers.
        return {"groups" if len(spec.order) > 1 else "range": (None, 0)}
    if spec.end is None and (spec.start.is_following or (spec.start.is_unbounded and spec.start.is_following)):
        raise InvalidText.meaning(spec.start.place, "A frame with one end ends at its row", "write BETWEEN … AND …")
    low = _end_of(spec.start, spec.unit, is_start=True)
    high = 0 if spec.end is None else _end_of(spec.end, spec.unit, is_start=False)
    unit = spec.unit.lower()
    if unit == "range" and len(spec.order) > 1:
        for end, bound in ((low, spec.start), (high, spec.end)):
            if end not in (None, 0) and bound is not None:
                what = "RANGE with a length needs one column in ORDER BY"
                raise InvalidText.meaning(bound.place, what, "leave out the others, or use ROWS or GROUPS")
        unit = "groups"
    return {unit: (low, high)} | ({"exclude": spec.exclude} if spec.exclude else {})


def _end_of(bound: Bound, unit: str, is_start: bool) -> Any:
    """Return an end of a frame: None if it is open, negative if it is before the row."""
    if bound.is_unbounded:
        if bound.is_following == is_start:
            word = "start with UNBOUNDED FOLLOWING" if is_start else "end with UNBOUNDED PRECEDING"
            raise InvalidText.meaning(bound.place, f"A frame cannot {word}", "exchange the two ends")
        return None
    length = _value(bound.length, 0)
    if unit != "RANGE" and not isinstance(length, int):
        raise InvalidText.meaning(bound.place, f"{unit} needs a whole number", "write one, or use RANGE")
    if bound.is_following or length == 0:
        return length
    return Duration(-length.microseconds) if isinstance(length, Duration) else -length


def frame_of(extent: dict[str, Any], aggregates: dict[str, Template], place: int) -> Frame:
    """Return a frame with this extent and these aggregates."""
    one = next(iter(aggregates.values()))  # names of results may be those of options
    try:
        made = frame(**extent, result=one)
    except SashError as error:
        raise InvalidText.because(place, error) from None
    return replace(made, aggregates=tuple(aggregates.items()))


def order_text(spec: FrameSpec) -> str:
    """Return keys and order of a frame as text."""
    keys = ", ".join(each.name for each in spec.keys or ())
    order = ", ".join(f"{each.column}{' DESC' if each.is_descending else ''}" for each in spec.order)
    return f"{f'PARTITION BY {keys} ' if keys else ''}ORDER BY {order}"


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
