"""Every error that the package raises is given the values that its sentence names."""

import ast
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from sash import errors

KINDS = {name: getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)}
SENTENCES = {
    f"{kind}.{name}": each
    for kind, own in KINDS.items()
    for name, each in vars(own).items()
    if isinstance(each, errors._Sentence)
}

ROOT = Path(str(files("sash")))
FOLDERS = sorted({path.parent for path in ROOT.rglob("*.py")})


def calls(folder: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield every place in a folder where an error is made of a sentence: where it stands, and the call."""
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if ast.unparse(node.func) in SENTENCES:
                yield f"{path}:{node.lineno}", node


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_call_gives_the_values_that_the_sentence_names(folder: Path) -> None:
    for place, call in calls(folder):
        if any(isinstance(each, ast.Starred) for each in call.args):
            continue  # of a number of values that only the call knows
        sentence = SENTENCES[ast.unparse(call.func)]
        has_place = isinstance(sentence, errors._SentenceAt)
        try:
            sentence.signature().bind(*call.args[has_place:], **{str(each.arg): each for each in call.keywords})
        except TypeError as error:
            pytest.fail(f"{place}: {error}")


def test_calls_are_found_in_most_folders() -> None:
    assert sum(any(calls(folder)) for folder in FOLDERS) > 10


@pytest.mark.parametrize("name", SENTENCES)
def test_a_list_of_names_has_those_of_the_sentence(name: str) -> None:
    sentence = SENTENCES[name]
    assert sorted(sentence.signature().parameters) == sorted(errors._Sentence(sentence.sentence).signature().parameters)


def test_a_value_may_hold_braces() -> None:
    assert str(errors.InvalidInput.option("by", {"a": 1}, "a name")) == "by must be a name, but is {'a': 1}."


def test_a_value_that_is_missing_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'expected'"):
        errors.InvalidInput.option("by", 1)
