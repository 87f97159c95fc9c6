"""Where rows are placed, and what trees over slices are told of it."""

import numpy as np
import pytest

import sash
from sash.slicing import slice_manager
from sash.slicing.cuts import Cuts
from sash.slicing.partials import mark_trees_updated
from sash.slicing.slices import Slices

pytestmark = pytest.mark.compiled


def test_a_tail_that_joins_the_slice_before_it_marks_that_slice_as_changed() -> None:
    slices = Slices.empty(np.int64)
    slices.ensure_keys(1)
    cuts = Cuts(np.zeros(0, np.int64), np.zeros(0, np.int64), -1, has_tails=True)
    edges = np.array([-100, 100])

    def put(position: int) -> int:
        one = np.array([position])
        return len(
            slice_manager.place(slices, np.zeros(1, np.int64), one, np.zeros(1, np.int64), edges, cuts, True).merged
        )

    # slices: [1] [2], then [1 2] [3], then [1 2 3] [4]
    assert [put(1), put(2), put(3)] == [0, 0, 1]
    mark_trees_updated(slices)
    assert put(4) == 1
    assert slices.firsts[slices.of_key(0)].tolist() == [1, 4]
    assert slices.dirty[0] == 0


def test_rows_are_counted_by_a_tree_whose_slices_were_joined_meanwhile() -> None:
    queries = [
        sash.query("grid", sash.sliding(40, every=2), n=sash.count()),
        sash.query("all", sash.punctuated("new"), n=sash.count()),
    ]
    stream = sash.Stream(queries, on="t", allowed_lateness=4)
    for at in range(100):
        stream.push({"t": [at], "new": [False]}, watermark=at)
    found = {row["query"]: row["n"] for row in stream.finish().to_pylist()}
    assert found["all"] == 100


def test_rows_of_one_batch_make_a_slice_for_each_punctuation_and_one_tail() -> None:
    slices = Slices.empty(np.int64)
    slices.ensure_keys(1)
    cuts = Cuts(np.zeros(0, np.int64), np.zeros(0, np.int64), -1, has_tails=True)
    bits = (np.arange(100) % 20 == 0).astype(np.int64)
    placed = slice_manager.place(
        slices, np.zeros(100, np.int64), np.arange(100), bits, np.array([-1000, 1000]), cuts, True, final=99
    )
    assert (len(placed.made), len(placed.merged)) == (6, 0)
    assert slices.firsts[slices.of_key(0)].tolist() == [0, 20, 40, 60, 80, 99]
