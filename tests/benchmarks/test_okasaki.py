"""FOA and IOA as they are compiled for the benchmarks: against the oracle, with the collector and the references."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import sash
from benchmarks.algorithms.timed_calls import sliding
from benchmarks.algorithms.workloads import AGGREGATES, noise
from benchmarks.baselines import compiled_foa
from benchmarks.baselines.okasaki import OKASAKI
from benchmarks.baselines.okasaki_cells import FREE
from sash.algebra.monoid import lift
from sash.swag.ring import fold_all
from tests.swag.monoids import Counter, bound
from tests.swag.test_conformance import histories

CAPACITY = 120  # of the histories


@pytest.mark.parametrize("name", OKASAKI)
@pytest.mark.parametrize("aggregate", ["words", "turns", "max"])
@settings(max_examples=25)
@given(history=histories())
def test_agrees_with_the_oracle_within_the_bounds(name: str, aggregate: str, history: list[tuple[str, int]]) -> None:
    counter, steps = Counter(bound(aggregate)), OKASAKI[name].steps
    monoid, window = counter.monoid, list[Any]()
    state = steps.start(monoid, CAPACITY)
    for verb, value in history:
        counter.calls = 0
        if verb == "insert":
            window.append(lift(monoid, (value,)))
            steps.insert(monoid, state, window[-1])
            assert counter.calls <= steps.FACTS.insert.worst.at(len(window))
        elif verb == "evict":
            steps.evict(monoid, state)
            window.pop(0)
            assert counter.calls <= steps.FACTS.evict.worst.at(len(window))
        else:
            assert steps.query(monoid, state) == fold_all(monoid, window)
        assert steps.count(state) == len(window)


def free_cells(state: Any) -> int:
    cell, found = int(state.heads[FREE]), 0
    while cell >= 0:
        cell, found = int(state.rest[cell]), found + 1
    return found


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_counted_references_give_back_every_cell(size: int) -> None:
    monoid, steps = bound("sum"), OKASAKI["ioa"].steps
    state = steps.start(monoid, size)
    everything = free_cells(state)
    for row in range(20 * size):
        if row >= size:
            steps.evict(monoid, state)
        steps.insert(monoid, state, lift(monoid, (row,)))
        assert everything - free_cells(state) <= 3 * size + 4
    for _ in range(size):
        steps.evict(monoid, state)
    assert steps.count(state) == 0 and free_cells(state) == everything


def test_the_collector_keeps_what_can_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    collections: list[None] = []
    collect = compiled_foa._collect
    monkeypatch.setattr(compiled_foa, "_collect", lambda cells: collections.append(collect(cells)))
    monoid, steps, size = bound("words"), OKASAKI["foa"].steps, 5
    state, window = steps.start(monoid, size), list[Any]()
    for row in range(400):
        if row >= size:
            steps.evict(monoid, state)
            window.pop(0)
        window.append(lift(monoid, (row,)))
        steps.insert(monoid, state, window[-1])
        assert steps.query(monoid, state) == fold_all(monoid, window)
    assert len(collections) > 5


@pytest.mark.only_compiled
@pytest.mark.parametrize("name", OKASAKI)
def test_compiled_it_slides_as_the_catalog_does(name: str) -> None:
    values = noise(5000)
    call: Any = sliding(OKASAKI[name], AGGREGATES["sum"], values, 100)
    call()
    (found,) = call.args[4]
    assert np.allclose(found, sash.swag.slide(values, 100, sash.sum(), algorithm="recalculate"))
