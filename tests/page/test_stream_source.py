"""The page of a `sash.Stream`: what it shows equals what the stream did, and the stream does not notice it."""

import json
from typing import Any

import numpy as np
import pytest

import sash
from sash.page.records import Arrivals, Figures, Inbox, LateRow, MicroBatch, SliceFacts, Stopped, StreamFacts
from sash.page.sources import stream as stream_source
from sash.page.sources.stream import StreamSource
from tests.page.pages import Events, ask
from tests.page.test_m4 import brute_force

QUERIES = [
    sash.query("ten", sash.sliding(20, every=10), peak=sash.max("x"), mean=sash.mean("x")),
    sash.query("use", sash.session(gap=3), n=sash.count()),
]


@pytest.fixture(autouse=True)
def always_read(monkeypatch: Any) -> None:
    """Read the stream at every push, so that tests need not wait."""
    for name in ("INTERVAL_S", "WINDOWS_S", "SAMPLE_S"):
        monkeypatch.setattr(stream_source, name, 0.0)


def stream_of(**options: Any) -> Any:
    return sash.Stream(QUERIES, on="t", by="k", watermark=2, **options)


def rows(times: Any, key: Any = "a", x: Any = 1.0) -> Any:
    return {"t": list(times), "k": [key] * len(times), "x": [float(x)] * len(times)}


def records_of(stream: Any, *pushes: Any) -> Any:
    """Push with a source attached; return the records of all pushes, and the results that it got."""
    inbox = Inbox()
    source = StreamSource(stream, "test")
    source.start(inbox)
    for push in pushes:
        stream.push(push)
    source.poll()
    source.stop()
    return inbox.take()


def last(records: Any, kind: Any) -> Any:
    return [each for each in records if isinstance(each, kind)][-1]


def test_figures_have_the_names_and_values_of_the_stream() -> None:
    stream = stream_of()
    records, _ = records_of(stream, rows([1, 12, 25]), rows([30]))
    figures = last(records, Figures)
    assert (figures.watermark, figures.newest, figures.keys, figures.rows) == (28.0, 30.0, 1, 1)
    assert figures.state_bytes == stream.state_bytes
    assert figures.why == sash.why(stream)
    assert figures.open_windows >= 3


def test_results_are_those_that_push_returns() -> None:
    observed, plain = stream_of(), stream_of()
    pushes = [rows([1, 12, 25]), rows([30, 41]), rows([60])]
    _, tables = records_of(observed, *pushes)
    expected = [plain.push(each) for each in pushes]
    assert [each.to_pylist() for each in tables] == [each.to_pylist() for each in expected if each.num_rows]


def test_open_windows_are_those_of_the_state() -> None:
    stream = stream_of()
    records, _ = records_of(stream, rows([1, 12], "a"), rows([13], "b"))
    windows = [each for each in records if isinstance(each, tuple)][-1]
    found = {(each.query, each.start, each.end): each.keys for each in windows}
    assert found["ten", 0.0, 20.0] == 2
    assert found["ten", 10.0, 30.0] == 2
    assert found["use", 13.0, 16.0] == 1


def test_rejected_rows_are_shown_with_their_reason() -> None:
    records, _ = records_of(stream_of(), rows([50]), {"t": [3, None], "k": ["a", "a"], "x": [1.0, 2.0]})
    late = [each for each in records if isinstance(each, LateRow)]
    assert [(each.position, each.watermark) for each in late] == [(3.0, 48.0), (None, 48.0)]
    assert "watermark had passed" in late[0].reason
    assert "no position" in late[1].reason
    assert late[0].row == "t=3, k=a, x=1.0"


def test_slices_name_the_queries_that_cut_them() -> None:
    records, _ = records_of(stream_of(), rows([1, 2, 12, 19]))
    slices = last(records, SliceFacts)
    assert slices.key == "a"
    assert [(start, end, cuts) for start, end, _, cuts in slices.slices] == [
        (1.0, 10.0, ("ten",)),
        (12.0, 20.0, ("ten",)),
        (19.0, 20.0, ("ten",)),
    ]


def test_slices_of_another_key_can_be_asked_for() -> None:
    stream = stream_of()
    inbox, source = Inbox(), StreamSource(stream, "test")
    source.start(inbox)
    stream.push(rows([1, 12, 19], "a"))
    stream.push(rows([18], "b"))
    source.ask_slices("b")
    assert last(inbox.take()[0], SliceFacts).key == "b"
    source.ask_slices("no such key")
    assert last(inbox.take()[0], SliceFacts).key == "a"
    source.stop()


def test_keys_and_arrivals_are_counted() -> None:
    records, _ = records_of(stream_of(), rows([1, 2, 3], "a"), rows([4], "b"))
    arrivals = [each for each in records if isinstance(each, Arrivals)]
    assert [each.keys for each in arrivals] == [(("a", 3),), (("b", 1),)]
    assert arrivals[0].positions.tolist() == [1.0, 2.0, 3.0]
    assert arrivals[1].newest_before == 3.0


def test_large_push_is_sampled_with_weights(monkeypatch: Any) -> None:
    monkeypatch.setattr(stream_source, "MOST_SAMPLED", 10)
    records, _ = records_of(stream_of(), rows(range(1000)))
    arrivals = last(records, Arrivals)
    assert len(arrivals.positions) == 10
    assert arrivals.weight * 10 == 1000


def test_rows_pushed_one_by_one_are_counted() -> None:
    stream = sash.Stream(QUERIES[0], on="t", by="k", watermark=2)
    records, _ = records_of(stream, *(rows([t]) for t in range(50)))
    assert sum(each.rows for each in records if isinstance(each, MicroBatch)) == 50


def test_added_query_appears() -> None:
    stream = stream_of()
    inbox, source = Inbox(), StreamSource(stream, "test")
    source.start(inbox)
    stream.push(rows([1]))
    stream.add(sash.query("five", sash.tumbling(5), n=sash.count()))
    stream.push(rows([2]))
    facts = last(inbox.take()[0], StreamFacts)
    assert [each.name for each in facts.queries] == ["ten", "use", "five"]
    source.stop()


def test_end_of_the_stream_is_told() -> None:
    stream = stream_of()
    inbox, source = Inbox(), StreamSource(stream, "test")
    source.start(inbox)
    stream.push(rows([1]))
    stream.finish()
    assert last(inbox.take()[0], Stopped).state == "stopped"
    source.stop()


def test_times_are_seconds_since_1970() -> None:
    stream = sash.Stream(sash.query("m", sash.tumbling("1 minute"), n=sash.count()), on="t", watermark="5 seconds")
    times = np.array([0, 90_000_000], "datetime64[us]")
    records, _ = records_of(stream, {"t": times})
    facts, figures = last(records, StreamFacts), last(records, Figures)
    assert (facts.unit, facts.delay) == ("time", 5.0)
    assert (figures.newest, figures.watermark, figures.next_end) == (90.0, 85.0, 120.0)


def test_page_with_a_failing_reading_never_fails_a_push(monkeypatch: Any) -> None:
    stream = stream_of()
    page = sash.page(stream)
    monkeypatch.setattr(StreamSource, "_read", lambda *_: 1 / 0)
    assert stream.push(rows([1, 60])).num_rows > 0
    page.close()
    assert stream.push(rows([100])).num_rows > 0


def test_line_of_the_page_equals_all_results_through_revisions() -> None:
    stream = stream_of(allowed_lateness=30)
    dice = np.random.default_rng(3)
    known, sent = {}, 0
    with sash.page(stream) as page:
        for number in range(40):
            times = (number * 10 + dice.integers(-25, 10, 20)).tolist()
            pushed = {"t": times, "k": dice.choice(["a", "b"], 20).tolist(), "x": dice.integers(0, 99, 20).tolist()}
            for row in stream.push(pushed).to_pylist():
                sent += row["query"] == "ten"
                if (row["k"], row["query"]) == ("a", "ten"):
                    known[row["window_start"], row["window_end"]] = row["peak"]
        own = (data for name, data in Events(page) if name == "results" and data["query"] == "ten")
        assert next(data for data in own if data["count"] == sent)  # all have come
        _, body = ask(page, "/api/m4", query="ten", key="a", aggregate="peak", width=7, **{"from": 33, "to": 301})
        answer = json.loads(body)
        points = sorted((end, value) for (_, end), value in known.items())
        expected = brute_force(points, np.linspace(33, 301, 8))
        assert [tuple(each) for each in answer["columns"]] == expected
        assert sent > 2 * len(known)  # two keys, and windows that were emitted again


def test_windows_on_the_page_open_and_close() -> Any:
    stream = stream_of()
    with sash.page(stream) as page:
        stream.push(rows([1, 12]))
        events = iter(Events(page))

        def states(wanted: Any) -> Any:
            for name, data in events:
                if name == "time":
                    bars = {(each["start"], each["end"]): each for each in data["queries"][0]["windows"]}
                    if bars.get((0.0, 20.0), {}).get("state") == wanted:
                        return bars[0.0, 20.0]["waits"]
            raise AssertionError(wanted)

        assert states("open") == "It closes when a row at 22 or later comes."
        stream.push(rows([22]))
        assert states("closed") == "It is closed."
