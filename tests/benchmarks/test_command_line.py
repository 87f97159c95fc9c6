"""The command `python -m benchmarks`: what it accepts, and what it prints."""

from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from benchmarks.catalog import SUITES
from benchmarks.command_line import main


def test_help_lists_every_suite_and_the_report() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    assert "Usage" in text and all(f"\n  {name} " in text for name in (*SUITES, "report"))


@pytest.mark.parametrize("name", SUITES)
def test_help_of_a_suite_lists_its_experiments_and_an_example(name: str) -> None:
    text = CliRunner().invoke(main, [name, "--help"]).output
    assert all(each in text for each in SUITES[name].experiments)
    assert f"python -m benchmarks {name} --quick" in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["algorthms"], "Did you mean 'algorithms'?"),
        (["cooking"], "The known ones: algorithms, matrix, report, slicing, spark_streams, spark_tables."),
        (["algorithms", "--only", "latencies"], "Did you mean 'latency'?"),
        (["matrix", "--only", "strng"], "Did you mean 'string'?"),
        (["spark_tables", "--only", "sessions"], "The known ones: "),
    ],
)
def test_an_unknown_name_lists_the_known_ones_and_exits_with_2(arguments: Sequence[str], hint: str) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1
    assert hint in done.stderr


def test_a_run_of_all_benchmarks_has_less_than_ninety_minutes() -> None:
    """Less, because no task starts after the limit of its suite, but the last one may end after it."""
    limits = {
        (suite.name, *suite.full.time_limit(experiment))
        for suite in SUITES.values()
        for experiment in suite.experiments
    }
    assert sum(seconds for _, _, seconds in limits) <= 86 * 60
