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
from sash.syntax.mistakes import ELSEWHERE, Spot, find_mistake, near_keywords
from sash.syntax.syntax_builder import Builder
from sash.syntax.tokens import RESERVED, SYMBOLS, Quoted, Word, words_of
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
    return _RESERVED if is_alias and not isinstance(word.text, Quoted) and word.text.upper() in ELSEWHERE else word.kind


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
    mistake = find_mistake(Spot(word, before, fed, accepted))
    if mistake is not None:
        return mistake
    if len(fed) > 1 and before.kind == "NAME":  # an alias that was meant as a keyword
        possible = _accepted(fed[:-1], start)
        near = near_keywords(before, possible) if "_AS" in possible else []
        if near:
            return InvalidText.unexpected(before.place, before.text, _in_words(possible), near[0])
    found = f"'{word.text}'" if word.kind == "STRING" else word.text
    near = near_keywords(word, accepted)
    return InvalidText.unexpected(word.place, found, _in_words(accepted), near[0] if near else None)


def _in_words(accepted: set[str]) -> list[str]:
    """Return what may come next, in words that users know, without all expressions and operators."""
    found = []
    accepted = accepted - _RARE
    if accepted >= {"NUMBER", "STRING", "NAME", "_LPAR", "CASE"}:
        accepted, found = accepted - _VALUES, ["an expression"]
    elif accepted >= {"STAR", "PLUS", "SLASH"}:
        accepted, found = accepted - _OPERATORS - {"_LPAR"}, ["an operator"]
    return sorted(_WORDS.get(each, each.lstrip("_")) for each in accepted) + found
