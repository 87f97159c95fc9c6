"""A stream and several threads, and functions that its own push calls."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

import sash
from sash.errors import CallWithinCall
from tests.swag.test_guard import THREADS, in_threads

pytestmark = pytest.mark.compiled

TEN = sash.query("ten", sash.tumbling(10), n=sash.count(), s=sash.sum("x"))


def test_threads_that_share_a_stream_lose_no_row() -> None:
    queries = [TEN, sash.query("ranks", sash.sliding(rows=3, every=3), n=sash.count())]
    stream = sash.Stream(queries, on="t", by="k", late="keep")
    other = sash.query("other", sash.session(gap=2), n=sash.count())
    stream.push({"t": [0], "k": ["first"], "x": [1]})

    def work(number: int) -> None:
        for at in range(60):
            times = [at * 5 + k for k in range(40)]
            stream.push({"t": times, "k": [f"k{number}.{t % 5}" for t in times], "x": [1] * 40})
            if number == 0:
                assert sash.Stream.restore(stream.save(), stream.queries).late_count == 0
                assert stream.state_bytes > 0 and "rows" in repr(stream)
            elif number == 1:
                stream.add(other)
                stream.remove("other")
            else:
                assert stream.late().num_rows == 0

    in_threads(work)
    found = stream.finish().to_pylist()
    assert sum(row["n"] for row in found if row["query"] == "ten") == 1 + 40 * 60 * THREADS
    assert stream.state is not None
    stream.state.slices.check()


def test_a_function_that_a_push_calls_cannot_use_the_stream() -> None:
    calls: list[Callable[[], Any]] = []

    def lifted(x: Any) -> Any:
        while calls:
            calls.pop()()
        return [x]

    own = sash.Aggregate("own", state="O", identity=[], lift=lifted, combine=lambda a, b: a + b)
    stream = sash.Stream([sash.query("q", sash.tumbling(10), v=own("x"))], on="t")
    stream.push({"t": [1], "x": [1]})
    before = stream.save()
    rows = {"t": [2], "x": [2]}
    uses = (lambda: stream.push(rows), stream.finish, stream.save, lambda: stream.remove("q"), lambda: stream.add(TEN))
    for use in uses:
        calls.append(use)
        with pytest.raises(
            CallWithinCall, match=r"while push\(\) of the same stream was running.*after push\(\) has returned"
        ):
            stream.push(rows, watermark=4)
        assert stream.save() == before
    calls.append(lambda: (repr(stream), stream.late_count, stream.state_bytes))
    stream.push(rows)
    assert stream.finish().column("v").to_pylist() == [[1, 2]]


def test_a_copy_of_a_stream_goes_on_by_itself() -> None:
    stream = sash.Stream(TEN, on="t")
    stream.push({"t": [1], "x": [5]})
    twin = deepcopy(stream)
    assert twin.push({"t": [2], "x": [1]}, watermark=10).column("s").to_pylist() == [6]
    assert stream.push({}, watermark=10).column("s").to_pylist() == [5]
