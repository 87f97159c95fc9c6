"""A monoid with typed fields: an aggregate whose input types are known.

Idea      An aggregate is some components and a function that computes its result from them. A
          component is the smallest piece that two aggregates can share: a count, a sum, a maximum.
          Aggregates of the same columns store and combine a shared component once (`union`).
Picture     mean(x)      needs  [count | sum]
            stddev(x)    needs  [count | sum | m2]
            together     keep   [count | sum | m2]       one partial, two outputs
Laws      combine is associative, with the older operand on the left; identity is neutral on both
          sides; invert(a ⊕ b, a) = b if there is an invert.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from sash.algebra.compiler import JIT_DISABLED, Static, compiled_reading, from_source, jitable, static_of
from sash.algebra.digest import digest
from sash.algebra.fields import Field, Fields, Partial, allocate, load, set_row, store
from sash.algebra.source import constant, tuple_of, typed

__all__ = [
    "Column",
    "Component",
    "Monoid",
    "Output",
    "Parts",
    "Presence",
    "absorb",
    "borrow",
    "combine",
    "emit",
    "identity",
    "invert",
    "lift",
    "merge",
    "of_partials",
    "optional",
    "own",
    "release",
]


class Presence(IntEnum):
    """Whether a result is null, a value, or an exact value that does not fit its type."""

    NULL = 0
    VALUE = 1
    OVERFLOW = 2


@dataclass(frozen=True)
class Column:
    """The type of an input column: a field, and whether values can be missing."""

    field: Field
    nullable: bool = False
    is_time: bool = False  # an integer that stands for a date or time, and cannot be added up
    is_small: bool = False  # 64-bit integers so small that no sum of a window exceeds 64 bits

    def __str__(self) -> str:
        kind = "time" if self.is_time else self.field.dtype.name
        if self.field.decimal is not None:
            kind = "decimal({}, {})".format(*self.field.decimal)
        return f"{kind}{' with nulls' if self.nullable else ''}"


@dataclass(frozen=True)
class Component:
    """The smallest piece of a partial that aggregates can share.

    `reads` names components of the same inputs whose fields come before its own in the operands of
    combine and invert. So a second moment can use the count and the sum, which are kept anyway.

    A component with arrays may have functions that change the arrays of their first argument, so that nothing is
    allocated per row: `absorb` is combine(partial, lift(row)), `merge` is combine, `release` undoes `absorb`. `tally`
    is the component to keep instead where rows also leave one by one: its fields begin with those of this component.
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
    passes: tuple[int, ...] = ()  # inputs whose nulls do not skip the row: lift also gets their validity
    keeps: int = 0  # its first so many fields are values of its inputs, in their order
    absorb: Callable[..., Partial] | None = None  # takes a partial, then what lift takes
    release: Callable[..., Partial] | None = None  # as absorb
    merge: Callable[[Partial, Partial], Partial] | None = None
    tally: "Component | None" = None
    is_builtin: bool = True  # its functions come with sash

    @property
    def shared_as(self) -> tuple[str, tuple[int, ...]]:
        """The identity of a component: two with the same identity are kept once."""
        return self.name, self.inputs


def optional(component: Component) -> Component:
    """Return a component that also has a partial for no rows: a last field says whether there are rows."""
    lift, choose = jitable(component.lift), jitable(component.combine)
    width = len(component.fields)

    def lift_seen(*row: Any) -> Partial:
        return lift(*row) + (True,)  # noqa: RUF005  # Numba cannot compile a star in a tuple

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
        keeps=component.keeps,
        is_builtin=component.is_builtin,
    )


@dataclass(frozen=True)
class Parts:
    """The components of one aggregate, and the function that computes its result from them."""

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
        """Return the result and whether there is one."""
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
    # These change the arrays of their first argument; None: no partial has arrays, or a component lacks the function.
    absorb: Callable[[Partial, tuple[Any, ...]], Partial] | None = None
    release: Callable[[Partial, tuple[Any, ...]], Partial] | None = None
    merge: Callable[[Partial, Partial], Partial] | None = None

    @cached_property
    def key(self) -> str:  # type: ignore[override]  # computed once, then an attribute
        meaning = digest(
            tuple(each.code for each in self.fields),
            tuple(self.initial),
            self.lift,
            self.combine,
            self.invert,
            *(each for each in (self.absorb, self.release, self.merge) if each is not None),
            *(part for each in self.outputs for part in (each.fields, each.lower, each.presence, each.result.code)),
            tuple(str(each) for each in self.columns),
        )
        return f"{self.name}@{meaning}"

    @property
    def has_objects(self) -> bool:
        """Whether values or partials are Python objects, which cannot be compiled."""
        return any(each.is_object for each in (*self.fields, *(column.field for column in self.columns)))

    @cached_property
    def needs_heap(self) -> bool:  # type: ignore[override]
        """Whether partials or results contain arrays."""
        return any(each.is_array for each in (*self.fields, *(output.result for output in self.outputs)))

    @cached_property
    def is_plain(self) -> bool:  # type: ignore[override]
        # NumPy does not widen a narrow integer before it computes, but the compiler does.
        columns = set() if self.lift is _row_itself else {each.field.code for each in self.columns}
        is_wide = columns <= {"i8", "f8"} and {each.code for each in self.fields} <= {"i8", "f8", "b1"}
        return is_wide and all(each.is_builtin for each in self.components)

    @cached_property
    def make_identity(self) -> Callable[[], Partial]:
        """The function that returns the partial of no rows."""
        return constant(self.fields, self.initial)

    def allocate(self, slots: int) -> Fields:
        """Allocate room for partials."""
        return allocate(self.fields, slots, self.is_compiled)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Monoid) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def of_partials(aggregate: Monoid) -> Monoid:
    """Return the same monoid over rows that are partials already."""
    columns = tuple(Column(each) for each in aggregate.fields)
    return replace(aggregate, lift=_row_itself, columns=columns, absorb=None, release=None)


def _row_itself(row: Partial) -> Partial:
    return row


# --- called by kernels, interpreted and compiled -------------------------------------------------


def identity(aggregate: Monoid) -> Partial:
    """Return the partial of no rows."""
    return aggregate.make_identity()


def lift(aggregate: Monoid, row: tuple[Any, ...]) -> Partial:
    """Return the partial of one row."""
    return aggregate.lift(row)


def combine(aggregate: Monoid, older: Partial, newer: Partial) -> Partial:
    """Return the partial of older rows followed by newer ones."""
    return aggregate.combine(older, newer)


def invert(aggregate: Monoid, whole: Partial, older: Partial) -> Partial:
    """Remove the older rows from the front of `whole`: invert(a ⊕ b, a) = b."""
    assert aggregate.invert is not None
    return aggregate.invert(whole, older)


def borrow(aggregate: Monoid, fields: Fields, slot: int) -> Partial:
    """Return the partial in a slot to be read at once: compiled, its arrays need not be copies."""
    return load(fields, slot)


def own(aggregate: Monoid, partial: Partial) -> Partial:
    """Return a partial for a function that may be a user's: compiled, its arrays are copies, so it may change them."""
    return partial


def merge(aggregate: Monoid, older: Partial, newer: Partial) -> Partial:
    """Return what `combine` does; compiled, it may change the arrays of `older`, which its caller must own."""
    return aggregate.combine(older, newer)


def absorb(aggregate: Monoid, fields: Fields, slot: int, row: tuple[Any, ...]) -> None:
    """Add a row to the partial in a slot, without a new array; the monoid has an `absorb`."""
    assert aggregate.absorb is not None
    store(fields, slot, aggregate.absorb(load(fields, slot), row))


def release(aggregate: Monoid, fields: Fields, slot: int, row: tuple[Any, ...]) -> None:
    """Remove a row from the partial in a slot, which absorbed it, without a new array."""
    assert aggregate.release is not None
    store(fields, slot, aggregate.release(load(fields, slot), row))


def emit(aggregate: Monoid, results: Fields, presences: Fields, place: int, partial: Partial) -> None:
    """Write the result of each output of a partial; `presences` has an array per output that can be absent."""
    written = 0
    for output, result in zip(aggregate.outputs, results, strict=True):
        value, presence = output.read(partial)
        if presence == Presence.VALUE or isinstance(result, list):  # an array has no null
            result[place] = value
        if output.presence is not None:
            presences[written][place] = presence
            written += 1


def _reading(aggregate: Any, name: str, *arguments: str) -> Any:
    """Return a compiled function of a static by its name; its result is cast to the types of the fields."""
    static = static_of(aggregate)
    function = constant(static.fields, static.initial) if name == "identity" else getattr(static, name)
    casts, bindings = typed(static.fields, "c")
    call = f"function({', '.join(arguments)})"
    source = f"def generated({', '.join(('aggregate', *arguments))}):\n    c = {call}\n    return {casts}"
    return from_source(source, ("function", jitable(function)), *bindings)


def _row_reading(aggregate: Any, name: str) -> Any:
    """Return a compiled function that changes the arrays of a slot, and stores its numbers."""
    static = static_of(aggregate)
    casts, bindings = typed(static.fields, "c")
    own = tuple_of(f"fields[{k}][at]" for k in range(len(static.fields)))
    numbers = [k for k, each in enumerate(static.fields) if not each.is_array]
    source = f"def generated(aggregate, fields, slot, row):\n    at = uint64(slot)\n    c = function({own}, row)\n"
    source += f"    c = {casts}\n" + "".join(f"    fields[{k}][at] = c[{k}]\n" for k in numbers)
    return from_source(source, ("function", jitable(getattr(static, name))), ("uint64", np.uint64), *bindings)


compiled_reading(identity)(lambda aggregate: _reading(aggregate, "identity"))
compiled_reading(lift)(lambda aggregate, row: _reading(aggregate, "lift", "row"))
compiled_reading(combine)(lambda aggregate, older, newer: _reading(aggregate, "combine", "older", "newer"))


@compiled_reading(borrow)
def _borrow(aggregate: Any, fields: Any, slot: Any) -> Any:
    # A function of a user may return or change its operands, so it gets copies.
    static = static_of(aggregate)
    copy = ".copy()" if static.merge is None and static.release is None else ""
    reads = tuple_of(f"fields[{k}][at]{copy if array.ndim == 2 else ''}" for k, array in enumerate(fields))
    source = f"def generated(aggregate, fields, slot):\n    at = uint64(slot)\n    return {reads}"
    return from_source(source, ("uint64", np.uint64))


@compiled_reading(own)
def _own(aggregate: Any, partial: Any) -> Any:
    static = static_of(aggregate)
    if static.merge is not None or not any(each.is_array for each in static.fields):
        return lambda aggregate, partial: partial
    copies = tuple_of(f"partial[{k}]{'.copy()' if each.is_array else ''}" for k, each in enumerate(static.fields))
    return from_source(f"def generated(aggregate, partial):\n    return {copies}")


compiled_reading(merge)(
    lambda aggregate, older, newer: _reading(
        aggregate, "combine" if static_of(aggregate).merge is None else "merge", "older", "newer"
    )
)
compiled_reading(absorb)(lambda aggregate, fields, slot, row: _row_reading(aggregate, "absorb"))
compiled_reading(release)(lambda aggregate, fields, slot, row: _row_reading(aggregate, "release"))
compiled_reading(invert)(lambda aggregate, whole, older: _reading(aggregate, "invert", "whole", "older"))


@compiled_reading(emit)
def _emit(aggregate: Any, results: Any, presences: Any, place: Any, partial: Any) -> Any:
    lines: list[str] = []
    bindings: list[tuple[str, Any]] = [("uint64", np.uint64), ("set_row", set_row)]
    written = 0
    for k, output in enumerate(static_of(aggregate).outputs):
        own = tuple_of(f"partial[{j}]" for j in output.fields)
        result = f"lower{k}({own})"
        write = f"set_row(results[{k}], at, {result})" if output.result.is_array else f"results[{k}][at] = {result}"
        bindings.append((f"lower{k}", jitable(output.lower)))
        if output.presence is None:
            lines.append(f"    {write}\n")
        else:
            bindings.append((f"presence{k}", jitable(output.presence)))
            lines.append(
                f"    p{k} = presence{k}({own})\n    presences[{written}][at] = p{k}\n"
                f"    if p{k} == 1:\n        {write}\n"
            )
            written += 1
    head = "def generated(aggregate, results, presences, place, partial):\n    at = uint64(place)\n"
    return from_source(head + "".join(lines), *bindings)
