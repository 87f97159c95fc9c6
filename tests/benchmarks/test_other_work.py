"""What else the machine computes is seen before a run."""

import subprocess
import sys

import pytest

from benchmarks.other_work import STAT, busy_cores


@pytest.mark.skipif(not STAT.exists(), reason="only Linux counts the time of all cores in /proc")
def test_a_process_that_computes_is_seen() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        busy = [busy_cores() for _ in range(3)]
        other.kill()
    assert max(busy) > 0.3
