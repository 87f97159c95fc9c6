"""`sash doctor` checks the Python that Spark's workers would run."""

import sys
from pathlib import Path

import pytest

from sash.cli.doctor import Finding, findings


def of_workers() -> Finding:
    return next(each for each in findings() if each.what == "Spark workers")


def test_without_a_choice_workers_run_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert of_workers().is_fine and sys.executable in of_workers().found


def test_this_python_has_what_workers_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert of_workers().is_fine, of_workers()


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (f"echo {sys.version_info[0]}.{sys.version_info[1]}.9 numba, pyarrow", "lacks numba, pyarrow"),
        ("echo 2.7.18", "is Python 2.7.18"),
        ("exit 1", "is no Python"),
        (None, "does not exist"),
    ],
)
def test_another_python_is_named_with_what_it_lacks(
    script: str | None, found: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "python3"
    if script is not None:
        other.write_text(f"#!/bin/sh\n{script}\n")
        other.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    finding = of_workers()
    assert not finding.is_fine and found in finding.found and "PYSPARK_PYTHON" in finding.fix
