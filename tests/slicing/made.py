"""Slices made of rows, for tests of what is done to slices."""

from collections.abc import Sequence

import numpy as np

from sash.slicing import slice_manager
from sash.slicing.cuts import Cuts
from sash.slicing.slices import Slices

__all__ = ["made"]


def made(rows: Sequence[tuple[int, int]], edges: Sequence[int], cuts: Cuts | None = None, keys: int = 2) -> Slices:
    """The slices of rows (key, position), which come in order and are cut at these edges."""
    slices = Slices.empty(np.int64)
    slices.ensure_keys(keys)
    slots, positions = (np.array(each, np.int64) for each in zip(*rows, strict=True))
    bounds = np.array([-(2**62), *edges, 2**62])
    bits = np.zeros(len(slots), np.int64)
    slice_manager.place(slices, slots, positions, bits, bounds, cuts or Cuts.none(), True)
    return slices
