"""The targets of the suite slicing."""

from benchmarks.bars.target import FRAMES, WIDE, at_least, at_most, by_copy, growth, of_sash, pick_of, spread

__all__ = ["SLICING"]

_BUCKETS = pick_of("aggregate_buckets", windows=100)
_counted, _timed = (of_sash(windows=1000, measure=each) for each in ("count", "time"))
_IN_DUCKDB = {"subject": "duckdb", "hours": 168}
SLICING = (
    at_least("concurrent", "20 windows in order, of the copy", 1 / 15, of_sash(windows=20), value=by_copy),
    at_least("concurrent", "1,000 windows in order, of the copy", 1 / 40, of_sash(windows=1000), value=by_copy),
    at_least("concurrent", "1,000 windows over one window", 1 / 3, of_sash(windows=1000), of_sash(windows=1)),
    at_least("concurrent", "100 windows over aggregate_buckets", 10, of_sash(windows=100), _BUCKETS),
    at_least(
        "constrained", "20 windows, a session, 20 % late, of the copy", 1 / 40, of_sash(windows=20), value=by_copy
    ),
    at_least("one_row", "pushes of one row, in order", 200_000, of_sash(keys=0, order="in order"), unit="pushes/s"),
    at_least(
        "one_row", "pushes of one row, with lateness", 50_000, of_sash(keys=0, order="with lateness"), unit="pushes/s"
    ),
    at_most("five_rows", "aggregate of five rows, second call", 1.0, of_sash(), unit="ms"),
    at_least("measures", "1,000 count windows over 1,000 time windows", 1 / 3, _counted, _timed),
    at_least(
        "keys",
        "many keys, ten rows each, known keys",
        5,
        of_sash(metric="rows", rows_per_slice=10),
        unit="million rows/s",
    ),
    *(
        at_least(
            "frames", f"frames {frame}, over those at the row", least, of_sash(frame=frame), of_sash(frame=peer), **WIDE
        )
        for frame, peer, least in FRAMES
    ),
    *(
        at_least(
            "own_windows",
            f"forward-free windows of users over punctuated ones, {how}, {keys} keys",
            0.3,
            pick_of("own_forward", how=how, keys=keys),
            pick_of("punctuated", how=how, keys=keys),
        )
        for how in ("table", "stream")
        for keys in (1, 100)
    ),
    *(
        at_least(
            "own_windows",
            f"marked windows of users over punctuated ones, {how}, {keys} keys",
            0.3,
            pick_of("own_marked", how=how, keys=keys),
            pick_of("punctuated", how=how, keys=keys),
        )
        for how in ("table", "stream")
        for keys in (1, 100, 10_000)
    ),
    at_least("joins", "join, 7 days", 3, of_sash(hours=168, skew="none"), unit="million rows/s"),
    at_least("joins", "join, 7 days, over DuckDB", 10, of_sash(hours=168, skew="none"), _IN_DUCKDB),
    at_most("joins", "join, slowest window over fastest", 1.3, of_sash(skew="none"), along="hours", reduce=spread),
    *(
        at_most(experiment, name, 1, pick, along="rows", reduce=growth)
        for experiment, name, pick in (
            ("memory_by_rows", "memory of a time window, most rows over fewest", of_sash(measure="time")),
            ("flat", "memory after ten times the rows, keys come and go", of_sash(metric="largest state")),
            ("flat", "keys after ten times the rows, keys come and go", of_sash(metric="keys")),
        )
    ),
)
