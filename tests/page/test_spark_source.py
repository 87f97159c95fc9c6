"""What the page reads of a query of Spark, without Spark: reports are plain values."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Row

import sash
from sash.engine.options import options_of
from sash.page.axis import LatenessCounts
from sash.page.board import Board
from sash.page.kept_results import KeptResults
from sash.page.records import BucketRows, Figures, Inbox, LateRow, MicroBatch, QueryFacts, SliceFacts, StreamFacts
from sash.page.sources import checkpoint, spark
from sash.page.sources.checkpoint import RunningState
from sash.page.sources.early import EarlySource
from sash.page.sources.spark import KEYS, NO_SINK, NO_STATE, QuerySource
from sash.spark.known_plans import KnownPlan, remember
from sash.spark.wire.bucket_report import BucketReport
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import FIGURES
from tests.page.pages import HandSource

SECOND = 1_000_000
SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("x", pa.float64())])
QUERIES = (
    sash.query("ten", sash.tumbling("10 seconds"), n=sash.count(), peak=sash.max("x")),
    sash.query("use", sash.session(gap="5 seconds"), mean=sash.mean("x")),
)
LATE = "its position is before the watermark"


class Query:
    """A running query of Spark, as far as the page reads it."""

    def __init__(self, name: str = "00000001") -> None:
        self.isActive, self.name, self.word = True, "plugs", name
        self.recentProgress: list[Any] = []
        self.status = {"message": "", "isDataAvailable": True}

    @property
    def lastProgress(self) -> Any:  # noqa: N802  # as PySpark names it
        return self.recentProgress[-1] if self.recentProgress else None

    def exception(self) -> Any:
        return None

    def end_batch(self, number: int, *buckets: BucketReport, **figures: Any) -> None:
        """Report a micro-batch."""
        known = {"keys": 1, "watermark": 100 * SECOND, "newest": 110 * SECOND, "next_end": 110 * SECOND}
        told = {**dict.fromkeys(FIGURES), **known, "details": [each.to_text() for each in buckets], **figures}
        self.recentProgress.append({
            "batchId": number, "timestamp": "2026-01-01T12:00:00.000Z", "numInputRows": 10,
            "durationMs": {"addBatch": 400, "triggerExecution": 500},
            "observedMetrics": {f"sash time {self.word}": Row(**told)},
            "sink": {"description": "ForeachBatchSink"},
        })  # fmt: skip


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "_session", lambda: None)


def know(word: str, keeps_late: bool = False) -> None:
    options = options_of("ts", ["k"], "1 minute", "10 seconds", False, "updates", False)
    remember(word, KnownPlan(Recipe(QUERIES, options, SCHEMA).plan(), keeps_late))


def source_of(query: Query) -> tuple[QuerySource, Inbox]:
    source, inbox = QuerySource(query, None, (), 10), Inbox()
    source.start(inbox)
    return source, inbox


def last(records: Any, kind: Any) -> Any:
    return [each for each in records if isinstance(each, kind)][-1]


def report(bucket: int = 0, **given: Any) -> BucketReport:
    known = {
        "rows": 640, "keys": ((("a",), 7), (("b",), 3)), "positions": tuple(SECOND * each for each in range(100, 109)),
        "on_time": 512, "behind": ((79, 128),), "rejected": (),
    }  # fmt: skip
    return BucketReport(bucket, **{**known, **given})


def test_facts_are_those_of_the_plan() -> None:
    know("00000001")
    query = Query()
    source, inbox = source_of(query)
    query.end_batch(0, report(), rows=10, combines=15)
    source.poll()
    records, _ = inbox.take()
    facts = last(records, StreamFacts)
    assert (facts.unit, facts.by, facts.delay, facts.lateness) == ("time", ("k",), 10.0, 60.0)
    assert [(each.name, each.aggregates, each.replaces) for each in facts.queries] == [
        ("ten", ("n", "peak"), "extent"),
        ("use", ("mean",), "overlap"),
    ]
    assert "optional max(x)" in facts.fields
    assert dict(facts.notes)["keys"] == KEYS and dict(facts.notes)["results"] == NO_SINK
    # A row is combined once, and half a combine per row makes windows; alone, each query combines each row.
    assert last(records, Figures).combines_per_row == 1.5
    assert last(records, Figures).without_sharing == 2.5


def test_reports_of_buckets_fill_the_panels() -> None:
    know("00000001")
    query = Query()
    source, inbox = source_of(query)
    query.end_batch(0, report(0), report(1, rows=1920, keys=((("c",), 30),)))
    query.end_batch(1, report(0))
    source.poll()
    board = Board(KeptResults(), lambda: 10.0)
    for each in inbox.take()[0]:
        board.add(each)
    panels = board.panels()
    assert panels["keys"] == {
        "counted": "rows",
        "keys": [
            {"key": "c", "rows": 30, "bucket": 1},
            {"key": "a", "rows": 14, "bucket": 0},
            {"key": "b", "rows": 6, "bucket": 0},
        ],
        "buckets": [{"bucket": 1, "rows": 1920}, {"bucket": 0, "rows": 1280}],
    }
    assert sum(rows for _, rows in panels["time"]["arrivals"]) == pytest.approx(3200, rel=0.01)
    # A fifth of the rows is 2 ** (79 / 4) to 2 ** (80 / 4) microseconds behind: 0.88 to 1.05 seconds.
    assert panels["time"]["lateness"][0]["rows"] == 2560
    assert 1.04 < panels["time"]["covering_delay"] < 1.2
    assert [each["rows"] for each in panels["batches"]] == [0, 0]


def test_rejected_rows_are_counted_by_reason_unless_results_contain_them() -> None:
    for keeps_late, expected in ((False, [("3 rows of micro-batch 1", 100.0, f"I{LATE[1:]}.")]), (True, [])):
        know("00000002", keeps_late)
        query = Query("00000002")
        source, inbox = source_of(query)
        query.end_batch(0)
        query.end_batch(1, report(0, rejected=((LATE, 1),)), report(1, rejected=((LATE, 2),)))
        source.poll()
        late = [each for each in inbox.take()[0] if isinstance(each, LateRow)]
        assert [(each.row, each.watermark, each.reason) for each in late] == expected


def test_query_of_another_process_has_no_plan_and_still_keys() -> None:
    query = Query("ffffffff")
    source, inbox = source_of(query)
    query.end_batch(0, report())
    source.poll()
    records, _ = inbox.take()
    assert last(records, BucketRows).keys == (("a", 7), ("b", 3))
    assert last(records, StreamFacts).queries == ()


def test_micro_batch_after_a_restart_is_marked_and_a_page_that_opens_late_is_no_restart() -> None:
    for first, count, expected in ((7, 1, True), (0, 1, False), (7, spark.RECENT, False)):
        query = Query("ffffffff")
        source, inbox = source_of(query)
        for number in range(first, first + count):
            query.end_batch(number, rows=1)
        source.poll()
        batches = [each for each in inbox.take()[0] if isinstance(each, MicroBatch)]
        assert [each.restarted for each in batches] == [expected] + [False] * (count - 1)


# --- slices of the checkpoint ------------------------------------------------------------------------------


class Found:
    """A state with the slices of two keys."""

    def __init__(self) -> None:
        first = pa.array([0, 10 * SECOND, 0], pa.timestamp("us", "UTC"))
        columns = {"k": ["a", "a", "b"], "first": first, "last": first, "end": first}
        self.slices = pa.table({**columns, "cut_by": [["ten"], ["ten", "use"], []]})
        self.windows, self.watermark = pa.table({"window_end": first}), None


def test_slices_of_a_running_query_are_read_rarely_and_only_if_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[str] = []

    def read(path: str) -> Found:
        readings.append(path)
        return Found()

    monkeypatch.setattr(checkpoint, "state", read)
    inbox = Inbox()
    own = RunningState(inbox, "file:/data")

    def ask(key: str, state_bytes: int = 1000) -> SliceFacts:
        own.ask(key, state_bytes)
        if own._thread is not None:
            own._thread.join(10)
        found: SliceFacts = last(inbox.take()[0], SliceFacts)
        return found

    assert "reads at most" in ask("a", 10**9).note and readings == []
    assert ask("a").slices == ((0.0, 0.0, None, ("ten",)), (10.0, 10.0, None, ("ten", "use")))
    own._next = np.inf  # not yet again
    assert ask("b").slices == ((0.0, 0.0, None, ()),) and readings == ["file:/data"]
    own._next = 0.0
    assert ask("no such key").slices == () and readings == ["file:/data"] * 2


def test_state_that_cannot_be_read_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "state", lambda _: 1 / 0)
    inbox = Inbox()
    own = RunningState(inbox, "file:/data")
    own.ask("a", 0)
    assert own._thread is not None
    own._thread.join(10)
    assert "cannot be read" in last(inbox.take()[0], SliceFacts).note


def test_query_over_connect_has_no_slices() -> None:
    source, inbox = source_of(Query())
    source.ask_slices("a")
    assert last(inbox.take()[0], SliceFacts).note == NO_STATE


# --- before Spark has started ------------------------------------------------------------------------------


def test_early_source_shows_a_sentence_and_then_follows_another_source() -> None:
    inbox, early, later = Inbox(), EarlySource("home", "Spark is starting."), HandSource()
    early.start(inbox)
    early.poll()
    early.ask_slices("a")
    assert last(inbox.take()[0], Figures).why == "Spark is starting."
    early.follow(later)
    early.ask_slices("b")
    assert last(inbox.take()[0], Figures).why == "It waits." and later.asked == ["b"]
    early.stop()
    assert later.is_stopped


def test_bins_of_lateness_are_covered_by_their_upper_edge() -> None:
    counts = LatenessCounts()
    counts.count(0.0, np.array([2.0 ** ((8 - 1e-9) / 4)]), np.array([10.0]))
    assert counts.covering(0.999) == pytest.approx(4.0)


def test_window_whose_updates_come_before_its_end_is_open() -> None:
    kept = KeptResults()
    board = Board(kept, lambda: 10.0)
    board.add(StreamFacts("s", "number", (), 5.0, 0.0, (QueryFacts("q", "q", ("x",)),)))
    ends = {"query": ["q", "q"], "window_start": [0, 10], "window_end": [10, 20], "x": [1.0, 2.0]}
    kept.add([pa.table(ends)])

    def states() -> list[tuple[str, str]]:
        return [(each["state"], each["waits"]) for each in board.time()["queries"][0]["windows"][:2]]

    board.add(Figures(watermark=15.0, newest=20.0))
    assert states() == [("closed", "It is closed."), ("open", "It closes when a row at 25 or later comes.")]
    board.add(Figures(watermark=20.0, newest=25.0))
    assert [state for state, _ in states()] == ["closed", "closed"]
    board.add(Figures(is_ended=True))
    assert [state for state, _ in states()] == ["closed", "closed"]


def test_costs_are_those_of_the_last_rows_that_were_combined() -> None:
    board = Board(KeptResults(), lambda: 10.0)
    assert board.sharing()["combines_per_row"] is None
    board.add(Figures(combines_per_row=1.5, without_sharing=2.5))
    board.add(Figures(rows=0))
    assert (board.sharing()["combines_per_row"], board.sharing()["without_sharing"]) == (1.5, 2.5)


def test_results_that_are_no_longer_kept_are_counted() -> None:
    kept = KeptResults(100)
    for begin in range(0, 1000, 50):
        ends = list(range(begin, begin + 50))
        kept.add([pa.table({"query": ["q"] * 50, "window_start": ends, "window_end": ends})])
    (news,) = kept.news()
    assert news["count"] <= 100 and news["count"] + news["dropped"] == 1000
