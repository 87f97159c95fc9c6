"""Build expressions: the part of the builder for what is computed from a row or from results."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sash.errors import InvalidInput, InvalidText
from sash.syntax.casts import type_of
from sash.syntax.expressions import SCALARS, SYNONYMS, Apply, Call, Cast, Column, Expression, Interval, Literal
from sash.syntax.tokens import MOST_LEVELS, MOST_WORDS, Quoted
from sash.syntax.tree import Length, Over, Sorting
from sash.windows.calendar import Span, span_of
from sash.windows.duration import Duration, duration

__all__ = ["ExpressionBuilder", "name_of", "number_of"]

_BIGGEST = 2**63 - 1
_LONGEST_NUMBER = 40  # letters; reading digits is quadratic


class ExpressionBuilder:
    """A method for each rule of an expression, called with the results of its parts."""

    def condition(self, parts: list[Any]) -> Expression:
        found: Expression = parts[0]
        return found

    def name(self, parts: list[Any]) -> Column:
        words = tuple(str(each) for each in parts)
        is_quoted = isinstance(parts[-1].value, Quoted)
        return Column(".".join(words), parts[0].start_pos, words if len(words) > 1 else (), is_quoted)

    # --- lengths

    def number_length(self, parts: list[Any]) -> Length:
        return Length(number_of(parts[0]), parts[0].start_pos)

    def part(self, parts: list[Any]) -> tuple[str, int]:
        number_of(parts[0])
        _length(f"{parts[0]} {parts[1]}", parts[1].start_pos)  # report a wrong unit before errors that follow it
        return f"{parts[0]} {parts[1]}", parts[0].start_pos

    def duration(self, parts: list[Any]) -> Length:
        words = [each if isinstance(each, tuple) else (str(each), each.start_pos) for each in parts if each is not None]
        place = words[0][1]
        text = " ".join(word for word, _ in words)
        return Length(_length(text, place), place, text)

    def interval(self, parts: list[Any]) -> Expression:
        length = self.duration(parts)
        assert length.text is not None
        return Interval(length.text, length.place)

    # --- operators

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
        value, word, negation, kind = parts
        if kind.type == "NULL":
            return _negate(negation, _apply("is_null", [value], word))
        wanted = kind.type == "TRUE"
        known = _apply("coalesce", [value, Literal(not wanted, word.start_pos)], word)
        found = known if wanted else _apply("not", [known], word)
        return _negate(negation, found)

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
        return Literal(number_of(parts[0]), parts[0].start_pos)

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

    # --- calls

    def call_of_rows(self, parts: list[Any]) -> Expression:
        return Call(str(parts[0]), (), of_rows=True, place=parts[0].start_pos)

    def call_of_distinct(self, parts: list[Any]) -> Expression:
        return Call(str(parts[0]), (parts[2],), is_distinct=True, place=parts[0].start_pos)

    def plain_call(self, parts: list[Any]) -> Expression:
        word, *given, ignores_nulls = parts
        arguments = [each for each in given if each is not None]
        name = SYNONYMS.get(str(word).lower(), str(word).lower())
        if name not in SCALARS:
            return _check_depth(Call(str(word), tuple(arguments), place=word.start_pos, ignores_nulls=ignores_nulls))
        least, most = SCALARS[name]
        if not least <= len(arguments) <= most:
            raise InvalidText.arguments(word.start_pos, str(word), _argument_count(least, most), len(arguments))
        if name == "round" and len(arguments) == 2 and not _is_small(arguments[1]):
            raise InvalidText.meaning(
                arguments[1].place, "ROUND takes a number of places from -15 to 15", "write it out"
            )
        return _apply(name, arguments, word)

    def nulls(self, parts: list[Any]) -> bool:
        return bool(parts[0].type == "IGNORE")

    def within(self, parts: list[Any]) -> tuple[Sorting, ...]:
        return tuple(parts)

    def sorting(self, parts: list[Any]) -> Sorting:
        expression, direction, nulls = parts
        is_descending = direction is not None and direction.type == "DESC"
        return Sorting(expression, is_descending, None if nulls is None else nulls.type == "FIRST")

    def called(self, parts: list[Any]) -> Expression:
        call, ignores_nulls, within, condition, over = parts
        if isinstance(call, Call):
            nulls = call.ignores_nulls if ignores_nulls is None else ignores_nulls
            return _check_depth(replace(call, filter=condition, over=over, within=within or (), ignores_nulls=nulls))
        found: Expression = call
        for given, word in ((within, "WITHIN GROUP"), (condition, "FILTER"), (over, "OVER"), (ignores_nulls, "NULLS")):
            if given is not None:
                place = given.place if isinstance(given, Over | Expression) else found.place
                raise InvalidText.meaning(place, f"{word} must follow an aggregate", "write it after such as SUM(x)")
        return found

    def type(self, parts: list[Any]) -> Any:
        words = [each for each in parts if each is not None and each.type == "NAME"]
        numbers = [number_of(each) for each in parts if each is not None and each.type == "NUMBER"]
        return type_of(" ".join(words), numbers, words[0].start_pos)

    def cast(self, parts: list[Any]) -> Expression:
        word, value, kind = parts
        return _check_depth(Cast(value, kind, word.type == "TRY_CAST", word.start_pos))

    def case(self, parts: list[Any]) -> Expression:
        word, subject, *given = parts
        *pairs, otherwise = given if len(given) % 2 else [*given, None]
        if subject is not None:
            pairs = [_apply("=", [subject, each], word) if at % 2 == 0 else each for at, each in enumerate(pairs)]
        return _apply("case", [*pairs, otherwise or Literal(None, word.start_pos)], word)


def name_of(word: Any) -> Column:
    """Return a name, such as that of a table."""
    return Column(str(word), word.start_pos, (), isinstance(word.value, Quoted))


def _apply(function: str, arguments: Iterable[Expression], word: Any) -> Expression:
    return _check_depth(Apply(function, tuple(arguments), word.start_pos))


def _check_depth(expression: Expression) -> Expression:
    """Refuse an expression that is too deep, or too large: BETWEEN and CASE use their first operand several times."""
    if expression.depth > MOST_LEVELS:
        raise InvalidText.too_deep(expression.place, MOST_LEVELS)
    if expression.size > 4 * MOST_WORDS:
        raise InvalidText.too_long("an expression with too many operands", f"{4 * MOST_WORDS:,}")
    return expression


def _negate(negation: Any, expression: Expression) -> Expression:
    return expression if negation is None else _apply("not", [expression], negation)


def number_of(word: Any) -> int | float:
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
