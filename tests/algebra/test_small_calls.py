"""Calls on few rows are interpreted where a kernel would have to be compiled first; their results are the same."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra.cache import _Turn
from sash.algebra.compiler import Small, compiling_for, kernel, on_compile, small_calls
from tests.algebra.small_calls import AGGREGATES, EDGES, results
from tests.sample import sample

pytestmark = pytest.mark.only_compiled

WIDE = ("float64", "int64")
CASES = [(name, kind) for kind in EDGES for name in AGGREGATES]
OFTEN = [("mean", "float64"), ("last", "int64"), ("median", "float64"), ("stddev", "int64"), ("max", "int32")]


@pytest.fixture(scope="module")
def without_kernels(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function: the results of cases, and what was compiled, in a process with an empty cache."""
    found: dict[tuple[str, str], tuple[dict[str, Any], list[str]]] = {}

    def of(case: tuple[str, str], cases: list[tuple[str, str]]) -> tuple[dict[str, Any], list[str]]:
        if case not in found:
            folder = tmp_path_factory.mktemp("empty")
            command = [sys.executable, "-m", "tests.algebra.small_calls", str(folder / "results")]
            environment = {**os.environ, "SASH_CACHE_DIR": str(folder)}
            subprocess.run([*command, *map(",".join, cases)], env=environment, check=True)
            found.update(pickle.loads((folder / "results").read_bytes()))
        return found[case]

    return of


@pytest.mark.parametrize(("name", "kind"), sample(CASES, OFTEN))
def test_interpreted_calls_give_what_compiled_ones_give(without_kernels: Any, name: str, kind: str) -> None:
    case = name, kind
    given, compiled = without_kernels(case, OFTEN if case in OFTEN else CASES)
    np.testing.assert_equal(given, results(name, kind))
    if kind in WIDE and name not in ("count_distinct", "argmax"):  # the ten most common aggregates
        assert not compiled


@kernel
def double(values: Any) -> None:
    for place in range(len(values)):
        values[place] *= 2


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The names of kernels that are compiled, with small calls as users have them, and nothing in the cache."""
    monkeypatch.setattr("sash.algebra.cache.cache_directory", lambda: None)
    monkeypatch.setattr(double, "_interpreted", {})
    monkeypatch.setattr(double, "_compiled", {})
    monkeypatch.setattr(double, "_plain", None)
    monkeypatch.setattr(double, "_dispatchers", {})
    names: list[str] = []
    on_compile.append(lambda name, seconds: names.append(name) if seconds is None else None)
    with small_calls(Small(length=10, seconds=0.05)):
        yield names
    on_compile.pop()


@pytest.mark.parametrize("length", [10, 11])
def test_a_call_with_a_long_array_is_compiled(compiled: list[str], length: int) -> None:
    values = np.ones(length)
    double(values)
    assert (values == 2).all()
    assert compiled == ["double"] * (length > 10)


@pytest.mark.parametrize("rows", [10, 11])
def test_a_call_with_short_arrays_is_compiled_in_work_with_many_rows(compiled: list[str], rows: int) -> None:
    with compiling_for(rows):
        double(np.ones(1))
    assert compiled == ["double"] * (rows > 10)


def test_a_kernel_is_compiled_when_its_calls_have_taken_long_enough(compiled: list[str]) -> None:
    calls = 0
    while not compiled:
        double(np.ones(10))
        calls += 1
        assert calls < 1_000_000
    assert calls > 10
    double(np.ones(1))
    assert compiled == ["double"]


def test_a_call_does_not_wait_for_another_process_that_compiles(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sash.algebra.cache.cache_directory", lambda: tmp_path)
    monkeypatch.setattr(double, "_interpreted", {(): 1e9})  # as if many calls were interpreted
    dispatcher = double.dispatcher(heap=False)
    signature = (dispatcher.typeof_pyval(np.ones(1)),)
    kernel = tmp_path / str(dispatcher._cache._name(signature, dispatcher.targetctx))
    other = _Turn()
    assert other.take(kernel)
    double(np.ones(3))
    assert not compiled
    other.end()
    double(np.ones(3))
    assert compiled == ["double"]
    assert kernel.exists()


def test_a_function_of_a_user_is_compiled_at_once(compiled: list[str]) -> None:
    share = sash.Aggregate("share", state="f8", identity=0.0, lift=lambda x: 1 / x, combine=lambda a, b: a + b)
    with pytest.raises(sash.SashError, match="ZeroDivisionError"):
        sash.swag.slide(np.zeros(3), 2, share)
    assert compiled
