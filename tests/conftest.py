"""Random examples are never timed: a machine that is busy, or a kernel that is compiled first, is no failure."""

import gc
import os

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
os.environ["SASH_COMPILE"] = "always"  # a compiled test runs what is compiled, also on few rows


def pytest_collection_finish() -> None:
    """Let the garbage collector skip what is imported and collected, and run less often.

    Without this, the collector takes an eighth of the time of the interpreted tests and a fifth of that of the
    compiled ones: it visits all objects of all modules and tests again and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
