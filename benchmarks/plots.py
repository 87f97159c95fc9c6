"""The plots of every suite as data, and the figures that they draw from a report."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from benchmarks import drawing
from benchmarks.bars.target import Pick, by_copy, by_value, resolve, select_records
from benchmarks.matrix.tables import LIMITS, crossed, worst
from benchmarks.records import Record, Report
from benchmarks.spark_streams.measurement import BATCH, WRITTEN
from benchmarks.spark_tables.measurement import MEMORY, TIME

__all__ = ["ALGORITHMS", "MATRIX", "SECONDS", "SLICING", "SPARK_STREAMS", "SPARK_TABLES", "Plot", "figures_of"]

SECONDS, SPEED = "seconds", "million rows/s"
Figures = Iterator[tuple[str, Any]]


class Plot(Protocol):
    """Figures of one experiment."""

    def figures(self, report: Report) -> Figures:
        """Yield each figure with its name."""


def figures_of(plots: Iterable[Plot], report: Report) -> Figures:
    """Yield the figures of all plots whose records are in the report."""
    for plot in plots:
        yield from plot.figures(report)


def _subject(record: Record) -> str:
    return record.subject


def _aggregate(record: Record) -> str:
    return record.aggregate


def _by(name: str, unit: str = "") -> Callable[[Record], str]:
    """Name lines by their subject and a parameter."""
    return lambda record: f"{record.subject}, {record.get(name)}{unit}"


def _distinct(records: Iterable[Record], name: str) -> list[Any]:
    return list(dict.fromkeys(getattr(record, name, record.get(name)) for record in records))


@dataclass(frozen=True)
class Lines:
    """Lines of values over a parameter. `{each}` in name and title is replaced by the value of `each`."""

    name: str
    title: str
    across: tuple[str, str]  # the parameter, and what the axis says
    unit: str = SECONDS
    experiment: str = ""  # if the name does not say it
    of: Pick = field(default_factory=dict)
    each: str = ""  # a figure for each value of this field or parameter
    label: Callable[[Record], str] = _subject  # names the line of a record
    base: int | None = 10  # of the horizontal axis; None: it is linear
    has_copy: bool = False  # draw the speed of a copy, too
    per_place: bool = False  # divide values by their place
    remark: Callable[[list[Record]], str] = lambda records: ""

    def figures(self, report: Report) -> Figures:
        """Give a figure, or one for each value of a field or parameter."""
        records = report.select(self.experiment or self.name.removesuffix("_{each}"))
        records = [record for record in select_records(records, resolve(records, self.of, least=1)) if record.value]
        for value in _distinct(records, self.each) if self.each else [None]:
            own = select_records(records, {self.each: value}) if self.each else records
            points = self._points(own)
            if points:
                title, copy = self.title.format(each=value) + self.remark(own), _copy(own) if self.has_copy else None
                figure = drawing.lines(points, title, self.across[1], self.unit, ("copy", copy), self.base)
                yield self.name.format(each=value), figure

    def _points(self, records: list[Record]) -> drawing.Points:
        points: dict[str, list[tuple[float, float]]] = {}
        for record in records:
            place, value = record.get(self.across[0]), record.value
            if value is not None and isinstance(place, int | float) and record.subject != "copy":
                points.setdefault(self.label(record), []).append((place, value / place if self.per_place else value))
        return points


def _copy(records: list[Record]) -> float | None:
    rates = sorted(record.value for record in records if record.subject == "copy" and record.value)
    return rates[len(rates) // 2] if rates else None


@dataclass(frozen=True)
class Bars:
    """Bars in groups."""

    name: str
    title: str
    unit: str
    group: Callable[[Record], str]
    series: Callable[[Record], str] = _subject
    value: Callable[[Record], float | None] = by_value

    def figures(self, report: Report) -> Figures:
        """Give one figure, if anything was measured."""
        values: dict[str, dict[str, float]] = {}
        for record in report.select(self.name):
            value = self.value(record)
            if value and record.subject != "copy":
                values.setdefault(self.group(record), {})[self.series(record)] = value
        if values:
            yield self.name, drawing.bars(values, self.title, self.unit, copy=self.value is by_copy)


@dataclass(frozen=True)
class Special:
    """A figure of its own kind."""

    name: str
    draw: Callable[[list[Record]], Any]

    def figures(self, report: Report) -> Figures:
        """Give one figure, if anything was measured."""
        records = [record for record in report.select(self.name) if record.value is not None]
        if records:
            yield self.name, self.draw(records)


@dataclass(frozen=True)
class HeatMap:
    """The worst time of each aggregate, by another axis of the matrix."""

    engine: str
    across: str

    def figures(self, report: Report) -> Figures:
        """Give one figure, if anything was measured."""
        found = crossed(worst(report.select(self.engine)), self.across)
        if found:
            title = f"{self.engine.capitalize()}: the worst cell of each aggregate and {self.across}"
            figure = drawing.heat_map(found, title, "ns per row", LIMITS["plain"])
            yield f"{self.engine}_by_{self.across}", figure


# --- algorithms --------------------------------------------------------------------------------------

_WINDOW = ("window", "window [rows]")


def _break_even(records: list[Record]) -> Any:
    found = {f"{each.subject} ({each.aggregate})": each.value or 0.0 for each in records if not each.mark}
    return drawing.dots(found, "From this window on, faster than recalculation", _WINDOW[1])


def _rolling(record: Record) -> str:
    return f"{record.aggregate}, {record.get('window'):,} rows"


_BY_WINDOW = "Throughput of {each} by window: one thread each, auto on all cores"
_PER_ROW = "Memory of a window: bytes of the state per row"
ALGORITHMS: tuple[Plot, ...] = (
    Lines("throughput_{each}", _BY_WINDOW, _WINDOW, SPEED, each="aggregate", base=2, has_copy=True),
    Lines("memory", _PER_ROW, _WINDOW, "bytes per row", of={"metric": "state"}, base=2, per_place=True),
    Lines("ranges", "All ranges from 1 to n, at every row", ("ranges", "n [ranges]"), "million answers/s", base=2),
    Lines("slides", "Throughput by slide: an answer at every k-th row", ("slide", "slide [rows]"), SPEED, base=None),
    Special("latency", drawing.latency),
    Lines(
        "operators_{each}",
        "The slowest of some answers in a row: {each}",
        ("answer", "answer"),
        "ns",
        of={"metric": "slowest of a part"},
        each="aggregate",
        base=None,
    ),
    Lines("row_by_row", "Row by row: a max", _WINDOW, SPEED, of={"metric": "rows"}, base=2),
    Lines(
        "row_slides", "Row by row, by slide: a max", ("slide", "slide [rows]"), SPEED, of={"metric": "rows"}, base=None
    ),
    Bars("peers", "Beside other libraries", "speed, where a copy of the same bytes is 1", _rolling, value=by_copy),
    Special("break_even", _break_even),
)

# --- slicing -----------------------------------------------------------------------------------------

_WINDOWS = ("windows", "concurrent windows")
_SPEEDS = {
    "concurrent": ("Rows in order, tumbling windows of 1 to 20 s", _WINDOWS, 10),
    "constrained": ("A session beside them, and 20 % of the rows up to 2 s late", _WINDOWS, 10),
    "disorder_fraction": ("20 windows and a session, rows up to 2 s late", ("late_percent", "late rows [%]"), None),
    "disorder_delay": ("20 windows and a session, 20 % of the rows late", ("delay_s", "late by up to [s]"), None),
}
_MEMORY = "Memory by {0}: a sliding window by {{each}}, nothing dropped yet"
_FINISH = "Windows that slide by one slice: {each}"


def _distinct_values(record: Record) -> str:
    return f"{record.get('distinct')} values"


def _keys(record: Record) -> str:
    return f"{record.get('keys')} keys, {record.get('order')}"


def _rows_per_slice(record: Record) -> str:
    return f"{record.get('rows_per_slice')} rows per slice"


def _metric(record: Record) -> str:
    return record.metric


SLICING: tuple[Plot, ...] = (
    *(Lines(name, title, across, SPEED, base=base, has_copy=True) for name, (title, across, base) in _SPEEDS.items()),
    *(
        Lines(f"memory_by_{across}_{{each}}", _MEMORY.format(across), (across, across), "bytes", each="measure")
        for across in ("slices", "rows")
    ),
    Lines("output_latency_{each}", "Time of one window: {each}", ("entries", "entries"), "µs", each="aggregate"),
    Lines(
        "finish_{each}",
        _FINISH,
        ("slices", "slices of a window"),
        "µs per window",
        each="aggregate",
        label=_by("per_push", " per push"),
        base=2,
    ),
    Lines(
        "splits",
        "A split: both halves of a slice computed again",
        ("rows", "rows of the slice"),
        "µs",
        label=_aggregate,
    ),
    Lines("measures", "By measure: 20 % of the rows up to 2 s late", _WINDOWS, SPEED, label=_by("measure")),
    Bars("aggregates", "20 windows, 20 % of the rows late, by aggregate", SPEED, _aggregate, _by("measure")),
    Bars("median", "Median: 20 windows, 20 % of the rows late", SPEED, _distinct_values),
    Bars("one_row", "A row at a time", "pushes/s", _keys),
    Bars("keys", "Many keys in one push", SPEED, _rows_per_slice, _metric),
)

# --- matrix ------------------------------------------------------------------------------------------

MATRIX: tuple[Plot, ...] = tuple(
    HeatMap(engine, across) for engine in ("table", "stream", "spark") for across in ("window", "type")
)

# --- Spark -------------------------------------------------------------------------------------------

_TIME: Pick = {"metric": TIME}
_SLIDES = ("slides", "size / slide")
_CORES = ("cores", "cores")


def _question(record: Record) -> str:
    return f"{record.subject}, {'windows' if record.get('slides') is not None else 'frames'}"


def _scaled(records: list[Record]) -> str:
    windows = [int(record.get("window") or 0) for record in records if "≈" in record.mark]
    return f"; native from {min(windows):,} on scaled up" if windows else ""


_FRAMES = "Max of each row and those before it; keys: {each}"
_JOINS = "The features of labels: 10 events for each label, windows before it"
_POSITIONS = "Frames by position: sum and max"
_DENSITY = ("rows_per_slice", "rows per key and slice")
_PEAK = "One key: peak of the largest Python worker"
SPARK_TABLES: tuple[Plot, ...] = (
    Lines("slide", "Windows that slide by a second: max and count", _SLIDES, of=_TIME),
    Lines("density", "Ways to slice: max and count, ten slides", _DENSITY, of=_TIME),
    Lines("keys", "The same rows of more keys: max and count, ten slides", ("keys", "keys"), of=_TIME),
    Lines("frames_{each}", _FRAMES, _WINDOW, of=_TIME, each="keys", remark=_scaled),
    Lines("joins", _JOINS, ("hours", "hours of the window"), of={**_TIME, "skew": "none"}),
    Lines("positions", _POSITIONS, ("width", "rows of the frame"), of=_TIME, label=_by("frame")),
    Lines("hot_key", "One key has the rows", _CORES, of=_TIME, label=_by("case"), base=None),
    Lines("cores", "What a second core brings", _CORES, of=_TIME, label=_question, base=None),
    Lines("dashboard", "M4 over 80 concurrent windows", _CORES, of=_TIME, base=None),
    Lines("memory", _PEAK, ("rows", "rows"), "MB", of={"metric": MEMORY}, label=_by("question")),
)

_WRITTEN = "Bytes written to the state store in a micro-batch"
_GROWTH = "A micro-batch of more rows of the same keys, by slides"
_BATCH_ROWS = ("batch_rows", "rows of a micro-batch")
SPARK_STREAMS: tuple[Plot, ...] = (
    Lines("slide", "Windows that slide by a minute: max", _SLIDES, of={**_TIME, "rows": max}),
    Lines("slide_written", _WRITTEN, _SLIDES, "MB", "slide", of={"metric": WRITTEN, "rows": max}),
    Lines("keys", "The same rows of more keys: max, by slides", ("keys", "keys"), of=_TIME, label=_by("slides")),
    Lines("growth", _GROWTH, _BATCH_ROWS, of={"metric": BATCH}, label=_by("slides")),
)
