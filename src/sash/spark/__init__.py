"""sash on the Spark that you already run; nothing else in sash imports pyspark."""

from sash.spark.batch import aggregate, rolling

__all__ = ["aggregate", "rolling"]
