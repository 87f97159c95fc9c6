"""Spark Connect: a session that has no JVM of its own answers as any other does."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

SCRIPT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
from pyspark.sql import SparkSession, functions as F
spark = (
    SparkSession.builder.remote("local[2]")
    .config("spark.connect.grpc.binding.address", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
import sash, sash.spark
sash.spark.ship(spark)
rows = spark.range(300).select(
    F.timestamp_micros(F.col("id") * 1_000_000).alias("t"), (F.col("id") % 3).alias("k"), "id"
)
assert type(rows).__module__ == "pyspark.sql.connect.dataframe"
table = rows.toArrow()

def check(found, wanted, *order):
    found, wanted = (each.sort_by([(name, "ascending") for name in order]).to_pylist() for each in (found, wanted))
    assert found == wanted, (found[:3], wanted[:3])

sliding = sash.query("sliding", sash.sliding("10 seconds", every="4 seconds"), n=sash.count(), s=sash.sum("id"))
ranks = sash.query("ranks", sash.sliding(rows=10, every=4), middle=sash.median("id"))
for queries in ([sliding], [sliding, ranks]):
    found = sash.aggregate(rows, queries, on="t", by="k").toArrow()
    check(found, sash.aggregate(table, queries, on="t", by="k"), "k", "query", "window_start")
frame = {"on": "t", "by": "k", "rows": 5, "s": sash.sum("id")}
check(sash.rolling(rows, **frame).toArrow(), sash.rolling(table, **frame), "id")
assert "JVM slices" in str(sash.explain(rows, [sliding], on="t", by="k"))
print("same")
spark.stop()
"""


def test_a_session_of_spark_connect_gives_the_same_results() -> None:

    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "same"
