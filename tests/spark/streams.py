"""Streams made of files: each micro-batch is one Parquet file, and what it sends is kept apart."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

__all__ = ["Feed", "Run", "ran", "table", "until"]


@dataclass
class Feed:
    """A folder that grows, read as a stream; the checkpoint beside it."""

    spark: Any
    folder: Path
    schema: str
    count: int = 0
    sources: dict[str, Any] = field(default_factory=dict)

    def add(self, *tables: pa.Table) -> "Feed":
        """One micro-batch for each table."""
        rows = self.folder / "rows"
        rows.mkdir(parents=True, exist_ok=True)
        for table in tables:
            path = rows / f"{self.count:04}.parquet"
            pq.write_table(table, path, coerce_timestamps="us")
            os.utime(path, (1_700_000_000 + self.count,) * 2)  # files are read in the order of their times
            self.count += 1
        return self

    def stream(self) -> DataFrame:
        source = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return source.parquet(str(self.folder / "rows"))

    @property
    def checkpoint(self) -> str:
        return str(self.folder / "checkpoint")


@dataclass
class Run:
    """What a query sent, micro-batch by micro-batch, and the query."""

    batches: dict[int, pa.Table]
    query: Any

    def all(self) -> list[dict[str, Any]]:
        return [row for _, table in sorted(self.batches.items()) for row in table.to_pylist()]

    def frame(self, spark: Any) -> DataFrame:
        """All of it as a DataFrame; in one piece, for Spark stops at a piece without rows."""
        return spark.createDataFrame(pa.concat_tables(list(self.batches.values())).combine_chunks())


def ran(feed: Feed, results: DataFrame) -> Run:
    """Run until everything that is there was read."""
    batches: dict[int, pa.Table] = {}

    def keep(rows: DataFrame, number: int) -> None:
        batches[number] = rows.toArrow()

    query = (
        results.writeStream.foreachBatch(keep)
        .option("checkpointLocation", feed.checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return Run(batches, query)


def until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for what happens in a thread of Spark's."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it has not happened"
        time.sleep(0.05)


def table(rows: Sequence[Sequence[Any]], names: Sequence[str], types: Sequence[Any]) -> pa.Table:
    """Rows as columns of these types."""
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table({n: pa.array(list(c), t) for n, c, t in zip(names, columns, types, strict=True)})
