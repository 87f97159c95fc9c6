"""sash on the Spark that you already run; nothing else in sash imports pyspark."""

from sash.spark.shipping import ship
from sash.spark.watching import Progress, Remembered, progress, state, why

__all__ = ["Progress", "Remembered", "progress", "ship", "state", "why"]
