"""Queries that come and go while a stream runs, or between saving and restoring it."""

import numpy as np

from sash.engine.state import State
from sash.engine.step import Engine
from sash.errors import InvalidWindow
from sash.plan.plan import Plan
from sash.slicing import slice_manager

__all__ = ["adapt"]


def adapt(new: Engine, state: State) -> None:
    """Go on with other queries: adapt what is kept, and free what only a removed query needed.

    The state holds all that is asked of the plan before, so that a stream changes its queries in one way, whether it is
    running or restored: those who restore it need not have the queries that are gone.
    """
    plan, slices, old = new.plan, state.slices, state.cutting
    lowest = plan.measure.lowest
    _check_reach(plan, state)
    if plan.waits and not old.is_ordered:
        state.unordered_until = state.rows_since = max(state.unordered_until, state.newest)
        slices.seen[:] = 0
        slices.ranks[:] = -1
    elif plan.cuts.is_each_row and not old.is_each_row:
        # Rows that are cut from now on are slices of their own: all after the last that was cut.
        placed = min(new.watermarks.final(state.watermark), state.newest) if plan.waits else state.newest
        state.rows_since = max(state.rows_since, placed)
    gaps = {gap: state.unseen.get(name, lowest) for name, gap in old.gaps}
    for name, gap in old.gaps:  # of several queries with one gap, the one that has seen most
        gaps[gap] = min(gaps[gap], state.unseen.get(name, lowest))
    state.move_to(plan)
    _cut_anew(new, state)
    for query in plan.queries:
        if query.name in old.queries:
            continue
        state.added[query.name] = state.watermark
        state.ensure_keys(slices.keys)
        state.own[query.name], unseen = query.kind.start_among(state.held(), state.own[query.name], gaps)
        known = [each for each in (unseen, state.mixed_until(query)) if each is not None and each > lowest]
        if unseen is not None or known:
            state.unseen[query.name] = max(known, default=lowest)
    if not plan.waits and len(state.waiting):
        rest, state.waiting = state.waiting, state.waiting.part(0, 0)
        new.placer.place(state, rest, in_order=False)


def _cut_anew(new: Engine, state: State) -> None:
    """Give slices that are kept the edges and ranks at which the new plan cuts."""
    slices, cuts = state.slices, new.plan.cuts
    live, _ = slices.list_all()
    if len(live):
        lasts = np.sort(slices.lasts[live])
        edges = new.placer.edges_after(lasts, lasts[0], lasts[-1])
        slices.ends[live] = edges[np.searchsorted(edges, slices.lasts[live], side="right")]
    for key in range(slices.keys):
        seen = int(slices.seen[key])
        at_cut = bool(((seen - cuts.phase) % cuts.every == 0).any()) if len(cuts.every) else False
        slices.cut[key] = seen if at_cut else slice_manager.next_cut(cuts.every, cuts.phase, seen)


def _check_reach(plan: Plan, state: State) -> None:
    """Refuse windows that are too fine for positions that are there already."""
    if plan.measure.dtype.kind != "f":
        return
    live, _ = state.slices.list_all()
    rows = state.slices.firsts[live], state.slices.lasts[live], state.waiting.positions
    known = np.abs(np.concatenate([*rows, [state.watermark, state.newest]]))
    furthest = known[np.isfinite(known)].max(initial=0.0)
    if furthest > plan.measure.reach:
        raise InvalidWindow.too_fine(furthest, plan.measure.reach)
