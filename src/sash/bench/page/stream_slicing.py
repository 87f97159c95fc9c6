"""What Traub et al. found in 2019."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sash.bench.page.findings import Finding, Paper
from sash.bench.page.lines import Line, ahead, both, growth, last, line, over, per_place, spread, typical
from sash.report import Bar, Report

__all__ = ["PAPER"]

OURS, BUFFER, TREE, BUCKETS, ROW_BUCKETS = (
    "sash",
    "tuple_buffer",
    "aggregate_tree",
    "aggregate_buckets",
    "tuple_buckets",
)
OTHERS = (BUFFER, TREE, BUCKETS, ROW_BUCKETS)  # that do not slice
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


def _rates(report: Report, experiment: str, subject: str, since: float = 0, **wanted: Any) -> Line:
    return line(report, experiment, subject, "windows", since, **wanted)


def _orders(report: Report) -> Iterator[Bar]:
    ratios = {
        each: over(_rates(report, "concurrent", OURS), _rates(report, "concurrent", each))
        for each in (BUCKETS, BUFFER, TREE)
    }
    yield Bar("sash over aggregate_buckets, most windows", 100, last(ratios[BUCKETS]))
    yield Bar("sash over tuple_buffer, most windows", 10, last(ratios[BUFFER]))
    yield Bar("sash over aggregate_tree, any number of windows", 10, typical(ratios[TREE]))


def _scales(report: Report) -> Iterator[Bar]:
    yield Bar("sash, most windows over one", 1 / 3, growth(_rates(report, "concurrent", OURS)))


def _redundant(report: Report) -> Iterator[Bar]:
    for subject in (BUCKETS, BUFFER):
        fall = both(1.0, growth(_rates(report, "concurrent", subject)))
        yield Bar(f"{subject}, one window over most", 100, fall)


def _constrained(report: Report) -> Iterator[Bar]:
    others = [_rates(report, "constrained", each, since=100) for each in OTHERS]
    yield Bar(
        "sash over the best that does not slice, 100 windows or more",
        10,
        ahead(_rates(report, "constrained", OURS, 100), others),
    )


def _nearly_constant(report: Report) -> Iterator[Bar]:
    yield Bar("sash, most windows over one", 0.5, growth(_rates(report, "constrained", OURS)))


def _tree_suffers(report: Report) -> Iterator[Bar]:
    slowed = {
        each: typical(over(_rates(report, "concurrent", each), _rates(report, "constrained", each)))
        for each in (TREE, BUCKETS)
    }
    yield Bar("aggregate_tree, in order over constrained", 2, slowed[TREE])
    yield Bar("the same, over that of aggregate_buckets", 1, both(slowed[TREE], slowed[BUCKETS]))


def _bytes(report: Report, subject: str, across: str, measure: str) -> Line:
    return line(report, f"memory_by_{across}", subject, across, measure=measure)


def _apart_from_linear(values: Line) -> float | None:
    """How far from growing as its place does: 1 is in proportion."""
    return spread(per_place(values))


def _by_slices(report: Report) -> Iterator[Bar]:
    for subject in (OURS, BUCKETS):
        values = _bytes(report, subject, "slices", "time")
        yield Bar(f"{subject}, most slices over fewest", 10, growth(values))
    for subject in (BUFFER, TREE):
        values = _bytes(report, subject, "slices", "time")
        yield Bar(f"{subject}, most slices over fewest", 1.1, growth(values), at_most=True)


def _by_rows(report: Report) -> Iterator[Bar]:
    for subject in (OURS, BUCKETS):
        yield Bar(
            f"{subject}, most rows over fewest", 1.1, growth(_bytes(report, subject, "rows", "time")), at_most=True
        )
    for subject in (BUFFER, TREE):
        values = _bytes(report, subject, "rows", "time")
        yield Bar(f"{subject}, bytes per row, most over least", 1.5, _apart_from_linear(values), at_most=True)


def _counted_by_rows(report: Report) -> Iterator[Bar]:
    for subject in (OURS, BUFFER, TREE, ROW_BUCKETS):
        values = _bytes(report, subject, "rows", "count")
        yield Bar(f"{subject}, bytes per row, most over least", 2, _apart_from_linear(values), at_most=True)


def _counted_by_slices(report: Report) -> Iterator[Bar]:
    buckets, ours = (_bytes(report, each, "slices", "count") for each in (ROW_BUCKETS, OURS))
    yield Bar("tuple_buckets over sash, most slices", 1, last(over(buckets, ours)))
    yield Bar("tuple_buckets, most slices over fewest", 1, growth(buckets))


def _output(report: Report, subject: str, aggregate: str = "sum") -> Line:
    return line(report, "output_latency", subject, "entries", aggregate=aggregate)


def _latencies(report: Report) -> Iterator[Bar]:
    lazy, eager, buckets = (_output(report, each) for each in ("sash lazy", "sash eager", BUCKETS))
    yield Bar("sash lazy over sash eager, most entries", 10, last(over(lazy, eager)))
    yield Bar("sash eager over aggregate_buckets, most entries", 1, last(over(eager, buckets)))


def _holistic_latency(report: Report) -> Iterator[Bar]:
    ratios = {
        each: last(over(_output(report, each, "median"), _output(report, each))) for each in ("sash lazy", BUCKETS)
    }
    yield Bar("sash lazy, median over sum, most entries", 2, ratios["sash lazy"])
    yield Bar("aggregate_buckets, median over sum, most entries", 2, ratios[BUCKETS], at_most=True)


def _disorder(
    report: Report, experiment: str, across: str, unharmed: tuple[str, ...], harmed: tuple[str, ...]
) -> Iterator[Bar]:
    for subject in (*unharmed, *harmed):
        since = 1 if experiment == "disorder_delay" else 0
        kept = growth(line(report, experiment, subject, across, since))
        yield Bar(f"{subject}, speed at the most disorder over the least", 0.7, kept, at_most=subject in harmed)


def _aggregates(report: Report, measure: str) -> dict[str, float]:
    found = report.select("aggregates", subject=OURS, measure=measure)
    return {each.aggregate: each.value for each in found if each.value}


def _by_time(report: Report) -> Iterator[Bar]:
    rates = _aggregates(report, "time")
    plain, holistic = ([rates[each] for each in names if each in rates] for names in (ALGEBRAIC, HOLISTIC))
    yield Bar(
        "algebraic and distributive, fastest over slowest",
        3,
        both(max(plain), min(plain)) if len(plain) > 1 else None,
        at_most=True,
    )
    yield Bar(
        "slowest of them over fastest holistic", 2, both(min(plain), max(holistic)) if plain and holistic else None
    )


def _count_slower(report: Report) -> Iterator[Bar]:
    times, counts = (_aggregates(report, each) for each in ("time", "count"))
    ratios = {
        float(k): times[each] / counts[each] for k, each in enumerate(ALGEBRAIC) if each in times and each in counts
    }
    yield Bar("windows by time over by count", 1, typical(ratios))


def _inverts(report: Report) -> Iterator[Bar]:
    rates = _aggregates(report, "count")
    yield Bar("sum over sum without invert, by count", 1.2, both(rates.get("sum"), rates.get("sum without invert")))
    yield Bar("sum over max, by count", 2, both(rates.get("sum"), rates.get("max")), at_most=True)


def _median(report: Report, subject: str) -> Line:
    return line(report, "median", subject, "distinct")


def _medians(report: Report) -> Iterator[Bar]:
    others = [_median(report, each) for each in (BUFFER, BUCKETS, ROW_BUCKETS)]
    yield Bar("sash over the best that does not slice", 1, ahead(_median(report, OURS), others))


def _few_values(report: Report) -> Iterator[Bar]:
    yield Bar("sash, fewest distinct values over most", 1, both(1.0, growth(_median(report, OURS))))


def _splits(report: Report) -> Iterator[Bar]:
    for aggregate in ("sum", "median"):
        values = line(report, "splits", "slice_manager", "rows", 100, aggregate=aggregate)
        yield Bar(f"time per row, most over least, {aggregate}", 3, _apart_from_linear(values), at_most=True)


def _time_flat(report: Report) -> Iterator[Bar]:
    yield Bar("sash by time, most windows over one", 0.5, growth(_rates(report, "measures", OURS, measure="time")))


def _advancing(report: Report) -> Iterator[Bar]:
    time, other = (_rates(report, "measures", OURS, measure=each) for each in ("time", "advancing"))
    yield Bar("any advancing measure over time", 0.7, typical(over(other, time)))


def _counts(report: Report) -> Iterator[Bar]:
    few = line(report, "measures", OURS, "windows", until=40, measure="count")
    yield Bar("sash by count, 40 windows over one", 0.7, growth(few))
    yield Bar(
        "sash by count, most windows over 40",
        0.5,
        growth(_rates(report, "measures", OURS, 40, measure="count")),
        at_most=True,
    )


def _counts_over_buffer(report: Report) -> Iterator[Bar]:
    ours, buffer = (_rates(report, "measures", each, measure="count") for each in (OURS, BUFFER))
    yield Bar("sash over tuple_buffer by count, most windows", 10, last(over(ours, buffer)))


def _cores(report: Report) -> Iterator[Bar]:
    for subject in (OURS, "native"):
        times = line(report, "cores", subject, "cores", metric="time", aggregate="max and count")
        yield Bar(f"{subject} on Spark, two cores, times as fast as one", 1.6, both(1.0, growth(times)))


PAPER = Paper(
    key="stream-slicing",
    title="Efficient Window Aggregation with General Stream Slicing",
    authors="Traub, Grulich, Rodríguez Cuéllar, Breß, Katsifodimos, Rabl, Markl",
    year=2019,
    venue="EDBT 2019",
    doi="10.5441/002/edbt.2019.10",
    names="Slicing is sash here; the other techniques have their names, all compiled and on one core.",
    findings=(
        Finding(
            "Figure 8",
            "slicing is orders of magnitude ahead",
            "With many windows, slicing is orders of magnitude faster than buckets, buffers and trees of rows.",
            "slicing concurrent",
            _orders,
        ),
        Finding(
            "Figure 8",
            "slicing scales to 1,000 windows",
            "Slicing keeps its throughput up to 1,000 concurrent windows.",
            "slicing concurrent",
            _scales,
        ),
        Finding(
            "Figure 8",
            "buckets and buffers fall with windows",
            "Buckets and buffers compute each window by itself, and fall with their number.",
            "slicing concurrent",
            _redundant,
        ),
        Finding(
            "Figure 8",
            "Pairs and Cutty are as fast",
            "Specialised slicing, Pairs and Cutty, is as fast as general slicing.",
            note="In sash these are ways to find the edges of the same slices, not subjects of their own.",
        ),
        Finding(
            "Figure 9",
            "late rows, a session: ten times ahead",
            "With late rows and a session, slicing is ten times as fast as what does not slice.",
            "slicing constrained",
            _constrained,
        ),
        Finding(
            "Figure 9",
            "nearly constant up to 1,000 windows",
            "Its throughput is almost the same for any number of windows.",
            "slicing constrained",
            _nearly_constant,
        ),
        Finding(
            "Figure 9",
            "lazy slicing is ahead of eager",
            "Lazy slicing is slightly faster than eager slicing, which keeps a tree up to date.",
            note="sash chooses between them; the bench does not run a stream both ways.",
        ),
        Finding(
            "Figure 9",
            "trees of rows suffer most from late rows",
            "Late rows slow down trees of rows most, which must be rebalanced.",
            "slicing constrained",
            _tree_suffers,
        ),
        Finding(
            "Figure 10a",
            "by time: memory grows with slices",
            "Over time windows, memory of slicing and buckets grows with slices, that of buffers and trees does not.",
            "slicing memory_by_slices",
            _by_slices,
        ),
        Finding(
            "Figure 10b",
            "by time: memory is free of rows",
            "Over time windows, memory of slicing and buckets does not depend on rows; of buffers and trees it does.",
            "slicing memory_by_rows",
            _by_rows,
        ),
        Finding(
            "Figure 10c",
            "by count: buckets keep rows many times",
            "Over count windows, buckets keep a row once per window, and grow with the slices.",
            "slicing memory_by_slices",
            _counted_by_slices,
        ),
        Finding(
            "Figure 10d",
            "by count: memory is linear in rows",
            "Over count windows, all techniques keep rows, and their memory is linear in them.",
            "slicing memory_by_rows",
            _counted_by_rows,
        ),
        Finding(
            "Figure 11a",
            "latency: buckets, then eager, then lazy",
            "For a sum, buckets answer in nanoseconds, eager slicing in microseconds, lazy slicing in up to 1 ms.",
            "slicing output_latency",
            _latencies,
        ),
        Finding(
            "Figure 11c",
            "a median costs slices latency, not buckets",
            "For a median, slicing takes longer to answer, buckets do not.",
            "slicing output_latency",
            _holistic_latency,
        ),
        Finding(
            "Figure 12a",
            "late rows cost slicing and buckets nothing",
            "Slicing and buckets take late rows as fast as others; buffers and trees slow down.",
            "slicing disorder_fraction",
            partial(
                _disorder,
                experiment="disorder_fraction",
                across="late_percent",
                unharmed=(OURS, BUCKETS),
                harmed=(BUFFER, TREE),
            ),
        ),
        Finding(
            "Figure 12b",
            "longer delays cost buffers only",
            "All but buffers are as fast, however late the rows.",
            "slicing disorder_delay",
            partial(
                _disorder,
                experiment="disorder_delay",
                across="delay_s",
                unharmed=(OURS, BUCKETS, TREE),
                harmed=(BUFFER,),
            ),
        ),
        Finding(
            "Figure 13a",
            "by time: algebraic alike, holistic slower",
            "Over time windows, algebraic and distributive functions are alike, holistic ones much slower.",
            "slicing aggregates",
            _by_time,
        ),
        Finding(
            "Figure 13b",
            "count windows are slower",
            "With late rows, windows by count are slower than windows by time.",
            "slicing aggregates",
            _count_slower,
        ),
        Finding(
            "Figure 13b",
            "without an inverse count windows are slower",
            "By count, a sum without its inverse is much slower; max is not, for what leaves seldom matters.",
            "slicing aggregates",
            _inverts,
        ),
        Finding(
            "Figure 14",
            "median: slicing is ahead",
            "Slicing is faster than buckets and buffers for a median too.",
            "slicing median",
            _medians,
        ),
        Finding(
            "Figure 14",
            "median: few distinct values are faster",
            "It is faster with 37 distinct values than with 84,232, for runs are counted, not kept.",
            "slicing median",
            _few_values,
        ),
        Finding(
            "Figure 15",
            "a split takes time by the row",
            "What a split takes is linear in the rows of the slice.",
            "slicing splits",
            _splits,
        ),
        Finding(
            "Figure 16",
            "by time: free of the number of windows",
            "The throughput of windows by time does not depend on their number.",
            "slicing measures",
            _time_flat,
        ),
        Finding(
            "Figure 16",
            "any advancing measure is like time",
            "Any other measure that advances is as fast as time.",
            "slicing measures",
            _advancing,
        ),
        Finding(
            "Figure 16",
            "by count: constant to 40 windows, then falls",
            "The throughput of windows by count is almost constant up to 40 windows, then falls in proportion.",
            "slicing measures",
            _counts,
        ),
        Finding(
            "Figure 16",
            "by count: ten times a buffer",
            "With 1,000 windows by count, slicing is still ten times as fast as a buffer.",
            "slicing measures",
            _counts_over_buffer,
        ),
        Finding(
            "Figure 17",
            "scales with cores",
            "Slicing and buckets, on Flink, scale linearly with the cores up to four.",
            "spark cores",
            _cores,
            "Here on Spark and two cores: sash slices, native copies rows into windows.",
        ),
    ),
)
