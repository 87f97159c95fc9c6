"""Spark's parent of Python workers, which imports packages before it forks.

A worker of Spark's own daemon imports them by itself, and Spark starts a new worker after each error and each minute.
Workers still load sash itself when their first rows come, as they do for users.
"""

import numba  # noqa: F401
import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

if __name__ == "__main__":
    manager()
