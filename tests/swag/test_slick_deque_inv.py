"""Answers per registered size: right for those, for other ranges, and while the window varies."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.algebra.compiler import kernel
from sash.algebra.fields import load, store
from sash.algebra.monoid import Monoid, combine, identity, lift
from sash.swag import slick_deque_inv
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm, evict, insert, query, query_each, query_last
from tests.swag.monoids import Counter, bound
from tests.swag.test_conformance import histories


def suffix(monoid: Monoid, window: list[Any], count: int) -> Any:
    folded = identity(monoid)
    for partial in window[max(0, len(window) - count) :]:
        folded = combine(monoid, folded, partial)
    return folded


@settings(max_examples=60)
@given(history=histories(), sizes=st.sets(st.integers(1, 30), max_size=4))
def test_any_range_is_right_whatever_sizes_are_registered(history: list[tuple[str, int]], sizes: set[int]) -> None:
    monoid = bound("turns")
    state = slick_deque_inv.start(monoid, 4, tuple(sizes))
    window: list[Any] = []
    for verb, value in history:
        if verb == "insert":
            if len(window) == slick_deque_inv.capacity(state):
                state = slick_deque_inv.resize(monoid, state, 2 * len(window))
            window.append(lift(monoid, (value,)))
            slick_deque_inv.insert(monoid, state, window[-1])
        elif verb == "evict":
            slick_deque_inv.evict(monoid, state)
            window.pop(0)
        else:
            counts = list(range(len(window) + 2, -1, -1))
            answers = monoid.allocate(len(counts))
            slick_deque_inv.query_each(monoid, state, counts, answers)
            for place, count in enumerate(counts):
                assert load(answers, place) == suffix(monoid, window, count)
                assert slick_deque_inv.query_last(monoid, state, count) == suffix(monoid, window, count)
        assert slick_deque_inv.query(monoid, state) == suffix(monoid, window, len(window))
        slick_deque_inv.check(monoid, state, window)


@pytest.mark.parametrize("n", [1, 2, 16])
def test_each_registered_size_costs_two_per_slide_and_nothing_to_ask(n: int) -> None:
    counter = Counter(bound("turns"))
    monoid = counter.monoid
    sizes = tuple(range(1, n + 1))
    state = slick_deque_inv.start(monoid, n, sizes)
    for value in range(n):
        slick_deque_inv.insert(monoid, state, lift(monoid, (value,)))
    counter.calls = 0
    for value in range(50):
        slick_deque_inv.evict(monoid, state)
        slick_deque_inv.insert(monoid, state, lift(monoid, (value,)))
    assert counter.calls <= 50 * 2 * n
    counter.calls = 0
    for size in sizes:
        slick_deque_inv.query_last(monoid, state, size)
    slick_deque_inv.query(monoid, state)
    assert counter.calls == 0


@kernel
def _slide(
    algorithm: Algorithm, aggregate: Monoid, state: Any, values: Any, size: int, counts: Any, wide: Any, last: Any
) -> None:
    for i in range(len(values)):
        if i >= size:
            evict(algorithm, aggregate, state)
        insert(algorithm, aggregate, state, lift(aggregate, (values[i],)))
    query_each(algorithm, aggregate, state, counts, wide)
    for k in range(len(counts)):
        store(last, k, query_last(algorithm, aggregate, state, counts[k]))
    store(last, len(counts), query(algorithm, aggregate, state))


@pytest.mark.compiled
@pytest.mark.parametrize("sizes", [(), (9,), (9, 4, 1), (6, 2)], ids=str)
def test_compiled_and_interpreted_agree(sizes: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).integers(-9, 9, 40)
    counts = np.array([9, 8, 4, 3, 1], np.int64)
    found = []
    for interpreted in (False, True):
        monoid = bound("turns", interpreted=interpreted, invertible=True)
        wide, last = monoid.allocate(5), monoid.allocate(6)
        state = slick_deque_inv.start(monoid, 9, sizes)
        _slide(ALGORITHMS["slick_deque_inv"], monoid, state, values, 9, counts, wide, last)
        found.append([[int(x) for x in field] for field in (*wide, *last)])
    window = [lift(monoid, (int(value),)) for value in values[-9:]]
    assert found[0] == found[1]
    assert list(zip(*found[0][:2], strict=True)) == [suffix(monoid, window, int(count)) for count in counts]
