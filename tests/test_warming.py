"""Kernels are compiled before a call needs them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sash
from sash import warming

WARM = """
import sash
from sash.algebra.compiler import on_compile

compiled = []
on_compile.append(lambda name, seconds: compiled.append(name))
counts = [sash.warm(sash.count("x"), types=["int64"]), len(compiled)]
compiled.clear()
sash.aggregate({"t": [1, 2], "x": [3, 4]}, sash.query("q", sash.tumbling(10), n=sash.count("x")), on="t")
print(counts[0] > 0, counts[1] == 2 * counts[0], sash.warm(sash.count("x"), types=["int64"]))
"""


@pytest.mark.only_compiled
def test_what_is_warm_is_not_compiled_again(tmp_path: Path) -> None:
    environment = {**os.environ, "SASH_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", WARM], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "0"]


def test_every_common_aggregate_and_type_has_a_step() -> None:
    labels = [label for label, _ in warming.steps()]
    assert len(labels) == len(set(labels)) == len(warming.COMMON) * len(warming.TYPES)
    assert labels[0] == "mean('x') of float64"


def test_aggregates_of_two_columns_and_of_none_have_a_step() -> None:
    for aggregate in (sash.argmax(), sash.count()):
        ((_, run),) = warming.steps([aggregate], [np.float32], spark=True)
        run()


@pytest.mark.parametrize("given", ["text", object, "datetime64[s]"])
def test_other_types_than_numbers_are_refused(given: Any) -> None:
    with pytest.raises(sash.SashError, match="NumPy types of numbers"):
        sash.warm(sash.max(), types=[given])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """The helpers that would have been started, with a cache of their own."""
    helpers: list[Any] = []
    monkeypatch.setattr(warming, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(os, "posix_spawn", lambda *given, **_: helpers.append(given))
    monkeypatch.setenv("SASH_WARM", "on")
    return helpers


def test_a_cache_gets_one_helper(started: list[Any]) -> None:
    for _ in range(3):
        warming.start_helper()
    ((python, command, environment),) = started
    assert python == command[0] == sys.executable and environment["SASH_WARM"] == "off"


@pytest.mark.parametrize("why", ["not asked for", "a worker of Spark"])
def test_no_helper_is_started_where_it_is_not_wanted(
    started: list[Any], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "not asked for":
        monkeypatch.delenv("SASH_WARM")
    else:
        monkeypatch.setattr(warming, "is_spark_worker", lambda: True)
    warming.start_helper()
    assert not started
