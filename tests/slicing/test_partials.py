"""Partials of slices: rows are folded in order, slices are merged oldest left, windows read folds, slides or trees."""

from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra.aggregate import bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, of_partials
from sash.errors import InvalidState
from sash.slicing.partials import Partials, View, mark_trees_updated
from sash.slicing.slices import Slices
from sash.slicing.window_manager import Ended
from tests.slicing.made import made

X = Column(Field("i8"))
AGGREGATES = {"max": sash.max("x"), "sum": sash.sum("x"), "first": sash.first("x"), "last": sash.last("x")}
WAYS = ["fold", "slide", "tree"]


def kept(name: str, values: list[int], ids: list[int], eager: bool = False) -> Partials:
    partials = Partials(bind(AGGREGATES[name], (X,)), eager)
    partials.ensure(max(ids) + 1)
    partials.reset(np.arange(max(ids) + 1))
    partials.add(np.array(ids), (np.array(values),))
    return partials


def view_of(partials: Partials) -> View:
    return View(of_partials(partials.monoid), tuple(range(len(partials.fields))))


def results(partials: Partials, slices: Slices, ended: Ended, way: str = "fold") -> list[Any]:
    if way == "tree":
        partials.update_trees(slices)
        mark_trees_updated(slices)
    found, _ = partials.answer(view_of(partials), slices, ended, "two_stacks_lite" if way == "slide" else None)
    return [int(each) for each in found[0]]


def windows(*ranges: tuple[int, int, int]) -> Ended:
    slots, lows, highs = (np.array(each, np.int64) for each in zip(*ranges, strict=True))
    return Ended(slots, lows, highs, lows, highs)


EXPECTED: dict[str, Any] = {"max": max, "sum": sum, "first": lambda held: held[0], "last": lambda held: held[-1]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", AGGREGATES)
def test_windows_hold_the_rows_of_their_slices_oldest_first(name: str, way: str) -> None:
    """Two keys of seven slices each; a slice has three rows."""
    rows = [(key, 10 * place + k) for place in range(7) for key in (0, 1) for k in range(3)]
    slices = made(rows, list(range(0, 80, 10)))
    ids: list[int] = []
    values: list[int] = []
    of_slice: dict[int, list[int]] = {}
    for key, position in rows:
        number = slices.of_key(key)[position // 10]
        ids.append(int(number))
        values.append((7 * position + 3 * key) % 31)
        of_slice.setdefault(ids[-1], []).append(values[-1])
    partials = kept(name, values, ids, eager=way == "tree")
    begins = [int(slices.begin[key]) for key in (0, 1)]
    ranges = [
        (key, begins[key] + low, begins[key] + high) for key in (0, 1) for low in range(7) for high in (low + 1, 7)
    ]
    held = [[x for at in range(low, high) for x in of_slice[int(slices.order[at])]] for _, low, high in ranges]
    assert results(partials, slices, windows(*ranges), way) == [EXPECTED[name](each) for each in held]


@pytest.mark.parametrize("name", AGGREGATES)
def test_a_merged_slice_is_newer_than_the_one_that_it_joins(name: str) -> None:
    partials = kept(name, [5, 3, 8, 1], [0, 0, 1, 1])
    partials.merge(np.array([[0, 1]]))
    slices = made([(0, 1)], [0, 10])
    assert results(partials, slices, windows((0, 0, 1))) == [EXPECTED[name]([5, 3, 8, 1])]


def test_no_windows_have_no_results() -> None:
    partials = kept("sum", [1], [0])
    assert results(partials, made([(0, 1)], [0]), Ended.none(np.int64)) == []


def test_a_copy_does_not_see_later_rows() -> None:
    partials = kept("sum", [1, 2], [0, 0])
    twin = partials.copy()
    partials.add(np.array([0]), (np.array([10]),))
    slices = made([(0, 1)], [0])
    assert [results(each, slices, windows((0, 0, 1))) for each in (partials, twin)] == [[13], [3]]


def test_saved_partials_are_read_again_and_others_are_refused() -> None:
    partials = kept("last", [1, 2, 3], [0, 1, 2])
    saved = partials.save(np.array([2, 0]))
    twin = Partials(partials.monoid, False)
    twin.restore(saved, 2)
    slices = made([(0, 1), (0, 11)], [0, 10])
    assert results(twin, slices, windows((0, 0, 1), (0, 1, 2))) == [3, 1]
    with pytest.raises(InvalidState, match="3 slices"):
        twin.restore(saved, 3)
