"""The experiments on Spark, one list: what can be run, in which order. Nothing here imports pyspark before they run."""

from collections.abc import Iterator

from benchmarks import bars, plots
from benchmarks.settings import QUICK_TABLES, TableSettings
from benchmarks.spark_tables import cores, frames, memory, windows
from benchmarks.spark_tables.session import HERE
from benchmarks.suite import Experiment, Suite, by_name

__all__ = ["EXPERIMENTS", "SUITE"]

# Those that bars are about come first, for a run ends when its time is used up.
EXPERIMENTS = by_name(
    Experiment("slide", "How long, by size over slide?", windows.slide_tasks),
    Experiment("frames", "How long for a result per row, by window and keys?", frames.frame_tasks),
    Experiment("keys", "How long, by keys?", windows.key_tasks),
    Experiment("hot_key", "Are all cores busy if one key has the rows?", cores.hot_key_tasks),
    Experiment("density", "Which way to slice is fastest, by rows per slice?", windows.density_tasks),
    Experiment("cores", "What does a second core bring?", cores.core_tasks),
    Experiment("memory", "How large do Python workers get?", memory.memory_tasks),
)


def _notes(names: set[str]) -> Iterator[str]:
    yield (
        "Local Spark on this machine; rows in the order of time, read from Parquet by both sides, results thrown away. "
        "Ratios in brackets: how fast, where Spark's own way in the same run is 1."
    )
    if names & {"slide", "frames", "keys", "density"}:
        yield "Marked ≈: measured on fewer rows and scaled up. Marked >: stopped there. Notes are in report.json."
    if "memory" in names:
        yield f"What a task is to hold at once: {_budget()}."


def _budget() -> str:
    from sash.spark.wire.budget import Budget

    return str(Budget())


SUITE = Suite(
    "spark_tables",
    "Compare windows and frames over tables on local Spark with Spark's own.",
    EXPERIMENTS,
    TableSettings(),
    QUICK_TABLES,
    bars.SPARK_TABLES,
    plots.SPARK_TABLES,
    _notes,
    ("sash", "pyspark", "numba", "numpy", "pyarrow"),
    HERE.close,
)
