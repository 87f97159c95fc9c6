"""Sections 6.3 and 6.4: effects of the workload and of cores, Figures 12 to 17."""

from collections.abc import Iterator
from functools import partial

from benchmarks.records import Bar, Report
from benchmarks.report.findings import Finding
from benchmarks.report.papers.stream_slicing.subjects import (
    BUCKETS,
    BUFFER,
    OURS,
    ROW_BUCKETS,
    TREE,
    apart_from_linear,
    by_windows,
)
from benchmarks.report.series import Line, ahead, geometric_mean, growth, last, line, over, quotient

__all__ = ["FINDINGS"]

HOLISTIC = ("median", "quantile 0.9")
ALGEBRAIC = (
    "sum",
    "count",
    "mean",
    "stddev",
    "geometric_mean",
    "min",
    "max",
    "min_count",
    "max_count",
    "argmin",
    "argmax",
)


def _disorder(
    report: Report, experiment: str, across: str, unharmed: tuple[str, ...], harmed: tuple[str, ...]
) -> Iterator[Bar]:
    for subject in (*unharmed, *harmed):
        since = 1 if experiment == "disorder_delay" else 0
        kept = growth(line(report, experiment, subject, across, since))
        yield Bar(f"{subject}, speed at the most disorder over the least", 0.7, kept, at_most=subject in harmed)


def _aggregates(report: Report, measure: str, subject: str = OURS) -> dict[str, float]:
    found = report.select("aggregates", subject=subject, measure=measure)
    return {each.aggregate: each.value for each in found if each.value}


def _by_time(report: Report) -> Iterator[Bar]:
    rates = _aggregates(report, "time")
    plain, holistic = ([rates[each] for each in names if each in rates] for names in (ALGEBRAIC, HOLISTIC))
    yield Bar(
        "algebraic and distributive, fastest over slowest",
        3,
        quotient(max(plain), min(plain)) if len(plain) > 1 else None,
        at_most=True,
    )
    yield Bar(
        "slowest of them over fastest holistic", 2, quotient(min(plain), max(holistic)) if plain and holistic else None
    )


def _by_both(report: Report, subject: str) -> Line:
    """Return the speed of windows by time over that of windows by count, by aggregate."""
    times, counts = (_aggregates(report, each, subject) for each in ("time", "count"))
    return {float(k): times[each] / counts[each] for k, each in enumerate(ALGEBRAIC) if {each} <= times.keys() & counts}


def _count_slower(report: Report) -> Iterator[Bar]:
    for subject in (SHIFTS, OURS):
        yield Bar(f"{subject}, windows by time over by count", 1, geometric_mean(_by_both(report, subject)))


def _inverts(report: Report) -> Iterator[Bar]:
    rates = _aggregates(report, "count", SHIFTS)
    yield Bar(f"{SHIFTS}, sum over sum without invert", 2, quotient(rates.get("sum"), rates.get("sum without invert")))
    for each in ("max", "max_count", "argmax", "min", "min_count", "argmin"):
        yield Bar(f"{SHIFTS}, sum over {each}", 2, quotient(rates.get("sum"), rates.get(each)), at_most=True)


def _median(report: Report, subject: str) -> Line:
    return line(report, "median", subject, "distinct")


def _medians(report: Report) -> Iterator[Bar]:
    others = [_median(report, each) for each in (BUFFER, BUCKETS, ROW_BUCKETS)]
    yield Bar("sash over the best that does not slice", 1, ahead(_median(report, OURS), others))


def _few_values(report: Report) -> Iterator[Bar]:
    yield Bar("sash, fewest distinct values over most", 1, quotient(1.0, growth(_median(report, OURS))))


def _splits(report: Report) -> Iterator[Bar]:
    for aggregate in ("sum", "median"):
        values = line(report, "splits", "slice_manager", "rows", 100, aggregate=aggregate)
        yield Bar(f"time per row, most over least, {aggregate}", 3, apart_from_linear(values), at_most=True)


def _time_flat(report: Report) -> Iterator[Bar]:
    yield Bar("sash by time, most windows over one", 0.5, growth(by_windows(report, "measures", OURS, measure="time")))


def _advancing(report: Report) -> Iterator[Bar]:
    time, other = (by_windows(report, "measures", OURS, measure=each) for each in ("time", "advancing"))
    yield Bar("any advancing measure over time", 0.7, geometric_mean(over(other, time)))


def _counts(report: Report) -> Iterator[Bar]:
    few = line(report, "measures", OURS, "windows", until=40, measure="count")
    yield Bar("sash by count, 40 windows over one", 0.7, growth(few))
    yield Bar(
        "sash by count, most windows over 40",
        0.5,
        growth(by_windows(report, "measures", OURS, 40, measure="count")),
        at_most=True,
    )


def _counts_over_buffer(report: Report) -> Iterator[Bar]:
    ours, buffer = (by_windows(report, "measures", each, measure="count") for each in (OURS, BUFFER))
    yield Bar("sash over tuple_buffer by count, most windows", 10, last(over(ours, buffer)))


def _cores(report: Report) -> Iterator[Bar]:
    ours, native = (line(report, "dashboard", each, "cores", metric="time") for each in (OURS, "native"))
    for subject, times in ((OURS, ours), ("native", native)):
        yield Bar(f"{subject} on Spark, two cores, times as fast as one", 1.6, quotient(1.0, growth(times)))
    yield Bar("native over sash, time", 10, geometric_mean(over(native, ours)))


SHIFTS = "slices_on_rows"  # the technique that shifts rows between slices, and inverts
PUSHES = "Compiled, on one core, in pushes of 100,000 rows; in the paper, on Flink, a row at a time."
SHIFTED = (
    "slices_on_rows is the paper's technique: late rows shift a row from slice to slice. sash waits until rows are in "
    f"order, so it inverts nothing. {PUSHES}"
)

FINDINGS = (
    Finding(
        "Figure 12a",
        "late rows cost slicing and buckets nothing",
        "Late rows do not slow down slicing and buckets. They slow down buffers and trees.",
        "slicing disorder_fraction",
        partial(
            _disorder,
            experiment="disorder_fraction",
            across="late_percent",
            unharmed=(OURS, BUCKETS),
            harmed=(BUFFER, TREE),
        ),
        f"Not slower: at least 0.7 of the speed without late rows. {PUSHES}",
    ),
    Finding(
        "Figure 12b",
        "longer delays cost buffers only",
        "Longer delays of late rows slow down buffers only.",
        "slicing disorder_delay",
        partial(
            _disorder, experiment="disorder_delay", across="delay_s", unharmed=(OURS, BUCKETS, TREE), harmed=(BUFFER,)
        ),
        f"Delays of 1 to 8 s. Not slower: at least 0.7 of the speed. {PUSHES}",
    ),
    Finding(
        "Figure 13a",
        "by time: algebraic alike, holistic slower",
        "With time windows, algebraic and distributive functions have the same speed. Holistic "
        "functions are much slower.",
        "slicing aggregates",
        _by_time,
        f"The same: within a factor of 3. Much slower: half of the speed. {PUSHES}",
    ),
    Finding(
        "Figure 13b",
        "count windows are slower",
        "With late rows, windows by count are slower than windows by time.",
        "slicing aggregates",
        _count_slower,
        SHIFTED,
    ),
    Finding(
        "Figure 13b",
        "without an inverse count windows are slower",
        "With count windows, a sum without its inverse is much slower. Max is not, because the row "
        "that leaves is seldom the maximum.",
        "slicing aggregates",
        _inverts,
        f"Much slower: half of the speed. {SHIFTED}",
    ),
    Finding(
        "Figure 14",
        "median: slicing is ahead",
        "For a median, slicing is also faster than buckets and buffers.",
        "slicing median",
        _medians,
        f"100 rows per second; the paper has 2,000. {PUSHES}",
    ),
    Finding(
        "Figure 14",
        "median: few distinct values are faster",
        "A median of 37 distinct values is faster than one of 84,232, because slicing stores each distinct value once.",
        "slicing median",
        _few_values,
        f"Made-up values; in the paper, two datasets. {PUSHES}",
    ),
    Finding(
        "Figure 15",
        "a split takes time by the row",
        "The time to split a slice grows in proportion to its rows.",
        "slicing splits",
        _splits,
        "Splits of slices_on_rows: sash never splits. Within a factor of 3, from 100 rows on.",
    ),
    Finding(
        "Figure 16",
        "by time: free of the number of windows",
        "The throughput with time windows does not depend on the number of windows.",
        "slicing measures",
        _time_flat,
        f"Required: half of the speed, because 1,000 windows have more results. {PUSHES}",
    ),
    Finding(
        "Figure 16",
        "any advancing measure is like time",
        "With any other advancing measure, slicing is as fast as with time.",
        "slicing measures",
        _advancing,
        f"Positions are floats. Required: 0.7 of the speed. {PUSHES}",
    ),
    Finding(
        "Figure 16",
        "by count: constant to 40 windows, then falls",
        "With count windows, the throughput is almost constant up to 40 windows. With more "
        "windows, it falls in proportion.",
        "slicing measures",
        _counts,
        f"Constant: 0.7 of the speed. Required: half of it with 1,000 windows. {PUSHES}",
    ),
    Finding(
        "Figure 16",
        "by count: ten times a buffer",
        "With 1,000 count windows, slicing is still ten times as fast as a buffer.",
        "slicing measures",
        _counts_over_buffer,
        PUSHES,
    ),
    Finding(
        "Figure 17",
        "scales with cores",
        "On Flink, the speed of slicing and buckets is proportional to the number of cores, up to four. "
        "Slicing is ten times as fast.",
        "spark_tables dashboard",
        _cores,
        "M4 over 80 concurrent windows, as in the paper, but tables on Spark, with one core and two. Required: 1.6 ×. "
        "Spark's own windows are the buckets: they copy rows. They get fewer rows, and their time is scaled.",
    ),
)
