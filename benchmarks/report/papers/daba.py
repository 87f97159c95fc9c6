"""Findings of Tangwongsan, Hirzel and Schneider, 2017."""

from collections.abc import Iterator

from benchmarks.records import Bar, Report
from benchmarks.report.findings import Finding, Paper
from benchmarks.report.series import (
    Line,
    ahead,
    geometric_mean,
    growth,
    last,
    latency,
    line,
    over,
    quotient,
    speed,
    spread,
)

__all__ = ["PAPER"]

STACKS, DABA, TREE, NAIVE = "two_stacks", "daba", "flat_fat", "recalculate"
FOA, IOA = "foa", "ioa"
CHEAP_TO_COSTLY = ("sum", "geometric_mean", "bloom_filter")
IN_PYTHON = "All of them run as plain Python here, over windows of up to 4,096 rows, with Sum."
INTERRUPTS = "The times are from one run and include interrupts. The median replaces the average."


def _spikes(report: Report) -> Iterator[Bar]:
    for subject, at_most in ((STACKS, False), (DABA, True)):
        ratios = over(latency(report, subject, "steady max"), latency(report, subject, "median"))
        yield Bar(f"{subject}: slowest answer over median, longest window", 50, last(ratios), at_most=at_most)


def _deviation(subject: str, report: Report) -> float | None:
    return geometric_mean(over(latency(report, subject, "standard deviation"), latency(report, subject, "median")))


def _steady(report: Report) -> Iterator[Bar]:
    yield Bar("daba: standard deviation over median", 1, _deviation(DABA, report), at_most=True)


def _unsteady(report: Report) -> Iterator[Bar]:
    yield Bar("two_stacks: standard deviation over median", 12, _deviation(STACKS, report))


def _in_python(report: Report, subject: str, metric: str) -> Line:
    return line(report, "python_queues", subject, "window", metric=metric, aggregate="sum")


def _apart(report: Report, metric: str, subject: str, other: str) -> float | None:
    return geometric_mean(over(*(_in_python(report, each, metric) for each in (subject, other))))


def _foa_deviates(report: Report) -> Iterator[Bar]:
    for other in (STACKS, IOA):
        yield Bar(f"deviation of foa over {other}", 1, _apart(report, "standard deviation", FOA, other))


def _ioa_slow(report: Report) -> Iterator[Bar]:
    yield Bar("mean answer of ioa over two_stacks", 6, _apart(report, "mean", IOA, STACKS))


def _foa_third(report: Report) -> Iterator[Bar]:
    for other in (STACKS, DABA):
        yield Bar(f"mean answer of foa over {other}", 1, _apart(report, "mean", FOA, other))
    for other in (IOA, TREE):
        yield Bar(f"mean answer of {other} over foa", 1, _apart(report, "mean", other, FOA))


def _ioa_like_a_tree(report: Report) -> Iterator[Bar]:
    ratio = _apart(report, "mean", IOA, TREE)
    yield Bar("mean answer of ioa over flat_fat", 0.5, ratio)
    yield Bar("mean answer of ioa over flat_fat, at most", 2, ratio, at_most=True)


def _python_break_even(report: Report) -> Iterator[Bar]:
    for subject, most in ((FOA, 128), (IOA, 1024)):
        found = report.select("python_queues", subject=subject, metric="break-even window", aggregate="sum")
        value = next((each.value for each in found), None)
        yield Bar(f"window from which on {subject} is faster, sum", most, value, "rows", at_most=True)
    for subject in (STACKS, DABA, FOA, IOA):
        found = report.select("python_queues", subject=subject, metric="gain", aggregate="collect")
        value = next((each.value for each in found), None)
        yield Bar(f"{subject} over recalculate, longest window, collect", 1, value, at_most=True)


def _against(report: Report, subject: str, other: str) -> Iterator[Bar]:
    for aggregate in CHEAP_TO_COSTLY:
        rates = [speed(report, each, aggregate) for each in (subject, other)]
        yield Bar(f"{subject} over {other}, {aggregate}", 1, ahead(rates[0], rates[1:]))


def _stacks_first(report: Report) -> Iterator[Bar]:
    yield from _against(report, STACKS, DABA)


def _tree_behind(report: Report) -> Iterator[Bar]:
    for subject in (STACKS, DABA):
        yield from _against(report, subject, TREE)


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
    for subject in ("foa", "ioa"):
        name = f"{subject}, longest window over 65,536 rows, sum"
        yield Bar(name, 0.7, growth(speed(report, subject, "sum", 1 << 16)), at_most=True)


def _break_even(report: Report, subject: str) -> float | None:
    return next((each.value for each in report.select("break_even", subject=subject)), None)


def _early(report: Report) -> Iterator[Bar]:
    for subject, most in ((STACKS, 32), (DABA, 112)):
        name = f"{subject} is faster than recalculate from"
        yield Bar(name, most, _break_even(report, subject), "rows", at_most=True)


def _tree_late(report: Report) -> Iterator[Bar]:
    for subject in (STACKS, DABA):
        ratio = quotient(_break_even(report, TREE), _break_even(report, subject))
        yield Bar(f"break-even of flat_fat over {subject}'s", 10, ratio)


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
            "algorithms latency",
            _spikes,
            "For each answer, the shortest time of several runs counts.",
        ),
        Finding(
            "Table 2",
            "DABA's deviation is below its average",
            "The standard deviation of DABA's answers is always lower than their average.",
            "algorithms latency",
            _steady,
            INTERRUPTS,
        ),
        Finding(
            "Table 2",
            "Two-Stacks' deviation is 12 to 54 averages",
            "The standard deviation of Two-Stacks' answers is 12 to 54 times their average.",
            "algorithms latency",
            _unsteady,
            INTERRUPTS,
        ),
        Finding(
            "Table 2",
            "FOA's answers deviate most",
            "Because of garbage collection, FOA's deviation is up to 5 times that of Two-Stacks. IOA's is lower.",
            "algorithms python_queues",
            _foa_deviates,
            IN_PYTHON,
        ),
        Finding(
            "Table 2",
            "IOA takes 6 to 14 times Two-Stacks",
            "On average, IOA takes 6 to 14 times as long as Two-Stacks, because every row is an object.",
            "algorithms python_queues",
            _ioa_slow,
            IN_PYTHON,
        ),
        Finding(
            "Figure 13, bottom; Table 2",
            "Two-Stacks is fastest, DABA next",
            "Two-Stacks has the highest throughput. DABA takes 20 to 60 % longer.",
            "algorithms throughput",
            _stacks_first,
        ),
        Finding(
            "Figure 13, bottom",
            "FOA is third",
            "FOA is slower than Two-Stacks and DABA, and faster than the others.",
            "algorithms python_queues",
            _foa_third,
            IN_PYTHON,
        ),
        Finding(
            "Figure 13, bottom",
            "the Reactive Aggregator is behind both",
            "The Reactive Aggregator is slower than Two-Stacks and DABA for all windows.",
            "algorithms throughput",
            _tree_behind,
        ),
        Finding(
            "Figure 13, bottom",
            "IOA is like the Reactive Aggregator",
            "IOA is about as fast as the Reactive Aggregator, although the cost of IOA is constant.",
            "algorithms python_queues",
            _ioa_like_a_tree,
            f"Asked: within a factor of 2. {IN_PYTHON}",
        ),
        Finding(
            "Figure 13, bottom",
            "recalculation falls with the window",
            "The throughput of recalculation is inversely proportional to the window.",
            "algorithms throughput",
            _naive_falls,
        ),
        Finding(
            "Figure 13, bottom",
            "DABA gets faster up to 256 rows",
            "For Sum and GeoMean, DABA gets faster up to windows of 256 rows, because it flips less often.",
            "algorithms throughput",
            _improves,
        ),
        Finding(
            "Figure 13, bottom",
            "Two-Stacks and DABA are flat for Sum",
            "For Sum, the speed of Two-Stacks and DABA does not depend on the window.",
            "algorithms throughput",
            _constant,
        ),
        Finding(
            "Figure 13, bottom",
            "large partials outgrow the caches",
            "Both get slower when partials outgrow the caches: from 2^12 rows on for Bloom, and near "
            "2^20 rows for GeoMean.",
            "algorithms throughput",
            _caches,
        ),
        Finding(
            "Figure 13, bottom",
            "FOA and IOA drop after 65,536 rows",
            "For Sum and GeoMean, FOA and IOA become much slower beyond 2^16 rows.",
            "algorithms throughput",
            _okasaki_falls,
        ),
        Finding(
            "Table 3",
            "pay from small windows on",
            "Two-Stacks is faster than recalculation from windows of 2 to 32 rows on, and DABA from 4 to 112 rows on.",
            "algorithms break_even",
            _early,
        ),
        Finding(
            "Table 3",
            "the Reactive Aggregator pays 10 to 100 times later",
            "The Reactive Aggregator needs windows that are 10 to 100 times as long to be faster than "
            "recalculation, except for Bloom.",
            "algorithms break_even",
            _tree_late,
            "The check is for Max. In the table, GeoMean is an exception, too: 4 and 8 times.",
        ),
        Finding(
            "Table 3",
            "FOA pays early, IOA late, Collect never",
            "FOA is faster than recalculation from 4 to 128 rows on, and IOA from 16 to 1,024 rows on. "
            "For Collect, no algorithm ever is.",
            "algorithms python_queues",
            _python_break_even,
            f"Windows of up to 512 rows. {IN_PYTHON}",
        ),
    ),
)
