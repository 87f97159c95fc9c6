"""Findings of Shein, Chrysanthis and Labrinidis, 2018."""

from collections.abc import Iterator

from benchmarks.records import Bar, Report
from benchmarks.report.findings import Finding, Paper
from benchmarks.report.series import (
    Line,
    ahead,
    best,
    geometric_mean,
    growth,
    latency,
    line,
    over,
    quotient,
    speed,
    spread,
)

__all__ = ["PAPER"]

CONSTANT = ("flat_fit", "two_stacks", "daba")
FALLING = ("flat_fat", "b_int", "recalculate")
MANY = ("recalculate", "flat_fat", "b_int", "flat_fit")  # of the paper's, those that answer many ranges at once
EXACT = "In sash, sums of floats that can be subtracted have five fields, so that no rounding error remains."
ONE_WINDOW = 1024  # of the paper's latencies


def _two_groups(report: Report, subject: str, aggregate: str) -> Iterator[Bar]:
    for each in (subject, *CONSTANT):
        name = f"{each}, fastest over slowest from 16 rows on"
        yield Bar(name, 2, spread(speed(report, each, aggregate, 16)), at_most=True)
    for each in FALLING:
        fall = quotient(1.0, growth(speed(report, each, aggregate, 16)))
        yield Bar(f"{each}, 16 rows over the longest window", 2, fall)


def _groups_of_sum(report: Report) -> Iterator[Bar]:
    yield from _two_groups(report, "slick_deque_inv", "sum")


def _groups_of_max(report: Report) -> Iterator[Bar]:
    yield from _two_groups(report, "slick_deque", "max")


def _fastest(report: Report, subject: str, aggregate: str, least: float) -> Iterator[Bar]:
    others = [speed(report, each, aggregate, 16) for each in (*CONSTANT, *FALLING)]
    yield Bar(
        f"{subject} over the best of the others, {aggregate}, from 16 rows on",
        least,
        ahead(speed(report, subject, aggregate, 16), others),
    )


def _fastest_sum(report: Report) -> Iterator[Bar]:
    for aggregate in ("sum", "mean"):
        yield from _fastest(report, "slick_deque_inv", aggregate, 1.15)


def _fastest_max(report: Report) -> Iterator[Bar]:
    yield from _fastest(report, "slick_deque", "max", 1.07)


def _tiny(report: Report) -> Iterator[Bar]:
    ratios = over(speed(report, "flat_fat", "max"), speed(report, "slick_deque", "max"))
    yield Bar("flat_fat over slick_deque, 4 rows", 1, ratios.get(4))
    yield Bar("flat_fat over slick_deque, 16 rows", 1, ratios.get(16), at_most=True)


def _ranges(report: Report, subject: str, aggregate: str) -> Line:
    return line(report, "ranges", subject, "ranges", aggregate=aggregate)


def _shared(report: Report, subject: str, aggregate: str) -> Line:
    return line(report, "shared_queries", subject, "ranges", aggregate=aggregate, shape="all ranges")


def _many(report: Report, subject: str, aggregate: str, least: float) -> Iterator[Bar]:
    ratio = ahead(_shared(report, subject, aggregate), [_shared(report, each, aggregate) for each in MANY])
    yield Bar(f"{subject} over the best of {', '.join(MANY)}", least, ratio)


def _many_maxima(report: Report) -> Iterator[Bar]:
    yield from _many(report, "slick_deque", "max", 3.66)


def _many_sums(report: Report) -> Iterator[Bar]:
    yield from _many(report, "slick_deque_inv", "sum", 1.45)


def _sharing(report: Report) -> Iterator[Bar]:
    for subject, aggregate in (("slick_deque", "max"), ("slick_deque_inv", "sum")):
        yield Bar(f"{subject}, most ranges over fewest", 1, growth(_ranges(report, subject, aggregate)))


def _quickest(report: Report, subject: str) -> Iterator[Bar]:
    for metric in ("min", "25 %", "median", "75 %", "mean", "steady max"):
        mine = latency(report, subject, metric)
        lowest = best([latency(report, each, metric) for each in (*CONSTANT, *FALLING)], lowest=True)
        ratio = over(mine, lowest).get(ONE_WINDOW)
        yield Bar(f"{subject} over the lowest of the others, {metric}", 1, ratio, at_most=True)


def _quickest_max(report: Report) -> Iterator[Bar]:
    yield from _quickest(report, "slick_deque")


def _quickest_sum(report: Report) -> Iterator[Bar]:
    yield from _quickest(report, "slick_deque_inv")


def _lower_spikes(report: Report) -> Iterator[Bar]:
    for subject in ("slick_deque", "slick_deque_inv"):
        ratios = over(latency(report, "daba", "steady max"), latency(report, subject, "steady max"))
        yield Bar(f"slowest answer of daba over that of {subject}", 3.83, ratios.get(ONE_WINDOW))


def _bytes(report: Report, subject: str, aggregate: str = "max") -> Line:
    return line(report, "memory", subject, "window", metric="state", aggregate=aggregate)


def _as_much_as_naive(report: Report) -> Iterator[Bar]:
    ratio = geometric_mean(over(*(_bytes(report, each, "sum") for each in ("slick_deque_inv", "recalculate"))))
    yield Bar("bytes of slick_deque_inv over recalculate", 1.1, ratio, at_most=True)
    yield Bar("bytes of slick_deque_inv over recalculate, at least", 0.9, ratio)


def _less_than_naive(report: Report) -> Iterator[Bar]:
    ratio = geometric_mean(over(_bytes(report, "slick_deque"), _bytes(report, "recalculate")))
    yield Bar("bytes of slick_deque over recalculate", 1, ratio, at_most=True)


def _alike(report: Report) -> Iterator[Bar]:
    for names in (("flat_fat", "b_int"), ("flat_fit", "two_stacks", "daba")):
        lines = [_bytes(report, each) for each in names]
        apart = geometric_mean(over(best(lines), best(lines, lowest=True))) if all(lines) else None
        yield Bar(f"{', '.join(names)}: most bytes over fewest", 1.1, apart, at_most=True)


WINDOWS = "Windows of 16 to 2^20 rows of 64-bit floats; in the paper, up to 2^27. Ratios are geometric means."
SHARED = "In slides per second, as in the paper, with 16 to 1,024 ranges; the paper has up to 2^27."
ANSWERS = (
    "For the maximum, the shortest time of each answer in five runs counts; the paper drops 0.005 % of the answers. "
    "The clock has steps of some nanoseconds."
)

PAPER = Paper(
    key="slick-deque",
    title="SlickDeque: High Throughput and Low Latency Incremental Sliding-Window Aggregation",
    authors="Shein, Chrysanthis, Labrinidis",
    year=2018,
    venue="EDBT 2018",
    names="SlickDeque (Inv) is slick_deque_inv here, SlickDeque (Non-Inv) is slick_deque, Naive is recalculate.",
    findings=(
        Finding(
            "Figure 10",
            "Sum: four are flat, three fall",
            "For Sum, longer windows do not slow down SlickDeque, FlatFIT, Two-Stacks and DABA. They "
            "slow down FlatFAT, B-Int and Naive.",
            "algorithms throughput",
            _groups_of_sum,
            f"Flat: within a factor of 2. {WINDOWS}",
        ),
        Finding(
            "Figure 10",
            "Sum: SlickDeque is fastest",
            "For Sum, SlickDeque is faster than the second best by 15 % on average.",
            "algorithms throughput",
            _fastest_sum,
            f"Also for mean. {EXACT} {WINDOWS}",
        ),
        Finding(
            "Figure 11",
            "Max: four are flat, three fall",
            "For Max, longer windows slow down the same algorithms as for Sum.",
            "algorithms throughput",
            _groups_of_max,
            f"Flat: within a factor of 2. {WINDOWS}",
        ),
        Finding(
            "Figure 11",
            "Max: SlickDeque is fastest from 16 rows on",
            "For Max, SlickDeque is faster than the second best by 7 % on average, from windows of 16 rows on.",
            "algorithms throughput",
            _fastest_max,
            WINDOWS,
        ),
        Finding(
            "Figure 11",
            "FlatFAT is ahead on tiny windows only",
            "On windows of up to 8 rows, FlatFAT is faster than SlickDeque, by 7 % at most.",
            "algorithms throughput",
            _tiny,
            "The benchmark has windows of 4 and 16 rows; the paper, of 8.",
        ),
        Finding(
            "Figure 12",
            "many Sums at once: SlickDeque is fastest",
            "With a Sum for every range, SlickDeque is faster than the second best by 45 % on average.",
            "algorithms shared_queries",
            _many_sums,
            f"{SHARED} {EXACT}",
        ),
        Finding(
            "Figure 13",
            "many Maxima at once: SlickDeque is fastest",
            "With a Max for every range, SlickDeque is faster than the second best by 266 % on average.",
            "algorithms shared_queries",
            _many_maxima,
            f"266 % faster is 3.66 times as fast. {SHARED}",
        ),
        Finding(
            "Figures 12 and 13",
            "more ranges share more",
            "With more ranges, the throughput rises, because ranges share more work. It falls again "
            "when the window becomes too large.",
            "algorithms ranges",
            _sharing,
            "In answers per second: slides per second fall, because a slide has as many answers as there are ranges. "
            "Up to 1,024 ranges; the check is only for the rise.",
        ),
        Finding(
            "Figure 14",
            "Max: lowest latency in all respects",
            "For Max over 1,024 rows, SlickDeque has the lowest minimum, quartiles, median and maximum "
            "of all answer times.",
            "algorithms latency",
            _quickest_max,
            ANSWERS,
        ),
        Finding(
            "Figure 14",
            "Sum: lowest latency in all respects",
            "For Sum over 1,024 rows, the invertible SlickDeque has the lowest times, too.",
            "algorithms latency",
            _quickest_sum,
            f"{EXACT} {ANSWERS}",
        ),
        Finding(
            "Figure 14",
            "spikes are lower than DABA's",
            "On average, the slowest answer of DABA takes 283 % longer than that of SlickDeque.",
            "algorithms latency",
            _lower_spikes,
            f"283 % longer is 3.83 times as long. {ANSWERS}",
        ),
        Finding(
            "Figure 15",
            "Max: less memory than Naive",
            "For Max, SlickDeque takes half the memory of Naive on average, and a fifth in the best case.",
            "algorithms memory",
            _less_than_naive,
            "The bytes of the state, and not of the process. The check requires only that it takes no more. sash makes "
            "room for a full window at once, for any values.",
        ),
        Finding(
            "Figure 15",
            "Sum: the memory of Naive",
            "For Sum, SlickDeque takes as much memory as Naive.",
            "algorithms memory",
            _as_much_as_naive,
            f"The bytes of the state, within a tenth. {EXACT}",
        ),
        Finding(
            "Figure 15",
            "memory comes in two groups",
            "FlatFAT and B-Int take the same memory, and so do FlatFIT, Two-Stacks and DABA.",
            "algorithms memory",
            _alike,
            "The bytes of the state, within a tenth.",
        ),
    ),
)
