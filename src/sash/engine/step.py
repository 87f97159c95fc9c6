"""The core of the engine: one push.

rows ─▶ watermark ─▶ wait until they are in order? ─▶ slices ─▶ partials ─▶ windows that are due ─▶ results
           │ rejected                                  ▲                          │
           ▼                                           └── dropped when no window needs them

A step depends only on its arguments. `Stream` and the buckets of a Spark stream are thin shells around it.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.compiler import compiling_for
from sash.engine.input_rows import InputRows
from sash.engine.labels import encode_labels, sweep_strings
from sash.engine.placement import Placer, as_user_error
from sash.engine.results import schema_of, table_of
from sash.engine.retention import forget, merge_ended
from sash.engine.row_batch import RowBatch
from sash.engine.state import State
from sash.engine.trigger import Trigger
from sash.engine.watermark import Watermarks
from sash.kinds.kind import Push
from sash.plan.plan import Plan
from sash.slicing.slices import Array

__all__ = ["Engine", "step"]


def step(plan: Plan, state: State, rows: InputRows, watermark: Any = None) -> tuple[State, pa.Table, Array]:
    """Process one push; return the next state, the results, and the places of rejected rows.

    >>> import sash
    >>> from sash.engine.input_rows import read_input
    >>> from sash.engine.tables import read_rows
    >>> queries = [sash.query("n", sash.tumbling(10), n=sash.count())]
    >>> plan = sash.explain({"t": [0]}, queries, on="t")
    >>> rows = read_input(plan, read_rows({"t": [3, 11]}))
    >>> state, results, rejected = step(plan, State.empty(plan), rows, watermark=10)
    >>> results.to_pylist(), len(rejected)
    ([{'query': 'n', 'window_start': 0, 'window_end': 10, 'n': 1}], 0)
    """
    return Engine(plan).step(state.copy(), rows, watermark)


class Engine:
    """The objects that a plan needs for every push; it holds no state of the stream."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.schema = schema_of(plan)
        self.watermarks = Watermarks(plan.measure, plan.lateness, plan.delay, plan.options.in_order)
        self.placer = Placer(plan)
        self.trigger = Trigger(plan)
        self.no_results = self.schema.empty_table()
        self._needs_touched = (
            plan.has_revisions or bool(plan.punctuations) or any(each.kind.reads_rows for each in plan.queries)
        )

    def step(
        self, state: State, rows: InputRows, watermark: Any = None, newest: Any = None, wants_results: bool = True
    ) -> tuple[State, pa.Table, Array]:
        """Accept rows, move the watermark, emit due windows; return state, results, and places of rejected rows.

        Change the state in place; but if users' functions may fail, change a copy, so that a failed push has no
        effect. `newest` is the newest row of all buckets, if this is one of several. A replay passes
        `wants_results=False`: the state changes in the same way, and there are no results.
        """
        if not self.plan.calls_user_functions:
            return self._step(state, rows, watermark, newest, wants_results)
        copy = state.fork()
        if not self.plan.calls_user_first:
            copy.unshare()
        try:
            return self._step(copy, rows, watermark, newest, wants_results)
        except BaseException as error:
            if copy.slices.cursor is state.slices.cursor and not copy.shares_slices:
                state.broken = error  # rows were placed into the slices of both
            raise

    def _step(
        self, state: State, rows: InputRows, watermark: Any, newest: Any, wants_results: bool
    ) -> tuple[State, pa.Table, Array]:
        accepted = self.watermarks.accept(state.watermark, rows.positions, rows.valid)
        batch = rows.batch(state.keys, accepted.accepted)
        if state.dictionaries:
            batch = self._encode(state, batch)
        state.rejected += len(rows) - len(batch)
        results = self.advance(state, batch, watermark, newest, wants_results)
        return state, results, accepted.rejected

    def _encode(self, state: State, batch: RowBatch) -> RowBatch:
        try:
            return encode_labels(self.plan, state, batch)
        except BaseException as error:  # some labels may have changed, and others not
            state.broken = error
            raise

    def advance(
        self, state: State, batch: RowBatch, watermark: Any = None, newest: Any = None, wants_results: bool = True
    ) -> pa.Table:
        """Add accepted rows, move the watermark, and return the windows that are due."""
        plan = self.plan
        if newest is not None:
            state.newest = max(state.newest, newest)
        if len(batch):
            last = batch.positions[-1] if plan.options.in_order else batch.positions.max()
            state.newest = max(state.newest, last.item())
        after = self.watermarks.after(state.watermark, state.newest, watermark)
        try:
            with compiling_for(state.rows + len(batch)):
                return self._advance(state, batch, after, wants_results)
        except BaseException as error:  # an interrupt, too, leaves an incomplete push
            state.broken = error
            raise

    def _advance(self, state: State, batch: RowBatch, after: Any, wants_results: bool) -> pa.Table:
        plan, before = self.plan, state.watermark
        state.ensure_keys(state.keys.capacity)
        state.rows += len(batch)
        touched = behind = np.zeros(0, np.int64)
        if len(batch) and self._needs_touched:
            touched = _distinct(batch.slots)
            if plan.lateness > 0 and (is_behind := batch.positions < before).any():
                behind = _distinct(batch.slots[is_behind])
        if plan.waits:
            shown = self._hold_back(state, batch, after)
        else:
            self.placer.place_final(state, batch, self.watermarks.final(after))
            shown = None
        state.watermark = after
        is_end = after >= plan.measure.highest
        slots = np.arange(state.slices.keys)
        push = Push(before, after, self.watermarks.final(before), is_end, slots, touched, behind)
        snapshot = None if shown is None else self.placer.place_provisional(state, shown)
        try:
            fired = self.trigger.fire(state, push, wants_results)
        finally:
            if snapshot is not None:
                self.placer.restore_placement(state, snapshot)
        try:
            results = self.no_results
            if fired and wants_results:
                results = table_of(plan, state.keys, state.dictionaries, self.schema, fired)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            if not state.is_restored:
                raise
            raise as_user_error(plan, state, error, "lower") from error
        # Not before the results: it also frees keys.
        forget(plan, state, self.trigger.all_grids, self.watermarks.final(after))
        if after > before:
            merge_ended(plan, state)
        if state.dictionaries:
            sweep_strings(plan, state)
        return results

    def _hold_back(self, state: State, batch: RowBatch, after: Any) -> RowBatch | None:
        """Place rows that are final in order; return the waiting rows that current results include."""
        plan = self.plan
        if len(batch) and batch.positions.min() <= state.unordered_until:
            # These are among rows that were cut in order of arrival, before a query that needs order was added.
            early = batch.positions <= state.unordered_until
            state.unshare()
            self.placer.place(state, batch.take(np.flatnonzero(early)), in_order=False)
            batch = batch.take(np.flatnonzero(~early))
        waiting, final = state.waiting.with_newer(batch), self.watermarks.final(after)
        count = waiting.until(final)
        self.placer.place_final(state, waiting.part(0, count), final)
        state.waiting = waiting.part(count, len(waiting))
        if not plan.has_revisions:
            return None
        if plan.options.emit == "updates":
            return state.waiting
        return state.waiting.part(0, state.waiting.until(after))


def _distinct(slots: Array) -> Array:
    return slots if len(slots) == 1 else np.unique(slots)
