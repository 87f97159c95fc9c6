"""Spark Connect: a session that has no JVM of its own answers as any other does."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

SCRIPT = """
import math, os, sys, tempfile
import pyarrow.parquet as pq
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


def streamed(results, folder):
    query = (
        results.writeStream.format("parquet").option("path", f"{folder}/results")
        .option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
    )
    query.awaitTermination()
    return query, spark.read.parquet(f"{folder}/results").toArrow()

with tempfile.TemporaryDirectory() as folder:
    for file in range(3):
        pq.write_table(table.slice(100 * file, 100), f"{folder}/{file}.parquet")
        os.utime(f"{folder}/{file}.parquet", (1000 * file, 1000 * file))  # Spark reads the oldest first
    stream = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1).parquet(folder)
    given = {"on": "t", "by": "k", "watermark": "5 seconds", "flush": "at_end"}
    query, found = streamed(sash.aggregate(stream, [sliding], **given), f"{folder}/windows")
    check(found, sash.aggregate(table, [sliding], on="t", by="k"), "k", "query", "window_start")
    done = sash.progress(query)
    assert (done.late_rows, done.open_windows, done.watermark) == (0, 0, math.inf), done
    assert "flushed" in sash.why(query), sash.why(query)
    assert sash.state(f"{folder}/windows/checkpoint").buckets == 2
    try:
        streamed(sash.aggregate(stream, [sliding], **given | {"flush": None}), f"{folder}/windows")
        raise AssertionError("a checkpoint of another flush was taken")
    except sash.errors.InvalidState as error:
        assert "written with flush='at_end'" in str(error)
    query, found = streamed(sash.rolling(stream, **frame, watermark="5 seconds", flush="at_end"), f"{folder}/frames")
    check(found, sash.rolling(table, **frame), "id")
print("same")
spark.stop()
"""


def test_a_session_of_spark_connect_gives_the_same_results() -> None:

    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "same"
