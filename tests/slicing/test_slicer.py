"""Where slices are cut: every edge that a window has, and no more than its maker promises."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.limits import LIMITS
from sash.slicing.slicer import Cutter, Edges, Progression, cutty, edge, pairs, panes
from sash.windows.grid import Grid

MAKERS = {"panes": panes, "pairs": pairs, "cutty": cutty}
LENGTHS = st.integers(1, 30)


def edges_between(made: list[Progression], low: int, high: int) -> set[int]:
    return {p for p in range(low, high) for each in made if (p - each.phase) % each.step == 0}


@given(LENGTHS, LENGTHS, st.integers(-40, 40))
def test_panes_and_pairs_cut_wherever_a_window_starts_or_ends(size: int, every: int, offset: int) -> None:
    starts = {offset + k * every for k in range(-20, 20)}
    wanted = {edge for start in starts for edge in (start, start + size) if -50 <= edge < 50}
    for make in (panes, pairs):
        found = edges_between(make(Grid.of(size, every, offset)), -10, 10)
        assert {edge for edge in wanted if -10 <= edge < 10} <= found


@given(LENGTHS, LENGTHS, st.integers(-40, 40))
def test_cutty_cuts_only_at_starts_and_pairs_never_more_than_panes(size: int, every: int, offset: int) -> None:
    low, high = 0, size * every  # a whole number of slides
    grid = Grid.of(size, every, offset)
    count = {name: len(edges_between(make(grid), low, high)) for name, make in MAKERS.items()}
    assert count["cutty"] == size
    assert count["cutty"] <= count["pairs"] <= min(2 * count["cutty"], count["panes"])
    assert count["panes"] == size * every // math.gcd(size, every)


def test_a_grid_that_another_one_covers_is_left_out() -> None:
    grids = [Grid.of(4, 4, 0), Grid.of(2, 2, 0), Grid.of(6, 2, 0), Grid.of(3, 3, 1)]
    edges = Edges.of([each for grid in grids for each in pairs(grid)], [7, 7, 5], np.int64)
    assert sorted(zip(edges.step.tolist(), edges.phase.tolist(), strict=True)) == [(2, 0), (3, 1)]
    assert edges.points.tolist() == [5, 7]


GRIDS = st.lists(st.tuples(LENGTHS, LENGTHS, st.integers(-20, 20)), max_size=4)


@given(
    GRIDS,
    st.lists(st.integers(-50, 50), max_size=3),
    st.lists(st.lists(st.integers(-(10**12), 10**12) | st.integers(-60, 60), min_size=1, max_size=20), max_size=4),
    st.booleans(),
)
def test_the_first_value_after_a_position_is_the_first_edge_after_it(
    grids: Any, points: list[int], batches: list[list[int]], floats: bool
) -> None:
    lowest, highest = (-math.inf, math.inf) if floats else (-(2**62), 2**62)
    dtype = np.float64 if floats else np.int64
    scale = 0.1 if floats else 1
    made = [each for grid in grids for each in pairs(Grid.of(*(length * scale for length in grid)))]
    cutter = Cutter(Edges.of(made, [p * scale for p in points], dtype), lowest, highest, LIMITS.edges_ahead)
    for batch in batches:  # one after the other: edges of a batch may serve the next
        positions = np.array([p * scale for p in batch], dtype)
        cut = cutter.cut(positions, positions.min(), positions.max())
        assert cut[0] == lowest and cut[-1] == highest and (np.diff(cut.astype(object)) > 0).all()
        for position in positions.tolist():
            after = [point * scale for point in points if point * scale > position] + [highest]
            for each in made:
                about = int((Fraction(position) * int(each.unit) - Fraction(each.phase)) / Fraction(each.step))
                numbers = range(about - 2, about + 3)
                after.append(next(at for k in numbers if (at := edge(each.step, each.phase, each.unit, k)) > position))
            assert cut[np.searchsorted(cut, position, side="right")] == min(after)


@pytest.mark.parametrize("far", [10**17, 10**18])
def test_rows_that_are_far_apart_do_not_cost_what_lies_between_them(far: int) -> None:
    cutter = Cutter(Edges.of(pairs(Grid.of(10, 3, 0)), [], np.int64), -(2**62), 2**62, LIMITS.edges_ahead)
    positions = np.array([-far, 0, far])
    assert len(cutter.cut(positions, -far, far)) <= 5
