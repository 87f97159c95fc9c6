"""The parent process of workers loads what they need, and nothing that a fork breaks."""

import os
import subprocess
import sys
from pathlib import Path

from sash.spark.worker.daemon import without_archive

PROGRAM = """
import gc, sys, threading
from sash.spark.worker.daemon import load_packages
load_packages()
print(threading.active_count(), gc.get_freeze_count() > 10_000)
before = set(sys.modules)
import sash.spark.state.lazy_processor, sash.spark.worker.loading, sash.spark.worker.task
from sash.spark.state.processor import BucketProcessor
from sash.spark.state.window_bucket import WindowWork
from sash.spark.worker.packing import OpenTask, SendTask
import numba, pandas, pyarrow.compute, pyspark.worker
print(sorted(name for name in set(sys.modules) - before if name.partition(".")[0] != "sash"))
print(sorted(name for name in set(sys.modules) - before if name.startswith("sash.engine")))
"""


def test_workers_find_their_packages_imported() -> None:
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=variables)
    threads_and_freeze, other_packages, engine = done.stdout.splitlines()
    assert threads_and_freeze == "1 True"
    assert other_packages == engine == "[]"


def test_pyspark_comes_from_a_folder_if_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").touch()
    archive, folder = "/spark/python/lib/pyspark.zip", str(tmp_path)
    assert without_archive([archive, folder]) == [folder]
    assert without_archive([archive]) == [archive]
