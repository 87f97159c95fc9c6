"""Digests: the same in every process for the same meaning, and never the same for two."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sash.algebra.digest import Undigestable, digest, digests
from tests.algebra.readings import UNKNOWN, made, module, reading, settings, triples

ROOT = Path(__file__).resolve().parents[2]
TRIPLES = [pytest.param(*three, id=name) for name, three in triples().items()]
LOAD = """
import json, pickle, sys
from sash.algebra.digest import digest
with open(sys.argv[1], "rb") as file:
    functions = pickle.load(file)
print(json.dumps({name: digest(pickle.loads(function)) for name, function in functions.items()}))
assert "tests.algebra.readings" not in sys.modules
"""


def run(seed: int, *arguments: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    ran = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=ROOT, check=True, capture_output=True, text=True
    )
    found: dict[str, str] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize(("one", "same", "other"), TRIPLES)
def test_functions_of_one_meaning_have_one_digest_and_others_another(one: Any, same: Any, other: Any) -> None:
    assert digest(one) == digest(same)
    assert digest(one) != digest(other)
    assert digests(one) == digests(same)
    assert digests(one) != digests(other)


def test_digests_are_the_same_in_every_process_and_after_a_journey(tmp_path: Path) -> None:
    here = {name: digest(three[0]) for name, three in triples().items()}
    sent = tmp_path / "functions"
    assert run(1, "-m", "tests.algebra.readings", str(sent)) == here
    arrived = run(3, "-c", LOAD, str(sent))
    assert {*here} - {*arrived} == {"cached function", "derived attribute"}  # Python cannot send these
    assert arrived == {name: here[name] for name in arrived}


@pytest.mark.parametrize("unknown", [pytest.param(make, id=name) for name, make in UNKNOWN.items()])
def test_what_cannot_be_known_is_refused(unknown: Any) -> None:
    with pytest.raises(Undigestable):
        digest(reading(unknown()))


def test_what_is_refused_is_named_by_the_way_to_it() -> None:
    inner = made("def f(x): return own.S.LOG, x", own=module(S=settings(1, LOG=sys.stdin)))
    with pytest.raises(Undigestable) as refused:
        digest(made("def f(x): return helper(x)", helper=inner))
    assert refused.value.path == "helper → own → S → Settings.LOG"
    assert refused.value.value is sys.stdin


def test_what_a_function_reads_is_digested_by_name() -> None:
    one, other = (made("f = lambda x, d=1: x + k + d + m.n", k=k, m=module(n=1)) for k in (1, 2))
    assert list(digests(one)) == ["", "d", "k", "m"]
    assert [name for name in digests(one) if digests(one)[name] != digests(other)[name]] == ["k"]


def test_modules_that_name_each_other_are_digested() -> None:
    a, b = module("a"), module("b")
    a.b, b.a = b, a  # type: ignore[attr-defined]
    first = digest(made("def f(x): return f(x - 1) if x else a.b.a.b", a=a))
    a.x = 1  # type: ignore[attr-defined]
    assert digest(made("def f(x): return f(x - 1) if x else a.b.a.b", a=a)) == first
    assert digest(made("def f(x): return f(x - 1) if x else a.b.a.x", a=a)) != first


def test_a_module_of_a_user_that_has_the_name_of_one_of_python_is_read(tmp_path: Path) -> None:
    script = (
        "import json, calendar\nfrom sash.algebra.digest import digest\nprint(json.dumps({'': digest(calendar.f)}))"
    )
    found = []
    for constant in (1, 2):
        (tmp_path / "calendar.py").write_text(f"k = {constant}\ndef f(x): return x + k\n")
        source = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nsys.dont_write_bytecode = True\n{script}"
        found.append(run(0, "-c", source)[""])
    assert found[0] != found[1]


def test_of_an_installed_package_code_and_constants_count_and_its_own_objects_do_not(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "parcel"
    package.mkdir(parents=True)
    source = (
        "import threading\nLOCK, SEEN, K = threading.Lock(), {{object(): {0}}}, {1}\n"
        "def f(x):\n    with LOCK:\n        return x + K + len(SEEN)\n"
    )
    script = (
        f"import sys, json\nsys.path.insert(0, {str(package.parent)!r})\nsys.dont_write_bytecode = True\n"
        "import parcel\nfrom sash.algebra.digest import digest\nprint(json.dumps({'': digest(parcel.f)}))"
    )
    found = []
    for numbers in ((1, 1), (2, 1), (1, 2)):
        (package / "__init__.py").write_text(source.format(*numbers))
        found.append(run(0, "-c", script)[""])
    assert found[0] == found[1] != found[2]


def test_long_chains_of_functions_are_digested() -> None:
    names = {f"g{k}": None for k in range(3000)}
    source = "\n".join(f"def g{k}(x): return g{k + 1}(x), g{(k * 7) % 3000}(x)" for k in range(2999))
    assert len(digest(made(f"{source}\ndef g2999(x): return x\nf = g0", **names))) == 32
