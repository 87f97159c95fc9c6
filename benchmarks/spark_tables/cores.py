"""One core and two cores: with many keys, and where one key has most or all of the rows."""

from collections.abc import Iterator
from functools import partial

from benchmarks.records import Record
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.measurement import records_of
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.separate_process import run_separately
from benchmarks.spark_tables.subjects import DASHBOARD, FRAMES, NATIVE, SASH, TREE, WINDOWS, Point
from benchmarks.spark_tables.windows import AGGREGATE, slide_rows
from benchmarks.suite import Task

__all__ = ["HOT_PERCENT", "core_tasks", "dashboard_tasks", "hot_key_tasks", "worker_tasks"]

CORES = (1, 2)
HOT_PERCENT = 90
HOT_KEYS = 100
HOT_SLICES = 10_000


def hot_key_tasks(settings: TableSettings) -> Iterator[Task]:
    """Measure rows of one key, or nearly; each number of cores has its own process."""
    for cores in CORES:
        yield Task(f"{cores} cores", partial(_hot_key, settings, cores))


def _hot_key(settings: TableSettings, cores: int) -> Iterator[Record]:
    plain = Rows(settings.hot_rows, 1, min(HOT_SLICES, settings.hot_rows // 10))
    hot = Rows(settings.hot_rows, HOT_KEYS, hot_percent=HOT_PERCENT)
    windows = [Point(SASH, WINDOWS, settings.hot_slides, plain, is_keyed=False)]
    frames = [Point(each, FRAMES, settings.hot_window, hot) for each in (TREE, SASH)]
    runs = run_separately(f"local[{cores}]", [*windows, *frames], settings)
    shape = {"cores": cores, "rows": settings.hot_rows}
    of_windows, of_frames = ([(each, runs[each]) for each in points] for points in (windows, frames))
    yield from records_of("hot_key", AGGREGATE, of_windows, NATIVE, {"case": "no key", **shape})
    yield from records_of("hot_key", "max", of_frames, TREE, {"case": f"{HOT_PERCENT} % one key", **shape})


def core_tasks(settings: TableSettings) -> Iterator[Task]:
    """Measure what a second core brings; each number of cores has its own process."""
    for cores in CORES:
        yield Task(f"{cores} cores", partial(_cores, settings, cores))


def _cores(settings: TableSettings, cores: int) -> Iterator[Record]:
    windows = [Point(each, WINDOWS, settings.core_slides, slide_rows(settings)) for each in (NATIVE, SASH)]
    rows = Rows(settings.frame_rows, settings.frame_keys[0])
    frames = [Point(each, FRAMES, settings.core_window, rows) for each in (TREE, SASH)]
    runs = run_separately(f"local[{cores}]", [*windows, *frames], settings)
    of_windows, of_frames = ([(each, runs[each]) for each in points] for points in (windows, frames))
    yield from records_of("cores", AGGREGATE, of_windows, NATIVE, {"cores": cores, "slides": settings.core_slides})
    yield from records_of("cores", "max", of_frames, TREE, {"cores": cores, "window": settings.core_window})


def dashboard_tasks(settings: TableSettings) -> Iterator[Task]:
    """Measure M4 over many concurrent windows, as a dashboard asks, on one core and on two."""
    for cores in CORES:
        yield Task(f"{cores} cores", partial(_dashboard, settings, cores))


def _dashboard(settings: TableSettings, cores: int) -> Iterator[Record]:
    """Native Spark gets fewer rows, because it copies each row into every window."""
    rows = slide_rows(settings)
    few = rows.part(rows.rows // settings.dashboard_share, rows.keys)
    points = {
        Point(NATIVE, DASHBOARD, settings.dashboard_windows, few): float(settings.dashboard_share),
        Point(SASH, DASHBOARD, settings.dashboard_windows, rows): 1.0,
    }
    runs = run_separately(f"local[{cores}]", points, settings)
    shape = {"cores": cores, "windows": settings.dashboard_windows, "rows": rows.rows}
    yield from records_of("dashboard", "m4", runs.items(), NATIVE, shape, points)


def worker_tasks(settings: TableSettings) -> Iterator[Task]:
    """Measure what a second worker brings: a cluster of worker processes on this machine, with one core each."""
    for workers in CORES:
        yield Task(f"{workers} workers", partial(_workers, settings, workers))


def _workers(settings: TableSettings, workers: int) -> Iterator[Record]:
    rows = Rows(settings.frame_rows, settings.frame_keys[0])
    frames = [Point(SASH, FRAMES, settings.core_window, rows)]
    runs = run_separately(f"local-cluster[{workers},1,4096]", frames, settings)
    shape = {"workers": workers, "window": settings.core_window}
    yield from records_of("workers", "max", [(each, runs[each]) for each in frames], SASH, shape)
