"""What B-Int can do beyond the contract: any range of the window, and changes of rows."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.algebra.fields import store
from sash.algebra.monoid import lift
from sash.swag import b_int
from tests.swag.monoids import Counter, bound


@given(evicted=st.integers(0, 40), size=st.integers(1, 40), data=st.data())
def test_any_range_of_the_window_is_answered_before_and_after_growing(
    evicted: int, size: int, data: st.DataObject
) -> None:
    monoid = bound("words")
    state = b_int.start(monoid, size)
    for position in range(evicted + size):
        if position >= size:
            b_int.evict(monoid, state)
        b_int.insert(monoid, state, lift(monoid, (position,)))
    for grown in (state, b_int.resize(monoid, state, 2 * size)):
        start = data.draw(st.integers(0, size))
        end = data.draw(st.integers(start, size))
        assert b_int.query_between(monoid, grown, start, end) == (tuple(range(evicted + start, evicted + end)),)


@pytest.mark.parametrize("evicted", [0, 1, 7, 100])
@pytest.mark.parametrize("n", [1, 2, 13, 64])
def test_many_changed_rows_fold_each_block_once(n: int, evicted: int) -> None:
    counter = Counter(bound("words"))
    monoid = counter.monoid
    for m in range(1, n + 1):
        state = b_int.start(monoid, n)
        for position in range(evicted + n):
            if position >= n:
                b_int.evict(monoid, state)
            b_int.insert(monoid, state, lift(monoid, (position,)))
        window = [lift(monoid, (position,)) for position in range(evicted, evicted + n)]
        indexes = [n * k // m for k in range(m)]
        partials = monoid.allocate(m)
        for place, index in enumerate(indexes):
            window[index] = lift(monoid, (-place,))
            store(partials, place, window[index])
        counter.calls = 0
        b_int.update_many(monoid, state, indexes, partials, m)
        assert counter.calls <= 1.2 * (m + m * math.log2(n / m) + math.log2(n))
        b_int.check(monoid, state, window)
