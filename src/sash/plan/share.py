"""Share partials between queries: each component is kept once for all aggregates of all queries that read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import pyarrow as pa

from sash.algebra.aggregate import Aggregate, Template, parts_of
from sash.algebra.monoid import Column, Component, Monoid, Parts, of_partials
from sash.algebra.union import places_of, unite
from sash.errors import SashError, UnknownName, UnsupportedAggregate
from sash.plan.query import Query
from sash.slicing.partials import View
from sash.slicing.runs import Read, Statistic

__all__ = [
    "ColumnType",
    "Derived",
    "Encoding",
    "Found",
    "Part",
    "Reading",
    "arrow_type",
    "group_aggregates",
    "keeps_lists",
    "keeps_runs",
    "part_of",
    "readings_of",
    "statistic_of",
    "view_of",
]


class Encoding(Enum):
    """The numbers that are made from a column of values (`plan/coding.py`)."""

    LABELS = "labels"  # of a dictionary: equal for equal values, and in their order
    UNITS = "units"  # of the last digit of decimals; of long ones, the low word
    HIGH = "high word"  # of the units of long decimals
    FLOATS = "floats"
    BITS = "bits"  # that sketches hash
    KNOWN = "known"  # only which values are not null


@dataclass(frozen=True)
class Derived:
    """The column of values that a column of numbers is made from."""

    source: str
    how: Encoding


@dataclass(frozen=True)
class ColumnType:
    """The type of a column of the input, for kernels and for Arrow."""

    column: Column
    arrow: Any  # of a derived column, the type of its source
    derived: Derived | None = None

    @property
    def has_labels(self) -> bool:
        """Whether the values are labels of a dictionary."""
        return self.derived is not None and self.derived.how is Encoding.LABELS


Part = tuple[str, tuple[str, ...]]  # a component of partials, and the columns that it reads


@dataclass(frozen=True)
class Reading:
    """One result of a query: its name, its type, and the output of a monoid that it reads."""

    name: str
    template: Template
    group: int
    output: int
    arrow: Any  # None: the type depends on the objects
    parts: tuple[Part, ...] = ()  # the parts of the group's partials that it reads


# Groups; besides them there is one per column that is kept as runs or lists.
_COMPILED = "compiled"
_OBJECTS = "objects"
_RUNS = "runs"
_LISTS = "lists"
Found = list[tuple[str, Template, Any, int, Any]]  # result, template, parts, group, arrow type


_BINARIES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)


def _refuse_binaries(template: Template, types: Mapping[str, ColumnType]) -> None:
    """Refuse to join binaries: kernels read them as objects, as strings, so only the Arrow type tells them apart."""
    for name in template.columns if template.name == "string_agg" else ():
        known = types[name].arrow if name in types else None
        if known is not None and any(is_of(known) for is_of in _BINARIES):
            raise UnsupportedAggregate.of_type(template.name, known, "strings")


def group_aggregates(
    queries: Sequence[Query], types: Mapping[str, ColumnType]
) -> tuple[tuple[Monoid, ...], tuple[tuple[str, ...], ...], dict[str, Found]]:
    """Group aggregates: those that share a part are one group; keep equal parts once.

    A kernel is compiled for a group. So aggregates that share nothing have groups, and kernels, of their own: what is
    compiled depends on the different pairs of an aggregate and a type, and not on their combinations.
    """
    schema = {name: each.column for name, each in types.items()}
    kinds: dict[Any, str] = {}  # thousands of queries may have the same aggregates
    templates: dict[Any, Template] = {}
    parts: dict[Any, Parts] = {}
    places = {name: place for place, name in enumerate(schema)}
    for each in queries:
        for result, template in each.aggregates:
            meaning = _meaning(template)
            if meaning in kinds:
                continue
            try:
                _refuse_binaries(template, types)
                parts[meaning] = parts_of(template, schema, places)
            except UnknownName:
                raise
            except SashError as error:
                raise type(error)(f"Query {each.name!r}, {result}={template}: {error}") from error
            kinds[meaning] = _kind_of(template, parts[meaning], schema)
            templates[meaning] = template
    grouped = _cluster(kinds, parts)
    # Each group sees its own columns only, numbered from 0: columns of one type share their kernels.
    columns = tuple(
        tuple(dict.fromkeys(name for meaning in group for name in templates[meaning].columns)) for group in grouped
    )
    groups = []
    own_parts: dict[Any, tuple[int, Parts]] = {}
    for number, (group, names) in enumerate(zip(grouped, columns, strict=True)):
        own_places = {name: place for place, name in enumerate(names)}
        own = {str(k): parts_of(templates[meaning], schema, own_places) for k, meaning in enumerate(group)}
        own_parts |= {meaning: (number, each) for meaning, each in zip(group, own.values(), strict=True)}
        # Kernels are cached by what they compute, not by the names of users. The same part may be in two groups, as an
        # array and as a list: the names of the groups distinguish them.
        name = "objects" if kinds[group[0]] == _OBJECTS else "slices"
        groups.append(replace(unite(own, tuple(schema[column] for column in names)), name=name, outputs=()))
    found: dict[str, Found] = {each.name: [] for each in queries}
    for each in queries:
        for result, template in each.aggregates:
            number, own_part = own_parts[_meaning(template)]
            found[each.name].append((result, template, own_part, number, arrow_type(template, own_part.result, types)))
    return tuple(groups), columns, found


def _kind_of(template: Template, parts: Parts, schema: Mapping[str, Column]) -> str:
    fields = [field for component in parts.components for field in component.fields]
    fields += [schema[name].field for name in template.columns] + [parts.result]
    names = [each.name for each in parts.components]
    if names in (["values"], ["collected"]) and not schema[template.columns[0]].field.is_object:
        return _RUNS if names == ["values"] else _LISTS  # the numbers of one column: sorted runs, or as they arrive
    return _OBJECTS if any(field.is_object for field in fields) else _COMPILED


def _cluster(kinds: Mapping[Any, str], parts: Mapping[Any, Parts]) -> list[list[Any]]:
    """Return the aggregates of each group: compiled ones that share a part, all of objects, those of one run."""
    group_of: dict[Any, list[Any]] = {}  # by what is shared
    for meaning, kind in kinds.items():
        shared = [_OBJECTS] if kind == _OBJECTS else [(kind, each.shared_as) for each in parts[meaning].components]
        met = list({id(group_of[each]): group_of[each] for each in shared if each in group_of}.values())
        group = [member for other in met for member in other] + [meaning]
        of_met = {id(other) for other in met}
        for known in [known for known, other in group_of.items() if id(other) in of_met] if met else []:
            group_of[known] = group
        group_of |= dict.fromkeys(shared, group)
    return list({id(group): group for group in group_of.values()}.values())


def _meaning(template: Template) -> Any:
    """Return a value that is equal for equal aggregates."""
    try:
        hash(template)
    except TypeError:  # for example, an identity that is a list
        return id(template)
    return template


def view_of(group: Monoid, found: Found, place: int, known: dict[Any, View]) -> View | None:
    """Return what a query reads of a group; `known` are the views of other queries, which may be the same."""
    own = {str(k): each[2] for k, each in enumerate(found) if each[3] == place}
    if not own:
        return None
    key = place, tuple(id(parts) for parts in own.values())
    if key not in known:
        known[key] = _view(group, found, place, own)
    return known[key]


def _view(group: Monoid, found: Found, place: int, own: dict[str, Any]) -> View:
    monoid = replace(of_partials(unite(own, group.columns)), name="window")
    statistics = (
        tuple(_statistic(template) for _, template, _, k, _ in found if k == place) if keeps_runs(group) else ()
    )
    return View(monoid, places_of(monoid, group), statistics)


def keeps_runs(group: Monoid) -> bool:
    """Return whether the partials of a group are the values of one column of numbers."""
    return [each.name for each in group.components] == ["values"] and not group.columns[0].field.is_object


def keeps_lists(group: Monoid) -> bool:
    """Return whether the partials of a group are the numbers of one column in order of arrival."""
    return [each.name for each in group.components] == ["collected"] and not group.columns[0].field.is_object


def statistic_of(template: Template, types: Mapping[str, ColumnType]) -> Statistic | None:
    """Return the statistic of the sorted values of one column that an aggregate computes; None for other aggregates."""
    parts = template.parts(tuple(types[name].column for name in template.columns), False)
    return _statistic(template) if [each.name for each in parts.components] == ["values"] else None


def _statistic(template: Any) -> Statistic:
    q = dict(template.parameters).get("q")
    return Statistic(Read(template.name)) if q is None else Statistic(Read.QUANTILE, q)


def part_of(component: Component, columns: tuple[str, ...]) -> Part:
    """Return the identification of a component in a group with these columns."""
    return component.name, tuple(columns[i] for i in component.inputs)


def readings_of(found: Found, columns: Sequence[tuple[str, ...]]) -> tuple[Reading, ...]:
    """Return the results of a query; `columns` are those of the groups."""
    counts = [0] * len(columns)
    readings = []
    for result, template, parts, group, arrow in found:
        own = tuple(part_of(component, columns[group]) for component in parts.components)
        readings.append(Reading(result, template, group, counts[group], arrow, own))
        counts[group] += 1
    return tuple(readings)


def arrow_type(template: Template, result: Any, types: Mapping[str, ColumnType]) -> Any:
    """Return the type of a result column; None if it depends on the objects."""
    if isinstance(template, Aggregate) and isinstance(template.result, pa.DataType):
        return template.result
    if (template.selective or template.name == "mode") and template.columns and not result.is_array:
        return types[template.columns[-1]].arrow
    if result.is_array:
        return pa.list_(pa.from_numpy_dtype(result.dtype), result.width)
    if not result.is_object:
        return pa.from_numpy_dtype(result.dtype)
    if result.decimal is not None:
        digits, scale = result.decimal
        return pa.decimal128(digits, scale) if digits <= 38 else pa.decimal256(digits, scale)
    if template.name in ("collect", "collect_distinct"):
        return pa.list_(types[template.columns[0]].arrow)
    return pa.string() if template.name == "string_agg" else None
