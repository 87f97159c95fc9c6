"""sash on the Spark that you already run; nothing else in sash imports pyspark."""

from sash.spark.batch import aggregate, explain, rolling
from sash.spark.shipping import ship

__all__ = ["aggregate", "explain", "rolling", "ship"]
