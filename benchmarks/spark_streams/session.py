"""The session of the suite, and the options of both sides."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from benchmarks.spark_tables.session import LocalSpark, with_option

__all__ = ["LOCAL", "WHAT", "shared_options"]

WHAT = "The suite spark_streams"
OPTIONS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.shuffle.partitions": "2",
    # With the default of 4 MB, one core reads a file of this size, and the other core is idle.
    "spark.sql.files.openCostInBytes": "4096",
}

LOCAL = LocalSpark(what=WHAT)


@contextmanager
def shared_options(spark: Any) -> Iterator[None]:
    """Set the options of both sides for the block."""
    with ExitStack() as stack:
        for name, value in OPTIONS.items():
            stack.enter_context(with_option(spark, name, value))
        yield
