"""The shared plan: the papers' examples, and slices that every window is made of."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.swag.shared_plan import SLICES, share


def test_the_example_of_shared_processing() -> None:
    """Ranges 6 and 8 with slides 2 and 4 (SlickDeque, Example 1): slices of 2 rows, of which they need 3 and 4."""
    plan = share([(6, 2), (8, 4)], "panes", 1000)
    assert (plan.length, plan.at.tolist(), plan.slices, plan.longest) == (4, [2, 4], 2, 4)
    answered = [plan.queries[a:b].tolist() for a, b in zip(plan.begins, plan.begins[1:], strict=False)]
    assert answered == [[0], [1, 0]]
    assert plan.counts.tolist() == [3, 4, 3]


@pytest.mark.parametrize(("slices", "made", "longest"), [("panes", 3, 10), ("pairs", 2, 7), ("cutty", 1, 3)])
def test_fewer_slices_for_a_range_that_its_slide_does_not_divide(slices: str, made: int, longest: int) -> None:
    plan = share([(10, 3)], slices, 1000)
    assert (plan.length, plan.slices, plan.longest) == (3, made, longest)


def test_all_ranges_at_every_row_are_one_slice_per_row() -> None:
    plan = share([(size, 1) for size in range(1, 65)], "pairs", 1000)
    assert (plan.length, plan.slices, plan.longest) == (1, 1, 64)
    assert plan.counts.tolist() == list(range(64, 0, -1))


def test_a_composite_slide_is_not_longer_than_the_rows() -> None:
    plan = share([(997, 991), (10, 983), (5, 977)], "pairs", 5000)
    assert plan.length == 5000 and plan.begins[-1] == 5000 // 991 + 5000 // 983 + 5000 // 977


@given(
    queries=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=5),
    slices=st.sampled_from(sorted(SLICES)),
)
def test_windows_begin_at_edges_and_counts_are_their_slices(queries: list[tuple[int, int]], slices: str) -> None:
    plan = share(queries, slices, 10**6)
    assert plan.length == math.lcm(*(slide for _, slide in queries))
    edges = {int(at) for at in plan.at[plan.is_edge]}

    def is_edge(position: int) -> bool:
        return (position - 1) % plan.length + 1 in edges

    answered = set()
    for moment, end in enumerate(plan.at.tolist()):
        begin, stop = plan.begins[moment], plan.begins[moment + 1]
        assert stop > begin or end in edges
        assert (np.diff(plan.counts[begin:stop]) <= 0).all()
        for place in range(begin, stop):
            size, slide = queries[plan.queries[place]]
            answered.add((int(plan.queries[place]), end))
            assert end % slide == 0 and is_edge(end - size)
            assert plan.counts[place] == sum(is_edge(at) for at in range(end - size + 1, end + 1))
            assert plan.counts[place] <= plan.sizes[plan.ranges[place]] <= plan.longest
    assert len(answered) == len(plan.queries) == sum(plan.length // slide for _, slide in queries)
