"""The targets of the suites on Spark."""

from functools import partial
from typing import Any

from benchmarks.bars.target import FRAMES, WIDE, Target, at_least, at_most, pick_of, spread
from benchmarks.records import Record
from benchmarks.spark_streams.measurement import BATCH, DIFFERENT, WRITTEN
from benchmarks.spark_tables.measurement import BUSY, TIME
from benchmarks.spark_tables.subjects import NATIVE, ROLLING, SASH, TREE

__all__ = ["SPARK_STREAMS", "SPARK_TABLES"]

_ours, _native, _tree = (partial(pick_of, subject, metric=TIME) for subject in (SASH, NATIVE, TREE))
PER_KEY = 0.0003  # seconds that a group of Spark's state operator for Python takes in a micro-batch


def _faster(experiment: str, name: str, required: float, than: Any = _native, each: str = "", **shape: Any) -> Target:
    how = "times as fast as native" + (" with its segment tree" if than is _tree else "")
    return Target(experiment, f"{name}: {how}", required, than(**shape), _ours(**shape), each=each)


def _per_key(record: Record) -> float | None:
    return None if record.value is None else record.value / (PER_KEY * int(record.get("keys") or 1))


SPARK_TABLES = (
    at_most("slide", "size/slide 1: time over native's", 1.3, _ours(slides=1), _native(slides=1)),
    _faster("slide", "size/slide 10", 2.0, slides=10),
    _faster("slide", "size/slide 100", 30.0, slides=100),
    at_most("slide", "size/slide 10,000: time over that at 100", 1.5, _ours(slides=10_000), _ours(slides=100)),
    _faster("frames", "rows=1000, keys={keys}", 5.0, each="keys", window=1000),
    _faster("frames", "rows=1000, keys={keys}", 1.5, _tree, each="keys", window=1000),
    _faster("frames", "rows=10000, keys={keys}", 15.0, each="keys", window=10_000),
    _faster("frames", "rows=10000, keys={keys}", 1.5, _tree, each="keys", window=10_000),
    at_most(
        "frames",
        "frames, keys={keys}: slowest over fastest, all windows",
        1.5,
        _ours(),
        each="keys",
        along="window",
        reduce=spread,
    ),
    _faster("keys", "1,000,000 keys of 10 rows, size/slide 10", 1.5, keys=1_000_000),
    at_most(
        "joins",
        "join, {hours} hours: time over that of rolling",
        2.5,
        _ours(skew="none"),
        pick_of(ROLLING, metric=TIME, skew="none"),
        each="hours",
    ),
    at_most("joins", "join, 90 days: time over that of 1 day", 1.3, _ours(hours=2160, skew="none"), _ours(hours=24)),
    at_least(
        "joins", "join, one key with half of the rows", 1.6, pick_of(SASH, metric=BUSY, skew="half"), unit="cores busy"
    ),
    *(
        at_least(
            "positions",
            f"frames {frame}, times as fast as those at the row, worst",
            least,
            _ours(frame=peer),
            _ours(frame=frame),
            **WIDE,
        )
        for frame, peer, least in FRAMES
    ),
    at_least("hot_key", "{case}: two cores, times as fast as one", 1.6, _ours(cores=1), _ours(cores=2), each="case"),
)

SPARK_STREAMS = (
    _faster("slide", "size/slide 60", 3.0, slides=60),
    _faster("slide", "size/slide 600, fewer rows", 15.0, slides=600, rows=min),
    at_most("slide", "size/slide 600: time over that at 60", 1.5, _ours(slides=600, rows=max), _ours(slides=60)),
    at_most(
        "slide",
        "size/slide 60 and 600: state written per micro-batch, larger over smaller",
        1.2,
        pick_of(SASH, metric=WRITTEN, slides=(60, 600), rows=max),
        along="slides",
        reduce=spread,
    ),
    _faster("keys", "{keys:,} keys, size/slide {slides}", 1.0, each="slides", keys=min),
    _faster("keys", "{keys:,} keys, size/slide {slides}", 1.0, each="slides", keys=max),
    _faster("sessions", "sessions", 1.0),
    at_most(
        "growth",
        "{keys:,} keys, micro-batch of {batch_rows:,} rows: of 0.3 ms per key",
        0.1,
        pick_of(SASH, metric=BATCH, batch_rows=min),
        each="keys",
        value=_per_key,
    ),
    at_most("", "results that differ from native's", 0.0, {"metric": DIFFERENT}, unit="rows", reduce=sum),
)
