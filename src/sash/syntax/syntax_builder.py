"""Build the syntax tree: the parser calls a method of `Builder` for each rule of the grammar that it has read."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from sash.errors import InvalidInput, InvalidText
from sash.syntax.expressions import SCALARS, Apply, Call, Column, Expression, Literal
from sash.syntax.tokens import MOST_LEVELS
from sash.syntax.tree import (
    Argument,
    Bound,
    Bracket,
    FrameSpec,
    Function,
    Item,
    Join,
    Length,
    Ordering,
    Over,
    Pair,
    Statement,
)
from sash.windows.calendar import Span, span_of
from sash.windows.duration import Duration, duration

__all__ = ["Builder"]

_BIGGEST = 2**63 - 1
_LONGEST_NUMBER = 40  # letters; reading digits is quadratic


class Builder:
    """A method for each rule of the grammar, called with the results of its parts; nothing is kept between calls.

    A rule that the grammar marks with ? is the one part that it has, and needs no method.
    """

    # --- statements

    def start(self, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    item_list = windows = start

    def condition(self, parts: list[Any]) -> Expression:
        found: Expression = parts[0]
        return found

    def statement(self, parts: list[Any]) -> Statement:
        label, select = parts
        return Statement(label, *select)

    def streamed_statement(self, parts: list[Any]) -> Statement:
        label, stream, select = parts
        _check_stream(stream)
        return Statement(label, *select)

    def label(self, parts: list[Any]) -> Column:
        return _column_of(parts[0])

    alias = column = label

    def select(self, parts: list[Any]) -> tuple[Any, ...]:
        items, source, join, where, keys, windows = parts
        table, bracket, function = source if isinstance(source, tuple) else (None, None, source)
        return items, table, bracket, function, join, where, keys, windows or (), items[0].place

    def streamed_items(self, parts: list[Any]) -> tuple[Item, ...]:
        _check_stream(parts[0])
        items: tuple[Item, ...] = parts[1]
        return items

    def every_column(self, parts: list[Any]) -> Item:
        return Item(None, None, None, parts[0].start_pos)

    def item(self, parts: list[Any]) -> Item:
        expression, condition, over, alias = parts
        return Item(expression, over, alias, expression.place, condition)

    def names(self, parts: list[Any]) -> tuple[Column, ...]:
        return tuple(map(_column_of, parts))

    # --- windows in brackets

    def bracketed(self, parts: list[Any]) -> tuple[Any, ...]:
        return _column_of(parts[0]), parts[1], None

    def window(self, parts: list[Any]) -> Bracket:
        before, bracket, after = parts
        if before is not None and after is not None:
            raise InvalidText.meaning(after[0].place, "PARTITION BY occurs twice", "leave out one of them")
        kind, length, slide, offset, columns, place, *zone = bracket
        return Bracket(kind, length, slide, offset, columns, before or after, place, *zone)

    def by_range(self, parts: list[Any]) -> tuple[Any, ...]:
        word, length, slide, offset, zone = parts
        return "range", length, slide, offset, (), word.start_pos, zone

    def by_rows(self, parts: list[Any]) -> tuple[Any, ...]:
        word, number, slide, offset = parts
        return "rows", Length(_number(number), number.start_pos), slide, offset, (), word.start_pos

    def slide_of_rows(self, parts: list[Any]) -> Length:
        return Length(_number(parts[0]), parts[0].start_pos, counts_rows=True)

    def unbounded(self, parts: list[Any]) -> tuple[Any, ...]:
        return "unbounded", None, parts[-1], None, (), parts[0].start_pos

    def now(self, parts: list[Any]) -> tuple[Any, ...]:
        return "range", Length(0, parts[0].start_pos), None, None, (), parts[0].start_pos

    def session(self, parts: list[Any]) -> tuple[Any, ...]:
        return "session", parts[1], None, None, (), parts[0].start_pos

    def punctuated(self, parts: list[Any]) -> tuple[Any, ...]:
        columns = tuple(_column_of(each) for each in parts[1:] if each is not None)
        return "punctuated", None, None, None, columns, parts[0].start_pos

    def zone(self, parts: list[Any]) -> str:
        return str(parts[0])

    # --- window table functions

    def function(self, parts: list[Any]) -> Function:
        return Function(_column_of(parts[0]), tuple(parts[1:]))

    def argument(self, parts: list[Any]) -> Argument:
        word, value = parts
        name = None if word is None else _column_of(word)
        if isinstance(value, Length):
            return Argument(name, length=value, place=value.place)
        table, keys, column, place = value
        return Argument(name, table, keys, column, place=place)

    def zone_argument(self, parts: list[Any]) -> Argument:
        word = parts[-1]
        return Argument(Column("ZONE", word.start_pos), zone=str(word), place=word.start_pos)

    def table_value(self, parts: list[Any]) -> tuple[Any, ...]:
        return _column_of(parts[0]), parts[1], None, parts[0].start_pos

    def descriptor(self, parts: list[Any]) -> tuple[Any, ...]:
        return None, None, _column_of(parts[0]), parts[0].start_pos

    def keys(self, parts: list[Any]) -> tuple[Column, ...]:
        return parts[0] if isinstance(parts[0], tuple) else (_column_of(parts[0]),)

    # --- OVER

    def over(self, parts: list[Any]) -> Over:
        word, given = parts
        if isinstance(given, FrameSpec):
            return Over(given, None, word.start_pos)
        return Over(None, _column_of(given), word.start_pos)

    def frame_spec(self, parts: list[Any]) -> FrameSpec:
        keys, order, frame = parts
        return FrameSpec(keys, order or (), *(frame or (None, None, None)))

    def order(self, parts: list[Any]) -> tuple[Ordering, ...]:
        return tuple(parts)

    def ordering(self, parts: list[Any]) -> Ordering:
        name, direction = parts
        return Ordering(_column_of(name), direction is not None and direction.type == "DESC")

    def frame(self, parts: list[Any]) -> tuple[str, Bound, Bound | None, str | None]:
        bounds = [each for each in parts if isinstance(each, Bound)]
        return parts[0].type, bounds[0], bounds[1] if len(bounds) > 1 else None, parts[-1] or None

    def exclude_row(self, parts: list[Any]) -> str:
        return "row"

    def exclude_group(self, parts: list[Any]) -> str:
        return "group"

    def exclude_ties(self, parts: list[Any]) -> str:
        return "ties"

    def exclude_nothing(self, parts: list[Any]) -> str:
        return ""

    def bound(self, parts: list[Any]) -> Bound:
        what, direction = parts
        length = what if isinstance(what, Length) else None
        place = what.place if isinstance(what, Length) else what.start_pos
        is_unbounded = length is None and what.type == "UNBOUNDED"
        return Bound(length, is_unbounded, direction.type == "FOLLOWING", place)

    def named_window(self, parts: list[Any]) -> tuple[Column, FrameSpec]:
        return _column_of(parts[0]), parts[1]

    # --- the window join

    def join(self, parts: list[Any]) -> Join:
        table, bracket, *pairs = parts
        return Join(_column_of(table), bracket, tuple(each for each in pairs if isinstance(each, Pair)))

    def pair(self, parts: list[Any]) -> Pair:
        label, sign, event, *delay = parts
        return Pair(_column_of(label), str(sign), _column_of(event), delay[-1] or None, sign.start_pos)

    # --- lengths

    def number_length(self, parts: list[Any]) -> Length:
        return Length(_number(parts[0]), parts[0].start_pos)

    def part(self, parts: list[Any]) -> tuple[str, int]:
        _number(parts[0])
        _length(f"{parts[0]} {parts[1]}", parts[1].start_pos)  # report a wrong unit before errors that follow it
        return f"{parts[0]} {parts[1]}", parts[0].start_pos

    def duration(self, parts: list[Any]) -> Length:
        words = [each if isinstance(each, tuple) else (str(each), each.start_pos) for each in parts if each is not None]
        place = words[0][1]
        text = " ".join(word for word, _ in words)
        return Length(_length(text, place), place, text)

    # --- expressions

    def any_of(self, parts: list[Any]) -> Expression:
        return _apply("or", parts[::2], parts[1])

    def all_of(self, parts: list[Any]) -> Expression:
        return _apply("and", parts[::2], parts[1])

    def unary(self, parts: list[Any]) -> Expression:
        sign, value = parts
        if sign.type == "PLUS":
            found: Expression = value
            return found
        number = value.value if isinstance(value, Literal) else None
        if sign.type == "MINUS" and isinstance(number, int | float) and not isinstance(number, bool):
            return Literal(-number, sign.start_pos)
        return _apply("not" if sign.type == "NOT" else "negative", [value], sign)

    def binary(self, parts: list[Any]) -> Expression:
        left, sign, right = parts
        return _apply("<>" if sign == "!=" else str(sign), [left, right], sign)

    def is_null(self, parts: list[Any]) -> Expression:
        value, word, negation, _ = parts
        return _negate(negation, _apply("is_null", [value], word))

    def is_in(self, parts: list[Any]) -> Expression:
        value, negation, word, *members = parts
        for each in members:
            if not isinstance(each, Literal) or each.value is None:
                raise InvalidText.meaning(each.place, "IN needs a list of constants", "write numbers, strings or times")
        return _negate(negation, _apply("in", [value, *members], word))

    def between(self, parts: list[Any]) -> Expression:
        value, negation, word, low, _, high = parts
        both = [_apply(">=", [value, low], word), _apply("<=", [value, high], word)]
        return _negate(negation, _apply("and", both, word))

    def like(self, parts: list[Any]) -> Expression:
        value, negation, word, pattern = parts
        if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
            raise InvalidText.meaning(pattern.place, "LIKE needs a pattern in single quotes", "write for example 'a%'")
        return _negate(negation, _apply("like", [value, pattern], word))

    def number(self, parts: list[Any]) -> Expression:
        return Literal(_number(parts[0]), parts[0].start_pos)

    def string(self, parts: list[Any]) -> Expression:
        return Literal(str(parts[0]), parts[0].start_pos)

    def word(self, parts: list[Any]) -> Expression:
        return Literal({"TRUE": True, "FALSE": False, "NULL": None}[parts[0].type], parts[0].start_pos)

    def moment(self, parts: list[Any]) -> Expression:
        kind, written = parts
        try:
            if kind.type == "DATE":
                return Literal(dt.date.fromisoformat(str(written).strip()), kind.start_pos)
            return Literal(dt.datetime.fromisoformat(str(written).strip()), kind.start_pos)
        except ValueError:
            raise InvalidText.moment(kind.start_pos, kind.type, str(written)) from None

    def call_of_rows(self, parts: list[Any]) -> Expression:
        return Call(str(parts[0]), (), of_rows=True, place=parts[0].start_pos)

    def call_of_distinct(self, parts: list[Any]) -> Expression:
        return Call(str(parts[0]), (parts[1],), is_distinct=True, place=parts[0].start_pos)

    def call(self, parts: list[Any]) -> Expression:
        word, *given = parts
        arguments = [each for each in given if each is not None]
        name = str(word).lower()
        if name not in SCALARS:
            return _check_depth(Call(str(word), tuple(arguments), place=word.start_pos))
        least, most = SCALARS[name]
        if not least <= len(arguments) <= most:
            raise InvalidText.arguments(word.start_pos, str(word), _argument_count(least, most), len(arguments))
        if name == "round" and len(arguments) == 2 and not _is_small(arguments[1]):
            raise InvalidText.meaning(
                arguments[1].place, "ROUND takes a number of places from -15 to 15", "write it out"
            )
        return _apply(name, arguments, word)

    def case(self, parts: list[Any]) -> Expression:
        word, *given = parts
        *pairs, otherwise = given if len(given) % 2 else [*given, None]
        return _apply("case", [*pairs, otherwise or Literal(None, word.start_pos)], word)


def _column_of(word: Any) -> Column:
    return Column(str(word), word.start_pos)


def _apply(function: str, arguments: Iterable[Expression], word: Any) -> Expression:
    return _check_depth(Apply(function, tuple(arguments), word.start_pos))


def _check_depth(expression: Expression) -> Expression:
    if expression.depth > MOST_LEVELS:
        raise InvalidText.too_deep(expression.place, MOST_LEVELS)
    return expression


def _negate(negation: Any, expression: Expression) -> Expression:
    return expression if negation is None else _apply("not", [expression], negation)


def _number(word: Any) -> int | float:
    """Return a number; refuse one that does not fit 64 bits."""
    text = str(word)
    if len(text) <= _LONGEST_NUMBER:
        try:
            if text.isdecimal():
                if int(text) <= _BIGGEST:
                    return int(text)
            elif text.isascii() and "_" not in text and abs(float(text)) < float("inf"):
                return float(text)
        except ValueError:
            pass
    raise InvalidText.number(word.start_pos, text)


def _length(words: str, place: int) -> Duration | Span:
    """Return a duration, or a span of the calendar for months."""
    try:
        span = span_of(words)
        return span if span is not None and span.months else duration(words)
    except InvalidInput as error:
        raise InvalidText.because(place, error) from None


def _is_small(expression: Expression) -> bool:
    value = expression.value if isinstance(expression, Literal) else None
    return isinstance(value, int) and not isinstance(value, bool) and -15 <= value <= 15


def _argument_count(least: int, most: int) -> str:
    if least == most:
        return f"{least} argument{'s' if least > 1 else ''}"
    return f"{least} to {most} arguments" if most < 100 else f"at least {least} argument{'s' if least > 1 else ''}"


def _check_stream(word: Any) -> None:
    if word.upper() == "DSTREAM":
        raise InvalidText.unsupported(word.start_pos, "DSTREAM", "it emits rows that left a window; write ISTREAM")
