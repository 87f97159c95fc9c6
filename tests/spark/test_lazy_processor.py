"""The process that Spark starts on the driver to ask for variables does not import sash."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from pyspark import cloudpickle

from sash.spark.state.lazy_processor import LazyProcessor
from sash.spark.state.snapshot_log import STATE_VARIABLE

PROGRAM = """
import pickle, sys
from pathlib import Path

class Handle:
    def __init__(self): self.asked = []
    def getMapState(self, *given): self.asked.append(given)

processor, handle = pickle.loads(Path(sys.argv[1]).read_bytes()), Handle()
processor.init(handle)
processor.close()
print(handle.asked)
print("sash" in sys.modules)
"""


class Told:
    """Says what it was called with."""

    def init(self, handle: Any) -> None:
        self.map, self.timer = handle.getMapState(*STATE_VARIABLE), handle.registerTimer

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
        self.timer(7)
        return iter([(self.map, key, list(rows))])

    def close(self) -> None:
        self.timer(9)


class Handle:
    def __init__(self) -> None:
        self.timers: list[int] = []

    def getMapState(self, name: str, key: Any, value: Any) -> str:
        return f"map of {name}"

    def registerTimer(self, at: int) -> None:
        self.timers.append(at)


def test_variables_are_told_without_sash(tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(cloudpickle.dumps(LazyProcessor(Told(), STATE_VARIABLE, "")))
    done = subprocess.run([sys.executable, "-c", PROGRAM, packed], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str([STATE_VARIABLE]), "False"]


def test_rows_reach_the_processor_with_the_variables_that_were_told() -> None:
    processor, handle = cloudpickle.loads(cloudpickle.dumps(LazyProcessor(Told(), STATE_VARIABLE, ""))), Handle()
    processor.init(handle)
    assert list(processor.handleInputRows((1,), iter([5]), None)) == [("map of snapshot_log", (1,), [5])]
    processor.close()
    assert handle.timers == [7, 9]
