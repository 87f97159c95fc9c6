"""Every algorithm of the catalog, against the oracle: no test names one."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.algebra.monoid import lift
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm, Sizes, query_each
from tests.swag.monoids import TEMPLATES, Counter, bound

STEPPED = {name: each for name, each in ALGORITHMS.items() if each.facts.sizes is not Sizes.FIXED}


def pairs(algorithms: dict[str, Algorithm], admitted: bool = True) -> list[Any]:
    return [
        pytest.param(algorithm, name, id=f"{algorithm.name}-{name}")
        for algorithm in algorithms.values()
        for name, template in TEMPLATES.items()
        if algorithm.admits(template.invertible, template.selective) is admitted
    ]


@st.composite
def histories(draw: st.DrawFn, most: int = 120) -> list[tuple[str, int]]:
    """Inserts, evicts and queries in phases that fill, hold, shrink and drain the window."""
    steps: list[tuple[str, int]] = []
    size = 0
    for phase in draw(st.lists(st.sampled_from(["fill", "hold", "shrink", "drain"]), min_size=1, max_size=6)):
        for _ in range(size if phase == "drain" else draw(st.integers(1, most // 6))):
            if phase == "fill" or (phase == "hold" and size == 0):
                steps.append(("insert", draw(st.integers(-9, 9))))
                size += 1
            elif phase == "hold":
                steps += [("evict", 0), ("insert", draw(st.integers(-9, 9)))]
            elif size:
                steps.append(("evict", 0))
                size -= 1
            if draw(st.integers(0, 3)):  # some steps are not asked about
                steps.append(("query", 0))
    return steps


@pytest.mark.parametrize(("algorithm", "aggregate"), pairs(STEPPED))
@settings(max_examples=25)
@given(history=histories())
def test_agrees_with_the_oracle_keeps_its_invariants_and_its_bounds(
    algorithm: Algorithm, aggregate: str, history: list[tuple[str, int]]
) -> None:
    counter = Counter(bound(aggregate, invertible=True))
    monoid, steps, facts = counter.monoid, algorithm.steps, algorithm.facts
    state = steps.start(monoid, 4, ())
    window: list[Any] = []
    for verb, value in history:
        before, counter.calls = len(window), 0
        if verb == "insert":
            partial = lift(monoid, (value,))
            if len(window) == steps.capacity(state):
                state = steps.resize(monoid, state, 2 * len(window))
                counter.calls = 0  # growing is paid for by the inserts that filled it
            steps.insert(monoid, state, partial)
            window.append(partial)
            assert counter.calls <= facts.insert.worst.at(before + 1)
        elif verb == "evict":
            steps.evict(monoid, state)
            window.pop(0)
            assert counter.calls <= facts.evict.worst.at(before)
        else:
            answer = steps.query(monoid, state)
            assert counter.calls <= facts.query.worst.at(before)
            expected = monoid.initial
            for partial in window:
                expected = monoid.combine(expected, partial)
            assert answer == expected
        assert steps.count(state) == len(window)
        steps.check(monoid, state, window)
        assert steps.fault(monoid, steps.save(monoid, state) if algorithm.has_step("save") else state) is None


@pytest.mark.parametrize("n", [1, 2, 7, 64, 300])
@pytest.mark.parametrize(
    ("algorithm", "aggregate"), [p for p in pairs(STEPPED) if p.values[1] in ("words", "turns", "latest")]
)
def test_average_combines_per_slide_stay_within_the_facts(algorithm: Algorithm, aggregate: str, n: int) -> None:
    counter = Counter(bound(aggregate, invertible=True))
    monoid, steps, facts = counter.monoid, algorithm.steps, algorithm.facts
    state = steps.start(monoid, n, ())
    for value in range(n):
        steps.insert(monoid, state, lift(monoid, (value,)))
    steps.query(monoid, state)
    counter.calls = 0
    slides = 4 * n
    for value in range(slides):
        steps.evict(monoid, state)
        steps.insert(monoid, state, lift(monoid, (value,)))
        steps.query(monoid, state)
    expected = sum(cost.average.at(n) for cost in (facts.insert, facts.evict, facts.query))
    assert counter.calls / slides <= expected + 0.05 + 1 / n  # a run does not end with a cycle


@pytest.mark.parametrize(("algorithm", "aggregate"), [p for p in pairs(STEPPED) if p.values[0].facts.ranges])
@settings(max_examples=15)
@given(history=histories(), data=st.data())
def test_answers_every_suffix(
    algorithm: Algorithm, aggregate: str, history: list[tuple[str, int]], data: st.DataObject
) -> None:
    monoid, steps = bound(aggregate, invertible=True), algorithm.steps
    largest = sum(verb == "insert" for verb, _ in history) + 1
    state = steps.start(monoid, largest, tuple(range(largest, 0, -1)))
    window: list[Any] = []
    for verb, value in history:
        if verb == "insert":
            window.append(lift(monoid, (value,)))
            steps.insert(monoid, state, window[-1])
        elif verb == "evict":
            steps.evict(monoid, state)
            window.pop(0)
        elif window:
            counts = sorted(data.draw(st.sets(st.integers(1, len(window)), max_size=4)), reverse=True)
            answers = monoid.allocate(len(counts))
            query_each(algorithm, monoid, state, counts, answers)
            for place, count in enumerate(counts):
                expected = monoid.initial
                for partial in window[-count:]:
                    expected = monoid.combine(expected, partial)
                assert tuple(field[place] for field in answers) == expected
                assert steps.query_last(monoid, state, count) == expected
            steps.check(monoid, state, window)
            assert steps.fault(monoid, state) is None
