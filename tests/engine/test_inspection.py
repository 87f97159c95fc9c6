"""What a stream says of itself between two pushes."""

import math
from typing import Any

import pytest

import sash
from sash.engine.inspection import next_end, open_count, open_windows


def looked_at(window: Any, rows: list[Any], watermark: Any) -> tuple[Any, int, list[tuple[Any, Any]]]:
    stream = sash.Stream(sash.query("q", window, n=sash.count()), on="t")
    stream.push({"t": rows}, watermark=watermark)
    assert stream._engine is not None and stream._state is not None
    plan, state = stream._engine.plan, stream._state
    shown = open_windows(plan, state)
    windows = list(zip(shown["window_start"].to_pylist(), shown["window_end"].to_pylist(), strict=True))
    return next_end(plan, state), open_count(plan, state), windows


@pytest.mark.parametrize("position", [0.6, math.nextafter(0.7, 0)])
def test_an_open_window_on_floats_has_the_edges_that_it_is_sent_with(position: float) -> None:
    assert looked_at(sash.tumbling(0.1), [position], 0.6) == (0.7, 1, [(0.6, 0.7)])
    assert looked_at(sash.sliding(0.3, every=0.1), [position], 0.7) == (0.8, 2, [(0.5, 0.8), (0.6, 0.9)])
    ends = [0.8, 0.9, 1.0]
    assert looked_at(sash.cumulative(1.0, every=0.1), [position], 0.7) == (0.8, 3, [(0.0, end) for end in ends])


def test_an_open_window_far_from_zero_is_counted_exactly() -> None:
    far = 2**61 - 9
    assert looked_at(sash.sliding(3, every=1), [far], far) == (
        far + 1,
        3,
        [(far - 2, far + 1), (far - 1, far + 2), (far, far + 3)],
    )


def test_the_next_end_of_the_last_rows_knows_their_offset() -> None:
    assert looked_at(sash.sliding(rows=2, every=1.0, offset=0.25), [0.5], 0.5)[0] == 1.25


@pytest.mark.parametrize(
    "window", [sash.tumbling(0.1), sash.cumulative(1.0, every=0.1), sash.sliding(rows=2, every=1.0)], ids=str
)
def test_a_stream_that_ended_has_no_next_end(window: Any) -> None:
    assert looked_at(window, [0.5], math.inf)[0] is None
