"""Digests tell functions of unlike meaning apart."""

import math
import os
import subprocess
import sys
import types
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from sash.algebra.digest import digest


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
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
