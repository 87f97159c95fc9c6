"""The targets of every suite as data, and the bars that compare them with what was measured."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from benchmarks.matrix.records import GROWTH
from benchmarks.matrix.records import TIME as ROW_TIME
from benchmarks.matrix.tables import GROWS, LIMITS, above, cell_name, worst
from benchmarks.records import Bar, Record, Report
from benchmarks.spark_streams.measurement import BATCH, DIFFERENT, WRITTEN
from benchmarks.spark_tables.measurement import BUSY, TIME
from benchmarks.spark_tables.subjects import NATIVE, ROLLING, SASH, TREE

__all__ = [
    "ALGORITHMS",
    "MATRIX",
    "SLICING",
    "SPARK_STREAMS",
    "SPARK_TABLES",
    "Pick",
    "Target",
    "bars_of",
    "by_copy",
    "by_value",
    "resolve",
    "select_records",
]

# Wanted values by field or parameter of a record: a value, a tuple or range of values, or `min` or `max` for the
# smallest or the largest value.
Pick = dict[str, Any]
Measured = tuple[Record, Record | None, float]  # a record, the peer that it is divided by, and the quotient
FIELDS = {each.name for each in fields(Record)}


class Unknown:
    """The value of a parameter that no record gives."""

    def __format__(self, spec: str) -> str:
        return "–"


def by_value(record: Record) -> float | None:
    """Return the measured value."""
    return record.value


def by_copy(record: Record) -> float | None:
    """Return the speed as a part of the speed of a copy."""
    return record.ratio


def first(values: Sequence[float]) -> float:
    """Return the first value."""
    return values[0]


def spread(values: Sequence[float]) -> float | None:
    """Return the largest value over the smallest."""
    return max(values) / min(values) if len(values) > 1 and min(values) else None


def growth(values: Sequence[float]) -> float | None:
    """Return the last value over the first."""
    return values[-1] / values[0] if len(values) > 1 and values[0] else None


@dataclass(frozen=True)
class Target:
    """A limit that a measured value, or its ratio to the value of a peer, must reach.

    Of several peers, the one with the highest value counts. `{parameter}` in the name is replaced by its value.
    """

    experiment: str  # empty: all of them
    name: str
    required: float
    of: Pick
    over: Pick | None = None
    at_most: bool = False
    unit: str = "×"
    each: str = ""  # a bar for each value of this parameter
    along: str = ""  # a series over this parameter; a peer has the same value of it
    value: Callable[[Record], float | None] = by_value
    reduce: Callable[[Sequence[float]], float | None] = first
    remark: Callable[[Report], str] | None = None

    def bars(self, report: Report) -> Iterator[Bar]:
        """Yield a bar, or one for each value of a parameter."""
        records = [record for record in report.records if self.experiment in ("", record.experiment)]
        if not self.each:
            yield self._bar(report, records, {})
            return
        alike = select_records(records, {name: wanted for name, wanted in self.of.items() if name == "aggregate"})
        for value in dict.fromkeys(record.get(self.each) for record in alike):
            if value is not None:
                yield self._bar(report, select_records(records, {self.each: value}), {self.each: value})

    def _bar(self, report: Report, records: list[Record], shape: Pick) -> Bar:
        of = resolve(records, self.of)
        found = list(self._measured(records, of))
        measured = self.reduce([value for _, _, value in found]) if found else None
        shown = {name: Unknown() if value == () else value for name, value in (of | shape).items()}
        remarks = [", ".join(self._values(found)), self.remark(report) if self.remark else ""]
        note = "; ".join(each for each in remarks if each)
        return Bar(self.name.format(**shown), self.required, measured, self.unit, self.at_most, note)

    def _measured(self, records: list[Record], of: Pick) -> Iterator[Measured]:
        for record in select_records(records, of):
            value, peer = self.value(record), None
            if self.over is not None:
                wanted = resolve(records, self.over) | ({self.along: record.get(self.along)} if self.along else {})
                peer = max(select_records(records, wanted), key=lambda each: each.value or 0.0, default=None)
                value = value / peer.value if peer is not None and peer.value and value is not None else None
            if value is not None:
                yield record, peer, value

    def _values(self, found: Sequence[Measured]) -> Iterator[str]:
        """Return the values behind the bar as text."""
        if self.along:
            unit = f" {found[0][0].unit}" if found and self.over is None and self.value is by_value else ""
            yield from (f"{value:.3g}{unit} at {record.get(self.along):,}" for record, _, value in found)
        elif self.reduce is not first:
            yield f"{len(found)} comparisons"
        elif found:
            known = [each for each in found[0][:2] if each is not None and each.value is not None]
            yield from (f"{each.subject} {each.mark}{each.value:.3g} {each.unit}" for each in known)


def bars_of(targets: Iterable[Target], report: Report) -> tuple[Bar, ...]:
    """Return the bars of all targets whose experiment is in the report."""
    ran = {record.experiment for record in report.records}
    bars: list[Bar] = []
    for target in targets:
        if target.experiment in ran:
            bars += target.bars(report)
        elif not target.experiment:
            bars += [bar for bar in target.bars(report) if bar.measured is not None]
    return tuple(bars)


def select_records(records: Iterable[Record], pick: Pick) -> list[Record]:
    """Return the records that have the wanted values."""
    return [record for record in records if all(_fits(record, name, wanted) for name, wanted in pick.items())]


def _fits(record: Record, name: str, wanted: Any) -> bool:
    given = getattr(record, name) if name in FIELDS else record.get(name)
    return given in wanted if isinstance(wanted, tuple | range) else given == wanted


def resolve(records: list[Record], pick: Pick, least: int = 2) -> Pick:
    """Replace `min` and `max` by the smallest and the largest value; if there are too few values, no record fits."""
    plain = {name: wanted for name, wanted in pick.items() if wanted not in (min, max)}
    others = select_records(records, {name: wanted for name, wanted in plain.items() if name not in FIELDS})
    for name in pick.keys() - plain.keys():
        values = {int(record.get(name) or 0) for record in others}
        plain[name] = pick[name](values) if len(values) >= least else ()
    return plain


def _of(subject: str | tuple[str, ...], **shape: Any) -> Pick:
    return {"subject": subject, **shape}


_least = Target
_most = partial(Target, at_most=True)

# --- algorithms --------------------------------------------------------------------------------------

_PEERS = {"max": ("polars", "bottleneck"), "sum": ("polars",), "mean": ("polars",), "median": ("polars",)}
_rows = partial(_of, metric="rows")
_MAX, _DABA = _of(SASH, aggregate="max"), _of("daba_lite", aggregate="max")
_SPEED = "million rows/s"
_FIBA = _of("fiba", aggregate="sum")
_BY_HAND = ("insert", "query", "evict")
ENOUGH_CORES = 1.2  # busy; with fewer, the second thread had no core


def _against(aggregate: str, peers: tuple[str, ...]) -> Target:
    name = f"{aggregate}, window {{window}}, over {' and '.join(peers)}"
    ours, theirs = (_of(each, aggregate=aggregate) for each in (SASH, peers))
    return Target("peers", name, 1.5, ours, theirs, each="window")


def _steady(metric: str) -> Target:
    name = f"daba_lite: {metric} over median, all windows"
    of, over = (_of("daba_lite", metric=each) for each in (metric, "median"))
    return _most("latency", name, 50, of, over, along="window", reduce=max)


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
    _least(
        "peers",
        "stddev, window {window}, over bottleneck",
        0.9,
        _of(SASH, aggregate="stddev"),
        _of("bottleneck", aggregate="stddev"),
        each="window",
    ),
    *(_most("small_calls", f"swag.open: {each}", 2, _of(SASH, metric=each), unit="µs") for each in _BY_HAND),
    _most("small_calls", "slide of 100 values, second call", 50, _of(SASH, metric="slide of 100 values"), unit="µs"),
    _least("in_order", "fiba in order, window {window}", 11.6, _FIBA, unit=_SPEED, each="window", remark=_part_of_copy),
    _least("peers", "max, window {window}, of the copy", 0.35, _MAX, each="window", value=by_copy),
    _least(
        "throughput",
        "daba_lite max, one thread, of the copy, at every window",
        0.1,
        _DABA,
        along="window",
        value=by_copy,
        reduce=min,
    ),
    _most(
        "throughput",
        "daba_lite max is flat from window 16 on: fastest over slowest",
        2,
        {**_DABA, "window": range(16, 1 << 62)},
        along="window",
        reduce=spread,
    ),
    *map(_steady, ("steady max", "99.99 %", "max")),
    _least(
        "latency",
        "two_stacks_lite spikes: steady max over median, window {window}",
        50,
        _of("two_stacks_lite", metric="steady max", window=max),
        _of("two_stacks_lite", metric="median", window=max),
    ),
    _least("parallel", "pba over sba, moment_sketch", 1.3, _rows("pba"), _rows("sba"), remark=_cores_busy),
    _least(
        "parallel_stream",
        "pba over sba as streams, moment_sketch",
        1.3,
        _rows("pba"),
        _rows("sba"),
        remark=partial(_cores_busy, experiment="parallel_stream"),
    ),
    _least("row_by_row", "sba over two_stacks, window {window}", 1, _of("sba"), _of("two_stacks"), each="window"),
    _least(
        "ranges",
        "slick_deque over flat_fit, all ranges, worst",
        2,
        _of("slick_deque"),
        _of("flat_fit"),
        along="ranges",
        reduce=min,
    ),
    _most("warm_start", "first answer of a fresh process", 2, {}, unit="s"),
)

# --- slicing -----------------------------------------------------------------------------------------

_sash = partial(_of, SASH)
_BUCKETS = _of("aggregate_buckets", windows=100)
_counted, _timed = (_sash(windows=1000, measure=each) for each in ("count", "time"))
_IN_DUCKDB = {"subject": "duckdb", "hours": 168}
_WIDE: dict[str, Any] = {"along": "width", "reduce": min}
_FRAMES = (
    ("centered", "at the row", 0.8),
    ("offset", "at the row", 0.8),
    ("range centered", "range at the row", 0.8),
    ("exclude", "at the row", 0.3),
    ("groups", "range at the row", 0.3),
)
SLICING = (
    _least("concurrent", "20 windows in order, of the copy", 1 / 15, _sash(windows=20), value=by_copy),
    _least("concurrent", "1,000 windows in order, of the copy", 1 / 40, _sash(windows=1000), value=by_copy),
    _least("concurrent", "1,000 windows over one window", 1 / 3, _sash(windows=1000), _sash(windows=1)),
    _least("concurrent", "100 windows over aggregate_buckets", 10, _sash(windows=100), _BUCKETS),
    _least("constrained", "20 windows, a session, 20 % late, of the copy", 1 / 40, _sash(windows=20), value=by_copy),
    _least("one_row", "pushes of one row, in order", 200_000, _sash(keys=0, order="in order"), unit="pushes/s"),
    _least(
        "one_row", "pushes of one row, with lateness", 50_000, _sash(keys=0, order="with lateness"), unit="pushes/s"
    ),
    _most("five_rows", "aggregate of five rows, second call", 1.0, _sash(), unit="ms"),
    _least("measures", "1,000 count windows over 1,000 time windows", 1 / 3, _counted, _timed),
    _least("keys", "many keys, ten rows each, known keys", 5, _rows(SASH, rows_per_slice=10), unit="million rows/s"),
    *(
        _least(
            "frames", f"frames {frame}, over those at the row", least, _sash(frame=frame), _sash(frame=peer), **_WIDE
        )
        for frame, peer, least in _FRAMES
    ),
    *(
        _least(
            "own_windows",
            f"forward-free windows of users over punctuated ones, {how}, {keys} keys",
            0.3,
            _of("own_forward", how=how, keys=keys),
            _of("punctuated", how=how, keys=keys),
        )
        for how in ("table", "stream")
        for keys in (1, 100)
    ),
    *(
        _least(
            "own_windows",
            f"marked windows of users over punctuated ones, {how}, {keys} keys",
            0.3,
            _of("own_marked", how=how, keys=keys),
            _of("punctuated", how=how, keys=keys),
        )
        for how in ("table", "stream")
        for keys in (1, 100, 10_000)
    ),
    _least("joins", "join, 7 days", 3, _sash(hours=168, skew="none"), unit="million rows/s"),
    _least("joins", "join, 7 days, over DuckDB", 10, _sash(hours=168, skew="none"), _IN_DUCKDB),
    _most("joins", "join, slowest window over fastest", 1.3, _sash(skew="none"), along="hours", reduce=spread),
    *(
        _most(experiment, name, 1, pick, along="rows", reduce=growth)
        for experiment, name, pick in (
            ("memory_by_rows", "memory of a time window, most rows over fewest", _sash(measure="time")),
            ("flat", "memory after ten times the rows, keys come and go", _sash(metric="largest state")),
            ("flat", "keys after ten times the rows, keys come and go", _sash(metric="keys")),
        )
    ),
)

# --- matrix ------------------------------------------------------------------------------------------

_GROUPS = {
    "plain": (("plain",), "aggregates"),
    "collecting": (("sketch", "collecting"), "sketches and collecting aggregates"),
}


def _worst_cell(engine: str, metric: str, groups: tuple[str, ...]) -> Callable[[Report], str]:
    def remark(report: Report) -> str:
        found = [each for each in worst(report.select(engine), metric) if each.get("group") in groups]
        count = sum(map(above, found))
        return f"{count} of {len(found)} are above it; the worst: {cell_name(found[0])}" if found else ""

    return remark


def _cells(engine: str) -> Iterator[Target]:
    """Limit the time of every cell of an engine, and its growth with the window."""
    for group, (groups, name) in _GROUPS.items():
        pick = _sash(metric=ROW_TIME, group=groups)
        remark = _worst_cell(engine, ROW_TIME, groups)
        name = f"{engine}: {name}, the slowest cell"
        yield _most(engine, name, LIMITS[group], pick, unit="ns per row", reduce=max, remark=remark)
    groups = ("plain", "sketch")
    pick, remark = _sash(metric=GROWTH, group=groups), _worst_cell(engine, GROWTH, groups)
    yield _most(engine, f"{engine}: growth with the window, the worst cell", GROWS, pick, reduce=max, remark=remark)


def _frame(aggregate: str, kind: str, peer: str, required: float) -> Target:
    """Compare a frame of rows by key with a peer."""
    shape = {"metric": ROW_TIME, "aggregate": aggregate, "type": kind}
    name = f"frame of rows by key, {aggregate} of {kind}: times as fast as {peer}"
    return _least("frames", name, required, _of(peer, **shape), _sash(**shape))


MATRIX = (
    *(
        _frame(aggregate, "float64", *bar)
        for aggregate in ("median", "quantile")
        for bar in (("polars", 0.5), ("pandas", 3.0))
    ),
    _frame("count_distinct", "string", "duckdb", 20.0),
    *_cells("table"),
    *_cells("stream"),
)

# --- Spark -------------------------------------------------------------------------------------------

_ours, _native, _tree = (partial(_of, subject, metric=TIME) for subject in (SASH, NATIVE, TREE))
PER_KEY = 0.0003  # seconds that a group of Spark's state operator for Python takes in a micro-batch


def _faster(experiment: str, name: str, required: float, than: Any = _native, each: str = "", **shape: Any) -> Target:
    how = "times as fast as native" + (" with its segment tree" if than is _tree else "")
    return Target(experiment, f"{name}: {how}", required, than(**shape), _ours(**shape), each=each)


def _per_key(record: Record) -> float | None:
    return None if record.value is None else record.value / (PER_KEY * int(record.get("keys") or 1))


SPARK_TABLES = (
    _most("slide", "size/slide 1: time over native's", 1.3, _ours(slides=1), _native(slides=1)),
    _faster("slide", "size/slide 10", 2.0, slides=10),
    _faster("slide", "size/slide 100", 30.0, slides=100),
    _most("slide", "size/slide 10,000: time over that at 100", 1.5, _ours(slides=10_000), _ours(slides=100)),
    _faster("frames", "rows=1000, keys={keys}", 5.0, each="keys", window=1000),
    _faster("frames", "rows=1000, keys={keys}", 1.5, _tree, each="keys", window=1000),
    _faster("frames", "rows=10000, keys={keys}", 15.0, each="keys", window=10_000),
    _faster("frames", "rows=10000, keys={keys}", 1.5, _tree, each="keys", window=10_000),
    _most(
        "frames",
        "frames, keys={keys}: slowest over fastest, all windows",
        1.5,
        _ours(),
        each="keys",
        along="window",
        reduce=spread,
    ),
    _faster("keys", "1,000,000 keys of 10 rows, size/slide 10", 1.5, keys=1_000_000),
    _most(
        "joins",
        "join, {hours} hours: time over that of rolling",
        2.5,
        _ours(skew="none"),
        _of(ROLLING, metric=TIME, skew="none"),
        each="hours",
    ),
    _most("joins", "join, 90 days: time over that of 1 day", 1.3, _ours(hours=2160, skew="none"), _ours(hours=24)),
    _least("joins", "join, one key with half of the rows", 1.6, _of(SASH, metric=BUSY, skew="half"), unit="cores busy"),
    *(
        _least(
            "positions",
            f"frames {frame}, times as fast as those at the row, worst",
            least,
            _ours(frame=peer),
            _ours(frame=frame),
            **_WIDE,
        )
        for frame, peer, least in _FRAMES
    ),
    _least("hot_key", "{case}: two cores, times as fast as one", 1.6, _ours(cores=1), _ours(cores=2), each="case"),
)

SPARK_STREAMS = (
    _faster("slide", "size/slide 60", 3.0, slides=60),
    _faster("slide", "size/slide 600, fewer rows", 15.0, slides=600, rows=min),
    _most("slide", "size/slide 600: time over that at 60", 1.5, _ours(slides=600, rows=max), _ours(slides=60)),
    _most(
        "slide",
        "size/slide 60 and 600: state written per micro-batch, larger over smaller",
        1.2,
        _of(SASH, metric=WRITTEN, slides=(60, 600), rows=max),
        along="slides",
        reduce=spread,
    ),
    _faster("keys", "{keys:,} keys, size/slide {slides}", 1.0, each="slides", keys=min),
    _faster("keys", "{keys:,} keys, size/slide {slides}", 1.0, each="slides", keys=max),
    _faster("sessions", "sessions", 1.0),
    _most(
        "growth",
        "{keys:,} keys, micro-batch of {batch_rows:,} rows: of 0.3 ms per key",
        0.1,
        _of(SASH, metric=BATCH, batch_rows=min),
        each="keys",
        value=_per_key,
    ),
    _most("", "results that differ from native's", 0.0, {"metric": DIFFERENT}, unit="rows", reduce=sum),
)
