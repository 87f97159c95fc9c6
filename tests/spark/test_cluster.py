"""Executors of their own: what runs in this process runs in others as well; and no Spark where none is asked for."""

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

SCRIPT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
sys.path.insert(0, {root!r})  # for the driver alone: executors have sash, and no tests
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]").appName("sash cluster test")
    .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "4").config("spark.sql.session.timeZone", "UTC")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.executor.memory", "1g").config("spark.sql.adaptive.coalescePartitions.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
from pyspark.sql import functions as F
import sash
from sash.spark import batch
from tests.spark.native import Frame, Grid, Session, Value, answers, difference, micros
from tests.spark.native import native_frames, native_windows, of_sash, types

second = 1_000_000
rows = spark.range(0, 4000, numPartitions=4).select(
    "id",
    F.timestamp_micros(F.col("id") * 7919 % 4001 * 250_000 - 100 * second).alias("t"),
    (F.col("id") % 7).cast("string").alias("k"),
    F.when(F.col("id") % 11 != 0, F.col("id") % 101).alias("x"),
).cache()
values = [Value("count"), Value("sum", "x"), Value("max", "x"), Value("last", "x")]
grids = {{"sliding": Grid(60 * second, 7 * second), "tumbling": Grid(10 * second, 10 * second, 3 * second)}}
edges = ("k", "query", "window_start", "window_end")
wanted = answers(native_windows(rows, {{**grids, "visit": Session(2 * second)}}, values, "t", ["k"]), edges)
assert len(wanted) > 500
everything = of_sash({{**grids, "visit": Session(2 * second)}}, values)
found = answers(batch.aggregate(rows, everything, on="t", by="k", path="packed"), edges)
assert not (wrong := difference(found, wanted)), wrong
of_grids = {{key: value for key, value in wanted.items() if key[1] != "visit"}}
found = answers(batch.aggregate(rows, of_sash(grids, values), on="t", by="k", path="jvm"), edges)
assert not (wrong := difference(found, of_grids)), wrong

frames = [Frame("rows", rows=20), Frame("range", range=30 * second)]
wanted = answers(native_frames(rows, frames, values, "t", ["k"], "id"), ["id"])
found = answers(sash.rolling(rows, *(each.of_sash(values, micros) for each in frames), on="t", by="k"), ["id"])
assert not (wrong := difference(found, wanted)), wrong

hosts = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
print("executors", len(hosts) - 1)
spark.stop()
"""


def test_executors_of_their_own_answer_as_spark_does() -> None:
    script = textwrap.dedent(SCRIPT).format(root=str(ROOT))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=180, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "executors 2"


def test_importing_sash_imports_no_spark() -> None:
    script = "import sash, sys; assert 'pyspark' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
