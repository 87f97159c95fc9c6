"""Windows of several grids in one pass: those, and only those, that a look at every window finds."""

import random

import numpy as np
import pytest

from sash.slicing.grids import Grids, ended_on_grids
from sash.windows.grid import Grid
from tests.slicing.made import made


def starts_of(grid: tuple[int, int, int]) -> range:
    _, every, offset = grid
    return range(offset % every - 60 * every, 400, every)


@pytest.mark.parametrize("seed", range(12))
def test_windows_on_grids_are_those_that_a_look_at_every_window_finds(seed: int) -> None:
    dice = random.Random(seed)
    grids = [(dice.randint(1, 30), dice.randint(1, 9), dice.randint(-9, 9)) for _ in range(dice.randint(1, 3))]
    rows = sorted((dice.randint(0, 1), dice.randint(0, 120)) for _ in range(dice.randint(1, 30)))
    after = dice.randint(-5, 60)
    until = after + dice.randint(1, 90)
    edges = sorted({edge for grid in grids for start in starts_of(grid) for edge in (start, start + grid[0])})
    slices = made(rows, edges)
    ended = ended_on_grids(
        slices,
        np.arange(2),
        Grids.of([Grid.of(*each) for each in grids], np.int64),
        after,
        until,
        0,
        dice.random() < 0.5,
    )
    assert ended.which is not None
    found = sorted(zip(*(each.tolist() for each in (ended.which, ended.slots, ended.starts, ended.ends)), strict=True))
    wanted = [
        (number, slot, start, start + grid[0])
        for number, grid in enumerate(grids)
        for slot in range(2)
        for start in starts_of(grid)
        if after < start + grid[0] <= until and any(key == slot and start <= at < start + grid[0] for key, at in rows)
    ]
    assert found == sorted(wanted)


@pytest.mark.parametrize("seed", range(6))
def test_the_next_end_and_the_oldest_start_that_is_still_needed(seed: int) -> None:
    dice = random.Random(seed)
    grids = [(dice.randint(1, 30), dice.randint(1, 9), dice.randint(-9, 9)) for _ in range(3)]
    known = Grids.of([Grid.of(*each) for each in grids], np.int64)
    for after in range(-10, 60):
        open_ = [(start, start + grid[0]) for grid in grids for start in starts_of(grid) if start + grid[0] > after]
        assert known.first_end(after) == min(end for _, end in open_)
        assert known.oldest_start(after) == min(start for start, _ in open_)
