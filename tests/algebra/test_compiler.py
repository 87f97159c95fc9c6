"""Functions serve compiled as they do interpreted, and the compiler is asked once about each."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra import aggregate
from sash.algebra.aggregate import bind
from sash.algebra.cache import KernelCache
from sash.algebra.compiler import JIT_DISABLED, kernel, on_compile
from sash.algebra.fields import Field
from sash.algebra.monoid import Column

pytestmark = pytest.mark.compiled

compiled_only = pytest.mark.skipif(JIT_DISABLED, reason="NUMBA_DISABLE_JIT is set: nothing is compiled, nothing cached")


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


@kernel
def twice(values: Any) -> None:
    values *= 2


@compiled_only
def test_observers_see_each_kernel_that_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KernelCache, "load_overload", lambda *_: None)
    seen: list[tuple[str, bool]] = []
    on_compile.append(lambda name, seconds: seen.append((name, seconds is not None and seconds > 0)))
    try:
        for _ in range(2):
            twice(np.ones(3))
    finally:
        on_compile.pop()
    assert seen == [("twice", False), ("twice", True)]


@compiled_only
def test_an_observer_that_leaves_does_not_hide_a_kernel_from_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KernelCache, "load_overload", lambda *_: None)
    seen: list[str] = []

    def once(_name: str, _seconds: float | None) -> None:
        on_compile.remove(once)

    def always(name: str, seconds: float | None) -> None:
        seen.append(f"{name} {'begins' if seconds is None else 'ends'}")

    on_compile[:0] = [once, always]
    try:
        twice(np.ones(3, np.float32))
    finally:
        on_compile.remove(always)
    assert seen == ["twice begins", "twice ends"] and once not in on_compile
