"""Memory and processor time of the processes that this one started, from /proc."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ProcessUsage", "descendants"]

PROC = Path("/proc")
EVERY_SECONDS = 0.05


@dataclass(frozen=True)
class Process:
    """A process at one moment."""

    number: int
    parent: int
    is_worker: bool
    resident_bytes: int
    cpu_seconds: float  # of it and of the processes that it waited for


def _processes() -> Iterator[Process]:
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text()
            command = (entry / "cmdline").read_bytes()
        except OSError:  # the process has ended
            continue
        fields = text[text.rindex(")") + 2 :].split()  # the name before it may hold any character
        is_worker = b"pyspark.daemon" in command or b"pyspark.worker" in command
        cpu = sum(map(int, fields[11:15])) / tick
        yield Process(int(entry.name), int(fields[1]), is_worker, int(fields[21]) * page, cpu)


def descendants(root: int | None = None) -> list[Process]:
    """Return a process and all processes that it started, directly or not."""
    every = list(_processes())
    own = {os.getpid() if root is None else root}
    while more := {each.number for each in every if each.parent in own} - own:
        own |= more
    return [each for each in every if each.number in own]


class ProcessUsage:
    """Peak memory of Python workers and processor time of all processes while the block runs.

    Resident memory is read twenty times a second; pages that forked workers share count in each of them.
    """

    def __init__(self) -> None:
        self.largest_bytes = 0
        self.together_bytes = 0
        self.cpu_seconds = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "ProcessUsage":
        self._before = {each.number: each.cpu_seconds for each in descendants()}
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        after = {each.number: each.cpu_seconds for each in descendants()}
        self.cpu_seconds = sum(after.values()) - sum(self._before.get(number, 0.0) for number in after)

    def _look(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            sizes = [each.resident_bytes for each in descendants() if each.is_worker]
            self.largest_bytes = max(self.largest_bytes, max(sizes, default=0))
            self.together_bytes = max(self.together_bytes, sum(sizes))
