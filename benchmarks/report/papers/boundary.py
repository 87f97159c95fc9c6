"""Findings of Zhang, Akbarinia and Toumani, 2021."""

from collections.abc import Iterator

from benchmarks.records import Bar, Report
from benchmarks.report.findings import Finding, Paper
from benchmarks.report.series import (
    Line,
    ahead,
    best,
    geometric_mean,
    growth,
    last,
    latency,
    line,
    over,
    quotient,
    spread,
)

__all__ = ["PAPER"]

PBA, SBA, RIVALS = "pba", "sba", ("two_stacks", "slick_deque")
LARGE = 1 << 15  # rows from which on PBA is to be ahead
WALL = "rows"  # by the wall clock


def _by_row(report: Report, subject: str, since: float = 0) -> Line:
    return line(report, "row_by_row", subject, "window", since, metric=WALL)


def _sequential(report: Report) -> Iterator[Bar]:
    for rival in RIVALS:
        yield Bar(f"sba over {rival}", 1, ahead(_by_row(report, SBA), [_by_row(report, rival)]))


def _parallel(report: Report) -> Iterator[Bar]:
    for rival, paper in zip(RIVALS, (2.5, 4.0), strict=True):
        ratio = ahead(_by_row(report, PBA, LARGE), [_by_row(report, rival, LARGE)])
        yield Bar(f"pba over {rival}, from {LARGE:,} rows on", paper, ratio)


def _parallel_over_sequential(report: Report) -> Iterator[Bar]:
    ratio = ahead(_by_row(report, PBA, LARGE), [_by_row(report, SBA, LARGE)])
    yield Bar(f"pba over sba, max, from {LARGE:,} rows on", 1, ratio)


def _rises(report: Report) -> Iterator[Bar]:
    yield Bar("pba, longest window over the shortest", 1, growth(_by_row(report, PBA)))
    flat = spread(_by_row(report, PBA, LARGE))
    yield Bar(f"pba, fastest over slowest from {LARGE:,} rows on", 2, flat, at_most=True)


def _slides(report: Report, subject: str) -> Line:
    return line(report, "row_slides", subject, "slide", metric=WALL)


def _longer_slides(report: Report) -> Iterator[Bar]:
    for subject in (SBA, PBA, *RIVALS):
        yield Bar(f"{subject}, longest slide over 1 row", 1, growth(_slides(report, subject)))


def _closer(report: Report) -> Iterator[Bar]:
    lines = [_slides(report, each) for each in (SBA, PBA, *RIVALS)]
    apart = over(best(lines), best(lines, lowest=True)) if all(lines) else {}
    yield Bar("fastest over slowest, longest slide against 1 row", 1, growth(apart), at_most=True)


def _spikes(report: Report) -> Iterator[Bar]:
    for subject in ("two_stacks", SBA):
        slowest = latency(report, subject, "steady max")
        yield Bar(f"{subject}: slowest answer, longest window over shortest", 4, growth(slowest))
    ratios = over(latency(report, "slick_deque", "steady max"), latency(report, "slick_deque", "median"))
    yield Bar("slick_deque: slowest answer over median, longest window", 50, last(ratios), at_most=True)


def _lower_spikes(report: Report) -> Iterator[Bar]:
    slowest = over(latency(report, SBA, "steady max"), latency(report, "two_stacks", "steady max"))
    yield Bar("slowest answer of sba over two_stacks'", 1, geometric_mean(slowest), at_most=True)


def _quick_median(report: Report) -> Iterator[Bar]:
    for rival in RIVALS:
        ratio = geometric_mean(over(latency(report, SBA, "median"), latency(report, rival, "median")))
        yield Bar(f"median of sba over {rival}'s", 1, ratio, at_most=True)


def _costly(report: Report) -> Iterator[Bar]:
    for subject in (SBA, PBA, "two_stacks"):
        times = [
            last(line(report, "parallel_latency", subject, "window", metric="mean", aggregate=aggregate))
            for aggregate in ("moment_sketch", "max")
        ]
        yield Bar(f"{subject}, average of moment_sketch over max", 1.5, quotient(*times))


def _second_thread(report: Report) -> Iterator[Bar]:
    rates = [line(report, "parallel", each, "window", metric="rows") for each in (PBA, SBA)]
    yield Bar("pba over sba, moment_sketch", 1, last(over(*rates)))


def _in_an_engine(report: Report) -> Iterator[Bar]:
    for keys in sorted({int(each.get("keys") or 0) for each in report.select("frames")}, reverse=True):
        native, ours = (
            line(report, "frames", each, "window", metric="time", keys=keys).get(1000) for each in ("native", "sash")
        )
        yield Bar(f"native over sash, time of frames of 1,000 rows, keys: {keys}", 1, quotient(native, ours))


def _cores(report: Report) -> Iterator[Bar]:
    times = line(report, "cores", "sash", "cores", metric="time", aggregate="max")
    yield Bar("frames on Spark, two cores, times as fast as one", 1.6, quotient(1.0, growth(times)))


def _in_time(report: Report) -> Iterator[Bar]:
    def rate(subject: str, across: str, **fixed: int) -> Line:
        return line(report, "time_windows", subject, across, metric=WALL, **fixed)

    ranges = sorted({int(each.get("minutes") or 0) for each in report.select("time_windows")})
    for across, fixed in (("minutes", {"slide_ms": 10}), ("slide_ms", {"minutes": ranges[-1] if ranges else 0})):
        for subject in (SBA, PBA):
            for rival in RIVALS:
                ratio = ahead(rate(subject, across, **fixed), [rate(rival, across, **fixed)])
                yield Bar(f"{subject} over {rival}, by {across}", 1, ratio)


def _lowest(report: Report) -> Iterator[Bar]:
    for aggregate, others in (("max", (SBA, *RIVALS)), ("moment_sketch", (SBA, RIVALS[0]))):
        for metric in ("steady max", "standard deviation"):

            def times(subject: str, metric: str = metric, aggregate: str = aggregate) -> Line:
                return line(report, "parallel_latency", subject, "window", metric=metric, aggregate=aggregate)

            lines = [times(each) for each in others]
            lowest = geometric_mean(over(times(PBA), best(lines, lowest=True))) if all(lines) else None
            yield Bar(f"pba over the lowest of the others, {metric}, {aggregate}", 1, lowest, at_most=True)


def _workers(report: Report) -> Iterator[Bar]:
    times = line(report, "workers", "sash", "workers", metric="time", aggregate="max")
    yield Bar("frames on Spark, two workers, times as fast as one", 1.6, quotient(1.0, growth(times)))


ROW_BY_ROW = (
    "Each row is one evict, one insert and one query; PBA's stream gets 65,536 rows at a time, and has one helper. The "
    "sweeps of sba and pba over whole arrays are in `algorithms throughput`. By the wall clock, on 64-bit floats."
)
CLOCK = "The clock has steps of some nanoseconds. Two times are equal if they differ by less than one step."
OF_64 = "Of 64 answers in a row, each by the best of five runs; the paper has single answers."

PAPER = Paper(
    key="boundary-aggregators",
    title="Efficient Incremental Computation of Aggregations over Sliding Windows",
    authors="Zhang, Akbarinia, Toumani",
    year=2021,
    venue="KDD 2021",
    doi="10.1145/3447548.3467360",
    names="TwoStack is two_stacks here. pba has two threads; in the paper, six cores.",
    findings=(
        Finding(
            "Figure 4",
            "SBA is ahead of both rivals",
            "On one thread, SBA is faster than Two-Stacks and SlickDeque, also on small windows.",
            "algorithms row_by_row",
            _sequential,
            f"Windows of 8 to 2^20 rows. {ROW_BY_ROW}",
        ),
        Finding(
            "Figure 4",
            "PBA is 2.5 and 4 times as fast",
            "From 2^15 rows on, PBA is 2.5 times as fast as Two-Stacks, and 4 times as fast as SlickDeque.",
            "algorithms row_by_row",
            _parallel,
            ROW_BY_ROW,
        ),
        Finding(
            "Figure 4",
            "PBA is ahead of SBA on large windows",
            "On large windows, PBA has the highest throughput. It is also faster than SBA.",
            "algorithms row_by_row",
            _parallel_over_sequential,
            ROW_BY_ROW,
        ),
        Finding(
            "Figure 4",
            "PBA rises to 32,768 rows, then is flat",
            "With longer windows, the throughput of PBA rises, because threads start less often. From "
            "2^15 rows on, it is constant.",
            "algorithms row_by_row",
            _rises,
            f"Flat: within a factor of 2. {ROW_BY_ROW}",
        ),
        Finding(
            "Figure 5",
            "longer slides are faster",
            "With longer slides, all algorithms get faster, because rows are first folded into slices.",
            "algorithms row_slides",
            _longer_slides,
            f"Windows of 2^17 rows and slides of 1 to 10, as in the paper. {ROW_BY_ROW}",
        ),
        Finding(
            "Figure 5",
            "longer slides bring algorithms closer",
            "The longer the slide, the less the algorithms differ.",
            "algorithms row_slides",
            _closer,
            f"Windows of 2^17 rows and slides of 1 to 10, as in the paper. {ROW_BY_ROW}",
        ),
        Finding(
            "Figure 6",
            "windows of time: the same order",
            "With time windows, PBA and SBA are the fastest, as with windows of rows.",
            "algorithms time_windows",
            _in_time,
            "Ranges of 6 to 60 minutes and slides of 10 to 100 ms, as in the paper; rows arrive at random, 100 per "
            f"second. {ROW_BY_ROW}",
        ),
        Finding(
            "Figure 7, Table 2",
            "spikes grow with Two-Stacks and SBA only",
            "Some answers of Two-Stacks and SBA are slow, and their time grows with the window. "
            "SlickDeque has no such answers.",
            "algorithms latency",
            _spikes,
            "Windows of 2^10, 2^14 and 2^18 rows; the paper has 2^13 and 2^14. For each answer, the shortest time of "
            "five runs counts.",
        ),
        Finding(
            "Table 2",
            "SBA's spikes are lower than Two-Stacks'",
            "The slowest answer of SBA takes a fifth of the time of the slowest answer of Two-Stacks.",
            "algorithms latency",
            _lower_spikes,
            "The check requires less time. In sash, sba has chunks as long as the window, so it pauses "
            "as long as two_stacks. Windows of 2^10, 2^14 and 2^18 rows.",
        ),
        Finding(
            "Table 2",
            "SBA has the lower median",
            "The median answer time of SBA is lower than those of Two-Stacks and SlickDeque.",
            "algorithms latency",
            _quick_median,
            f"Windows of 2^10, 2^14 and 2^18 rows. {CLOCK}",
        ),
        Finding(
            "Tables 2 and 3",
            "PBA has the lowest maximum and deviation",
            "PBA has no slow answers. Its answer times have the lowest maximum and deviation.",
            "algorithms parallel_latency",
            _lowest,
            f"{OF_64} SlickDeque takes no part in Table 3: it cannot slide a moment sketch.",
        ),
        Finding(
            "Table 3",
            "a costlier function takes longer",
            "A moment sketch takes longer than max with every algorithm.",
            "algorithms parallel_latency",
            _costly,
            f"On average; the check requires half as long again. {OF_64}",
        ),
        Finding(
            "Table 3",
            "a second thread helps a moment sketch",
            "For a moment sketch over a large window, PBA takes less time than SBA.",
            "algorithms parallel",
            _second_thread,
            "Measured as throughput, over windows of 2^20 rows of an array; in the paper, as answer times.",
        ),
        Finding(
            "Figure 8",
            "an engine gets faster with it",
            "With windows of 1,024 rows that slide by one row, Flink with PBA is faster than Flink alone.",
            "spark_tables frames",
            _in_an_engine,
            "The benchmark uses tables on Spark, and frames of 1,000 rows. Workers use SBA: they have no helper.",
        ),
        Finding(
            "Figure 8a",
            "scales with cores",
            "The throughput is proportional to the number of parallel instances, as long as each has a core.",
            "spark_tables cores",
            _cores,
            "The benchmark uses Spark on one and two cores, and requires 1.6 ×.",
        ),
        Finding(
            "Figure 8b",
            "scales with machines",
            "The throughput is proportional to the number of nodes in a cluster.",
            "spark_tables workers",
            _workers,
            "Here Spark, and one and two worker processes of one core each, on one machine. Asked: 1.6 ×.",
        ),
    ),
)
