"""How much to measure of streams: everything, or a quick look."""

from dataclasses import dataclass

from benchmarks.settings import Budget

__all__ = ["FULL", "QUICK", "StreamSettings"]


@dataclass(frozen=True)
class StreamSettings(Budget):
    """Sizes and budgets of a run."""

    copy_rows: int  # of the copy that everything is compared with
    rows: int  # of a stream, as far as the time of a point allows
    push_rows: int
    point_seconds: float  # for one subject and one point
    techniques: tuple[str, ...] | None  # that take part; None: all
    windows: tuple[int, ...]  # concurrent ones
    measure_windows: tuple[int, ...]
    fractions: tuple[int, ...]  # of late rows, in percent
    delays: tuple[int, ...]  # of late rows, in seconds
    aggregates: tuple[str, ...] | None
    memory_rows: int
    memory_slices: int
    vary_slices: tuple[int, ...]
    vary_rows: tuple[int, ...]
    entries: tuple[int, ...]  # of a store
    split_rows: tuple[int, ...]
    window_slices: tuple[int, ...]  # of a window that is finished
    one_row_pushes: int
    keys: int
    flat_rows: tuple[int, int]
    flat_push: int


FULL = StreamSettings(
    name="full",
    seconds=600,
    copy_rows=10_000_000,
    rows=1_000_000,
    push_rows=100_000,
    point_seconds=2.0,
    techniques=None,
    windows=(1, 10, 20, 100, 1000),
    measure_windows=(1, 10, 20, 40, 100, 1000),
    fractions=(0, 20, 40, 60, 80, 100),
    delays=(0, 1, 2, 4, 8),
    aggregates=None,
    memory_rows=50_000,
    memory_slices=500,
    vary_slices=(10, 100, 1000, 10_000),
    vary_rows=(1000, 10_000, 100_000, 1_000_000),
    entries=(10, 100, 1000, 10_000, 100_000),
    split_rows=(10, 100, 1000, 10_000, 100_000),
    window_slices=(8, 16, 32, 64, 128, 256, 512, 1024),
    one_row_pushes=20_000,
    keys=100_000,
    flat_rows=(1_000_000, 10_000_000),
    flat_push=100_000,
)

QUICK = StreamSettings(
    name="quick",
    seconds=240,
    copy_rows=1_000_000,
    rows=10_000,
    push_rows=5_000,
    point_seconds=0.02,
    techniques=("aggregate_buckets", "tuple_buffer", "slices_on_rows"),
    windows=(1, 20, 100, 1000),  # those that the bars are about
    measure_windows=(1, 20),
    fractions=(0, 20, 100),
    delays=(0, 2),
    aggregates=("sum", "max", "median"),
    memory_rows=2000,
    memory_slices=50,
    vary_slices=(10, 100),
    vary_rows=(1000, 10_000),
    entries=(10, 1000),
    split_rows=(10, 1000),
    window_slices=(8, 64),
    one_row_pushes=200,
    keys=1000,
    flat_rows=(100_000, 400_000),
    flat_push=10_000,
)
