"""The window join: for each label, the aggregates of other tables' rows before it, and nothing from later.

Idea      Sort events and labels by key and position. Within a key, both ends of a label's range of events only move
          forward, so a range is folded as a frame is. Lookbacks over one table share its order and its columns.
Picture     events of a key   e0  e1  e2      e3  e4          ranges over sorted events, one per label
            labels                      p0          p1        p0: [e0, e3)   p1: [e2, e5)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Template
from sash.engine.coded_columns import code_columns
from sash.engine.conditions import conditions_of
from sash.engine.frame import Closed, Frame, is_whole
from sash.engine.frame_ranges import Line, Ranges, find_edges
from sash.engine.input_rows import types_of
from sash.engine.keys import Keys
from sash.engine.options import options_of
from sash.engine.output import check_kinds, open_table, result_sources
from sash.engine.rolling import compute_ranges
from sash.engine.row_order import KeySlots, sort_rows
from sash.engine.sorted_rows import SortedRows
from sash.engine.tables import Rows, read_rows
from sash.errors import InvalidInput, InvalidQuery, UnknownName
from sash.keywords import checked, keywords_of
from sash.plan.query import Query, check_aggregates, query, written
from sash.plan.share import group_aggregates, readings_of
from sash.references import name_of, names_of
from sash.report import Call, Report
from sash.slicing.slices import Array
from sash.windows.built_in import tumbling
from sash.windows.lengths import length_on
from sash.windows.measure import Measure

__all__ = [
    "JoinOptions",
    "JoinPlan",
    "Lookback",
    "Side",
    "check_lookbacks",
    "explain",
    "join",
    "join_rows",
    "lookback",
    "own_keys",
    "own_on",
    "plan_join",
]

_CLOSED = ("both", "left", "right", "neither")


@dataclass(frozen=True, eq=False, repr=False)
class Lookback(Call):
    """Which rows of a table before each label are aggregated, and how.

    >>> import sash
    >>> recent = sash.lookback({"ts": [1], "x": [5]}, rows=20, total=sash.sum("x"))
    >>> isinstance(recent, sash.Lookback)
    True
    >>> recent
    sash.lookback(…, rows=20, total=sash.sum('x'))
    """

    table: Any
    range: Any
    rows: int | None
    on: str | None  # None: as the labels
    by: Any  # None: as the labels; a mapping from columns of the labels to columns of the table
    closed: Closed | None  # None: as the join
    delay: Any  # None: as the join
    aggregates: tuple[tuple[str, Template], ...]

    def __repr__(self) -> str:
        options = {name: getattr(self, name) for name in ("range", "rows", "on", "by", "closed", "delay")}
        given = "".join(f"{name}={each!r}, " for name, each in options.items() if each is not None)
        return f"sash.lookback(…, {given}{written(self.aggregates)})"

    @property
    def extent(self) -> str:
        """The extent as text."""
        if self.rows is not None:
            return f"the last {self.rows} rows before"
        return "all rows before" if self.range is None else f"the rows of {self.range} before"


@checked
def lookback(
    table: Any,
    /,
    *,
    range: Any = None,
    rows: int | None = None,
    on: str | None = None,
    by: Any = None,
    closed: Closed | None = None,
    delay: Any = None,
    **aggregates: Template,
) -> Lookback:
    """Describe the rows of a table before each label of `sash.join`, and their aggregates.

    `range` limits the distance from a row to the label, and `rows` limits the number of rows. Without both, all earlier
    rows are used. `on`, `by`, `closed` and `delay` are those of `sash.join`, unless given here. If key columns have
    other names in this table, `by` maps those of the labels to those of the table, such as `by={"user": "payer"}`.

    >>> import sash
    >>> clicks = {"ts": [1, 2, 6], "site": ["a", "b", "a"]}
    >>> recent = sash.lookback(clicks, range=5, sites=sash.count_distinct("site"))
    >>> sash.join({"ts": [3, 7]}, recent, on="ts").column("sites").to_pylist()
    [2, 2]
    """
    check_aggregates(aggregates, "sash.lookback", keywords_of(lookback))
    if range is not None and rows is not None:
        raise InvalidInput.one_lookback(range, rows)
    if rows is not None and (not is_whole(rows) or rows < 1):
        raise InvalidInput.at_least("rows", rows, 1)
    if closed is not None and closed not in _CLOSED:
        raise InvalidInput.option("closed", closed, "'left', 'both', 'right' or 'neither'")
    wanted = query("join", tumbling(1), **aggregates)
    return Lookback(table, range, None if rows is None else int(rows), on, by, closed, delay, wanted.aggregates)


@dataclass(frozen=True)
class JoinOptions:
    """The options of `sash.join` as given."""

    on: Any
    by: Any = None
    closed: Any = "left"
    delay: Any = 0


@dataclass(frozen=True)
class Side:
    """One lookback of a plan, in positions."""

    table: int  # lookbacks over one table, with one `on` and `by`, share it
    on: str
    by: tuple[str, ...]  # columns of the table, in the order of those of the labels
    closed: Closed
    delay: Any
    length: Any  # None: not limited
    rows: int | None
    frame: Frame  # the aggregates

    @property
    def is_low_open(self) -> bool:
        """Whether an event exactly `length` before the label is left out."""
        return self.closed in ("right", "neither")

    @property
    def is_high_open(self) -> bool:
        """Whether an event at the label is left out."""
        return self.closed in ("left", "neither")


@dataclass(frozen=True, repr=False)
class JoinPlan(Report):
    """What each label gets from each table."""

    on: str
    by: tuple[str, ...]
    measure: Measure
    key_types: tuple[Any, ...]
    sides: tuple[Side, ...]
    extents: tuple[str, ...]

    def results(self, events: Sequence[Rows]) -> list[tuple[str, Any]]:
        """Return the names and Arrow types of the added columns; None if the type depends on the objects."""
        found = []
        for side, rows in zip(self.sides, events, strict=True):
            wanted = _as_query(side.frame.aggregates)
            types = types_of([wanted], rows, may_change=False)
            _, names, readings = group_aggregates([wanted], types)
            found += [(reading.name, reading.arrow) for reading in readings_of(readings[wanted.name], names)]
        return found

    def lines(self) -> list[tuple[str, str]]:
        found = [("labels", f"on {self.on}, by {', '.join(self.by) or 'no key'}; all of them, in their order")]
        for side, extent in zip(self.sides, self.extents, strict=True):
            results = ", ".join(f"{name}={each}" for name, each in side.frame.aggregates)
            found.append((f"table {side.table + 1}", f"{extent} each label, closed {side.closed!r}: {results}"))
        return found


def join(labels: Any, lookbacks: Sequence[Lookback], given: JoinOptions) -> Any:
    """Run `sash.join` on tables of Arrow, pandas or Polars, or on dicts of lists."""
    check_lookbacks(lookbacks)
    check_kinds(labels, [each.table for each in lookbacks if not isinstance(each.table, Rows)])
    given_table = open_table(labels)
    plan, rows, events = _planned(given_table.rows, lookbacks, given)
    sources = result_sources([each for one in lookbacks for each in one.aggregates], given.on)
    return given_table.with_columns(join_rows(plan, rows, events), sources)


def explain(labels: Any, lookbacks: Sequence[Lookback], given: JoinOptions) -> JoinPlan:
    """Return what `sash.join` does with such tables."""
    return _planned(labels, lookbacks, given)[0]


def _planned(labels: Any, lookbacks: Sequence[Lookback], given: JoinOptions) -> tuple[JoinPlan, Rows, list[Rows]]:
    """Return the plan of a join, the labels, and the events of each lookback."""
    check_lookbacks(lookbacks)
    check_kinds(labels, [each.table for each in lookbacks if not isinstance(each.table, Rows)])
    rows = read_rows(labels)
    tables = {id(each.table): read_rows(each.table) for each in lookbacks}
    for key, table in tables.items():
        own = [each for each in lookbacks if id(each.table) == key]
        conditions = conditions_of(own, table.names, "join")
        tables[key] = conditions.rows(table)
        rewritten = iter(conditions.rewrite(own))
        lookbacks = [next(rewritten) if id(each.table) == key else each for each in lookbacks]
    events = [tables[id(each.table)] for each in lookbacks]
    return plan_join(rows, events, lookbacks, given), rows, events


def check_lookbacks(lookbacks: Sequence[Any]) -> None:
    """Refuse a call without lookbacks, or with something else."""
    if not lookbacks:
        raise InvalidInput.no_lookback()
    for each in lookbacks:
        if not isinstance(each, Lookback):
            raise InvalidInput.option("A lookback", each, "made by sash.lookback(events, range=… or rows=…, name=…)")


def plan_join(labels: Rows, events: Sequence[Rows], lookbacks: Sequence[Lookback], given: JoinOptions) -> JoinPlan:
    """Check lookbacks against the columns of labels and events, and return their plan."""
    options = options_of(given.on, given.by, 0, None, False, "final")
    for name in (options.on, *options.by):
        labels.known(name)
    if given.closed not in _CLOSED:
        raise InvalidInput.option("closed", given.closed, "'left', 'both', 'right' or 'neither'")
    measure = labels.measure(options.on)
    key_types = [labels.arrow(name).type for name in options.by]
    Keys(key_types, options.by)  # refuses types that cannot be keys
    taken = list(labels.names)
    sides: list[Side] = []
    groups: dict[Any, int] = {}
    for one, rows in zip(lookbacks, events, strict=True):
        side = _side_of(one, rows, given, options.on, options.by, measure, 0)
        number = groups.setdefault((id(one.table), side.on, side.by), len(groups))
        sides.append(replace(side, table=number))
        for place, (name, kind) in enumerate(zip(side.by, key_types, strict=True)):
            key_types[place] = _common_type(options.by[place], kind, name, rows.arrow(name).type)
        for name, _ in one.aggregates:
            if name in taken:
                raise InvalidQuery.reserved("join", name, taken)
            taken.append(name)
    extents = tuple(each.extent for each in lookbacks)
    return JoinPlan(options.on, options.by, measure, tuple(key_types), tuple(sides), extents)


def _side_of(
    one: Lookback, rows: Rows, given: JoinOptions, on: str, by: tuple[str, ...], measure: Measure, table: int
) -> Side:
    """Return a lookback in positions; refuse what does not fit the labels."""
    at = own_on(one.on, on)
    own_by = own_keys(one.by, by)
    for name in (at, *own_by):
        rows.known(name)
    own_measure = rows.measure(at)
    if own_measure.kind is not measure.kind:
        raise InvalidInput.unlike_positions(on, measure.kind.value, at, own_measure.kind.value)
    delay = given.delay if one.delay is None else one.delay
    types = types_of([_as_query(one.aggregates)], rows, may_change=False)
    group_aggregates([_as_query(one.aggregates)], types)
    return Side(
        table,
        at,
        own_by,
        given.closed if one.closed is None else one.closed,
        length_on(measure, "delay", delay),
        None if one.range is None else length_on(measure, "range", one.range),
        one.rows,
        Frame("range", None, 0, "both", None, 1, one.aggregates),
    )


def own_on(own: Any, on: str) -> str:
    """Return the column of positions of a table."""
    if own is None:
        return on
    own = name_of(own)
    if not isinstance(own, str) or not own:
        raise InvalidInput.option("on of a lookback", own, "the name of a column of times or numbers")
    return own


def own_keys(own: Any, by: tuple[str, ...]) -> tuple[str, ...]:
    """Return the key columns of a table in the order of those of the labels."""
    if own is None:
        return by
    if isinstance(own, Mapping):
        for name in own:
            if name not in by:
                raise UnknownName.of("key column of the labels", name, by)
        return tuple(own.get(name, name) for name in by)
    own = names_of(own)
    names = (own,) if isinstance(own, str) else tuple(own) if isinstance(own, list | tuple) else ()
    if len(names) != len(by) or not all(isinstance(each, str) for each in names):
        raise InvalidInput.option("by of a lookback", own, f"{len(by)} name(s), or a mapping from those of the labels")
    return names


def _common_type(label: str, one: Any, event: str, other: Any) -> Any:
    """Return a type for the keys of both sides; refuse types whose values are never equal."""
    one, other = (each.value_type if pa.types.is_dictionary(each) else each for each in (one, other))
    if one == other:
        return one
    if all(map(pa.types.is_integer, (one, other))) and pa.uint64() not in (one, other):
        return pa.int64()
    if all(pa.types.is_string(each) or pa.types.is_large_string(each) for each in (one, other)):
        return pa.string()
    if all(pa.types.is_binary(each) or pa.types.is_large_binary(each) for each in (one, other)):
        return pa.binary()
    if any(map(pa.types.is_null, (one, other))):
        return other if pa.types.is_null(one) else one
    raise InvalidInput.unlike_keys(label, str(one), event, str(other))


def _as_query(aggregates: tuple[tuple[str, Template], ...]) -> Query:
    return query("join", tumbling(1), **dict(aggregates))


# --- compute ---------------------------------------------------------------------------------------


def join_rows(plan: JoinPlan, labels: Rows, events: Sequence[Rows], threads: int | None = None) -> dict[str, Any]:
    """Return the columns that a join adds to labels; `events` has the table of each side. None: on all cores."""
    positions, valid = labels.positions(plan.on, plan.measure)
    keys = Keys(plan.key_types, plan.by)
    label_keys = [_key_column(labels, name, kind) for name, kind in zip(plan.by, plan.key_types, strict=True)]
    known = np.ones(labels.count, np.bool_) if valid is None else valid.copy()
    for column in label_keys:  # a key that is null is equal to none
        known &= column.is_valid().to_numpy(zero_copy_only=False)
    slots = keys.slots(label_keys, labels.count) if plan.by else np.zeros(labels.count, np.int64)
    sorted_events: dict[int, tuple[Array, Line]] = {}
    columns: dict[str, Any] = {}
    label_lines: dict[int, tuple[Array, Line]] = {}
    for side, rows in zip(plan.sides, events, strict=True):
        if side.table not in sorted_events:
            sorted_events[side.table] = _sort_events(side, rows, keys, plan)
        order, line = sorted_events[side.table]
        if keys.capacity not in label_lines:
            label_lines[keys.capacity] = sort_rows(KeySlots(slots, max(1, keys.capacity)), positions, known)
        places, asking = label_lines[keys.capacity]
        ranges = _ranges(side, line, asking)
        columns |= _aggregate(side, rows, order, line, ranges, (labels.count, places), threads)
    return columns


def _key_column(rows: Rows, name: str, kind: Any) -> Any:
    column = rows.arrow(name)
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column if column.type == kind else column.cast(kind)


def _sort_events(side: Side, rows: Rows, keys: Keys, plan: JoinPlan) -> tuple[Array, Line]:
    positions, valid = rows.positions(side.on, plan.measure)
    slots = np.zeros(rows.count, np.int64)
    if plan.by:
        columns = [_key_column(rows, name, kind) for name, kind in zip(side.by, plan.key_types, strict=True)]
        slots = keys.slots(columns, rows.count)
    return sort_rows(KeySlots(slots, max(1, keys.capacity)), positions, valid)


def _ranges(side: Side, events: Line, labels: Line) -> Ranges:
    """Return the range of sorted events of each sorted label."""
    begins, ends = (np.searchsorted(events.slots, labels.slots, side=which) for which in ("left", "right"))
    kind = events.positions.dtype.type
    highs = np.empty(len(labels), np.int64)
    find_edges(events.positions, labels.positions, begins, ends, kind(-side.delay), not side.is_high_open, highs)
    lows = begins.copy()
    if side.rows is not None:
        lows = np.maximum(highs - side.rows, begins)
    elif side.length is not None:
        shift = kind(-side.delay) - kind(side.length)
        find_edges(events.positions, labels.positions, begins, ends, shift, side.is_low_open, lows)
    return Ranges(np.minimum(lows, highs)[None], highs[None])


def _aggregate(
    side: Side, rows: Rows, order: Array, line: Line, ranges: Ranges, asking: tuple[int, Array], threads: int | None
) -> dict[str, Any]:
    frame = side.frame
    wanted = _as_query(frame.aggregates)
    coded = code_columns(rows, [wanted], types_of([wanted], rows, may_change=False))
    if coded is not None:
        rows, frame = coded.rows, replace(frame, aggregates=coded.coding.queries[0].aggregates)
    types = types_of([_as_query(frame.aggregates)], rows, may_change=False)
    columns = compute_ranges(SortedRows(rows, types, order, line.begins, asking, threads), frame, ranges)
    if coded is not None:
        columns = coded.decode(columns, "join")
    return {name: columns[name] for name, _ in side.frame.aggregates}
