"""The command line: what is typed, what is printed, what comes back."""

import subprocess
import sys
from collections.abc import Sequence

import pytest
from click.testing import CliRunner, Result

from sash.cli.main import main
from sash.swag import ALGORITHMS


def sash(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_version_and_help() -> None:
    assert sash("--version").output.startswith("sash 0.")
    for command in (
        [],
        ["demo"],
        ["algorithms"],
        ["explain"],
        ["run"],
        ["state"],
        ["doctor"],
        ["warm"],
        ["completion"],
    ):
        done = sash(*command, "--help")
        assert done.exit_code == 0 and "Usage" in done.output


def test_algorithms_lists_the_catalog() -> None:
    text, markdown = sash("algorithms").output, sash("algorithms", "--markdown").output
    assert all(name in text and f"| {name} |" in markdown for name in ALGORITHMS)


def test_explain_says_why() -> None:
    done = sash("explain", "max", "--size", "1000")
    assert done.exit_code == 0 and "because" in done.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "maxx"),
        ("explain", "max", "--size", "0"),
        ("explain", "max", "--algorithm", "subtract_on_evict", "--size", "4"),
        ("explain", "max", "--dtype", "no such type"),
        ("warm", "maxx"),
        ("warm", "max", "--types", "float64,text"),
    ],
)
def test_what_is_refused_is_one_line_and_exit_2(arguments: Sequence[str]) -> None:
    done = sash(*arguments)
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1


def test_debug_shows_the_traceback() -> None:
    done = sash("--debug", "explain", "maxx")
    assert done.exit_code == 2
    assert "Traceback" in done.stderr and done.stderr.splitlines()[-1].startswith("Error: ")


def test_demo_checks_every_algorithm_and_prints_plain_text_when_piped() -> None:
    done = sash("demo", "--algorithms", "--rows", "3000")
    assert done.exit_code == 0, done.output
    assert all(name in done.stdout for name in ALGORITHMS)
    assert done.stdout.count("✓") == len(ALGORITHMS) and "✗" not in done.stdout
    assert "\x1b" not in done.stdout and "sash explain" in done.stdout


def test_importing_sash_imports_nothing_heavy() -> None:
    script = (
        "import sys, sash\n"
        "print(sorted({'pandas', 'polars', 'rich', 'click', 'matplotlib', 'duckdb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_help_imports_neither_peers_nor_pictures() -> None:
    script = "import sys, sash.cli.main; print(sorted({'rich', 'matplotlib', 'polars', 'duckdb'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
