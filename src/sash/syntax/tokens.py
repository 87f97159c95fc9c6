"""Split a query text into words with their places; refuse texts that are too long or nested too deeply."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sash.errors import InvalidText

__all__ = ["KEYWORDS", "MOST_LETTERS", "MOST_LEVELS", "MOST_WORDS", "RESERVED", "SYMBOLS", "Quoted", "Word", "words_of"]

MOST_LETTERS = 1_000_000
MOST_WORDS = 10_000  # are read in about 0.3 s, and in twice that if the last of them is wrong
MOST_LEVELS = 200

SYMBOLS = {
    "(": "_LPAR",
    ")": "_RPAR",
    "[": "_LSQB",
    "]": "_RSQB",
    ",": "_COMMA",
    ";": "_SEMICOLON",
    ":": "_COLON",
    ".": "_DOT",
    "=>": "_ARROW",
    "*": "STAR",
    "/": "SLASH",
    "%": "PERCENT",
    "+": "PLUS",
    "-": "MINUS",
    "||": "CONCAT",
    **dict.fromkeys(("=", "<>", "!=", "<=", ">=", "<", ">"), "COMPARISON"),
}

# Never a name, unless quoted: so the error for a missing word is about that word, not about the next one.
RESERVED = frozenset(
    {
        *("SELECT", "FROM", "WHERE", "GROUP", "BY", "AS", "AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN"),
        *("OVER", "PARTITION", "ORDER"),
    }
)
# Keywords only where the grammar allows one; elsewhere they can be names of columns.
_FREE = (
    *("RANGE", "ROWS", "ROW", "SLIDE", "OFFSET", "ZONE", "UNBOUNDED", "NOW", "SESSION", "GAP", "PUNCTUATED"),
    *("TABLE", "DESCRIPTOR", "PRECEDING", "FOLLOWING", "CURRENT", "WINDOW", "ASC", "DESC"),
    *("GROUPS", "EXCLUDE", "TIES", "NO", "OTHERS"),
    *("INTERVAL", "DATE", "TIMESTAMP", "TRUE", "FALSE", "CASE", "WHEN", "THEN", "ELSE", "END", "LIKE", "DISTINCT"),
    *("FILTER", "JOIN", "ON", "WITH", "WITHIN", "HAVING", "QUALIFY", "LIMIT", "CAST", "TRY_CAST"),
    *("IGNORE", "RESPECT", "NULLS", "FIRST", "LAST"),
)
KEYWORDS = {
    **{word: word for word in (*RESERVED, *_FREE)},
    **dict.fromkeys(("ISTREAM", "RSTREAM", "DSTREAM"), "STREAM"),
}
# Words that begin something only before one of these; a column `date` stays a column.
_BEFORE = {
    "DATE": {"STRING"},
    "TIMESTAMP": {"STRING"},
    "INTERVAL": {"STRING", "NUMBER"},
    "ZONE": {"STRING", "_ARROW"},
    "CASE": {
        *("STRING", "NUMBER", "PLUS", "MINUS", "_LPAR", "a name", "WHEN", "CASE", "NOT", "CAST", "TRY_CAST"),
        *("TRUE", "FALSE", "NULL"),
    },
    "STREAM": {"_LPAR"},
    "CAST": {"_LPAR"},
    "TRY_CAST": {"_LPAR"},
    "WITH": {"NAME"},
    "WITHIN": {"GROUP"},
    "IGNORE": {"NULLS"},
    "RESPECT": {"NULLS"},
}

_WORD = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*(?s:.*?)\*/)
      | (?P<name>[^\W\d]\w*)
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\w*)
      | (?P<string>'[^']*(?:''[^']*)*')
      | (?P<quoted>`[^`]*(?:``[^`]*)*`|"[^"]*(?:""[^"]*)*")
      | (?P<symbol>=>|\|\||<>|!=|<=|>=|/(?!\*)|[()\[\],;:.*%+\-=<>])""",
    re.VERBOSE,
)
# Characters of other languages, and what to write instead.
_OF_OTHERS = {
    "&": "AND",
    "|": "OR",
    "!": "NOT",
    "^": "POWER(a, b)",
    "#": "-- before a comment",
    **dict.fromkeys("{$@", "the value itself"),
}
_UNCLOSED = {"'": ("text", "'"), "`": ("name", "`"), '"': ("name", '"'), "/": ("comment", "*/")}


class Quoted(str):
    """The text of a name that was written in quotes."""

    __slots__ = ()


@dataclass(frozen=True)
class Word:
    """A name, a number, a string in quotes, a symbol or the end, with its place."""

    kind: str
    text: str  # without quotes
    place: int
    keyword: str | None = None  # the keyword, where the grammar allows one


def words_of(text: str) -> list[Word]:
    """Return the words of a text, the end last.

    >>> [(word.kind, word.text) for word in words_of("MAX(`a b`) -- the most")]
    [('NAME', 'MAX'), ('_LPAR', '('), ('NAME', 'a b'), ('_RPAR', ')'), ('$END', '')]
    """
    if not isinstance(text, str):
        raise InvalidText.not_text(text)
    if len(text) > MOST_LETTERS:
        raise InvalidText.too_long(f"{len(text):,} characters", f"{MOST_LETTERS:,}")
    found = list(islice(_words(text), MOST_WORDS + 1))
    if len(found) > MOST_WORDS:
        raise InvalidText.too_long("too many words and symbols", f"{MOST_WORDS:,}")
    if not found:
        raise InvalidText.empty()
    return [*map(_in_context, found, [*found[1:], None]), Word("$END", "", len(text.rstrip()))]


def _words(text: str) -> Iterator[Word]:
    at, level = 0, 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            raise _unreadable(text, at)
        kind, word = str(match.lastgroup), match[0]
        if kind == "symbol":
            level += (word in "([") - (word in ")]")
            if level > MOST_LEVELS:
                raise InvalidText.too_deep(at, MOST_LEVELS)
            yield Word(SYMBOLS[word], word, at)
        elif kind == "quoted":
            inner = word[1:-1].replace(word[0] * 2, word[0])
            if not inner:
                raise InvalidText.no_name(at)
            yield Word("NAME", Quoted(inner), at)
        elif kind == "string":
            yield Word("STRING", word[1:-1].replace("''", "'"), at)
        elif kind == "name":
            yield Word("NAME", word, at, KEYWORDS.get(word.upper()))
        elif kind == "number":
            yield Word("NUMBER", word, at)
        at = match.end()


def _unreadable(text: str, at: int) -> InvalidText:
    letter = text[at]
    if letter in _UNCLOSED:
        what, closing = _UNCLOSED[letter]
        return InvalidText.unclosed(at, what, closing)
    if letter in _OF_OTHERS:
        return InvalidText.unsupported(at, letter, f"write {_OF_OTHERS[letter]}")
    return InvalidText.unreadable(at, letter)


def _in_context(word: Word, following: Word | None) -> Word:
    """Return the word, without its keyword if the following word shows that it is a name."""
    before = _BEFORE.get(word.keyword or "")
    if before is None or (following is not None and not before.isdisjoint(_kinds(following))):
        return word
    return Word(word.kind, word.text, word.place)


def _kinds(word: Word) -> tuple[str | None, ...]:
    return word.kind, word.keyword, "a name" if word.kind == "NAME" and word.keyword is None else None
