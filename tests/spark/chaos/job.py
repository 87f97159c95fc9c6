"""A job to be killed: a folder of small files as a stream, several queries at once, to a file sink.

    python -m tests.spark.chaos.job MASTER FOLDER

Started again after whatever happened to it, it goes on from its checkpoint. `FOLDER` has its rows, checkpoint, results.
"""

import os
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import sash
from tests.spark.jvm import HASTY

FILES, ROWS, KEYS = 12, 400, 50
DELAY_S = 5

_SECONDS_A_FILE = 10
# Times are so coarse that some keys have several rows at one: their order is that of arrival. Those of a file are its
# own, for a micro-batch that begins again may have two files, and Spark reads these in any order.
_STEP_US = 250_000
_NOTE = "-" * 200

QUERIES = [
    sash.query("sliding", sash.sliding("8 seconds", every="2 seconds"), most=sash.max("x"), total=sash.sum("x")),
    sash.query("visit", sash.session(gap="3 seconds"), total=sash.sum("x"), newest=sash.last("x")),
    sash.query("ranks", sash.sliding(rows=7, every=3), newest=sash.last("x"), when=sash.argmax("x", "ts")),
    # Counted and let go: rows outweigh what is remembered of them, so that new snapshots are written now and then.
    sash.query("notes", sash.tumbling("10 seconds"), notes=sash.count("note")),
]


def chaos_rows(files: int, seed: int = 7) -> pa.Table:
    """All rows in the order of arrival: those of `DELAY_S` seconds are mixed. Sums of the values are exact."""
    rng = random.Random(seed)
    steps = files * _SECONDS_A_FILE * 1_000_000 // _STEP_US
    times = [rng.randrange(steps) * _STEP_US for _ in range(files * ROWS)]
    times.sort(key=lambda time: time + rng.randrange(DELAY_S * 1_000_000))
    times = [time + place // ROWS for place, time in enumerate(times)]
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "k": pa.array([rng.randrange(KEYS) for _ in times], pa.int64()),
            "x": pa.array([float(rng.randrange(-1000, 1000)) for _ in times], pa.float64()),
            "note": pa.array([_NOTE] * len(times)),
        }
    )


def write_rows(folder: Path, files: int) -> None:
    """One file for each micro-batch; Spark takes them by the time at which they were written."""
    table = chaos_rows(files)
    folder.mkdir(parents=True)
    for number in range(files):
        path = folder / f"{number:03}.parquet"
        pq.write_table(table.slice(number * ROWS, ROWS), path)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def run(master: str, folder: Path) -> None:
    """Until everything was read, and all windows are closed."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": HASTY,
        "spark.driver.host": "127.0.0.1",
        "spark.executor.extraJavaOptions": HASTY,
        "spark.executor.memory": "1g",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.codegen.wholeStage": "false",  # takes longer to compile than to run
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(master).appName("sash chaos")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    _say("application", spark.sparkContext.applicationId)
    rows = spark.readStream.schema("ts timestamp, k long, x double, note string").option("maxFilesPerTrigger", 1)
    results = sash.aggregate(
        rows.parquet(str(folder / "rows")), QUERIES, on="ts", by="k", watermark=f"{DELAY_S} seconds", flush="at_end"
    )
    query = (
        results.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )
    _say("started")
    query.awaitTermination()
    _say("finished")


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]))
