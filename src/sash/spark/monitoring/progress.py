"""The progress of a running query, and what it waits for."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql.streaming import StreamingQuery

from sash.engine.positions import position_on, shown
from sash.engine.status_text import rejected_text, waits_of
from sash.errors import sentence_of
from sash.report import Report
from sash.spark.known_plans import KnownPlan, plan_named
from sash.spark.wire.bucket_report import BucketReport
from sash.spark.wire.results import DETAILS, FIGURES, LOCAL, OBSERVED
from sash.windows.measure import Measure, MeasureKind

__all__ = ["Progress", "ahead_text", "known_plan", "of_report", "progress", "why"]

_SKEW = timedelta(minutes=1)  # clocks of devices differ
_FURTHEST_ZONE = timedelta(hours=14)  # ahead of UTC: a time without a zone may be the local time there


@dataclass(frozen=True, repr=False)
class Progress(Report):
    """The progress of a query of sash: figures of its last micro-batch, if not stated otherwise."""

    batch: int
    rows: int
    rows_per_second: float
    watermark: Any  # in the unit of `on`: a time in UTC, or a number; None before there is one
    newest: Any  # the largest position so far
    results: int
    open_windows: int  # an upper bound for keys with gaps
    late: int
    late_rows: int  # since the query first started
    slices: int
    keys: int
    state_bytes: int
    written_bytes: int  # to the state store
    combines_per_row: float  # about
    next_end: Any = field(repr=False, default=None)
    ahead: timedelta | None = None  # how far the watermark was ahead of the clock; None if it was not
    buckets: tuple[BucketReport, ...] = field(repr=False, default=())  # at most 16, those with the most rows

    def lines(self) -> list[tuple[str, str]]:
        return [
            ("batch", f"{self.batch}: {self.rows:,} rows, {self.rows_per_second:,.0f} per second"),
            ("time", f"watermark {shown(self.watermark)}, newest row {shown(self.newest)}{_ahead_note(self.ahead)}"),
            ("windows", f"{self.results:,} emitted, {self.open_windows:,} open"),
            ("late", f"{self.late:,} rows, {self.late_rows:,} since the query first started"),
            ("state", f"{self.keys:,} keys, {self.slices:,} slices, {self.state_bytes:,} bytes"),
            ("work", f"{self.combines_per_row:.2f} combines per row, {self.written_bytes:,} bytes written"),
        ]


def progress(query: StreamingQuery) -> Progress | None:
    """Return the progress of a streaming query after its last micro-batch; None before the first has ended."""
    last = query.lastProgress
    found = None if last is None else of_report(last)  # usually, and the other reports are long
    return found or next(filter(None, map(of_report, reversed(query.recentProgress))), None)


def why(query: StreamingQuery) -> str:
    """Explain what a query waits for: the windows that it cannot close yet, and what holds the watermark back."""
    if not query.isActive:
        failed = query.exception()
        if failed is not None:
            return f"The query has failed: {sentence_of(failed)}"
    now = progress(query)
    if now is None:
        return "No micro-batch has ended yet: " + str(query.status["message"]) + "."
    parts = waits_of(now.watermark, now.newest, now.open_windows, now.next_end, has_delay=True)
    if now.ahead is not None:
        parts.insert(1, ahead_text(now))
    if now.late_rows:
        parts.append(f"{rejected_text(now.late_rows)} With late='keep', results include them.")
    if not query.isActive:
        parts.append("The query has stopped.")
    elif not query.status["isDataAvailable"]:
        parts.append("The source has no new rows: only rows move the watermark.")
    return " ".join(parts)


def ahead_text(now: Progress) -> str:
    """Return what it means that the watermark is ahead of the clock, and what to do."""
    return (
        f"The watermark {shown(now.watermark)} is {now.ahead} ahead of the clock: a row with a time in the future "
        "moved it, so that rows of the present are late. Reject such rows with max_future, such as "
        "sash.aggregate(…, max_future='1 hour'), and start with a new checkpoint."
    )


def _ahead_note(ahead: timedelta | None) -> str:
    return "" if ahead is None else f"; the watermark is {ahead} ahead of the clock, see max_future"


# --- figures ------------------------------------------------------------------------------------------


def of_report(report: Any) -> Progress | None:
    """Return the progress in one of Spark's reports; None for a trigger without rows and for queries of others."""
    named = report["observedMetrics"]
    for name in named:
        figures = _figures(named[name]) if name.startswith(OBSERVED) else {}
        if figures.get("keys") is not None:
            words = name.split(" ")
            now = _progress(report, Measure(MeasureKind(words[1])), figures)
            return replace(now, ahead=_ahead(now.watermark, report, LOCAL in words))
    return None


def known_plan(report: Any) -> KnownPlan | None:
    """Return the plan of the query of one of Spark's reports, if this process has made it."""
    words = (name.split(" ") for name in report["observedMetrics"] if name.startswith(OBSERVED))
    return next((plan_named(each[2]) for each in words if len(each) > 2), None)


def _ahead(watermark: Any, report: Any, is_local: bool) -> timedelta | None:
    """Return how far a watermark was ahead of the clock when its micro-batch began; None if it was not."""
    started = report.get("timestamp")
    if not isinstance(watermark, datetime) or not started:
        return None
    clock = datetime.fromisoformat(str(started)) + _SKEW + (_FURTHEST_ZONE if is_local else timedelta(0))
    return watermark - clock if watermark > clock else None


def _figures(observed: Any) -> dict[str, Any]:
    """Return observed figures by name; Spark Connect gives values and the schema that names them apart."""
    found: dict[str, Any] = observed.asDict()
    if set(found) == {"values", "schema"}:
        return {field["name"]: value for field, value in zip(found["schema"]["fields"], found["values"], strict=True)}
    return found


def _progress(report: Any, measure: Measure, figures: dict[str, Any]) -> Progress:
    rows = figures["rows"] or 0
    others: dict[str, Any] = {name: figures[name] or 0 for name in FIGURES if name not in ("rows", "combines")}
    return Progress(
        report["batchId"],
        rows,
        round(float(report.get("processedRowsPerSecond") or 0.0), 1),
        position_on(figures["watermark"], measure),
        position_on(figures["newest"], measure),
        combines_per_row=(figures["combines"] or 0) / rows if rows else 0.0,
        next_end=position_on(figures["next_end"], measure),
        buckets=tuple(map(BucketReport.from_text, figures.get(DETAILS) or ())),
        **others,
    )
