"""Workers of a local master run the driver's Python, and a Python that lacks sash says so in one sentence."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle

import sash
from sash.spark.worker.task import Task, as_function

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.spark
SCRIPT = """
from pyspark.sql import SparkSession
import sash

spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
)
rows = spark.sql("SELECT * FROM VALUES (1L, 2.0D), (3L, 5.0D) AS rows(t, x)")
print(sash.aggregate(rows, sash.query("q", sash.sliding(rows=2, every=1), m=sash.median("x")), on="t").collect())
"""
STREAM = """
from pathlib import Path

from pyspark.sql import SparkSession
import sash

spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "1").getOrCreate()
)
spark.sql("SELECT timestamp_seconds(id) AS ts, id AS x FROM range(100)").write.parquet("rows")
rows = spark.readStream.schema("ts timestamp, x long").parquet("rows")
found = sash.aggregate(rows, sash.query("q", sash.tumbling("10 s"), m=sash.max("x")), on="ts", watermark="1 s")
query = found.writeStream.format("memory").queryName("found").option("checkpointLocation", "checkpoint").start()
query.processAllAvailable()
print(spark.table("found").count(), "windows")
query.stop()
"""
LOAD = """
import pickle, sys
from pathlib import Path

sys.modules["numba"] = None
try:
    list(pickle.loads(Path(sys.argv[1]).read_bytes())(iter([])))
except ImportError as error:
    print(error)
"""
ROWS = "SELECT * FROM VALUES (1L, 2.0D), (3L, 5.0D) AS rows(t, x)"
MEDIANS = sash.query("q", sash.sliding(rows=2, every=1), m=sash.median("x"))


class Nothing(Task):
    """A task that returns what it gets."""

    def run(self, batches: Any) -> Any:
        return iter(batches)


def test_a_session_with_another_python_runs_that_of_the_driver(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/no/such/python")
    rows = spark.sql(ROWS)  # createDataFrame would run a worker before sash is called
    assert [row.m for row in sash.aggregate(rows, MEDIANS, on="t").collect()] == [3.5]
    assert spark.sparkContext.pythonExec == sys.executable


def test_a_python_that_the_user_has_chosen_stays(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/a/chosen/python")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/a/chosen/python")
    sash.aggregate(spark.sql(ROWS), MEDIANS, on="t")
    assert spark.sparkContext.pythonExec == "/a/chosen/python"


def test_a_worker_that_lacks_a_package_says_which_and_what_to_do(tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(cloudpickle.dumps(as_function(Nothing())))
    done = subprocess.run([sys.executable, "-c", LOAD, packed], capture_output=True, text=True, check=True, cwd=ROOT)
    (line,) = done.stdout.splitlines()
    assert line.startswith("Spark's workers run Python 3.") and sys.executable in line
    assert "numba" in line and "PYSPARK_PYTHON" in line and "sash.spark.ship(spark)" in line


@pytest.mark.long
def test_a_plain_script_runs_where_python3_is_another_one(tmp_path: Path) -> None:
    other = tmp_path / "bin" / "python3"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    environment["PATH"] = f"{other.parent}{os.pathsep}{environment['PATH']}"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert "m=3.5" in done.stdout, done.stderr


@pytest.mark.long
def test_a_script_may_end_without_stopping_spark(tmp_path: Path) -> None:
    """Spark would otherwise call a listener whose Python has ended, and print a stack trace for each event."""
    done = subprocess.run([sys.executable, "-c", STREAM], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "9 windows" in done.stdout, done.stderr
    assert "Listener" not in done.stderr
