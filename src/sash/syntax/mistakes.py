"""Mistakes in query text, and what to write instead: words of other languages, and words in the wrong place."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from lark import Token

from sash.errors import InvalidText
from sash.syntax.tokens import KEYWORDS, RESERVED, Word

__all__ = ["ELSEWHERE", "Spot", "find_mistake", "near_keywords"]

ELSEWHERE = {
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


@dataclass(frozen=True)
class Spot:
    """A word that is not accepted, the words before it, and the kinds of words that would be accepted."""

    word: Word
    before: Word
    fed: list[Token]
    accepted: set[str]

    @property
    def is_after_group_by(self) -> bool:
        """Return whether GROUP BY is complete: LIMIT could follow, and GROUP BY could not."""
        return "_LIMIT" in self.accepted and "_GROUP" not in self.accepted


def find_mistake(spot: Spot) -> InvalidText | None:
    """Return the error for a mistake that is known, or None."""
    return next((error for look in _LOOKS if (error := look(spot)) is not None), None)


def near_keywords(word: Word, accepted: set[str]) -> list[str]:
    """Return the keyword that a misspelt word may be."""
    keywords = [each.lstrip("_") for each in accepted if each.lstrip("_") in KEYWORDS]
    return difflib.get_close_matches(word.text.upper(), keywords, n=1) if word.kind == "NAME" else []


def _in_operators(spot: Spot) -> InvalidText | None:
    word, before = spot.word, spot.before
    if word.text == before.text == "=":
        return InvalidText.unsupported(before.place, "==", "write =")
    if word.text == before.text == ":" or (word.text == ":" and "STAR" in spot.accepted):
        return InvalidText.unsupported(word.place, "::", "write CAST(x AS type)")
    if word.text == before.text == "/" or before.text.upper() == "DIV":
        return InvalidText.unsupported(before.place, "//" if before.text == "/" else "DIV", "write FLOOR(a / b)")
    if word.keyword == "DISTINCT" and before.kind in ("IS", "NOT"):
        return InvalidText.unsupported(word.place, "IS DISTINCT FROM", "write a <> b OR a IS NULL")
    if word.text.upper() in _PATTERNS and word.kind == "NAME" and "LIKE" in spot.accepted:
        return InvalidText.unsupported(word.place, word.text, _PATTERNS[word.text.upper()])
    return None


def _in_names(spot: Spot) -> InvalidText | None:
    word, before = spot.word, spot.before
    if (word.kind, before.kind) == ("STAR", "_DOT"):
        return InvalidText.unsupported(word.place, "A table before *", "write * alone")
    if (word.kind, before.kind) == ("_DOT", "_RPAR"):
        return InvalidText.meaning(word.place, "A call has no fields", "write window_start or window_end")
    if word.kind == "_DOT" and [each.type for each in spot.fed[-2:-1]] == ["_FROM"]:
        fix = "write the name of the table alone, and pass the table by this name"
        return InvalidText.unsupported(before.place, "A schema before a table", fix)
    if word.kind == "_DOT":
        return InvalidText.dotted(word.place)
    quoted = f'write "{word.text}" in double quotes'
    if before.kind == "_AS" and word.keyword in RESERVED and "NAME" in spot.accepted:
        return InvalidText.meaning(word.place, f"{word.text} is a word of the language", quoted)
    if word.kind == "STRING" and ("_AS" in spot.accepted or before.kind == "_AS"):
        return InvalidText.meaning(word.place, "A name is not a text", quoted)
    return None


def _in_clauses(spot: Spot) -> InvalidText | None:
    word, before = spot.word, spot.before
    if word.kind == "NUMBER" and before.text.upper() == "TOP":
        return InvalidText.unsupported(before.place, before.text, f"write LIMIT {word.text} at the end")
    if word.keyword == "WHERE" and spot.is_after_group_by:
        fix = "move it, or write HAVING for a condition on results"
        return InvalidText.meaning(word.place, "WHERE must be before GROUP BY", fix)
    if word.kind == "NAME" and word.text.upper() in ELSEWHERE and "$END" in spot.accepted:
        return InvalidText.unsupported(word.place, word.text.upper(), ELSEWHERE[word.text.upper()])
    if (word.kind, before.kind) == ("_LPAR", "_FROM"):
        fix = "pass its result as a table, or write WITH name AS (SELECT …)"
        return InvalidText.unsupported(word.place, "A query in a query", fix)
    if word.keyword == "SELECT" and before.kind == "_LPAR":
        fix = "compute it first, or write WITH name AS (SELECT …) for a table"
        return InvalidText.unsupported(word.place, "A query in an expression", fix)
    is_alias = word.keyword == "AS" or (word.kind == "NAME" and not near_keywords(word, spot.accepted))
    if is_alias and before.kind == "_RPAR" and spot.is_after_group_by:
        fix = "leave it out, and write window_start and window_end"
        return InvalidText.meaning(word.place, "An entry of GROUP BY has no alias", fix)
    return None


def _in_windows(spot: Spot) -> InvalidText | None:
    word, before = spot.word, spot.before
    if spot.accepted == {"_ARROW"} and before.text.upper() in ("RANGE", "ROWS", "SESSION"):
        return InvalidText.meaning(before.place, "A window must be in brackets", "write for example [RANGE 1 HOUR]")
    if word.keyword == "OVER" and "_AS" in spot.accepted:
        return InvalidText.meaning(word.place, "OVER must follow an aggregate", "write for example MAX(x) OVER (…)")
    if word.kind == "_LPAR" and before.text.upper() == "FILTER":
        return InvalidText.meaning(before.place, "FILTER must follow an aggregate", "write it after SUM(x)")
    return None


def _in_calls(spot: Spot) -> InvalidText | None:
    """Look between the parentheses of a call."""
    word, before = spot.word, spot.before
    kinds = [each.type for each in spot.fed]
    if "_RPAR" not in spot.accepted or "_LPAR" not in kinds[1:]:
        return None
    opened = len(kinds) - 1 - kinds[::-1].index("_LPAR")
    function = spot.fed[opened - 1]
    if word.keyword == "FROM" and function.upper() == "EXTRACT":
        fix = "compute it as a column of the table or of the result"
        return InvalidText.unsupported(function.start_pos or 0, str(function), fix)
    if word.keyword == "ORDER":
        fix = "leave it out, because rows are in the order of `on`"
        return InvalidText.unsupported(word.place, f"ORDER BY inside of {function}", fix)
    if word.kind == "_COMMA" and "DISTINCT" in kinds[opened:]:
        what = f"{function}(DISTINCT …) of several columns"
        return InvalidText.unsupported(word.place, what, "write one of them, such as concat(a, '/', b)")
    if (word.kind, before.kind) == ("NAME", "NUMBER") and "_COMMA" in spot.accepted:
        fix = f"write '{before.text} {word.text}'"
        return InvalidText.meaning(before.place, "A length with a unit is a text", fix)
    return None


_LOOKS: tuple[Callable[[Spot], InvalidText | None], ...] = (
    _in_operators,
    _in_names,
    _in_clauses,
    _in_windows,
    _in_calls,
)
