"""Read a StreamingQuery: its progress reports, and the results that its sink holds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import sentence_of
from sash.page.records import Arrivals, Figures, Inbox, MicroBatch, QueryFacts, Stopped, StreamFacts
from sash.page.sources.result_columns import by_of, late_rows, queries_of, seconds_of, unit_of
from sash.page.sources.sink import FileSink, MemorySink, sink_of
from sash.plan.query import Query
from sash.spark.monitoring.progress import Progress, of_report, why

__all__ = ["QuerySource"]


class QuerySource:
    """Follows a query until it ends; it reads, and never writes, what the query makes."""

    def __init__(self, query: Any, title: str | None, queries: Sequence[Query], most_results: int) -> None:
        self._query, self._most = query, most_results
        self._title = title or query.name or "Spark query"
        self._inbox = Inbox()
        self._texts = {each.name: QueryFacts(each.name, str(each), _aggregates(each)) for each in queries}
        self._facts = StreamFacts(self._title, "number", (), None, 0.0, tuple(self._texts.values()))
        self._last = -1  # the number of the last micro-batch
        self._is_first, self._is_ended = True, False
        self._sink: FileSink | MemorySink | None = None

    def start(self, inbox: Inbox) -> None:
        """Put what is known before the first micro-batch."""
        self._inbox = inbox
        inbox.put(self._facts)
        inbox.put(Figures(why="No micro-batch has ended yet."))

    def ask_slices(self, key: str) -> None:
        """Ignore it: the slices of a running query are in Spark's state store."""

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
                    self._read_report(report)
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

    def _read_report(self, report: Any) -> None:
        number = int(report["batchId"])
        done = of_report(report)
        phases = tuple((name, float(took)) for name, took in dict(report["durationMs"]).items())
        phases = tuple(each for each in phases if each[0] != "triggerExecution")
        if done is not None:
            seconds = max(1e-3, float(dict(report["durationMs"]).get("triggerExecution", 0)) / 1e3)
            self._inbox.put(self._figures(done, seconds, report.get("inputRowsPerSecond")))
            if done.newest is not None and done.rows:
                at = np.array([seconds_of(done.newest)], np.float64)
                self._inbox.put(Arrivals(at, None, float(done.rows), counts_lateness=False))
            rows, written = done.rows, done.written_bytes
        else:
            rows, written = int(report["numInputRows"]), 0
        if done is not None or rows:
            is_restarted = self._is_first and number > 0
            self._inbox.put(MicroBatch(number, rows, phases, written, is_restarted))
        self._is_first, self._last = False, number

    def _figures(self, done: Progress, seconds: float, input_rate: float | None) -> Figures:
        names = ("batch", "rows", "rows_per_second", "results", "open_windows", "late", "late_rows", "slices", "keys")
        same = {name: getattr(done, name) for name in (*names, "state_bytes", "written_bytes", "combines_per_row")}
        watermark, newest = seconds_of(done.watermark), seconds_of(done.newest)
        if watermark is not None and newest is not None and self._facts.delay is None:
            self._change_facts(delay=newest - watermark)
        return Figures(
            **same,
            watermark=watermark,
            newest=newest,
            next_end=seconds_of(done.next_end),
            ahead=None if done.ahead is None else done.ahead.total_seconds(),
            is_ended=done.watermark is not None and watermark is None,
            results_per_second=done.results / seconds,
            input_rows_per_second=input_rate,
            why=why(self._query),
        )

    # --- results -----------------------------------------------------------------------------------------

    def _read_results(self, report: Any) -> None:
        if self._sink is None:
            self._sink = sink_of(str(report["sink"]["description"]), _session(), self._query.name, self._most)
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
        for row in late_rows(table, None):
            self._inbox.put(row)
        self._inbox.put_results(table)

    def _change_facts(self, **changed: Any) -> None:
        self._facts = StreamFacts(**{**vars(self._facts), **changed})
        self._inbox.put(self._facts)


def _aggregates(query: Query) -> tuple[str, ...]:
    return tuple(name for name, _ in query.aggregates)


def _session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.active()
