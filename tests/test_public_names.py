"""Every public name says what it is, shows how it is used, and tells its types."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sash
from sash import spark

MODULES = {"sash": sash, "sash.swag": sash.swag, "sash.laws": sash.laws, "sash.spark": spark}
CLASSES: list[type] = [
    *(sash.Stream, sash.swag.Window, sash.Query),
    *(sash.ContextFreeWindow, sash.ForwardFreeWindow, sash.MarkedWindow, sash.ContextAwareWindow),
]
# Their examples are those of the functions that make them, or need a Spark session and stand in docs/streaming.md.
SHOWN_ELSEWHERE = {"sash.spark.Progress": "progress", "sash.spark.CheckpointState": "state"}


def named() -> Iterator[tuple[str, Any]]:
    for path, module in MODULES.items():
        for name in module.__all__:
            yield f"{path}.{name}", getattr(module, name)


def methods() -> Iterator[tuple[str, Any]]:
    for kind in CLASSES:
        for name, each in inspect.getmembers(kind):
            plain = each.fget if isinstance(each, property) else each
            if not name.startswith("_") and inspect.isroutine(plain):
                yield f"{kind.__name__}.{name}", plain


PUBLIC = {path: each for path, each in named() if inspect.isroutine(each) or inspect.isclass(each)}
METHODS = dict(methods())


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_name_says_what_it_is_in_one_sentence(path: str) -> None:
    first = (PUBLIC[path].__doc__ or "").partition("\n\n")[0].strip()
    assert first and first.endswith((".", ":")), f"{path}: {first!r}"


@pytest.mark.parametrize("path", [each for each in PUBLIC if each not in SHOWN_ELSEWHERE and "spark" not in each])
def test_a_public_name_shows_how_it_is_used(path: str) -> None:
    assert ">>> " in (PUBLIC[path].__doc__ or ""), path


@pytest.mark.parametrize(("path", "maker"), SHOWN_ELSEWHERE.items())
def test_what_is_shown_elsewhere_is_made_there(path: str, maker: str) -> None:
    made = inspect.signature(getattr(MODULES[path.rpartition(".")[0]], maker)).return_annotation
    assert path.rpartition(".")[2] in str(made)


@pytest.mark.parametrize("path", MODULES)
def test_a_public_module_says_what_it_is_for(path: str) -> None:
    module: ModuleType = MODULES[path]
    assert module.__doc__ and module.__doc__.partition("\n")[0].endswith((".", ":"))
    assert module in (sash, spark) or ">>> " in module.__doc__


def test_methods_say_what_they_do() -> None:
    silent = [path for path, each in METHODS.items() if not inspect.getdoc(each)]
    assert silent == []


@pytest.mark.parametrize("path", [*PUBLIC, *METHODS])
def test_public_functions_tell_all_their_types(path: str) -> None:
    function = PUBLIC.get(path, METHODS.get(path))
    assert function is not None
    is_class = inspect.isclass(function)
    signature = inspect.signature(function.__init__ if is_class else function)
    for name, each in signature.parameters.items():
        is_bound = name in ("self", "cls") or function is sash.SashError  # of which Python tells no types
        assert is_bound or each.annotation is not each.empty, f"{path}: {name}"
    assert is_class or signature.return_annotation is not signature.empty, path


# --- a user's program, under a strict type checker -----------------------------------------------------------

PROGRAM = """
import math

import sash

hourly = sash.query("hourly", sash.sliding("1 hour", every="1 minute"), peak=sash.max("load"), n=sash.count())
stream = sash.Stream([hourly], on="ts", by="plug", watermark="10 seconds")
stream.push({"ts": [1], "plug": ["a"], "load": [0.5]})
blob = stream.save()
again = sash.Stream.restore(blob, hourly)
peaks = sash.aggregate({"ts": [1], "load": [0.5]}, hourly, on="ts")
frames = sash.rolling({"ts": [1], "load": [0.5]}, on="ts", rows=3, mean=sash.mean("load"))
told = sash.sql("SELECT MAX(load) AS peak FROM t [RANGE 10 SLIDE 10]", t={"ts": [1], "load": [0.5]}, on="ts")
window = sash.swag.open("daba_lite", sash.max())
window.insert_many([3, 1, 2])
window.evict()
geometric = sash.Aggregate(
    "geometric",
    state=("i8", "f8"),
    identity=(0, 0.0),
    lift=lambda x: (1, math.log(x)),
    combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    lower=lambda p: math.exp(p[1] / p[0]),
)
registered = sash.register(geometric)
broken = sash.laws.associative(geometric)


class Tens(sash.ContextFreeWindow):
    def next_edge(self, position: int) -> int:
        return position // 10 * 10 + 10

    def ended(self, after: int, until: int) -> list[tuple[int, int]]:
        return [(end - 10, end) for end in range(10, until + 1, 10) if end > after]


own = sash.query("own", Tens(), v=geometric("load"))
reveal_type(hourly)
reveal_type(hourly.window)
reveal_type(stream)
reveal_type(blob)
reveal_type(again)
reveal_type(stream.late_count)
reveal_type(window)
reveal_type(len(window))
reveal_type(geometric("load"))
reveal_type(registered)
reveal_type(sash.max("load"))
reveal_type(sash.swag.explain(sash.max(), 10))
reveal_type(sash.windowed(hourly, on="ts"))
reveal_type(broken)
"""
TYPES = [
    "Query",
    "Window",
    "Stream",
    "bytes",
    "Stream",
    "int",
    "Window",
    "int",
    "Aggregate",
    "Aggregate",
    "Template",
    "Explanation",
    "SameKind[[]]",
    "Counterexample | None",
]
WRONG = """
import sash

sash.query("q", sash.tumbling(10), sash.max("x"))
sash.query("q", "10 minutes", peak=sash.max("x"))
sash.query("q", sash.tumbling(10), peak="max(x)")
sash.Stream(5, on="t")
sash.Stream(sash.query("q", sash.tumbling(10), n=sash.count()))
sash.tumbling("1 hour", ofset="1 minute")
sash.swag.open(sash.max(), "daba")
"""


def checked(folder: Path, text: str) -> list[str]:
    """What `mypy --strict` says of a program; outside the project, so as a user has it."""
    (folder / "program.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder.parent / "types"), "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_package_says_that_it_is_typed() -> None:
    assert files("sash").joinpath("py.typed").is_file()


@pytest.mark.long
def test_a_users_program_is_clean_and_knows_its_types(tmp_path: Path) -> None:
    said = checked(tmp_path, PROGRAM)
    assert [line for line in said if "error:" in line] == []
    revealed = [line.partition('Revealed type is "')[2].rstrip('"') for line in said if "Revealed" in line]
    short = [re.sub(r"(\w+\.)+", "", each).replace("?", "") for each in revealed]
    assert short == TYPES


@pytest.mark.long
def test_a_users_mistake_is_seen_before_it_runs(tmp_path: Path) -> None:
    said = checked(tmp_path, WRONG)
    lines = {int(line.split(":")[1]) for line in said if "error:" in line}
    assert lines == set(range(4, 4 + WRONG.count("\nsash."))), said
