"""How much to measure: everything, or a quick look; and what a piece of work is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.records import Record

__all__ = ["FULL", "QUICK", "Budget", "Settings", "Task"]


@dataclass(frozen=True)
class Task:
    """A piece of work that gives records; the label is for the progress bar."""

    label: str
    measure: Callable[[], Iterable[Record]]


@dataclass(frozen=True)
class Budget:
    """What every run has: a name, and an end."""

    name: str
    seconds: float  # after which no further task is begun


@dataclass(frozen=True)
class Settings(Budget):
    """Sizes and budgets of a run."""

    subjects: tuple[str, ...] | None  # algorithms where each costs a compilation of its own; None: all
    aggregates: tuple[str, ...]
    windows: tuple[int, ...]  # of max and sum
    coarse_windows: tuple[int, ...]  # of the other aggregates
    rows: int
    heavy_rows: int  # for partials of hundreds of bytes
    point_seconds: float  # for one algorithm, aggregate and window
    slides: tuple[int, ...]
    slide_window: int
    break_even_windows: tuple[int, ...]
    break_even_rows: int
    latency_windows: tuple[int, ...]
    latency_rows: int
    latency_runs: int
    ranges: tuple[int, ...]
    range_answers: int
    peer_rows: int
    peer_windows: tuple[int, ...]
    median_rows: int
    median_window: int
    peer_seconds: float
    parallel_window: int
    parallel_chunks: int
    warm_starts: int

    def takes(self, algorithm: Any) -> bool:
        """Whether the algorithm takes part where each costs a compilation."""
        return self.subjects is None or algorithm.name in self.subjects


FULL = Settings(
    name="full",
    seconds=600,
    subjects=None,
    aggregates=("max", "sum", "median", "argmax", "stddev", "geometric_mean", "bloom_filter", "moment_sketch"),
    windows=tuple(4**k for k in range(11)),
    coarse_windows=tuple(16**k for k in range(6)),
    rows=1 << 22,
    heavy_rows=1 << 18,
    point_seconds=0.25,
    slides=tuple(range(1, 11)),
    slide_window=1024,
    break_even_windows=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512),
    break_even_rows=1 << 18,
    latency_windows=(1 << 10, 1 << 14, 1 << 18),
    latency_rows=1 << 20,
    latency_runs=5,
    ranges=(16, 64, 256, 1024),
    range_answers=1 << 23,
    peer_rows=5_000_000,
    peer_windows=(16, 1000, 16384),
    median_rows=1_000_000,
    median_window=1000,
    peer_seconds=2.0,
    parallel_window=1 << 20,
    parallel_chunks=4,
    warm_starts=5,
)

QUICK = Settings(
    name="quick",
    seconds=240,
    subjects=("daba_lite", "two_stacks_lite", "slick_deque", "flat_fit"),  # those that the bars are about
    aggregates=("max", "sum", "median"),
    windows=(1, 16, 256, 4096),
    coarse_windows=(16, 256),
    rows=1 << 16,
    heavy_rows=1 << 12,
    point_seconds=0.02,
    slides=(1, 2, 7),
    slide_window=256,
    break_even_windows=(1, 4, 16, 64),
    break_even_rows=1 << 13,
    latency_windows=(1 << 8, 1 << 12),
    latency_rows=1 << 15,
    latency_runs=3,
    ranges=(16, 64),
    range_answers=1 << 16,
    peer_rows=50_000,
    peer_windows=(16, 1000),
    median_rows=20_000,
    median_window=100,
    peer_seconds=0.05,
    parallel_window=1 << 10,
    parallel_chunks=4,
    warm_starts=1,
)
