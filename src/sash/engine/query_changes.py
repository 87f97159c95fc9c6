"""Add and remove queries while a stream runs, or between saving and restoring it."""

import numpy as np

from sash.engine.labels import derive_waiting
from sash.engine.state import State
from sash.engine.step import Engine
from sash.errors import InvalidWindow
from sash.plan.plan import Plan

__all__ = ["adapt"]


def adapt(new: Engine, state: State) -> None:
    """Adapt a state to the plan of a new engine, and free what only removed queries needed.

    The state itself contains what is needed of the old plan. So a running and a restored stream change their queries
    in the same way, and restoring does not need the queries that were removed.
    """
    plan, slices, old = new.plan, state.slices, state.cutting
    lowest = plan.measure.lowest
    _check_reach(plan, state)
    if plan.waits and not old.is_ordered:
        state.unordered_until = state.rows_since = max(state.unordered_until, state.newest)
        slices.seen[:] = 0
        slices.ranks[:] = -1
    elif plan.cuts.is_each_row and not old.is_each_row:
        # From now on each row is a slice of its own: all rows after the last one that was placed.
        placed = min(new.watermarks.final(state.watermark), state.newest) if plan.waits else state.newest
        state.rows_since = max(state.rows_since, placed)
    gaps = {gap: state.unseen.get(name, lowest) for name, gap in old.gaps}
    for name, gap in old.gaps:  # of several queries with one gap, use the one that has seen most rows
        gaps[gap] = min(gaps[gap], state.unseen.get(name, lowest))
    derive_waiting(plan, state)
    state.move_to(plan)
    _recut(new, state)
    for query in plan.queries:
        if query.name in old.queries:
            continue
        state.added[query.name] = state.watermark
        state.ensure_keys(slices.keys)
        state.own[query.name], unseen = query.kind.start_among(state.view(), state.own[query.name], gaps)
        known = [each for each in (unseen, state.mixed_until(query)) if each is not None and each > lowest]
        if unseen is not None or known:
            state.unseen[query.name] = max(known, default=lowest)
    if not plan.waits and len(state.waiting):
        rest, state.waiting = state.waiting, state.waiting.part(0, 0)
        new.placer.place(state, rest, in_order=False)


def _recut(new: Engine, state: State) -> None:
    """Set the edges and ranks of existing slices to those at which the new plan cuts."""
    slices = state.slices
    used, _ = slices.list_all()
    if len(used):
        lasts = np.sort(slices.lasts[used])
        edges = new.placer.edges_after(lasts, lasts[0], lasts[-1])
        slices.ends[used] = edges[np.searchsorted(edges, slices.lasts[used], side="right")]
    slices.cut[:] = new.plan.cuts.from_ranks(slices.seen)


def _check_reach(plan: Plan, state: State) -> None:
    """Refuse windows that are too fine for existing positions."""
    if plan.measure.dtype.kind != "f":
        return
    used, _ = state.slices.list_all()
    rows = state.slices.firsts[used], state.slices.lasts[used], state.waiting.positions
    known = np.abs(np.concatenate([*rows, [state.watermark, state.newest]]))
    furthest = known[np.isfinite(known)].max(initial=0.0)
    if furthest > plan.measure.reach:
        raise InvalidWindow.too_fine(furthest, plan.measure.reach)
