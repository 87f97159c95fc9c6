"""Trees over sketches: windows have the results of folds, while slices are added and changed."""

import numpy as np
import pytest

import sash
from sash.algebra.aggregate import Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, of_partials
from sash.slicing import slice_manager
from sash.slicing.cuts import Cuts
from sash.slicing.partials import Partials, View, mark_trees_updated
from sash.slicing.slices import Slices
from sash.slicing.wide_trees import inner_room
from sash.slicing.window_manager import Ended

X = Column(Field("i8"))
SKETCHES = [sash.hyperloglog("x", precision=4), sash.count_min("x", width=8, depth=2), sash.bloom_filter("x", bits=64)]


def place(slices: Slices, keys: list[int], positions: list[int]) -> slice_manager.Placement:
    """Place rows of which each is a slice, unless another one of its key has its position."""
    edges = np.array([-(2**62), *range(400), 2**62])
    rows = np.array(keys), np.array(positions), np.zeros(len(keys), np.int64)
    return slice_manager.place(slices, *rows, edges, Cuts.none(), in_order=True)


@pytest.mark.parametrize("sketch", SKETCHES, ids=str)
@pytest.mark.parametrize("step", [1, 7, 40])
def test_windows_from_trees_are_folds_of_their_slices(sketch: Template, step: int) -> None:
    """Three keys with rooms of 128, 64 and 8 slices: one moves its segment last, one has no node, and slices change."""
    slices = Slices.empty(np.int64)
    slices.ensure_keys(3)
    monoid = bind(sketch, (X,))
    eager, lazy = Partials(monoid, eager=True), Partials(monoid, eager=False)
    view = View(of_partials(monoid), tuple(range(len(eager.fields))))
    random = np.random.default_rng(step)
    lengths = (80, 50, 6)
    rows = [(key, at) for at in range(80) for key in range(3) if at < lengths[key] for _ in range(1 + at % 2)]
    for first in range(0, len(rows), step):
        part = rows[first : first + step]
        placed = place(slices, [key for key, _ in part], [at for _, at in part])
        values = random.integers(0, 1000, len(part))
        for partials in (eager, lazy):
            partials.ensure(slices.capacity)
            partials.reset(placed.made)
            partials.add(placed.ids, (values,))
        eager.update_trees(slices)
        mark_trees_updated(slices)
        if first % (7 * step) and first + step < len(rows):
            continue
        ranges = []
        for key in range(3):
            begin, count = int(slices.begin[key]), int(slices.count[key])
            for low in {0, 1, 15, 16, 17, 32, *random.integers(0, 80, 5).tolist()}:
                ranges += [
                    (key, begin + low, begin + high) for high in {low + 1, low + 16, 64, count} if low < high <= count
                ]
        slots, lows, highs = (np.array(each, np.int64) for each in zip(*ranges, strict=True))
        ended = Ended(slots, lows, highs, lows, highs)
        found, expected = (each.answer(view, slices, ended, None) for each in (eager, lazy))
        assert np.array_equal(np.array(found[0][0]), np.array(expected[0][0]))
    assert eager.inner is not None
    assert len(eager.inner[0]) == inner_room(len(slices.order))
