"""Load functions of sash in a worker; say in one sentence what the worker's Python lacks.

This module is pickled by value and imports nothing of sash, so that a worker without sash can run it.
"""

import platform
import sys
from collections.abc import Callable
from typing import Any

from pyspark import cloudpickle

__all__ = ["as_packed", "load"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def as_packed(function: Callable[[Any], Any], lacking: str) -> Callable[[Any], Any]:
    """Return a function that stays pickled until a worker calls it; `lacking` words the error, as `load` says."""
    packed = cloudpickle.dumps(function)

    def run(given: Any) -> Any:
        return load(packed, lacking)(given)

    return run


def load(packed: bytes, lacking: str) -> Any:
    """Return a pickled function of sash.

    `lacking` is the error of a Python that cannot load it, with places for the details.
    """
    try:
        # Code of this query, as Spark itself sends it; state is never read this way.
        return cloudpickle.loads(packed)
    except (ImportError, AttributeError) as error:  # a package is missing, or the worker's sash is another version
        text = lacking.replace("{version}", platform.python_version()).replace("{python}", sys.executable)
        raise ImportError(text.replace("{reason}", str(error))) from None
