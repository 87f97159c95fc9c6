"""The suite spark_streams: its experiments in the order in which they run. PySpark is imported when they run."""

from collections.abc import Iterator

from benchmarks import plots
from benchmarks.bars.spark import SPARK_STREAMS
from benchmarks.settings import QUICK_STREAMS, StreamSettings
from benchmarks.spark_streams import windows
from benchmarks.spark_streams.session import LOCAL
from benchmarks.suite import Experiment, Suite, by_name

__all__ = ["EXPERIMENTS", "SUITE"]

EXPERIMENTS = by_name(
    Experiment("slide", "How long, by size over slide?", windows.slide_tasks),
    Experiment("keys", "How long, by keys?", windows.key_tasks),
    Experiment("sessions", "How long for sessions?", windows.session_tasks),
    Experiment("growth", "How long is a micro-batch, by its rows?", windows.growth_tasks),
)


def _notes(names: set[str]) -> Iterator[str]:
    yield (
        "Local Spark on this machine, RocksDB and two shuffle partitions for both sides; a Parquet file in each "
        "micro-batch, results to Parquet, from start() to the end of the query. Ratios in brackets: the speed, where "
        "native Structured Streaming in the same run is 1."
    )
    if names & {"slide", "keys", "sessions"}:
        yield "The results of both sides are compared row by row. >: stopped at this time. Notes are in report.json."


SUITE = Suite(
    "spark_streams",
    "Compare windows over streams on local Spark with Structured Streaming's own.",
    EXPERIMENTS,
    StreamSettings(),
    QUICK_STREAMS,
    SPARK_STREAMS,
    plots.SPARK_STREAMS,
    _notes,
    ("sash", "pyspark", "numba", "numpy", "pyarrow"),
    LOCAL.close,
)
