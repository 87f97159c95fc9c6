"""Inspect the state of a stream between two pushes: open windows and slices."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.state import State
from sash.engine.trigger import due
from sash.kinds.kind import Kind, Moment
from sash.plan.plan import Plan, PlannedQuery
from sash.slicing.slices import Array
from sash.slicing.window_manager import Ended

__all__ = ["cut_by", "next_end", "open_count", "open_windows", "slices_of", "window_counts"]


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
    for query, ended in _open(plan, state, slots):
        columns = _keys(plan, state, ended.slots)
        columns["query"] = pa.array([query.name] * len(ended), pa.string())
        columns["window_start"] = plan.measure.to_arrow(ended.starts)
        columns["window_end"] = plan.measure.to_arrow(ended.ends)
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def window_counts(plan: Plan, state: State, slots: Array) -> pa.Table:
    """Return the open windows of some keys, and how many of these keys have each."""
    names: list[str] = []
    parts: list[tuple[Array, Array, Array]] = []
    for query, ended in _open(plan, state, slots):
        edges = pa.table({"start": ended.starts, "end": ended.ends})
        grouped = edges.group_by(["start", "end"], use_threads=False).aggregate([([], "count_all")])
        found, until, counts = (grouped.column(name).to_numpy() for name in ("start", "end", "count_all"))
        order = np.lexsort((until, found))
        names += [query.name] * len(order)
        parts.append((found[order], until[order], counts[order]))
    empty = np.zeros(0, plan.measure.dtype)
    starts, ends, keys = (np.concatenate(each) for each in zip((empty, empty, empty), *parts, strict=True))
    columns = {"window_start": plan.measure.to_arrow(starts), "window_end": plan.measure.to_arrow(ends)}
    return pa.table({"query": pa.array(names, pa.string()), **columns, "keys": pa.array(keys.astype(np.int64))})


def _open(plan: Plan, state: State, slots: Array) -> Iterator[tuple[PlannedQuery, Ended]]:
    """Yield each query that can tell its open windows, with these windows."""
    for query in plan.queries:
        if query.kind.shows_open:
            until = query.kind.open_until(state.view(), slots)
            ended = due(state, state.view(), query, Moment(slots, state.watermark, until, again=True))
            yield query, ended.take(np.flatnonzero(ended.ends > state.watermark))


def slices_of(plan: Plan, state: State, wanted: Array | None = None) -> pa.Table:
    """Return every slice, or those of some slots: its key, its first and last row, and the edge after them."""
    slices = state.slices
    own, slots = slices.list_all()
    if wanted is not None:
        places = np.flatnonzero(np.isin(slots, wanted))
        own, slots = own[places], slots[places]
    ends = np.where(slices.ends[own] >= plan.measure.highest, slices.lasts[own], slices.ends[own])
    columns = _keys(plan, state, slots)
    for name, positions in (("first", slices.firsts[own]), ("last", slices.lasts[own]), ("end", ends)):
        columns[name] = plan.measure.to_arrow(positions.astype(plan.measure.dtype))
    return pa.table(columns)


def cut_by(plan: Plan, edges: Array) -> list[tuple[str, ...]]:
    """Return, for each edge of slices, the queries that have it; an edge of no grid is one that rows decided."""
    found = {query.name: _has_edges(query.kind, edges) for query in plan.queries}
    by_rows = tuple(query.name for query in plan.queries if not query.kind.progressions() and not query.kind.points())
    return [tuple(name for name, has in found.items() if has[i]) or by_rows for i in range(len(edges))]


def _has_edges(kind: Kind, edges: Array) -> Array:
    has = np.isin(edges, np.array(kind.points(), edges.dtype))
    for each in kind.progressions():
        numbers = np.round((edges * each.unit - each.phase) / each.step)
        has |= np.isclose((numbers * each.step + each.phase) / each.unit, edges, rtol=1e-12, atol=0)
    if kind.has_own_edges and len(edges):
        has |= np.isin(edges, kind.edges_of(edges - (1 if edges.dtype.kind == "i" else 0)))
    return np.asarray(has)


def _keys(plan: Plan, state: State, slots: Any) -> dict[str, Any]:
    return dict(zip(plan.options.result_keys, state.keys.columns(slots), strict=True)) if plan.options.by else {}
