"""Every error that the package raises is given the values that its sentence names."""

import ast
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from sash import errors

KINDS = {name: getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)}
SENTENCES = {
    f"{kind}.{name}": each
    for kind, own in KINDS.items()
    for name, each in vars(own).items()
    if isinstance(each, errors._Sentence)
}


def calls() -> Iterator[Any]:
    """Every place where an error is made of a sentence: its name, its arguments and where it stands."""
    root = Path(str(files("sash")))
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in SENTENCES:
                yield pytest.param(ast.unparse(node.func), node, id=f"{path.relative_to(root)}:{node.lineno}")


@pytest.mark.parametrize(("name", "call"), list(calls()))
def test_a_call_gives_the_values_that_the_sentence_names(name: str, call: ast.Call) -> None:
    if any(isinstance(each, ast.Starred) for each in call.args):
        return  # of a number of values that only the call knows
    has_place = isinstance(SENTENCES[name], errors._SentenceAt)
    SENTENCES[name].signature().bind(*call.args[has_place:], **{str(each.arg): each for each in call.keywords})


@pytest.mark.parametrize("name", SENTENCES)
def test_a_list_of_names_has_those_of_the_sentence(name: str) -> None:
    sentence = SENTENCES[name]
    assert sorted(sentence.signature().parameters) == sorted(errors._Sentence(sentence.sentence).signature().parameters)


def test_a_value_may_hold_braces() -> None:
    assert str(errors.InvalidInput.option("by", {"a": 1}, "a name")) == "by must be a name, but is {'a': 1}."


def test_a_value_that_is_missing_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'expected'"):
        errors.InvalidInput.option("by", 1)
