"""Frames, the windows of SQL's OVER, on a table: one result per row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.aggregate import Aggregate, Builtin, Template
from sash.algebra.compiler import kernel
from sash.algebra.fields import Field, allocate
from sash.algebra.monoid import Monoid
from sash.engine.coded_columns import code_columns
from sash.engine.input_rows import types_of
from sash.engine.keys import Keys
from sash.engine.options import options_of
from sash.engine.results import values_of
from sash.engine.row_batch import order_by_key
from sash.engine.sorted_rows import SortedRows
from sash.engine.tables import Rows
from sash.errors import InvalidAggregate, InvalidInput, InvalidQuery, SashError
from sash.plan.query import Query, describe, query
from sash.plan.share import ColumnType, group_aggregates, readings_of, statistic_of, view_of
from sash.slicing.runs import Statistic
from sash.slicing.slices import Array
from sash.swag import loops
from sash.swag.catalog import find
from sash.windows.built_in import tumbling
from sash.windows.duration import Duration
from sash.windows.lengths import length_on
from sash.windows.measure import Measure

__all__ = ["UNBOUNDED", "Closed", "Frame", "FramePlan", "compute_frames", "frame", "frames_of", "plan_frames"]

Closed = Literal["both", "right"]

# The length, in rows or microseconds, of a frame that reaches back to the first row of its key.
UNBOUNDED = 2**61 - 1


@dataclass(frozen=True)
class Frame:
    """The last `rows` rows of each row, or those within `range` before it, and the aggregates of them.

    >>> import sash
    >>> isinstance(sash.frame(rows=2, peak=sash.max("x")), sash.Frame)
    True
    """

    rows: int | None
    range: Any  # as the user gave it
    closed: Closed
    min_samples: int
    aggregates: tuple[tuple[str, Template], ...]

    def seal(self) -> "Frame":
        """Return the same frame, to be sent to another process, with aggregates that do not change on the way."""
        return replace(self, aggregates=tuple((name, each.seal()) for name, each in self.aggregates))


def frame(
    *, rows: int | None = None, range: Any = None, closed: Closed = "both", min_samples: int = 1, **aggregates: Template
) -> Frame:
    """Describe one of several frames of a call of `rolling`.

    >>> import sash
    >>> near, far = sash.frame(rows=2, near=sash.max("x")), sash.frame(range=10, far=sash.max("x"))
    >>> sash.rolling({"t": [1, 2, 4], "x": [5, 3, 1]}, near, far, on="t").select(["near", "far"]).to_pylist()
    [{'near': 5, 'far': 5}, {'near': 5, 'far': 5}, {'near': 3, 'far': 5}]
    """
    if (rows is None) == (range is None):
        raise InvalidInput.rows_or_range(rows, range)
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1):
        raise InvalidInput.at_least("rows", rows, 1)
    if closed not in ("both", "right"):
        raise InvalidInput.option("closed", closed, "'both' or 'right'")
    if isinstance(min_samples, bool) or not isinstance(min_samples, int | np.integer) or min_samples < 0:
        raise InvalidInput.at_least("min_samples", min_samples, 0)
    wanted = query("rolling", tumbling(1), **aggregates)
    return Frame(None if rows is None else int(rows), range, closed, int(min_samples), wanted.aggregates)


def frames_of(
    frames: Sequence[Frame], rows: Any, range: Any, closed: Closed, min_samples: int, aggregates: dict[str, Template]
) -> tuple[Frame, ...]:
    """Return all frames of a call: the given ones, and the one of the call's own options."""
    for each in frames:
        if not isinstance(each, Frame):
            raise InvalidInput.option("A frame", each, "made by sash.frame(rows=… or range=…, name=aggregate)")
    if frames and rows is None and range is None and not aggregates:
        return tuple(frames)
    return (*frames, frame(rows=rows, range=range, closed=closed, min_samples=min_samples, **aggregates))


@dataclass(frozen=True)
class FramePlan:
    """The plan of frames over columns of known types."""

    frames: tuple[Frame, ...]
    on: str
    by: tuple[str, ...]
    measure: Measure
    widths: tuple[Any, ...]  # of frames by range, in positions
    types: dict[str, ColumnType]

    def lines(self) -> list[str]:
        """Return the plan as text that is the same in every process."""
        found = [f"on {self.on} by {', '.join(self.by) or 'no key'}"]
        for each, width in zip(self.frames, self.widths, strict=True):
            extent = f"rows {each.rows}" if each.rows is not None else f"range {width} closed {each.closed}"
            results = ", ".join(f"{name}={describe(template)}" for name, template in each.aggregates)
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


def plan_frames(given: Rows, frames: tuple[Frame, ...], on: str, by: str | Sequence[str] | None) -> FramePlan:
    """Check frames against the columns of a table, and return their plan."""
    options = options_of(on, by, 0, None, False, "final")
    for name in (on, *options.by):
        given.known(name)
    taken = list(given.names)
    for each in frames:
        for name, _ in each.aggregates:
            if name in taken:
                raise InvalidQuery.reserved("rolling", name, taken)
            taken.append(name)
    measure = given.measure(on)
    widths = tuple(_width(measure, each.range) for each in frames)
    types = types_of([_as_query(each) for each in frames], given, may_change=False)
    for each in frames:
        group_aggregates([_as_query(each)], types)
    return FramePlan(frames, on, options.by, measure, widths, types)


def _width(measure: Measure, range: Any) -> Any:
    if range is None:
        return None
    if range == Duration(UNBOUNDED):
        return measure.highest  # twice as far as any position is from zero
    return length_on(measure, "range", range)


def _as_query(frame: Frame) -> Query:
    return query("rolling", tumbling(1), **dict(frame.aggregates))


def compute_frames(plan: FramePlan, given: Rows) -> dict[str, Any]:
    """Return the columns that frames add to a table, computed with coded columns."""
    aggregates = tuple(each for frame in plan.frames for each in frame.aggregates)
    codes = code_columns(given, aggregates, {name: f"rolling.{name}" for name, _ in aggregates})
    if not codes.rewrites:
        return _compute_frames(plan, given)
    frames = tuple(replace(each, aggregates=codes.aggregates(each.aggregates)) for each in plan.frames)
    types = types_of([_as_query(each) for each in frames], codes.rows, may_change=False)
    return codes.decode(_compute_frames(replace(plan, frames=frames, types=types), codes.rows))


def _compute_frames(plan: FramePlan, given: Rows) -> dict[str, Any]:
    positions, valid = given.positions(plan.on, plan.measure)
    order, slots = _sort(given, plan.by, positions, valid)
    rows = SortedRows(given, plan.types, order, slots)
    columns: dict[str, Any] = {}
    for each, width in zip(plan.frames, plan.widths, strict=True):
        if each.rows is not None:
            begins = np.repeat(rows.begins, np.diff(rows.begins, append=len(order)))
            ends = np.arange(1, len(order) + 1)
            starts = np.maximum(ends - each.rows, begins)
        else:
            starts, ends = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
            own = plan.measure.dtype.type(width)
            _frames(slots, positions[order], own, each.closed == "both", starts, ends)
        columns |= _compute(rows, each, starts, ends)
    return columns


def _sort(rows: Rows, by: tuple[str, ...], positions: Array, valid: Array | None) -> tuple[Array, Array]:
    """Return places and keys of rows sorted by key, position, and place; leave out rows without a position."""
    kept = None if valid is None else np.flatnonzero(valid)
    own = positions if kept is None else positions[kept]
    if not by:
        slots = np.zeros(len(own), np.int64)
        order = np.arange(len(own)) if (own[1:] >= own[:-1]).all() else np.argsort(own, kind="stable")
    else:
        columns = [rows.arrow(name) for name in by]
        keys = Keys([each.type for each in columns], by)
        slots = keys.slots(columns, rows.count)
        slots = slots if kept is None else slots[kept]
        order = order_by_key(slots, keys.capacity)
        slots, sorted_positions = slots[order], own[order]
        if ((sorted_positions[1:] < sorted_positions[:-1]) & (slots[1:] == slots[:-1])).any():
            by_position = np.argsort(own, kind="stable")
            back = np.empty(len(order), slots.dtype)
            back[order] = slots
            slots = back[by_position]
            order = order_by_key(slots, keys.capacity)
            slots, order = slots[order], by_position[order]
    return (order if kept is None else kept[order]), slots


@kernel
def _frames(slots: Any, positions: Any, width: Any, is_closed: bool, starts: Any, ends: Any) -> None:
    """Write [start, end) of each row's frame: from the first row of its key at or after p - width to its last peer.

    Positions are compared with p - width, as in SQL; for floats, p - q <= width can differ.
    """
    low, high = 0, 0
    for row in range(len(slots)):
        high = max(high, row + 1)
        while high < len(slots) and slots[high] == slots[row] and positions[high] == positions[row]:
            high += 1
        oldest = positions[row] - width
        # Never past `high`: an empty frame begins and ends there, which may be the end of the arrays.
        while low < high and (
            slots[low] != slots[row] or positions[low] < oldest or (not is_closed and positions[low] == oldest)
        ):
            low += 1
        starts[row] = low
        ends[row] = high


def _compute(rows: SortedRows, frame: Frame, starts: Array, ends: Array) -> dict[str, Any]:
    """Return the results of a frame: statistics of sorted values from ranks and codes, the others by sliding."""
    aggregates = dict(frame.aggregates)
    statistics: dict[str, dict[str, Statistic]] = {}
    for name, template in frame.aggregates:
        statistic = statistic_of(template, rows.types)
        if statistic is not None and rows.can_compute(statistic, template.columns[0]):
            statistics.setdefault(template.columns[0], {})[name] = statistic
    columns = {}
    for column, wanted in statistics.items():
        found = rows.compute(list(wanted.values()), column, starts, ends)
        for name, (values, valid) in zip(wanted, found, strict=True):
            if frame.min_samples > 1:
                valid = valid & _has_samples([rows.valid(column)], starts, ends, frame.min_samples)
            columns[name] = rows.scatter(values, valid, None)
    for name, template in frame.aggregates:
        if isinstance(template, Builtin) and template.name in ("collect", "string_agg"):
            lists = _compute_lists(rows, template, starts, ends, frame.min_samples)
            if lists is not None:
                columns[name] = lists
    others = tuple(each for each in frame.aggregates if each[0] not in columns)
    if others:
        columns |= _compute_by_sliding(rows, replace(frame, aggregates=others), starts, ends)
    return {name: columns[name] for name in aggregates}


def _compute_lists(rows: SortedRows, template: Builtin, starts: Array, ends: Array, least: int) -> Any:
    """Return the lists of values of frames, or the joined strings; None if Arrow cannot make them."""
    (column,) = template.columns
    if not rows.can_list(column):
        return None
    enough = _has_samples([rows.valid(column)], starts, ends, least) if least > 1 else None
    if template.name == "collect":
        return rows.lists(column, starts, ends, enough)
    if not pa.types.is_string(rows.types[column].arrow):
        return None
    counts = _has_samples([rows.valid(column)], starts, ends, 1)  # no values, no text
    lists = rows.lists(column, starts, ends, counts if enough is None else counts & enough)
    return pc.binary_join(lists, dict(template.parameters)["separator"])


def _compute_by_sliding(rows: SortedRows, frame: Frame, starts: Array, ends: Array) -> dict[str, Any]:
    wanted = _as_query(frame)
    groups, names, found = group_aggregates([wanted], rows.types)
    readings = readings_of(found[wanted.name], names)
    columns = {}
    users = [each.template.name for each in readings if isinstance(each.template, Aggregate)]
    for place, (group, own) in enumerate(zip(groups, names, strict=True)):
        view = view_of(group, found[wanted.name], place, {})
        assert view is not None
        monoid = replace(group, outputs=view.monoid.outputs, name="frames")
        results, presences = _slide(monoid, [rows.column(name) for name in own], starts, ends, users)
        flags = iter(presences)
        for reading in (each for each in readings if each.group == place):
            output = monoid.outputs[reading.output]
            values, valid = values_of(output, results[reading.output], flags, f"rolling.{reading.name}")
            if frame.min_samples > 1:
                known = [rows.valid(name) for name in reading.template.columns]
                valid = valid & _has_samples(known, starts, ends, frame.min_samples)
            columns[reading.name] = rows.scatter(values, valid, reading.arrow)
    return columns


def _slide(
    monoid: Monoid, columns: list[tuple[Any, Any]], starts: Array, ends: Array, users: list[str]
) -> tuple[Any, Any]:
    """Fold each frame; rows are sorted by key, so frames never move back."""
    compiled = monoid.is_compiled
    inputs: tuple[Any, ...] = (*(data for data, _ in columns), *(valid for _, valid in columns))
    if not inputs:
        inputs = (np.zeros(len(starts), np.int64),)  # without columns, kernels need the number of rows
    if not compiled:
        inputs = tuple(each.tolist() for each in inputs)
    results = tuple(each.result.empty(len(starts), compiled) for each in monoid.outputs)
    presences = allocate(tuple(Field("u1") for each in monoid.outputs if each.presence), len(starts), compiled)
    if len(starts):
        algorithm = find("daba_lite" if compiled else "two_stacks_lite")
        try:
            loops.over_ranges(algorithm, monoid, inputs, starts, ends, results, presences)
        except SashError:
            raise
        except Exception as error:
            if not users:
                raise
            raise InvalidAggregate.fails(" or ".join(users), "lift, combine or lower", "these rows", error) from error
    return results, presences


def _has_samples(valid: list[Array], starts: Array, ends: Array, least: int) -> Array:
    if not valid:
        return np.asarray(ends - starts >= least)
    counts = np.concatenate([[0], np.cumsum(np.logical_and.reduce(valid))])
    return np.asarray(counts[ends] - counts[starts] >= least)
