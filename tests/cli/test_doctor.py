"""`sash doctor` compares versions with the tested ones, and checks Java and the Python of Spark's workers."""

import importlib.metadata
import json
import sys
from pathlib import Path

import pyspark
import pytest

from sash.cli import doctor
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


PACKAGES = {"numba": "0.68.1", "numpy": "2.4.6", "pyarrow": "26.0.1", "pandas": "2.3.3", "polars": "2.1.0"}
RECORD = [
    {"pyspark": "3.5.9", **PACKAGES, "tables": 9, "streams": 0, "failed": 0},
    {"pyspark": "4.1.4", **PACKAGES, "tables": 9, "streams": 4, "failed": 2},
    {"pyspark": "", **PACKAGES, "pandas": "3.1.1", "tables": 9, "streams": 0, "failed": 0},
]


@pytest.mark.parametrize(
    ("name", "version", "says"),
    [
        ("pyspark", "3.5.1", "tables (streams need 4.0 or newer) with 3.5.9: all tests passed"),
        ("pyspark", "4.1.4", "tables and streams with 4.1.4: 2 tests failed"),
        ("pyspark", "4.4.0", "not tested; tested are 3.5.9, 4.1.4"),
        ("pandas", "3.0.2", "tested: 2.3.3 to 3.1.1"),
        ("pandas", "2.2.0", "older than the tested ones, 2.3.3 to 3.1.1"),
        ("numpy", "2.9.0", "newer than the tested ones, 2.4.6 to 2.4.6"),
    ],
)
def test_versions_are_compared_with_those_of_the_last_run(
    name: str, version: str, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = tmp_path / "record.json"
    record.write_text(json.dumps(RECORD))
    monkeypatch.setattr(doctor, "_RECORD", record)
    installed(monkeypatch, name, version)
    assert next(each for each in findings() if each.what == name).found == f"{version}; {says}"


@pytest.mark.parametrize(
    ("version", "is_fine", "says"),
    [
        ("3.4.4", False, "sash needs PySpark 3.5 to 4.x, but 3.4.4 is installed"),
        ("3.5.9", True, "tables run. Streams need PySpark 4.0 or newer, but 3.5.9 is installed"),
        ("4.3.0", True, "tables and streams run"),
    ],
)
def test_what_the_first_call_on_spark_would_say_is_shown(
    version: str, is_fine: bool, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    finding = next(each for each in findings() if each.what == "sash on Spark")
    assert (finding.is_fine, finding.found[: len(says)]) == (is_fine, says)


@pytest.mark.parametrize(
    ("spark", "java", "found"),
    [
        ("3.5.9", """echo 'openjdk version "1.8.0_392"' >&2""", "1.8.0_392"),
        ("3.5.9", "exit 1", "is no Java"),
        ("4.0.5", "echo java.base@11.0.2", "is older than 17"),
        ("4.0.5", "echo java.base@17.0.15", "lacks the module jdk.incubator.vector"),
        ("4.0.5", "echo java.base@17.0.15; echo jdk.incubator.vector@17.0.15", "17.0.15"),
    ],
)
def test_spark_4_needs_java_17_and_spark_3_runs_on_older_ones(
    spark: str, java: str, found: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{java}\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    installed(monkeypatch, "pyspark", spark)
    finding = next(each for each in findings() if each.what == "Java")
    assert finding.found.endswith(found) and finding.is_fine == (finding.found == found)


def installed(monkeypatch: pytest.MonkeyPatch, name: str, version: str) -> None:
    """Pretend that one package has another version."""
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda each: version if each == name else real(each))
