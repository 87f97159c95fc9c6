"""Build the syntax tree: the parser calls a method of `Builder` for each rule of the grammar that it has read."""

from dataclasses import replace
from typing import Any

from sash.errors import InvalidText
from sash.syntax.expression_builder import ExpressionBuilder, name_of, number_of
from sash.syntax.expressions import Column
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

__all__ = ["Builder"]


class Builder(ExpressionBuilder):
    """A method for each rule of the grammar, called with the results of its parts; nothing is kept between calls.

    A rule that the grammar marks with ? is the one part that it has, and needs no method.
    """

    # --- statements

    def start(self, parts: list[Any]) -> tuple[Any, ...]:
        inputs, *statements = parts
        return tuple(replace(each, inputs=inputs or ()) for each in statements)

    def item_list(self, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    windows = inputs = groupings = sortings = names = item_list

    def named_input(self, parts: list[Any]) -> Statement:
        return Statement(name_of(parts[0]), *parts[1])

    def statement(self, parts: list[Any]) -> Statement:
        label, select = parts
        return Statement(label, *select)

    def streamed_statement(self, parts: list[Any]) -> Statement:
        label, stream, select = parts
        _check_stream(stream)
        return Statement(label, *select)

    def label(self, parts: list[Any]) -> Column:
        return name_of(parts[0])

    alias = label

    def select(self, parts: list[Any]) -> tuple[Any, ...]:
        distinct, items, source, join, where, groups, having, windows, qualify, sortings, limit = parts
        table, alias, bracket, function = source if isinstance(source, tuple) else (None, None, None, source)
        head = (items, table, alias, bracket, function, join, where, groups, windows or ())
        return (*head, items[0].place, distinct is not None, having, qualify, sortings or (), limit)

    def limit(self, parts: list[Any]) -> tuple[int, int, int]:
        found = [0 if each is None else number_of(each) for each in parts]
        for number, word in zip(found, parts, strict=True):
            if not isinstance(number, int):
                raise InvalidText.meaning(word.start_pos, "LIMIT and OFFSET take whole numbers", "write one")
        return int(found[0]), int(found[1]), parts[0].start_pos

    def streamed_items(self, parts: list[Any]) -> tuple[Item, ...]:
        _check_stream(parts[0])
        items: tuple[Item, ...] = parts[1]
        return items

    def every_column(self, parts: list[Any]) -> Item:
        return Item(None, None, parts[0].start_pos)

    def item(self, parts: list[Any]) -> Item:
        expression, alias = parts
        return Item(expression, alias, expression.place)

    # --- windows in brackets

    def bracketed(self, parts: list[Any]) -> tuple[Any, ...]:
        table, alias, bracket = parts
        return name_of(table), alias, bracket, None

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
        return "rows", Length(number_of(number), number.start_pos), slide, offset, (), word.start_pos

    def slide_of_rows(self, parts: list[Any]) -> Length:
        return Length(number_of(parts[0]), parts[0].start_pos, counts_rows=True)

    def unbounded(self, parts: list[Any]) -> tuple[Any, ...]:
        return "unbounded", None, parts[-1], None, (), parts[0].start_pos

    def now(self, parts: list[Any]) -> tuple[Any, ...]:
        return "range", Length(0, parts[0].start_pos), None, None, (), parts[0].start_pos

    def session(self, parts: list[Any]) -> tuple[Any, ...]:
        return "session", parts[1], None, None, (), parts[0].start_pos

    def punctuated(self, parts: list[Any]) -> tuple[Any, ...]:
        columns = tuple(each for each in parts[1:] if each is not None)
        return "punctuated", None, None, None, columns, parts[0].start_pos

    def zone(self, parts: list[Any]) -> str:
        return str(parts[0])

    # --- window table functions

    def function(self, parts: list[Any]) -> Function:
        return Function(name_of(parts[0]), tuple(parts[1:]))

    def argument(self, parts: list[Any]) -> Argument:
        word, value = parts
        name = None if word is None else name_of(word)
        if isinstance(value, Length):
            return Argument(name, length=value, place=value.place)
        table, keys, column, place = value
        return Argument(name, table, keys, column, place=place)

    def zone_argument(self, parts: list[Any]) -> Argument:
        word = parts[-1]
        return Argument(Column("ZONE", word.start_pos), zone=str(word), place=word.start_pos)

    def table_value(self, parts: list[Any]) -> tuple[Any, ...]:
        return name_of(parts[0]), parts[1], None, parts[0].start_pos

    def descriptor(self, parts: list[Any]) -> tuple[Any, ...]:
        return None, None, parts[0], parts[0].place

    def keys(self, parts: list[Any]) -> tuple[Column, ...]:
        return parts[0] if isinstance(parts[0], tuple) else (parts[0],)

    # --- OVER

    def over(self, parts: list[Any]) -> Over:
        word, given = parts
        if isinstance(given, FrameSpec):
            return Over(given, None, word.start_pos)
        return Over(None, name_of(given), word.start_pos)

    def frame_spec(self, parts: list[Any]) -> FrameSpec:
        keys, order, frame = parts
        return FrameSpec(keys, order or (), *(frame or (None, None, None)))

    def order(self, parts: list[Any]) -> tuple[Ordering, ...]:
        return tuple(parts)

    def ordering(self, parts: list[Any]) -> Ordering:
        name, direction = parts
        return Ordering(name, direction is not None and direction.type == "DESC")

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
        return name_of(parts[0]), parts[1]

    # --- the window join

    def join(self, parts: list[Any]) -> Join:
        table, alias, bracket, *pairs = parts
        return Join(name_of(table), bracket, tuple(each for each in pairs if isinstance(each, Pair)), alias)

    def pair(self, parts: list[Any]) -> Pair:
        label, sign, event, *delay = parts
        return Pair(label, str(sign), event, delay[-1] or None, sign.start_pos)


def _check_stream(word: Any) -> None:
    if word.upper() == "DSTREAM":
        raise InvalidText.unsupported(word.start_pos, "DSTREAM", "it emits rows that left a window; write ISTREAM")
