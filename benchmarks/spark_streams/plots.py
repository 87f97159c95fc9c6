"""Pictures of a bench of streams, in the style of all."""

from collections.abc import Iterator
from typing import Any

from benchmarks.plots import lines, points_of
from benchmarks.records import Report
from benchmarks.spark_streams.measurement import BATCH, WRITTEN
from benchmarks.spark_tables.measurement import TIME
from benchmarks.spark_tables.plots import SECONDS, by_value, measured

__all__ = ["streaming_figures"]


def streaming_figures(report: Report) -> Iterator[tuple[str, Any]]:
    """Everything that can be drawn of a bench of streams, under its name."""
    most = max((int(each.get("rows") or 0) for each in report.select("slide")), default=0)
    slide = points_of(measured(report, "slide", TIME, rows=most), "slides")
    if slide:
        title = f"Windows that slide by a minute: max, {most:,} rows"
        yield "slide", lines(slide, title, "size / slide", SECONDS, base=10)
    written = points_of(measured(report, "slide", WRITTEN, rows=most), "slides")
    if written:
        title = "Bytes written to the state store in a micro-batch"
        yield "slide_written", lines(written, title, "size / slide", "MB", base=10)
    keys = by_value(measured(report, "keys"), "slides", "keys")
    if keys:
        yield "keys", lines(keys, "The same rows of more keys: max, by slides", "keys", SECONDS, base=10)
    growth = by_value(measured(report, "growth", BATCH), "slides", "batch_rows")
    if growth:
        title = "A micro-batch of more rows of the same keys, by slides"
        yield "growth", lines(growth, title, "rows of a micro-batch", SECONDS, base=10)
