"""The plan: what is kept, how rows become slices, how each query is answered; frozen, and able to explain itself."""

import hashlib
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Aggregate
from sash.algebra.monoid import Column, Monoid, of_partials
from sash.errors import InvalidInput, InvalidQuery, InvalidWindow, UnknownName
from sash.plan.decide import SLIDE_FROM, Decision, Traits, keeps_rows, needs_splits, removes_rows, takes_tree
from sash.plan.query import Query
from sash.plan.share import ColumnType, Reading, grouped, keeps_runs, readings_of, view_of
from sash.slicing.partials import View
from sash.slicing.slice_manager import Cuts
from sash.slicing.slicer import Edges, Progression, cutty, pairs
from sash.windows.kinds import Context, Window, length_on
from sash.windows.measure import Measure

__all__ = ["Cutting", "Options", "Plan", "Planned", "as_html", "as_text", "make_plan", "of_slices"]

MOST_WINDOWS = 10_000_000  # that hold one row: more is a mistake in a unit


@dataclass(frozen=True)
class Options:
    """How a stream is told to behave, as far as its results depend on it."""

    on: str
    by: tuple[str, ...] = ()
    in_order: bool = False
    lateness: Any = 0  # as the user gave it
    delay: Any = None  # of the watermark behind the largest position; None: it is told
    emit: str = "final"
    partial: bool = False  # at the end, count windows that are not full are sent too
    is_table: bool = False  # there is no one to look after rows set aside: one too far for windows is refused


@dataclass(frozen=True)
class Planned:
    """One query, in positions: what it reads of each group of partials."""

    name: str
    text: str
    window: Window
    views: tuple[View | None, ...]
    readings: tuple[Reading, ...]
    traits: Traits
    removal: Decision
    slices_per_window: float


@dataclass(frozen=True)
class Cutting:
    """What a change of queries must know of the plan before it: whose rows were cut, and how."""

    queries: tuple[str, ...]  # names
    is_ordered: bool
    is_each_row: bool
    sessions: tuple[tuple[str, Any], ...]  # names and gaps


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first row is cut."""

    options: Options
    measure: Measure
    lateness: Any  # in positions
    delay: Any
    key_types: tuple[Any, ...]
    columns: Mapping[str, ColumnType]  # that aggregates read
    groups: tuple[Monoid, ...]
    group_columns: tuple[tuple[str, ...], ...]
    queries: tuple[Planned, ...]
    punctuations: tuple[str, ...]  # boolean columns; each has its bit
    watched: tuple[str, ...]  # columns that users' windows want to see
    edges: Edges
    cuts: Cuts
    rows: Decision  # Figure 4
    splits: Decision  # Figure 5
    tree: Decision
    results: tuple[tuple[str, Any], ...] = field(default=())  # names and types of result columns

    @property
    def waits(self) -> bool:
        """Whether rows wait until no earlier one can come, and are cut in order then."""
        return bool(self.rows.choice) and not self.options.in_order

    @property
    def is_ordered(self) -> bool:
        """Whether slices are only ever appended to."""
        return self.waits or self.options.in_order

    @property
    def cutting(self) -> Cutting:
        """How rows are cut under this plan: a state keeps it, for the next change of queries."""
        windows: list[tuple[str, Any]] = [(each.name, each.window) for each in self.queries]
        sessions = tuple((name, window.gap) for name, window in windows if window.kind == "session")
        return Cutting(tuple(name for name, _ in windows), self.is_ordered, self.cuts.is_each_row, sessions)

    @property
    def has_revisions(self) -> bool:
        """Whether a window can be sent again."""
        return self.lateness > 0 or self.options.emit == "updates"

    @cached_property
    def fingerprint(self) -> str:
        """The same for plans that read each other's state."""
        o = self.options
        parts = [repr((o.on, o.by, o.in_order, self.lateness, self.delay, o.emit, o.partial)), repr(self.measure)]
        parts += [str(each) for each in self.key_types]
        parts += [f"{name} {each.column} {each.arrow}" for name, each in self.columns.items()]
        parts += [each.text for each in self.queries]
        for group, names in zip(self.groups, self.group_columns, strict=True):
            parts += [f"{each.name} {each.inputs} {each.fields}" for each in group.components] + list(names)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @cached_property
    def families(self) -> tuple[tuple[Planned, ...], ...]:
        """Queries that are answered in one pass: windows on grids with the same results; any other by itself."""
        found: dict[Any, list[Planned]] = {}
        for place, each in enumerate(self.queries):
            key: Any = place
            if each.window.kind == "grid" and not self.has_revisions:
                views = tuple(None if view is None else (view.monoid.key, view.places) for view in each.views)
                key = views, tuple((r.name, r.group, r.output, str(r.arrow)) for r in each.readings)
            found.setdefault(key, []).append(each)
        return tuple(tuple(each) for each in found.values())

    @cached_property
    def calls_users(self) -> bool:
        """Whether functions of users are called, which may fail."""
        templates = [reading.template for each in self.queries for reading in each.readings]
        kinds = [each.window.kind for each in self.queries]
        return any(isinstance(each, Aggregate) for each in templates) or any(kind.startswith("user") for kind in kinds)

    @cached_property
    def by_themselves(self) -> tuple[Planned, ...]:
        """Queries that are not on a grid."""
        return tuple(each for each in self.queries if each.window.kind != "grid")

    def bytes_per_slice(self) -> int:
        """How much one slice takes: what it covers, and its partials."""
        fields = [each for group in self.groups for each in group.fields]
        return 48 + sum(8 if each.is_object else each.dtype.itemsize * each.width for each in fields)

    def lines(self) -> list[tuple[str, str]]:
        """What was decided and why, by name."""
        o = self.options
        by = ", ".join(o.by) or "no key"
        order = "in order" if o.in_order else f"any order, lateness {o.lateness}"
        lines = [("stream", f"on {o.on} ({self.measure.kind.value}), by {by}, {order}")]
        lines.append(("fields", f"{self._fields()}: {self.bytes_per_slice()} bytes per slice, shared by all queries"))
        lines.append(("slices", self._cutting()))
        state = (
            "wait in order until the watermark"
            if self.waits
            else "kept as slices of one row"
            if self.rows.choice
            else "not kept"
        )
        lines.append(("rows", f"{state}, because {self.rows.because}"))
        lines.append(("splits", f"{'can be needed' if self.splits.choice else 'never'}: {self.splits.because}"))
        lines.append(("store", f"{'eager' if self.tree.choice else 'lazy'}, because {self.tree.because}"))
        for each in self.queries:
            lines.append(("query", f"{each.text}"))
            shift = (
                f"; {each.removal.because}: rows wait, so none has to leave"
                if each.traits.by_count and self.waits
                else ""
            )
            lines.append(("", f"{each.traits.context.value}; {self.finish(each)}{shift}"))
        lines.append(("state", self._size()))
        return lines

    def finish(self, planned: Planned) -> str:
        """How the windows of a query are finished, in words."""
        per_window = planned.slices_per_window
        if self.tree.choice:
            combines = 2 * math.log2(max(2.0, per_window)) if math.isfinite(per_window) else math.nan
            return "finished by a tree over slices (FlatFAT)" + (
                f": about {combines:.0f} combines per window" if combines == combines else ""
            )
        return (
            "finished by folding its slices"
            + (f" (about {per_window:.0f} per window)" if per_window > 1 else "")
            + self._sliding(planned)
        )

    def _sliding(self, planned: Planned) -> str:
        objects = any(
            view is not None and not group.is_compiled and not view.statistics
            for view, group in zip(planned.views, self.groups, strict=True)
        )
        return f", or by two_stacks_lite where they overlap more than {SLIDE_FROM} times" if objects else ""

    def _fields(self) -> str:
        """The pieces of a partial, each once, with the columns that it reads."""
        parts = []
        for group, names in zip(self.groups, self.group_columns, strict=True):
            for component in group.components:
                columns = ", ".join(names[i] for i in component.inputs)
                parts.append(f"{component.name.partition('@')[0]}({columns})")
        return ", ".join(parts) or "none"

    def _cutting(self) -> str:
        parts = []
        if self.cuts.is_each_row:
            parts.append("one per row")
        elif len(self.edges.step):
            per_unit = self.edges.per_unit()
            parts.append(
                f"{len(self.edges.step)} grid(s) of edges, on average one per {_unit(1 / per_unit, self.measure)}"
            )
        if len(self.edges.points):
            parts.append(f"{len(self.edges.points)} fixed edges")
        if len(self.cuts.every):
            parts.append(f"by rank, every {', '.join(map(str, self.cuts.every.tolist()))} rows")
        if self.cuts.gap >= 0:
            parts.append(f"where rows are more than {_unit(self.cuts.gap, self.measure)} apart")
        parts += [f"where {name} is true" for name in self.punctuations]
        return "cut " + "; ".join(parts or ["nowhere"])

    def _size(self) -> str:
        most = max((each.slices_per_window for each in self.queries), default=1.0)
        if not math.isfinite(most):
            return "grows with the rows that windows need"
        return f"about {math.ceil(most) + 1} slices per key, {(math.ceil(most) + 1) * self.bytes_per_slice():,} bytes"

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())


def as_text(lines: Sequence[tuple[str, str]]) -> str:
    """Lines of a plan, each under its name."""
    return "\n".join(f"{name:<8}{text}" for name, text in lines)


def as_html(lines: Sequence[tuple[str, str]]) -> str:
    """The same as a table for a notebook."""
    rows = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in lines
    )
    return f"<table>{rows}</table>"


def _unit(length: float, measure: Measure) -> str:
    if measure.kind.value == "time":
        return f"{length / 1e6:.4g} s"
    return f"{length:.4g}"


def _check_overlap(name: str, window: Any) -> None:
    """Refuse what would run for days, in a kernel that cannot be interrupted."""
    if window.kind in ("grid", "cumulative") and window.size / window.every > MOST_WINDOWS:
        raise InvalidWindow.too_many(name, window.size / window.every, MOST_WINDOWS)


def _reach(windows: Sequence[Window]) -> float:
    """Floats beyond it are too coarse for some window: neighbouring edges would be one number."""
    lengths = [
        float(getattr(window, name))
        for window in windows
        for name in ("size", "every", "gap")
        if isinstance(getattr(window, name, None), int | float) and not window.by_count
    ]
    return 2.0**52 * min(lengths, default=math.inf)


def make_plan(
    queries: Sequence[Query],
    options: Options,
    types: Mapping[str, ColumnType],
    measure: Measure,
    key_types: Sequence[Any],
) -> Plan:
    """Decide all that queries and types can decide; what makes no sense is refused in the user's words."""
    lateness = length_on(measure, "allowed_lateness", options.lateness)
    delay = None if options.delay is None else length_on(measure, "watermark", options.delay)
    for each in queries:
        for column in each.window.columns:
            if column not in types:
                raise UnknownName.of("column", column, types)
        for result, _ in each.aggregates:
            if result in options.by:
                raise InvalidQuery.reserved(each.name, result, options.by)
    groups, group_columns, readings = grouped(queries, types)
    windows = [each.window.on(measure) for each in queries]
    measure = measure.within(_reach(windows), options.is_table)
    for each, window in zip(queries, windows, strict=True):
        _check_overlap(each.name, window)
    columns = {name: types[name] for names in group_columns for name in names}
    watched = tuple(dict.fromkeys(name for window in windows if window.kind == "user_aware" for name in window.columns))
    columns |= {name: types[name] for name in watched}
    traits = [_traits(each, window) for each, window in zip(queries, windows, strict=True)]
    rows = keeps_rows(options.in_order, traits)
    edges = Edges.of(*_edges(windows), measure.dtype)
    spans = [_slices_per_window(window, edges) for window in windows]
    compiled = all(group.is_compiled or keeps_runs(group) for group in groups)
    each_row = any(window.context is Context.FORWARD_AWARE for window in windows)
    views: dict[Any, View] = {}
    planned = tuple(
        Planned(
            each.name,
            str(each),
            window,
            tuple(view_of(group, readings[each.name], k, views) for k, group in enumerate(groups)),
            readings_of(readings[each.name], group_columns),
            trait,
            removes_rows(options.in_order, trait),
            span,
        )
        for each, window, trait, span in zip(queries, windows, traits, spans, strict=True)
    )
    punctuations = tuple(dict.fromkeys(w.columns[0] for w in windows if w.kind == "punctuated"))
    for name in punctuations:
        if not pa.types.is_boolean(types[name].arrow) and not pa.types.is_null(types[name].arrow):
            raise InvalidInput.option(f"Column {name!r} of a punctuated window", types[name].arrow, "boolean")
    if len(punctuations) > 62:
        raise InvalidInput.option("The number of punctuation columns", len(punctuations), "at most 62")
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
        punctuations,
        watched,
        edges,
        _cuts(windows, each_row),
        rows,
        needs_splits(options.in_order, traits),
        takes_tree(longest if not each_row else math.inf, compiled),
        _result_columns(planned),
    )


def of_slices(plan: Plan) -> Plan:
    """The same plan over rows that are slices already: their columns are the fields of partials.

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
    """Which fields of a partial are dates or times of the input."""
    found = []
    for component in group.components:
        inputs = [group.columns[i] for i in component.inputs]
        for place, each in enumerate(component.fields):
            found.append(component.selective and place < len(inputs) and inputs[place].is_time and each.code == "i8")
    return found


def _traits(query: Query, window: Window) -> Traits:
    return Traits(
        window.context,
        window.kind == "session",
        window.by_count,
        all(each.commutative for _, each in query.aggregates),
        all(each.invertible for _, each in query.aggregates),
    )


def _result_columns(queries: Sequence[Planned]) -> tuple[tuple[str, Any], ...]:
    """One column per name of a result; where two queries have the same name, a type that holds both."""
    found: dict[str, Any] = {}
    for each in queries:
        for reading in each.readings:
            known = found.get(reading.name, reading.arrow)
            if known is not None and reading.arrow is not None and known != reading.arrow:
                both = (known, reading.arrow)
                numbers = all(pa.types.is_integer(t) or pa.types.is_floating(t) for t in both)
                if not numbers or (pa.uint64() in both and not any(map(pa.types.is_floating, both))):
                    raise InvalidQuery.types(reading.name, known, reading.arrow)
                known = (
                    pa.float64() if pa.types.is_floating(known) or pa.types.is_floating(reading.arrow) else pa.int64()
                )
            found[reading.name] = known
    return tuple(found.items())


def _edges(windows: Sequence[Window]) -> tuple[list[Progression], list[Any]]:
    progressions: list[Progression] = []
    points: list[Any] = []
    for window in windows:
        w: Any = window
        if window.kind == "grid":
            progressions += pairs(w.grid)
        elif window.kind == "cumulative":
            progressions += cutty(w.grid)
        elif window.kind == "landmark":
            points += [w.start, w.end]
    return progressions, points


def _cuts(windows: Sequence[Window], each_row: bool) -> Cuts:
    counted: list[Any] = [window for window in windows if window.kind == "rows"]
    sessions: list[Any] = [window for window in windows if window.kind == "session"]
    ranks = sorted({(w.every, phase % w.every) for w in counted for phase in (0, w.size)})
    return Cuts(
        np.array([every for every, _ in ranks], np.int64),
        np.array([phase for _, phase in ranks], np.int64),
        min((w.gap for w in sessions), default=-1),
        each_row,
        any(window.kind == "punctuated" for window in windows),
    )


def _slices_per_window(window: Window, edges: Edges) -> float:
    """How many slices a window has, if every cell has rows."""
    w: Any = window
    if window.kind in ("grid", "cumulative"):
        return max(1.0, edges.per_unit() * float(w.size))
    if window.kind == "landmark":
        return max(1.0, edges.per_unit() * float(w.end - w.start))
    if window.kind == "rows":
        return max(1.0, float(w.size / w.every))
    return math.inf if window.kind in ("user_aware", "user_free") else float(getattr(w, "rows", 1))
