"""The memory of a stream: by slices, by rows, and after many rows of keys that come and go."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import sash
from benchmarks.algorithms.workloads import noise
from benchmarks.baselines.contract import TECHNIQUES, Window
from benchmarks.baselines.windows import NEVER
from benchmarks.records import Record, parameters
from benchmarks.settings import SlicingSettings
from benchmarks.slicing.subjects import Question, monoid_of, queries_of, subjects
from benchmarks.slicing.workloads import FUNCTIONS, SECOND, Array
from benchmarks.suite import Task

__all__ = ["by_rows_tasks", "by_slices_tasks", "flat_tasks"]

OVERLAP = 4  # slides in a window, so that windows share slices


def by_slices_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Figure 10: divide the same rows into more and more slices."""
    for measure in ("time", "count"):
        for slices in settings.vary_slices:
            task = partial(_memory, "memory_by_slices", measure, settings.memory_rows, slices, settings)
            yield Task(f"{slices} slices by {measure}", task)


def by_rows_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Figure 10: put more and more rows into the same slices."""
    for measure in ("time", "count"):
        for rows in settings.vary_rows:
            task = partial(_memory, "memory_by_rows", measure, rows, settings.memory_slices, settings)
            yield Task(f"{rows} rows by {measure}", task)


def _memory(experiment: str, measure: str, rows: int, slices: int, settings: SlicingSettings) -> Iterator[Record]:
    """Push without a watermark and in any order, so that nothing is dropped and late rows are possible."""
    span = 1000 * SECOND
    positions, values = np.arange(rows) * span // rows, noise(rows)
    per_slice = span // slices if measure == "time" else max(1, rows // slices)
    make = Window.time if measure == "time" else Window.count
    question = Question((make(OVERLAP * per_slice, per_slice),), in_order=False)
    shape = parameters(rows=rows, slices=slices, measure=measure)
    for subject in subjects(question, settings):
        if subject == "sash":
            stream = sash.Stream(queries_of(question), on="t")
            stream.push(pa.table({"t": positions, "x": values, "n": positions}))
            taken = stream.state_bytes
        else:
            operator = TECHNIQUES[subject].start(monoid_of(question.function), question.windows)
            operator.push(positions, values, NEVER)
            taken = operator.size_bytes()
        note = "allocated bytes" if subject == "sash" else "bytes in use, by the formula of the technique"
        yield Record(experiment, subject, "state", float(taken), "bytes", question.function.name, shape, None, note)


# --- after many rows -------------------------------------------------------------------------------

RATE, NEW_KEYS = 2000, 20  # per second


def flat_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Measure the state after some rows, and after ten times as many."""
    yield Task("keys that come and go", partial(_flat, settings))


def _flat(settings: SlicingSettings) -> Iterator[Record]:
    """Give each second its own keys, with a few late rows: the state of a key must be dropped with it."""
    function = FUNCTIONS["sum"]
    queries = [
        sash.query("sliding", sash.sliding(10 * SECOND, every=SECOND), answer=function.template()),
        sash.query("session", sash.session(gap=SECOND), answer=function.template()),
    ]
    stream = sash.Stream(queries, on="t", by="k", watermark=2 * SECOND)
    few, many = settings.flat_rows
    sizes = []
    for start in range(0, many, settings.flat_push):
        number = np.arange(start, min(many, start + settings.flat_push))
        stream.push(_churning(number))
        sizes.append(stream.state_bytes)
        done = int(number[-1]) + 1
        if done in (few, many):
            shape = parameters(rows=done)
            note = f"largest so far: {max(sizes)} bytes"
            yield Record("flat", "sash", "state", float(sizes[-1]), "bytes", function.name, shape, None, note)
            yield Record("flat", "sash", "largest state", float(max(sizes)), "bytes", function.name, shape)
            assert stream._state is not None
            known = float(stream._state.keys.capacity)  # state_bytes counts only slices
            yield Record("flat", "sash", "keys", known, "keys", function.name, shape)


def _churning(number: Array) -> pa.Table:
    random = np.random.default_rng(int(number[0]))
    late = (random.random(len(number)) < 0.2) * random.integers(0, 2 * SECOND, len(number))
    positions = np.maximum(number * (SECOND // RATE) - late, 0)
    keys = positions // SECOND * NEW_KEYS + random.integers(0, NEW_KEYS, len(number))
    return pa.table({"t": positions, "k": keys, "x": random.normal(0.0, 1.0, len(number))})
