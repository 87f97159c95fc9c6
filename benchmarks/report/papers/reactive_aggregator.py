"""Findings of Tangwongsan et al., 2015."""

import math
from collections.abc import Iterator

from benchmarks.records import Bar, Report
from benchmarks.report.findings import Finding, Paper
from benchmarks.report.series import Line, ahead, geometric_mean, growth, last, line, over, per_place, quotient, speed

__all__ = ["PAPER"]

TREE, NAIVE, INTERVALS = "flat_fat", "recalculate", "b_int"
MODERATE, LARGE = 1024, 4096  # rows
TEN_TIMES = 16_384  # rows: the first window of the benchmark from 5,810 on


def _break_even(report: Report) -> Iterator[Bar]:
    found = [each.value for each in report.select("break_even", subject=TREE) if each.value is not None]
    yield Bar("window from which on flat_fat is faster, max", 370, max(found, default=None), "rows", at_most=True)


def _gains(report: Report, aggregate: str) -> Line:
    return over(speed(report, TREE, aggregate), speed(report, NAIVE, aggregate))


def _gain(report: Report, aggregate: str, window: int) -> float | None:
    return _gains(report, aggregate).get(window)


def _ten_times(report: Report) -> Iterator[Bar]:
    for aggregate in ("max", "sum", "stddev"):
        gains = _gains(report, aggregate)
        never = math.inf if max(gains, default=0) >= TEN_TIMES else None  # before that, it is not known
        since = next((window for window, gain in gains.items() if gain >= 10), never)
        yield Bar(f"flat_fat is ten times as fast from, {aggregate}", TEN_TIMES, since, "rows", at_most=True)


def _costly_sooner(report: Report) -> Iterator[Bar]:
    gains = [_gain(report, aggregate, LARGE) for aggregate in ("stddev", "max")]
    yield Bar(f"gain of stddev over gain of max, {LARGE} rows", 1, quotient(*gains))


def _small_and_large(report: Report) -> Iterator[Bar]:
    yield Bar("flat_fat over recalculate, max, 1 row", 0.5, _gain(report, "max", 1))
    yield Bar(f"flat_fat over recalculate, max, {MODERATE} rows", 2.5, _gain(report, "max", MODERATE))


def _logarithmic(report: Report) -> Iterator[Bar]:
    for aggregate in ("max", "stddev"):
        rates = speed(report, TREE, aggregate, since=16)
        slower = quotient(1.0, growth(rates))
        levels = growth({window: math.log2(window) for window in rates})
        yield Bar(f"time per row, longest window over 16 rows, {aggregate}", 1.5, slower)
        yield Bar(f"the same, over the growth of log n, {aggregate}", 2, quotient(slower, levels), at_most=True)


def _coarser(report: Report) -> Iterator[Bar]:
    yield Bar("speed of flat_fat, longest slide over 1 row", 1, growth(line(report, "slides", TREE, "slide")))


def _flat_array(report: Report) -> Iterator[Bar]:
    for aggregate in ("max", "sum", "stddev"):
        rates = [speed(report, each, aggregate) for each in (TREE, INTERVALS)]
        yield Bar(f"flat_fat over b_int, {aggregate}", 1, ahead(rates[0], rates[1:]))


def _space(report: Report) -> Iterator[Bar]:
    tree, naive = (line(report, "memory", each, "window", since=MODERATE, metric="state") for each in (TREE, NAIVE))
    yield Bar("bytes per row, longest window over 1024 rows", 1.1, growth(per_place(tree)), at_most=True)
    yield Bar("bytes of flat_fat over recalculate", 4, geometric_mean(over(tree, naive)), at_most=True)


def _never(report: Report) -> Iterator[Bar]:
    for aggregate in ("count", "collect"):
        gains = [
            each.value for each in report.select("python_queues", subject=TREE, metric="gain", aggregate=aggregate)
        ]
        yield Bar(f"flat_fat over recalculate, longest window, {aggregate}", 1, next(iter(gains), None), at_most=True)


def _tumbling(report: Report) -> Iterator[Bar]:
    rates = [line(report, "bulk_updates", each, "slide", metric="rows") for each in (TREE, NAIVE)]
    yield Bar("flat_fat over recalculate, slides as long as the window", 0.9, last(over(*rates)))


def _resizing(report: Report) -> Iterator[Bar]:
    resizing, fixed = (
        last(line(report, "bulk_updates", TREE, "window", metric=metric)) for metric in ("resizing", "fixed")
    )
    yield Bar("speed of a window that resizes over one that does not", 0.9, quotient(resizing, fixed))


PAPER = Paper(
    key="reactive-aggregator",
    title="General Incremental Sliding-Window Aggregation",
    authors="Tangwongsan, Hirzel, Schneider, Wu",
    year=2015,
    venue="PVLDB 8(7)",
    doi="10.14778/2752939.2752940",
    names="The Reactive Aggregator is flat_fat here, re-evaluation is recalculate, Arasu and Widom's is b_int.",
    findings=(
        Finding(
            "Table 3",
            "pays by 370 rows",
            "The Reactive Aggregator is faster than re-evaluation from windows of 10 to 370 rows on.",
            "algorithms break_even",
            _break_even,
        ),
        Finding(
            "Table 3",
            "ten times as fast by 5,810 rows",
            "The Reactive Aggregator is ten times as fast as re-evaluation from windows of 700 to 5,810 rows on.",
            "algorithms throughput",
            _ten_times,
            "The check uses windows of 16,384 rows, the next size in the benchmark.",
        ),
        Finding(
            "Table 3, 6.2",
            "pays sooner for costly functions",
            "For costly functions, the Reactive Aggregator is faster already with shorter windows.",
            "algorithms throughput",
            _costly_sooner,
        ),
        Finding(
            "Table 3",
            "never pays for Count and Collect",
            "The Reactive Aggregator is never faster for Count and Collect: Count is known without it, "
            "and Collect copies all rows.",
            "algorithms python_queues",
            _never,
            "Of plain Python, at the longest window. Re-evaluation folds a count here, and does not read it off.",
        ),
        Finding(
            "Figure 6",
            "a little slower on small windows, almost 3 × at 1,024",
            "Max is about 10 % slower than re-evaluation on small windows and almost 3 times as fast at 1,024 rows.",
            "algorithms throughput",
            _small_and_large,
            "The check requires half the speed at one row, and 2.5 times the speed at 1,024 rows.",
        ),
        Finding(
            "Figure 7",
            "time per row grows with log n",
            "The time per row grows with the logarithm of the window. It does not jump when the window "
            "outgrows a cache.",
            "algorithms throughput",
            _logarithmic,
        ),
        Finding(
            "Figure 8",
            "no slower than re-evaluation when tumbling",
            "With tumbling windows, where no work can be reused, it takes as long as re-evaluation.",
            "algorithms bulk_updates",
            _tumbling,
            "Asked: at most a tenth slower. Calls from Python, with a window of 1,024 rows.",
        ),
        Finding(
            "Figure 9",
            "resizing is paid off",
            "A window whose size goes up and down costs no more per row than a window of a fixed size.",
            "algorithms bulk_updates",
            _resizing,
            "Asked: at most a tenth slower. Calls from Python; 64 rows enter or leave at a time.",
        ),
        Finding(
            "Figure 10",
            "longer slides cost less per row",
            "With m rows per slide, a row costs 1 + log(n / m). So longer slides cost less per row.",
            "algorithms slides",
            _coarser,
        ),
        Finding(
            "Figure 11, Table 4",
            "faster than Arasu and Widom's",
            "It is faster than Arasu and Widom's method by 2 to 6 % on windows of 8 rows, and by 35 to "
            "39 % on the largest.",
            "algorithms throughput",
            _flat_array,
        ),
        Finding(
            "Figure 12",
            "memory is linear in the window",
            "The memory grows in proportion to the window, with a small factor.",
            "algorithms memory",
            _space,
        ),
    ),
)
