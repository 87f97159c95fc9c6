"""sash on the Spark that you already run; nothing else in sash imports pyspark."""

from sash.spark.listening import Listener
from sash.spark.shipping import ship
from sash.spark.table_function import register_functions
from sash.spark.watching import Progress, Remembered, progress, state, why

__all__ = ["Listener", "Progress", "Remembered", "progress", "register_functions", "ship", "state", "why"]
