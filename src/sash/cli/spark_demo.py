"""The second half of `sash demo`: a smart home's plugs on local Spark, beside Spark's own windows."""

import os
import sys
import time
from typing import Any

import click

import sash
from sash.cli.show import show
from sash.report import Table

__all__ = ["spark_demo"]

PLUGS = 40


def spark_demo(rows: int) -> bool:
    """Aggregate, compare with Spark, print; whether both said the same."""
    try:
        from pyspark.sql import SparkSession
        from pyspark.sql import functions as F
    except ImportError:
        click.echo("The part on Spark is left out: PySpark is not installed (pip install 'sash[spark]').")
        return True
    click.echo(
        f"\nA smart home on local Spark: {rows:,} readings of {PLUGS} plugs, the last minute of each, every second."
    )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    spark: Any = (
        SparkSession.builder.master("local[2]")
        .appName("sash demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    try:
        plug = F.format_string("plug %02d", F.pmod(F.xxhash64("id"), F.lit(PLUGS)))
        start = F.lit(1_767_268_800_000_000)  # 2026-01-01 12:00
        events = spark.range(rows).select(
            F.timestamp_micros(start + F.col("id") * 5_000).alias("ts"),
            plug.alias("plug"),
            F.round(100 * (1 + F.sin(F.col("id") / 50_000)) + 50 * F.rand(7), 3).alias("load"),
        )
        minute = sash.query(
            "minute", sash.sliding("1 minute", every="1 second"), peak=sash.max("load"), rows=sash.count()
        )
        return _compared(spark, events, minute)
    finally:
        spark.stop()


def _compared(spark: Any, events: Any, minute: sash.Query) -> bool:
    from pyspark.sql import functions as F

    sash.aggregate(events.limit(1000), minute, on="ts", by="plug").count()  # starts workers, loads kernels
    ours, took = _timed(sash.aggregate(events, minute, on="ts", by="plug").drop("query"))
    window = F.window("ts", "1 minute", "1 second")
    native, native_took = _timed(
        events.groupBy("plug", window)
        .agg(F.max("load").alias("peak"), F.count("*").alias("rows"))
        .select("plug", "window.start", "window.end", "peak", "rows")
    )
    right = sorted(map(tuple, ours)) == sorted(map(tuple, native))
    last = sorted(ours, key=lambda row: (row["window_start"], row["plug"]))[len(ours) // 2 :][:5]
    cells = tuple((row["plug"], str(row["window_start"]), f"{row['peak']:.3f}", f"{row['rows']:,}") for row in last)
    show(Table("Some of the windows", ("plug", "from", "peak", "rows"), cells))
    click.echo(
        f"sash {took:.1f} s, Spark's own window() {native_took:.1f} s for the same {len(ours):,} windows: ", nl=False
    )
    click.echo("every row the same." if right else "THEY DIFFER.")
    return right


def _timed(frame: Any) -> tuple[list[Any], float]:
    begin = time.perf_counter()
    rows = frame.collect()
    return rows, time.perf_counter() - begin
