"""Micro-batches, state and written bytes of a run, from Spark's progress reports."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Batch", "Progress"]

WRITTEN = "rocksdbTotalBytesWritten"  # since the store was loaded, once in each micro-batch
OBSERVED = "sash"


@dataclass(frozen=True)
class Batch:
    """One micro-batch."""

    rows: int
    seconds: float
    state_rows: int
    state_bytes: int
    written_bytes: int
    slices: int = 0  # reported by sash
    memory_bytes: int = 0
    log_bytes: int = 0

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> "Batch":
        """Read one report of `recentProgress`."""
        stores = report["stateOperators"]
        named = report["observedMetrics"]
        seen: dict[str, Any] = next((named[name].asDict() for name in named if name.startswith(OBSERVED)), {})
        return cls(
            rows=report["numInputRows"],
            seconds=report["durationMs"].get("triggerExecution", 0) / 1000,
            state_rows=sum(each["numRowsTotal"] for each in stores),
            state_bytes=sum(each["memoryUsedBytes"] for each in stores),
            written_bytes=sum(each["customMetrics"].get(WRITTEN, 0) for each in stores),
            slices=seen.get("slices") or 0,
            memory_bytes=seen.get("state_bytes") or 0,
            log_bytes=seen.get("written_bytes") or 0,
        )


@dataclass(frozen=True)
class Progress:
    """All micro-batches of a run: the largest sizes, and written bytes per micro-batch that had rows."""

    batches: int  # that had rows
    batch_seconds: float  # the median of those after the first, which also starts workers
    state_rows: int
    state_bytes: int
    written_bytes: float
    slices: int
    memory_bytes: int
    log_bytes: float

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> "Progress":
        """Summarise micro-batches; the bytes of one without rows, such as native's last, count too."""
        every = list(batches)
        full = [each for each in every if each.rows]
        return cls(
            len(full),
            statistics.median(each.seconds for each in full[1:] or full) if full else 0.0,
            max((each.state_rows for each in every), default=0),
            max((each.state_bytes for each in every), default=0),
            sum(each.written_bytes for each in every) / max(len(full), 1),
            max((each.slices for each in every), default=0),
            max((each.memory_bytes for each in every), default=0),
            sum(each.log_bytes for each in every) / max(len(full), 1),
        )
