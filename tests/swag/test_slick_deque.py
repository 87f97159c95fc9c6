"""What a deque of winners must get right: ties, NaN, order, and many ranges at once."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.algebra.aggregate import Aggregate, Template, bind
from sash.algebra.compiler import kernel
from sash.algebra.fields import Field, length, load, same, store
from sash.algebra.monoid import Column, Monoid, combine, identity, lift
from sash.swag import slick_deque
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm, evict, insert, query_each, query_last
from tests.swag.monoids import bound

# The pair with the higher step, the older on ties: a selective aggregate of an array that can hold NaN.
highest_step = Aggregate(
    "highest_step",
    state=("f8[2]",),
    identity=(-math.inf,),
    lift=lambda x: (np.array([0.0 if x != x else min(max(x, -9.0), 9.0) // 2.0, x]),),
    combine=lambda a, b: a if a[0][0] >= b[0][0] else b,
    lower=lambda p: p[0][1],
    selective=True,
)


@kernel
def _same(_aggregate: Monoid, a: Any, b: Any) -> bool:
    return same(a, b)


@kernel
def _each(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Any, size: int, counts: Any, answers: Any, last: Any
) -> None:
    """The answers of all counts for the newest row, and of each alone."""
    for i in range(length(inputs)):
        if i >= size:
            evict(algorithm, aggregate, state)
        insert(algorithm, aggregate, state, lift(aggregate, load(inputs, i)))
    query_each(algorithm, aggregate, state, counts, answers)
    for k in range(len(counts)):
        store(last, k, query_last(algorithm, aggregate, state, counts[k]))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((1, 2.0), (1, 2.0), True),
        ((1, 2.0), (1, 3.0), False),
        ((1, math.nan), (1, math.nan), True),
        ((1, math.nan), (1, 0.0), False),
        ((1, 0.0), (1, math.nan), False),
        ((0.0,), (-0.0,), True),
        ((True, 3), (False, 3), False),
        ((np.array([1.0, math.nan]), 1), (np.array([1.0, math.nan]), 1), True),
        ((np.array([1.0, math.nan]), 1), (np.array([math.nan, 1.0]), 1), False),
    ],
)
def test_partials_are_the_same_if_all_fields_are(a: Any, b: Any, expected: bool) -> None:
    assert same(a, b) is expected
    assert bool(_same(bound("max", interpreted=False), a, b)) is expected


def test_objects_are_the_same_if_they_are_equal() -> None:
    assert same(("b", None), ("b", None)) and not same(("b", None), ("a", None))


FLOATS = st.sampled_from([math.nan, -math.inf, -1.0, 0.0, 1.0, 2.0, math.inf])
WHO = st.integers(0, 2)


@pytest.mark.parametrize(
    ("template", "arity"),
    [
        pytest.param(template, arity, id=template.name)
        for template, arity in [
            (sash.max(), 1),
            (sash.min(), 1),
            (sash.first(), 1),
            (sash.last(), 1),
            (sash.argmax(), 2),
            (sash.argmin(), 2),
            (highest_step, 1),
        ]
    ],
)
@settings(max_examples=30)
@given(rows=st.lists(st.tuples(FLOATS, WHO), min_size=1, max_size=40), size=st.integers(1, 12))
def test_ties_nan_and_order_give_what_a_fold_gives(
    template: Template, arity: int, rows: list[tuple[float, int]], size: int
) -> None:
    columns = (Column(Field("f8")), Column(Field("i8")))[:arity]
    monoid = bind(template, columns)
    compiled, state = monoid.is_compiled, slick_deque.start(monoid, size)
    assert isinstance(state[1], np.ndarray) is compiled
    window: list[Any] = []
    for row in rows:
        if len(window) == size:
            slick_deque.evict(monoid, state)
            window.pop(0)
        window.append(lift(monoid, row[:arity]))
        slick_deque.insert(monoid, state, window[-1])
        slick_deque.check(monoid, state, window)
        for count in range(len(window) + 1):
            expected = identity(monoid)
            for partial in window[len(window) - count :]:
                expected = combine(monoid, expected, partial)
            assert same(slick_deque.query_last(monoid, state, count), expected)


def test_equal_rows_share_one_node_and_unequal_ties_do_not() -> None:
    monoid = bind(sash.argmax(), (Column(Field("i8")), Column(Field("i8"))))
    state = slick_deque.start(monoid, 8)
    for row in [(3, 0), (3, 0), (3, 1)]:
        slick_deque.insert(monoid, state, lift(monoid, row))
    assert slick_deque.query(monoid, state)[1] == 0
    slick_deque.evict(monoid, state)
    assert slick_deque.query(monoid, state)[1] == 0  # the second row, equal to the first
    slick_deque.evict(monoid, state)
    assert slick_deque.query(monoid, state)[1] == 1


COUNTS = [[9, 8, 7, 6, 5, 4, 3, 2, 1], [9], [1], [9, 1], [7, 7, 3, 3, 3], [9, 8, 5, 5, 4, 1, 1], [4, 0, 0], []]


@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("name", ["max", "latest", "first", "last"])
def test_every_list_of_counts_is_answered_in_one_walk(name: str, counts: list[int]) -> None:
    monoid, size = bound(name, interpreted=False), 9
    for seed in range(20):
        values = np.random.default_rng(seed).integers(-9, 9, 30)
        values = np.sort(values)[::-1].copy() if seed == 0 else values  # the deque is as long as can be
        answers, last = monoid.allocate(len(counts)), monoid.allocate(len(counts))
        _each(
            ALGORITHMS["slick_deque"],
            monoid,
            slick_deque.start(monoid, size),
            (values,),
            size,
            np.array(counts, np.int64),
            answers,
            last,
        )
        for k, count in enumerate(counts):
            expected = identity(monoid)
            for value in values[len(values) - count :]:
                expected = combine(monoid, expected, lift(monoid, (value,)))
            assert same(load(answers, k), expected) and same(load(last, k), expected)


def test_a_wider_deque_holds_the_same_nodes() -> None:
    for interpreted in (True, False):
        monoid = bound("max", interpreted=interpreted)
        state = slick_deque.start(monoid, 4)
        window = [lift(monoid, (value,)) for value in (5, 9, 4, 3, 2)]
        for partial in window:
            if slick_deque.count(state) == 4:
                slick_deque.evict(monoid, state)
            slick_deque.insert(monoid, state, partial)
        state = slick_deque.resize(monoid, state, 16)
        assert slick_deque.capacity(state) == 16
        slick_deque.check(monoid, state, window[1:])
