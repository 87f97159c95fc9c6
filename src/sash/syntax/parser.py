"""The parser of query text. It is LALR, so deep nesting does not use the stack of Python."""

import difflib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer

from sash.errors import InvalidText
from sash.syntax.expressions import SCALARS, Expression
from sash.syntax.syntax_builder import Builder
from sash.syntax.tokens import KEYWORDS, RESERVED, SYMBOLS, Quoted, Word, words_of
from sash.syntax.tree import Statement

__all__ = ["condition", "statements"]

_VALUES = frozenset(
    {
        *("NUMBER", "STRING", "TRUE", "FALSE", "NULL", "DATE", "TIMESTAMP", "_INTERVAL", "CASE", "CAST", "TRY_CAST"),
        *("NOT", "PLUS", "MINUS", "_LPAR", "NAME"),
    }
)
_OPERATORS = frozenset(
    {
        *("STAR", "SLASH", "PERCENT", "PLUS", "MINUS", "CONCAT", "COMPARISON"),
        *("AND", "OR", "IS", "IN", "NOT", "BETWEEN", "LIKE"),
    }
)
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a text in single quotes",
    "STREAM": "ISTREAM",
    "$END": "the end",
    **{kind: symbol if symbol != "," else "a comma" for symbol, kind in SYMBOLS.items()},
}
_ELSEWHERE = {
    **dict.fromkeys(
        ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL"), "join the tables before, or write WINDOW JOIN"
    ),
    **dict.fromkeys(
        ("UNION", "INTERSECT", "EXCEPT"), "unite the tables before, or write several SELECTs with ; between them"
    ),
    "EMIT": "say emit='updates' in Python",
    "FETCH": "write LIMIT 10",
    "TABLESAMPLE": "sample the table before",
    "LATERAL": "compute the columns before",
    "PIVOT": "pivot the result",
}
_PATTERNS = {
    "ILIKE": "write LOWER(x) LIKE 'a%'",
    **dict.fromkeys(("RLIKE", "REGEXP", "SIMILAR", "GLOB"), "write LIKE, or compute it as a column of the table"),
}
_RARE = {"IGNORE", "RESPECT", "_WITHIN", "_DOT"}
_RESERVED = "a word that cannot be an alias"


class _NoLexer(Lexer):
    """A lexer that returns the words of tokens.py."""

    def __init__(self, conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Any:
        raise AssertionError("words are fed one by one")


@cache
def _parser() -> Lark:
    grammar = files("sash.syntax").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=_NoLexer, transformer=Builder(), start=["start", "condition"])


def statements(text: str) -> tuple[Statement, ...]:
    """Parse a text into statements.

    >>> [found] = statements("SELECT MAX(x) AS peak FROM t [ROWS 5]")
    >>> found.table.name, found.bracket.kind, found.items[0].alias.name
    ('t', 'rows', 'peak')
    """
    found: tuple[Statement, ...] = _parse(text, "start")
    return found


@lru_cache(maxsize=256)
def condition(text: str) -> Expression:
    """Parse the condition of an aggregate; it must be computed from one row.

    >>> str(condition("kind = 'card' AND amount > 0"))
    "(kind = 'card') and (amount > 0)"
    """
    found: Expression = _parse(text, "condition")
    for call in found.calls():
        raise InvalidText.unknown(call.place, "function of one row", call.name, SCALARS)
    return found


def _parse(text: str, start: str) -> Any:
    words = words_of(text)
    parser: Any = _parser().parse_interactive(start=start)
    result: Any = None
    fed: list[Token] = []
    for word in words:
        token = Token(_kind(word, parser.choices()), word.text, word.place)
        try:
            result = parser.feed_token(token)
        except UnexpectedToken:
            raise _unexpected(word, fed, start) from None
        fed.append(token)
    return result


def _kind(word: Word, choices: Any) -> str:
    """Return the kind of a word: a keyword where the grammar allows it, otherwise a name, unless it is reserved."""
    for kind in (word.keyword, f"_{word.keyword}"):
        if kind in choices:
            return str(kind)
    if word.keyword in RESERVED:
        return str(word.keyword)
    is_alias = word.kind == "NAME" and "_AS" in choices
    return (
        _RESERVED if is_alias and not isinstance(word.text, Quoted) and word.text.upper() in _ELSEWHERE else word.kind
    )


def _accepted(fed: list[Token], start: str) -> set[str]:
    parser: Any = _parser().parse_interactive(start=start)
    for token in fed:
        parser.feed_token(token)
    found: set[str] = parser.accepts()
    return found


def _unexpected(word: Word, fed: list[Token], start: str) -> InvalidText:
    accepted = _accepted(fed, start)
    before = Word(fed[-1].type, str(fed[-1]), fed[-1].start_pos or 0) if fed else word
    if accepted == {"_COLON"}:  # without a colon, the name before is not a label
        if before.text.upper() == "EXPLAIN":
            fix = "write sash.explain(table, sash.text.queries(text), on='ts')"
            return InvalidText.unsupported(before.place, before.text, fix)
        near = difflib.get_close_matches(before.text.upper(), ["SELECT"])
        return InvalidText.unexpected(before.place, before.text, ["SELECT"], near[0] if near else None)
    special = _special(word, before, accepted) or _in_call(word, fed, accepted)
    if special is not None:
        return special
    if len(fed) > 1 and before.kind == "NAME":  # an alias that was meant as a keyword
        possible = _accepted(fed[:-1], start)
        near = _near(before, possible) if "_AS" in possible else []
        if near:
            return InvalidText.unexpected(before.place, before.text, _in_words(possible), near[0])
    found = f"'{word.text}'" if word.kind == "STRING" else word.text
    near = _near(word, accepted)
    return InvalidText.unexpected(word.place, found, _in_words(accepted), near[0] if near else None)


def _near(word: Word, accepted: set[str]) -> list[str]:
    """Return the keyword that a misspelt word may be."""
    keywords = [each.lstrip("_") for each in accepted if each.lstrip("_") in KEYWORDS]
    return difflib.get_close_matches(word.text.upper(), keywords, n=1) if word.kind == "NAME" else []


def _special(word: Word, before: Word, accepted: set[str]) -> InvalidText | None:
    """Return the error for a mistake that has a sentence of its own."""
    if word.text == before.text == "=":
        return InvalidText.unsupported(before.place, "==", "write =")
    if word.text == before.text == ":" or (word.text == ":" and "STAR" in accepted):
        return InvalidText.unsupported(word.place, "::", "write CAST(x AS type)")
    if (word.kind, before.kind) == ("STAR", "_DOT"):
        return InvalidText.unsupported(word.place, "A table before *", "write * alone")
    if before.kind == "_AS" and word.keyword in RESERVED and "NAME" in accepted:
        fix = f'write "{word.text}" in double quotes'
        return InvalidText.meaning(word.place, f"{word.text} is a word of the language", fix)
    if word.keyword == "DISTINCT" and before.kind in ("IS", "NOT"):
        return InvalidText.unsupported(word.place, "IS DISTINCT FROM", "write a <> b OR a IS NULL")
    if word.kind == "_DOT" and before.kind == "_RPAR":
        return InvalidText.meaning(word.place, "A call has no fields", "write window_start or window_end")
    if word.kind == "_DOT":
        return InvalidText.dotted(word.place)
    if word.kind == "STRING" and ("_AS" in accepted or before.kind == "_AS"):
        return InvalidText.meaning(word.place, "A name is not a text", f'write "{word.text}" in double quotes')
    if word.text == before.text == "/" or before.text.upper() == "DIV":
        return InvalidText.unsupported(before.place, "//" if before.text == "/" else "DIV", "write FLOOR(a / b)")
    if word.kind == "NUMBER" and before.text.upper() == "TOP":
        return InvalidText.unsupported(before.place, before.text, f"write LIMIT {word.text} at the end")
    if word.text.upper() in _PATTERNS and word.kind == "NAME" and "LIKE" in accepted:
        return InvalidText.unsupported(word.place, word.text, _PATTERNS[word.text.upper()])
    if word.keyword == "WHERE" and "_LIMIT" in accepted and "_GROUP" not in accepted:
        fix = "move it, or write HAVING for a condition on results"
        return InvalidText.meaning(word.place, "WHERE must be before GROUP BY", fix)
    if accepted == {"_ARROW"} and before.text.upper() in ("RANGE", "ROWS", "SESSION"):
        return InvalidText.meaning(before.place, "A window must be in brackets", "write for example [RANGE 1 HOUR]")
    instead = _ELSEWHERE.get(word.text.upper()) if word.kind == "NAME" else None
    if instead is not None and "$END" in accepted:
        return InvalidText.unsupported(word.place, word.text.upper(), instead)
    if (word.kind, before.kind) == ("_LPAR", "_FROM"):
        instead = "pass its result as a table, or write WITH name AS (SELECT …)"
        return InvalidText.unsupported(word.place, "A query in a query", instead)
    if word.keyword == "SELECT" and before.kind == "_LPAR":
        instead = "compute it first, or write WITH name AS (SELECT …) for a table"
        return InvalidText.unsupported(word.place, "A query in an expression", instead)
    if word.keyword == "OVER" and "_AS" in accepted:
        return InvalidText.meaning(word.place, "OVER must follow an aggregate", "write for example MAX(x) OVER (…)")
    if word.kind == "_LPAR" and before.text.upper() == "FILTER":
        return InvalidText.meaning(before.place, "FILTER must follow an aggregate", "write it after SUM(x)")
    return None


def _in_call(word: Word, fed: list[Token], accepted: set[str]) -> InvalidText | None:
    """Return the error for a mistake between the parentheses of a call, or after a call in GROUP BY."""
    kinds = [each.type for each in fed]
    is_alias = word.keyword == "AS" or (word.kind == "NAME" and not _near(word, accepted))
    if is_alias and kinds[-1:] == ["_RPAR"] and "_LIMIT" in accepted and "_GROUP" not in accepted:
        what = "An entry of GROUP BY has no alias"
        return InvalidText.meaning(word.place, what, "leave it out, and write window_start and window_end")
    if "_RPAR" not in accepted or "_LPAR" not in kinds[1:]:
        return None
    opened = len(kinds) - 1 - kinds[::-1].index("_LPAR")
    function = fed[opened - 1]
    if word.keyword == "FROM" and function.upper() == "EXTRACT":
        fix = "compute it as a column of the table or of the result"
        return InvalidText.unsupported(function.start_pos or 0, str(function), fix)
    if word.keyword == "ORDER":
        what = f"ORDER BY inside of {function}"
        return InvalidText.unsupported(word.place, what, "leave it out, because rows are in the order of `on`")
    if word.kind == "_COMMA" and "DISTINCT" in kinds[opened:]:
        what = f"{function}(DISTINCT …) of several columns"
        return InvalidText.unsupported(word.place, what, "write one of them, such as concat(a, '/', b)")
    if word.kind == "NAME" and kinds[-1] == "NUMBER" and "_COMMA" in accepted:
        what = "A length with a unit is a text"
        return InvalidText.meaning(fed[-1].start_pos or 0, what, f"write '{fed[-1]} {word.text}'")
    return None


def _in_words(accepted: set[str]) -> list[str]:
    """Return what may come next, in words that users know, without all expressions and operators."""
    found = []
    accepted = accepted - _RARE
    if accepted >= {"NUMBER", "STRING", "NAME", "_LPAR", "CASE"}:
        accepted, found = accepted - _VALUES, ["an expression"]
    elif accepted >= {"STAR", "PLUS", "SLASH"}:
        accepted, found = accepted - _OPERATORS - {"_LPAR"}, ["an operator"]
    return sorted(_WORDS.get(each, each.lstrip("_")) for each in accepted) + found
