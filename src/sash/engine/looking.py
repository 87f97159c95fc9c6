"""What a stream holds between two pushes: how much of it, and which windows are still open."""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine import firing
from sash.engine.firing import Moment
from sash.engine.state import State
from sash.plan.plan import Plan, Planned
from sash.slicing.slicer import indices_of

__all__ = ["next_end", "open_count", "open_windows", "slices_of"]


def open_count(plan: Plan, state: State) -> int:
    """How many windows hold rows and are not closed yet: by arithmetic, so of a key with gaps a few too many."""
    slices = state.slices
    held = np.flatnonzero(slices.count)
    if not len(held):
        return len(np.unique(state.waiting.slots))
    begins = slices.begin[held]
    oldest = slices.firsts[slices.order[begins]]
    newest = slices.lasts[slices.order[begins + slices.count[held] - 1]]
    total = 0
    for each in plan.queries:
        window: Any = each.window
        if window.kind in ("grid", "cumulative"):
            since = np.maximum(oldest, state.watermark)
            still = since < plan.measure.highest
            first, last = _numbers(window, since[still], newest[still])
            total += int(np.maximum(last - first + 1, 0).sum())
        else:  # what rows decide: one for each key at least
            total += len(held)
    return total


def next_end(plan: Plan, state: State) -> Any:
    """The first position after the watermark at which a window with rows ends; None if only rows decide that."""
    slices = state.slices
    own, _ = slices.live()
    found = []
    for each in plan.queries:
        window: Any = each.window
        if window.kind in ("grid", "cumulative") and len(own) and state.watermark < plan.measure.highest:
            after = np.maximum(slices.firsts[own], state.watermark)
            first, last = _numbers(window, after, slices.lasts[own])
            if (first <= last).any():
                found.append(firing.next_end(window, after[first <= last].min().item()))
        elif window.kind == "last_rows" and len(own) and state.watermark < plan.measure.highest:
            found.append(firing.next_end(window, max(slices.firsts[own].min().item(), state.watermark)))
        elif window.kind == "landmark" and window.end > state.watermark:
            found.append(window.end)
    return min(found, default=None)


def _numbers(window: Any, since: Any, newest: Any) -> tuple[Any, Any]:
    """The numbers of the first window on a grid that ends after one position, and of the last that holds another."""
    grid = window.grid
    if window.kind == "grid":
        first = indices_of(grid.step, grid.end_phase, grid.unit, since) + 1 - grid.whole
        return first, indices_of(grid.step, grid.phase, grid.unit, newest)
    # A cumulative window is the number of its end.
    first = indices_of(grid.step, grid.phase, grid.unit, since) + 1
    return first, (indices_of(grid.step, grid.phase, grid.unit, newest) // grid.whole + 1) * grid.whole


def open_windows(plan: Plan, state: State) -> pa.Table:
    """Every window that holds rows and is not closed yet, by key: those whose edges are known."""
    slots = np.arange(state.slices.keys)
    parts = []
    for each in plan.queries:
        if each.window.by_count or each.window.kind in ("last_rows", "user_aware", "user_free"):
            continue
        moment = Moment(slots, state.watermark, _until(plan, state, each), again=True)
        ended = firing.due(plan, state, each, moment)
        open_yet = np.flatnonzero(ended.ends > state.watermark)
        ended = ended.taken(open_yet)
        columns = _keys(plan, state, ended.slots)
        columns["query"] = pa.array([each.name] * len(ended), pa.string())
        columns["window_start"] = plan.measure.to_arrow(ended.starts)
        columns["window_end"] = plan.measure.to_arrow(ended.ends)
        parts.append(pa.table(columns))
    if parts:
        return pa.concat_tables(parts)
    empty = plan.measure.to_arrow(np.zeros(0, plan.measure.dtype))
    names = pa.array([], pa.string())
    return pa.table({**_keys(plan, state, slots[:0]), "query": names, "window_start": empty, "window_end": empty})


def _until(plan: Plan, state: State, query: Planned) -> Any:
    slots = np.arange(state.slices.keys)
    return firing.open_until(plan, state, query, slots)


def slices_of(plan: Plan, state: State) -> pa.Table:
    """Every slice that is kept: its key, its first and last row, and the edge after them."""
    slices = state.slices
    own, slots = slices.live()
    ends = np.where(slices.ends[own] >= plan.measure.highest, slices.lasts[own], slices.ends[own])
    columns = _keys(plan, state, slots)
    for name, positions in (("first", slices.firsts[own]), ("last", slices.lasts[own]), ("end", ends)):
        columns[name] = plan.measure.to_arrow(positions.astype(plan.measure.dtype))
    return pa.table(columns)


def _keys(plan: Plan, state: State, slots: Any) -> dict[str, Any]:
    return dict(zip(plan.options.by, state.keys.columns(slots), strict=True)) if plan.options.by else {}
