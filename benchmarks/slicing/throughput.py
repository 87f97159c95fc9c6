"""Rows per second of whole streams: by concurrent windows, disorder, aggregate, and measure."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.baselines.contract import Window
from benchmarks.records import Record, parameters
from benchmarks.settings import SlicingSettings
from benchmarks.slicing.subjects import Asked, copy_rate, slower, speed, subjects
from benchmarks.slicing.workloads import FUNCTIONS, SECOND, Function, Sensor, lengths
from benchmarks.suite import Task

__all__ = [
    "aggregate_tasks",
    "concurrent_tasks",
    "constrained_tasks",
    "delay_tasks",
    "fraction_tasks",
    "measure_tasks",
    "median_tasks",
]

METRIC, UNIT = "rows", "million rows/s"
LATE, DELAY = 0.2, 2 * SECOND
SESSION = Window.session(SECOND)
SOME = 20  # concurrent windows, where their number is not the question


def _times(windows: int) -> tuple[Window, ...]:
    return tuple(Window.time(1000 * length) for length in lengths(windows))


def _counts(windows: int, rate: int) -> tuple[Window, ...]:
    """As many rows as a window of that length has on average."""
    return tuple(Window.count(max(1, length * rate // 1000)) for length in lengths(windows))


def _late(windows: tuple[Window, ...], function: Function = FUNCTIONS["sum"], delay: int = DELAY) -> Asked:
    return Asked(windows, function, in_order=False, delay=delay)


def _measured(
    experiment: str,
    asked: Asked,
    sensor: Sensor,
    settings: SlicingSettings,
    shape: dict[str, Any],
    beside: tuple[str, ...] | None = None,
) -> Iterator[Record]:
    """Every subject that can, and the copy."""
    copied = copy_rate(settings)
    name, place = asked.function.name, parameters(**shape)
    note = f"np.copyto, {settings.copy_rows} rows"
    yield Record(experiment, "copy", METRIC, copied / 1e6, UNIT, name, place, 1.0, note)
    for subject in subjects(asked, settings, beside):
        found = speed(subject, asked, sensor, settings)
        yield Record(experiment, subject, METRIC, found.rate / 1e6, UNIT, name, place, found.rate / copied, str(found))


# --- Figures 8 and 9: concurrent windows -------------------------------------------------------------


def concurrent_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Rows in order, tumbling windows of many lengths."""
    sensor = Sensor(settings.rows)
    for windows in settings.windows:
        asked, shape = Asked(_times(windows)), {"windows": windows}
        yield Task(f"{windows} windows", partial(_measured, "concurrent", asked, sensor, settings, shape))


def constrained_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """The same, and a session; a fifth of the rows come late."""
    sensor = Sensor(settings.rows, late=LATE, delay=DELAY)
    for windows in settings.windows:
        asked, shape = _late((*_times(windows), SESSION)), {"windows": windows}
        yield Task(f"{windows} windows", partial(_measured, "constrained", asked, sensor, settings, shape))


# --- Figure 12: how many rows are late, and how late ---------------------------------------------------


def fraction_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """More and more late rows."""
    for percent in settings.fractions:
        sensor = Sensor(settings.rows, late=percent / 100, delay=DELAY)
        asked, shape = _late((*_times(SOME), SESSION)), {"late_percent": percent}
        yield Task(f"{percent} % late", partial(_measured, "disorder_fraction", asked, sensor, settings, shape))


def delay_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """A fifth of the rows later and later."""
    for seconds in settings.delays:
        sensor = Sensor(settings.rows, late=LATE, delay=seconds * SECOND)
        asked, shape = _late((*_times(SOME), SESSION), delay=seconds * SECOND), {"delay_s": seconds}
        yield Task(f"{seconds} s late", partial(_measured, "disorder_delay", asked, sensor, settings, shape))


# --- Figures 13 and 14: aggregates ---------------------------------------------------------------------


def aggregate_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Every aggregate, over windows of time and of rows; a fifth of the rows come late."""
    for name in settings.aggregates or FUNCTIONS:
        function = FUNCTIONS[name]
        sensor = slower(Sensor(settings.rows, late=LATE, delay=DELAY), function)
        kinds = {"time": _times(SOME), "count": _counts(SOME, sensor.rate)}
        for measure, windows in kinds.items():
            asked, shape = _late(windows, function), {"measure": measure, "rate": sensor.rate}
            task = partial(_measured, "aggregates", asked, sensor, settings, shape, ("slices_on_rows",))
            yield Task(f"{name} by {measure}", task)


def median_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """The median of few and of many distinct values, beside what computes each window on its own."""
    function = FUNCTIONS["median"]
    for distinct in (37, 84_232):
        sensor = slower(Sensor(settings.rows, late=LATE, delay=DELAY, distinct=distinct), function)
        asked, shape = _late(_times(SOME), function), {"distinct": distinct, "rate": sensor.rate}
        beside = ("tuple_buffer", "aggregate_buckets", "tuple_buckets")
        yield Task(f"{distinct} values", partial(_measured, "median", asked, sensor, settings, shape, beside))


# --- Figure 16: measures -------------------------------------------------------------------------------


def measure_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Windows of time, of any number that advances, and of rows; a fifth of the rows come late."""
    sensor = Sensor(settings.rows, late=LATE, delay=DELAY)
    for windows in settings.measure_windows:
        by_time = _late(_times(windows))
        kinds = {
            "time": by_time,
            "advancing": replace(by_time, as_float=True),
            "count": _late(_counts(windows, sensor.rate)),
        }
        for measure, asked in kinds.items():
            beside = ("tuple_buffer", "slices_on_rows") if measure == "count" else ()
            shape = {"windows": windows, "measure": measure}
            yield Task(
                f"{windows} by {measure}", partial(_measured, "measures", asked, sensor, settings, shape, beside)
            )
