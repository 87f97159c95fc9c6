"""Findings of Tangwongsan, Hirzel and Schneider, 2017."""

from collections.abc import Iterator

from benchmarks.records import Bar, Report
from benchmarks.report.findings import Finding, Paper
from benchmarks.report.series import Line, ahead, break_even, growth, quotient, speed, spread

__all__ = ["PAPER"]

STACKS, DABA, TREE, NAIVE = "two_stacks", "daba", "flat_fat", "recalculate"
FOA, IOA = "foa", "ioa"
PLAIN = ("sum", "max", "argmax", "min_count", "mean", "stddev")
OPERATORS = (*PLAIN, "geometric_mean", "bloom_filter")
CHEAP_TO_COSTLY = ("sum", "geometric_mean", "bloom_filter")

# --- Table 2: answer times -----------------------------------------------------------------------------


def _time(report: Report, subject: str, metric: str, aggregate: str) -> float | None:
    found = report.select("operators", subject=subject, metric=metric, aggregate=aggregate)
    return next((each.value for each in found), None)


def _within(report: Report, subject: str, one: str, other: str, aggregate: str) -> float | None:
    """Divide one measure of the answer times by another."""
    return quotient(*(_time(report, subject, metric, aggregate) for metric in (one, other)))


def _between(report: Report, metric: str, one: str, other: str, aggregate: str) -> float | None:
    """Divide the measure of one queue by that of another."""
    return quotient(*(_time(report, subject, metric, aggregate) for subject in (one, other)))


def _spikes(report: Report) -> Iterator[Bar]:
    for subject, at_most in ((STACKS, False), (DABA, True)):
        for aggregate in OPERATORS:
            ratio = _within(report, subject, "steady max", "median", aggregate)
            yield Bar(f"{subject}, {aggregate}: slowest answer over median", 50, ratio, at_most=at_most)


def _steady(report: Report) -> Iterator[Bar]:
    for aggregate in OPERATORS:
        ratio = _within(report, DABA, "standard deviation", "mean", aggregate)
        yield Bar(f"daba, {aggregate}: standard deviation over average", 1, ratio, at_most=True)


def _unsteady(report: Report) -> Iterator[Bar]:
    for aggregate in OPERATORS:
        ratio = _within(report, STACKS, "standard deviation", "mean", aggregate)
        yield Bar(f"two_stacks, {aggregate}: standard deviation over average", 12, ratio)


def _foa_deviates(report: Report) -> Iterator[Bar]:
    for aggregate in OPERATORS:
        ratio = _between(report, "standard deviation", FOA, STACKS, aggregate)
        yield Bar(f"deviation of foa over two_stacks', {aggregate}", 1, ratio)
        ratio = _between(report, "standard deviation", IOA, STACKS, aggregate)
        yield Bar(f"deviation of ioa over two_stacks', {aggregate}", 1, ratio, at_most=True)


def _ioa_slow(report: Report) -> Iterator[Bar]:
    for aggregate in (*PLAIN, "geometric_mean"):
        yield Bar(f"average of ioa over two_stacks', {aggregate}", 6, _between(report, "mean", IOA, STACKS, aggregate))


# --- Figure 13, bottom: rows per second ----------------------------------------------------------------


def _over(report: Report, subject: str, other: str, least: float = 1) -> Iterator[Bar]:
    for aggregate in CHEAP_TO_COSTLY:
        rates = [speed(report, each, aggregate) for each in (subject, other)]
        yield Bar(f"{subject} over {other}, {aggregate}", least, ahead(rates[0], rates[1:]))


def _stacks_first(report: Report) -> Iterator[Bar]:
    yield from _over(report, STACKS, DABA, 1.2)


def _foa_third(report: Report) -> Iterator[Bar]:
    for other in (STACKS, DABA):
        yield from _over(report, other, FOA)
    for other in (IOA, TREE):
        yield from _over(report, FOA, other)


def _tree_behind(report: Report) -> Iterator[Bar]:
    for subject in (STACKS, DABA):
        yield from _over(report, subject, TREE)


def _ioa_like_a_tree(report: Report) -> Iterator[Bar]:
    yield from _over(report, IOA, TREE, 0.5)
    yield from _over(report, TREE, IOA, 0.5)


def _naive_falls(report: Report) -> Iterator[Bar]:
    for aggregate in CHEAP_TO_COSTLY:
        rates = speed(report, NAIVE, aggregate, since=16)
        windows: Line = {window: window for window in rates}
        fall = quotient(1.0, growth(rates))
        yield Bar(f"fall of recalculate over growth of the window, {aggregate}", 0.5, quotient(fall, growth(windows)))


def _improves(report: Report) -> Iterator[Bar]:
    for aggregate in ("sum", "geometric_mean"):
        yield Bar(f"daba, 256 rows over 1 row, {aggregate}", 1, growth(speed(report, DABA, aggregate, until=256)))


def _constant(report: Report) -> Iterator[Bar]:
    for subject in (STACKS, DABA):
        yield Bar(
            f"{subject}, fastest over slowest from 16 rows on",
            2,
            spread(speed(report, subject, "sum", 16)),
            at_most=True,
        )


def _caches(report: Report) -> Iterator[Bar]:
    for subject in (STACKS, DABA):
        for aggregate, since in (("geometric_mean", 4096), ("bloom_filter", 256)):
            name = f"{subject}, longest window over {since} rows, {aggregate}"
            yield Bar(name, 1, growth(speed(report, subject, aggregate, since)), at_most=True)


def _okasaki_falls(report: Report) -> Iterator[Bar]:
    for subject in (FOA, IOA):
        for aggregate in ("sum", "geometric_mean"):
            name = f"{subject}, longest window over 65,536 rows, {aggregate}"
            yield Bar(name, 0.7, growth(speed(report, subject, aggregate, 1 << 16)), at_most=True)


# --- Table 3: break-even points ------------------------------------------------------------------------


def _points(report: Report, subject: str, most: float) -> Iterator[Bar]:
    for aggregate in OPERATORS:
        name = f"{subject} is faster than recalculate from, {aggregate}"
        yield Bar(name, most, break_even(report, subject, aggregate), "rows", at_most=True)


def _early(report: Report) -> Iterator[Bar]:
    yield from _points(report, STACKS, 32)
    yield from _points(report, DABA, 112)


def _tree_late(report: Report) -> Iterator[Bar]:
    for subject in (STACKS, DABA):
        for aggregate in PLAIN:
            ratio = quotient(*(break_even(report, each, aggregate) for each in (TREE, subject)))
            yield Bar(f"break-even of flat_fat over {subject}'s, {aggregate}", 10, ratio)


def _okasaki_early(report: Report) -> Iterator[Bar]:
    yield from _points(report, FOA, 128)
    yield from _points(report, IOA, 1024)
    for subject in (STACKS, DABA, FOA, IOA):
        found = report.select("python_queues", subject=subject, metric="gain", aggregate="collect")
        value = next((each.value for each in found), None)
        yield Bar(f"{subject} over recalculate, longest window, collect", 1, value, at_most=True)


COMPILED = (
    "FOA and IOA are compiled here. FOA's collector copies cells to another space, eight times as large as a window. "
    "IOA's references are counted."
)
ONE_RUN = "A million answers (of Bloom, 262,144) over 2^14 rows of 64-bit floats, in one run with its interrupts."
BLOOM = "Bloom has 16,384 bits, as in the paper, but windows of up to 2^14 rows."
WINDOWS = "Windows of up to 2^20 rows of 64-bit floats. A ratio is the geometric mean over all windows."
LIMITS = "The benchmark has the windows 24, 32, 96, 128, 512 and 1,024 near the limits, and those between."

PAPER = Paper(
    key="daba",
    title="Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time",
    authors="Tangwongsan, Hirzel, Schneider",
    year=2017,
    venue="DEBS 2017",
    doi="10.1145/3093742.3093925",
    names="Reactive is flat_fat here, Recalc is recalculate; Bloom is bloom_filter, GeoMean is geometric_mean.",
    findings=(
        Finding(
            "5.1, Table 2",
            "Two-Stacks has spikes, DABA has none",
            "Some answers of Two-Stacks take time in proportion to the window. DABA has no such answers.",
            "algorithms operators",
            _spikes,
            f"For each answer, the shortest time of three runs counts. The paper says no number; 50 is ours. {BLOOM}",
        ),
        Finding(
            "Table 2",
            "DABA's deviation is below its average",
            "The standard deviation of DABA's answers is always lower than their average.",
            "algorithms operators",
            _steady,
            ONE_RUN,
        ),
        Finding(
            "Table 2",
            "Two-Stacks' deviation is 12 to 54 averages",
            "The standard deviation of Two-Stacks' answers is 12 to 54 times their average.",
            "algorithms operators",
            _unsteady,
            ONE_RUN,
        ),
        Finding(
            "Table 2",
            "FOA's answers deviate most",
            "Because of garbage collection, FOA's deviation is up to 5 times that of Two-Stacks. IOA's is lower.",
            "algorithms operators",
            _foa_deviates,
            f"The checks require only higher and lower: the collector is not that of the paper. {COMPILED}",
        ),
        Finding(
            "Table 2",
            "IOA takes 6 to 14 times Two-Stacks",
            "On average, IOA takes 6 to 14 times as long as Two-Stacks, because every row is an object.",
            "algorithms operators",
            _ioa_slow,
            f"Without Bloom, for which it is 3.9 times in the paper's table, too. {COMPILED}",
        ),
        Finding(
            "Figure 13, bottom; Table 2",
            "Two-Stacks is fastest, DABA next",
            "Two-Stacks has the highest throughput. DABA takes 20 to 60 % longer.",
            "algorithms throughput",
            _stacks_first,
            f"{WINDOWS} {BLOOM}",
        ),
        Finding(
            "Figure 13, bottom",
            "FOA is third",
            "FOA is slower than Two-Stacks and DABA, and faster than the others.",
            "algorithms throughput",
            _foa_third,
            f"{COMPILED} {WINDOWS}",
        ),
        Finding(
            "Figure 13, bottom",
            "the Reactive Aggregator is behind both",
            "The Reactive Aggregator is slower than Two-Stacks and DABA for all windows.",
            "algorithms throughput",
            _tree_behind,
            f"{WINDOWS} {BLOOM}",
        ),
        Finding(
            "Figure 13, bottom",
            "IOA is like the Reactive Aggregator",
            "IOA is about as fast as the Reactive Aggregator, although the cost of IOA is constant.",
            "algorithms throughput",
            _ioa_like_a_tree,
            f"The checks require a factor of 2 at most. {COMPILED} {WINDOWS}",
        ),
        Finding(
            "Figure 13, bottom",
            "recalculation falls with the window",
            "The throughput of recalculation is inversely proportional to the window.",
            "algorithms throughput",
            _naive_falls,
            "The check requires half of the proportion, because the shortest windows have other costs.",
        ),
        Finding(
            "Figure 13, bottom",
            "DABA gets faster up to 256 rows",
            "For Sum and GeoMean, DABA gets faster up to windows of 256 rows, because it flips less often.",
            "algorithms throughput",
            _improves,
            WINDOWS,
        ),
        Finding(
            "Figure 13, bottom",
            "Two-Stacks and DABA are flat for Sum",
            "For Sum, the speed of Two-Stacks and DABA does not depend on the window.",
            "algorithms throughput",
            _constant,
            "A sum of 64-bit floats has a count and 16 bytes; in the paper, 4 bytes. The check allows a factor of 2.",
        ),
        Finding(
            "Figure 13, bottom",
            "large partials outgrow the caches",
            "Two-Stacks and DABA get slower when the partials do not fit into a cache: from 2^12 rows on for Bloom, "
            "and near 2^20 rows for GeoMean.",
            "algorithms throughput",
            _caches,
            f"The checks require no more than a fall. {BLOOM}",
        ),
        Finding(
            "Figure 13, bottom",
            "FOA and IOA drop after 65,536 rows",
            "For Sum and GeoMean, FOA and IOA become much slower beyond 2^16 rows.",
            "algorithms throughput",
            _okasaki_falls,
            f"Much slower: less than 0.7 of the speed. {COMPILED}",
        ),
        Finding(
            "Table 3",
            "pay from small windows on",
            "Two-Stacks is faster than recalculation from windows of 2 to 32 rows on, and DABA from 4 to 112 rows on.",
            "algorithms break_even",
            _early,
            LIMITS,
        ),
        Finding(
            "Table 3",
            "the Reactive Aggregator pays 10 to 100 times later",
            "The Reactive Aggregator needs windows that are 10 to 100 times as long to be faster than "
            "recalculation, except for Bloom.",
            "algorithms break_even",
            _tree_late,
            f"Without GeoMean, for which the paper's table has 4 and 8 times. {LIMITS}",
        ),
        Finding(
            "Table 3",
            "FOA pays early, IOA late, Collect never",
            "FOA is faster than recalculation from 4 to 128 rows on, and IOA from 16 to 1,024 rows on. "
            "For Collect, no algorithm is faster than recalculation.",
            "algorithms break_even",
            _okasaki_early,
            f"Collect is plain Python, over 512 rows. {COMPILED} {LIMITS}",
        ),
    ),
)
