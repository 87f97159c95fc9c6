"""The Python that Spark's workers run."""

import os
import sys
from typing import Any

__all__ = ["use_driver_python"]

_CHOSEN = ("spark.pyspark.python", "spark.pyspark.driver.python")


def use_driver_python(session: Any) -> None:
    """Let the workers of a local master run the driver's Python, unless the user has chosen one.

    Spark starts workers with `python3` of the PATH. In a virtual environment that is not activated, that is another
    Python, without the packages of this one. Spark reads the setting whenever it makes a function for workers, so this
    works for a session that has started. A cluster has its own Pythons, and Spark Connect has them on the server.
    """
    if not hasattr(session, "_jsparkSession") or "PYSPARK_PYTHON" in os.environ:
        return
    context = session.sparkContext
    if context.master.startswith("local") and not any(context.getConf().contains(name) for name in _CHOSEN):
        context.pythonExec = sys.executable
