"""Queries that come and go, and limits forced down: what a query reports depends on neither."""

import datetime as dt
import math
import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings

import sash
from sash.algebra.compiler import JIT_DISABLED
from sash.engine import step
from tests.engine import test_random
from tests.engine.transcripts import Transcript
from tests.limits import LOW, restored, stream_with

COUNTED = {"n": sash.count(), "s": sash.sum("x")}
ENDS = {"f": sash.first("x"), "l": sash.last("x")}
MIDDLE = {"m": sash.median("x"), "n": sash.count()}
SKETCHED = {"c": sash.count_min("x", width=4, depth=2), "n": sash.count("x")}


class Weeks(sash.ContextFreeWindow):
    """The last two stretches of seven."""

    reach = 14

    def next_edge(self, position: Any) -> Any:
        return (position // 7 + 1) * 7

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        return [(end - 14, end) for end in range((after // 7 + 1) * 7, until + 1, 7)]


class Elevens(sash.ContextAwareWindow):
    """From one multiple of eleven that has a row to the next, unless that is out of reach."""

    reach = 50

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in positions:
            if position % 11 == 0 and context.memory.get("since") != position:
                if position - context.memory.get("since", position) in range(1, self.reach):
                    context.add(context.memory["since"], position)
                context.memory["since"] = position


def any_window(draw: random.Random) -> Any:
    make: Any = draw.choice(
        [
            lambda: sash.tumbling(draw.randint(1, 15)),
            lambda: sash.sliding(draw.randint(1, 30), every=draw.randint(1, 9)),
            lambda: sash.session(gap=draw.randint(1, 6)),
            lambda: sash.sliding(rows=draw.randint(1, 9), every=draw.randint(1, 5)),
            lambda: sash.sliding(rows=draw.randint(1, 5), every=dt.timedelta(microseconds=draw.randint(1, 9))),
            lambda: sash.punctuated(draw.choice("ab")),
            lambda: sash.cumulative(12, every=4),
            lambda: sash.landmark(start=10, end=draw.randint(20, 150)),
            Weeks,
            Elevens,
        ]
    )
    return make()


def any_rows(draw: random.Random, now: int, in_order: bool) -> Any:
    count = draw.choice([0, 1, 3, 20])
    if not count:
        return {}
    positions = [now + draw.randint(0, 10) - (0 if in_order else draw.randint(0, 12)) for _ in range(count)]
    return pa.table(
        {
            "t": pa.array(sorted(positions) if in_order else positions, pa.int64()),
            "k": pa.array([draw.randint(0, 2) for _ in positions], pa.int64()),
            "x": pa.array([draw.choice([None, 1, 2, 3, 4]) for _ in positions], pa.int64()),
            "a": [draw.random() < 0.2 for _ in positions],
            "b": [draw.random() < 0.2 for _ in positions],
        }
    )


# Interpreted, a write past an array is an error: that is the run to find it.
@pytest.mark.parametrize("seed", range(120 if JIT_DISABLED else 40))
def test_a_query_does_not_notice_others_that_come_and_go(seed: int) -> None:
    draw = random.Random(seed)
    in_order = draw.random() < 0.25
    lateness = 0 if in_order else draw.choice([0, 0, 8, 30])
    emit = draw.choice(["final", "final", "updates"])
    aggregates: Any = draw.choice([COUNTED, COUNTED, ENDS, MIDDLE, SKETCHED])
    query = sash.query("q", any_window(draw), **aggregates)
    options: Any = {"on": "t", "by": "k", "in_order": in_order, "allowed_lateness": lateness, "emit": emit}
    alone, among = (stream_with(LOW, [query], **options) for _ in range(2))
    columns = ["k", "window_start", "window_end", *aggregates] + (["revision"] if lateness or emit != "final" else [])

    def seen(results: pa.Table) -> list[str]:
        return sorted(repr([row[name] for name in columns]) for row in results.to_pylist() if row["query"] == "q")

    now, others = 0, 0
    for at in range(draw.randint(3, 14)):
        if draw.random() < 0.5:
            names = [each.name for each in among.queries if each.name != "q"]
            if names and draw.random() < 0.5:
                among.remove(draw.choice(names))
            else:
                others += 1
                chosen: Any = draw.choice([COUNTED, ENDS, MIDDLE, SKETCHED])
                results = {f"{name}_{others % 2}": each for name, each in chosen.items()}
                others_query = sash.query(f"o{others}", any_window(draw), **results)
                among.add(others_query)
        if draw.random() < 0.2:
            among = restored(among, among.queries, LOW)
        rows = any_rows(draw, now, in_order)
        now += draw.randint(0, 14)
        mark: Any = None if in_order else draw.choice([None, now - draw.randint(0, 10)])
        mark = math.inf if at == 12 else mark
        assert seen(among.push(rows, watermark=mark)) == seen(alone.push(rows, watermark=mark)), f"push {at} of {query}"
        if among._state is not None:
            among._state.slices.check()


def test_rows_before_a_slice_across_a_new_edge_keep_its_place() -> None:
    """Rows at 23 and 27 are one slice when the edge at 24 comes; one at 22 is then a slice of its own."""
    stream = sash.Stream(sash.query("q", sash.tumbling(28), n=sash.count()), on="t", by="k")
    stream.push({"t": [23, 27], "k": [0, 0]})
    stream.add(sash.query("edge", sash.tumbling(24), n=sash.count()))
    stream.push({"t": [22, 22, 23, 21], "k": [0, 1, 0, 0]})
    assert stream.state is not None
    stream.state.slices.check()
    found = stream.push({}, watermark=28).to_pylist()
    assert [row["n"] for row in found if row["query"] == "q"] == [5, 1]


def test_rows_before_two_slices_that_an_edge_parted_keep_their_place() -> None:
    stream = sash.Stream([sash.query(f"q{size}", sash.tumbling(size), n=sash.count()) for size in (70, 63)], on="t")
    stream.push({"t": [62, 66]})
    stream.remove("q63")
    stream.push({"t": [67, 61, 64]})
    assert stream.state is not None
    stream.state.slices.check()
    assert stream.push({}, watermark=70).column("n").to_pylist() == [5]


def test_a_session_added_after_another_does_not_join_rows_from_before_both() -> None:
    """Rows at 0 and 10 are one slice: none of the sessions was there to cut it."""
    stream = sash.Stream(sash.query("q", sash.tumbling(20), n=sash.count()), on="t")
    stream.push({"t": [0, 10]})
    for gap in (2, 6):
        stream.add(sash.query(f"gap{gap}", sash.session(gap=gap), n=sash.count()))
    found = stream.push({"t": [12, 30, 34]}, watermark=math.inf).to_pylist()
    sessions = [(row["query"], row["window_start"], row["n"]) for row in found if row["query"] != "q"]
    assert sessions == [("gap2", 30, 1), ("gap2", 34, 1), ("gap6", 30, 2)]


def test_a_session_sees_what_another_one_with_a_smaller_gap_has_cut() -> None:
    stream = sash.Stream(sash.query("gap2", sash.session(gap=2), n=sash.count()), on="t")
    stream.push({"t": [0, 10]})
    stream.add(sash.query("gap6", sash.session(gap=6), n=sash.count()))
    found = stream.push({"t": [12]}, watermark=math.inf).to_pylist()
    sessions = [(row["query"], row["window_start"], row["n"]) for row in found if row["query"] == "gap6"]
    assert sessions == [("gap6", 0, 1), ("gap6", 10, 2)]


@pytest.mark.compiled
def test_random_streams_agree_with_the_oracle_when_every_limit_is_low() -> None:
    # Only compiled partials have trees over them; one set of aggregates, for each is compiled.
    streams = test_random.transcripts() if JIT_DISABLED else test_random.pointed(test_random.COMMUTATIVE[:1])
    profile = test_random.PROFILE if JIT_DISABLED else settings(test_random.PROFILE, max_examples=40)

    @profile
    @given(transcript=streams, saves=test_random.SAVES)
    def agree(transcript: Transcript, saves: list[bool]) -> None:
        test_random.check(transcript, saves, LOW)

    agree()


@pytest.mark.fuzz
def test_campaign_of_random_streams_agrees_when_every_limit_is_low(request: pytest.FixtureRequest) -> None:
    if "fuzz" not in request.config.option.markexpr:
        pytest.skip("a long campaign: pytest -m fuzz, or make fuzz")
    assert test_random.campaign(600, limits=LOW) > 0


def test_a_context_aware_window_is_sent_once_for_each_change() -> None:
    stream = sash.Stream(sash.query("q", Elevens(), n=sash.count()), on="t", allowed_lateness=5)
    sent = [stream.push({"t": [at, at + 1]}, watermark=at).to_pylist() for at in range(0, 60, 2)]
    windows = [(row["window_start"], row["window_end"], row["revision"]) for results in sent for row in results]
    assert windows == [(0, 11, 0), (11, 22, 0), (22, 33, 0), (33, 44, 0), (44, 55, 0)]


class Nested(sash.ContextAwareWindow):
    reach = 1000

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        if not context.memory:
            context.memory["told"] = True
            context.add(5, 10)
            context.add(0, 20)


def test_windows_that_overlap_are_not_sent_again_unchanged() -> None:
    stream = sash.Stream(sash.query("q", Nested(), n=sash.count()), on="t", allowed_lateness=100)
    stream.push({"t": [1, 6, 15, 30]}, watermark=15)
    first = stream.push({}, watermark=30).to_pylist()
    assert sorted((row["window_start"], row["n"]) for row in first) == [(0, 3)]
    assert stream.push({}, watermark=31).num_rows == 0
    again = stream.push({"t": [12]}).to_pylist()
    assert [(row["window_start"], row["n"], row["revision"]) for row in again] == [(0, 4, first[0]["revision"] + 1)]


@pytest.mark.parametrize("in_order", [False, True])
def test_a_punctuation_at_the_newest_position_comes_after_a_sweep(in_order: bool) -> None:
    stream = sash.Stream(sash.query("p", sash.punctuated("a"), n=sash.count()), on="t", by="k", in_order=in_order)
    keys = list(range(400))
    mark: Any = (lambda position: None) if in_order else (lambda position: position)
    stream.push({"t": [0] * 400 + [1] * 400, "k": keys * 2, "a": [False] * 800}, watermark=mark(1))
    found = stream.push({"t": [1, 2, 3], "k": [0, 0, 0], "a": [True, True, False]}, watermark=mark(3)).to_pylist()
    assert [(row["window_start"], row["window_end"], row["n"]) for row in found] == [(0, 1, 1), (1, 2, 2)]


def test_a_context_free_window_without_reach_is_complete_at_the_end() -> None:
    class Endless(Weeks):
        reach = None  # type: ignore[assignment]

    rows = {"t": [3, 20], "x": [1, 2]}
    mine = sash.aggregate(rows, sash.query("q", Endless(), n=sash.count()), on="t").to_pylist()
    grid = sash.aggregate(rows, sash.query("q", sash.sliding(14, every=7), n=sash.count()), on="t").to_pylist()
    assert mine == grid


def test_an_interrupted_push_breaks_the_stream_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = sash.Stream(sash.query("q", sash.tumbling(10), n=sash.count()), on="t")
    stream.push({"t": [1]})

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(step, "table_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stream.push({"t": [11]}, watermark=10)
    with pytest.raises(sash.errors.BrokenStream, match="last save"):
        stream.push({"t": [12]})


ADDED_LATER = [
    sash.tumbling(10),
    sash.sliding(10, every=5),
    sash.cumulative(10, every=5),
    sash.landmark(start=0, end=10),
    sash.sliding(rows=4, every=1),
    Weeks(),
]


@pytest.mark.parametrize("window", ADDED_LATER, ids=str)
@pytest.mark.parametrize("restores", [False, True])
@pytest.mark.parametrize("lateness", [0, 5])
def test_no_window_of_a_query_added_later_mixes_parts_of_unlike_rows(
    window: Any, restores: bool, lateness: int
) -> None:
    """A mean needs a count and a sum: the count may have been kept for another query, and the sum not."""
    stream = sash.Stream(sash.query("q", window, n=sash.count("x")), on="t", allowed_lateness=lateness)
    stream.push({"t": [1, 2, 3], "x": [10, 10, 10]})
    for k, added in enumerate((sash.sum("x"), sash.mean("x"), sash.stddev("x"))):
        stream.add(sash.query(f"a{k}", window, **{f"value{k}": added}))
        if restores:
            stream = sash.Stream.restore(stream.save(), stream.queries)
        stream.push({"t": [4 + k], "x": [10]})
    results = stream.push({"t": [7, 12, 13, 15, 18, 31, 33, 36], "x": [10] * 8}, watermark=60).to_pylist()
    means = [row["value1"] for row in results if row["query"] == "a1"]
    assert set(means) == {10.0} or (not means and str(window).startswith("landmark"))
    assert {row["value2"] for row in results if row["query"] == "a2"} <= {0.0, None}
