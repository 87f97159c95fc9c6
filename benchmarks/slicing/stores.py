"""The cost of one window: read from each kind of store, computed in different ways, or after a split."""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.algorithms.workloads import noise
from benchmarks.baselines import slice_manager
from benchmarks.baselines.contract import TECHNIQUES, Window
from benchmarks.records import Record, parameters
from benchmarks.settings import SlicingSettings
from benchmarks.slicing.subjects import monoid_of
from benchmarks.slicing.workloads import FUNCTIONS, Array, Function
from benchmarks.suite import Task
from benchmarks.timer import best_of, best_of_each
from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, load
from sash.algebra.monoid import Monoid
from sash.slicing.partials import Partials, View, mark_trees_updated
from sash.slicing.slices import Slices
from sash.slicing.window_manager import Ended

__all__ = ["finish_tasks", "output_tasks", "split_tasks"]

ENOUGH_ENTRIES = 100  # with fewer, times cannot be extrapolated
# Techniques from which a window can be read repeatedly. Tuple buckets free its rows, and fold as the buffer does.
REPEATABLE = ("tuple_buffer", "aggregate_tree", "aggregate_buckets")
COPIES = 16  # of a window in one call, so that the overhead of the call does not count


class Store:
    """Slices of one key with a partial each, as a stream keeps them."""

    def __init__(self, monoid: Monoid, slices: int, eager: bool) -> None:
        self.view = View(monoid, tuple(range(len(monoid.fields))))
        self.slices = Slices.empty(np.int64)
        self.slices.ensure_keys(1)
        room = 1 << (slices - 1).bit_length()
        self.slices.order = np.arange(room)
        self.slices.count[0], self.slices.room[0] = slices, room
        self.partials = Partials(monoid, eager)
        self.partials.ensure(room)
        self.partials.reset(np.arange(slices))
        self.partials.add(np.arange(slices), _inputs(monoid, slices))
        if eager:
            self.update_tree(slices)

    def update_tree(self, newest: int) -> None:
        """Update the tree as if the last slices were new."""
        self.slices.dirty[0] = int(self.slices.count[0]) - newest
        self.partials.update_trees(self.slices)
        mark_trees_updated(self.slices)

    def finish(self, lows: Array, highs: Array, algorithm: str | None = None) -> Any:
        ended = Ended(np.zeros(len(lows), np.int64), lows, highs, lows, highs)
        return self.partials.answer(self.view, self.slices, ended, algorithm)


def _inputs(monoid: Monoid, rows: int) -> Fields:
    return (noise(rows),) if monoid.is_compiled else (noise(rows).tolist(),)


# --- Figure 11: the output of a store ----------------------------------------------------------------


def output_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Read a window over all entries of a store: slices for sash, rows for the others."""
    for name in ("sum", "median"):
        for kind in ("lazy", "eager"):
            yield Task(f"{kind} {name}", partial(_outputs, settings, f"sash {kind}", name))
        for technique in REPEATABLE:
            if settings.techniques is None or technique in settings.techniques:
                yield Task(f"{technique} {name}", partial(_outputs, settings, technique, name))


def _outputs(settings: SlicingSettings, subject: str, name: str) -> Iterator[Record]:
    function = FUNCTIONS[name]
    monoid = monoid_of(function)
    copies = COPIES if monoid.is_compiled else 1
    _window_call(subject, monoid, 8, copies)()  # compiles
    spent, known = 0.0, 8
    for entries in settings.entries:
        shape = parameters(entries=entries)
        expected = _expected_seconds(monoid, spent, known, entries)
        if expected > _allowed_seconds(settings):
            note = f"left out: it would take about {expected:.1f} s"
            yield Record("output_latency", subject, "one window", None, "µs", name, shape, None, note)
            continue
        start = time.perf_counter()
        answer = _window_call(subject, monoid, entries, copies)
        answer()
        spent, known = time.perf_counter() - start, entries
        taken = best_of(answer, 5, settings.point_seconds / 4).seconds
        yield Record("output_latency", subject, "one window", taken / copies * 1e6, "µs", name, shape)


def _expected_seconds(monoid: Monoid, spent: float, known: int, entries: int) -> float:
    """Estimate the seconds for more entries; a multiset grows while rows are merged into it."""
    if known < ENOUGH_ENTRIES:
        return 0.0
    grown: float = spent * (entries / known) ** (1.0 if monoid.is_compiled else 1.7)
    return grown


def _allowed_seconds(settings: SlicingSettings) -> float:
    """Return the seconds that one point may take."""
    return 0.5 + 2 * settings.point_seconds


def _window_call(subject: str, monoid: Monoid, entries: int, copies: int) -> Callable[[], Any]:
    """Return a call that computes the window `copies` times."""
    if subject.startswith("sash"):
        store = Store(monoid, entries, subject == "sash eager")
        lows, highs = np.zeros(copies, np.int64), np.full(copies, entries)
        return lambda: store.finish(lows, highs)
    operator = TECHNIQUES[subject].start(monoid, (Window.time(entries),))
    operator.push(np.arange(entries), noise(entries), 0)
    operator.watermark = entries
    operator.due[-1][0] = 0
    operator._find_due()
    operator.due = (*(np.resize(each[:1], copies) for each in operator.due[:-1]), operator.due[-1])
    return lambda: operator._results(copies)


# --- ways to compute a window from its slices --------------------------------------------------------

AT_ONCE = 1000  # windows in a push that ends many


def finish_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Compute windows that slide by one slice: by folding, by sliding, or from a tree."""
    for name in ("sum", "stddev"):
        for windows in (1, AT_ONCE):
            yield Task(f"{name}, {windows} per push", partial(_finish, settings, FUNCTIONS[name], windows))


def _finish(settings: SlicingSettings, function: Function, windows: int) -> Iterator[Record]:
    monoid = monoid_of(function)
    for slices in settings.window_slices:
        lazy, eager = (Store(monoid, slices + windows, kind) for kind in (False, True))
        lows = np.arange(windows) + 1
        highs = lows + slices

        def by_tree(store: Store = eager, lows: Array = lows, highs: Array = highs) -> None:
            store.update_tree(len(lows))
            store.finish(lows, highs)

        calls: dict[str, Callable[[], Any]] = {
            "fold": partial(lazy.finish, lows, highs),
            "two_stacks_lite": partial(lazy.finish, lows, highs, "two_stacks_lite"),
            "tree": by_tree,
        }
        for call in calls.values():
            call()
        times = best_of_each(calls, 50, settings.point_seconds / 4)
        shape = parameters(slices=slices, per_push=windows)
        for subject, timing in times.items():
            taken = timing.seconds / windows * 1e6
            yield Record("finish", subject, "one window", taken, "µs", function.name, shape)


# --- Figure 15: a split ------------------------------------------------------------------------------

FILLED, RUNS = 1024, 10  # rows that are added between checks for room; splits of a slice


@kernel
def _fill(aggregate: Monoid, line: Any, inputs: Fields, start: int, end: int) -> None:
    for row in range(start, end):
        slice_manager.update(aggregate, line, 0, row, load(inputs, row))


@kernel
def _split(aggregate: Monoid, line: Any, at: int) -> None:
    slice_manager.split(aggregate, line, 0, at)


@kernel
def _merge(aggregate: Monoid, line: Any) -> None:
    slice_manager.merge(aggregate, line, 0)


def split_tasks(settings: SlicingSettings) -> Iterator[Task]:
    """Split a slice with its rows in the middle, and compute both halves again."""
    for name in ("sum", "median"):
        yield Task(name, partial(_splits, settings, name))


def _splits(settings: SlicingSettings, name: str) -> Iterator[Record]:
    monoid = monoid_of(FUNCTIONS[name])
    _split_seconds(monoid, 8, settings)  # compiles
    spent, known = 0.0, 8
    for rows in settings.split_rows:
        shape = parameters(rows=rows)
        expected = _expected_seconds(monoid, spent, known, rows)
        if expected > _allowed_seconds(settings):
            note = f"left out: it would take about {expected:.1f} s"
            yield Record("splits", "slice_manager", "recompute", None, "µs", name, shape, None, note)
            continue
        start = time.perf_counter()
        taken = _split_seconds(monoid, rows, settings)
        spent, known = time.perf_counter() - start, rows
        yield Record("splits", "slice_manager", "recompute", taken * 1e6, "µs", name, shape)


def _split_seconds(monoid: Monoid, rows: int, settings: SlicingSettings) -> float:
    """Return the shortest of several splits; a merge undoes each of them."""
    line = slice_manager.new_line(monoid)
    slice_manager.open_slice(line, 0, 0, rows)
    inputs = _inputs(monoid, rows)
    for start in range(0, rows, FILLED):
        line = slice_manager.with_room(line, 1 + FILLED)
        _fill(monoid, line, inputs, start, min(rows, start + FILLED))
    line = slice_manager.with_room(line, 64)
    best, spent = math.inf, 0.0
    for _ in range(RUNS):
        begin = time.perf_counter()
        _split(monoid, line, rows // 2)
        taken = time.perf_counter() - begin
        _merge(monoid, line)
        best, spent = min(best, taken), spent + taken
        if spent > settings.point_seconds / 4:
            break
    return best
