"""Run points in a process of their own, with its own Java, workers and number of cores.

`python -m benchmarks.spark_tables.separate_process` reads a request as JSON from its standard input and writes the runs
as its last line.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.settings import TableSettings
from benchmarks.spark_tables.measurement import Run, measure
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.session import LOCAL, LocalSpark
from benchmarks.spark_tables.subjects import Point

__all__ = ["main", "run_separately"]

SECONDS_TO_START = 120.0
ROOT = Path(__file__).parents[2]  # where the package is found


def run_separately(master: str, points: Iterable[Point], settings: TableSettings) -> dict[Point, Run]:
    """Run points in a new process; rows that one process wrote, the next one finds."""
    points = list(points)
    wanted = {
        "master": master,
        "folder": str(LOCAL.folder),
        "points": [asdict(each) for each in points],
        "settings": asdict(settings),
    }
    # A warm-up, writing the rows, and a last run that begins just within its seconds.
    longest = SECONDS_TO_START + len(points) * (settings.point_seconds + 4 * settings.limit_seconds)
    done = subprocess.run(  # noqa: S603 - this very Python, this very module
        [sys.executable, "-m", __name__],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        timeout=longest,
        cwd=ROOT,
    )
    if done.returncode:
        raise RuntimeError(f"Measuring on {master} failed: {done.stderr.strip()[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return {point: Run(**run) for point, run in zip(points, found, strict=True)}


def main(text: str) -> str:
    """Run the points of a request, and return the runs in the same order."""
    wanted = json.loads(text)
    points = [_point(each) for each in wanted["points"]]
    local = LocalSpark(wanted["master"], Path(wanted["folder"]))
    try:
        runs = measure(local, points, TableSettings(**wanted["settings"]))
    finally:
        local.close()
    return json.dumps([asdict(runs[point]) for point in points])


def _point(given: dict[str, Any]) -> Point:
    return Point(**{**given, "rows": Rows(**given["rows"])})


if __name__ == "__main__":
    sys.stdout.write("\n" + main(sys.stdin.read()) + "\n")
