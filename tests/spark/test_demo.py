"""`sash demo` starts one parent of workers, before it has rows for them, and prints no message of a worker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PARENT, OWN = "sash.spark.worker.daemon", "pyspark.daemon"


@pytest.mark.only_compiled  # the types of its own aggregate come from the compiler
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the test looks at processes in /proc")
def test_all_workers_of_the_demo_have_one_parent_and_print_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sash", "demo", "--hours", "0.2", "--no-compare", "--folder", str(tmp_path)]
    variables = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    log = tmp_path / "printed"
    with log.open("w") as printed:
        demo = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT, env=variables)
        parents: dict[str, set[int]] = {PARENT: set(), OWN: set()}
        while True:
            for module, pids in parents.items():
                pids |= _started_by_java(module, demo.pid)
            try:
                code = demo.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
            break
    text = log.read_text()
    assert code == 0 and "batch 0: " in text, text
    assert len(parents[PARENT]) == 1 and not parents[OWN], parents
    assert "TransformWithState" not in text and "UDF" not in text, text


def _started_by_java(module: str, demo: int) -> set[int]:
    """Return the processes that the JVM of the demo started to run this module."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"\0-m\0{module}\0" not in (folder / "cmdline").read_text():
                continue
            java = _parent(int(folder.name))
            if "java" in Path(f"/proc/{java}/cmdline").read_text() and _parent(java) == demo:
                found.add(int(folder.name))
        except (OSError, IndexError):  # it ended meanwhile
            continue
    return found


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
