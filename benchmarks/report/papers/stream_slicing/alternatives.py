"""Section 6.2: slicing compared to alternatives, Figures 8 to 11."""

from collections.abc import Iterator

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

OTHERS = (BUFFER, TREE, BUCKETS, ROW_BUCKETS)  # that do not slice


def _orders(report: Report) -> Iterator[Bar]:
    ratios = {
        each: over(by_windows(report, "concurrent", OURS), by_windows(report, "concurrent", each))
        for each in (BUCKETS, BUFFER, TREE)
    }
    yield Bar("sash over aggregate_buckets, most windows", 100, last(ratios[BUCKETS]))
    yield Bar("sash over tuple_buffer, most windows", 10, last(ratios[BUFFER]))
    yield Bar("sash over aggregate_tree, any number of windows", 10, geometric_mean(ratios[TREE]))


def _scales(report: Report) -> Iterator[Bar]:
    yield Bar("sash, most windows over one", 1 / 3, growth(by_windows(report, "concurrent", OURS)))


def _redundant(report: Report) -> Iterator[Bar]:
    for subject in (BUCKETS, BUFFER):
        fall = quotient(1.0, growth(by_windows(report, "concurrent", subject)))
        yield Bar(f"{subject}, one window over most", 100, fall)


def _constrained(report: Report) -> Iterator[Bar]:
    others = [by_windows(report, "constrained", each, since=100) for each in OTHERS]
    yield Bar(
        "sash over the best that does not slice, 100 windows or more",
        10,
        ahead(by_windows(report, "constrained", OURS, 100), others),
    )


def _nearly_constant(report: Report) -> Iterator[Bar]:
    yield Bar("sash, most windows over one", 0.5, growth(by_windows(report, "constrained", OURS)))


def _tree_suffers(report: Report) -> Iterator[Bar]:
    slowed = {
        each: geometric_mean(over(by_windows(report, "concurrent", each), by_windows(report, "constrained", each)))
        for each in (TREE, BUCKETS)
    }
    yield Bar("aggregate_tree, in order over constrained", 2, slowed[TREE])
    yield Bar("the same, over that of aggregate_buckets", 1, quotient(slowed[TREE], slowed[BUCKETS]))


def _pairs_and_cutty(report: Report) -> Iterator[Bar]:
    ratio = geometric_mean(over(*(by_windows(report, "concurrent", each) for each in ("sash_pairs", OURS))))
    yield Bar("sash with slices of Pairs over sash with those of Cutty", 0.67, ratio)
    yield Bar("the same, at most", 1.5, ratio, at_most=True)


def _lazy_and_eager(report: Report) -> Iterator[Bar]:
    rates = [by_windows(report, "constrained", each) for each in ("sash_lazy", "sash_eager")]
    yield Bar("sash with a lazy store over sash with an eager one", 1, geometric_mean(over(*rates)))


def _bytes(report: Report, subject: str, across: str, measure: str) -> Line:
    return line(report, f"memory_by_{across}", subject, across, measure=measure)


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
        yield Bar(f"{subject}, bytes per row, most over least", 1.5, apart_from_linear(values), at_most=True)


def _counted_by_rows(report: Report) -> Iterator[Bar]:
    for subject in (OURS, BUFFER, TREE, ROW_BUCKETS):
        values = _bytes(report, subject, "rows", "count")
        yield Bar(f"{subject}, bytes per row, most over least", 2, apart_from_linear(values), at_most=True)


def _counted_by_slices(report: Report) -> Iterator[Bar]:
    buckets, ours = (_bytes(report, each, "slices", "count") for each in (ROW_BUCKETS, OURS))
    yield Bar("tuple_buckets over sash, most slices", 1, last(over(buckets, ours)))
    yield Bar("tuple_buckets, most slices over fewest", 1, growth(buckets))


def _output(report: Report, subject: str, aggregate: str = "sum") -> Line:
    return line(report, "output_latency", subject, "entries", aggregate=aggregate)


def _latencies(report: Report) -> Iterator[Bar]:
    lazy, eager, buckets = (_output(report, each) for each in ("sash lazy", "sash eager", BUCKETS))
    yield Bar("sash lazy, most entries", 1000, last(lazy), "µs", at_most=True)
    yield Bar("sash eager, most entries", 5, last(eager), "µs", at_most=True)
    yield Bar("sash lazy over sash eager, most entries", 10, last(over(lazy, eager)))
    yield Bar("sash eager over aggregate_buckets, most entries", 1, last(over(eager, buckets)))


def _holistic_latency(report: Report) -> Iterator[Bar]:
    ratios = {
        each: last(over(_output(report, each, "median"), _output(report, each))) for each in ("sash lazy", BUCKETS)
    }
    yield Bar("sash lazy, median over sum, most entries", 2, ratios["sash lazy"])
    yield Bar("aggregate_buckets, median over sum, most entries", 2, ratios[BUCKETS], at_most=True)


PUSHES = "Compiled, on one core, in pushes of 100,000 rows; in the paper, on Flink, a row at a time."
BYTES = "The bytes of arrays in use. In the paper, 50,000 rows or 500 slices are held in Java objects."

FINDINGS = (
    Finding(
        "Figure 8",
        "slicing is orders of magnitude ahead",
        "With many windows, slicing is orders of magnitude faster than buckets, buffers and trees of rows.",
        "slicing concurrent",
        _orders,
        f"Required: 100 times buckets, and 10 times the others. {PUSHES}",
    ),
    Finding(
        "Figure 8",
        "slicing scales to 1,000 windows",
        "The throughput of slicing is the same for up to 1,000 concurrent windows.",
        "slicing concurrent",
        _scales,
        f"Required: a third of the speed, because results are made, too: 1,000 windows have many more. {PUSHES}",
    ),
    Finding(
        "Figure 8",
        "buckets and buffers fall with windows",
        "Buckets and buffers compute each window separately, so more windows slow them down.",
        "slicing concurrent",
        _redundant,
        PUSHES,
    ),
    Finding(
        "Figure 8",
        "Pairs and Cutty are as fast",
        "The specialised slicing techniques Pairs and Cutty are as fast as general slicing.",
        "slicing concurrent",
        _pairs_and_cutty,
        "In sash: two ways to cut. In order, slices are those of Cutty, otherwise those of Pairs. Asked: within 1.5 ×.",
    ),
    Finding(
        "Figure 9",
        "late rows, a session: ten times ahead",
        "With late rows and a session, slicing is ten times as fast as techniques without slices.",
        "slicing constrained",
        _constrained,
        f"With 100 windows or more. {PUSHES}",
    ),
    Finding(
        "Figure 9",
        "nearly constant up to 1,000 windows",
        "The throughput of slicing is almost the same for any number of windows up to 1,000.",
        "slicing constrained",
        _nearly_constant,
        f"Required: half of the speed, because 1,000 windows have more results. {PUSHES}",
    ),
    Finding(
        "Figure 9",
        "lazy slicing is ahead of eager",
        "Lazy slicing is slightly faster than eager slicing, which keeps a tree up to date.",
        "slicing constrained",
        _lazy_and_eager,
        PUSHES,
    ),
    Finding(
        "Figure 9",
        "trees of rows suffer most from late rows",
        "Late rows slow down trees of rows most, because these trees must be rebalanced.",
        "slicing constrained",
        _tree_suffers,
        f"Required: half of the speed at most, and more than buckets lose. {PUSHES}",
    ),
    Finding(
        "Figure 10a",
        "by time: memory grows with slices",
        "With time windows, the memory of slicing and buckets grows with the number of slices. "
        "That of buffers and trees does not.",
        "slicing memory_by_slices",
        _by_slices,
        BYTES,
    ),
    Finding(
        "Figure 10b",
        "by time: memory is free of rows",
        "With time windows, the memory of slicing and buckets does not depend on the number of "
        "rows. That of buffers and trees does.",
        "slicing memory_by_rows",
        _by_rows,
        BYTES,
    ),
    Finding(
        "Figure 10c",
        "by count: buckets keep rows many times",
        "With count windows, buckets keep a row once per window, so their memory grows with the number of slices.",
        "slicing memory_by_slices",
        _counted_by_slices,
        BYTES,
    ),
    Finding(
        "Figure 10d",
        "by count: memory is linear in rows",
        "With count windows, all techniques keep rows, so their memory grows in proportion to the rows.",
        "slicing memory_by_rows",
        _counted_by_rows,
        f"Linear: within a factor of 2. {BYTES}",
    ),
    Finding(
        "Figure 11a",
        "latency: buckets, then eager, then lazy",
        "For a sum, buckets answer within nanoseconds, eager slicing within microseconds, and lazy "
        "slicing within 1 ms.",
        "slicing output_latency",
        _latencies,
        "With 100,000 entries. A call of Python takes longer than 30 ns, so for buckets only the order is checked.",
    ),
    Finding(
        "Figure 11c",
        "a median costs slices latency, not buckets",
        "For a median, slicing takes longer to answer than for a sum. Buckets do not.",
        "slicing output_latency",
        _holistic_latency,
        "Required: twice as long for slicing, and less than that for buckets.",
    ),
)
