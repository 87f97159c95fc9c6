"""The aggregators made of lists: saved and restored at any time, and as steady as DABA."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.algebra.monoid import lift
from sash.swag import state_bytes
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm
from tests.swag.monoids import Counter, bound
from tests.swag.test_conformance import histories

LISTS = [pytest.param(ALGORITHMS[name], id=name) for name in ("foa", "ioa")]


def folded(monoid: Any, window: list[Any]) -> Any:
    result = monoid.initial
    for partial in window:
        result = monoid.combine(result, partial)
    return result


def plain(value: Any) -> bool:
    """Whether something is made of tuples, lists and integers alone."""
    return all(plain(each) for each in value) if isinstance(value, tuple | list) else isinstance(value, int)


@pytest.mark.parametrize("algorithm", LISTS)
@settings(max_examples=60)
@given(history=histories(), data=st.data())
def test_a_restored_window_slides_on_within_its_invariants_and_bounds(
    algorithm: Algorithm, history: list[tuple[str, int]], data: st.DataObject
) -> None:
    counter = Counter(bound("words"))
    monoid, steps, facts = counter.monoid, algorithm.steps, algorithm.facts
    states = [steps.start(monoid, 1)]
    window: list[Any] = []
    for verb, value in history:
        if len(states) < 4 and data.draw(st.integers(0, 9)) == 0:
            saved = steps.save(monoid, states[-1])
            assert plain(saved)
            states.append(steps.restore(monoid, state_bytes.unpack(state_bytes.pack(saved))))
        before = len(window)
        if verb == "insert":
            window.append(lift(monoid, (value,)))
        elif verb == "evict":
            window.pop(0)
        for state in states:  # a window that was saved slides on beside its copies
            counter.calls = 0
            if verb == "insert":
                steps.insert(monoid, state, window[-1])
                assert counter.calls <= facts.insert.worst.at(before + 1)
            elif verb == "evict":
                steps.evict(monoid, state)
                assert counter.calls <= facts.evict.worst.at(before)
            else:
                answer = steps.query(monoid, state)
                assert counter.calls <= facts.query.worst.at(before)
                assert answer == folded(monoid, window)
            assert steps.count(state) == len(window)
            steps.check(monoid, state, window)


@pytest.mark.parametrize("algorithm", LISTS)
def test_saving_finishes_the_rotation_and_each_suspension_is_forced_once(algorithm: Algorithm) -> None:
    counter = Counter(bound("words"))
    monoid, steps = counter.monoid, algorithm.steps
    state = steps.start(monoid, 1)
    window = [lift(monoid, (value,)) for value in range(40)]
    for partial in window:
        steps.insert(monoid, state, partial)
    counter.calls = 0
    saved = steps.save(monoid, state)
    assert 0 < counter.calls <= 3 * len(window)
    counter.calls = 0
    assert steps.save(monoid, state) == saved
    assert counter.calls == 0
    for copy in (state, steps.restore(monoid, saved)):
        steps.check(monoid, copy, window)
        assert steps.save(monoid, copy) == saved


@pytest.mark.parametrize("algorithm", LISTS)
def test_a_long_window_can_be_saved_restored_and_forgotten(algorithm: Algorithm) -> None:
    monoid, steps = bound("turns"), algorithm.steps
    state = steps.start(monoid, 1)
    for value in range(20_000):  # far deeper than Python recurses
        steps.insert(monoid, state, lift(monoid, (value,)))
    copy = steps.restore(monoid, steps.save(monoid, state))
    assert steps.query(monoid, copy) == steps.query(monoid, state)
    for _ in range(10_001):
        steps.evict(monoid, copy)
    assert steps.count(copy) == 9_999
    del state, copy


@pytest.mark.parametrize("algorithm", LISTS)
def test_an_empty_window_can_be_saved(algorithm: Algorithm) -> None:
    monoid, steps = bound("words"), algorithm.steps
    state = steps.restore(monoid, steps.save(monoid, steps.start(monoid, 1)))
    assert steps.query(monoid, state) == monoid.initial
    steps.insert(monoid, state, lift(monoid, (1,)))
    assert steps.query(monoid, state) == ((1,),)


def costs(algorithm: Algorithm, sizes: list[int]) -> list[tuple[str, int]]:
    """Combines of every step while the window grows and shrinks to these sizes in turn."""
    counter = Counter(bound("words"))
    monoid, steps = counter.monoid, algorithm.steps
    state = steps.start(monoid, max(sizes))
    paid = []
    for size in sizes:
        while steps.count(state) != size:
            verb = "insert" if steps.count(state) < size else "evict"
            counter.calls = 0
            if verb == "insert":
                steps.insert(monoid, state, lift(monoid, (0,)))
            else:
                steps.evict(monoid, state)
            paid.append((verb, counter.calls))
            counter.calls = 0
            steps.query(monoid, state)
            paid.append(("query", counter.calls))
    return paid


@pytest.mark.parametrize("sizes", [[40, 0, 40, 0], [1, 0, 2, 0, 3, 0, 64, 1, 64, 0], [17, 16, 30, 3, 50, 0, 9]])
def test_the_lists_and_daba_pay_the_same_worst_case_over_drain_and_refill(sizes: list[int]) -> None:
    """DABA turns a step earlier than Okasaki's queue, so they differ step by step but not at worst."""
    lists = costs(ALGORITHMS["ioa"], sizes)
    assert lists == costs(ALGORITHMS["foa"], sizes)
    for paid in (lists, costs(ALGORITHMS["daba"], sizes)):
        worst = {verb: max(calls for each, calls in paid if each == verb) for verb in ("insert", "evict", "query")}
        assert worst == {"insert": 4, "evict": 3, "query": 1}
