"""A wrong command or job is one sentence and exit 2, before Spark starts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from sash.cli.main import main
from tests.refusals.case import plain
from tests.refusals.jobs import COMMANDS, JOB, JOBS


@pytest.mark.parametrize(("arguments", "fix"), COMMANDS.values(), ids=COMMANDS)
def test_a_wrong_command_is_one_sentence_and_exit_2(arguments: list[str], fix: str) -> None:
    done = CliRunner().invoke(main, arguments, prog_name="sash")
    assert done.exit_code == 2 and done.stdout == ""
    assert fix in done.stderr, done.stderr
    sentences = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(sentences) == 1
    plain(sentences[0])


def test_a_folder_that_holds_no_checkpoint_is_refused_before_spark_starts(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["state", str(tmp_path)])
    assert done.exit_code == 2 and "the checkpoint folder of a streaming query" in done.stderr


@pytest.mark.parametrize(("there", "instead", "fix"), JOBS.values(), ids=JOBS)
def test_a_wrong_job_is_refused_before_spark_starts(tmp_path: Path, there: str, instead: str, fix: str) -> None:
    assert there in JOB
    job = tmp_path / "job.toml"
    job.write_text(JOB.replace(there, instead, 1), encoding="utf-8")
    done = CliRunner().invoke(main, ["run", str(job)])
    assert done.exit_code == 2 and done.stdout == "", done.output
    sentence, *shown = done.stderr.splitlines()
    assert sentence.startswith(f"Error: {job}: ") and fix in sentence, done.stderr
    assert not shown or shown[-1].strip() == "^"
    plain(sentence)
