"""How much to measure of Spark: everything, or a quick look."""

from dataclasses import dataclass

from benchmarks.settings import Budget

__all__ = ["FULL", "QUICK", "SparkSettings"]


@dataclass(frozen=True)
class SparkSettings(Budget):
    """Sizes and budgets of a run."""

    runs: int  # the best of so many
    point_seconds: float  # after which a subject is not run again at the same point
    limit_seconds: float  # after which a run is stopped, and counts as more than that
    warm_rows: int
    slides: tuple[int, ...]  # size / slide
    native_slides: int  # the most that native Spark is asked for: it plans a copy of each row for each
    slide_rows: int
    slide_slices: int  # of the time that the rows span
    slide_keys: int
    densities: tuple[int, ...]  # rows per key and slice
    frame_rows: int
    frame_windows: tuple[int, ...]
    frame_keys: tuple[int, ...]
    native_steps: int  # rows × window that native frames are asked for; beyond, fewer rows, scaled
    native_window: int  # beyond this one, not even that
    keys: tuple[int, ...]
    key_rows: int
    key_slices: int
    hot_rows: int
    hot_slides: int
    hot_window: int
    core_slides: int
    core_window: int
    memory_rows: tuple[int, ...]


FULL = SparkSettings(
    name="full",
    seconds=5400,
    runs=3,
    point_seconds=20.0,
    limit_seconds=300.0,
    warm_rows=50_000,
    slides=(1, 10, 100, 1000, 10_000),
    native_slides=100,
    slide_rows=4_000_000,
    slide_slices=2_000,  # so that the longest windows, which reach past both ends, are not many more
    slide_keys=100,
    densities=(1, 10, 100, 1000),
    frame_rows=10_000_000,
    frame_windows=(10, 100, 1000, 10_000, 100_000),
    frame_keys=(100, 1),
    native_steps=1_000_000_000,
    native_window=10_000,
    keys=(1, 100, 10_000, 1_000_000),
    key_rows=10_000_000,
    key_slices=1000,
    hot_rows=10_000_000,
    hot_slides=1000,
    hot_window=1000,
    core_slides=10,
    core_window=1000,
    memory_rows=(10_000, 1_000_000, 4_000_000, 16_000_000),  # the first: what a worker takes before there is much to do
)

QUICK = SparkSettings(
    name="quick",
    seconds=600,
    runs=1,
    point_seconds=0.0,
    limit_seconds=60.0,
    warm_rows=0,
    slides=(1, 10),
    native_slides=10,
    slide_rows=4000,
    slide_slices=20,
    slide_keys=10,
    densities=(1, 100),
    frame_rows=40_000,
    frame_windows=(10, 1000),
    frame_keys=(4,),
    native_steps=1_000_000,
    native_window=1000,
    keys=(1, 1000),
    key_rows=4000,
    key_slices=100,
    hot_rows=20_000,
    hot_slides=100,
    hot_window=100,
    core_slides=10,
    core_window=100,
    memory_rows=(10_000, 100_000),
)
