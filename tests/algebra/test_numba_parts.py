"""A Numba that sash was not tested with: kernels are compiled by the public `njit`, and the results are right."""

import subprocess
import sys
from typing import Any

import numba
import pytest
from numba.core.targetconfig import TargetConfig

from sash.algebra.compiler import kernel
from sash.algebra.numba_parts import HAS_PARTS, NEWEST, OLDEST, compile_kernel
from tests.sample import sample

# Numba itself needs the parts, so they are missing only while sash is imported.
LACKING = {
    "a version that was not tested": ("numba", "__version__", "'0.99.1'"),
    "a part of the compiler": ("numba.core.compiler", "run_frontend", None),
    "an instruction": ("numba.cpython.unsafe.numbers", "leading_zeros", None),
}
PROGRAM = """
import importlib, warnings
import numba
import numpy as np

module, name, other = importlib.import_module({module!r}), {name!r}, {other}
before = getattr(module, name)
if other is None:
    delattr(module, name)
else:
    setattr(module, name, other)
import sash
from sash.algebra import numba_parts
from sash.swag import bit_levels
if other is None:
    setattr(module, name, before)

assert not numba_parts.HAS_PARTS
words = [1, 2, 3, 2**31, 2**32, 2**63, 2**64 - 1, 6 << 40]
ends = numba.njit(lambda word: (bit_levels.lowest(word), bit_levels.highest(word)))
for word in words:
    assert ends(np.uint64(word)) == ((word & -word).bit_length() - 1, word.bit_length() - 1), word
rng = np.random.default_rng(7)
values = rng.integers(-50, 50, 400).astype(np.float64)
pair = sash.Aggregate(  # ordered: the older one is on the left
    "ends", state=("f8", "f8", "i8"), identity=(0.0, 0.0, 0), lift=lambda x: (x, x, 1),
    combine=lambda a, b: b if a[2] == 0 else a if b[2] == 0 else (a[0], b[1], a[2] + b[2]),
    lower=lambda a: a[0] - 2 * a[1] + a[2],
)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for algorithm in ("two_stacks_lite", "daba_lite"):
        found = sash.swag.slide(values, 30, pair, algorithm=algorithm)
        for end in range(1, 401):
            own = values[max(0, end - 30):end]
            assert found[end - 1] == own[0] - 2 * own[-1] + len(own), (algorithm, end)
    rows = {{"t": np.arange(400), "x": values}}
    values_of = dict(peak=sash.max("x"), middle=sash.median("x"), kinds=sash.count_distinct("x"))
    framed = sash.rolling(rows, on="t", rows=9, **values_of)
    for end, row in enumerate(framed.to_pylist(), 1):
        own = values[max(0, end - 9):end]
        assert (row["peak"], row["middle"], row["kinds"]) == (own.max(), np.median(own), len(set(own))), end
    window = sash.swag.open("daba_lite", sash.max())
    for value in values[:50]:
        window.insert(value)
    assert window.query() == values[:50].max()
about = [str(each.message) for each in said if "tested with Numba" in str(each.message)]
assert len(about) == 1, about
print(about[0])
"""


@pytest.mark.only_compiled
@pytest.mark.parametrize("lacking", sample(LACKING, ["a part of the compiler"]))
def test_kernels_are_right_without_the_parts_and_a_warning_says_so_once(
    lacking: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path))
    module, name, other = LACKING[lacking]
    program = PROGRAM.format(module=module, name=name, other=other)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("sash is tested with Numba 0.66 to 0.68")
    assert not list(tmp_path.rglob("*.kernel"))


def test_the_parts_are_used_with_a_tested_version() -> None:
    version = tuple(map(int, numba.__version__.split(".")[:2]))
    assert OLDEST <= version <= NEWEST and HAS_PARTS


@kernel
def _add_up(values: Any, others: Any, out: Any) -> None:
    for k in range(len(values)):
        out[k] = values[k] + others[k]
        out[k] = max(out[k], values[k]) - min(out[k], others[k])
        out[k] += values[k] * others[k]


@pytest.mark.only_compiled
def test_a_kernel_compiles_without_comparing_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba compares the options of the compiler at many lookups of types: half of its time for large kernels."""
    compared = 0
    equals = TargetConfig.__eq__

    def count(self: Any, other: object) -> Any:
        nonlocal compared
        compared += 1
        return equals(self, other)

    signature = "void(f8[::1], f8[::1], f8[::1])"
    for heap in (True, False):  # with other options first, so that the second kernel has something to compare with
        compile_kernel(_add_up.py_func, heap=heap).compile(signature)
    monkeypatch.setattr(TargetConfig, "__eq__", count)
    compile_kernel(_add_up.py_func, heap=False).compile(signature)
    assert not compared
