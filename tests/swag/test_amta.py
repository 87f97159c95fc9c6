"""AMTA beyond the contract: evicting many at once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.algebra.compiler import kernel
from sash.algebra.fields import load, store
from sash.algebra.monoid import lift
from sash.swag import amta
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import evict, insert, query
from tests.swag.monoids import Counter, bound

many = st.integers(0, 40)
steps = st.one_of(
    st.tuples(st.sampled_from(["insert", "evict", "evict_many"]), many),
    st.tuples(st.sampled_from(["evict_many", "resize"]), st.integers(0, 3)),
    st.tuples(st.just("insert"), st.just(1)),
)


@settings(max_examples=100)
@given(history=st.lists(steps, max_size=40))
def test_evicting_many_is_evicting_one_by_one(history: list[tuple[str, int]]) -> None:
    counter = Counter(bound("words"))
    monoid = counter.monoid
    state, window, inserted = amta.start(monoid, 1), list[Any](), 0

    def compare() -> None:
        amta.check(monoid, state, window)
        assert amta.fault(monoid, state) is None
        assert amta.query(monoid, state) == (tuple(word for partial in window for word in partial[0]),)
        assert amta.count(state) == len(window)

    for verb, times in history:
        size, counter.calls = len(window), 0
        if verb == "evict_many":
            amta.evict_many(monoid, state, times)
            assert counter.calls <= 2 * np.ceil(np.log2(max(size, 1)))
            del window[:times]
        elif verb == "resize":
            state = amta.resize(monoid, state, max(size, size * times // 2))
        for _ in range(times if verb == "insert" else min(times, size) if verb == "evict" else 0):
            if verb == "evict":
                amta.evict(monoid, state)
                window.pop(0)
            else:
                if amta.capacity(state) == len(window):
                    state = amta.resize(monoid, state, len(window) + 1)
                inserted += 1
                window.append(lift(monoid, (inserted,)))
                amta.insert(monoid, state, window[-1])
            compare()
        compare()


def test_emptied_by_more_than_there_are_then_refilled() -> None:
    monoid = bound("words")
    state = amta.start(monoid, 8)
    for round_ in range(5):
        window = []
        for value in range(3 + round_):
            window.append(lift(monoid, (value,)))
            amta.insert(monoid, state, window[-1])
            amta.check(monoid, state, window)
            assert amta.fault(monoid, state) is None
        amta.evict_many(monoid, state, 99)
        amta.check(monoid, state, [])
        assert amta.query(monoid, state) == monoid.initial
        assert amta.count(state) == 0


@pytest.mark.parametrize("n", [10, 100, 1000, 10_000])
def test_evicting_many_costs_a_logarithm(n: int) -> None:
    counter = Counter(bound("latest"))
    monoid = counter.monoid
    for share in (0.01, 0.3, 0.5, 0.9):
        state = amta.start(monoid, n)
        for value in range(n):
            amta.insert(monoid, state, lift(monoid, (value,)))
        counter.calls = 0
        amta.evict_many(monoid, state, int(share * n))
        assert counter.calls <= 2 * np.log2(n)


@kernel
def replay(algorithm: Any, aggregate: Any, state: Any, values: Any, answers: Any) -> None:
    for i in range(len(values)):
        insert(algorithm, aggregate, state, lift(aggregate, (values[i],)))
        if i % 50 == 49:
            amta.evict_many(aggregate, state, 20 + values[i])
        elif i % 7 == 6 and i > 60:
            evict(algorithm, aggregate, state)
        store(answers, i, query(algorithm, aggregate, state))


@pytest.mark.compiled
def test_compiled_and_interpreted_agree() -> None:
    values = np.random.default_rng(5).integers(-9, 20, 1000)
    found: list[Any] = []
    for interpreted in (False, True):
        monoid = bound("turns", interpreted=interpreted)
        state, answers = amta.start(monoid, 1000), monoid.allocate(1000)
        replay(ALGORITHMS["amta"], monoid, state, values.tolist() if interpreted else values, answers)
        found.append([tuple(map(int, load(answers, i))) for i in range(1000)] + [amta.count(state)])
    assert found[0] == found[1]
