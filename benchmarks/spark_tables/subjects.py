"""The subjects of the suite: the same windows and frames by sash and by native Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sash
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.session import with_option

__all__ = ["FRAMES", "NATIVE", "SASH", "TREE", "WINDOWS", "Point"]

WINDOWS, FRAMES = "windows", "frames"
SASH, JVM, PACKED, NATIVE, TREE = "sash", "sash jvm", "sash packed", "native", "native tree"
PATHS = {SASH: "auto", JVM: "jvm", PACKED: "packed"}
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"


@dataclass(frozen=True)
class Point:
    """A subject, a question and the rows of one measurement; plain values, so that another process can read them.

    WINDOWS: max and count over `width` seconds every second. FRAMES: max over each row and the `width` - 1 before it.
    """

    subject: str
    question: str
    width: int
    rows: Rows
    is_keyed: bool = True

    @property
    def is_ours(self) -> bool:
        """Return whether sash computes it."""
        return self.subject in PATHS

    @property
    def kind(self) -> str:
        """Return what needs one warm-up."""
        return f"{self.subject} {self.question} {self.is_keyed}"

    def answer(self, table: Any) -> Any:
        """Return the DataFrame that is measured; nothing runs yet."""
        by = "k" if self.is_keyed else None
        if not self.is_ours:
            return self._native(table)
        if self.question == FRAMES:
            return sash.rolling(table, on="t", by=by, rows=self.width, peak=sash.max("x"))
        window = sash.sliding(f"{self.width} seconds", every="1 second")
        query = sash.query("peaks", window, peak=sash.max("x"), n=sash.count())
        if self.subject == SASH:
            return sash.aggregate(table, query, on="t", by=by)
        from sash.engine.options import CallOptions
        from sash.spark.driver import batch

        return batch.aggregate(table, query, CallOptions("t", by), path=PATHS[self.subject])

    def _native(self, table: Any) -> Any:
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        keys = ["k"] if self.is_keyed else []
        if self.question == FRAMES:
            frame = Window.partitionBy(*keys).orderBy("t").rowsBetween(1 - self.width, 0)
            return table.withColumn("peak", F.max("x").over(frame))
        window = F.window("t", f"{self.width} seconds", "1 second")
        return table.groupBy(window, *keys).agg(F.max("x").alias("peak"), F.count("*").alias("n"))

    @contextmanager
    def options(self, spark: Any) -> Iterator[None]:
        """Set the options of the subject: Spark's segment tree is on for one subject, and off for the others."""
        with with_option(spark, SEGMENT_TREE, "true" if self.subject == TREE else "false"):
            yield
