"""The subjects of the suite: the same windows, frames and joins by sash and by native Spark."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sash
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.session import with_option

__all__ = [
    "DASHBOARD",
    "FRAMES",
    "JOINS",
    "NATIVE",
    "POSITIONS",
    "RANGE_JOIN",
    "ROLLING",
    "SASH",
    "TREE",
    "UNION",
    "WINDOWS",
    "Point",
]

WINDOWS, FRAMES, JOINS, DASHBOARD = "windows", "frames", "joins", "dashboard"
SASH, JVM, PACKED, NATIVE, TREE = "sash", "sash jvm", "sash packed", "native", "native tree"
ROLLING, RANGE_JOIN, UNION = "sash rolling", "native range join", "native OVER on a union"
PATHS = {SASH: "auto", JVM: "jvm", PACKED: "packed", ROLLING: "auto"}
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"
STEP = 10  # milliseconds between rows of a key, where frames are measured by their position
# Questions about frames of w rows around a row, or of as many steps of time.
POSITIONS: dict[str, Callable[[int], dict[str, Any]]] = {
    "at the row": lambda w: {"rows": w},
    "centered": lambda w: {"rows": w, "center": True},
    "offset": lambda w: {"rows": (-2 * w, -w)},
    "range at the row": lambda w: {"range": f"{w * STEP} milliseconds"},
    "range centered": lambda w: {"range": f"{w * STEP} milliseconds", "center": True},
    "exclude": lambda w: {"rows": w, "exclude": "row"},
    "groups": lambda w: {"groups": w},
}


@dataclass(frozen=True)
class Point:
    """A subject, a question and the rows of one measurement; plain values, so that another process can read them.

    WINDOWS: max and count over `width` seconds every second. DASHBOARD: M4 of the same windows. FRAMES: max over each
    row and the `width` - 1 before it; one of POSITIONS: sum and max. JOINS: four features of the `width` seconds before
    each label; ROLLING has the same of each row.
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
        if self.question in POSITIONS:
            extent = POSITIONS[self.question](self.width)
            return sash.rolling(table, on="t", by=by, **extent, total=sash.sum("x"), peak=sash.max("x"))
        if self.question == JOINS:
            return self._features(table)
        window = sash.sliding(f"{self.width} seconds", every="1 second")
        if self.question == DASHBOARD:
            return sash.aggregate(table, sash.query("chart", window, chart=sash.m4("x")), on="t", by=by)
        query = sash.query("peaks", window, peak=sash.max("x"), n=sash.count())
        if self.subject == SASH:
            return sash.aggregate(table, query, on="t", by=by)
        from sash.engine.options import CallOptions
        from sash.spark.driver import batch

        return batch.aggregate(table, query, CallOptions("t", by), path=PATHS[self.subject])

    def _features(self, table: Any) -> Any:
        features: dict[str, Any] = {
            "total": sash.sum("x"),
            "n": sash.count(),
            "peak": sash.max("x"),
            "sites": sash.count_distinct("site"),
        }
        length = f"{self.width} seconds"
        if self.subject == ROLLING:
            return sash.rolling(table.select("t", "k", "x", "site"), on="t", by="k", range=length, **features)
        labels, events = table.where("kind = 'label'").select("t", "k"), table.where("kind = 'event'")
        return sash.join(labels, sash.lookback(events, range=length, **features), on="t", by="k")

    def _native_features(self, table: Any) -> Any:
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        micros = F.unix_micros("t")
        length = self.width * 1_000_000
        if self.subject == RANGE_JOIN:
            labels = table.where("kind = 'label'").select("t", "k", micros.alias("p"))
            events = table.where("kind = 'event'").select(F.col("k").alias("key"), micros.alias("at"), "x", "site")
            is_near = (F.col("at") >= F.col("p") - length) & (F.col("at") < F.col("p"))
            near = labels.join(events, (F.col("k") == F.col("key")) & is_near, "left")
            return near.groupBy("t", "k").agg(
                F.sum("x").alias("total"),
                F.count("x").alias("n"),
                F.max("x").alias("peak"),
                F.countDistinct("site").alias("sites"),
            )
        frame = Window.partitionBy("k").orderBy(micros).rangeBetween(-length, -1)
        x, site = (F.when(F.col("kind") == "event", F.col(name)) for name in ("x", "site"))
        return table.select(
            "t",
            "k",
            "kind",
            F.sum(x).over(frame).alias("total"),
            F.count(x).over(frame).alias("n"),
            F.max(x).over(frame).alias("peak"),
            F.size(F.collect_set(site).over(frame)).alias("sites"),  # Spark has no count of distinct values in a frame
        ).where("kind = 'label'")

    def _native(self, table: Any) -> Any:
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        if self.question == JOINS:
            return self._native_features(table)
        keys = ["k"] if self.is_keyed else []
        if self.question == FRAMES:
            frame = Window.partitionBy(*keys).orderBy("t").rowsBetween(1 - self.width, 0)
            return table.withColumn("peak", F.max("x").over(frame))
        window = F.window("t", f"{self.width} seconds", "1 second")
        if self.question == DASHBOARD:
            ends = F.min_by("x", "t").alias("first"), F.max_by("x", "t").alias("last")
            return table.groupBy(window, *keys).agg(*ends, F.min("x").alias("low"), F.max("x").alias("high"))
        return table.groupBy(window, *keys).agg(F.max("x").alias("peak"), F.count("*").alias("n"))

    @contextmanager
    def options(self, spark: Any) -> Iterator[None]:
        """Set the options of the subject: Spark's segment tree is on for one subject, and off for the others."""
        with with_option(spark, SEGMENT_TREE, "true" if self.subject == TREE else "false"):
            yield
