"""Sizes and time limits of every suite: the defaults of a class are the full run, and a constant is the quick one.

The limits of the full run are less than 90 minutes in all, because the last task of a suite may run beyond its limit.
`--continue` measures what did not fit.
"""

from dataclasses import dataclass
from typing import Any

from benchmarks.algorithms.workloads import OPERATORS

__all__ = [
    "QUICK_ALGORITHMS",
    "QUICK_MATRIX",
    "QUICK_SLICING",
    "QUICK_STREAMS",
    "QUICK_TABLES",
    "AlgorithmSettings",
    "MatrixSettings",
    "Settings",
    "Size",
    "SlicingSettings",
    "SparkSettings",
    "StreamSettings",
    "TableSettings",
]


@dataclass(frozen=True)
class Size:
    """Rows and keys of a table; the rows of the keys take turns."""

    rows: int
    keys: int


@dataclass(frozen=True)
class Settings:
    """What every suite has."""

    name: str = "full"
    seconds: float = 600  # no task starts after them

    def time_limit(self, experiment: str) -> tuple[str, float]:
        """Return the seconds of an experiment, and the name of the limit, which others may share."""
        return "all", self.seconds


@dataclass(frozen=True)
class AlgorithmSettings(Settings):
    """Sizes of the suite algorithms."""

    seconds: float = 1600

    subjects: tuple[str, ...] | None = None  # algorithms, where each needs a compilation of its own; None: all
    aggregates: tuple[str, ...] | None = None  # None: all
    windows: tuple[int, ...] = tuple(4**k for k in range(11))  # of max, sum and median
    coarse_windows: tuple[int, ...] = (1, 16, 256, 4096, 1 << 16, 1 << 18, 1 << 20)  # of the other aggregates
    heavy_windows: tuple[int, ...] = (1, 16, 256, 4096, 16_384)  # of the largest partials
    rows: int = 1 << 22
    heavy_rows: int = 1 << 18  # for partials of hundreds of bytes
    point_seconds: float = 0.25  # for one algorithm, aggregate and window
    slides: tuple[int, ...] = tuple(range(1, 11))
    slide_window: int = 1024
    break_even_windows: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)
    break_even_rows: int = 1 << 18
    latency_windows: tuple[int, ...] = (1 << 10, 1 << 14, 1 << 18)
    latency_rows: int = 1 << 20
    latency_runs: int = 5
    ranges: tuple[int, ...] = (16, 64, 256, 1024)
    range_answers: int = 1 << 23
    peer_rows: int = 5_000_000
    peer_windows: tuple[int, ...] = (16, 1000, 16384)
    median_rows: int = 1_000_000
    median_window: int = 1000
    peer_seconds: float = 2.0
    parallel_window: int = 1 << 20
    parallel_chunks: int = 4
    warm_starts: int = 5
    small_calls: int = 2000
    in_order_window: int = 1 << 16
    python_windows: tuple[int, ...] = (16, 256, 4096)
    python_rows: int = 1 << 14
    python_break_even: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    bulk_windows: tuple[int, ...] = (64, 1024, 16_384)
    bulk_steps: int = 1 << 22  # combines, about, of a measurement
    operators: tuple[str, ...] = OPERATORS
    operator_window: int = 1 << 14
    row_windows: tuple[int, ...] = (8, 64, 1024, 16_384, 1 << 15, 1 << 17, 1 << 20)
    slide_range: int = 1 << 17  # rows of a window that slides row by row
    time_ranges: tuple[int, ...] = (6, 18, 36, 60)  # minutes
    table_rows: tuple[int, ...] = (1 << 13, 1 << 14)  # of windows, where answers are timed
    table_slices: tuple[int, ...] = (3600, 7200)
    table_windows: int = 16  # full windows in a run

    def takes(self, algorithm: Any) -> bool:
        """Return whether the algorithm takes part where each needs a compilation."""
        return self.subjects is None or algorithm.name in self.subjects


QUICK_ALGORITHMS = AlgorithmSettings(
    name="quick",
    seconds=240,
    subjects=("daba_lite", "two_stacks_lite", "slick_deque", "flat_fit"),  # those that targets are about
    aggregates=("max", "sum", "median"),
    windows=(1, 16, 256, 4096),
    coarse_windows=(16, 256),
    heavy_windows=(16, 256),
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
    warm_starts=1,
    small_calls=100,
    in_order_window=1 << 10,
    python_windows=(16, 64),
    python_rows=1 << 8,
    python_break_even=(1, 16, 64),
    bulk_windows=(64, 256),
    bulk_steps=1 << 12,
    operators=("sum",),
    operator_window=1 << 8,
    row_windows=(16, 1 << 10),
    slide_range=1 << 10,
    time_ranges=(1,),
    table_rows=(1 << 8,),
    table_slices=(256,),
    table_windows=4,
)


@dataclass(frozen=True)
class SlicingSettings(Settings):
    """Sizes of the suite slicing."""

    seconds: float = 900

    copy_rows: int = 10_000_000  # of the copy that everything is compared with
    rows: int = 1_000_000  # of a stream, as far as the time of a point allows
    push_rows: int = 100_000
    point_seconds: float = 1.2  # for one subject and one point
    techniques: tuple[str, ...] | None = None  # that take part; None: all
    windows: tuple[int, ...] = (1, 10, 20, 100, 1000)  # concurrent ones
    measure_windows: tuple[int, ...] = (1, 10, 20, 40, 100, 1000)
    fractions: tuple[int, ...] = (0, 20, 40, 60, 80, 100)  # of late rows, in percent
    delays: tuple[int, ...] = (0, 1, 2, 4, 8)  # of late rows, in seconds
    aggregates: tuple[str, ...] | None = None  # None: all
    memory_rows: int = 50_000
    memory_slices: int = 500
    vary_slices: tuple[int, ...] = (10, 100, 1000, 10_000)
    vary_rows: tuple[int, ...] = (1000, 10_000, 100_000, 1_000_000)
    entries: tuple[int, ...] = (10, 100, 1000, 10_000, 100_000)  # of a store
    split_rows: tuple[int, ...] = (10, 100, 1000, 10_000, 100_000)
    window_slices: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024)  # of a window that ends
    one_row_pushes: int = 20_000
    small_tables: int = 100
    keys: int = 100_000
    flat_rows: tuple[int, int] = (1_000_000, 10_000_000)
    flat_push: int = 100_000
    frame_rows: int = 1_000_000
    frame_widths: tuple[int, ...] = (10, 1000)
    join_labels: int = 1_000_000
    join_events: int = 10_000_000
    join_keys: int = 10_000
    join_peer_share: int = 20  # other libraries get one of so many keys: they take minutes for all


QUICK_SLICING = SlicingSettings(
    name="quick",
    seconds=240,
    copy_rows=1_000_000,
    rows=10_000,
    push_rows=5_000,
    point_seconds=0.02,
    techniques=("aggregate_buckets", "tuple_buffer", "slices_on_rows"),
    windows=(1, 20, 100, 1000),  # those that targets are about
    measure_windows=(1, 20),
    fractions=(0, 20, 100),
    delays=(0, 2),
    aggregates=("sum", "max", "median"),
    frame_rows=5000,
    frame_widths=(10,),
    join_labels=500,
    join_events=5000,
    join_keys=20,
    memory_rows=2000,
    memory_slices=50,
    vary_slices=(10, 100),
    vary_rows=(1000, 10_000),
    entries=(10, 1000),
    split_rows=(10, 1000),
    window_slices=(8, 64),
    one_row_pushes=200,
    small_tables=5,
    keys=1000,
    flat_rows=(100_000, 400_000),
    flat_push=10_000,
)


@dataclass(frozen=True)
class SparkSettings(Settings):
    """What both suites on Spark have."""

    seconds: float = 1300
    runs: int = 3  # the best of them counts
    point_seconds: float = 20.0  # a subject that used them up is not run again at the same point
    limit_seconds: float = 300.0  # a run is stopped after them, and counts as longer
    warm_rows: int = 50_000


@dataclass(frozen=True)
class TableSettings(SparkSettings):
    """Sizes of the suite spark_tables."""

    slides: tuple[int, ...] = (1, 10, 100, 1000, 10_000)  # size / slide
    native_slides: int = 100  # the most for native Spark, which plans a copy of each row for each
    slide_rows: int = 4_000_000
    slide_slices: int = 2_000  # so that the longest windows, which reach past both ends, are not many more
    slide_keys: int = 100
    densities: tuple[int, ...] = (1, 10, 100, 1000)  # rows per key and slice
    frame_rows: int = 10_000_000
    frame_windows: tuple[int, ...] = (10, 100, 1000, 10_000, 100_000)
    frame_keys: tuple[int, ...] = (100, 1)
    native_steps: int = 1_000_000_000  # rows × window for native frames; above, fewer rows are measured and scaled
    native_window: int = 10_000  # above, native frames are not measured
    position_rows: int = 10_000_000
    position_windows: tuple[int, ...] = (10, 1000)
    join_rows: int = 11_000_000  # of labels and events together
    join_label_each: int = 11  # one row of so many is a label
    join_keys: int = 10_000
    join_hours: tuple[int, ...] = (1, 24, 168, 2160)
    join_share: int = 4  # native Spark gets one of so many keys, and its time is scaled
    keys: tuple[int, ...] = (1, 100, 10_000, 1_000_000)
    key_rows: int = 10_000_000
    key_slices: int = 1000
    hot_rows: int = 10_000_000
    hot_slides: int = 1000
    hot_window: int = 1000
    core_slides: int = 10
    core_window: int = 1000
    dashboard_windows: int = 80  # concurrent ones
    dashboard_share: int = 20  # native Spark gets one of so many rows, and its time is scaled
    memory_rows: tuple[int, ...] = (10_000, 1_000_000, 4_000_000, 16_000_000)  # the first: a worker with little to do


QUICK_TABLES = TableSettings(
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
    position_rows=4000,
    position_windows=(10,),
    join_rows=5500,
    join_keys=20,
    join_hours=(24, 168, 2160),
    join_share=4,
    keys=(1, 1000),
    key_rows=4000,
    key_slices=100,
    hot_rows=20_000,
    hot_slides=100,
    hot_window=100,
    core_window=100,
    dashboard_windows=10,
    dashboard_share=4,
    memory_rows=(10_000, 100_000),
)


@dataclass(frozen=True)
class StreamSettings(SparkSettings):
    """Sizes of the suite spark_streams."""

    seconds: float = 800

    runs: int = 2
    point_seconds: float = 60.0
    warm_rows: int = 1000
    rows: int = 800_000
    files: int = 4
    minutes: int = 40  # of event time
    slides: tuple[int, ...] = (1, 10, 60)  # size / slide, for both sides
    far: tuple[tuple[int, int], ...] = ((600, 80_000), (1000, 8_000))  # slides and rows: native keeps a row per slide
    lone_slides: tuple[int, ...] = (600, 1000)  # only sash, on all rows
    slide_keys: int = 20_000
    keys: tuple[int, ...] = (10, 10_000, 100_000)
    key_slides: tuple[int, ...] = (1, 10)
    session_keys: int = 20_000
    session_gap: int = 30  # seconds
    growth_keys: int = 100_000
    growth_rows: tuple[int, ...] = (50_000, 100_000, 200_000, 400_000)  # of a micro-batch
    growth_slides: tuple[int, ...] = (1, 10)


QUICK_STREAMS = StreamSettings(
    name="quick",
    seconds=900,
    runs=1,
    point_seconds=0.0,
    warm_rows=0,
    rows=2000,
    files=2,
    minutes=20,
    slides=(1, 60),
    far=((600, 100),),
    lone_slides=(600,),
    slide_keys=50,
    keys=(10, 1000),
    key_slides=(10,),
    session_keys=50,
    growth_keys=1000,
    growth_rows=(500, 4000),
    growth_slides=(10,),
)


Pair = tuple[Size, Size]


@dataclass(frozen=True)
class MatrixSettings(Settings):
    """Sizes of the suite matrix."""

    seconds: float = 350  # for tables and streams
    spark_seconds: float = 150
    lengths: tuple[int, int] = (100, 10_000)  # of windows, in rows of a key
    frame_length: int = 1000  # of frames beside other libraries
    # Few rows, full windows of one key, all rows: the next level is measured if it fits into the time of a cell.
    levels: tuple[Pair, ...] = (
        (Size(1000, 1), Size(2000, 1)),
        (Size(10_000, 1), Size(20_000, 1)),
        (Size(100_000, 10), Size(200_000, 10)),
    )
    cell_seconds: float = 1.5  # the most for one run
    peer_seconds: float = 0.5
    peer_levels: int = 2  # other libraries are measured on fewer rows, because there are several of them
    runs: int = 3  # the best of them counts
    push_rows: int = 10_000
    most_values: int = 20_000_000  # that an aggregate which collects values returns
    types: tuple[str, ...] | None = None  # None: all
    layers: int | None = None  # None: all
    # A call on Spark takes about a second, so only much larger tables show what a row takes.
    spark_levels: tuple[Pair, ...] = ((Size(20_000, 1), Size(200_000, 10)), (Size(200_000, 10), Size(1_000_000, 50)))
    spark_cell_seconds: float = 30.0
    spark_runs: int = 2
    spark_warm_ups: int = 3
    only: tuple[str, ...] = ()  # engines, aggregates, types and windows; none: all

    def time_limit(self, experiment: str) -> tuple[str, float]:
        """Return the seconds of Spark, or those of the others."""
        return ("spark", self.spark_seconds) if experiment == "spark" else ("all", self.seconds)


QUICK_MATRIX = MatrixSettings(
    name="quick",
    seconds=65,
    spark_seconds=20,
    lengths=(10, 1000),
    frame_length=100,
    levels=((Size(200, 1), Size(400, 1)), (Size(1000, 1), Size(2000, 1)), (Size(4000, 4), Size(8000, 4))),
    cell_seconds=0.1,
    peer_seconds=0.05,
    runs=2,
    push_rows=1000,
    most_values=1_000_000,
    types=("int64", "float64", "string", "decimal_10_2"),
    layers=1,
    spark_levels=((Size(1000, 4), Size(2000, 4)),),
    spark_cell_seconds=1.0,
    spark_runs=1,
    spark_warm_ups=0,
)
