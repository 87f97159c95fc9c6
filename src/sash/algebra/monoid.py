"""A monoid with typed fields: what an aggregate becomes once its input types are known.

Idea      An aggregate is some components and a way to read its result off them. A component is
          the smallest piece that two aggregates can share: a count, a sum, a maximum. Aggregates
          of the same columns that need the same component store and combine it once.
Picture     mean(x)      needs  [count | sum]
            stddev(x)    needs  [count | sum | m2]
            together     keep   [count | sum | m2]       one partial, two outputs
Laws      combine is associative, identity is neutral on both sides, oldest on the left;
          invert(a ⊕ b, a) = b where there is one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, cached_property
from typing import Any

import numpy as np

from sash.algebra.compiler import JIT_DISABLED, Static, compiled_reading, jitable, static_of, unrolled
from sash.algebra.digest import digest
from sash.algebra.fields import Field, Fields, Partial, allocate

__all__ = [
    "Column",
    "Component",
    "Monoid",
    "Output",
    "Parts",
    "Presence",
    "combine",
    "emit",
    "identity",
    "invert",
    "lift",
    "of_partials",
    "optional",
    "places_of",
    "unite",
]


class Presence(IntEnum):
    """What a result is: no value at all, a value, or an exact value that does not fit its type."""

    NULL = 0
    VALUE = 1
    OVERFLOW = 2


@dataclass(frozen=True)
class Column:
    """The type of an input column: a field, and whether values can be missing."""

    field: Field
    nullable: bool = False
    is_time: bool = False  # an integer that stands for a date or time: not to be added up

    def __str__(self) -> str:
        kind = "time" if self.is_time else self.field.dtype.name
        if self.field.decimal is not None:
            kind = "decimal({}, {})".format(*self.field.decimal)
        return f"{kind}{' with nulls' if self.nullable else ''}"


@dataclass(frozen=True)
class Component:
    """The smallest piece of a partial that aggregates can share.

    `reads` names components of the same inputs whose fields stand before its own in the operands
    of combine and invert, so that a second moment can use the count and the sum that are kept anyway.
    """

    name: str
    fields: tuple[Field, ...]
    identity: tuple[Any, ...]  # of an array field, the number that fills it
    lift: Callable[..., Partial]
    combine: Callable[[Partial, Partial], Partial]
    invert: Callable[[Partial, Partial], Partial] | None = None
    commutative: bool = True
    selective: bool = False
    reads: tuple[str, ...] = ()
    inputs: tuple[int, ...] = (0,)
    passes: tuple[int, ...] = ()  # inputs that may be null without the row being skipped: lift is told

    @property
    def shared_as(self) -> tuple[str, tuple[int, ...]]:
        """Two components that agree in this are one."""
        return self.name, self.inputs


def optional(component: Component) -> Component:
    """The same choice where there may be nothing to choose from: a last field says if there is."""
    lift, choose = jitable(component.lift), jitable(component.combine)
    width = len(component.fields)

    def lift_seen(*row: Any) -> Partial:
        return lift(*row) + (True,)  # noqa: RUF005  # the compiler knows no star in a tuple

    def choose_seen(a: Partial, b: Partial) -> Partial:
        if not b[width]:
            return a
        if not a[width]:
            return b
        return choose(a[:width], b[:width]) + (True,)  # noqa: RUF005

    return Component(
        f"optional {component.name}",
        (*component.fields, Field("b1")),
        (*component.identity, False),
        lift_seen,
        choose_seen,
        commutative=component.commutative,
        selective=component.selective,
        inputs=component.inputs,
        passes=component.passes,
    )


@dataclass(frozen=True)
class Parts:
    """What one aggregate needs of a partial, and how its result is read off those components."""

    components: tuple[Component, ...]
    lower: Callable[[Partial], Any]
    result: Field
    presence: Callable[[Partial], int] | None = None  # None: always a value


@dataclass(frozen=True)
class Output:
    """One result column of a monoid: which fields it reads, and how."""

    name: str
    fields: tuple[int, ...]
    lower: Callable[[Partial], Any]
    result: Field
    presence: Callable[[Partial], int] | None

    def read(self, partial: Partial) -> tuple[Any, int]:
        """The result and what it is."""
        own = tuple(partial[k] for k in self.fields)
        presence = Presence.VALUE if self.presence is None else self.presence(own)
        return (self.lower(own) if presence == Presence.VALUE else None), presence


@dataclass(frozen=True, eq=False)
class Monoid(Static):
    """Lift, combine and identity over typed fields; a type to the compiler."""

    name: str
    fields: tuple[Field, ...]
    initial: tuple[Any, ...]
    lift: Callable[..., Partial]  # takes the row: columns, then validity of the nullable ones
    combine: Callable[[Partial, Partial], Partial]
    invert: Callable[[Partial, Partial], Partial] | None
    outputs: tuple[Output, ...]
    columns: tuple[Column, ...]
    commutative: bool
    selective: bool
    is_compiled: bool = field(default=not JIT_DISABLED)
    components: tuple[Component, ...] = ()

    @cached_property
    def key(self) -> str:  # type: ignore[override]  # computed once, then an attribute
        meaning = digest(
            tuple(each.code for each in self.fields),
            tuple(self.initial),
            self.lift,
            self.combine,
            self.invert,
            *(part for each in self.outputs for part in (each.fields, each.lower, each.presence, each.result.code)),
            tuple(str(each) for each in self.columns),
        )
        return f"{self.name}@{meaning}"

    @property
    def has_objects(self) -> bool:
        """Whether values or partials are Python objects, which nothing can compile."""
        return any(each.is_object for each in (*self.fields, *(column.field for column in self.columns)))

    @cached_property
    def needs_heap(self) -> bool:  # type: ignore[override]
        """Whether partials or results are made of arrays."""
        return any(each.is_array for each in (*self.fields, *(output.result for output in self.outputs)))

    def allocate(self, slots: int) -> Fields:
        """Room for partials."""
        return allocate(self.fields, slots, self.is_compiled)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Monoid) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def unite(parts: Mapping[str, Parts], columns: tuple[Column, ...]) -> Monoid:
    """One monoid for several aggregates of the same row: what they share is kept once."""
    kept: dict[tuple[str, tuple[int, ...]], Component] = {}
    for part in parts.values():
        for component in part.components:
            kept.setdefault(component.shared_as, component)
    components = tuple(kept.values())
    first_field: dict[tuple[str, tuple[int, ...]], int] = {}
    count = 0
    for component in components:
        first_field[component.shared_as] = count
        count += len(component.fields)

    def places(component: Component) -> tuple[int, ...]:
        start = first_field[component.shared_as]
        return tuple(range(start, start + len(component.fields)))

    def read_places(component: Component) -> tuple[int, ...]:
        before = tuple(place for name in component.reads for place in places(kept[name, component.inputs]))
        return before + places(component)

    fields = tuple(each for component in components for each in component.fields)
    compiled = not JIT_DISABLED and not any(each.is_object for each in (*fields, *(c.field for c in columns)))
    outputs = tuple(
        Output(name, tuple(p for c in part.components for p in places(c)), part.lower, part.result, part.presence)
        for name, part in parts.items()
    )
    return Monoid(
        name="+".join(parts),
        fields=fields,
        initial=tuple(value for component in components for value in component.identity),
        lift=_united_lift(components, columns),
        combine=_united(components, read_places, [component.combine for component in components]),
        invert=(
            _united(components, read_places, [component.invert for component in components])
            if all(component.invert for component in components)
            else None
        ),
        outputs=outputs,
        columns=columns,
        commutative=all(component.commutative for component in components),
        selective=len(components) == 1 and components[0].selective,
        is_compiled=compiled,
        components=components,
    )


def places_of(part: Monoid, whole: Monoid) -> tuple[int, ...]:
    """Where the fields of a monoid are among the fields of one that has all its components."""
    first: dict[tuple[str, tuple[int, ...]], int] = {}
    count = 0
    for component in whole.components:
        first[component.shared_as] = count
        count += len(component.fields)
    return tuple(first[each.shared_as] + k for each in part.components for k in range(len(each.fields)))


def of_partials(aggregate: Monoid) -> Monoid:
    """The same monoid over rows that are partials already."""
    columns = tuple(Column(each) for each in aggregate.fields)
    return replace(aggregate, lift=_row_itself, columns=columns)


def _row_itself(row: Partial) -> Partial:
    return row


def _united(
    components: tuple[Component, ...], read_places: Callable[[Component], tuple[int, ...]], functions: Iterable[Any]
) -> Callable[[Partial, Partial], Partial]:
    functions = tuple(functions)
    if len(components) == 1:
        return jitable(functions[0])
    lines, results, bindings = [], [], []
    for k, (component, function) in enumerate(zip(components, functions, strict=True)):
        left, right = (_tuple(f"{side}[{place}]" for place in read_places(component)) for side in "ab")
        lines.append(f"    c{k} = f{k}({left}, {right})\n")
        results += [f"c{k}[{j}]" for j in range(len(component.fields))]
        bindings.append((f"f{k}", jitable(function)))
    return unrolled(f"def generated(a, b):\n{''.join(lines)}    return {_tuple(results)}", *bindings)


def _united_lift(components: tuple[Component, ...], columns: tuple[Column, ...]) -> Callable[..., Partial]:
    validity = {k: len(columns) + sum(c.nullable for c in columns[:k]) for k, c in enumerate(columns) if c.nullable}
    lines, results, bindings = [], [], []
    for k, component in enumerate(components):
        arguments = [f"row[{i}]" for i in component.inputs]
        arguments += [f"row[{validity[i]}]" if i in validity else "True" for i in component.passes]
        present = [f"row[{validity[i]}]" for i in component.inputs if i in validity and i not in component.passes]
        bindings.append((f"f{k}", jitable(component.lift)))
        lifted = f"f{k}({', '.join(arguments)})"
        if present:  # both branches must give one type
            bindings += [(f"cast{k}", _canonical(component.fields)), (f"zero{k}", _initial(component))]
            lines.append(f"    if {' and '.join(present)}:\n        c{k} = cast{k}({lifted})\n")
            lines.append(f"    else:\n        c{k} = cast{k}(zero{k}())\n")
        else:
            lines.append(f"    c{k} = {lifted}\n")
        results += [f"c{k}[{j}]" for j in range(len(component.fields))]
    return unrolled(f"def generated(row):\n{''.join(lines)}    return {_tuple(results)}", *bindings)


def _tuple(items: Iterable[str]) -> str:
    items = list(items)
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _initial(component: Component) -> Callable[[], Partial]:
    return _constant(component.fields, component.identity)


def _constant(fields: tuple[Field, ...], values: tuple[Any, ...]) -> Callable[[], Partial]:
    """A function of a fixed partial; array fields are filled anew, so no two partials share one."""
    items, bindings = [], []
    for k, (each, value) in enumerate(zip(fields, values, strict=True)):
        if each.is_array:
            items.append(f"np.full({each.width}, v{k}, t{k})")
            bindings += [(f"v{k}", each.dtype.type(value)), (f"t{k}", each.dtype.type)]
        elif each.is_object:
            items.append(f"v{k}")
            bindings += [(f"v{k}", value), (f"kind of v{k}", f"{type(value)} {value!r}")]
        else:
            items.append(f"v{k}")
            bindings.append((f"v{k}", each.dtype.type(value).item()))
    # To a cache 0, 0.0, -0.0 and False are one key: the text tells fields of unlike types apart, a kind objects.
    kinds = [
        f"{each.code} {'' if each.is_object else each.dtype.type(value)}"
        for each, value in zip(fields, values, strict=True)
    ]
    return _generate(f"def generated():\n    # {', '.join(kinds)}\n    return {_tuple(items)}", [("np", np), *bindings])


def _typed(fields: tuple[Field, ...], name: str) -> tuple[str, list[tuple[str, Any]]]:
    """Source that gives every field of `name` the type it is stored as: a partial has one type everywhere."""
    casts = _tuple(f"{name}[{k}]" if each.is_array else f"t{k}({name}[{k}])" for k, each in enumerate(fields))
    return casts, [(f"t{k}", each.dtype.type) for k, each in enumerate(fields) if not each.is_array]


@cache  # the compiler keeps each of them for ever
def _canonical(fields: tuple[Field, ...]) -> Callable[[Partial], Partial]:
    """A function that does nothing to Python, and gives fields their types when compiled."""

    def as_is(partial: Partial) -> Partial:
        return partial

    @compiled_reading(as_is)
    def _compiled(partial: Any) -> Any:
        casts, bindings = _typed(fields, "partial")
        return unrolled(f"def generated(partial):\n    return {casts}", *bindings)

    return as_is


def _generate(source: str, bindings: list[tuple[str, Any]]) -> Callable[..., Any]:
    try:
        return unrolled(source, *bindings)
    except TypeError:  # an unhashable identity such as a list: nothing to share
        return unrolled.__wrapped__(source, *bindings)


# --- what kernels call: the same words for the interpreter and for the compiler ------------------


def identity(aggregate: Monoid) -> Partial:
    """The partial of no rows."""
    return _constant(aggregate.fields, aggregate.initial)()


def lift(aggregate: Monoid, row: tuple[Any, ...]) -> Partial:
    """The partial of one row."""
    return aggregate.lift(row)


def combine(aggregate: Monoid, older: Partial, newer: Partial) -> Partial:
    """The partial of older rows followed by newer ones."""
    return aggregate.combine(older, newer)


def invert(aggregate: Monoid, whole: Partial, older: Partial) -> Partial:
    """What is left of `whole` when the older rows at its front go: invert(a ⊕ b, a) = b."""
    assert aggregate.invert is not None
    return aggregate.invert(whole, older)


def emit(aggregate: Monoid, results: Fields, presences: Fields, place: int, partial: Partial) -> None:
    """Write what each output reads off a partial; `presences` has an array per output that can be absent."""
    written = 0
    for output, result in zip(aggregate.outputs, results, strict=True):
        value, presence = output.read(partial)
        result[place] = value
        if output.presence is not None:
            presences[written][place] = presence
            written += 1


def _reading(parameters: str, call: str, fields: tuple[Field, ...], function: Callable[..., Any]) -> Any:
    casts, bindings = _typed(fields, "c")
    source = f"def generated({parameters}):\n    c = {call}\n    return {casts}"
    return unrolled(source, ("function", jitable(function)), *bindings)


@compiled_reading(identity)
def _identity(aggregate: Any) -> Any:
    static = static_of(aggregate)
    return _reading("aggregate", "function()", static.fields, _constant(static.fields, static.initial))


@compiled_reading(lift)
def _lift(aggregate: Any, row: Any) -> Any:
    static = static_of(aggregate)
    return _reading("aggregate, row", "function(row)", static.fields, static.lift)


@compiled_reading(combine)
def _combine(aggregate: Any, older: Any, newer: Any) -> Any:
    static = static_of(aggregate)
    return _reading("aggregate, older, newer", "function(older, newer)", static.fields, static.combine)


@compiled_reading(invert)
def _invert(aggregate: Any, whole: Any, older: Any) -> Any:
    static = static_of(aggregate)
    return _reading("aggregate, whole, older", "function(whole, older)", static.fields, static.invert)


@compiled_reading(emit)
def _emit(aggregate: Any, results: Any, presences: Any, place: Any, partial: Any) -> Any:
    lines: list[str] = []
    bindings: list[tuple[str, Any]] = [("uint64", np.uint64)]
    written = 0
    for k, output in enumerate(static_of(aggregate).outputs):
        own = _tuple(f"partial[{j}]" for j in output.fields)
        target = f"results[{k}][at{', :' if output.result.is_array else ''}]"
        bindings.append((f"lower{k}", jitable(output.lower)))
        if output.presence is None:
            lines.append(f"    {target} = lower{k}({own})\n")
        else:
            bindings.append((f"presence{k}", jitable(output.presence)))
            lines.append(
                f"    p{k} = presence{k}({own})\n    presences[{written}][at] = p{k}\n"
                f"    if p{k} == 1:\n        {target} = lower{k}({own})\n"
            )
            written += 1
    head = "def generated(aggregate, results, presences, place, partial):\n    at = uint64(place)\n"
    return unrolled(head + "".join(lines), *bindings)
