"""What a refusal is, and how it is checked."""

from collections.abc import Callable
from typing import Any

import pytest

from sash.errors import InvalidText, SashError

__all__ = ["Case", "check", "plain", "says_all"]

# A wrong use, the kind of its error, and parts of the sentence in their order, with " … " between them.
Case = tuple[Callable[..., Any], type[SashError], str]


def plain(sentence: str) -> None:
    """One line that is no dump: no addresses, no traces, no names of Java."""
    assert sentence and "\n" not in sentence and len(sentence) < 900, sentence
    for mark in ("Traceback", " at 0x", "org.apache", "java.", "Py4J"):
        assert mark not in sentence, sentence


def says_all(sentence: str, says: str) -> None:
    """The sentence has all these parts, in their order."""
    place = 0
    for part in says.split(" … "):
        found = sentence.find(part, place)
        assert found >= 0, f"{part!r} is not in {sentence!r}"
        place = found + len(part)


def check(case: Case, *subject: Any) -> None:
    """The use is refused in one line that says what it must; query text is shown below it."""
    use, kind, says = case
    with pytest.raises(kind) as caught:
        use(*subject)
    sentence, *shown = str(caught.value).split("\n")
    plain(sentence)
    assert len(shown) == (2 if shown and kind is InvalidText else 0), shown
    says_all(sentence, says)
