"""The subjects of the suite: the same windows by sash and by native Structured Streaming."""

from dataclasses import dataclass
from typing import Any

import sash
from benchmarks.spark_streams.files import MINUTE, Files
from benchmarks.spark_tables.subjects import NATIVE, SASH

__all__ = ["SESSIONS", "WINDOWS", "Point", "both"]

WINDOWS, SESSIONS = "windows", "sessions"
AGGREGATES = {WINDOWS: "max", SESSIONS: "max and count"}
WATERMARK = "10 seconds"
RESULT = ("k", "window_start", "window_end", "peak")


@dataclass(frozen=True)
class Point:
    """A subject, a question and the files of one measurement.

    WINDOWS: max over `width` minutes every minute. SESSIONS: max and count, a gap of `width` seconds.
    """

    subject: str
    question: str
    width: int
    files: Files

    @property
    def is_ours(self) -> bool:
        """Return whether sash computes it."""
        return self.subject == SASH

    @property
    def kind(self) -> str:
        """Return what needs one warm-up: Spark generates code for each width."""
        return f"{self.subject} {self.question} {self.width}"

    @property
    def name(self) -> str:
        """Return the name of the folder."""
        return f"{self.subject}-{self.question}-{self.width}-{self.files.name}"

    @property
    def aggregate(self) -> str:
        """Return the name in reports."""
        return AGGREGATES[self.question]

    def answer(self, stream: Any) -> Any:
        """Return the stream that is measured, with the same columns for all subjects; nothing runs yet."""
        names = [*RESULT, *(["n"] if self.question == SESSIONS else [])]
        return (self._ours(stream) if self.is_ours else self._native(stream)).select(*names)

    def _ours(self, stream: Any) -> Any:
        if self.question == SESSIONS:
            window = sash.session(gap=f"{self.width} seconds")
            query = sash.query("peaks", window, peak=sash.max("x"), n=sash.count())
        else:
            window = sash.sliding(f"{self.width * MINUTE} seconds", every=f"{MINUTE} seconds")
            query = sash.query("peaks", window, peak=sash.max("x"))
        return sash.aggregate(stream, query, on="ts", by="k", watermark=WATERMARK)

    def _native(self, stream: Any) -> Any:
        from pyspark.sql import functions as F

        aggregates = [F.max("x").alias("peak")]
        if self.question == SESSIONS:
            window = F.session_window("ts", f"{self.width} seconds").alias("window")
            aggregates.append(F.count("*").alias("n"))
        else:
            window = F.window("ts", f"{self.width * MINUTE} seconds", f"{MINUTE} seconds")
        found = stream.withWatermark("ts", WATERMARK).groupBy(window, "k").agg(*aggregates)
        return found.select("*", "window.*").withColumnsRenamed({"start": "window_start", "end": "window_end"})


def both(question: str, width: int, files: Files) -> list[Point]:
    """Return the two sides of a comparison."""
    return [Point(each, question, width, files) for each in (NATIVE, SASH)]
