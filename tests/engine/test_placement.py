"""Rows in slices: sorted by key or not, for good or for now."""

import pickle
from typing import Any

import numpy as np

import sash
from sash.engine.placement import Placer
from sash.engine.state import State
from sash.limits import LIMITS, Limits
from tests.limits import stream_with

ROWS = {"t": [3, 1, 12, 4, 15, 12], "k": ["a", "b", "a", "b", "c", "a"], "x": [1, 2, 3, 4, 5, 6]}


def state_after(limits: Limits, window: Any, **options: Any) -> "tuple[Placer, State]":
    query = sash.query("q", window, n=sash.count(), s=sash.sum("x"), m=sash.max("x"))
    stream = stream_with(limits, query, on="t", by="k", **options)
    stream.push(ROWS)
    assert stream.plan is not None and stream.state is not None
    return Placer(stream.plan), stream.state


def by_key(state: State) -> dict[Any, list[tuple[int, int]]]:
    slices, keys = state.slices, state.keys.columns(np.arange(len(state.keys)))[0].to_pylist()
    return {
        key: [(int(slices.firsts[each]), int(slices.lasts[each])) for each in slices.of_key(slot)]
        for slot, key in enumerate(keys)
    }


def test_a_push_that_is_sorted_by_key_makes_the_same_slices() -> None:
    _, plain = state_after(LIMITS, sash.tumbling(10))
    _, sorted_ = state_after(Limits(sort_keys=0), sash.tumbling(10))
    assert by_key(plain) == by_key(sorted_) == {"a": [(3, 3), (12, 12)], "b": [(1, 4)], "c": [(15, 15)]}


def test_rows_that_were_placed_for_now_leave_nothing_behind() -> None:
    placer, state = state_after(LIMITS, sash.tumbling(rows=2), allowed_lateness=5, watermark=4)
    before = pickle.dumps(state.save())
    assert len(state.waiting)
    snapshot = placer.place_provisional(state, state.waiting)
    assert snapshot is not None and pickle.dumps(state.save()) != before
    placer.restore_placement(state, snapshot)
    state.slices.check()
    assert pickle.dumps(state.save()) == before


def test_no_rows_are_placed_for_now_where_there_are_none() -> None:
    placer, state = state_after(LIMITS, sash.tumbling(10))
    assert placer.place_provisional(state, state.waiting.part(0, 0)) is None
