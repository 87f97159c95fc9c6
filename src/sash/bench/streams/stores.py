"""What a single window costs: read from each store, finished one way or another, or after a split."""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, load
from sash.algebra.monoid import Monoid
from sash.bench.settings import Task
from sash.bench.streams.settings import StreamSettings
from sash.bench.streams.subjects import monoid_of
from sash.bench.streams.workloads import FUNCTIONS, Array, Function
from sash.bench.techniques import slice_manager
from sash.bench.techniques.contract import TECHNIQUES, Window
from sash.bench.timer import best_of, contest
from sash.bench.workloads import noise
from sash.report import Record, parameters
from sash.slicing.partials import Partials, View, settle_trees
from sash.slicing.slices import Slices
from sash.slicing.window_manager import Ended

__all__ = ["finish_tasks", "output_tasks", "split_tasks"]

COPIES = 16  # of a window are asked for at once, so that one answer and not the call is timed


class Store:
    """Slices of one key with a partial each, as a stream keeps them; the last few can be made to look new."""

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
            self.renew(slices)

    def renew(self, newest: int) -> None:
        """Bring the tree up to date after so many slices have been added."""
        self.slices.dirty[0] = int(self.slices.count[0]) - newest
        self.partials.bring_up_to_date(self.slices)
        settle_trees(self.slices)

    def finish(self, lows: Array, highs: Array, algorithm: str | None = None) -> Any:
        ended = Ended(np.zeros(len(lows), np.int64), lows, highs, lows, highs)
        return self.partials.finish(self.view, self.slices, ended, algorithm)


def _inputs(monoid: Monoid, rows: int) -> Fields:
    return (noise(rows),) if monoid.is_compiled else (noise(rows).tolist(),)


# --- Figure 11: the output of a store ----------------------------------------------------------------


def output_tasks(settings: StreamSettings) -> Iterator[Task]:
    """A window over all entries of a store: slices, or rows, or a bucket."""
    for name in ("sum", "median"):
        for kind in ("lazy", "eager"):
            yield Task(f"{kind} {name}", partial(_outputs, settings, f"sash {kind}", name))
        for technique in TECHNIQUES:
            if settings.techniques is None or technique in settings.techniques:
                yield Task(f"{technique} {name}", partial(_outputs, settings, technique, name))


def _outputs(settings: StreamSettings, subject: str, name: str) -> Iterator[Record]:
    function = FUNCTIONS[name]
    monoid = monoid_of(function)
    copies = COPIES if monoid.is_compiled else 1
    growth = 0.0  # how much longer ten times the entries took: what they will take next time
    before, last = 0.0, 0
    for entries in settings.entries:
        shape = parameters(entries=entries)
        expected = before * max(1.0, growth) if last else 0.0
        if expected > settings.point_seconds:
            note = f"left out: it would take about {expected:.1f} s"
            yield Record("output_latency", subject, "one window", None, "µs", name, shape, None, note)
            continue
        start = time.perf_counter()
        answer = _answer_of(subject, monoid, entries, copies)
        answer()
        taken = best_of(answer, 5, settings.point_seconds / 4).seconds
        spent = time.perf_counter() - start
        growth, before, last = (spent / before if before else 0.0), spent, entries
        yield Record("output_latency", subject, "one window", taken / copies * 1e6, "µs", name, shape)


def _answer_of(subject: str, monoid: Monoid, entries: int, copies: int) -> Callable[[], Any]:
    """A call that gives the result of the window some times over."""
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


# --- which way a window is finished --------------------------------------------------------------------

AT_ONCE = 1000  # windows in a push that ends many


def finish_tasks(settings: StreamSettings) -> Iterator[Task]:
    """Windows that slide by one slice: each folded, slid over, or read from a tree that is kept up to date."""
    for name in ("sum", "stddev"):
        for windows in (1, AT_ONCE):
            yield Task(f"{name}, {windows} per push", partial(_finish, settings, FUNCTIONS[name], windows))


def _finish(settings: StreamSettings, function: Function, windows: int) -> Iterator[Record]:
    monoid = monoid_of(function)
    for slices in settings.window_slices:
        lazy, eager = (Store(monoid, slices + windows, kind) for kind in (False, True))
        lows = np.arange(windows) + 1
        highs = lows + slices

        def by_tree(store: Store = eager, lows: Array = lows, highs: Array = highs) -> None:
            store.renew(len(lows))
            store.finish(lows, highs)

        calls: dict[str, Callable[[], Any]] = {
            "fold": partial(lazy.finish, lows, highs),
            "two_stacks_lite": partial(lazy.finish, lows, highs, "two_stacks_lite"),
            "tree": by_tree,
        }
        for call in calls.values():
            call()
        times = contest(calls, 50, settings.point_seconds / 4)
        shape = parameters(slices=slices, per_push=windows)
        for subject, timing in times.items():
            taken = timing.seconds / windows * 1e6
            yield Record("finish", subject, "one window", taken, "µs", function.name, shape)


# --- Figure 15: a split ------------------------------------------------------------------------------


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


def split_tasks(settings: StreamSettings) -> Iterator[Task]:
    """A slice with its rows, split in the middle: both halves are computed anew."""
    for name in ("sum", "median"):
        yield Task(name, partial(_splits, settings, name))


def _splits(settings: StreamSettings, name: str) -> Iterator[Record]:
    monoid = monoid_of(FUNCTIONS[name])
    before = 0.0
    for rows in settings.split_rows:
        shape = parameters(rows=rows)
        expected = before * 100 if name == "median" else before * 10  # a multiset is merged row by row
        if expected > 2 * settings.point_seconds:
            note = f"left out: it would take about {expected:.1f} s"
            yield Record("splits", "slice_manager", "recompute", None, "µs", name, shape, None, note)
            continue
        line = slice_manager.new_line(monoid)
        slice_manager.open_slice(line, 0, 0, rows)
        inputs = _inputs(monoid, rows)
        for start in range(0, rows, 32):
            line = slice_manager.roomier(line, 4)
            _fill(monoid, line, inputs, start, min(rows, start + 32))
        line = slice_manager.roomier(line, 64)
        taken = math.inf
        deadline = time.perf_counter() + settings.point_seconds / 2
        for run in range(10):
            start_time = time.perf_counter()
            _split(monoid, line, rows // 2)
            before = time.perf_counter() - start_time
            taken = min(taken, before) if run else before
            _merge(monoid, line)
            if time.perf_counter() > deadline:
                break
        before = taken
        yield Record("splits", "slice_manager", "recompute", taken * 1e6, "µs", name, shape)
