"""The suite spark_tables: its experiments in the order in which they run. PySpark is imported when they run."""

from collections.abc import Iterator

from benchmarks import plots
from benchmarks.bars.spark import SPARK_TABLES
from benchmarks.settings import QUICK_TABLES, TableSettings
from benchmarks.spark_tables import cores, frames, joins, memory, windows
from benchmarks.spark_tables.session import LOCAL
from benchmarks.suite import Experiment, Suite, by_name
from sash.limits import LIMITS

__all__ = ["EXPERIMENTS", "SUITE"]

# What findings of papers need comes first, because a run ends when its time is used up; then targets.
EXPERIMENTS = by_name(
    Experiment("cores", "What does a second core bring?", cores.core_tasks),
    Experiment("workers", "What does a second worker bring?", cores.worker_tasks),
    Experiment("dashboard", "What does a second core bring to a dashboard?", cores.dashboard_tasks),
    Experiment("frames", "How long for a result per row, by window and keys?", frames.frame_tasks),
    Experiment("slide", "How long, by size over slide?", windows.slide_tasks),
    Experiment("joins", "How long for the features of labels, by the window of the join?", joins.join_tasks),
    Experiment("positions", "How long for frames, by width and position?", frames.position_tasks),
    Experiment("keys", "How long, by keys?", windows.key_tasks),
    Experiment("hot_key", "Are all cores busy if one key has most rows?", cores.hot_key_tasks),
    Experiment("density", "Which path is fastest, by rows per slice?", windows.density_tasks),
    Experiment("memory", "How large do Python workers get?", memory.memory_tasks),
)


def _notes(names: set[str]) -> Iterator[str]:
    yield (
        "Local Spark on this machine; both sides read rows in the order of time from Parquet; results are discarded. "
        "Ratios in brackets: the speed, where native Spark in the same run is 1."
    )
    if names & {"slide", "frames", "joins", "keys", "density", "dashboard"}:
        yield "≈: measured on fewer rows and scaled up. >: stopped at this time. Notes are in report.json."
    if "memory" in names:
        yield f"What a task holds at most: {_limits()}."


def _limits() -> str:
    names = ("task_rows", "packed_rows", "packed_bytes", "piece_rows")
    return ", ".join(f"{name} {getattr(LIMITS, name):,}" for name in names)


SUITE = Suite(
    "spark_tables",
    "Compare windows, frames and joins of tables on local Spark with Spark's own.",
    EXPERIMENTS,
    TableSettings(),
    QUICK_TABLES,
    SPARK_TABLES,
    plots.SPARK_TABLES,
    _notes,
    ("sash", "pyspark", "numba", "numpy", "pyarrow"),
    LOCAL.close,
)
