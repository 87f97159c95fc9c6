"""The records of `make compat`, the docs and the lock files say the same."""

import re
import tomllib

from tests.compat.environments import (
    ENVIRONMENTS,
    LOCKS,
    ROOT,
    Outcome,
    Speed,
    documented,
    load_record,
    load_speeds,
    tables,
)

VERSIONS = dict.fromkeys(("numba", "pandas", "numpy", "pyarrow", "polars", "python"), "1.0")


def test_the_docs_have_the_tables_of_the_last_run() -> None:
    assert documented() == tables(load_record(), load_speeds())


def test_every_environment_has_a_lock_file_with_hashes_that_names_no_index() -> None:
    assert {each.lock for each in ENVIRONMENTS} == set(LOCKS.iterdir())
    for environment in ENVIRONMENTS:
        text = environment.lock.read_text()
        for name, version in environment.pins.items():
            assert re.search(rf"^{name}=={re.escape(version)}[. ]", text, re.M), name
        assert "index-url" not in text and "://" not in text
        assert text.count("==") <= text.count("--hash=sha256:")


def test_the_oldest_versions_that_the_package_accepts_are_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    stated = [*project["dependencies"], *extras["spark"], *extras["bench"]]
    oldest = dict(re.findall(r"^(\w+)>=([\d.]+)", "\n".join(stated), re.M))
    for name in ("pyspark", "numba", "pandas", "numpy", "pyarrow", "polars"):
        tested = [each.pins[name] for each in ENVIRONMENTS if name in each.pins]
        assert min(tested, key=_numbers).startswith(oldest[name]), name


def test_the_newest_versions_that_the_package_names_are_tested() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    stated = {
        name: line.partition("# tested to ")[2]
        for line in lines
        for name in ("numba", "numpy", "pyarrow", "pyspark")
        if f'"{name}>=' in line
    }
    for name, newest in stated.items():
        tested = [each.pins[name] for each in ENVIRONMENTS if name in each.pins]
        assert max(tested, key=_numbers).startswith(re.findall(r"[\d.]+", newest)[0]), name
    assert len(stated) == 4


def _numbers(version: str) -> list[int]:
    return list(map(int, version.split(".")))


def test_a_failure_is_shown_in_the_table() -> None:
    without = Outcome("a", pyspark="3.5.9", **VERSIONS, tables=9, streams=0, failed=0)
    failing = Outcome("b", pyspark="4.0.5", **VERSIONS, tables=8, streams=4, failed=1)
    alone = Outcome("c", pyspark="", **VERSIONS, tables=7, streams=0, failed=0)
    found = tables([without, failing, alone], ())
    assert found["versions"][2:] == [
        "| 3.5.9 | 9 tests pass | – | 1.0 | 1.0 | 1.0 | 1.0 |",
        "| 4.0.5 | 8 tests pass, 1 fail | 4 tests pass, 1 fail | 1.0 | 1.0 | 1.0 | 1.0 |",
    ]
    assert found["packages"][4:] == ["| 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 7 tests pass |"]


def test_speeds_are_relative_to_the_newest_version() -> None:
    found = tables((), [Speed("3.5.9", 2.0, 1.0), Speed("4.3.0", 1.0, 1.5)])["speeds"]
    assert found[-2:] == ["| 3.5.9 | 2.00 s (0.50) | 1.00 s (1.50) |", "| 4.3.0 | 1.00 s (1.00) | 1.50 s (1.00) |"]
