"""PBA as a stream: against folds one by one, with a helper and without, whatever the slide and the chunk."""

import threading
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.algebra.fields import Partial
from sash.algebra.monoid import Monoid, identity, lift
from sash.swag.pba import FACTS
from sash.swag.pba_stream import BoundaryStream, time_of_combine
from tests.swag.monoids import Counter, bound

ORDERED = ("words", "turns", "latest", "first")


def fold(monoid: Monoid, values: list[int]) -> Partial:
    folded = identity(monoid)
    for value in values:
        folded = monoid.combine(folded, lift(monoid, (value,)))
    return folded


def slices_of(monoid: Monoid, values: list[int], size: int, every: int) -> list[Partial]:
    """The slices that are complete, cut at the starts of windows."""
    edges = list(range(-size % every, len(values) + 1, every))
    if edges and edges[0]:
        edges.insert(0, 0)
    return [fold(monoid, values[a:b]) for a, b in pairwise(edges)]


def inserted(stream: BoundaryStream, before: int, values: list[int]) -> list[Any]:
    """Insert values and return the answers."""
    count = (before + len(values)) // stream.every - before // stream.every
    outputs = stream.aggregate.outputs
    results = tuple(each.result.empty(count, stream.aggregate.is_compiled) for each in outputs)
    presences = tuple([0] * count for each in outputs if each.presence)
    assert stream.insert((values,), (results, presences)) == count
    return list(results[0])


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, int, int | None]:
    size = draw(st.integers(1, 40))
    every = draw(st.integers(1, size))
    return size, every, draw(st.none() | st.integers(1, size // every))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", [*ORDERED, "sum"])
@settings(max_examples=40)
@given(
    shape=shapes(),
    batches=st.lists(st.lists(st.integers(-9, 9), max_size=40), min_size=1, max_size=8),
    piece=st.integers(1, 7),
)
def test_agrees_with_folds_and_keeps_its_invariants(
    name: str, threads: int, shape: tuple[int, int, int | None], batches: list[list[int]], piece: int
) -> None:
    monoid = bound(name)
    size, every, chunk = shape
    stream = BoundaryStream(monoid, size, every, chunk=chunk, threads=threads, handover=1, piece=piece)
    values: list[int] = []
    answers: list[Any] = []
    for number, batch in enumerate(batches):
        answers += inserted(stream, len(values), batch)
        values += batch
        if number % 3 == 1:  # otherwise the helper stays behind
            stream.check(slices_of(monoid, values, size, every))
    stream.close()
    ends = range(every, len(values) + 1, every)
    assert answers == [monoid.outputs[0].read(fold(monoid, values[max(0, end - size) : end]))[0] for end in ends]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 64, 301])
def test_space_and_combines_stay_within_the_facts(n: int) -> None:
    counter = Counter(bound("words"))
    stream = BoundaryStream(counter.monoid, n, threads=1)
    assert stream.partials <= FACTS.space.partials_for(n) == (3 * n + 13) / 2
    inserted(stream, 0, list(range(4 * n)))
    counter.calls = 0
    inserted(stream, 0, list(range(8 * n)))
    most = sum(cost.average.at(n) for cost in (FACTS.insert, FACTS.evict, FACTS.query))
    assert counter.calls / (8 * n) <= most


class Watched:
    """A monoid that says which threads combine; the caller's waits once, until the helper has begun."""

    def __init__(self, raises: bool = False) -> None:
        plain, self.calls, begun = bound("turns"), {"caller": 0, "helper": 0}, threading.Event()

        def combine(a: Any, b: Any) -> Any:
            if plain.initial not in (a, b):
                who = "caller" if threading.current_thread() is threading.main_thread() else "helper"
                self.calls[who] += 1
                if who == "helper":
                    begun.set()
                    if raises:
                        raise ArithmeticError("only on the helper")
                elif self.calls[who] == 700:  # some hundred rows after the first handover
                    assert begun.wait(60)
            return plain.combine(a, b)

        self.monoid = replace(plain, combine=combine)


def test_a_helper_combines_while_rows_arrive() -> None:
    watched = Watched()
    stream = BoundaryStream(watched.monoid, 256, handover=1, piece=16)
    values = list(range(1500))
    answers = inserted(stream, 0, values)
    stream.close()
    plain = bound("turns")
    assert answers[-1] == plain.outputs[0].read(fold(plain, values[-256:]))[0]
    assert min(watched.calls.values()) > 0


def test_short_chunks_are_not_handed_over() -> None:
    assert not BoundaryStream(bound("sum"), 1000).has_helper
    assert not BoundaryStream(bound("sum"), 1 << 15, threads=1).has_helper
    stream = BoundaryStream(bound("sum"), 1 << 15)
    assert stream.has_helper
    stream.close()


def test_an_error_of_the_helper_reaches_the_caller_and_the_helper_ends() -> None:
    stream = BoundaryStream(Watched(raises=True).monoid, 256, handover=1, piece=16)
    with pytest.raises(ArithmeticError, match="only on the helper"):
        inserted(stream, 0, list(range(1500)))
    stream.close()
    assert not [each for each in threading.enumerate() if each.name.startswith("sash-pba")]


def test_work_that_has_not_begun_is_done_by_the_caller() -> None:
    monoid = bound("words")
    stream = BoundaryStream(monoid, 20, handover=1, piece=3)
    blocked = threading.Event()
    stream._pool.submit(blocked.wait)  # type: ignore[union-attr]  # the helper begins nothing
    values = list(range(200))
    answers = inserted(stream, 0, values)
    blocked.set()
    stream.close()
    assert answers == [tuple(values[max(0, end - 20) : end]) for end in range(1, 201)]


def test_the_time_of_a_combine_is_measured() -> None:
    assert time_of_combine(bound("words"), (list(range(50)),)) >= 1
