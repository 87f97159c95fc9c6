"""Whether this process is one that Spark started for its tasks."""

import sys

__all__ = ["is_spark_worker"]


def is_spark_worker() -> bool:
    """Return whether Spark started this Python process for its tasks."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and str(spec.name).startswith(("pyspark.", "sash.spark.worker."))
