"""What SlideSide promises for many ranges."""

import pytest

from sash.algebra.monoid import lift
from sash.swag import slide_side
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import query_each
from tests.swag.monoids import Counter, bound


@pytest.mark.parametrize(
    ("sizes", "per_slide"), [((64,), 3), ((64, 32), 5), ((64, 8), 11), (tuple(range(64, 0, -1)), 126)]
)
def test_a_registered_range_takes_a_combine_and_flips_are_shared(sizes: tuple[int, ...], per_slide: int) -> None:
    counter = Counter(bound("words"))
    monoid = counter.monoid
    state = slide_side.start(monoid, 64, sizes)
    answers = monoid.allocate(len(sizes))
    slides = 8 * 64
    for value in range(64 + slides):
        if value == 64:
            counter.calls = 0
        if value >= 64:
            slide_side.evict(monoid, state)
        slide_side.insert(monoid, state, lift(monoid, (value,)))
        if value >= 64:
            before = counter.calls
            query_each(ALGORITHMS["slide_side"], monoid, state, sizes, answers)
            assert counter.calls - before <= len(sizes)
            assert [len(word) for word in answers[0]] == list(sizes)
    assert counter.calls / slides <= per_slide


def test_a_range_that_was_not_registered_is_answered_all_the_same() -> None:
    monoid = bound("words")
    state = slide_side.start(monoid, 8, (8, 5))
    for value in range(8):
        slide_side.insert(monoid, state, lift(monoid, (value,)))
    for count in range(9):
        assert slide_side.query_last(monoid, state, count) == (tuple(range(8 - count, 8)),)
