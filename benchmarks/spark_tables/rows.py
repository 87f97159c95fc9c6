"""The rows that both sides read: written once as Parquet, with a second of event time per slice."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

__all__ = ["Rows"]

SECOND = 1_000_000
START = 1_767_225_600 * SECOND  # 2026-01-01
FILES = 4


@dataclass(frozen=True)
class Rows:
    """Rows of several keys over some seconds; the rows of a key are spread evenly.

    Columns t (timestamp), k (key), x (float64); files and the rows in them are in the order of t. If some rows are
    labels of a join, there are two more columns: site (one of 50), and kind (label or event), by which files are apart.
    """

    rows: int
    keys: int = 1
    seconds: int = 1000
    hot_percent: int = 0  # of the rows go to key 0, in addition to its own
    label_each: int = 0  # one row of so many is a label; 0: none is

    @property
    def name(self) -> str:
        """Return the name of the folder."""
        return f"rows-{self.rows}-{self.keys}-{self.seconds}-{self.hot_percent}-{self.label_each}"

    def part(self, rows: int, keys: int) -> "Rows":
        """Return fewer keys and fewer rows with the same density, over fewer seconds."""
        per_key = self.rows / self.keys
        return replace(self, rows=rows, keys=keys, seconds=max(1, round(self.seconds * rows / keys / per_key)))

    def read(self, spark: Any, folder: Path) -> Any:
        """Read the rows as a DataFrame; write them first if they are not there."""
        path = folder / self.name
        if not (path / "_SUCCESS").exists():
            parts = ["kind"] if self.label_each else []
            self._made(spark).write.mode("overwrite").partitionBy(*parts).parquet(str(path))
        return spark.read.parquet(str(path))

    def _made(self, spark: Any) -> Any:
        from pyspark.sql import functions as F

        number = F.col("id")
        micros = F.lit(START) + F.floor(number * F.lit(self.seconds * SECOND / self.rows)).cast("long")
        key = F.pmod(number * 7919, F.lit(self.keys))  # each key once in as many rows as there are keys
        if self.hot_percent:
            key = F.when(F.pmod(F.xxhash64(number, F.lit(1)), F.lit(100)) < self.hot_percent, F.lit(0)).otherwise(key)
        value = F.pmod(F.xxhash64(number), F.lit(1_000_003)) / 1000.0
        columns = [F.timestamp_micros(micros).alias("t"), key.cast("long").alias("k"), value.alias("x")]
        if self.label_each:
            columns.append(F.pmod(F.xxhash64(number, F.lit(2)), F.lit(50)).alias("site"))
            columns.append(
                F.when(F.pmod(number, F.lit(self.label_each)) == 0, "label").otherwise("event").alias("kind")
            )
        return spark.range(0, self.rows, 1, FILES).select(*columns)
