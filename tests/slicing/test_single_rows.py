"""Slices of one row: windows, nodes and saved states are those of a sketch per slice."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra.aggregate import Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid, of_partials
from sash.slicing import slice_manager
from sash.slicing.cuts import Cuts
from sash.slicing.partials import Partials, View, mark_trees_updated
from sash.slicing.single_rows import SingleRows
from sash.slicing.slices import Array, Slices
from sash.slicing.wide_trees import inner_room
from sash.slicing.window_manager import Ended

X = Column(Field("i8"), nullable=True)
SKETCHES = [
    sash.hyperloglog("x", precision=4),
    sash.count_min("x", width=8, depth=2),
    sash.bloom_filter("x", bits=64),
    sash.moment_sketch("x"),
]
LENGTHS = (80, 50, 6)


def place(slices: Slices, keys: list[int], positions: list[int]) -> slice_manager.Placement:
    """Place rows, each as a slice of its own."""
    rows = np.array(keys), np.array(positions), np.zeros(len(keys), np.int64)
    cuts = replace(Cuts.none(), is_each_row=True)
    return slice_manager.place(slices, *rows, np.array([-(2**62), 2**62]), cuts, in_order=True)


def add(stores: Any, slices: Slices, rows: list[tuple[int, int]], values: Array, valid: Array) -> None:
    placed = place(slices, [key for key, _ in rows], [at for _, at in rows])
    for store in stores:
        store.ensure(slices.capacity)
        store.reset(placed.made)
        store.add(placed.ids, (values, valid))
        store.update_trees(slices)
    mark_trees_updated(slices)


def windows(slices: Slices, random: Any) -> Ended:
    ranges = []
    for key in range(len(LENGTHS)):
        begin, count = int(slices.begin[key]), int(slices.count[key])
        for low in {0, 1, 15, 16, 17, 32, *random.integers(0, 80, 5).tolist()}:
            ranges += [
                (key, begin + low, begin + high) for high in {low + 1, low + 16, 64, count} if low < high <= count
            ]
    slots, lows, highs = (np.array(each, np.int64) for each in zip(*ranges, strict=True))
    return Ended(slots, lows, highs, lows, highs)


def view_of(monoid: Monoid) -> View:
    return View(of_partials(monoid), tuple(range(len(monoid.fields))))


def plain(fields: Any) -> list[list[Any]]:
    """Return the values of fields as numbers and lists of numbers."""
    return [[np.asarray(value).tolist() for value in field] for field in fields]


def values_and_nulls(random: Any, rows: int) -> tuple[Array, Array]:
    return random.integers(0, 1000, rows), random.random(rows) < 0.8


@pytest.mark.compiled
@pytest.mark.parametrize("eager", [True, False], ids=["eager", "lazy"])
@pytest.mark.parametrize("sketch", SKETCHES, ids=str)
def test_windows_are_those_of_a_sketch_per_slice(sketch: Template, eager: bool) -> None:
    """Rows of three keys come in pushes of seven; some slices are restored, and others are dropped and made again."""
    slices = Slices.empty(np.int64)
    slices.ensure_keys(3)
    monoid = bind(sketch, (X,))
    single, whole = SingleRows(monoid, eager), Partials(monoid, eager)
    random = np.random.default_rng(7)
    rows = [(key, at) for at in range(80) for key in range(3) if at < LENGTHS[key]]
    for first in range(0, len(rows), 7):
        part = rows[first : first + 7]
        add((single, whole), slices, part, *values_and_nulls(random, len(part)))
        if first == 63:
            saved, numbers = slices.save()
            single, old = SingleRows(monoid, eager), single
            single.restore(old.save(numbers), len(numbers))
            whole, kept = Partials(monoid, eager), whole
            whole.restore(kept.save(numbers), len(numbers))
            slices = Slices.from_saved(saved, np.int64, 0, 2**61, 2**62)
            single.update_trees(slices)
            whole.update_trees(slices)
        if first % 21 == 0:
            ended = windows(slices, random)
            found, expected = (each.answer(view_of(monoid), slices, ended, None) for each in (single, whole))
            assert [plain(each) for each in found] == [plain(each) for each in expected]
    assert single.has_sketch.any()
    if eager:
        assert single.inner is not None
        assert len(single.inner[0]) == inner_room(len(slices.order))
    numbers, _ = slices.list_all()
    assert plain(single.save(numbers)) == plain(whole.save(numbers))


def test_slices_without_a_sketch_free_the_memory_of_sketches() -> None:
    monoid = bind(SKETCHES[0], (X,))
    store = SingleRows(monoid, eager=False)
    whole = Partials(monoid, eager=False)
    whole.ensure(4)
    whole.reset(np.arange(4))
    store.restore(whole.save(np.arange(4)), 4)
    store.forget(np.array([0, 2]))
    assert len(store.fields[0]) == 4
    store.reset(np.array([1]))
    store.forget(np.array([3]))
    assert len(store.fields[0]) == 0


def test_a_copy_shares_no_array() -> None:
    slices = Slices.empty(np.int64)
    slices.ensure_keys(3)
    monoid = bind(SKETCHES[0], (X,))
    store = SingleRows(monoid, eager=False)
    random = np.random.default_rng(3)
    add((store,), slices, [(0, at) for at in range(8)], *values_and_nulls(random, 8))
    numbers, _ = slices.list_all()
    twin, before = store.copy(), store.save(numbers)
    store.add(numbers, values_and_nulls(random, 8))
    assert plain(twin.save(numbers)) == plain(before)
    assert plain(store.save(numbers)) != plain(before)
