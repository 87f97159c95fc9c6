"""The record of `make compat`, the docs and the lock files say the same."""

import re

from tests.compat.environments import ENVIRONMENTS, LOCKS, Outcome, documented, load_record, markdown


def test_the_docs_have_the_table_of_the_last_run() -> None:
    assert documented() == markdown(load_record())


def test_every_environment_has_a_lock_file_with_hashes_that_names_no_index() -> None:
    assert {each.lock for each in ENVIRONMENTS} == set(LOCKS.iterdir())
    for environment in ENVIRONMENTS:
        text = environment.lock.read_text()
        assert re.search(rf"^pyspark=={re.escape(environment.pyspark)} ", text, re.M)
        assert re.search(rf"^pandas=={re.escape(environment.pandas)}\.", text, re.M)
        assert "index-url" not in text and "://" not in text
        assert text.count("==") <= text.count("--hash=sha256:")


def test_a_failure_is_shown_in_the_table() -> None:
    versions = dict.fromkeys(("pandas", "numpy", "pyarrow", "numba", "python"), "1.0")
    without = Outcome(pyspark="3.5.9", **versions, tables=9, streams=0, failed=0)
    failing = Outcome(pyspark="4.0.5", **versions, tables=8, streams=4, failed=1)
    assert markdown([without, failing])[2:] == [
        "| 3.5.9 | 9 tests pass | – | 1.0 | 1.0 | 1.0 | 1.0 |",
        "| 4.0.5 | 8 tests pass, 1 fail | 4 tests pass, 1 fail | 1.0 | 1.0 | 1.0 | 1.0 |",
    ]
