"""What FlatFIT promises for many ranges."""

import pytest

from sash.algebra.monoid import lift
from sash.swag import flat_fit
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import query_each
from tests.swag.monoids import Counter, bound


@pytest.mark.parametrize("n", [1, 2, 7, 64, 100])
def test_all_ranges_of_a_slide_take_exactly_n_minus_1_combines(n: int) -> None:
    counter = Counter(bound("words"))
    monoid = counter.monoid
    state = flat_fit.start(monoid, n)
    answers, counts = monoid.allocate(n), list(range(n, 0, -1))
    for value in range(n):
        flat_fit.insert(monoid, state, lift(monoid, (value,)))
    query_each(ALGORITHMS["flat_fit"], monoid, state, counts, answers)
    for value in range(n, 4 * n):
        counter.calls = 0
        flat_fit.evict(monoid, state)
        flat_fit.insert(monoid, state, lift(monoid, (value,)))
        query_each(ALGORITHMS["flat_fit"], monoid, state, counts, answers)
        assert counter.calls == n - 1
        assert answers[0] == [tuple(range(value - count + 1, value + 1)) for count in counts]
