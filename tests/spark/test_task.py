"""A worker looks at what it has loaded once, at the end of its first task."""

import subprocess
import sys

PROGRAM = """
import gc
from sash.spark.worker.task import Task, as_function

class Nothing(Task):
    def run(self, batches):
        return iter(batches)

ran = as_function(Nothing())
counts = [gc.get_freeze_count()]
for _ in range(3):
    list(ran([]))
    counts.append(gc.get_freeze_count())
    loop = []
    loop.append(loop)  # garbage of a later task is collected as ever
    del loop
print(counts[0] == 0, counts[1] > 10_000, counts[1] >= counts[3] > 10_000, gc.collect() > 0)
"""


def test_what_is_loaded_is_frozen_once() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * 4
