"""The files that both sides read, one in each micro-batch: rows in the order of time, with random keys."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["SCHEMA", "Files"]

SCHEMA = "ts timestamp, k long, x double"
SECOND = 1_000_000
START = 1_767_225_600  # 2026-01-01, in seconds
MINUTE = 60
PIECES = 4  # row groups of a file, so that two cores can share it


@dataclass(frozen=True)
class Files:
    """Rows of several keys in several files, over some minutes of event time.

    >>> files = Files(6, 2, files=3, minutes=1)
    >>> [str(time)[11:19] for time in files.table(1).column("ts").to_pylist()]
    ['00:00:20', '00:00:30']
    """

    rows: int
    keys: int
    files: int = 4
    minutes: int = 40

    @property
    def name(self) -> str:
        """Return the name of the folder."""
        return f"files-{self.rows}-{self.keys}-{self.files}-{self.minutes}"

    def part(self, rows: int) -> "Files":
        """Return fewer rows of the same keys, over the same time."""
        return replace(self, rows=rows)

    def write(self, folder: Path) -> Path:
        """Return the folder of the files; write them first if they are not there."""
        import pyarrow.parquet as pq

        path = folder / self.name
        if not path.exists():
            made = path.with_suffix(".part")
            made.mkdir(parents=True)
            for number in range(self.files):
                table, target = self.table(number), made / f"{number:04}.parquet"
                pq.write_table(table, target, row_group_size=-(-table.num_rows // PIECES))
                os.utime(target, (START + number, START + number))  # Spark takes the oldest first
            made.rename(path)
        return path

    def table(self, number: int) -> pa.Table:
        """Return the rows of one file."""
        first, last = (self.rows * each // self.files for each in (number, number + 1))
        random = np.random.default_rng(number)
        micros = START * SECOND + np.arange(first, last) * self.minutes * MINUTE * SECOND // self.rows
        return pa.table(
            {
                "ts": pa.array(micros).cast(pa.timestamp("us", "UTC")),
                "k": random.integers(0, self.keys, last - first),
                "x": random.integers(0, 1_000_003, last - first) / 1000.0,
            }
        )

    def read(self, spark: Any, folder: Path) -> Any:
        """Read the files as a stream, one in each micro-batch."""
        source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return source.parquet(str(self.write(folder)))
