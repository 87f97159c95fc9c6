"""Make a plan from queries, types and options; refuse what does not fit together, with the user's names."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Builtin
from sash.algebra.monoid import Column, Monoid, of_partials
from sash.errors import InvalidInput, InvalidQuery, InvalidWindow, UnknownName
from sash.kinds.catalog import kind_of
from sash.kinds.kind import Kind, Setting
from sash.plan.coding import code_queries, typed, uncoded
from sash.plan.decide import Traits, keeps_rows, needs_splits, removes_rows, uses_tree
from sash.plan.plan import Options, Plan, PlannedQuery
from sash.plan.query import Query
from sash.plan.share import ColumnType, group_aggregates, keeps_lists, keeps_runs, readings_of, view_of
from sash.slicing.cuts import Cuts
from sash.slicing.partials import View
from sash.slicing.slicer import Edges
from sash.windows import built_in
from sash.windows.lengths import length_on
from sash.windows.measure import Measure, MeasureKind
from sash.windows.window import Context, Window

__all__ = ["make_plan", "of_slices"]

MOST_FLAGS = 62  # each is a bit of a slice


def make_plan(
    queries: Sequence[Query],
    options: Options,
    types: Mapping[str, ColumnType],
    measure: Measure,
    key_types: Sequence[Any],
    coded: bool = True,
) -> Plan:
    """Make the plan of queries over columns of these types; one of built-in windows and aggregates is made once.

    If it is not coded, partials are those of the values themselves, as Spark computes them.
    """
    if all(_is_built_in(each) for each in queries):
        # Numbers may be equal and shown differently, as 10 and 10.0, and texts of queries are part of a plan.
        shown = repr((queries, options, measure.reach, measure.is_strict))
        key = _PlanKey(tuple(queries), options, tuple(types.items()), measure, tuple(key_types), shown, coded)
        try:
            hash(key)
        except TypeError:
            return _make_plan(queries, options, types, measure, key_types, coded)
        return _plan_of(key)
    return _make_plan(queries, options, types, measure, key_types, coded)


@dataclass(frozen=True)
class _PlanKey:
    """Everything that a plan is made of."""

    queries: tuple[Query, ...]
    options: Options
    types: tuple[tuple[str, ColumnType], ...]
    measure: Measure
    key_types: tuple[Any, ...]
    shown: str
    coded: bool


def _is_built_in(query: Query) -> bool:
    """Return whether a query has no function of a user, and its window computes no table of edges."""
    is_plain = type(query.window).__module__ == built_in.__name__
    return is_plain and all(type(each) is Builtin for _, each in query.aggregates)


@lru_cache(maxsize=128)
def _plan_of(key: _PlanKey) -> Plan:
    return _make_plan(key.queries, key.options, dict(key.types), key.measure, key.key_types, key.coded)


def _make_plan(
    queries: Sequence[Query],
    options: Options,
    types: Mapping[str, ColumnType],
    measure: Measure,
    key_types: Sequence[Any],
    coded: bool,
) -> Plan:
    lateness = length_on(measure, "allowed_lateness", options.lateness)
    delay = None if options.delay is None else length_on(measure, "watermark", options.delay)
    for each in queries:
        for column in each.window.columns:
            if column not in types:
                raise UnknownName.of("column", column, types)
        for result, _ in each.aggregates:
            if result in options.result_keys:
                raise InvalidQuery.reserved(each.name, result, options.result_keys)
    coding = code_queries(queries, types, options.is_table) if coded else uncoded(queries, types)
    groups, group_columns, found = group_aggregates(coding.queries, coding.types)
    readings = {name: readings_of(own, group_columns) for name, own in found.items()}
    windows = [each.window.on(measure) for each in queries]
    furthest = min((window.furthest for window in windows), default=math.inf)
    if measure.kind is MeasureKind.FLOAT:
        # Larger floats are too coarse for some window: neighbouring edges would be equal.
        furthest = min(furthest, 2.0**52 * min((window.finest for window in windows), default=math.inf))
    measure = measure.within(furthest, options.is_table)
    flags = _flags(windows, types)
    kinds = [kind_of(window, _setting(options, measure, lateness, flags)) for window in windows]
    for each, kind in zip(queries, kinds, strict=True):
        if kind.windows_per_row > kind.most_windows:  # a kernel, which cannot be interrupted, would run for days
            raise InvalidWindow.too_many(each.name, kind.windows_per_row, kind.most_windows)
    columns = {name: coding.types[name] for names in group_columns for name in names}
    watched = tuple(dict.fromkeys(name for kind in kinds if kind.reads_rows for name in kind.window.columns))
    columns |= {name: types[name] for name in watched}
    traits = [_traits(each, kind) for each, kind in zip(queries, kinds, strict=True)]
    rows = keeps_rows(options.in_order, traits)
    progressions = [each for kind in kinds for each in kind.progressions()]
    edges = Edges.of(progressions, [each for kind in kinds for each in kind.points()], measure.dtype)
    compiled = all(group.is_compiled or keeps_runs(group) or keeps_lists(group) for group in groups)
    each_row = any(window.context is Context.FORWARD_AWARE for window in windows)
    cuts = _cuts(kinds, each_row, bool(flags) or any(kind.marks_edges for kind in kinds))
    starts = _starts(kinds, cuts, edges) if options.in_order else None
    per_unit = (edges if starts is None else starts).per_unit()
    spans = [kind.slices_per_window(cuts.per_row if kind.window.by_count else per_unit) for kind in kinds]
    views: dict[Any, View] = {}
    planned = tuple(
        PlannedQuery(
            each.name,
            str(each),
            kind,
            tuple(view_of(group, found[each.name], k, views) for k, group in enumerate(groups)),
            readings[each.name],
            typed(coding.results[each.name], readings[each.name]),
            trait,
            removes_rows(options.in_order, trait),
            span,
        )
        for each, kind, trait, span in zip(queries, kinds, traits, spans, strict=True)
    )
    longest = max((span for span in spans if math.isfinite(span)), default=1.0)
    return Plan(
        options,
        measure,
        lateness,
        delay,
        tuple(key_types),
        columns,
        groups,
        group_columns,
        planned,
        flags,
        watched,
        edges,
        starts,
        cuts,
        rows,
        needs_splits(options.in_order, traits),
        uses_tree(longest if not each_row else math.inf, compiled, options.limits, options.store),
        _result_columns(planned),
    )


def of_slices(plan: Plan) -> Plan:
    """Return the same plan over rows that are slices: their columns are the fields of partials.

    A slice stands at its start, so every window that holds a row of it holds it.
    """
    names = tuple(
        tuple(f"sash partial {g}.{k}" for k in range(len(group.fields))) for g, group in enumerate(plan.groups)
    )
    columns = {}
    for group, own in zip(plan.groups, names, strict=True):
        times = _time_fields(group)
        for each, name, is_time in zip(group.fields, own, times, strict=True):
            arrow = pa.null() if each.is_object or each.is_array else pa.from_numpy_dtype(each.dtype)
            columns[name] = ColumnType(Column(each, is_time=is_time), arrow)
    return replace(plan, groups=tuple(map(of_partials, plan.groups)), group_columns=names, columns=columns)


def _time_fields(group: Monoid) -> list[bool]:
    """Return which fields of a partial are dates or times of the input."""
    found = []
    for component in group.components:
        inputs = [group.columns[i] for i in component.inputs]
        for place, each in enumerate(component.fields):
            found.append(component.selective and place < len(inputs) and inputs[place].is_time and each.code == "i8")
    return found


def _flags(windows: Sequence[Window], types: Mapping[str, ColumnType]) -> tuple[str, ...]:
    """Return the boolean columns that open windows."""
    flags = tuple(dict.fromkeys(name for window in windows for name in window.flags))
    for name in flags:
        if not pa.types.is_boolean(types[name].arrow) and not pa.types.is_null(types[name].arrow):
            raise InvalidInput.option(f"Column {name!r} of a punctuated window", types[name].arrow, "boolean")
    if len(flags) > MOST_FLAGS:
        raise InvalidInput.option("The number of punctuation columns", len(flags), f"at most {MOST_FLAGS}")
    return flags


def _setting(options: Options, measure: Measure, lateness: Any, flags: tuple[str, ...]) -> Setting:
    shows_open = options.emit == "updates"
    return Setting(
        measure.lowest,
        measure.highest,
        measure.dtype,
        options.in_order,
        lateness > 0 or shows_open,
        shows_open,
        options.partial,
        flags,
    )


def _traits(query: Query, kind: Kind) -> Traits:
    return Traits(
        kind.window.context,
        kind.parts_at_gaps,
        kind.window.by_count,
        all(each.commutative for _, each in query.aggregates),
        all(each.invertible for _, each in query.aggregates),
    )


def _result_columns(queries: Sequence[PlannedQuery]) -> tuple[tuple[str, Any], ...]:
    """Return one column per name of a result; if two queries have the same name, with a type for both."""
    found: dict[str, Any] = {}
    for each in queries:
        for result in each.results:
            known = found.get(result.name, result.arrow)
            if known is not None and result.arrow is not None and known != result.arrow:
                both = (known, result.arrow)
                numbers = all(pa.types.is_integer(t) or pa.types.is_floating(t) for t in both)
                if not numbers or (pa.uint64() in both and not any(map(pa.types.is_floating, both))):
                    raise InvalidQuery.types(result.name, known, result.arrow)
                known = (
                    pa.float64() if pa.types.is_floating(known) or pa.types.is_floating(result.arrow) else pa.int64()
                )
            found[result.name] = known
    return tuple(found.items())


def _starts(kinds: Sequence[Kind], cuts: Cuts, edges: Edges) -> Edges | None:
    """Return the edges at which windows start (Cutty).

    None if a window starts elsewhere than at regular distances, or if windows end only where others start.
    """
    found = [kind.starts() for kind in kinds]
    if cuts.has_tails or cuts.is_each_row or cuts.gap >= 0 or len(cuts.every) or any(own is None for own in found):
        return None
    starts = Edges.of([each for own in found for each in own or ()], (), edges.step.dtype)
    return starts if starts.per_unit() < 0.99 * edges.per_unit() else None


def _cuts(kinds: Sequence[Kind], each_row: bool, has_tails: bool) -> Cuts:
    ranks = sorted({cut for kind in kinds for cut in kind.rank_cuts()})
    gaps = [kind.gap() for kind in kinds if kind.gap() is not None]
    return Cuts(
        np.array([every for every, _ in ranks], np.int64),
        np.array([phase for _, phase in ranks], np.int64),
        min(gaps, default=-1),
        each_row,
        has_tails,
    )
