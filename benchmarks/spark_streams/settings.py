"""How much to measure of streams: everything, or a quick look."""

from dataclasses import dataclass

from benchmarks.settings import Budget

__all__ = ["FULL", "QUICK", "StreamSettings"]


@dataclass(frozen=True)
class StreamSettings(Budget):
    """Sizes and budgets of a run."""

    runs: int  # the best of so many
    point_seconds: float  # after which a subject is not run again at the same point
    limit_seconds: float  # after which a run is stopped, and counts as more than that
    warm_rows: int
    rows: int
    files: int
    minutes: int  # of event time
    slides: tuple[int, ...]  # size / slide, for both
    far: tuple[tuple[int, int], ...]  # of these native is asked on fewer rows: it keeps each row in so many windows
    lone_slides: tuple[int, ...]  # of these sash is asked alone, on all rows
    slide_keys: int
    keys: tuple[int, ...]
    key_slides: tuple[int, ...]
    session_keys: int
    session_gap: int  # seconds
    growth_keys: int
    growth_rows: tuple[int, ...]  # of a micro-batch
    growth_slides: tuple[int, ...]


FULL = StreamSettings(
    name="full",
    seconds=5400,
    runs=2,
    point_seconds=60.0,
    limit_seconds=300.0,
    warm_rows=1000,
    rows=800_000,
    files=4,
    minutes=40,
    slides=(1, 10, 60),
    far=((600, 80_000), (1000, 8_000)),
    lone_slides=(600, 1000),
    slide_keys=20_000,
    keys=(10, 10_000, 100_000),
    key_slides=(1, 10),
    session_keys=20_000,
    session_gap=30,
    growth_keys=100_000,
    growth_rows=(50_000, 100_000, 200_000, 400_000),
    growth_slides=(1, 10),
)

QUICK = StreamSettings(
    name="quick",
    seconds=900,
    runs=1,
    point_seconds=0.0,
    limit_seconds=300.0,
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
    session_gap=30,
    growth_keys=1000,
    growth_rows=(500, 4000),
    growth_slides=(10,),
)
