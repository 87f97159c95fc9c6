"""Where streams run: one session for both sides, and the options that both are given."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from benchmarks.spark_tables.session import Workplace, with_option

__all__ = ["HERE", "WHAT", "alike"]

WHAT = "The suite spark_streams"
OPTIONS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.shuffle.partitions": "2",
    # At the default of 4 MB a file of this size is read by one core, and the other has nothing to do.
    "spark.sql.files.openCostInBytes": "4096",
}

HERE = Workplace(what=WHAT)


@contextmanager
def alike(spark: Any) -> Iterator[None]:
    """The options of both sides, for a while."""
    with ExitStack() as stack:
        for name, value in OPTIONS.items():
            stack.enter_context(with_option(spark, name, value))
        yield
