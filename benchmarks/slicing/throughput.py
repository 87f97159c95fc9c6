"""Rows per second of whole streams: by concurrent windows, disorder, aggregate, and measure."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.baselines.contract import Window
from benchmarks.records import Record, parameters
from benchmarks.settings import SlicingSettings
from benchmarks.slicing.subjects import Question, copy_rate, slow_rate, speed, subjects
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
SOME = 20  # concurrent windows, where their number does not vary


def _times(windows: int) -> tuple[Window, ...]:
    return tuple(Window.time(1000 * length) for length in lengths(windows))


def _counts(windows: int, rate: int) -> tuple[Window, ...]:
    """Return windows of as many rows as a time window of that length has on average."""
    return tuple(Window.count(max(1, length * rate // 1000)) for length in lengths(windows))


def _late(windows: tuple[Window, ...], function: Function = FUNCTIONS["sum"], delay: int = DELAY) -> Question:
    return Question(windows, function, in_order=False, delay=delay)


def _measured(
    experiment: str,
    question: Question,
    sensor: Sensor,
    settings: SlicingSettings,
    shape: dict[str, Any],
    beside: tuple[str, ...] | None = None,
    variants: tuple[str, ...] = (),
) -> Iterator[Record]:
    """Measure every subject that can answer the question, and a copy."""
    copied = copy_rate(settings)
    name, place = question.function.name, parameters(**shape)
    note = f"np.copyto, {settings.copy_rows} rows"
    yield Record(experiment, "copy", METRIC, copied / 1e6, UNIT, name, place, 1.0, note)
    for subject in subjects(question, settings, beside, variants):
        found = speed(subject, question, sensor, settings)
        yield Record(experiment, subject, METRIC, found.rate / 1e6, UNIT, name, place, found.rate / copied, str(found))


# --- Figures 8 and 9: concurrent windows -------------------------------------------------------------


def concurrent_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Vary the number of tumbling windows of different lengths, with rows in order."""
    sensor = Sensor(settings.rows)
    for windows in settings.windows:
        question, shape = Question(_times(windows)), {"windows": windows}
        task = partial(_measured, "concurrent", question, sensor, settings, shape, variants=("sash_pairs",))
        yield Task(f"{windows} windows", task)


def constrained_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Add a session, and let a fifth of the rows be late."""
    sensor = Sensor(settings.rows, late=LATE, delay=DELAY)
    for windows in settings.windows:
        question, shape = _late((*_times(windows), SESSION)), {"windows": windows}
        variants = ("sash_lazy", "sash_eager")
        task = partial(_measured, "constrained", question, sensor, settings, shape, variants=variants)
        yield Task(f"{windows} windows", task)


# --- Figure 12: how many rows are late, and how late ---------------------------------------------------


def fraction_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Vary the share of late rows."""
    for percent in settings.fractions:
        sensor = Sensor(settings.rows, late=percent / 100, delay=DELAY)
        question, shape = _late((*_times(SOME), SESSION)), {"late_percent": percent}
        yield Task(f"{percent} % late", partial(_measured, "disorder_fraction", question, sensor, settings, shape))


def delay_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Vary the delay of late rows, a fifth of all."""
    for seconds in settings.delays:
        sensor = Sensor(settings.rows, late=LATE, delay=seconds * SECOND)
        question, shape = _late((*_times(SOME), SESSION), delay=seconds * SECOND), {"delay_s": seconds}
        yield Task(f"{seconds} s late", partial(_measured, "disorder_delay", question, sensor, settings, shape))


# --- Figures 13 and 14: aggregates ---------------------------------------------------------------------


def aggregate_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Measure every aggregate over windows of time and of rows; a fifth of the rows are late."""
    for name in settings.aggregates or FUNCTIONS:
        function = FUNCTIONS[name]
        sensor = slow_rate(Sensor(settings.rows, late=LATE, delay=DELAY), function)
        kinds = {"time": _times(SOME), "count": _counts(SOME, sensor.rate)}
        for measure, windows in kinds.items():
            question, shape = _late(windows, function), {"measure": measure, "rate": sensor.rate}
            task = partial(_measured, "aggregates", question, sensor, settings, shape, ("slices_on_rows",))
            yield Task(f"{name} by {measure}", task)


def median_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Measure the median of few and of many distinct values, beside techniques that compute each window by itself."""
    function = FUNCTIONS["median"]
    for distinct in (37, 84_232):
        sensor = slow_rate(Sensor(settings.rows, late=LATE, delay=DELAY, distinct=distinct), function)
        question, shape = _late(_times(SOME), function), {"distinct": distinct, "rate": sensor.rate}
        beside = ("tuple_buffer", "aggregate_buckets", "tuple_buckets")
        yield Task(f"{distinct} values", partial(_measured, "median", question, sensor, settings, shape, beside))


# --- Figure 16: measures -------------------------------------------------------------------------------


def measure_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Measure windows of time, of any number that advances, and of rows; a fifth of the rows are late."""
    sensor = Sensor(settings.rows, late=LATE, delay=DELAY)
    for windows in settings.measure_windows:
        by_time = _late(_times(windows))
        kinds = {
            "time": by_time,
            "advancing": replace(by_time, as_float=True),
            "count": _late(_counts(windows, sensor.rate)),
        }
        for measure, question in kinds.items():
            beside = ("tuple_buffer", "slices_on_rows") if measure == "count" else ()
            shape = {"windows": windows, "measure": measure}
            yield Task(
                f"{windows} by {measure}", partial(_measured, "measures", question, sensor, settings, shape, beside)
            )
