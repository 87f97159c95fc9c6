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


def count_all_ranges(algorithm: Algorithm, aggregate: str, n: int, values: list[int]) -> tuple[list[int], Any]:
    """Query all ranges from 1 to n at every slide; return the combines of each slide, and the state."""
    counter = Counter(bound(aggregate, invertible=True))
    monoid, steps = counter.monoid, algorithm.steps
    counts, answers = list(range(n, 0, -1)), monoid.allocate(n)
    state = steps.start(monoid, n, tuple(counts))
    for value in values[:n]:
        steps.insert(monoid, state, lift(monoid, (value,)))
    query_each(algorithm, monoid, state, counts, answers)
    calls = []
    for value in values[n:]:
        counter.calls = 0
        steps.evict(monoid, state)
        steps.insert(monoid, state, lift(monoid, (value,)))
        query_each(algorithm, monoid, state, counts, answers)
        calls.append(counter.calls)
    return calls, state


@pytest.mark.parametrize("n", [1, 2, 7, 64, 100])
@pytest.mark.parametrize(
    ("algorithm", "aggregate"),
    [p for p in pairs(STEPPED) if p.values[0].facts.ranges and p.values[1] in ("turns", "latest")],
)
def test_combines_of_all_ranges_stay_within_the_facts(algorithm: Algorithm, aggregate: str, n: int) -> None:
    facts = algorithm.facts.all_ranges
    assert facts is not None
    ascending = [2 * k for k in range(5 * n)]
    descending = [-2 * (k % (2 * n)) for k in range(5 * n)]
    scattered = [7919 * k % 9973 for k in range(5 * n)]
    for values in (ascending, descending, scattered):
        calls, _ = count_all_ranges(algorithm, aggregate, n, values)
        assert max(calls) <= facts.slide.worst.at(n)
        assert sum(calls) / len(calls) <= facts.slide.average.at(n) + 0.05 + 1 / n


@pytest.mark.parametrize(
    ("name", "aggregate", "combines", "partials"),
    [
        ("recalculate", "latest", 64 * 63 // 2, 64),  # Naive: the paper says n² and n
        ("flat_fit", "latest", 63, 64),  # n, and 2 n with the skips
        ("flat_fat", "latest", 64, 128),  # n log n and 2 n; here suffixes are folded one from the other
        ("b_int", "latest", 64, 128),  # the same
        ("slick_deque_inv", "turns", 128, 128),  # 2 n and 2 n
        ("slick_deque", "latest", 2, 64),  # 2 to 2 n operations, of which fewer than 2 are combines
    ],
)
def test_all_ranges_cost_what_the_table_of_slick_deque_says(
    name: str, aggregate: str, combines: int, partials: int
) -> None:
    """Table 1 of Shein, Chrysanthis, Labrinidis (EDBT 2018), multi-query columns, for n = 64."""
    facts = ALGORITHMS[name].facts.all_ranges
    assert facts is not None
    calls, state = count_all_ranges(ALGORITHMS[name], aggregate, 64, [7919 * k % 9973 for k in range(640)])
    assert sum(calls) / len(calls) == pytest.approx(combines, abs=0.2 if combines < 64 else 12)
    held = sum(len(part[0]) for part in state if isinstance(part, tuple))
    assert held == partials == facts.space.at(64)


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
