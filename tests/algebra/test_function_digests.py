"""A saved state goes on with the functions that made it, in any process; with others it is refused by name."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import pytest

import sash
from sash.errors import InvalidAggregate, InvalidState
from tests.algebra.readings import made, module, settings

ROOT = Path(__file__).resolve().parents[2]

READING = """
import datetime as dt, functools, operator, re, sys
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
import pyarrow.compute as pc
import sash

@dataclass
class Limits:
    low: int
    high: int

PATTERN, STEP, SPAN, ZONE = re.compile("a+"), Decimal("0.5"), dt.timedelta(hours=1), dt.timezone.utc
WORDS, LIMITS, PARTS = {"b", "a", "c"}, Limits(0, 9), functools.partial(max, 3)

@functools.lru_cache
def length(text):
    return len(text)

def lift(x):
    known = PATTERN, STEP, SPAN, ZONE, WORDS, LIMITS.low, range(3), dt.date(2024, 1, 1), operator.itemgetter(1), pc.add
    return PARTS(length(str(x)), len(known))

longest = sash.Aggregate("longest", state="O", identity=0, lift=lift, combine=max, result="i8")
queries = [sash.query("q", sash.tumbling(10), n=longest("x"))]
if sys.argv[1] == "save":
    stream = sash.Stream(queries, on="t")
    stream.push({"t": [1, 2], "x": [5, 123456789012345]})
    sys.stdout.buffer.write(stream.save())
else:
    stream = sash.Stream.restore(sys.stdin.buffer.read(), queries)
    print(stream.push({"t": [3], "x": [1]}, watermark=10).to_pylist())
"""


def run(seed: int, what: str, given: bytes = b"") -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    ran = subprocess.run(
        [sys.executable, "-c", READING, what], env=environment, input=given, check=True, capture_output=True
    )
    return ran.stdout


def test_a_state_goes_on_in_another_process_whatever_its_functions_read() -> None:
    assert b"'n': 15" in run(2, "restore", run(1, "save"))


def summing(lift: Any, name: str = "total") -> sash.Aggregate:
    return sash.Aggregate(name, state="f8", identity=0.0, lift=lift, combine=lambda a, b: a + b)


def asking(lift: Any) -> sash.Query:
    return sash.query("q", sash.tumbling(10), s=summing(lift)("x"))


COUNT = sash.query("n", sash.tumbling(10), n=sash.count())
ROWS = {"t": [1, 2], "x": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        pytest.param(*(made("f = lambda x: x * K", K=k) for k in (1, 2)), "K (read by lift)", id="global"),
        pytest.param(
            *(made("f = lambda x: x * own.K", own=module(K=k)) for k in (1, 2)), "own (read by lift)", id="module"
        ),
        pytest.param(*(made("f = lambda x, k=k: x * k", k=k) for k in (1, 2)), "k (read by lift)", id="default"),
        pytest.param(made("f = lambda x: x"), made("f = lambda x: -x"), "the code of lift", id="code"),
        pytest.param(
            *(made("def f(x): return g(x)\n@njit\ndef g(x): return x * K", K=k, njit=numba.njit) for k in (1, 2)),
            "g (read by lift)",
            id="helper",
        ),
    ],
)
@pytest.mark.parametrize("rest", [(), (COUNT,)], ids=["same queries", "one query gone"])
def test_a_changed_lift_is_refused_by_what_changed(one: Any, other: Any, said: str, rest: Any) -> None:
    stream = sash.Stream([asking(one), *rest], on="t")
    stream.push(ROWS)
    blob = stream.save()
    assert sash.Stream.restore(blob, [asking(one)]).push({}, watermark=10).num_rows == 1
    expected = f"Query 'q', s: the aggregate 'total' differs from the saved one. What changed: {said}."
    with pytest.raises(InvalidState, match=re.escape(expected)):
        sash.Stream.restore(blob, [asking(other)])


def test_a_changed_attribute_of_a_class_is_refused() -> None:
    def objects(factor: int) -> list[sash.Query]:
        lift = made("f = lambda x: x * Settings.FACTOR", Settings=settings(factor))
        own = sash.Aggregate("total", state="O", identity=0, lift=lift, combine=lambda a, b: a + b)
        return [sash.query("q", sash.tumbling(10), s=own("x"))]

    stream = sash.Stream(objects(1), on="t")
    stream.push(ROWS)
    assert sash.Stream.restore(stream.save(), objects(1)).push({}, watermark=10)["s"].to_pylist() == [3.0]
    with pytest.raises(InvalidState, match=r"What changed: Settings \(read by lift\)"):
        sash.Stream.restore(stream.save(), objects(2))


def test_another_lower_reads_the_same_state() -> None:
    plain = summing(made("f = lambda x: x"))("x")
    stream = sash.Stream([sash.query("q", sash.tumbling(10), s=plain)], on="t")
    stream.push(ROWS)
    twice = sash.query("q", sash.tumbling(10), s=replace(plain, lower=lambda a: 2 * a))
    assert sash.Stream.restore(stream.save(), [twice]).push({}, watermark=10)["s"].to_pylist() == [6.0]


@pytest.mark.parametrize(
    ("lift", "said"),
    [
        (made("f = lambda x: (LOCK, x)[1]", LOCK=threading.Lock()), "lift reads LOCK (of type _thread.lock)"),
        (made("def f(x): return g(x)\ndef g(x): return (FILE, x)[1]", FILE=sys.stdin), "lift reads g → FILE (of type "),
        (made("f = lambda x: next(ROWS)", ROWS=(x for x in [1])), "lift reads ROWS (of type generator)"),
    ],
)
def test_what_cannot_be_compared_is_refused_while_planning(lift: Any, said: str) -> None:
    own = sash.Aggregate("mine", state="O", identity=0, lift=lift, combine=max)
    planned: list[Callable[[], Any]] = [
        lambda: sash.explain(ROWS, [sash.query("q", sash.tumbling(10), m=own("x"))], on="t"),
        lambda: sash.swag.slide([1, 2], 2, own),
        lambda: sash.rolling(ROWS, on="t", rows=2, m=own("x")),
    ]
    for refused in planned:
        with pytest.raises(InvalidAggregate, match=re.escape(f"Aggregate 'mine': {said}")):
            refused()


def test_an_identity_or_a_lower_that_cannot_be_compared_is_refused() -> None:
    own = sash.Aggregate("mine", state="O", identity=threading.Lock(), lift=abs, combine=max)
    with pytest.raises(InvalidAggregate, match=r"'mine': identity is or holds an object \(of type _thread\.lock"):
        sash.swag.slide([1], 1, own)
    lower = made("f = lambda p: (LOCK, p)[1]", LOCK=threading.Lock())
    with pytest.raises(InvalidAggregate, match="'mine': lower reads LOCK"):
        sash.swag.slide([1], 1, replace(own, identity=0, lower=lower))


def test_an_aggregate_that_is_sent_away_keeps_its_meaning_though_its_functions_remember() -> None:
    seen: dict[float, float] = {}
    own = summing(made("f = lambda x: seen.setdefault(x, x)", seen=seen)).seal()
    before = own.meanings
    seen[1.0] = 1.0
    assert own.meanings == before != replace(own).meanings
    assert replace(own).seal() == own
