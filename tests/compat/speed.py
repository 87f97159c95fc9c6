"""The speed of versions of PySpark on this machine: `python -m tests.compat --speed`.

Each version has a process and a Spark of its own, which wait while another one runs. The versions take turns. Seconds
are of processor time, of Spark and its Python workers, because other work on the machine changes them little. They
come from /proc, so this runs on Linux alone.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.compat.environments import ROOT, Environment, Speed

__all__ = ["measure_speeds"]

ROWS, KEYS, SECONDS = 2_000_000, 100, 2000
WINDOW_SECONDS, FRAME_ROWS = 100, 1000
WARM_UPS, RUNS = 1, 3
QUESTIONS = ("windows", "frames")


def measure_speeds(pythons: dict[Environment, Path]) -> list[Speed]:
    """Return the median seconds of processor time of windows over JVM slices and of frames, for each environment."""
    seconds: dict[tuple[Environment, str], list[float]] = {}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        workers = {each: stack.enter_context(_worker(python, folder)) for each, python in pythons.items()}
        for question in QUESTIONS:
            for _ in range(WARM_UPS + RUNS):
                for environment, worker in workers.items():
                    seconds.setdefault((environment, question), []).append(_ask(worker, question))
                    print(f"{environment.name}: {question} {seconds[environment, question][-1]:.2f} s", flush=True)
    medians = {key: statistics.median(runs[WARM_UPS:]) for key, runs in seconds.items()}
    return [Speed(each.pyspark, *(medians[each, question] for question in QUESTIONS)) for each in pythons]


@contextmanager
def _worker(python: Path, folder: str) -> Iterator["subprocess.Popen[str]"]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(
        [python, "-m", __name__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    ) as worker:
        yield worker
        assert worker.stdin is not None
        worker.stdin.close()


def _ask(worker: "subprocess.Popen[str]", question: str) -> float:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(question + "\n")
    worker.stdin.flush()
    for line in worker.stdout:
        if line.startswith("seconds "):
            return float(line.split()[1])
    raise RuntimeError("The process of a version ended before it answered; its message is above.")


def serve(questions: Iterable[str], folder: Path) -> None:
    """Answer each question with the seconds of processor time that it took."""
    from benchmarks.spark_tables.rows import Rows
    from benchmarks.spark_tables.session import LocalSpark
    from benchmarks.spark_tables.subjects import FRAMES, JVM, SASH, WINDOWS, Point

    rows, local = Rows(ROWS, KEYS, SECONDS), LocalSpark(folder=folder)
    points = {"windows": Point(JVM, WINDOWS, WINDOW_SECONDS, rows), "frames": Point(SASH, FRAMES, FRAME_ROWS, rows)}
    try:
        for question in questions:
            table = rows.read(local.spark(), folder)
            start = _processor_seconds()
            points[question.strip()].answer(table).write.format("noop").mode("overwrite").save()
            print("seconds", _processor_seconds() - start, flush=True)
    finally:
        local.close()


def _processor_seconds() -> float:
    """Return the processor time of this process and of all that it started: the JVM, and the workers of that."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            ticks[int(path.parent.name)] = sum(map(int, fields[11:15]))  # its own, and those of children that ended
    own = {os.getpid()}
    while more := {each for each, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks[each] for each in own) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    serve(sys.stdin, Path(sys.argv[1]))
