"""Pushes of one row, and pushes of many keys."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from benchmarks.algorithms.workloads import SEED
from benchmarks.records import Record, parameters
from benchmarks.settings import SlicingSettings
from benchmarks.slicing.subjects import copy_rate
from benchmarks.suite import Task
from benchmarks.timer import best_of

__all__ = ["IN_ORDER", "LATE", "five_row_tasks", "key_tasks", "one_row_tasks"]


IN_ORDER, LATE = "in order", "with lateness"
JITTER, DELAY, LATENESS = 100, 200, 1000  # positions: by how much rows are late, and what the stream allows


def one_row_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Push dicts of one row each, with and without keys, in order and not."""
    for order in (IN_ORDER, LATE):
        for keys in (0, 10):
            yield Task(f"{keys} keys, {order}", partial(_one_row, settings, keys, order))


def _one_row(settings: SlicingSettings, keys: int, order: str) -> Iterator[Record]:
    """Push a row every millisecond; a window ends every second."""
    many = settings.one_row_pushes
    late = np.random.default_rng(SEED).integers(0, JITTER, 2 * many).tolist() if order == LATE else [0] * (2 * many)
    rows = [{"t": [n - late[n]], "x": [float(n % 97)], **({"k": [n % keys]} if keys else {})} for n in range(2 * many)]
    query = sash.query("sums", sash.tumbling(1000), answer=sash.sum("x"))
    options: dict[str, Any] = {"in_order": True}
    if order == LATE:
        options = {"watermark": DELAY, "allowed_lateness": LATENESS}
    stream = sash.Stream(query, on="t", by="k" if keys else None, **options)
    taken = []
    for part in (rows[:many], rows[many:]):  # the first half is the warm-up
        start = time.perf_counter()
        for row in part:
            stream.push(row)
        taken.append(time.perf_counter() - start)
    note = f"{many} pushes, after as many for the warm-up"
    shape = parameters(keys=keys, order=order)
    yield Record("one_row", "sash", "pushes", many / taken[-1], "pushes/s", "sum", shape, None, note)


def five_row_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Aggregate a table of five rows again and again."""
    yield Task("five rows", partial(_five_rows, settings))


def _five_rows(settings: SlicingSettings) -> Iterator[Record]:
    rows = pa.table({"t": [1, 4, 12, 15, 27], "k": [1, 2, 1, 2, 1], "x": [3.0, 1.0, 4.0, 1.0, 5.0]})
    query = sash.query("sums", sash.tumbling(10), answer=sash.sum("x"))

    def call() -> None:
        sash.aggregate(rows, query, on="t", by="k")

    call()
    seconds = best_of(call, settings.small_tables, 1.0).seconds
    yield Record(
        "five_rows", "sash", "call", seconds * 1e3, "ms", "sum", (), None, "best of many calls, after the first"
    )


def key_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Push ten rows of each of many keys at once."""
    for per_slice in (10, 1):
        yield Task(f"{per_slice} rows per slice", partial(_keys, settings, per_slice))


ROWS_PER_KEY, SLIDES = 10, 10


def _keys(settings: SlicingSettings, per_slice: int) -> Iterator[Record]:
    """Time the first push of the keys, and the best of three pushes of known keys.

    Rows of all keys are mixed. A window has ten slides, and a slide has one or ten rows of a key. Each slide that ends
    sends a window of every key.
    """
    keys, copied = settings.keys, copy_rate(settings)
    rows = keys * ROWS_PER_KEY
    query = sash.query("peaks", sash.sliding(SLIDES * per_slice, every=per_slice), answer=sash.max("x"))
    warm = sash.Stream(query, on="t", by="k")
    for number in range(3):
        warm.push(_keyed(10, number), watermark=ROWS_PER_KEY * (number + 1))
    stream = sash.Stream(query, on="t", by="k")
    taken, results = [], 0
    for number in range(4):
        table = _keyed(keys, number)
        start = time.perf_counter()
        results = stream.push(table, watermark=ROWS_PER_KEY * (number + 1)).num_rows
        taken.append(time.perf_counter() - start)
    shape = parameters(keys=keys, rows_per_slice=per_slice)
    note = f"{rows} rows and {results} results per push"
    for metric, seconds in (("rows, first push", taken[0]), ("rows", min(taken[1:]))):
        rate = rows / seconds
        yield Record("keys", "sash", metric, rate / 1e6, "million rows/s", "max", shape, rate / copied, note)


def _keyed(keys: int, number: int) -> pa.Table:
    """Return the rows of a push: at each of ten positions, every key once, in random order."""
    random = np.random.default_rng(SEED + number)
    mixed = random.permuted(np.tile(np.arange(keys) * 7919, (ROWS_PER_KEY, 1)), axis=1).ravel()
    positions = np.repeat(np.arange(ROWS_PER_KEY) + ROWS_PER_KEY * number, keys)
    return pa.table({"t": positions, "k": mixed, "x": random.normal(0.0, 1.0, len(mixed))})
