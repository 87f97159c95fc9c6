"""Which windows fire after a push, by which way their results are computed, and what is not computed."""

from typing import Any

import numpy as np
import pytest

import sash
from sash.engine.trigger import Trigger
from sash.kinds.kind import Push
from sash.limits import LIMITS, Limits
from tests.limits import stream_with

ROWS: dict[str, list[Any]] = {"t": list(range(40)), "x": [float(7 * k % 11) for k in range(40)]}
GRID = sash.query("grid", sash.sliding(10, every=5), top=sash.max("x"))
LONGER = sash.query("longer", sash.sliding(20, every=5), top=sash.max("x"))
VISIT = sash.query("visit", sash.session(gap=3), n=sash.count())
LAST = sash.query("last", sash.sliding(10, every=5), names=sash.last("x"))


def begun(*queries: Any, limits: Limits = LIMITS, **options: Any) -> tuple[Trigger, Any]:
    """A stream with rows and no watermark, and a trigger of its plan."""
    stream = stream_with(limits, list(queries), on="t", **options)
    stream.push(ROWS)
    assert stream.plan is not None and stream.state is not None
    return Trigger(stream.plan), stream.state


def moved(state: Any, before: int, after: int) -> Push:
    none = np.zeros(0, np.int64)
    return Push(before, after, before, False, np.arange(state.slices.keys), none, none)


def edges(fired: Any) -> list[tuple[str, int, int]]:
    return [
        (name, int(start), int(end))
        for each in fired
        for name, start, end in zip(each.names().to_pylist(), each.starts, each.ends, strict=True)
    ]


def test_windows_fire_that_end_after_the_first_watermark_and_not_after_the_second() -> None:
    trigger, state = begun(GRID)
    assert edges(trigger.fire(state, moved(state, 10, 20))) == [("grid", 5, 15), ("grid", 10, 20)]
    assert edges(trigger.fire(state, moved(state, 20, 24))) == []


def test_grids_with_the_same_results_are_one_family_and_keep_their_names() -> None:
    trigger, state = begun(GRID, LONGER)
    assert len(trigger.plan.families) == 1
    fired = trigger.fire(state, moved(state, 19, 20))
    assert len(fired) == 1 and edges(fired) == [("grid", 10, 20), ("longer", 0, 20)]


def test_queries_with_other_results_are_another_family() -> None:
    trigger, _ = begun(GRID, LAST, VISIT)
    assert [len(family) for family in trigger.plan.families] == [1, 1, 1]


def test_before_the_next_end_nothing_is_looked_for() -> None:
    trigger, state = begun(GRID)
    assert trigger.next_end(10) == 15 and trigger.next_end(14) == 15 and trigger.next_end(15) == 20
    assert trigger.fire(state, moved(state, 10, 14)) == [] and trigger.combines == 0


def test_a_replay_computes_no_results() -> None:
    trigger, state = begun(GRID, VISIT)
    assert trigger.fire(state, moved(state, 0, 40), wants_results=False) == []
    assert trigger.combines == 0


@pytest.mark.parametrize(
    "limits", [LIMITS, Limits(slide_overlaps=0), Limits(tree_slices=0)], ids=["fold", "slide", "tree"]
)
def test_every_way_to_finish_windows_gives_the_same_results(limits: Limits) -> None:
    trigger, state = begun(GRID, LONGER, LAST, limits=limits)
    fired = trigger.fire(state, moved(state, -10, 40))
    for each in fired:
        for start, end, value in zip(each.starts, each.ends, each.columns[0][0], strict=True):
            held = [x for t, x in zip(ROWS["t"], ROWS["x"], strict=True) if start <= t < end]
            assert value == (held[-1] if each.queries[0].name == "last" else max(held))


def test_a_window_is_emitted_again_only_if_it_changed() -> None:
    trigger, state = begun(GRID, allowed_lateness=100)
    assert len(edges(trigger.fire(state, moved(state, 0, 20)))) == 4
    assert edges(trigger.fire(state, moved(state, 20, 20))) == []
