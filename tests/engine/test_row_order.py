"""Rows sorted by key, position and arrival: as NumPy sorts them."""

from typing import Any

import numpy as np
import pytest

from sash.engine.row_order import KeySlots, sort_rows


@pytest.mark.compiled
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("seed", range(30))
def test_rows_are_sorted_as_by_numpy(seed: int, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    count, keys = int(rng.choice([0, 1, 2, 15, 17, 100, 700])), int(rng.choice([1, 2, 3, 20]))
    slots = rng.integers(0, keys, count)
    positions: Any = rng.integers(0, int(rng.choice([3, 1000])), count).astype(dtype)
    valid = None if rng.random() < 0.5 else rng.random(count) < 0.9
    order, line = sort_rows(KeySlots(slots, keys), positions, valid)
    known = np.arange(count) if valid is None else np.flatnonzero(valid)
    wanted = known[np.lexsort((known, positions[known], slots[known]))]
    assert order.tolist() == wanted.tolist()
    assert line.positions.tolist() == positions[wanted].tolist()
    assert line.slots.tolist() == slots[wanted].tolist()
