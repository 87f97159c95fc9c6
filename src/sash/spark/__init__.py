"""sash on the Spark that you already run; nothing else in sash imports pyspark."""

from sash.spark.driver.shipping import ship
from sash.spark.driver.table_function import register_functions

# From here on `sash.spark.state` is this function; modules of the package sash.spark.state import as before.
from sash.spark.monitoring.checkpoint_state import Remembered, state
from sash.spark.monitoring.listener import Listener
from sash.spark.monitoring.progress import Progress, progress, why

__all__ = ["Listener", "Progress", "Remembered", "progress", "register_functions", "ship", "state", "why"]
