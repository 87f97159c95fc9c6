"""What the techniques of the paper are called here, and what both parts of its findings ask of their numbers."""

from typing import Any

from benchmarks.records import Report
from benchmarks.report.series import Line, line, per_place, spread

__all__ = ["BUCKETS", "BUFFER", "OURS", "ROW_BUCKETS", "TREE", "apart_from_linear", "by_windows"]

OURS, BUFFER, TREE = "sash", "tuple_buffer", "aggregate_tree"
BUCKETS, ROW_BUCKETS = "aggregate_buckets", "tuple_buckets"


def by_windows(report: Report, experiment: str, subject: str, since: float = 0, **wanted: Any) -> Line:
    """Rows per second of a technique, by concurrent windows."""
    return line(report, experiment, subject, "windows", since, **wanted)


def apart_from_linear(values: Line) -> float | None:
    """How far from growing as its place does: 1 is in proportion."""
    return spread(per_place(values))
