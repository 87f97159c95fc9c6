"""Read a StreamingQuery: its progress reports, the results that its sink holds, and the slices of its checkpoint."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import sentence_of
from sash.page.key_texts import SEPARATOR
from sash.page.records import (
    Arrivals,
    Behind,
    BucketRows,
    Figures,
    Inbox,
    LateRow,
    MicroBatch,
    QueryFacts,
    SliceFacts,
    Stopped,
    StreamFacts,
)
from sash.page.sources.checkpoint import RunningState
from sash.page.sources.plan_facts import facts_of_plan, length_on
from sash.page.sources.result_columns import as_sentence, by_of, late_rows, queries_of, seconds_of, unit_of
from sash.page.sources.sink import FileSink, MemorySink, sink_of
from sash.plan.query import Query
from sash.spark.known_plans import KnownPlan
from sash.spark.monitoring.progress import Progress, known_plan, of_report, why
from sash.spark.wire.bucket_report import BINS, BucketReport

__all__ = ["QuerySource"]

RECENT = 100  # reports that Spark keeps by default
POINTS = 512  # of a bucket's rows on the axis
TIME = "Positions and lateness are those of a sample of the rows of each micro-batch, in the 16 busiest buckets."
KEYS = "The three busiest keys of each of the 16 busiest buckets in every micro-batch, from a sample of their rows."
COUNTED = 'With late="keep", the results contain the rejected rows, and this panel shows them. Now it has their number.'
NO_SINK = "The page cannot read the results of this sink. It reads Parquet files on this machine and the memory sink."
NO_STATE = "Slices are in Spark's state, and over Spark Connect the page does not know where that is."


class QuerySource:
    """Follows a query until it ends; it reads, and never writes, what the query makes."""

    def __init__(self, query: Any, title: str | None, queries: Sequence[Query], most_results: int) -> None:
        self._query, self._most = query, most_results
        self._title = title or query.name or "Spark query"
        self._inbox = Inbox()
        self._texts = {each.name: QueryFacts(each.name, str(each), _aggregates(each)) for each in queries}
        self._facts = StreamFacts(self._title, "number", (), None, 0.0, tuple(self._texts.values()))
        self._known: KnownPlan | None = None
        self._last = -1  # the number of the last micro-batch
        self._watermark: float | None = None  # after it
        self._newest: float | None = None
        self._state_bytes = 0
        self._is_first, self._is_ended = True, False
        self._sink: FileSink | MemorySink | None = None
        self._state: RunningState | None = None

    def start(self, inbox: Inbox) -> None:
        """Put what is known before the first micro-batch."""
        self._inbox = inbox
        inbox.put(self._facts)
        inbox.put(Figures(why="No micro-batch has ended yet."))
        checkpoint = _checkpoint_of(self._query)
        self._state = None if checkpoint is None else RunningState(inbox, checkpoint)

    def ask_slices(self, key: str) -> None:
        """Read the slices of this key from the checkpoint."""
        if self._state is None:
            self._inbox.put(SliceFacts(key, (), NO_STATE))
        else:
            self._state.ask(key, self._state_bytes)

    def stop(self) -> None:
        """Do nothing: the query continues."""

    def poll(self) -> None:
        """Read new reports and results."""
        if self._is_ended:
            return
        try:
            self._poll()
        except Exception as error:  # Spark has stopped, or a file of the sink cannot be read
            self._is_ended = True
            self._inbox.put(Stopped("stopped", f"The query can no longer be read: {sentence_of(error)}"))

    def _poll(self) -> None:
        is_active = self._query.isActive  # first: a report that comes before the end is then read below
        last = self._query.lastProgress
        if last is not None and last["batchId"] != self._last:
            reports = [last] if last["batchId"] == self._last + 1 else self._query.recentProgress
            for report in reports:
                if report["batchId"] > self._last:
                    self._read_report(report, is_restarted=self._is_first and len(reports) < RECENT)
            self._read_results(last)
        if not is_active:
            if last is not None:
                self._read_results(last)
            self._is_ended = True
            self._inbox.put(self._end())

    def _end(self) -> Stopped:
        error = self._query.exception()
        if error is not None:
            return Stopped("failed", f"The query has failed: {sentence_of(error)}")
        return Stopped("stopped", "The query has ended.")

    # --- reports -----------------------------------------------------------------------------------------

    def _read_report(self, report: Any, is_restarted: bool) -> None:
        number = int(report["batchId"])
        done = of_report(report)
        phases = tuple((name, float(took)) for name, took in dict(report["durationMs"]).items())
        phases = tuple(each for each in phases if each[0] != "triggerExecution")
        if done is not None:
            self._learn(report)
            seconds = max(1e-3, float(dict(report["durationMs"]).get("triggerExecution", 0)) / 1e3)
            self._inbox.put(self._figures(done, seconds, report.get("inputRowsPerSecond")))
            self._read_buckets(done)
            self._watermark, self._newest = seconds_of(done.watermark), seconds_of(done.newest)
            self._state_bytes = done.state_bytes
            rows, written = done.rows, done.written_bytes
        else:
            rows, written = int(report["numInputRows"]), 0
        if done is not None or rows:
            self._inbox.put(MicroBatch(number, rows, phases, written, is_restarted and number > 0))
        self._is_first, self._last = False, number

    def _learn(self, report: Any) -> None:
        """Find the plan of the query, once."""
        if self._known is None:
            self._known = known_plan(report)
            if self._known is not None:
                late = () if self._known.keeps_late else (("late", COUNTED),)
                facts = facts_of_plan(self._known.plan, self._title, (("time", TIME), ("keys", KEYS), *late))
                self._texts = {each.name: each for each in facts.queries}
                self._change_facts(**vars(facts))

    def _figures(self, done: Progress, seconds: float, input_rate: float | None) -> Figures:
        names = ("batch", "rows", "rows_per_second", "results", "open_windows", "late", "late_rows", "slices", "keys")
        same = {name: getattr(done, name) for name in (*names, "state_bytes", "written_bytes", "combines_per_row")}
        watermark, newest = seconds_of(done.watermark), seconds_of(done.newest)
        if watermark is not None and newest is not None and self._facts.delay is None:
            self._change_facts(delay=newest - watermark)
        alone = None
        if self._texts and done.combines_per_row:  # a combine for each row and query, and those of finished windows
            alone = len(self._texts) + max(0.0, done.combines_per_row - 1)
        return Figures(
            **same,
            watermark=watermark,
            newest=newest,
            next_end=seconds_of(done.next_end),
            ahead=None if done.ahead is None else done.ahead.total_seconds(),
            is_ended=done.watermark is not None and watermark is None,
            results_per_second=done.results / seconds,
            input_rows_per_second=input_rate,
            without_sharing=alone,
            why=why(self._query),
        )

    def _read_buckets(self, done: Progress) -> None:
        """Put what the buckets report of the rows of a micro-batch."""
        rejected: Counter[str] = Counter()
        for each in done.buckets:
            rejected.update(dict(each.rejected))
            keys = tuple((SEPARATOR.join(texts), rows) for texts, rows in each.keys)
            self._inbox.put(BucketRows(each.bucket, each.rows, keys))
            if self._known is not None and each.sampled:
                self._read_positions(each)
        at = seconds_of(done.newest)
        if self._known is None and at is not None and done.rows:
            self._inbox.put(Arrivals(np.array([at]), None, float(done.rows), counts_lateness=False))
        if self._known is None or not self._known.keeps_late:
            for reason, rows in rejected.items():
                count = "1 row" if rows == 1 else f"{rows:,} rows"
                text = f"{count} of micro-batch {done.batch}"
                self._inbox.put(LateRow(text, None, self._watermark, as_sentence(reason)))

    def _read_positions(self, report: BucketReport) -> None:
        assert self._known is not None
        plan, weight = self._known.plan, report.rows / report.sampled
        known = [length_on(plan, each) for each in report.positions]
        points = np.interp(np.linspace(0, len(known) - 1, POINTS), np.arange(len(known)), known)
        self._inbox.put(Arrivals(points, None, report.rows / POINTS, counts_lateness=False))
        bins = np.array([each for each, _ in report.behind], np.float64)
        # Just below the upper edge of its bin, so that the delay that covers it is this edge.
        distances = 2.0 ** ((bins + 1 - 1e-9) / BINS) * length_on(plan, 1)
        rows = np.array([each for _, each in report.behind], np.float64) * weight
        self._inbox.put(Behind(report.on_time * weight, distances, rows))

    # --- results -----------------------------------------------------------------------------------------

    def _read_results(self, report: Any) -> None:
        if self._sink is None:
            self._sink = sink_of(str(report["sink"]["description"]), _session(), self._query.name, self._most)
            if self._sink is None and "results" not in dict(self._facts.notes):
                self._change_facts(notes=(*self._facts.notes, ("results", NO_SINK)))
        for table in self._sink.read() if self._sink is not None else ():
            if "query" in table.column_names and "window_end" in table.column_names and table.num_rows:
                self._keep(table)

    def _keep(self, table: pa.Table) -> None:
        known = {each.name: each for each in self._facts.queries}
        new = [
            each for each in queries_of(table, self._texts) if each.name not in known or not known[each.name].aggregates
        ]
        if new or by_of(table) != self._facts.by or unit_of(table) != self._facts.unit:
            queries = tuple((known | {each.name: each for each in new}).values())
            self._change_facts(by=by_of(table), unit=unit_of(table), queries=queries)
        for row in late_rows(table, None if self._known is None else self._known.plan.options.on, self._watermark):
            self._inbox.put(row)
        self._inbox.put_results(table)

    def _change_facts(self, **changed: Any) -> None:
        self._facts = StreamFacts(**{**vars(self._facts), **changed})
        self._inbox.put(self._facts)


def _aggregates(query: Query) -> tuple[str, ...]:
    return tuple(name for name, _ in query.aggregates)


def _checkpoint_of(query: Any) -> str | None:
    """Return the checkpoint of a query; None over Spark Connect, which does not tell it."""
    java = getattr(query, "_jsq", None)
    return None if java is None else str(java.streamingQuery().resolvedCheckpointRoot())


def _session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.active()
