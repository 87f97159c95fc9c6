"""Place rows into slices: finally, or provisionally while their order is not final.

If a plan needs rows in order, they wait until no earlier row can arrive. If it also emits revisions, waiting rows are
placed provisionally, so that results include them, and removed again before the next push.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.engine.row_batch import RowBatch
from sash.engine.state import State
from sash.errors import InvalidAggregate, InvalidState, SashError
from sash.plan.plan import Plan
from sash.slicing import slice_manager
from sash.slicing.cuts import CutMarks
from sash.slicing.slice_manager import Placement
from sash.slicing.slicer import Cutter
from sash.slicing.slices import USED, Array

__all__ = ["PlacementSnapshot", "Placer", "as_user_error"]


@dataclass(frozen=True)
class PlacementSnapshot:
    """The data from before a provisional placement, to restore it."""

    slots: Array  # keys that have such rows
    count: Array  # of their slices
    seen: Array
    cut: Array
    made: Array  # slices
    own: dict[str, Any]  # the states of queries that read rows


class Placer:
    """Places the rows of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        limits = plan.options.limits
        self._cutter = Cutter(plan.edges, plan.measure.lowest, plan.measure.highest, limits.edges_ahead)
        self._sort_keys = limits.sort_keys
        self._cut_marks = CutMarks(plan.cuts)
        self._own_edges = [each.kind for each in plan.queries if each.kind.has_own_edges]
        self._row_readers = [each for each in plan.queries if each.kind.reads_rows]

    def edges_after(self, positions: Array, low: Any, high: Any) -> Array:
        """Return sorted edges that include, for every position from low to high, the first edge after it."""
        own = [kind.edges_of(positions) for kind in self._own_edges]
        return self._cutter.cut(positions, low, high, own)

    def place(
        self, state: State, batch: RowBatch, in_order: bool, fresh: Array | None = None, final: Any = None
    ) -> Placement | None:
        """Place rows into slices; keys in `fresh` begin a new slice, so that the placement can be undone.

        No row before `final` can come any more; None: rows can still come at every position.
        """
        if not len(batch):
            return None
        plan, slices = self.plan, state.slices
        low, high = batch.extent(in_order)
        if state.keys.capacity > self._sort_keys and len(batch) > state.keys.capacity // 4:
            batch = batch.by_key(state.keys.capacity)
        edges = self.edges_after(batch.positions, low, high)
        cuts = self._cut_marks.near(slices.seen[batch.slots], len(batch)) if plan.counts_rows else plan.cuts
        placed = slice_manager.place(
            slices, batch.slots, batch.positions, batch.bits, edges, cuts, in_order, fresh, final
        )
        for query in plan.separate_queries:
            query.kind.place(state.own[query.name], low)
        for partials, group, names in zip(state.partials, plan.groups, plan.group_columns, strict=True):
            partials.ensure(slices.capacity)
            partials.reset(placed.made)
            columns = [batch.columns[name] for name in names]
            flags = [valid for (_, valid), column in zip(columns, group.columns, strict=True) if column.nullable]
            inputs = (*(data for data, _ in columns), *flags)
            try:
                partials.add(placed.ids, inputs)
                partials.merge(placed.merged)
            except Exception as error:
                raise as_user_error(plan, state, error, "lift or combine") from error
        if len(placed.merged):
            slice_manager.release(slices, placed.merged[:, 1])
        return placed

    def place_final(self, state: State, batch: RowBatch, final: Any) -> None:
        """Pass rows to windows that read them, and place them; no row before `final` can come any more."""
        batch = self._notify(state, batch)
        state.shares_slices = False  # from now on, this state changes them
        self.place(state, batch, self.plan.is_ordered, final=final)

    def place_provisional(self, state: State, batch: RowBatch) -> PlacementSnapshot | None:
        """Place rows whose order is not final yet; return what restores the state."""
        if not len(batch):
            return None
        slices = state.slices
        state.ensure_keys(state.keys.capacity)
        slots = np.unique(batch.slots)
        before = slices.count[slots], slices.seen[slots], slices.cut[slots]
        fresh = np.zeros(slices.keys, np.int64)
        fresh[slots] = 1
        own = {each.name: state.own[each.name] for each in self._row_readers}
        for query in self._row_readers:
            state.own[query.name] = query.kind.provisional(own[query.name], slots)
        batch = self._notify(state, batch)
        placed = self.place(state, batch, self.plan.is_ordered, fresh, self.plan.measure.highest)
        return PlacementSnapshot(slots, *before, placed.made if placed is not None else np.zeros(0, np.int64), own)

    def restore_placement(self, state: State, snapshot: PlacementSnapshot) -> None:
        """Restore the state from before `place_provisional`."""
        slices, slots = state.slices, snapshot.slots
        slices.count[slots], slices.seen[slots], slices.cut[slots] = snapshot.count, snapshot.seen, snapshot.cut
        slices.dirty[slots] = np.minimum(slices.dirty[slots], snapshot.count)
        slices.cursor[USED] -= len(snapshot.made)
        for partials in state.partials:
            partials.forget(snapshot.made)
        slice_manager.release(slices, snapshot.made[::-1])
        state.own |= snapshot.own

    def _notify(self, state: State, batch: RowBatch) -> RowBatch:
        """Pass rows to windows that read them; return the rows with a bit at the first one after each edge."""
        if not len(batch) or not self._row_readers:
            return batch
        is_marked = np.zeros(len(batch), np.bool_)
        for query in self._row_readers:
            own, since = state.own[query.name], state.unseen.get(query.name)
            if query.kind.marks_edges and since is not None and batch.positions.min() <= since:
                # Rows that waited when the query was added lack the columns that only its window reads.
                places = np.flatnonzero(batch.positions > since)
                seen = batch.take(places)
                marks = query.kind.notify(own, seen.slots, seen.positions, seen.columns) if len(places) else None
            else:
                places = np.arange(len(batch))
                marks = query.kind.notify(own, batch.slots, batch.positions, batch.columns)
            if marks is not None:
                is_marked[places] |= marks
        if not self.plan.marks_edges:
            return batch
        bits = batch.bits if len(batch.bits) else np.zeros(len(batch), np.int64)
        return replace(batch, bits=bits | is_marked.astype(np.int64) << len(self.plan.punctuations))


def as_user_error(plan: Plan, state: State, error: Exception, what: str) -> Exception:
    """Convert an error of computing partials to that of a user's function, if there is one, or of saved bytes."""
    users = [
        reading.template.name
        for query in plan.queries
        for reading in query.readings
        if isinstance(reading.template, Aggregate)
    ]
    if isinstance(error, SashError) or not (users or state.is_restored):
        return error
    if not users:
        return InvalidState.partials("a result", error)
    return InvalidAggregate.fails(" or ".join(dict.fromkeys(users)), what, "rows of this push", error)
