"""What B-Int can do beyond the contract: any range of the window."""

from hypothesis import given
from hypothesis import strategies as st

from sash.algebra.monoid import lift
from sash.swag import b_int
from tests.swag.monoids import bound


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
        start = data.draw(st.integers(evicted, evicted + size))
        end = data.draw(st.integers(start, evicted + size))
        assert b_int.query_range(monoid, grown, start, end) == (tuple(range(start, end)),)
