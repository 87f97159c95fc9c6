"""Spark's parent of Python workers, which loads sash once, before it forks.

A worker of Spark's own parent process imports the packages by itself. `sash demo` starts this module instead
(`spark.python.daemon.module`). Its workers share what it has loaded.
"""

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder

__all__ = ["load_packages", "without_archive"]

# What functions of sash load when a worker unpickles and runs them. If one is missing, the worker says so.
_PACKAGES = (
    "pandas",
    "pyarrow.compute",
    "pyspark.worker",
    "sash.spark.state.processor",
    "sash.spark.state.window_bucket",
    "sash.spark.worker.packing",
)
_ARCHIVE = "pyspark.zip"


def load_packages() -> None:
    """Import what workers need, and prepare the compiler; start no thread, because threads do not survive a fork."""
    for name in _PACKAGES:
        with suppress(ImportError):
            import_module(name)
    with suppress(ImportError):
        from numba import float64

        from sash.algebra.numba_parts import inferred_type

        inferred_type(lambda value: value + value, (float64,))  # Numba loads what it knows of all types
    # Without the freeze, Spark's gc.collect() in each worker would copy the pages of these objects.
    gc.collect()
    gc.freeze()


def without_archive(path: Sequence[str]) -> list[str]:
    """Return the path without Spark's archive, which has no byte code, if PySpark is installed as a folder, too."""
    rest = [each for each in path if not each.endswith(_ARCHIVE)]
    return list(path) if PathFinder.find_spec("pyspark", rest) is None else rest


if __name__ == "__main__":
    sys.path[:] = without_archive(sys.path)
    from pyspark.daemon import manager

    load_packages()
    manager()
