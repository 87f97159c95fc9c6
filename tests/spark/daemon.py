"""Spark's parent of Python workers, which imports packages before it forks.

A worker of Spark's own daemon imports them by itself, and Spark starts a new worker after each error and each minute.
Workers still load sash itself when their first rows come, as they do for users.
"""

from importlib import import_module

from pyspark.daemon import manager

if __name__ == "__main__":
    for package in ("numba", "pandas", "pyarrow.compute", "pyarrow.parquet", "pyspark.worker"):
        import_module(package)
    manager()
