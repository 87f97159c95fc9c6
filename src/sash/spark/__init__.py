"""sash on Spark; no other package of sash imports pyspark."""

from sash.spark.driver.shipping import ship
from sash.spark.driver.table_function import register_functions

# This import makes `sash.spark.state` a function; modules of the package sash.spark.state can still be imported.
from sash.spark.monitoring.checkpoint_state import CheckpointState, state
from sash.spark.monitoring.listener import Listener
from sash.spark.monitoring.progress import Progress, progress, why

__all__ = ["CheckpointState", "Listener", "Progress", "progress", "register_functions", "ship", "state", "why"]
