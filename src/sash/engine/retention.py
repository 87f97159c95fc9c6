"""Drop what no window needs any more: emitted windows that are final, slices, keys."""

from typing import Any

import numpy as np

from sash.engine.state import State
from sash.plan.plan import Plan
from sash.slicing import slice_manager, sweeper
from sash.slicing.grids import Grids
from sash.slicing.slices import NO_CUT

__all__ = ["forget", "merge_ended"]


def forget(plan: Plan, state: State, grids: Grids | None, final: Any) -> None:
    """Drop what only final windows needed; `grids` are those of queries that share one pass."""
    if plan.has_revisions:
        _forget_final(plan, state, final)
    for query in plan.separate_queries:
        query.kind.forget(state.own[query.name], final)
    slices = state.slices
    if slices.used <= 2 * state.swept + plan.options.limits.sweep_slices:
        return
    keep_from, fine_from = _keep_from(plan, grids, final)
    first = np.full(slices.keys, NO_CUT)
    for query in plan.separate_queries:
        query.kind.keep_places(slices, state.own[query.name], final, first)
    for family, queries in plan.kept_together:
        family.keep_places(slices, [state.own[query.name] for query in queries], first)
    dropped, merged = sweeper.drop(slices, keep_from, fine_from, first, plan.edges.points, plan.cuts)
    for partials in state.partials:
        partials.merge(merged)
        partials.forget(dropped)
    slice_manager.release(slices, dropped)
    slice_manager.release(slices, merged[:, 1])
    state.swept = slices.used
    _free_keys(plan, state)


def merge_ended(plan: Plan, state: State) -> None:
    """Merge slices between which only windows end that were emitted, once there are enough new slices."""
    slices, limits = state.slices, plan.options.limits
    state.merged = min(state.merged, slices.used)
    if plan.starts is None or slices.used < (1 + limits.merge_share) * state.merged + limits.merge_slices:
        return
    merged = sweeper.merge_ended(slices, plan.starts)
    for partials in state.partials:
        partials.merge(merged)
    slice_manager.release(slices, merged[:, 1])
    state.merged = slices.used


def _keep_from(plan: Plan, grids: Grids | None, final: Any) -> tuple[Any, Any]:
    """Return the position from which slices are needed, and the one from which all their edges are needed."""
    measure = plan.measure
    if final == measure.lowest:
        return final, final
    keep = fine = measure.highest
    if final < measure.highest:
        if grids is not None:
            keep = fine = grids.oldest_start(final)
        for query in plan.separate_queries:
            needed, with_edges = query.kind.keep_from(final)
            keep, fine = min(keep, needed), min(fine, with_edges)
    return min(keep, fine), fine


def _forget_final(plan: Plan, state: State, final: Any) -> None:
    """Forget emitted windows that cannot change any more."""
    for query in plan.queries:
        emitted = state.emitted.get(query.name)
        if emitted is not None and len(emitted):
            is_final = query.kind.find_final(state.slices, state.own[query.name], final, emitted)
            if is_final.any():
                state.emitted[query.name] = emitted.take(np.flatnonzero(~is_final))


def _free_keys(plan: Plan, state: State) -> None:
    """Drop keys without any state, unless a query must continue to count their rows."""
    if not plan.options.by or any(query.kind.keeps_keys for query in plan.queries):
        return
    slices = state.slices
    empty = slices.count == 0
    empty[state.waiting.slots] = False
    empty[state.keys.capacity :] = False
    empty[state.keys.unused] = False
    for emitted in state.emitted.values():
        empty[emitted.slots] = False
    freed = np.flatnonzero(empty)
    slices.seen[freed] = 0
    slices.room[freed] = 0
    slices.cut[freed] = 0
    state.keys.free(freed)
