"""`sash demo`: five queries over one stream of a smart home's plugs, on local Spark."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from sash.algebra.compiler import small_calls
from sash.cli.job import Job, Sink, Source
from sash.cli.run import FAILED, INTERRUPTED, LivePage, open_page, session_for, watch
from sash.cli.table import Table
from sash.cli.terminal import can_print, show
from sash.errors import sentence_of

__all__ = ["QUERIES", "compile_ahead", "readings", "smart_home", "worker_settings"]

HOUSES, PLUGS, FILES = 6, 4, 6
SOON = 10_000  # rows of the first file at most, so that the first results come soon
START = 1_767_225_600  # 2026-01-01 00:00 UTC
SCHEMA = "ts timestamp, house long, plug long, load double"
LATE, LATEST, NULLS = 0.05, 20, 0.01  # how many readings are late, by how many seconds at most, and how many are null

swing = sash.Aggregate(
    "swing",
    state=("f8", "f8", "f8", "i8"),  # first and last reading, the largest step between neighbours, how many
    identity=(0.0, 0.0, 0.0, 0),
    lift=lambda load: (load, load, 0.0, 1),
    combine=lambda a, b: (
        (a[0], b[1], max(max(a[2], b[2]), abs(b[0] - a[1])), a[3] + b[3])
        if a[3] > 0 and b[3] > 0
        else (a if b[3] == 0 else b)
    ),
    lower=lambda p: p[2],
)
QUERIES = (
    sash.query("hour", sash.sliding("1 hour", every="1 minute"), peak=sash.max("load"), mean=sash.mean("load")),
    sash.query("recent", sash.sliding(rows=1000, every=100), p95=sash.quantile("load", 0.95)),
    sash.query("use", sash.session(gap="60 seconds"), readings=sash.count(), used=sash.mean("load")),
    sash.query("shape", sash.tumbling("10 minutes"), m4=sash.m4("load")),
    sash.query("jumps", sash.tumbling("10 minutes"), swing=swing("load")),
)


def smart_home(folder: Path, hours: float, compare: bool = True, with_page: bool = False) -> int:
    """Generate rows, run the stream, print results; return the exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    # Spark takes some seconds to start, and workers would compile only when they have rows.
    ahead = subprocess.Popen(  # noqa: S603  # this Python
        [sys.executable, "-c", f"from {__name__} import compile_ahead; compile_ahead()"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "SASH_WARM": "off"},
    )
    try:
        return _smart_home(folder, hours, compare, with_page)
    finally:
        ahead.terminate()
        ahead.wait()


def compile_ahead() -> None:
    """Compile the kernels of the demo into the cache: first those that the first micro-batch needs.

    It interprets most of the others. They are compiled with the time that Spark's start leaves.
    """
    _push(readings(0.05))
    if hasattr(os, "nice"):
        os.nice(10)
    with small_calls(None):
        _push(readings(0.5))


def _push(rows: pa.Table) -> None:
    stream = sash.Stream(QUERIES, on="ts", by=["house", "plug"], watermark=f"{LATEST} seconds", late="keep")
    parts = [len(rows) * part // 3 for part in range(4)]
    for begin, end in pairwise(parts):
        stream.push(rows.slice(begin, end - begin))
    stream.push({}, watermark=np.inf)


def _smart_home(folder: Path, hours: float, compare: bool, with_page: bool) -> int:
    rows, is_resumed = _prepare(folder, hours)
    click.echo(
        f"A smart home: {HOUSES} houses, {HOUSES * PLUGS} plugs, a reading of each about every second, {hours:g} hours "
        f"in {FILES} files: {rows:,} rows,\n{LATE:.0%} of them late by up to {LATEST} s, {NULLS:.0%} without a value. "
        "Five queries at once:"
    )
    for each in QUERIES:
        click.echo(f"  {each}")
    if is_resumed:
        click.echo(f"\nThe last run was stopped: continuing from {folder / 'checkpoint'}.")
    click.echo("\nStarting Spark …")
    settings = worker_settings(os.environ)
    job = Job(folder, Source("parquet"), Sink(), {}, name="sash demo", master="local[2]", spark=settings)
    with open_page("smart home", with_page, stays=True) as page, session_for(job, None) as spark:
        threading.Thread(target=_start_workers, args=(spark,), daemon=True).start()
        code = _run_stream(spark, folder, rows, page)
        if code:
            return code
        _print_results(spark, folder)
        return _compare(spark, folder) if compare else 0


# --- Python workers --------------------------------------------------------------------------------------


def worker_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings with which all workers come from one process that has loaded sash.

    Without the second one, Spark sets a variable for map tasks that it does not set for the state operator, and starts
    one parent of workers for each of the two. A Python that the user chose may lack sash: it has Spark's own parents.
    """
    if environment.get("PYSPARK_PYTHON", sys.executable) != sys.executable:
        return {}
    return {
        "spark.python.daemon.module": "sash.spark.worker.daemon",
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": False,
    }


def _start_workers(spark: Any) -> None:
    """Start the workers while the driver plans the stream: a job without data of its own, on both cores."""
    with suppress(Exception):  # the stream itself reports what is wrong with workers
        spark.sparkContext.parallelize(range(2), 2).map(abs).collect()


# --- readings ------------------------------------------------------------------------------------------


def readings(hours: float, seed: int = 7) -> pa.Table:
    """Return readings of each plug, one about every second, in the order of arrival."""
    dice = np.random.default_rng(seed)
    parts = []
    for house in range(HOUSES):
        for plug in range(PLUGS):
            seconds = np.arange(0, hours * 3600) + dice.random(int(hours * 3600)) * 0.5
            day = 1 + np.sin(2 * np.pi * (seconds / 86_400 - 0.25))
            load = (
                40 * day
                + 15 * (plug + 1) * (np.sin(seconds / (300 + 40 * house)) > 0.2)
                + dice.normal(0, 2, len(seconds))
            )
            pause = np.sin(seconds / (900 + 130 * plug + 17 * house)) < -0.93  # switched off: a session ends
            load, seconds = np.maximum(load, 0.0)[~pause], seconds[~pause]
            parts.append((seconds, np.full(len(seconds), house), np.full(len(seconds), plug), np.round(load, 2)))
    at, houses, plugs, loads = (np.concatenate([part[k] for part in parts]) for k in range(4))
    arrival = at + np.where(dice.random(len(at)) < LATE, dice.random(len(at)) * LATEST, 0.0)
    order = np.argsort(arrival, kind="stable")
    micros = ((START + at[order]) * 1e6).astype(np.int64)
    return pa.table(
        {
            "ts": pa.array(micros).cast(pa.timestamp("us", "UTC")),
            "house": houses[order].astype(np.int64),
            "plug": plugs[order].astype(np.int64),
            "load": pa.array(loads[order], mask=dice.random(len(order)) < NULLS),
        }
    )


def _prepare(folder: Path, hours: float) -> tuple[int, bool]:
    """Write the readings to files, unless a stopped run has the same; return their count and whether it continues."""
    about, wanted = folder / "demo.json", {"hours": hours, "files": FILES}
    known = json.loads(about.read_text()) if about.exists() else {}
    if {name: known.get(name) for name in wanted} == wanted and not known.get("done"):
        return int(known["rows"]), (folder / "checkpoint").exists()
    for name in ("readings", "checkpoint", "windows", "native"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "readings").mkdir(parents=True)
    table = readings(hours)
    first = min(SOON, table.num_rows // FILES)
    cuts = [0, *np.linspace(first, table.num_rows, FILES).astype(int).tolist()]
    for number, (begin, end) in enumerate(pairwise(cuts)):
        path = folder / "readings" / f"{number}.parquet"
        pq.write_table(table.slice(begin, end - begin), path)
        os.utime(path, (START + number,) * 2)  # files are read in the order of their times
    about.write_text(json.dumps({**wanted, "rows": table.num_rows}))
    return int(table.num_rows), False


# --- the stream ----------------------------------------------------------------------------------------


def _source(spark: Any, folder: Path) -> Any:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "readings"))


def _start(results: Any, folder: Path, name: str, checkpoint: str) -> Any:
    writer = results.writeStream.format("parquet").option("path", str(folder / name))
    return writer.option("checkpointLocation", str(folder / checkpoint)).trigger(availableNow=True).start()


def _run_stream(spark: Any, folder: Path, rows: int, page: LivePage) -> int:
    results = sash.aggregate(
        _source(spark, folder), QUERIES, on="ts", by=["house", "plug"], watermark=f"{LATEST} seconds", flush="at_end"
    )
    begin = time.perf_counter()
    query = _start(results, folder, "windows", "checkpoint")
    try:
        with page.following(query, QUERIES):
            watch(query, "plain")
            took = time.perf_counter() - begin
            page.wait()
    except KeyboardInterrupt:
        query.stop()
        click.echo(f"\nStopped. `sash demo` continues from {folder / 'checkpoint'}.", err=True)
        return INTERRUPTED
    except Exception as error:
        click.echo(f"Error: {sentence_of(error)}", err=True)
        return FAILED
    about = folder / "demo.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "done": True}))
    click.echo(f"\nAll five queries over {rows:,} rows: {took:.1f} s.{_steady(query.recentProgress)}\n")
    return 0


def _steady(batches: Sequence[Any]) -> str:
    """Return what a later micro-batch takes; the first one also starts workers and may compile kernels.

    >>> _steady([{"numInputRows": 10, "batchDuration": 9000}, *[{"numInputRows": 10, "batchDuration": 500}] * 3])
    ' The first micro-batch, which also starts the workers: 9.0 s. Later ones: 0.5 s each, 20 rows a second.'
    """
    filled = [each for each in batches if each["numInputRows"]]
    first, later = filled[:1], filled[1:]
    if not later:
        return ""
    seconds = float(np.median([each["batchDuration"] for each in later])) / 1000
    rate = sum(each["numInputRows"] for each in later) / sum(each["batchDuration"] for each in later) * 1000
    return (
        f" The first micro-batch, which also starts the workers: {first[0]['batchDuration'] / 1000:.1f} s. "
        f"Later ones: {seconds:.1f} s each, {rate:,.0f} rows a second."
    )


def _print_results(spark: Any, folder: Path) -> None:
    windows = spark.read.parquet(str(folder / "windows"))
    counts = {row["query"]: row["count"] for row in windows.groupBy("query").count().collect()}
    own = windows.where("house = 0 and plug = 0")
    examples = {
        row["query"]: row
        for row in own.orderBy("window_end").collect()  # the last of each query stays
    }
    names = {
        "hour": ("peak", "mean"),
        "recent": ("p95",),
        "use": ("readings", "used"),
        "shape": ("m4",),
        "jumps": ("swing",),
    }
    cells = []
    for query, values in names.items():
        row = examples.get(query)
        shown = ", ".join(f"{name} {_number(row[name])}" for name in values) if row is not None else ""
        end = str(row["window_end"]) if row is not None else ""
        cells.append((query, f"{counts.get(query, 0):,}", end, shown))
    headings = ("query", "windows", "last ends", "its values")
    show(Table("Emitted windows, and the last one of plug 0 in house 0", headings, tuple(cells)))
    shapes = own.where("query = 'shape'").orderBy("window_start").select("m4").collect()
    points = [point for row in shapes if row["m4"] for point in _drawn(row["m4"])]
    if points:
        click.echo(_line(points))
        _picture(points, folder / "m4.png")


def _drawn(m4: Any) -> list[float]:
    """Return first, lowest, highest and last value: these four draw the same line as all values."""
    first, last, low, high = m4
    return [first, low, high, last]


def _number(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(f"{each:.1f}" for each in value) + ")"
    return f"{value:,}" if isinstance(value, int) else "none" if value is None else f"{value:.1f}"


def _line(points: list[float], width: int = 72, height: int = 8) -> str:
    """Draw the line of plug 0 in characters."""
    marks = " ▁▂▃▄▅▆▇█" if can_print("█") else " .:-=+*#@"
    columns = np.array_split(np.array(points), min(width, len(points)))
    top = max(points) or 1.0
    lines = [f"Load of plug 0 in house 0, from the M4 of every 10 minutes, up to {top:.0f} W"]
    for row in range(height - 1, -1, -1):
        cells = []
        for column in columns:
            level = float(column.max()) / top * height - row
            cells.append(marks[int(np.clip(level, 0, 1) * (len(marks) - 1))])
        lines.append("".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _picture(points: list[float], path: Path) -> None:
    try:
        import matplotlib as mpl
    except ImportError:
        click.echo("No plot: matplotlib is not installed (pip install 'sash[report]').")
        return
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(10, 3.5), layout="constrained")
    axes.plot(np.arange(len(points)) / 24, points, linewidth=0.8)
    axes.set(title="Plug 0 in house 0: four points for every 10 minutes (M4)", xlabel="hours", ylabel="load [W]")
    figure.savefig(path, dpi=120)
    plt.close(figure)
    click.echo(f"The same as a plot: {path}\n")


# --- comparison with Spark ------------------------------------------------------------------------------------


def _compare(spark: Any, folder: Path) -> int:
    """Time the one query that Spark supports, in sash and in Spark, and compare the results."""
    from pyspark.sql import functions as F

    shutil.rmtree(folder / "native", ignore_errors=True)
    key = ["house", "plug"]
    ours = sash.aggregate(_source(spark, folder), QUERIES[0], on="ts", by=key, watermark=f"{LATEST} seconds")
    window = F.window("ts", "1 hour", "1 minute")
    native = (
        _source(spark, folder)
        .withWatermark("ts", f"{LATEST} seconds")
        .groupBy(*key, window)
        .agg(F.max("load").alias("peak"), F.avg("load").alias("mean"))
        .select(*key, F.lit("hour").alias("query"), "window.start", "window.end", "peak", "mean")
    )
    times, counts = {}, {}
    for name, results in (("sash", ours), ("Spark's own window()", native)):
        place = f"native/{name.partition(' ')[0].rstrip(chr(39) + 's')}"
        begin = time.perf_counter()
        _start(results, folder, f"{place}/out", f"{place}/checkpoint").awaitTermination()
        times[name] = time.perf_counter() - begin
        rows = spark.read.parquet(str(folder / place / "out")).drop("query")
        counts[name] = {tuple(row)[:5]: row["mean"] for row in rows.collect()}
    one, other = counts.values()
    same = one.keys() == other.keys() and all(_close(one[key], other[key]) for key in one)
    ours_took, native_took = times.values()
    click.echo(
        f"The first query alone, which Spark supports, too: sash {ours_took:.1f} s, Spark's own {native_took:.1f} s, "
        + (f"{len(one):,} windows, every one the same." if same else "THEY DIFFER.")
    )
    shutil.rmtree(folder / "native", ignore_errors=True)
    return 0 if same else 1


def _close(a: Any, b: Any) -> bool:
    return a == b or (a is not None and b is not None and abs(a - b) <= 1e-9 * max(abs(a), abs(b)))
