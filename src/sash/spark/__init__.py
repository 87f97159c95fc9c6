"""sash on Spark; no other package of sash imports pyspark."""

from sash.algebra.numba_parts import warn_once
from sash.spark.versions import check_tables

check_tables()  # before an import that an unsupported version of PySpark cannot do
warn_once()  # workers are many, and do not

from sash.spark.driver.shipping import ship  # noqa: E402
from sash.spark.driver.table_function import register_functions  # noqa: E402

# This import makes `sash.spark.state` a function; modules of the package sash.spark.state can still be imported.
from sash.spark.monitoring.checkpoint_state import CheckpointState, state  # noqa: E402
from sash.spark.monitoring.listener import Listener  # noqa: E402
from sash.spark.monitoring.progress import Progress, progress, why  # noqa: E402

__all__ = ["CheckpointState", "Listener", "Progress", "progress", "register_functions", "ship", "state", "why"]
