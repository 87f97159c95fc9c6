"""What else the machine computes, read before a run begins."""

import os
import time
from pathlib import Path

__all__ = ["busy_cores"]

STAT = Path("/proc/stat")
SECONDS = 0.5


def busy_cores() -> float:
    """Return how many cores are busy while this process waits for half a second; 0 where there is no /proc.

    The load average would be wrong here: it still contains the suite that ended a moment ago.
    """
    before, start = _busy_seconds(), time.perf_counter()
    time.sleep(SECONDS)
    return (_busy_seconds() - before) / (time.perf_counter() - start)


def _busy_seconds() -> float:
    """Return the seconds that all cores together have computed since the machine started."""
    if not STAT.exists():
        return 0.0
    user, nice, system = map(int, STAT.read_text(encoding="ascii").split(maxsplit=4)[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")
