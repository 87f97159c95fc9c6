"""Every algorithm of the catalog, against the oracle: no test names one."""

import statistics
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.algebra.aggregate import Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid, lift
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm, query_each
from sash.swag.facts import Needs, Sizes
from sash.swag.loops import over_rows
from sash.swag.window_room import empty, kept, released, with_room
from tests.sample import sample
from tests.swag.monoids import TEMPLATES, Counter, bound

STEPPED = {name: each for name, each in ALGORITHMS.items() if each.facts.sizes is not Sizes.FIXED}
OVER_ARRAYS = {name: each for name, each in ALGORITHMS.items() if name not in STEPPED or each.has_step("scratch")}


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


@pytest.mark.parametrize("n", sample([1, 2, 7, 33, 64, 100], [1, 2, 7, 33]))
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
    assert held == partials == facts.space.partials_for(64)


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


# --- room ----------------------------------------------------------------------------------------


def cells_below(state: Any, cell: type) -> set[int]:
    """Return the identities of the linked cells that a state can reach."""
    seen: dict[int, Any] = {}
    todo = [state]
    while todo:
        each = todo.pop()
        if id(each) not in seen:
            seen[id(each)] = each
            todo += (
                each if isinstance(each, tuple | list) else [getattr(each, n) for n in getattr(each, "__slots__", ())]
            )
    return {key for key, each in seen.items() if isinstance(each, cell)}


def room_of(algorithm: Algorithm, monoid: Monoid, state: Any) -> tuple[int, int]:
    """Return how many partials and how many integers a state has room for, spare slots included."""
    if hasattr(algorithm.steps, "Cell"):
        return 2 * len(cells_below(state, algorithm.steps.Cell)), 0  # of a value and a sum
    if isinstance(state, list | np.ndarray):
        return 0, len(state)
    if len(state) == len(monoid.fields) and all(isinstance(each, list | np.ndarray) for each in state):
        return len(state[0]), 0
    partials, positions = zip(*(room_of(algorithm, monoid, part) for part in state), strict=True)
    return sum(partials), sum(positions)


def ordered_template(algorithm: Algorithm) -> str:
    return {Needs.INVERT: "turns", Needs.SELECTIVE: "latest"}.get(algorithm.facts.needs, "words")


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 64, 100])
@pytest.mark.parametrize("algorithm", STEPPED.values(), ids=STEPPED)
def test_a_window_has_the_room_that_the_facts_say(algorithm: Algorithm, n: int) -> None:
    monoid, steps, space = bound(ordered_template(algorithm), invertible=True), algorithm.steps, algorithm.facts.space
    state, rows = steps.start(monoid, n, ()), cycle([3, 1, 2])
    largest = (0, 0)
    for step in range(4 * n):
        if step >= n:
            steps.evict(monoid, state)
        steps.insert(monoid, state, lift(monoid, (next(rows),)))
        assert steps.count(state) <= steps.capacity(state)
        if step % 7 == 0 or n < 64:
            largest = max(largest, room_of(algorithm, monoid, state))
    least = max(n, 2)  # no tree has fewer than two leaves
    assert largest[0] <= space.partials_for(least)
    assert largest[1] <= space.positions_for(least)
    if n >= 64:  # the figures are not too high, either
        assert largest[0] >= 0.9 * space.partials_for(n)
        assert largest[1] >= 0.9 * space.positions_for(n)


@pytest.mark.parametrize("n", [2, 7, 64, 100])
@pytest.mark.parametrize(
    "algorithm", [each for each in STEPPED.values() if each.facts.ranges], ids=lambda each: each.name
)
def test_a_window_with_all_ranges_has_the_room_that_the_facts_say(algorithm: Algorithm, n: int) -> None:
    monoid, facts = bound(ordered_template(algorithm), invertible=True), algorithm.facts.all_ranges
    assert facts is not None
    partials, positions = room_of(algorithm, monoid, algorithm.steps.start(monoid, n, tuple(range(n, 0, -1))))
    assert partials <= facts.space.partials_for(n)
    assert positions <= facts.space.positions_for(n)


@pytest.mark.parametrize("algorithm", STEPPED.values(), ids=STEPPED)
def test_a_window_that_grows_by_itself_has_at_most_four_times_the_room(algorithm: Algorithm) -> None:
    monoid, steps = bound(ordered_template(algorithm), invertible=True), algorithm.steps
    space, state = algorithm.facts.space, empty(algorithm, monoid)
    for step in range(900):
        if step < 300 or step % 3 == 0:
            state = with_room(algorithm, monoid, state, 1)
            steps.insert(monoid, state, lift(monoid, (-step,)))
        elif steps.count(state):
            steps.evict(monoid, state)
        state = released(algorithm, monoid, state)
        # While a ring is replaced there are two, of which one has half of the room of the other.
        rows = max(16, 4 * kept(algorithm, state))
        if step % 7 == 0:
            assert room_of(algorithm, monoid, state)[0] <= 1.5 * space.partials_for(rows)


# --- over arrays ---------------------------------------------------------------------------------

SPREAD = {Needs.QUANTILE: ("median", sash.median()), Needs.VARIANCE: ("variance", sash.variance())}


def array_cases() -> list[Any]:
    return [
        pytest.param(algorithm, name, template, id=f"{algorithm.name}-{name}")
        for algorithm in OVER_ARRAYS.values()
        for name, template in (
            [SPREAD[algorithm.facts.needs]] if algorithm.facts.needs in SPREAD else list(TEMPLATES.items())
        )
    ]


def expected_of(name: str, window: list[int]) -> Any:
    """Return the result of a window by another way than an algorithm's."""
    if name == "median":
        return statistics.median(window)
    if name == "variance":
        return statistics.variance(window) if len(window) > 1 else None  # exact: of integers
    monoid = bound(name)
    folded = monoid.initial
    for value in window:
        folded = monoid.combine(folded, lift(monoid, (value,)))
    return monoid.outputs[0].read(folded)[0]


@pytest.mark.parametrize(("algorithm", "name", "template"), array_cases())
@settings(max_examples=20)
@given(values=st.lists(st.integers(-9, 9), max_size=60), size=st.integers(1, 70), every=st.integers(1, 5))
def test_over_arrays_agrees_with_the_oracle(
    algorithm: Algorithm, name: str, template: Template, values: list[int], size: int, every: int
) -> None:
    found = sash.swag.slide(values, size, template, every=every, algorithm=algorithm.name)
    expected = [expected_of(name, values[max(0, end - size) : end]) for end in range(every, len(values) + 1, every)]
    if name == "variance":
        assert [each is None for each in found] == [each is None for each in expected]
        found, expected = ([0 if each is None else each for each in some] for some in (found, expected))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:
        assert found == expected


def combines_over_rows(algorithm: Algorithm, template: Template, values: list[float], size: int) -> int:
    """Return how often an algorithm combines when it slides over an array."""
    counter = Counter(bind(template, (Column(Field("f8" if isinstance(values[0], float) else "i8")),)))
    outputs = counter.monoid.outputs
    results = tuple(each.result.empty(len(values), compiled=False) for each in outputs)
    presences = tuple([0] * len(values) for each in outputs if each.presence)
    over_rows(algorithm, counter.monoid, (values,), size, results, presences, 1)
    return counter.calls


@pytest.mark.parametrize("size", [1, 2, 40, 600])
@pytest.mark.parametrize(
    ("algorithm", "name", "template"), [case for case in array_cases() if case.values[1] in ("words", "variance")]
)
def test_combines_over_arrays_stay_within_the_facts(
    algorithm: Algorithm, name: str, template: Template, size: int
) -> None:
    facts, rows = algorithm.facts, 2000
    near: list[Any] = [float(k % 7) if name == "variance" else k for k in range(rows)]
    apart: list[Any] = [float(10 ** (k % 13)) if name == "variance" else k for k in range(rows)]
    costs = (facts.insert, facts.evict, facts.query)
    average, worst = sum(each.average.at(size) for each in costs), sum(each.worst.at(size) for each in costs)
    if size > 32 or facts.needs is not Needs.VARIANCE:
        assert combines_over_rows(algorithm, template, near, size) <= (average + 0.1) * rows
    assert combines_over_rows(algorithm, template, apart, size) <= (worst + 0.1) * rows


@pytest.mark.parametrize("n", [1, 40, 512, 513, 2000])
@pytest.mark.parametrize(
    "algorithm",
    [each for each in OVER_ARRAYS.values() if each.name not in STEPPED and each.has_step("scratch")],
    ids=lambda each: each.name,
)
def test_an_algorithm_of_fixed_windows_has_the_room_that_the_facts_say(algorithm: Algorithm, n: int) -> None:
    """PBA's room is that of its stream: tests/swag/test_pba_stream.py."""
    steps, space = algorithm.steps, algorithm.facts.space
    monoid = bind(SPREAD[algorithm.facts.needs][1], (Column(Field("f8")),))
    parts = steps.scratch(monoid, n)
    numbers = sum(len(each) for part in parts if isinstance(part, tuple) for each in part)
    if algorithm.has_step("unfinished"):  # another algorithm sweeps what this one leaves out
        numbers += sum(len(each) for part in steps.INSTEAD.steps.scratch(monoid, n) for each in part)
    assert numbers <= space.partials_for(n)
    assert sum(len(part) for part in parts if not isinstance(part, tuple)) <= space.positions_for(n)
