"""Runs the job, kills parts of it at random moments, and starts it again until it has finished.

  rows ─▶ life ─✕─▶ life ─✕─▶ … ─▶ life ─▶ the files that the sink has committed

A life is one driver with whatever it starts. All of it bears a mark in its environment, by which it is found in /proc:
nothing without the mark is ever killed.
"""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

import sash
from tests.spark.chaos.job import FILES, QUERIES, chaos_rows, write_rows

__all__ = ["Hit", "Survival", "Victim", "difference", "survive", "wanted_rows"]

ROOT = Path(__file__).parent.parent.parent.parent
_MARK = "SASH_CHAOS_ID"
_LONGEST_S = 600  # of one life
_LOOK_S = 0.01
_MISSED_S = 3  # it is told at once
_LOST = re.compile("ERROR Executor: Exception in task|ERROR TaskSchedulerImpl: Lost executor")


class Victim(Enum):
    """What is killed."""

    DRIVER = "driver"
    EXECUTOR = "executor"
    WORKER = "worker"

    @property
    def command(self) -> str:
        """What is in the command line of it."""
        return {"driver": "chaos.job", "executor": "CoarseGrainedExecutorBackend", "worker": "pyspark.daemon"}[
            self.value
        ]


@dataclass(frozen=True)
class Hit:
    """A process that was killed while the query was running."""

    victim: Victim
    life: int
    committed: int  # the last micro-batch before, -1: none
    is_under_way: bool  # a micro-batch had begun, and was not committed


@dataclass(frozen=True)
class Survival:
    rows: Counter[tuple[Any, ...]]  # in the files that the sink has committed
    hits: tuple[Hit, ...]
    lives: int
    lost: int  # tasks and executors, in the words of Spark

    def __str__(self) -> str:
        batches = ", ".join(f"{each.committed}{'+' if each.is_under_way else ''}" for each in self.hits)
        return (
            f"{len(self.hits)} hits after batches {batches}; {self.lives} lives, {self.lost} tasks and executors lost"
        )


def survive(folder: Path, victims: Sequence[Victim], seed: int, files: int = FILES) -> Survival:
    """Run the job in a new folder, with these killed one after the other, until it has finished."""
    rng = random.Random(seed)
    # On local Spark a task may fail once, unless it is told otherwise; executors are there on a cluster only.
    master = "local-cluster[2,1,1024]" if Victim.EXECUTOR in victims else "local[2,4]"
    write_rows(folder / "rows", files)
    hits: list[Hit] = []
    lives = lost = 0
    while True:
        before = len(hits)
        with _Life(master, folder, lives, files) as life:
            _haunt(life, victims, rng, hits)
        lives, lost = lives + 1, lost + life.lost
        if life.code == 0:
            break
        assert len(hits) > before, f"the job failed, and nothing was killed: {life.last_words()}"
    return Survival(_rows_in(_sunk(folder / "out")), tuple(hits), lives, lost)


def wanted_rows(files: int = FILES) -> Counter[tuple[Any, ...]]:
    """What the same queries answer on a table, in this process: the rows are never later than the watermark."""
    return _rows_in([sash.aggregate(chaos_rows(files), QUERIES, on="ts", by="k")])


def difference(found: Counter[tuple[Any, ...]], wanted: Counter[tuple[Any, ...]]) -> str:
    """In what results differ; empty if they do not."""
    lost, extra = wanted - found, found - wanted
    if not lost and not extra:
        return ""
    return f"{lost.total()} lost, such as {list(lost)[:3]}; {extra.total()} too many, such as {list(extra)[:3]}"


# --- killing ------------------------------------------------------------------------------------------


def _haunt(life: "_Life", victims: Sequence[Victim], rng: random.Random, hits: list[Hit]) -> None:
    """Wait for the end of a life, and kill at moments that leave room for the kills that are left."""
    kills = len(victims)
    folder, due, target = life.folder, None, _target(life, kills - len(hits), rng)
    slowly = life.number > 0  # what comes first is what was cut off: it takes a while, and is killed again now and then
    while life.is_running():
        time.sleep(_LOOK_S)
        if len(hits) == kills or not life.has_said("started") or _newest(folder, "commits") < target:
            continue
        if due is None:
            due = time.monotonic() + rng.uniform(0, 5 if slowly else 1.2)
        committed = _newest(folder, "commits")
        if committed >= life.flushed or (committed < life.flushed - 1 and time.monotonic() < due):  # not after the last
            continue
        is_under_way = _newest(folder, "offsets") > committed
        if life.kill(victims[len(hits)], rng):
            hits.append(Hit(victims[len(hits)], life.number, committed, is_under_way))
            due, target, slowly = None, _target(life, kills - len(hits), rng), False


def _target(life: "_Life", left: int, rng: random.Random) -> int:
    """The micro-batch after which something is to be killed, with room for as many that come later."""
    committed = _newest(life.folder, "commits")
    stretch = (life.flushed - 1 - committed) // max(left, 1)
    return max(0, committed + rng.randrange(max(stretch, 1)))


def _newest(folder: Path, log: str) -> int:
    """The last micro-batch in a log of the checkpoint; -1 if there is none."""
    with contextlib.suppress(FileNotFoundError):
        names = [each.name for each in (folder / "checkpoint" / log).iterdir()]
        return max((int(name) for name in names if name.isdigit()), default=-1)
    return -1


class _Life:
    """One driver, with whatever it starts; all of it is gone in the end."""

    def __init__(self, master: str, folder: Path, number: int, files: int) -> None:
        self.folder, self.number = folder, number
        # A micro-batch for each file, and one that closes what is open; one less if two files come together.
        self.flushed = files
        self._mark = uuid.uuid4().hex
        self._said, self._errors = folder / f"{number}.out", folder / f"{number}.err"
        command = [sys.executable, "-m", "tests.spark.chaos.job", master, str(folder)]
        # To files: the JVM has the same output as the driver, and a pipe would be read until the JVM is gone, too.
        with self._said.open("w") as out, self._errors.open("w") as err:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, _MARK: self._mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self._ends = time.monotonic() + _LONGEST_S

    def __enter__(self) -> "_Life":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while found := list(_marked(self._mark)):
            for pid, _ in found:
                self._strike(pid)
            time.sleep(_LOOK_S)
        self._process.wait()
        shutil.rmtree(self.folder / "local", ignore_errors=True)
        for application in re.findall(r"^application (app-\S+)$", self._said.read_text(), re.MULTILINE):
            shutil.rmtree(_executor_logs() / application, ignore_errors=True)  # Spark keeps them for ever

    @property
    def code(self) -> int | None:
        return self._process.returncode

    def is_running(self) -> bool:
        if time.monotonic() > self._ends:
            raise TimeoutError(f"the job has not finished after {_LONGEST_S} s: {self.last_words()}")
        return self._process.poll() is None

    def has_said(self, word: str) -> bool:
        return word in self._said.read_text().split()

    def last_words(self) -> str:
        return self._errors.read_text(errors="replace")[-3000:]

    def kill(self, victim: Victim, rng: random.Random) -> bool:
        """Kill one of the victims, a driver with its JVM; whether there was one that mattered."""
        if victim is Victim.DRIVER:
            return self._kill_driver()
        found = sorted(pid for pid, command in _marked(self._mark) if victim.command in command)
        if victim is Victim.WORKER:
            found = [pid for pid in found if _is_computing(pid)]
        lost = self.lost
        return bool(found) and self._strike(rng.choice(found)) and self._is_missed(lost)

    def _kill_driver(self) -> bool:
        """It stands still while we look whether it has something left to do."""
        os.killpg(self._process.pid, signal.SIGSTOP)
        is_hit = _newest(self.folder, "commits") < self.flushed
        os.killpg(self._process.pid, signal.SIGKILL if is_hit else signal.SIGCONT)
        if is_hit:
            self._process.wait()
        return is_hit

    @property
    def lost(self) -> int:
        """Tasks and executors, in the words of Spark."""
        return len(_LOST.findall(self._errors.read_text(errors="replace")))

    def _is_missed(self, lost: int) -> bool:
        """Whether Spark says so: nobody asks for a worker without a task, or an executor that was about to start."""
        ends = time.monotonic() + _MISSED_S
        while self.lost == lost and self.is_running() and time.monotonic() < ends:
            time.sleep(_LOOK_S)
        return self.lost > lost

    def _strike(self, pid: int) -> bool:
        """Kill a process that bears the mark, and no other that has come to have its number."""
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        try:
            if not _bears(pid, self._mark):
                return False
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True


def _marked(mark: str) -> Iterator[tuple[int, str]]:
    """Processes with a mark in their environment, and their command lines."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and _bears(int(each.name), mark):
            with contextlib.suppress(OSError):
                yield int(each.name), (each / "cmdline").read_text(errors="replace").replace("\0", " ")


def _bears(pid: int, mark: str) -> bool:
    """A process that has ended, or is another user's, bears none."""
    with contextlib.suppress(OSError):
        return f"{_MARK}={mark}".encode() in Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    return False


def _is_computing(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] == "R"
    return False


def _executor_logs() -> Path:
    found = find_spec("pyspark")
    assert found is not None and found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "work"


# --- results ------------------------------------------------------------------------------------------


def _sunk(out: Path) -> Iterator[pa.Table]:
    """The files that the sink has committed, by its own log: others may lie beside them, of attempts that failed."""
    logs = {int(each.name.split(".")[0]): each for each in (out / "_spark_metadata").iterdir() if each.name[0] != "."}
    first = max((number for number, each in logs.items() if each.suffix == ".compact"), default=0)
    for number in range(first, max(logs) + 1):
        version, *lines = logs[number].read_text().splitlines()
        assert version == "v1"
        for entry in map(json.loads, lines):
            assert entry["action"] == "add"
            yield pq.ParquetFile(unquote(urlparse(entry["path"]).path)).read()


def _rows_in(tables: Any) -> Counter[tuple[Any, ...]]:
    """Rows with the times of all files in one unit."""
    rows: Counter[tuple[Any, ...]] = Counter()
    for table in tables:
        columns = [
            column.cast(pa.timestamp("us")) if pa.types.is_timestamp(column.type) else column
            for column in (table.column(name) for name in sorted(table.schema.names))
        ]
        rows.update(zip(*(column.to_pylist() for column in columns), strict=True))
    return rows
