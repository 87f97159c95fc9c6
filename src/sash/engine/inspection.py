"""Inspect the state of a stream between two pushes: open windows and slices."""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.state import State
from sash.engine.trigger import due
from sash.kinds.kind import Moment
from sash.plan.plan import Plan

__all__ = ["next_end", "open_count", "open_windows", "slices_of"]


def open_count(plan: Plan, state: State) -> int:
    """Return approximately how many windows contain rows and are not closed yet."""
    slices = state.slices
    keys = np.flatnonzero(slices.count)
    if not len(keys):
        return len(np.unique(state.waiting.slots))
    begins = slices.begin[keys]
    oldest = slices.firsts[slices.order[begins]]
    newest = slices.lasts[slices.order[begins + slices.count[keys] - 1]]
    held = state.view()
    return sum(query.kind.open_count(held, oldest, newest) for query in plan.queries)


def next_end(plan: Plan, state: State) -> Any:
    """Return the first end of a window with rows after the watermark; None if the ends depend on further rows."""
    held = state.view()
    ends = [query.kind.next_end(held) for query in plan.queries]
    return min((end for end in ends if end is not None), default=None)


def open_windows(plan: Plan, state: State) -> pa.Table:
    """Return every window with rows that is not closed yet and whose edges are known, by key."""
    slots = np.arange(state.slices.keys)
    empty = plan.measure.to_arrow(np.zeros(0, plan.measure.dtype))
    names = pa.array([], pa.string())
    parts = [pa.table({**_keys(plan, state, slots[:0]), "query": names, "window_start": empty, "window_end": empty})]
    for query in plan.queries:
        if not query.kind.shows_open:
            continue
        until = query.kind.open_until(state.view(), slots)
        ended = due(state, state.view(), query, Moment(slots, state.watermark, until, again=True))
        ended = ended.take(np.flatnonzero(ended.ends > state.watermark))
        columns = _keys(plan, state, ended.slots)
        columns["query"] = pa.array([query.name] * len(ended), pa.string())
        columns["window_start"] = plan.measure.to_arrow(ended.starts)
        columns["window_end"] = plan.measure.to_arrow(ended.ends)
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def slices_of(plan: Plan, state: State) -> pa.Table:
    """Return every slice: its key, its first and last row, and the edge after them."""
    slices = state.slices
    own, slots = slices.list_all()
    ends = np.where(slices.ends[own] >= plan.measure.highest, slices.lasts[own], slices.ends[own])
    columns = _keys(plan, state, slots)
    for name, positions in (("first", slices.firsts[own]), ("last", slices.lasts[own]), ("end", ends)):
        columns[name] = plan.measure.to_arrow(positions.astype(plan.measure.dtype))
    return pa.table(columns)


def _keys(plan: Plan, state: State, slots: Any) -> dict[str, Any]:
    return dict(zip(plan.options.by, state.keys.columns(slots), strict=True)) if plan.options.by else {}
