"""One result per row: SQL's OVER, on a table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Aggregate, Template
from sash.algebra.compiler import kernel
from sash.algebra.fields import Field, allocate
from sash.algebra.monoid import Monoid
from sash.engine.keys import Keys
from sash.engine.results import arrow_of, values_of
from sash.engine.stream import as_bound, bound, options_of
from sash.engine.tables import Rows, kind_of, like, read_rows
from sash.errors import InvalidAggregate, InvalidInput, InvalidQuery, SashError, UnknownName
from sash.plan.query import query
from sash.plan.share import grouped, readings_of, view_of
from sash.slicing.slices import Array
from sash.swag import loops
from sash.swag.catalog import find
from sash.windows.kinds import length_on, tumbling

__all__ = ["rolling"]


def rolling(
    table: Any,
    /,
    *,
    on: str,
    by: str | Sequence[str] | None = None,
    rows: int | None = None,
    range: Any = None,
    closed: str = "both",
    min_samples: int = 1,
    **aggregates: Template,
) -> Any:
    """Aggregates of each row and those before it: the last `rows` rows of its key, or those within `range` before it.

    The table comes back, in its own order and of its own kind, with a column for each aggregate. Rows are taken in the
    order of `on`, equals as they stand. `range` is SQL's RANGE frame, [p - range, p] with all rows at p;
    `closed="right"` leaves out p - range. Where fewer than `min_samples` values are not null, the result is null. A row
    without a position is in no frame and has none.

    >>> import sash
    >>> rows = {"t": [1, 2, 4, 9], "x": [5, 3, 4, 1]}
    >>> sash.rolling(rows, on="t", rows=2, peak=sash.max("x")).column("peak").to_pylist()
    [5, 5, 4, 4]
    >>> sash.rolling(rows, on="t", range=3, peak=sash.max("x"), n=sash.count()).select(["peak", "n"]).to_pylist()
    [{'peak': 5, 'n': 1}, {'peak': 5, 'n': 2}, {'peak': 5, 'n': 3}, {'peak': 1, 'n': 1}]
    """
    given = read_rows(table)
    options = options_of(on, by, 0, None, False, "final")
    for name in (on, *options.by):
        if name not in given.names:
            raise UnknownName.of("column", name, given.names)
    if (rows is None) == (range is None):
        raise InvalidInput.option("rows and range", (rows, range), "one of them given, the other left out")
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1):
        raise InvalidInput.at_least("rows", rows, 1)
    if closed not in ("both", "right"):
        raise InvalidInput.option("closed", closed, "'both' or 'right'")
    if isinstance(min_samples, bool) or not isinstance(min_samples, int | np.integer) or min_samples < 0:
        raise InvalidInput.at_least("min_samples", min_samples, 0)
    for name in aggregates:
        if name in given.names:
            raise InvalidQuery.reserved("rolling", name, given.names)
    wanted = query("rolling", tumbling(1), **aggregates)
    measure = given.measure(on)
    width = None if range is None else length_on(measure, "range", range)
    positions, valid = given.positions(on, measure)
    order, slots = _sorted(given, options.by, positions, valid)
    if rows is not None:
        begins = _key_begins(slots)
        ends = np.arange(1, len(order) + 1)
        starts = np.maximum(ends - rows, begins)
    else:
        starts, ends = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        _frames(slots, positions[order], measure.dtype.type(width), closed == "both", starts, ends)
    columns = _computed(given, wanted, order, starts, ends, int(min_samples))
    result = given.table()
    for name, column in columns.items():
        result = result.append_column(name, column)
    return like(result, kind_of(table))


def _sorted(rows: Rows, by: tuple[str, ...], positions: Array, valid: Array | None) -> tuple[Array, Array]:
    """The places of rows by key, position, then as they stand; and their keys. Rows without a position are left out."""
    kept = np.arange(rows.count) if valid is None else np.flatnonzero(valid)
    columns = [rows.arrow(name) for name in by]
    slots = (
        Keys([each.type for each in columns], by).slots(columns, rows.count)[kept]
        if by
        else np.zeros(len(kept), np.int64)
    )
    own = positions[kept]
    if len(by):
        order = np.lexsort((own, slots))
    elif (own[1:] >= own[:-1]).all():
        order = np.arange(len(kept))
    else:
        order = np.argsort(own, kind="stable")
    return kept[order], slots[order]


def _key_begins(slots: Array) -> Array:
    """For each row the place of the first of its key."""
    places = np.arange(len(slots))
    is_first = np.ones(len(slots), np.bool_)
    is_first[1:] = slots[1:] != slots[:-1]
    return np.maximum.accumulate(np.where(is_first, places, 0))


@kernel
def _frames(slots: Any, positions: Any, width: Any, is_closed: bool, starts: Any, ends: Any) -> None:
    low, high = 0, 0
    for row in range(len(slots)):
        while slots[low] != slots[row] or (
            positions[row] - positions[low] > width or (not is_closed and positions[row] - positions[low] == width)
        ):
            low += 1
        high = max(high, row + 1)
        while high < len(slots) and slots[high] == slots[row] and positions[high] == positions[row]:
            high += 1
        starts[row] = low
        ends[row] = high


def _computed(given: Rows, wanted: Any, order: Array, starts: Array, ends: Array, least: int) -> dict[str, Any]:
    types = bound([wanted], given)
    groups, names, found = grouped([wanted], types)
    readings = readings_of(found[wanted.name], groups)
    data = {
        name: tuple(each[order] for each in as_bound(name, given.column(name), types[name]))
        for each in names
        for name in each
    }
    back = np.full(given.count, -1, np.int64)
    back[order] = np.arange(len(order))
    columns = {}
    users = [each.template.name for each in readings if isinstance(each.template, Aggregate)]
    for place, (group, own) in enumerate(zip(groups, names, strict=True)):
        view = view_of(group, found[wanted.name], place, {})
        assert view is not None
        monoid = replace(group, outputs=view.monoid.outputs, name="frames")
        results, presences = _slid(monoid, [data[name] for name in own], starts, ends, users)
        flags = iter(presences)
        for reading in (each for each in readings if each.group == place):
            output = monoid.outputs[reading.output]
            values, valid = values_of(output, results[reading.output], flags, f"rolling.{reading.name}")
            if least > 1:
                valid = valid & _has_samples([data[name] for name in reading.template.columns], starts, ends, least)
            columns[reading.name] = _scattered(values, valid, back, reading.arrow)
    return {reading.name: columns[reading.name] for reading in readings}


def _slid(
    monoid: Monoid, columns: list[tuple[Any, Any]], starts: Array, ends: Array, users: list[str]
) -> tuple[Any, Any]:
    """The fold of each frame; keys follow each other, so frames never go back."""
    compiled = monoid.is_compiled
    inputs: tuple[Any, ...] = (*(data for data, _ in columns), *(valid for _, valid in columns))
    if not inputs:
        inputs = (np.zeros(len(starts), np.int64),)  # a row of no columns has a place all the same
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


def _has_samples(columns: list[tuple[Any, Any]], starts: Array, ends: Array, least: int) -> Array:
    if not columns:
        return np.asarray(ends - starts >= least)
    known = np.logical_and.reduce([valid for _, valid in columns])
    counts = np.concatenate([[0], np.cumsum(known)])
    return np.asarray(counts[ends] - counts[starts] >= least)


def _scattered(values: Any, valid: Array, back: Array, kind: Any) -> Any:
    """Results in the order of the table; null where a row has no frame."""
    column = arrow_of(values, valid, kind)
    return column.take(pa.array(back, mask=back < 0))
