"""Many queries over shared slices, against a plain loop over each window; and how many combines they share."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.algebra.aggregate import Template
from sash.algebra.compiler import JIT_DISABLED
from sash.algebra.monoid import lift
from sash.errors import InvalidInput, UnknownName, UnsupportedAggregate
from sash.swag import running_answers
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm
from sash.swag.shared_plan import SLICES, share
from sash.swag.slide_many import run_plan, work_of
from tests.sample import in_long
from tests.swag.monoids import TEMPLATES, Counter, bound

MANY = [each for each in ALGORITHMS.values() if each.facts.ranges]
QUERIES = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 12)), min_size=1, max_size=5)
EXAMPLE = [(10, 3), (6, 2), (8, 4), (1, 1), (10, 4), (3, 7), (500, 6)]


def expected(values: list[int], queries: list[tuple[int, int]], template: Template) -> list[list[Any]]:
    """Fold each window by itself, oldest value first."""
    monoid = replace(bound_of(template), is_compiled=False)
    answers = []
    for size, slide in queries:
        column = []
        for end in range(slide, len(values) + 1, slide):
            partial = monoid.initial
            for value in values[max(0, end - size) : end]:
                partial = monoid.combine(partial, monoid.lift((value,)))
            column.append(monoid.outputs[0].read(partial)[0])
        answers.append(column)
    return answers


def bound_of(template: Template) -> Any:
    return bound(next(name for name, each in TEMPLATES.items() if each is template))


def pairs(names: list[str]) -> list[Any]:
    return [
        pytest.param(algorithm, name, id=f"{algorithm.name}-{name}")
        for algorithm in MANY
        for name in names
        if algorithm.admits(TEMPLATES[name].invertible, TEMPLATES[name].selective)
    ]


@pytest.mark.parametrize(("algorithm", "name"), pairs(list(TEMPLATES)))
@settings(max_examples=15)
@given(values=st.lists(st.integers(-9, 9), max_size=45), queries=QUERIES, slices=st.sampled_from(sorted(SLICES)))
def test_queries_that_share_slices_agree_with_a_plain_loop(
    algorithm: Algorithm, name: str, values: list[int], queries: list[tuple[int, int]], slices: str
) -> None:
    template = TEMPLATES[name]
    answers = sash.swag.slide_many(values, queries, template, slices=slices, algorithm=algorithm.name)
    assert answers == expected(values, queries, template)


@pytest.mark.compiled
@pytest.mark.parametrize(("algorithm", "name"), [*pairs(["turns"]), *in_long(pairs(["latest"]))])
def test_ordered_functions_agree_compiled(algorithm: Algorithm, name: str) -> None:
    random = np.random.default_rng(3)
    for rows in (0, 1, 7, 100):
        values = random.integers(-9, 10, rows)
        for slices in SLICES:
            answers = sash.swag.slide_many(values, EXAMPLE, TEMPLATES[name], slices=slices, algorithm=algorithm.name)
            assert [each.tolist() for each in answers] == expected(values.tolist(), EXAMPLE, TEMPLATES[name])


def test_the_automatic_choice_slides_any_aggregate() -> None:
    words = ["b", "d", "a", "c"]
    assert sash.swag.slide_many(words, [(2, 1), (3, 2)], sash.max()) == [["b", "d", "d", "c"], ["d", "d"]]
    both = {"low": sash.min(), "mean": sash.mean()}
    found = sash.swag.slide_many([3, 1, 2, 6], [(2, 2)], both)
    assert found == [{"low": [1, 2], "mean": [2.0, 4.0]}]
    joined = sash.swag.slide_many([1, 2, 3], [(2, 1)], TEMPLATES["words"])
    assert joined == [[(1,), (1, 2), (2, 3)]]


@pytest.mark.parametrize(
    ("values", "aggregate", "algorithm"),
    [
        ([1.5, 2.5], sash.max(), "slick_deque"),
        ([1, 2], sash.sum(), "slick_deque_inv"),
        ([1.5, 2.5], sash.sum(), "flat_fit"),
        ([1, 2], TEMPLATES["words"], "flat_fit"),
        ([1, 2], {"low": sash.min(), "high": sash.max()}, "flat_fit"),
    ],
)
def test_the_automatic_choice_is_the_fastest_finisher(values: list[Any], aggregate: Any, algorithm: str) -> None:
    assert work_of(values, aggregate, "auto", (2,)).algorithm.name == algorithm


def test_results_are_of_the_kind_of_the_values() -> None:
    column = pa.array([3, None, 2])
    largest, latest = sash.swag.slide_many(column, [(3, 1), (1, 1)], sash.max(), min_samples=1)
    assert largest.to_pylist() == [3, 3, 3] and latest.to_pylist() == [3, None, 2]
    held_back = sash.swag.slide_many(column, [(3, 1)], sash.max(), min_samples=2)[0]
    assert held_back.to_pylist() == [None, None, 3]


@pytest.mark.parametrize("kind", ["sum", "max"])
def test_many_queries_agree_with_one_slide_for_each(kind: str) -> None:
    values = np.random.default_rng(5).integers(-99, 99, 400 if JIT_DISABLED else 5000).astype(np.float64)
    queries = [(60, 7), (1, 1), (129, 30), (10**30, 11), (33, 10**30)]
    template = TEMPLATES[kind]
    for slices in SLICES:
        answers = sash.swag.slide_many(values, queries, template, slices=slices)
        for (size, slide), answer in zip(queries, answers, strict=True):
            np.testing.assert_array_equal(answer, sash.swag.slide(values, size, template, every=slide))


def test_an_outlier_leaves_the_running_answers_with_its_slice() -> None:
    values = np.array([1.0, 1e300, float("nan"), float("inf"), *[2.0] * 12])
    queries = [(4, 2), (1, 1)]
    whole, single = sash.swag.slide_many(values, queries, sash.sum(), slices="cutty", algorithm="slick_deque")
    assert whole[-3:].tolist() == [8.0, 8.0, 8.0] and single[-2:].tolist() == [2.0, 2.0]


def test_queries_that_are_not_pairs_are_refused() -> None:
    for wrong in ([], 3, "ab", [(1, 2, 3)], [4]):
        with pytest.raises(InvalidInput, match=r"pairs \(range, slide\)"):
            sash.swag.slide_many([1], wrong, sash.max())  # type: ignore[arg-type]
    for query in ((0, 1), (1, 0), (1.5, 1), (True, 1)):
        with pytest.raises(InvalidInput, match="whole number of at least 1"):
            sash.swag.slide_many([1], [query], sash.max())  # type: ignore[list-item]


def test_what_slick_deque_cannot_slide_is_refused() -> None:
    with pytest.raises(UnsupportedAggregate, match="words"):
        sash.swag.slide_many([1], [(1, 1)], TEMPLATES["words"], algorithm="slick_deque")
    with pytest.raises(UnsupportedAggregate, match="invert"):
        sash.swag.slide_many([1], [(1, 1)], sash.max(), algorithm="slick_deque_inv")
    with pytest.raises(UnsupportedAggregate, match=r"one range per pass.*slick_deque"):
        sash.swag.slide_many([1], [(1, 1)], sash.max(), algorithm="daba_lite")
    with pytest.raises(UnknownName, match="cutty, pairs, panes"):
        sash.swag.slide_many([1], [(1, 1)], sash.max(), slices="rows")
    with pytest.raises(UnknownName, match="algorithm"):
        sash.swag.slide_many([1], [(1, 1)], sash.max(), algorithm="none")


# --- combines ------------------------------------------------------------------------------------


def combines(name: str, algorithm: str, queries: list[tuple[int, int]], slices: str, rows: int) -> tuple[int, Any]:
    counter = Counter(bound(name, invertible=True))
    plan = share(queries, slices, rows)
    answers = sum(rows // slide for _, slide in queries)
    starts = np.cumsum([0, *(rows // slide for _, slide in queries)])[:-1]
    out = ([None] * answers,), ()
    run_plan(ALGORITHMS[algorithm], counter.monoid, ([7919 * k % 9973 for k in range(rows)],), plan, starts, out)
    return counter.calls, plan


@pytest.mark.parametrize("slices", ["panes", "pairs"])
def test_each_slice_is_visited_once_for_all_queries(slices: str) -> None:
    rows = 1200
    calls, plan = combines("latest", "slick_deque", EXAMPLE[:-1], slices, rows)
    made = rows // plan.length * plan.slices
    # A slice of k rows takes k - 1 combines. SlickDeque takes less than two per slice, however many queries there are.
    assert calls - (rows - made) < 2 * made


def test_an_answer_with_an_inverse_takes_two_combines_per_slice_and_range() -> None:
    rows, queries = 1200, [(10, 3), (10, 5), (20, 3), (20, 1)]
    calls, plan = combines("turns", "slick_deque_inv", queries, "pairs", rows)
    made = rows // plan.length * plan.slices
    assert len(plan.sizes) == 2  # queries of one range share its answer, whatever their slides
    assert (2 * 2 - 0.1) * made < calls - (rows - made) <= 2 * 2 * made


def test_a_read_of_the_open_slice_takes_one_combine() -> None:
    rows, queries = 1200, [(10, 4)]
    calls, plan = combines("latest", "slick_deque", queries, "cutty", rows)
    made = rows // plan.length * plan.slices
    assert plan.slices == 1
    assert calls - (rows - made) < 2 * made + rows // 4


def test_running_answers_keep_their_invariants() -> None:
    counter = Counter(bound("turns", invertible=True))
    monoid = counter.monoid
    window: list[Any] = []
    state = running_answers.start(monoid, 8, (8, 5, 2))
    answers = monoid.allocate(3)
    for row in range(60):
        if len(window) == 8:
            running_answers.evict(monoid, state)
            window.pop(0)
            running_answers.check(monoid, state, window)
        window.append(lift(monoid, (row * 7 % 11,)))
        running_answers.insert(monoid, state, window[-1])
        running_answers.check(monoid, state, window)
        counts = [min(each, len(window)) for each in (8 - row % 2, 5 - row % 2, row % 2)]
        running_answers.query_ranges(monoid, state, [0, 1, 2], counts, answers)
        running_answers.check(monoid, state, window)
        for place, count in enumerate(counts):
            folded = monoid.initial
            for partial in window[len(window) - count :]:
                folded = monoid.combine(folded, partial)
            assert tuple(field[place] for field in answers) == folded
