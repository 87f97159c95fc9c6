"""Spark Connect: a session that has no JVM of its own answers as any other does."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pyspark
import pytest

from tests.spark.streams import until

pytestmark = pytest.mark.long

SESSION = """
import math, os, sys, tempfile
import pyspark
import pyarrow.parquet as pq
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
from pyspark.sql import SparkSession, functions as F
builder = SparkSession.builder.remote(sys.argv[1]).config("spark.sql.shuffle.partitions", "2")
if sys.argv[1].startswith("local"):
    builder = builder.config("spark.connect.grpc.binding.address", "127.0.0.1")
spark = builder.getOrCreate()
import sash, sash.spark
from sash.spark.versions import collect
sash.spark.ship(spark)
rows = spark.range(300).select(
    F.timestamp_micros(F.col("id") * 1_000_000).alias("t"), (F.col("id") % 3).alias("k"), "id"
)
assert type(rows).__module__ == "pyspark.sql.connect.dataframe"
table = collect(rows)

def check(found, wanted, *order):
    found, wanted = (each.sort_by([(name, "ascending") for name in order]).to_pylist() for each in (found, wanted))
    assert found == wanted, (found[:3], wanted[:3])

sliding = sash.query("sliding", sash.sliding("10 seconds", every="4 seconds"), n=sash.count(), s=sash.sum("id"))
ranks = sash.query("ranks", sash.sliding(rows=10, every=4), middle=sash.median("id"))
frame = {"on": "t", "by": "k", "rows": 5, "s": sash.sum("id")}
"""
TABLES = """
for queries in ([sliding], [sliding, ranks]):
    found = collect(sash.aggregate(rows, queries, on="t", by="k"))
    check(found, sash.aggregate(table, queries, on="t", by="k"), "k", "query", "window_start")
check(collect(sash.rolling(rows, **frame)), sash.rolling(table, **frame), "id")
assert "JVM slices" in str(sash.explain(rows, [sliding], on="t", by="k"))
joined = [
    sash.join(each, sash.lookback(each, range="20 seconds", n=sash.count(), s=sash.sum("id")), on="t", by="k")
    for each in (rows, table)
]
check(collect(joined[0]), joined[1], "id")
text = "SELECT k, MAX(id) AS most FROM rows [RANGE 1 MINUTE SLIDE 20 SECONDS] WHERE id > 7 GROUP BY k"
check(collect(sash.sql(text, rows=rows, on="t")), sash.sql(text, rows=table, on="t"), "k", "most")
if pyspark.__version__.startswith("3."):
    try:
        sash.aggregate(rows.selectExpr("*", "make_interval(1) AS parts"), [sliding], on="t")
        raise AssertionError("a type that Python lacks was taken")
    except sash.errors.UnsupportedVersion as error:
        assert "cannot read columns of type calendar_interval" in str(error)
else:
    rows.createOrReplaceTempView("readings")
    sash.spark.register_functions(spark)
    found = spark.sql(f"SELECT * FROM sash(TABLE(readings), '{text}', 't')").toArrow()
    check(found, sash.sql(text, rows=table, on="t"), "k", "most")
print("same")
spark.stop()
"""
STREAMS = """
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
REFUSED = """
stream = spark.readStream.format("rate").load()
for call in (
    lambda: sash.aggregate(stream, [sliding], on="timestamp", watermark="5 seconds"),
    lambda: sash.rolling(stream, on="timestamp", rows=3, watermark="5 seconds", n=sash.count()),
    lambda: sash.sql("SELECT COUNT(*) AS n FROM s [ROWS 9 SLIDE 9]", s=stream, on="timestamp", watermark="0s"),
):
    try:
        call()
        raise AssertionError("a stream was taken")
    except sash.errors.UnsupportedVersion as error:
        assert "Streams on Spark Connect need PySpark 4.1 or newer" in str(error)
print("same")
spark.stop()
"""


@contextmanager
def server() -> Iterator[str]:
    """Give the address of a server: a local one, or one of another version where PySpark contains none."""
    python = os.environ.get("SASH_CONNECT_SERVER")
    if python is None:
        yield "local[2]"
        return
    shown = [python, "-c", "import pyspark; print(pyspark.__path__[0])"]
    home = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [f"{home}/bin/spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    command += ["--conf", f"spark.connect.grpc.binding.port={port}"]
    command += ["--conf", "spark.connect.grpc.binding.address=127.0.0.1"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-connect"]
    own = {"SPARK_HOME": home, "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(command, env={**os.environ, **own}, stderr=subprocess.DEVNULL) as running:
        try:
            until(lambda: is_open(port), 120)
            yield f"sc://127.0.0.1:{port}"
        finally:
            running.terminate()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def check(script: str) -> None:
    with server() as remote:
        program = [sys.executable, "-c", SESSION + script, remote]
        done = subprocess.run(program, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "same"


@pytest.mark.compat
def test_tables_of_spark_connect_give_the_same_results() -> None:
    check(TABLES)


@pytest.mark.compat_streams
def test_streams_of_spark_connect_give_the_same_results_or_name_the_version_needed() -> None:
    major, minor = map(int, pyspark.__version__.split(".")[:2])
    check(STREAMS if (major, minor) >= (4, 1) else REFUSED)
