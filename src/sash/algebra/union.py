"""The union of monoids: several aggregates of the same row as one monoid that keeps each component once."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from sash.algebra.compiler import JIT_DISABLED, from_source, jitable
from sash.algebra.fields import Partial
from sash.algebra.monoid import Column, Component, Monoid, Output, Parts
from sash.algebra.source import canonical, constant, tuple_of

__all__ = ["places_of", "unite"]

_Shared: TypeAlias = tuple[str, tuple[int, ...]]


def unite(parts: Mapping[str, Parts], columns: tuple[Column, ...]) -> Monoid:
    """Return one monoid for several aggregates of the same row; a component that they share is kept once."""
    kept: dict[_Shared, Component] = {}
    for part in parts.values():
        for component in part.components:
            kept.setdefault(component.shared_as, component)
    components = tuple(kept.values())
    first_field = _first_fields(components)

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
        absorb=_united_rows(components, columns, read_places, "absorb"),
        release=_united_rows(components, columns, read_places, "release"),
        merge=_united_merge(components, read_places),
    )


def places_of(part: Monoid, whole: Monoid) -> tuple[int, ...]:
    """Return where the fields of a monoid are among those of one that has all its components."""
    first = _first_fields(whole.components)
    return tuple(first[each.shared_as] + k for each in part.components for k in range(len(each.fields)))


def _first_fields(components: Iterable[Component]) -> dict[_Shared, int]:
    """Return for each component where its first field is, if all are stored one after the other."""
    first: dict[_Shared, int] = {}
    count = 0
    for component in components:
        first[component.shared_as] = count
        count += len(component.fields)
    return first


def _united(
    components: tuple[Component, ...], read_places: Callable[[Component], tuple[int, ...]], functions: Iterable[Any]
) -> Callable[[Partial, Partial], Partial]:
    functions = tuple(functions)
    if len(components) == 1:
        return jitable(functions[0])
    lines, results, bindings = [], [], []
    for k, (component, function) in enumerate(zip(components, functions, strict=True)):
        left, right = (tuple_of(f"{side}[{place}]" for place in read_places(component)) for side in "ab")
        lines.append(f"    c{k} = f{k}({left}, {right})\n")
        results += [f"c{k}[{j}]" for j in range(len(component.fields))]
        bindings.append((f"f{k}", jitable(function)))
    return from_source(f"def generated(a, b):\n{''.join(lines)}    return {tuple_of(results)}", *bindings)


def _united_lift(components: tuple[Component, ...], columns: tuple[Column, ...]) -> Callable[..., Partial]:
    lines, results, bindings = [], [], []
    for k, component in enumerate(components):
        arguments, present = _arguments(component, columns)
        bindings.append((f"f{k}", jitable(component.lift)))
        lifted = f"f{k}({', '.join(arguments)})"
        if present:  # both branches must have one type
            bindings += [
                (f"cast{k}", canonical(component.fields)),
                (f"zero{k}", constant(component.fields, component.identity)),
            ]
            lines.append(f"    if {present}:\n        c{k} = cast{k}({lifted})\n")
            lines.append(f"    else:\n        c{k} = cast{k}(zero{k}())\n")
        else:
            lines.append(f"    c{k} = {lifted}\n")
        results += [f"c{k}[{j}]" for j in range(len(component.fields))]
    return from_source(f"def generated(row):\n{''.join(lines)}    return {tuple_of(results)}", *bindings)


def _arguments(component: Component, columns: tuple[Column, ...]) -> tuple[list[str], str]:
    """Return the source of what a component reads of a row, and of whether the row has it; empty: always."""
    validity = {k: len(columns) + sum(c.nullable for c in columns[:k]) for k, c in enumerate(columns) if c.nullable}
    arguments = [f"row[{i}]" for i in component.inputs]
    arguments += [f"row[{validity[i]}]" if i in validity else "True" for i in component.passes]
    present = [f"row[{validity[i]}]" for i in component.inputs if i in validity and i not in component.passes]
    return arguments, " and ".join(present)


def _has_arrays(components: Iterable[Component]) -> bool:
    return any(each.is_array for component in components for each in component.fields)


def _united_merge(
    components: tuple[Component, ...], read_places: Callable[[Component], tuple[int, ...]]
) -> Callable[[Partial, Partial], Partial] | None:
    """Return combine that changes arrays in place; None if there are no arrays, or some cannot be changed."""
    if not _has_arrays(components) or _has_arrays(each for each in components if each.merge is None):
        return None
    return _united(components, read_places, [each.merge or each.combine for each in components])


def _united_rows(
    components: tuple[Component, ...],
    columns: tuple[Column, ...],
    read_places: Callable[[Component], tuple[int, ...]],
    name: str,
) -> Callable[[Partial, tuple[Any, ...]], Partial] | None:
    """Return the function that adds a row to a partial, or removes one; None if there are no arrays to change.

    A component without arrays is combined with the lifted row; to remove a row it needs a function of its own.
    """
    own = [getattr(each, name) for each in components]
    others = tuple(each for each, function in zip(components, own, strict=True) if function is None)
    if not _has_arrays(components) or _has_arrays(others) or any(each.reads for each in components):
        return None
    if others and name == "release":
        return None
    lines, results = [], []
    bindings: list[tuple[str, Any]] = []
    for k, (component, function) in enumerate(zip(components, own, strict=True)):
        arguments, present = _arguments(component, columns)
        before = tuple_of(f"p[{place}]" for place in read_places(component))
        changed = f"f{k}({', '.join((f'c{k}', *arguments))})"
        if function is None:
            changed = f"f{k}(c{k}, lift{k}({', '.join(arguments)}))"
            bindings.append((f"lift{k}", jitable(component.lift)))
        bindings += [(f"f{k}", jitable(function or component.combine)), (f"cast{k}", canonical(component.fields))]
        lines.append(f"    c{k} = cast{k}({before})\n")
        lines.append(f"    if {present or 'True'}:\n        c{k} = cast{k}({changed})\n")
        results += [f"c{k}[{j}]" for j in range(len(component.fields))]
    return from_source(f"def generated(p, row):\n{''.join(lines)}    return {tuple_of(results)}", *bindings)
