"""Rows of a window by index: random histories of all operations agree with a list, and bad indexes are refused."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.errors import EmptyWindow, InvalidAggregate, InvalidInput
from sash.swag.catalog import ALGORITHMS
from tests.swag.monoids import TEMPLATES
from tests.swag.test_window import fold

INDEXED = [name for name, each in ALGORITHMS.items() if each.has_step("query_between")]
VERBS = ["insert", "insert_many", "insert_many", "evict", "evict_many", "slide", "update", "update_many", "remove"]
VALUES = st.integers(-9, 9)


def apply(window: sash.swag.Window, rows: list[int], verb: str, numbers: list[int]) -> None:
    """Do the same to a window and to a list; `numbers` decide which rows and values."""
    some = 1 + numbers[0] % 9
    if verb == "insert" or not rows:
        window.insert(some)
        rows.append(some)
    elif verb == "insert_many":
        window.insert_many(numbers)
        rows += numbers
    elif verb == "evict":
        window.evict()
        del rows[0]
    elif verb == "evict_many":
        count = 1 + numbers[0] * 7 % len(rows)
        window.evict(count)
        del rows[:count]
    elif verb == "slide":
        for number in numbers:
            window.evict()
            window.insert(number)
            rows[:] = [*rows[1:], number]
    elif verb == "update":
        index = numbers[0] * 5 % len(rows)
        window.update_at(index, some)
        rows[index] = some
    elif verb == "update_many":
        indexes = [number * number * 3 % len(rows) for number in numbers]  # with repeats: the last one counts
        window.update_at(np.array(indexes), numbers)
        for index, number in zip(indexes, numbers, strict=True):
            rows[index] = number
    elif ALGORITHMS[window.algorithm].has_step("remove_at"):
        index = numbers[0] * 3 % len(rows)
        window.remove_at(index)
        del rows[index]


@pytest.mark.parametrize("algorithm", INDEXED)
@pytest.mark.parametrize("aggregate", ["words", pytest.param("turns", marks=pytest.mark.compiled), "latest"])
@settings(max_examples=25, deadline=None)
@given(
    history=st.lists(st.tuples(st.sampled_from(VERBS), st.lists(VALUES, min_size=1, max_size=24)), max_size=40),
    cut=st.integers(0, 6),
)
def test_any_history_agrees_with_a_list(
    algorithm: str, aggregate: str, history: list[tuple[str, list[int]]], cut: int
) -> None:
    window = sash.swag.open(algorithm, TEMPLATES[aggregate], dtype="i8")
    rows: list[int] = []
    for step, (verb, numbers) in enumerate(history):
        apply(window, rows, verb, numbers)
        if step % 7 == cut:
            window = sash.swag.open(algorithm, TEMPLATES[aggregate]).restore(window.save())
        assert len(window) == len(rows)
        if not rows:
            continue
        assert window.query() == fold(rows, aggregate)
        lo = numbers[0] * 11 % len(rows)
        hi = lo + 1 + numbers[-1] * 13 % (len(rows) - lo)
        assert window.query_range(lo, hi) == fold(rows[lo:hi], aggregate)
        assert window.query(last=hi) == fold(rows[-hi:], aggregate)


@pytest.mark.parametrize("algorithm", INDEXED)
def test_an_empty_range_has_no_result(algorithm: str) -> None:
    window = sash.swag.open(algorithm, sash.sum())
    window.insert_many([1, 2, 3])
    assert window.query_range(2, 2) is None and window.query_range(3, 3) is None
    window.update_at([], [])
    assert window.query() == 6


@pytest.mark.parametrize("algorithm", INDEXED)
@pytest.mark.parametrize("bad", [-1, 3, 2**70, True, 1.0, "1", None, [0, 3], [-1], [[0]], [0.5], ["a"], [[1], [1, 2]]])
def test_a_bad_index_is_refused_in_one_sentence_and_changes_nothing(algorithm: str, bad: Any) -> None:
    window = sash.swag.open(algorithm, sash.sum())
    window.insert_many([1, 2, 4])
    before = window.save()
    values = [9] * len(bad) if isinstance(bad, list) else 9
    calls: list[Any] = [lambda: window.update_at(bad, values)]
    if not isinstance(bad, list):
        calls += [lambda: window.query_range(bad, 3) if bad != 3 else window.query_range(0, 4)]
        if ALGORITHMS[algorithm].has_step("remove_at"):
            calls.append(lambda: window.remove_at(bad))
    for call in calls:
        with pytest.raises(InvalidInput, match=r"^(index|lo|hi) must be a whole number[^.]*, but is [^\n]*\.$"):
            call()
    assert window.save() == before


@pytest.mark.parametrize("algorithm", INDEXED)
def test_bad_values_and_ranges_are_refused_and_change_nothing(algorithm: str) -> None:
    window = sash.swag.open(algorithm, sash.sum())
    for call in (lambda: window.update_at(0, 1), lambda: window.query_range(0, 0)):
        with pytest.raises(EmptyWindow, match="empty window"):
            call()
    window.insert_many([1, 2, 4])
    with pytest.raises(InvalidInput, match="hi must be a whole number from 2 to 3, but is 1"):
        window.query_range(2, 1)
    with pytest.raises(InvalidInput, match=r"same length, but have \[2, 1\]"):
        window.update_at([0, 1], [5])
    with pytest.raises(InvalidInput, match="needs 1 column"):
        window.update_at(0, 1, 2)
    with pytest.raises(InvalidInput, match="is not a value"):
        window.update_at(0, "x")
    assert window.query() == 7
    picky = sash.Aggregate("picky", state="i8", identity=0, lift=lambda x: 10 // x, combine=lambda a, b: a + b)
    window = sash.swag.open(algorithm, picky)
    window.insert_many([1, 2, 5])
    with pytest.raises(InvalidAggregate, match="lift raised ZeroDivisionError"):
        window.update_at([0, 1], [5, 0])
    assert window.query() == 17


def test_several_columns_are_updated_together() -> None:
    window = sash.swag.open("flat_fat", sash.argmax())
    window.insert_many(([1, 2, 3], [5.0, 9.0, 7.0]))
    assert window.query() == 7.0
    window.update_at(1, 8, 1.0)
    assert window.query() == 1.0
    window.update_at([0, 2], [9, 6], [4.0, 0.0])
    assert window.query() == 4.0
    window.update_at([0, 2], ([0, 10], [4.0, 2.0]))
    assert window.query() == 2.0


@pytest.mark.parametrize("algorithm", ["daba_lite", "two_stacks", "recalculate"])
def test_other_algorithms_name_those_that_can(algorithm: str) -> None:
    window = sash.swag.open(algorithm, sash.sum())
    window.insert(1)
    calls: list[Any] = [
        (lambda: window.update_at(0, 1), "update_at: create the window with flat_fat or b_int or fiba"),
        (lambda: window.query_range(0, 1), "query_range: create the window with flat_fat or b_int or fiba"),
        (lambda: window.remove_at(0), "remove_at: create the window with flat_fat or fiba"),
    ]
    for call, able in calls:
        with pytest.raises(InvalidInput, match=rf"^{algorithm} does not support {able}\.$"):
            call()
    with pytest.raises(InvalidInput, match="b_int does not support remove_at"):
        sash.swag.open("b_int", sash.sum()).remove_at(0)


class Counting:
    """An ordered aggregate that counts every call of `combine`."""

    def __init__(self) -> None:
        self.calls = 0

        def combine(a: Any, b: Any) -> Any:
            self.calls += 1
            return (a[0] + b[0],)

        self.aggregate = sash.Aggregate(
            "words", state=("O",), identity=((),), lift=lambda x: ((x,),), combine=combine, lower=lambda p: p[0]
        )


def test_many_rows_at_once_take_the_combines_of_the_reactive_aggregator() -> None:
    """Section 4.2 of the paper, through the calls of a user: m changed rows of n."""
    for n in (16, 100, 256):
        for m in range(1, n + 1, 1 if n < 50 else 7):
            check_many(n, m)


def check_many(n: int, m: int) -> None:
    counted = Counting()
    window = sash.swag.open("flat_fat", counted.aggregate)
    window.insert_many(list(range(n)))
    bound = 1.2 * (m + m * math.log2(n / m) + math.log2(n))
    rows = list(range(n))
    indexes = [n * k // m for k in range(m)]
    for place, index in enumerate(indexes):
        rows[index] = -place
    calls: tuple[Any, ...] = (
        lambda: window.update_at(indexes, [-k for k in range(m)]),
        lambda: window.evict(m),
        lambda: window.insert_many(list(range(m))),
    )
    for call in calls:
        counted.calls, before = 0, len(window)
        call()
        # Growing and shrinking copies the rows that stay into another tree.
        copied = 2 * min(before, len(window)) if 4 * (n - m) <= n else 0
        assert counted.calls <= bound + copied
    assert window.query() == (*rows[m:], *range(m))


def test_a_slide_by_hand_repairs_one_path() -> None:
    """Section 5.2 of the paper: each new row overwrites the leaf of the oldest one."""
    for n in (16, 100, 256, 300):
        counted = Counting()
        window = sash.swag.open("flat_fat", counted.aggregate)
        for value in range(n):
            window.insert(value)
        for value in range(2 * n):
            counted.calls = 0
            window.evict()
            window.insert(value)
            assert counted.calls <= math.ceil(math.log2(n))
