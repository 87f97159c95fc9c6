"""Names of the paper's techniques here, and series that several findings read."""

from typing import Any

from benchmarks.records import Report
from benchmarks.report.series import Line, line, per_place, spread

__all__ = ["BUCKETS", "BUFFER", "OURS", "ROW_BUCKETS", "TREE", "apart_from_linear", "by_windows"]

OURS, BUFFER, TREE = "sash", "tuple_buffer", "aggregate_tree"
BUCKETS, ROW_BUCKETS = "aggregate_buckets", "tuple_buckets"


def by_windows(report: Report, experiment: str, subject: str, since: float = 0, **wanted: Any) -> Line:
    """Return rows per second of a technique, by concurrent windows."""
    return line(report, experiment, subject, "windows", since, **wanted)


def apart_from_linear(values: Line) -> float | None:
    """Return how far the growth is from linear; 1 is linear."""
    return spread(per_place(values))
