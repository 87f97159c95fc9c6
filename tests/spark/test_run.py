"""`sash run`, `explain` and `state` on real Spark, as a user types them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

JOB = """
[job]
on = "ts"
by = "plug"
watermark = "5 seconds"
flush = "at_end"

[source]
format = "parquet"
path = "${DATA}/rows"
stream = true
schema = "ts timestamp, plug string, load double"

[queries.ten]
window = { tumbling = "10 seconds" }
peak = "max(load)"
n = "count()"

[sink]
format = "parquet"
path = "${DATA}/windows"
checkpoint = "${DATA}/checkpoint"
trigger = "available now"
"""


def sash(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sash", *arguments]
    environment = {**os.environ, "DATA": str(data), "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240, check=False)


def add_rows(folder: Path, number: int) -> None:
    rows = {
        "ts": pa.array([1_000_000, 4_000_000, 12_000_000], pa.timestamp("us", "UTC")),
        "plug": ["a", "b", "a"],
        "load": [1.0, 2.0, 3.0],
    }
    (folder / "rows").mkdir(exist_ok=True)
    pq.write_table(pa.table(rows), folder / "rows" / f"{number}.parquet")


@pytest.mark.long
@pytest.mark.compat
def test_a_bounded_job_runs_and_a_stream_runs_or_names_the_version_that_it_needs(tmp_path: Path) -> None:
    add_rows(tmp_path, 0)
    job, bounded = tmp_path / "job.toml", JOB.replace("stream = true", "stream = false")
    job.write_text(
        bounded.replace('trigger = "available now"\n', "").replace('checkpoint = "${DATA}/checkpoint"\n', "")
    )
    done = sash(tmp_path, "run", str(job), "--quiet", "--master", "local[2]")
    assert done.returncode == 0, done.stderr
    found = pq.read_table(tmp_path / "windows").select(["plug", "peak", "n"]).to_pylist()
    wanted = [("a", 1.0, 1), ("a", 3.0, 1), ("b", 2.0, 1)]
    assert sorted(tuple(row.values()) for row in found) == wanted
    job.write_text(JOB.replace("/windows", "/streamed"))
    done = sash(tmp_path, "run", str(job), "--quiet", "--master", "local[2]")
    if pyspark.__version__.startswith("3."):
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert f"Error: Streams need PySpark 4.0 or newer, but {pyspark.__version__} is installed" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    found = pq.read_table(tmp_path / "streamed").select(["plug", "peak", "n"]).to_pylist()
    assert sorted(tuple(row.values()) for row in found) == wanted


@pytest.mark.only_compiled
@pytest.mark.long
def test_a_job_runs_shows_its_progress_and_its_state(tmp_path: Path) -> None:
    add_rows(tmp_path, 0)
    job = tmp_path / "job.toml"
    job.write_text(JOB)
    done = sash(tmp_path, "run", str(job), "--json", "--master", "local[2]")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["event"] == "done" and events[0]["rows"] == 3
    found = pq.read_table(tmp_path / "windows").to_pylist()
    assert sorted((row["plug"], row["peak"], row["n"]) for row in found) == [
        ("a", 1.0, 1),
        ("a", 3.0, 1),
        ("b", 2.0, 1),
    ]
    shown = sash(tmp_path, "state", str(tmp_path / "checkpoint"))
    assert shown.returncode == 0 and "ten: tumbling 10s" in shown.stdout, shown.stderr
    # The same checkpoint under another question: refused while it runs, in a sentence.
    job.write_text(JOB.replace("10 seconds", "20 seconds"))
    add_rows(tmp_path, 1)
    refused = sash(tmp_path, "run", str(job), "--quiet", "--master", "local[2]")
    assert refused.returncode == 1
    assert "Error: Query 'ten' differs from the saved one" in refused.stderr and "Traceback" not in refused.stderr
