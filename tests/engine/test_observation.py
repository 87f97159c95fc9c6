"""Observers of a stream see each push, and cannot harm it."""

from typing import Any

import pytest

import sash

TEN = sash.query("ten", sash.tumbling(10), n=sash.count())


def test_observer_sees_rows_results_and_counts() -> None:
    stream, seen = sash.Stream(TEN, on="t", by="k"), []
    stop = stream.observe(lambda push: seen.append((push.count, push.results.num_rows, push.open_windows)))
    stream.push({"t": [1, 12], "k": ["a", "b"]})
    stream.push({}, watermark=10)
    stop()
    stream.push({"t": [30], "k": ["a"]})
    assert seen == [(2, 0, 2), (0, 1, 1)]


def test_observer_that_fails_is_removed_and_the_push_succeeds() -> None:
    stream, calls = sash.Stream(TEN, on="t"), []

    def fails(push: Any) -> None:
        calls.append(push)
        raise RuntimeError

    stream.observe(fails)
    assert stream.push({"t": [1]}, watermark=10).num_rows == 1
    stream.push({"t": [11]})
    assert len(calls) == 1


def test_observer_sees_rejected_rows_with_the_watermark_before_the_push() -> None:
    stream, seen = sash.Stream(TEN, on="t", watermark=0), []
    stream.observe(lambda push: seen.append(push.rejected(10)))
    stream.push({"t": [20]})
    stream.push({"t": [5, None, 40]})
    stream.push({"t": [41]})
    assert [table.to_pylist() for table, _ in seen] == [
        [],
        [{"t": 5, "_position": 5}, {"t": None, "_position": None}],
        [],
    ]
    assert [watermark for _, watermark in seen] == [None, 20, None]


def test_observer_that_pushes_is_refused_and_removed() -> None:
    stream, seen = sash.Stream(TEN, on="t"), []

    def pushes(push: Any) -> None:
        with pytest.raises(sash.SashError, match="push"):
            stream.push({"t": [1]})
        seen.append(True)

    stream.observe(pushes)
    stream.push({"t": [1]})
    assert seen == [True]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (sash.query("q", sash.sliding(20, every=10), n=sash.count()), [("q",)]),
        (sash.query("q", sash.landmark(start=0, end=100), n=sash.count()), [("q",)]),
        (sash.query("q", sash.session(gap=5), n=sash.count()), [("q",)]),
        (sash.query("q", sash.sliding(0.5, every=0.1), n=sash.count()), [("q",)]),
    ],
)
def test_every_slice_names_a_query_that_cut_it(query: Any, expected: Any) -> None:
    stream, seen = sash.Stream(query, on="t"), []
    stream.observe(lambda push: seen.append(push.slices(None)[1]))
    stream.push({"t": [1.0] if query.window.size == 0.5 else [1]} if hasattr(query.window, "size") else {"t": [1]})
    assert seen == [expected]


def test_why_of_a_stream_says_what_it_waits_for() -> None:
    stream = sash.Stream(TEN, on="t")
    assert sash.why(stream) == "No row has come yet."
    stream.push({"t": [3]})
    assert "push(…, watermark=…) sets it" in sash.why(stream)
    stream.push({}, watermark=5)
    assert "The next ends at 10, and closes when the watermark reaches it." in sash.why(stream)
    stream.push({"t": [1]})
    assert "1 row was rejected" in sash.why(stream)
    stream.finish()
    assert "flushed" in sash.why(stream)
