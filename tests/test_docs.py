"""What the docs print is what the code says; their examples are doctests, and those with Spark run in tests/spark."""

import ast
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest

import sash
import sash.spark
from sash import errors
from sash.cli.algorithm_table import markdown_tables
from sash.cli.job import read_job
from sash.cli.main import main
from tests.pages import DOCS, PAGES, ROOT, blocks

CHECKED = {"pycon", "python", "console", "toml", ""}  # a block without a language is a drawing
DIRECTIVES = {"{toctree}", "{include}", "{eval-rst}", "{commands}"}


def contents(language: str) -> list[Any]:
    """The blocks of a language on all pages."""
    found = [(page, text) for page in PAGES for kind, text in blocks(page) if kind == language]
    return [pytest.param(text, id=f"{page.stem}-{k}") for k, (page, text) in enumerate(found)]


def test_the_table_of_algorithms_is_printed_from_the_facts() -> None:
    page = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    assert markdown_tables() in page, "run: sash algorithms --markdown, and paste it into docs/algorithms.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_and_shows_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_of_a_language_that_is_checked(page: Path) -> None:
    assert {language for language, _ in blocks(page)} <= CHECKED | DIRECTIVES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_has_at_most_88_columns(page: Path) -> None:
    lines = (line for language, text in blocks(page) if language in CHECKED for line in text.splitlines())
    assert [line for line in lines if len(line) > 88] == []


@pytest.mark.parametrize("text", contents("python"))
def test_python_that_is_not_run_compiles_and_calls_what_there_is(text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sash":
            assert hasattr(sash, node.attr), node.attr


@pytest.mark.parametrize("text", contents("toml"))
def test_job_files_are_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text(text, encoding="utf-8")
    assert read_job(path, {"DATA": str(tmp_path)}).queries


def commands_of(text: str) -> Iterator[list[str]]:
    """The words of each command of a console, without what comes before it and after it."""
    for line in text.splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            while "=" in words[0]:
                del words[0]
            ends = [k for k, word in enumerate(words) if word in ("|", ">", ">>", "&&")]
            yield words[: min(ends, default=len(words))]


def parse(words: list[str]) -> None:
    """Refuse words that are no command, option or argument of sash; nothing is run."""
    command: click.Command = main
    while isinstance(command, click.Group):
        if not words:
            return
        name, *words = words
        if name not in command.commands:
            raise click.UsageError(f"no command {name}")
        command = command.commands[name]
    command.make_context(command.name, words)


@pytest.mark.parametrize("text", contents("console"))
def test_commands_are_those_of_sash_and_make(text: str) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for program, *words in commands_of(text):
        if program == "sash":
            parse(words)
        elif program == "make":
            assert set(words) <= set(targets), words
        else:
            assert program == "pip", program


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_within_a_sentence_are_those_of_sash(page: Path) -> None:
    for command in re.findall(r"`sash ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        with suppress(click.MissingParameter):  # a sentence leaves out what is not its point
            parse(command.split())


@pytest.mark.parametrize("wrong", ["rum job.toml", "run job.toml --dry", "explain max --sizes 3", "state"])
def test_a_wrong_command_would_be_noticed(wrong: str) -> None:
    with pytest.raises(click.UsageError):
        parse(wrong.split())


def test_the_reference_has_every_public_name() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    found = set(re.findall(r"^\.\. (?:auto\w+|py:data):: (\w+)$", pages, re.M))
    rooms = (sash, sash.swag, sash.laws, sash.spark, errors)
    wanted = {name for room in rooms for name in room.__all__} - {"laws", "swag"}
    assert not wanted - found
