"""The targets of the suite algorithms."""

from functools import partial

from benchmarks.bars.target import Target, at_least, at_most, by_copy, pick_of, spread
from benchmarks.records import Report
from benchmarks.spark_tables.measurement import BUSY
from benchmarks.spark_tables.subjects import SASH

__all__ = ["ALGORITHMS"]

_PEERS = {"max": ("polars", "bottleneck"), "sum": ("polars",), "mean": ("polars",), "median": ("polars",)}
_rows = partial(pick_of, metric="rows")
_MAX, _DABA = pick_of(SASH, aggregate="max"), pick_of("daba_lite", aggregate="max")
_SPEED = "million rows/s"
_FIBA = pick_of("fiba", aggregate="sum")
_BY_HAND = ("insert", "query", "evict")
ENOUGH_CORES = 1.2  # busy; with fewer, the second thread had no core


def _against(aggregate: str, peers: tuple[str, ...]) -> Target:
    name = f"{aggregate}, window {{window}}, over {' and '.join(peers)}"
    ours, theirs = (pick_of(each, aggregate=aggregate) for each in (SASH, peers))
    return Target("peers", name, 1.5, ours, theirs, each="window")


def _steady(metric: str) -> Target:
    name = f"daba_lite: {metric} over median, all windows"
    of, over = (pick_of("daba_lite", metric=each) for each in (metric, "median"))
    return at_most("latency", name, 50, of, over, along="window", reduce=max)


def _cores_busy(report: Report, experiment: str = "parallel") -> str:
    for record in report.select(experiment, subject="pba", metric=BUSY):
        if record.value is not None:
            known = f"{record.value:.2f} cores busy"
            no_core = ": the second thread found no core, so this says nothing about it"
            return known + (no_core if record.value < ENOUGH_CORES else "")
    return ""


def _part_of_copy(report: Report) -> str:
    return next(
        (f"{each.ratio:.3f} of the copy" for each in report.select("in_order", subject="fiba") if each.ratio), ""
    )


ALGORITHMS = (
    *(_against(aggregate, peers) for aggregate, peers in _PEERS.items()),
    at_least(
        "peers",
        "stddev, window {window}, over bottleneck",
        0.9,
        pick_of(SASH, aggregate="stddev"),
        pick_of("bottleneck", aggregate="stddev"),
        each="window",
    ),
    *(at_most("small_calls", f"swag.open: {each}", 2, pick_of(SASH, metric=each), unit="µs") for each in _BY_HAND),
    at_most(
        "small_calls", "slide of 100 values, second call", 50, pick_of(SASH, metric="slide of 100 values"), unit="µs"
    ),
    at_least(
        "in_order", "fiba in order, window {window}", 11.6, _FIBA, unit=_SPEED, each="window", remark=_part_of_copy
    ),
    at_least("peers", "max, window {window}, of the copy", 0.35, _MAX, each="window", value=by_copy),
    at_least(
        "throughput",
        "daba_lite max, one thread, of the copy, at every window",
        0.1,
        _DABA,
        along="window",
        value=by_copy,
        reduce=min,
    ),
    at_most(
        "throughput",
        "daba_lite max is flat from window 16 on: fastest over slowest",
        2,
        {**_DABA, "window": range(16, 1 << 62)},
        along="window",
        reduce=spread,
    ),
    *map(_steady, ("steady max", "99.99 %", "max")),
    at_least(
        "latency",
        "two_stacks_lite spikes: steady max over median, window {window}",
        50,
        pick_of("two_stacks_lite", metric="steady max", window=max),
        pick_of("two_stacks_lite", metric="median", window=max),
    ),
    at_least("parallel", "pba over sba, moment_sketch", 1.3, _rows("pba"), _rows("sba"), remark=_cores_busy),
    at_least(
        "parallel_stream",
        "pba over sba as streams, moment_sketch",
        1.3,
        _rows("pba"),
        _rows("sba"),
        remark=partial(_cores_busy, experiment="parallel_stream"),
    ),
    at_least(
        "row_by_row", "sba over two_stacks, window {window}", 1, pick_of("sba"), pick_of("two_stacks"), each="window"
    ),
    at_least(
        "ranges",
        "slick_deque over flat_fit, all ranges, worst",
        2,
        pick_of("slick_deque"),
        pick_of("flat_fit"),
        along="ranges",
        reduce=min,
    ),
    at_most("warm_start", "first answer of a fresh process", 2, {}, unit="s"),
)
