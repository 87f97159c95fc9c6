"""Frames, the windows of SQL's OVER, on a table: one result per row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.aggregate import Aggregate, Builtin
from sash.algebra.fields import Field, allocate
from sash.algebra.monoid import Monoid
from sash.engine.coded_columns import code_columns
from sash.engine.frame import PLAIN, Extent, Frame, Order, extent_of
from sash.engine.frame_ranges import Line, Ranges, ranges_of
from sash.engine.input_rows import types_of
from sash.engine.options import options_of
from sash.engine.results import values_of
from sash.engine.row_order import key_slots, sort_rows
from sash.engine.sorted_rows import SortedRows
from sash.engine.tables import Rows
from sash.errors import InvalidAggregate, InvalidQuery, SashError
from sash.plan.query import Query, query
from sash.plan.share import ColumnType, arrow_type, group_aggregates, readings_of, statistic_of, view_of
from sash.slicing.runs import Read, Statistic
from sash.slicing.slices import Array
from sash.swag import loops
from sash.swag.catalog import find
from sash.swag.range_tallies import over_tallies, tally_of
from sash.swag.split_ranges import over_split_ranges
from sash.windows.built_in import tumbling
from sash.windows.measure import Measure

__all__ = ["FramePlan", "compute_frames", "compute_ranges", "line_of", "plan_frames"]


@dataclass(frozen=True)
class FramePlan:
    """The plan of frames over columns of known types."""

    frames: tuple[Frame, ...]
    on: str
    by: tuple[str, ...]
    order: Order
    measure: Measure
    extents: tuple[Extent, ...]
    types: dict[str, ColumnType]

    def lines(self) -> list[str]:
        """Return the plan as text that is the same in every process."""
        order = "" if self.order.is_plain else f" ordered by {self.order}"
        found = [f"on {self.on} by {', '.join(self.by) or 'no key'}{order}"]
        for each, extent in zip(self.frames, self.extents, strict=True):
            results = ", ".join(f"{name}={template}" for name, template in each.aggregates)
            groups, _, _ = group_aggregates([_as_query(each)], self.types)
            parts = " ".join(component.name for group in groups for component in group.components)
            found.append(f"{extent}, at least {each.min_samples}: {results} ({parts})")
        return found

    def results(self) -> list[tuple[str, Any]]:
        """Return the names and Arrow types of the added columns; None if the type depends on the objects."""
        found = []
        for each in self.frames:
            wanted = _as_query(each)
            _, names, readings = group_aggregates([wanted], self.types)
            found += [(reading.name, reading.arrow) for reading in readings_of(readings[wanted.name], names)]
        return found


def plan_frames(
    given: Rows, frames: tuple[Frame, ...], on: str, by: str | Sequence[str] | None, order: Order = PLAIN
) -> FramePlan:
    """Check frames against the columns of a table, and return their plan."""
    options = options_of(on, by, 0, None, False, "final")
    for name in (on, *options.by, *order.columns):
        given.known(name)
    taken = list(given.names)
    for each in frames:
        for name, _ in each.aggregates:
            if name in taken:
                raise InvalidQuery.reserved("rolling", name, taken)
            taken.append(name)
    measure = given.measure(on)
    extents = tuple(extent_of(each, measure) for each in frames)
    types = types_of([_as_query(each) for each in frames], given, may_change=False)
    for each in frames:
        group_aggregates([_as_query(each)], types)
    return FramePlan(frames, on, options.by, order, measure, extents, types)


def _as_query(frame: Frame) -> Query:
    return query("rolling", tumbling(1), **dict(frame.aggregates))


def compute_frames(plan: FramePlan, given: Rows, threads: int | None = None) -> dict[str, Any]:
    """Return the columns that frames add to a table, computed with coded columns; None: on all cores."""
    queries = [replace(_as_query(each), name=str(k)) for k, each in enumerate(plan.frames)]
    coded = code_columns(given, queries, plan.types)
    if coded is None:
        return _compute_frames(plan, given, threads)
    frames = tuple(
        replace(each, aggregates=query.aggregates)
        for each, query in zip(plan.frames, coded.coding.queries, strict=True)
    )
    types = types_of(coded.coding.queries, coded.rows, may_change=False)
    computed = _compute_frames(replace(plan, frames=frames, types=types), coded.rows, threads)
    found = coded.decode(computed, "rolling")
    return {name: found[name] for each in plan.frames for name, _ in each.aggregates}


def _compute_frames(plan: FramePlan, given: Rows, threads: int | None) -> dict[str, Any]:
    order, line = line_of(plan, given)
    rows = SortedRows(given, plan.types, order, line.begins, threads=threads)
    columns: dict[str, Any] = {}
    for each, extent in zip(plan.frames, plan.extents, strict=True):
        columns |= compute_ranges(rows, each, ranges_of(extent, line))
    return columns


def line_of(plan: FramePlan, given: Rows) -> tuple[Array, Line]:
    """Return the places of rows in their order, and the sorted rows; leave out rows without a position."""
    positions, valid = given.positions(plan.on, plan.measure)
    is_down, *rest = plan.order.descending
    further = [(given.arrow(name), down) for name, down in zip(plan.order.columns, rest, strict=True)]
    return sort_rows(key_slots(given, plan.by), -positions if is_down else positions, valid, further)


def compute_ranges(rows: SortedRows, frame: Frame, ranges: Ranges) -> dict[str, Any]:
    """Return the results of ranges of rows: statistics of sorted values from ranks and codes, others by sliding."""
    aggregates = dict(frame.aggregates)
    statistics: dict[str, dict[str, Statistic]] = {}
    for name, template in frame.aggregates:
        statistic = statistic_of(template, rows.types)
        if statistic is not None and rows.can_compute(statistic, template.columns[0]):
            statistics.setdefault(template.columns[0], {})[name] = statistic
    columns = {}
    for column, wanted in statistics.items():
        for name in [each for each, statistic in wanted.items() if statistic.read is Read.COLLECT_DISTINCT]:
            least = frame.min_samples
            enough = _has_samples([rows.valid(column)], ranges, least) if least > 1 else None
            columns[name] = rows.distinct_lists(column, ranges, enough)
            del wanted[name]
        found = rows.compute(list(wanted.values()), column, ranges)
        for name, (values, valid) in zip(wanted, found, strict=True):
            if frame.min_samples > 1:
                valid = valid & _has_samples([rows.valid(column)], ranges, frame.min_samples)
            kind = rows.types[column].arrow if wanted[name].read is Read.MODE else None
            columns[name] = rows.scatter(values, valid, kind)
    for name, template in frame.aggregates:
        if isinstance(template, Builtin) and template.name in ("collect", "string_agg"):
            lists = _compute_lists(rows, template, ranges, frame.min_samples)
            if lists is not None:
                columns[name] = lists
    for name, template in frame.aggregates:
        if name not in columns and isinstance(template, Builtin):
            columns |= _compute_by_tally(rows, template, name, ranges, frame.min_samples)
    others = tuple(each for each in frame.aggregates if each[0] not in columns)
    if others:
        columns |= _compute_by_sliding(rows, replace(frame, aggregates=others), ranges)
    return {name: columns[name] for name in aggregates}


def _compute_lists(rows: SortedRows, template: Builtin, ranges: Ranges, least: int) -> Any:
    """Return the lists of values of frames, or the joined strings; None if Arrow cannot make them."""
    (column,) = template.columns
    if not rows.can_list(column):
        return None
    enough = _has_samples([rows.valid(column)], ranges, least) if least > 1 else None
    if template.name == "collect":
        return rows.lists(column, ranges, enough)
    if not pa.types.is_string(rows.types[column].arrow):
        return None
    counts = _has_samples([rows.valid(column)], ranges, 1)  # no values, no text
    lists = rows.lists(column, ranges, counts if enough is None else counts & enough)
    return pc.binary_join(lists, dict(template.parameters)["separator"])


def _compute_by_tally(rows: SortedRows, template: Builtin, name: str, ranges: Ranges, least: int) -> dict[str, Any]:
    """Return the results of a sketch, if its rows can enter and leave one partial; else nothing."""
    kinds = tuple(rows.types[column].column for column in template.columns)
    parts = template.parts(kinds, False)
    monoid = tally_of(name, parts, kinds)
    if monoid is None or not monoid.is_compiled:
        return {}
    columns = [rows.column(column) for column in template.columns]
    results, presences = _allocate(monoid, ranges)
    inputs = (*(data for data, _ in columns), *(valid for _, valid in columns))
    over_tallies(monoid, inputs, ranges.starts, ranges.ends, results, presences)
    values, valid = values_of(monoid.outputs[0], results[0], iter(presences), f"rolling.{name}")
    if least > 1:
        valid = valid & _has_samples([rows.valid(column) for column in template.columns], ranges, least)
    return {name: rows.scatter(values, valid, arrow_type(template, parts.result, rows.types))}


def _allocate(monoid: Monoid, ranges: Ranges) -> tuple[Any, Any]:
    """Allocate the results of ranges, and the presences of those that can be absent."""
    rows, compiled = ranges.starts.shape[1], monoid.is_compiled
    results = tuple(each.result.empty(rows, compiled) for each in monoid.outputs)
    return results, allocate(tuple(Field("u1") for each in monoid.outputs if each.presence), rows, compiled)


def _compute_by_sliding(rows: SortedRows, frame: Frame, ranges: Ranges) -> dict[str, Any]:
    wanted = _as_query(frame)
    groups, names, found = group_aggregates([wanted], rows.types)
    readings = readings_of(found[wanted.name], names)
    columns = {}
    users = [each.template.name for each in readings if isinstance(each.template, Aggregate)]
    for place, (group, own) in enumerate(zip(groups, names, strict=True)):
        view = view_of(group, found[wanted.name], place, {})
        assert view is not None
        monoid = replace(group, outputs=view.monoid.outputs, name="frames")
        results, presences = _slide(monoid, rows, [rows.column(name) for name in own], ranges, users)
        flags = iter(presences)
        for reading in (each for each in readings if each.group == place):
            output = monoid.outputs[reading.output]
            values, valid = values_of(output, results[reading.output], flags, f"rolling.{reading.name}")
            if frame.min_samples > 1:
                known = [rows.valid(name) for name in reading.template.columns]
                valid = valid & _has_samples(known, ranges, frame.min_samples)
            columns[reading.name] = rows.scatter(values, valid, reading.arrow)
    return columns


def _slide(
    monoid: Monoid, rows: SortedRows, columns: list[tuple[Any, Any]], ranges: Ranges, users: list[str]
) -> tuple[Any, Any]:
    """Fold each range of rows; they are sorted by key, so ranges never move back."""
    compiled = monoid.is_compiled
    inputs: tuple[Any, ...] = (*(data for data, _ in columns), *(valid for _, valid in columns))
    if not inputs:
        inputs = (np.zeros(len(rows), np.int64),)  # without columns, kernels need the number of rows
    if not compiled:
        inputs = tuple(each.tolist() for each in inputs)
    results, presences = _allocate(monoid, ranges)
    if ranges.starts.shape[1]:
        try:
            if ranges.is_whole:
                of_rows = ranges.starts[0], ranges.ends[0]
                loops.over_ranges(find("sba"), monoid, inputs, *of_rows, results, presences, rows.threads)
            else:
                over_split_ranges(monoid, inputs, ranges.starts, ranges.ends, results, presences)
        except SashError:
            raise
        except Exception as error:
            if not users:
                raise
            raise InvalidAggregate.fails(" or ".join(users), "lift, combine or lower", "these rows", error) from error
    return results, presences


def _has_samples(valid: list[Array], ranges: Ranges, least: int) -> Array:
    if not valid:
        return np.asarray(ranges.sizes >= least)
    return np.asarray(ranges.count(np.logical_and.reduce(valid)) >= least)
