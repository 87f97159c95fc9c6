"""The plan: which partials are kept, how rows are cut into slices, and how each query is computed, with reasons."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.monoid import Monoid
from sash.kinds.kind import Family, Kind
from sash.limits import LIMITS, Limits
from sash.plan.coding import Result, source_of
from sash.plan.decide import Decision, Traits
from sash.plan.share import ColumnType, Reading
from sash.report import Report
from sash.slicing.cuts import Cuts
from sash.slicing.partials import View
from sash.slicing.slicer import Edges
from sash.windows.measure import Measure
from sash.windows.window import Window

__all__ = ["Cutting", "Options", "Plan", "PlannedQuery"]

MARKED_EDGES = ""  # the name of the bit of edges that users' windows mark; no column of a punctuated window has it


@dataclass(frozen=True)
class Options:
    """The options of a stream that its results depend on."""

    on: str
    by: tuple[str, ...] = ()
    in_order: bool = False
    lateness: Any = 0  # as the user gave it
    delay: Any = None  # of the watermark behind the largest position; None: the user sets the watermark
    emit: str = "final"
    partial: bool = False  # at the end, also emit count windows that are not full
    is_table: bool = False  # a table has no rejected rows: a row too far for windows is an error
    limits: Limits = field(default=LIMITS, compare=False)  # results do not depend on them
    store: str = field(default="auto", compare=False)  # lazy, eager or auto: nor on this
    key_names: tuple[str, ...] = field(default=(), compare=False)  # of keys in results, if some are nested

    @property
    def result_keys(self) -> tuple[str, ...]:
        """The names of keys in results."""
        return self.key_names or self.by


@dataclass(frozen=True)
class PlannedQuery:
    """One query, in positions, and what it reads of each group of partials."""

    name: str
    text: str
    kind: Kind
    views: tuple[View | None, ...]
    readings: tuple[Reading, ...]
    results: tuple[Result, ...]  # made of the readings
    traits: Traits
    removal: Decision  # Figure 6: it only explains
    slices_per_window: float

    @property
    def window(self) -> Window:
        """The window, in positions."""
        found: Window = self.kind.window
        return found


@dataclass(frozen=True)
class Cutting:
    """How a plan cuts rows: what the next change of queries needs to know of it."""

    queries: tuple[str, ...]  # names
    is_ordered: bool
    is_each_row: bool
    gaps: tuple[tuple[str, Any], ...]  # the gaps of session queries, by name


@dataclass(frozen=True, repr=False)
class Plan(Report):
    """All decisions that are made before the first row.

    >>> import sash
    >>> plan = sash.explain(
    ...     {"t": [0]}, sash.query("n", sash.tumbling(10), n=sash.count()), on="t"
    ... )
    >>> isinstance(plan, sash.Plan), [each.name for each in plan.queries]
    (True, ['n'])
    """

    options: Options
    measure: Measure
    lateness: Any  # in positions
    delay: Any
    key_types: tuple[Any, ...]
    columns: Mapping[str, ColumnType]  # that aggregates read
    groups: tuple[Monoid, ...]
    group_columns: tuple[tuple[str, ...], ...]
    queries: tuple[PlannedQuery, ...]
    punctuations: tuple[str, ...]  # boolean columns; each has its bit
    watched: tuple[str, ...]  # columns that users' windows read
    edges: Edges
    starts: Edges | None  # edges that slices keep once the watermark has passed them; None: all
    cuts: Cuts
    rows: Decision  # Figure 4
    splits: Decision  # Figure 5: it only explains
    tree: Decision
    results: tuple[tuple[str, Any], ...] = field(default=())  # names and types of result columns

    @cached_property
    def waits(self) -> bool:
        """Whether rows wait until no earlier row can arrive, and are then cut in order."""
        return bool(self.rows.choice) and not self.options.in_order

    @cached_property
    def is_ordered(self) -> bool:
        """Whether slices are only ever appended to."""
        return self.waits or self.options.in_order

    @property
    def cutting(self) -> Cutting:
        """How this plan cuts rows; the state keeps it for the next change of queries."""
        gaps = tuple((each.name, each.kind.gap()) for each in self.queries if each.kind.gap() is not None)
        return Cutting(tuple(each.name for each in self.queries), self.is_ordered, self.cuts.is_each_row, gaps)

    @cached_property
    def has_revisions(self) -> bool:
        """Whether a window can be emitted again."""
        return self.lateness > 0 or self.options.emit == "updates"

    @cached_property
    def fingerprint(self) -> str:
        """A digest that is equal for plans that can read each other's state."""
        o = self.options
        parts = [repr((o.on, o.by, o.in_order, self.lateness, self.delay, o.emit, o.partial)), repr(self.measure)]
        parts += [str(each) for each in self.key_types]
        parts += [f"{name} {each.column} {each.arrow}" for name, each in self.columns.items()]
        parts += [each.text for each in self.queries]
        for group, names in zip(self.groups, self.group_columns, strict=True):
            parts += [f"{each.name} {each.inputs} {each.fields}" for each in group.components] + list(names)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @cached_property
    def families(self) -> tuple[tuple[PlannedQuery, ...], ...]:
        """Queries that are computed in one pass: windows on grids, or of one kind, with the same results.

        Any other query is alone.
        """
        found: dict[Any, list[PlannedQuery]] = {}
        for place, each in enumerate(self.queries):
            key: Any = place
            if (each.kind.shared_grid is not None or each.kind.family is not None) and not self.has_revisions:
                views = tuple(None if view is None else (view.monoid.key, view.places) for view in each.views)
                outputs = tuple((reading.group, reading.output) for reading in each.readings)
                made = ((r.name, str(r.arrow), r.made, r.source, r.separator) for r in each.results)
                key = each.kind.family, views, outputs, tuple(made)
            found.setdefault(key, []).append(each)
        return tuple(tuple(each) for each in found.values())

    @cached_property
    def marks_edges(self) -> bool:
        """Whether rows mark the edges of a user's windows."""
        return any(each.kind.marks_edges for each in self.queries)

    @cached_property
    def bit_names(self) -> tuple[str, ...]:
        """The meaning of the bits of a slice: punctuation columns, then the edges that users' windows mark."""
        return (*self.punctuations, *((MARKED_EDGES,) if self.marks_edges else ()))

    @cached_property
    def counts_rows(self) -> bool:
        """Whether a query has windows of ranks."""
        return any(each.window.by_count for each in self.queries)

    @cached_property
    def calls_user_functions(self) -> bool:
        """Whether the plan calls functions of users, which may fail."""
        return self._has_user_aggregates or any(each.kind.calls_user for each in self.queries)

    @cached_property
    def calls_user_first(self) -> bool:
        """Whether users' functions are called only before rows are placed: if they fail, slices are unchanged."""
        kinds = [each.kind for each in self.queries]
        return (
            not self.has_revisions
            and all(kind.calls_user_first or not kind.calls_user for kind in kinds)
            and not self._has_user_aggregates
        )

    @cached_property
    def _has_user_aggregates(self) -> bool:
        return any(isinstance(reading.template, Aggregate) for each in self.queries for reading in each.readings)

    @cached_property
    def separate_queries(self) -> tuple[PlannedQuery, ...]:
        """Queries that are neither on a shared grid nor of a kind with families."""
        return tuple(each for each in self.queries if each.kind.shared_grid is None and each.kind.family is None)

    @cached_property
    def kept_together(self) -> tuple[tuple[Family, tuple[PlannedQuery, ...]], ...]:
        """Queries of kinds with families, whatever their results: one pass finds the slices that they need."""
        found: dict[type[Family], list[PlannedQuery]] = {}
        for each in self.queries:
            if each.kind.family is not None:
                found.setdefault(each.kind.family, []).append(each)
        return tuple((family([each.kind for each in own]), tuple(own)) for family, own in found.items())

    def bytes_per_slice(self) -> int:
        """Return the size of one slice in bytes, with its partials."""
        fields = [each for group in self.groups for each in group.fields]
        return 48 + sum(8 if each.is_object else each.dtype.itemsize * each.width for each in fields)

    def lines(self) -> list[tuple[str, str]]:
        """Return the decisions and their reasons, by name."""
        o = self.options
        by = ", ".join(o.by) or "no key"
        order = "in order" if o.in_order else f"any order, lateness {o.lateness}"
        lines = [("stream", f"on {o.on} ({self.measure.kind.value}), by {by}, {order}")]
        fields = ", ".join(self.field_names()) or "none"
        lines.append(("fields", f"{fields}: {self.bytes_per_slice()} bytes per slice, shared by all queries"))
        lines.append(("slices", self._cutting()))
        state = (
            "wait in order until the watermark"
            if self.waits
            else "kept as slices of one row"
            if self.rows.choice
            else "not kept"
        )
        lines.append(("rows", f"{state}, because {self.rows.because}"))
        lines.append(("splits", self._splits()))
        lines.append(("store", f"{'eager' if self.tree.choice else 'lazy'}, because {self.tree.because}"))
        for each in self.queries:
            lines.append(("query", f"{each.text}"))
            shift = (
                f"; {each.removal.because}: rows wait, so none has to leave"
                if each.traits.by_count and self.waits
                else ""
            )
            lines.append(("", f"{each.traits.context.value}; {self.method_of(each)}{shift}"))
        lines.append(("state", self._size()))
        return lines

    def method_of(self, planned: PlannedQuery) -> str:
        """Describe how the windows of a query are computed from slices."""
        per_window = planned.slices_per_window
        if self.tree.choice:
            combines = 2 * math.log2(max(2.0, per_window)) if math.isfinite(per_window) else math.nan
            return "computed by a tree over slices (FlatFAT)" + (
                f": about {combines:.0f} combines per window" if combines == combines else ""
            )
        return (
            "computed by folding its slices"
            + (f" (about {per_window:.0f} per window)" if 1 < per_window < math.inf else "")
            + self._sliding(planned)
        )

    def _sliding(self, planned: PlannedQuery) -> str:
        objects = any(
            view is not None and not group.is_compiled and not view.statistics
            for view, group in zip(planned.views, self.groups, strict=True)
        )
        most = self.options.limits.slide_overlaps
        return f", or by two_stacks_lite where they overlap more than {most} times" if objects else ""

    def field_names(self) -> list[str]:
        """Return the components of partials with the columns that they read."""
        parts = []
        for group, names in zip(self.groups, self.group_columns, strict=True):
            for component in group.components:
                columns = ", ".join(source_of(names[i]) for i in component.inputs)
                parts.append(f"{component.name.partition('@')[0]}({columns})")
        return parts

    def _cutting(self) -> str:
        parts = []
        if self.cuts.is_each_row:
            parts.append("one per row")
        elif len(self.edges.step):
            per_unit = self.edges.per_unit()
            parts.append(
                f"{len(self.edges.step)} grid(s) of edges, on average one per {_unit(1 / per_unit, self.measure)}"
            )
            if self.starts is not None:
                apart = _unit(1 / self.starts.per_unit(), self.measure)
                parts.append(f"merged where only windows end, to one per {apart}")
        if len(self.edges.points):
            parts.append(f"{len(self.edges.points)} fixed edges")
        if len(self.cuts.every):
            parts.append(f"by rank, every {', '.join(map(str, self.cuts.every.tolist()))} rows")
        if self.cuts.gap >= 0:
            parts.append(f"where rows are more than {_unit(self.cuts.gap, self.measure)} apart")
        parts += [f"where {name} is true" for name in self.punctuations]
        own = [each for each in self.queries if each.kind.has_own_edges or each.kind.marks_edges]
        parts += [f"at the edges of {each.window}" for each in own]
        return "cut " + "; ".join(parts or ["nowhere"])

    def _splits(self) -> str:
        if not self.splits.choice:
            return f"never: {self.splits.because}"
        how = "each row is a slice" if self.cuts.is_each_row else "rows wait until they are in order"
        return f"never: {how}, because {self.splits.because}"

    def _size(self) -> str:
        most = max((each.slices_per_window for each in self.queries), default=1.0)
        if not math.isfinite(most):
            return "grows with the rows that windows need"
        return f"about {math.ceil(most) + 1} slices per key, {(math.ceil(most) + 1) * self.bytes_per_slice():,} bytes"


def _unit(length: float, measure: Measure) -> str:
    if measure.kind.value == "time":
        return f"{length / 1e6:.4g} s"
    return f"{length:.4g}"
