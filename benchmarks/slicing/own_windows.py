"""Windows that users write, beside the built-in one with the same results, in tables and in streams."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from benchmarks.matrix.windows import SECOND, Laps, Marks, Runs
from benchmarks.records import Record, parameters
from benchmarks.settings import SlicingSettings
from benchmarks.suite import Task
from benchmarks.timer import best_of_each

__all__ = ["own_window_tasks"]

SEED, EVERY = 7, 1000  # rows of a key from one mark to the next
WINDOWS: dict[str, Callable[[], Any]] = {
    "punctuated": lambda: sash.punctuated("p"),
    "own_forward": Laps,
    "own_marked": Marks,
    "own_aware": lambda: Runs(EVERY),
}


def own_window_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Compare a user's forward-free and context-aware windows with the punctuated ones, by keys."""
    for keys in (1, 100, 10_000):
        yield Task(f"{keys} keys", partial(_own_windows, settings, keys))


def _own_windows(settings: SlicingSettings, keys: int) -> Iterator[Record]:
    rows = _rows(settings.rows, keys)
    few = rows.slice(0, 10 * keys)
    for how, run in (("table", _table), ("stream", partial(_stream, settings.push_rows))):
        calls = {name: partial(run, rows, window()) for name, window in WINDOWS.items()}
        for window in WINDOWS.values():
            run(few, window())
        for name, timing in best_of_each(calls, 3, 2 * settings.point_seconds).items():
            shape = parameters(keys=keys, how=how, rows=rows.num_rows)
            rate = rows.num_rows / timing.seconds / 1e6
            yield Record("own_windows", name, "rows", rate, "million rows/s", "sum and max", shape)


def _rows(count: int, keys: int) -> pa.Table:
    rng = np.random.default_rng(SEED)
    place = np.arange(count) // keys
    return pa.table(
        {"t": place * SECOND, "k": np.arange(count) % keys, "p": place % EVERY == 0, "x": rng.normal(0.0, 1.0, count)}
    )


def _query(window: Any) -> sash.Query:
    return sash.query("q", window, total=sash.sum("x"), most=sash.max("x"))


def _table(rows: pa.Table, window: Any) -> None:
    sash.aggregate(rows, _query(window), on="t", by="k")


def _stream(push_rows: int, rows: pa.Table, window: Any) -> None:
    stream = sash.Stream(_query(window), on="t", by="k", watermark=0)
    for begin in range(0, rows.num_rows, push_rows):
        stream.push(rows.slice(begin, push_rows))
    stream.finish()
