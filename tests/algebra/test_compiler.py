"""Digests tell functions of unlike meaning apart; the cache of kernels serves, heals itself, and stays private."""

import hashlib
import math
import os
import stat
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra import aggregate, cache
from sash.algebra.aggregate import bind
from sash.algebra.cache import cache_directory
from sash.algebra.compiler import JIT_DISABLED
from sash.algebra.digest import digest
from sash.algebra.fields import Field
from sash.algebra.monoid import Column

ROOT = Path(__file__).resolve().parents[2]
compiled_only = pytest.mark.skipif(JIT_DISABLED, reason="NUMBA_DISABLE_JIT is set: nothing is compiled, nothing cached")


# --- digests -------------------------------------------------------------------------------------------


def made(source: str, **names: Any) -> Callable[..., Any]:
    """A function `f` from its text, in a module of its own."""
    exec(source, names)
    function: Callable[..., Any] = names["f"]
    return function


class Level(IntEnum):
    LOW = 1


class OtherLevel(IntEnum):
    LOW = 2


OtherLevel.__qualname__ = Level.__qualname__


def closing_over(value: Any) -> Callable[..., Any]:
    return lambda x: x + value


def module(**names: Any) -> types.ModuleType:
    own = types.ModuleType("own")
    own.__dict__.update(names)
    return own


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(made("f = lambda x: x + 1"), made("f = lambda x: x + 2"), id="constant"),
        pytest.param(made("f = lambda x: x + 1"), made("f = lambda x: x - 1"), id="code"),
        pytest.param(made("f = lambda x: x + 1"), made("f = lambda x: x + 1.0"), id="type of a constant"),
        pytest.param(made("f = lambda x: x * 0.0"), made("f = lambda x: x * -0.0"), id="sign of zero"),
        pytest.param(made("f = lambda x: x in {1, 2}"), made("f = lambda x: x in {1, 3}"), id="constant set"),
        pytest.param(made("f = lambda x: x + k", k=1), made("f = lambda x: x + k", k=2), id="global"),
        pytest.param(closing_over(1), closing_over(2), id="closure"),
        pytest.param(made("f = lambda x, k=1: x + k"), made("f = lambda x, k=2: x + k"), id="default"),
        pytest.param(made("f = lambda x, *, k=1: x + k"), made("f = lambda x, *, k=2: x + k"), id="keyword default"),
        pytest.param(
            made("def g(x): return x + 1\ndef f(x): return g(x)"),
            made("def g(x): return x + 2\ndef f(x): return g(x)"),
            id="helper",
        ),
        pytest.param(
            made("def h(x): return x\ndef g(x): return h(x)\ndef f(x): return g(x)"),
            made("def h(x): return -x\ndef g(x): return h(x)\ndef f(x): return g(x)"),
            id="helper of a helper",
        ),
        pytest.param(
            made("def f(x):\n    def g(y): return [z + k for z in y]\n    return g(x)", k=1),
            made("def f(x):\n    def g(y): return [z + k for z in y]\n    return g(x)", k=2),
            id="global of a nested function",
        ),
        pytest.param(
            made("def f(x):\n    def g(y): return [z + 1 for z in y]\n    return g(x)"),
            made("def f(x):\n    def g(y): return [z + 2 for z in y]\n    return g(x)"),
            id="constant of a nested function",
        ),
        pytest.param(
            made("f = lambda x: own.g(x)", own=module(g=made("f = lambda x: x + 1"))),
            made("f = lambda x: own.g(x)", own=module(g=made("f = lambda x: x + 2"))),
            id="function of a user's module",
        ),
        pytest.param(
            made("f = lambda x: own.k + x", own=module(k=1)),
            made("f = lambda x: own.k + x", own=module(k=2)),
            id="number of a user's module",
        ),
        pytest.param(
            made("f = lambda x: a[x]", a=np.array([1, 2])), made("f = lambda x: a[x]", a=np.array([1, 3])), id="array"
        ),
        pytest.param(
            made("f = lambda x: x + L.LOW", L=Level), made("f = lambda x: x + L.LOW", L=OtherLevel), id="enumeration"
        ),
        pytest.param(made("f = lambda x: m.sin(x)", m=math), made("f = lambda x: m.cos(x)", m=math), id="attribute"),
        pytest.param(made("f = lambda x: g(x)", g=np.sin), made("f = lambda x: g(x)", g=np.cos), id="ufunc"),
    ],
)
def test_functions_of_unlike_meaning_have_unlike_digests(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)
    assert digest(one) == digest(one)


def test_what_is_unknown_equals_nothing_not_even_itself() -> None:
    function = made("f = lambda x: thing", thing=object())
    assert digest(function) != digest(function)


def test_digests_survive_recursion_and_modules_that_name_each_other() -> None:
    a, b = module(), module()
    a.b, b.a = b, a  # type: ignore[attr-defined]
    assert digest(made("def f(x): return f(x - 1) if x else a.b.a.b", a=a))


def test_digests_are_the_same_in_every_process() -> None:
    script = (
        "import math, numpy as np\nfrom sash.algebra.digest import digest\nk = np.arange(3)\n"
        "print(digest(lambda x: math.log(x) + np.sum(k) + (x in {1, 'a', 2.5, None})))"
    )
    found = {run(script, {"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert len(found) == 1


# --- the cache -------------------------------------------------------------------------------------------

SLIDE = """
import sash
from sash.algebra.cache import cache_directory
from tests.algebra.templates import answers, bound, folded
print([value for value, _ in answers(bound(sash.max(), "i8", False, compiled=True), [[3, 1, 2]], 2)])
stats = [each.stats for each in folded._dispatchers.values()]
print(sum(sum(each.cache_hits.values()) for each in stats), sum(sum(each.cache_misses.values()) for each in stats))
print(cache_directory())
"""


def run(script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, **environment},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )


def slide(folder: Path | str) -> tuple[int, int]:
    """Slides in a process of its own: how many kernels came from the cache and how many were compiled."""
    lines = run(SLIDE, {"SASH_CACHE_DIR": str(folder)}).stdout.splitlines()
    assert lines[0] == "[3, 3, 2]"
    hits, misses = lines[1].split()
    return int(hits), int(misses)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that one process has filled."""
    folder = tmp_path_factory.mktemp("warm") / "kernels"
    assert slide(folder) == (0, 1)
    return folder


@pytest.fixture
def copied(warm: Path, tmp_path: Path) -> Path:
    """A private copy of a warm cache, to be spoilt."""
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    for entry in warm.iterdir():
        (folder / entry.name).write_bytes(entry.read_bytes())
        (folder / entry.name).chmod(0o600)
    return folder


@compiled_only
def test_a_second_process_loads_instead_of_compiling(warm: Path) -> None:
    entries = {entry.name: entry.stat().st_mtime_ns for entry in warm.iterdir()}
    assert len(entries) == 1
    assert slide(warm) == (1, 0)
    assert {entry.name: entry.stat().st_mtime_ns for entry in warm.iterdir()} == entries


@compiled_only
def test_the_cache_is_private_to_its_user(warm: Path) -> None:
    assert stat.S_IMODE(warm.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(entry.stat().st_mode) == 0o600 for entry in warm.iterdir())


@compiled_only
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda content: content[: len(content) // 2], id="truncated"),
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: content[:-1] + bytes([content[-1] ^ 1]), id="a bit flipped at the end"),
        pytest.param(lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:], id="a bit flipped"),
        pytest.param(lambda content: b"not a kernel", id="foreign"),
        pytest.param(
            lambda content: cache._MAGIC + hashlib.sha256(b"junk").digest() + b"junk",
            id="well-formed junk",
        ),
    ],
)
def test_a_spoilt_entry_is_compiled_anew_and_replaced(copied: Path, spoil: Callable[[bytes], bytes]) -> None:
    (entry,) = copied.iterdir()
    entry.write_bytes(spoil(entry.read_bytes()))
    assert slide(copied) == (0, 1)
    assert slide(copied) == (1, 0)
    assert len(list(copied.iterdir())) == 1


@compiled_only
def test_an_entry_that_others_could_have_written_is_not_run(copied: Path) -> None:
    (entry,) = copied.iterdir()
    entry.chmod(0o666)
    assert slide(copied) == (0, 1)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    if os.getuid() == 0:
        os.chown(entry, 12345, -1)
        assert slide(copied) == (0, 1)


@compiled_only
def test_nothing_is_kept_when_the_cache_is_off(tmp_path: Path) -> None:
    script = SLIDE + "assert cache_directory() is None\n"
    run(script, {"SASH_CACHE_DIR": "off", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
    assert not list(tmp_path.iterdir())


@compiled_only
def test_a_folder_that_cannot_be_written_costs_a_compilation_and_nothing_else(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert slide(blocked / "kernels") == (0, 1)


@pytest.fixture
def fresh() -> Iterator[None]:
    cache_directory.cache_clear()
    yield
    cache_directory.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_an_open_folder_is_made_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    assert cache_directory() == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.usefixtures("fresh")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_someone_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, -1)
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    assert cache_directory() is None


@pytest.mark.usefixtures("fresh")
def test_the_folder_is_under_the_users_own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SASH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "sash"
    assert stat.S_IMODE((tmp_path / "sash").stat().st_mode) == 0o700


def test_builtins_and_compiled_functions_serve_as_they_are() -> None:
    highest = sash.Aggregate("highest", state="i8", identity=-9, lift=int, combine=max)
    assert sash.swag.slide([3, 1, 2], 2, highest) == [3, 3, 2]


def test_equal_functions_of_two_modules_do_not_share_their_globals() -> None:
    source = "import math\nlift = lambda x: (math.sqrt(x),)\n"
    answers = []
    for _ in range(2):
        module: dict[str, Any] = {}
        exec(source, module)
        roots = sash.Aggregate(
            "roots", state=("f8",), identity=(0.0,), lift=module["lift"], combine=lambda a, b: (a[0] + b[0],)
        )
        answers.append(sash.swag.slide([4.0, 9.0], 2, roots))
        del module["math"]
    assert answers == [[2.0, 5.0], [2.0, 5.0]]


@compiled_only
def test_functions_that_were_understood_once_are_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(factor: float) -> sash.Aggregate:
        return sash.Aggregate(
            "steps", state="f8", identity=0.0, lift=lambda x: x * factor, combine=lambda a, b: a + b, lower=lambda a: -a
        )

    x, n = Column(Field("f8")), Column(Field("i8"))
    first = bind(steps(2.0), (x,))

    def asked(*given: Any) -> Any:
        raise AssertionError("the compiler was asked")

    monkeypatch.setattr(aggregate, "returned_fields", asked)
    assert bind(steps(2.0), (x,)).fields == first.fields
    for other, column in ((steps(3.0), x), (steps(2.0), n), (replace(steps(2.0), lower=abs), x)):
        with pytest.raises(AssertionError, match="asked"):
            bind(other, (column,))
