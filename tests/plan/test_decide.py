"""Every branch of the decision trees: a choice, and a reason that says why."""

import math
from typing import Any

import pytest

from sash.limits import LIMITS
from sash.plan.decide import Removal, Traits, choose_fold, keeps_rows, needs_splits, removes_rows, uses_tree
from sash.windows.window import Context

GRID = Traits(Context.FREE)
ORDERED = Traits(Context.FREE, commutative=False)
SESSION = Traits(Context.FORWARD_FREE, is_session=True)
ORDERED_SESSION = Traits(Context.FORWARD_FREE, is_session=True, commutative=False)
PUNCTUATED = Traits(Context.FORWARD_FREE)
COUNT = Traits(Context.FREE, by_count=True)
COUNT_INVERTIBLE = Traits(Context.FREE, by_count=True, invertible=True)
LAST_ROWS = Traits(Context.FORWARD_AWARE)


@pytest.mark.parametrize(
    ("in_order", "queries", "choice", "because"),
    [
        (True, [GRID, ORDERED, SESSION, PUNCTUATED, COUNT], False, "come in order"),
        (True, [LAST_ROWS], True, "forward-context-aware"),
        (True, [GRID, LAST_ROWS], True, "forward-context-aware"),
        (False, [GRID], False, "commutes"),
        (False, [SESSION], False, "commutes"),
        (False, [GRID, SESSION], False, "partials are enough"),
        (False, [ORDERED], True, "does not commute"),
        (False, [ORDERED_SESSION], True, "does not commute"),
        (False, [GRID, ORDERED], True, "does not commute"),
        (False, [PUNCTUATED], True, "edge"),
        (False, [LAST_ROWS], True, "edge"),
        (False, [GRID, SESSION, PUNCTUATED], True, "edge"),
        (False, [COUNT], True, "rank"),
        (False, [GRID, COUNT_INVERTIBLE], True, "rank"),
        (True, [], False, "come in order"),
        (False, [], False, "commutes"),
    ],
)
def test_rows_are_kept_as_figure_4_says(in_order: bool, queries: list[Traits], choice: bool, because: str) -> None:
    decision = keeps_rows(in_order, iter(queries))
    assert decision.choice is choice
    assert because in decision.because


@pytest.mark.parametrize(
    ("in_order", "queries", "choice", "because"),
    [
        (True, [LAST_ROWS], True, "forward-context-aware"),
        (False, [GRID, LAST_ROWS], True, "forward-context-aware"),
        (True, [GRID, SESSION, PUNCTUATED, COUNT], False, "in order"),
        (False, [PUNCTUATED], True, "out of order may add an edge"),
        (False, [SESSION], False, "a session ends only where there are no rows"),
        (False, [GRID, COUNT, ORDERED], False, "known before rows"),
        (False, [SESSION, PUNCTUATED], True, "add an edge"),
    ],
)
def test_slices_are_split_as_figure_5_says(in_order: bool, queries: list[Traits], choice: bool, because: str) -> None:
    decision = needs_splits(in_order, iter(queries))
    assert decision.choice is choice
    assert because in decision.because


@pytest.mark.parametrize(
    ("in_order", "query", "choice", "because"),
    [
        (True, COUNT, Removal.NEVER, "come in order"),
        (True, COUNT_INVERTIBLE, Removal.NEVER, "come in order"),
        (False, GRID, Removal.NEVER, "do not change"),
        (False, SESSION, Removal.NEVER, "do not change"),
        (False, COUNT_INVERTIBLE, Removal.SUBTRACT, "can be subtracted"),
        (False, COUNT, Removal.RECOMPUTE, "cannot be subtracted"),
    ],
)
def test_rows_leave_slices_as_figure_6_says(in_order: bool, query: Traits, choice: Removal, because: str) -> None:
    decision = removes_rows(in_order, query)
    assert decision.choice == choice.value
    assert because in decision.because


@pytest.mark.parametrize(
    ("slices", "is_compiled", "choice", "because"),
    [
        (LIMITS.tree_slices - 1, True, False, "folding"),
        (LIMITS.tree_slices, True, True, "tree"),
        (math.inf, True, True, "tree"),
        (1.0, True, False, "folding"),
        (math.inf, False, False, "Python objects"),
        (1.0, False, False, "Python objects"),
    ],
)
def test_a_tree_is_taken_where_windows_have_many_slices(
    slices: float, is_compiled: bool, choice: bool, because: str
) -> None:
    decision = uses_tree(slices, is_compiled)
    assert decision.choice is choice
    assert because in decision.because


@pytest.mark.parametrize("store", ["lazy", "eager"])
@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_store_that_was_given_is_taken(store: str, is_compiled: bool) -> None:
    for slices in (1.0, 1e6):
        assert uses_tree(slices, is_compiled, store=store).choice is (store == "eager")


@pytest.mark.parametrize(
    ("windows", "slices", "covered", "choice", "because"),
    [
        (1, 1000, 1, "fold", "hardly overlap"),
        (2, LIMITS.slide_overlaps * 10, 10, "fold", "hardly overlap"),
        (2, LIMITS.slide_overlaps * 10 + 1, 10, "two_stacks_lite", "overlap many times"),
        (100, 100, 100, "fold", "hardly overlap"),
    ],
)
def test_windows_of_objects_are_slid_over_where_they_overlap_often(
    windows: int, slices: int, covered: int, choice: str, because: str
) -> None:
    decision = choose_fold(windows, slices, covered, is_compiled=False)
    assert decision.choice == choice
    assert because in decision.because
    assert choose_fold(windows, slices, covered, is_compiled=True).choice == "fold"


@pytest.mark.parametrize(
    "make", [lambda q: keeps_rows(False, q), lambda q: needs_splits(True, q), lambda q: removes_rows(False, q[0])]
)
def test_decisions_are_equal_for_equal_traits(make: Any) -> None:
    assert make([COUNT]) == make([Traits(Context.FREE, by_count=True)])
