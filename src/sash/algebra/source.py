"""Generate the source of functions over partials: one line per field, since compiled loops need fields of one type."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from sash.algebra.compiler import compiled_reading, from_source
from sash.algebra.fields import Field, Partial

__all__ = ["canonical", "constant", "tuple_of", "typed"]


def tuple_of(items: Iterable[str]) -> str:
    """Return the source of a tuple.

    >>> tuple_of(["a[0]"]), tuple_of(["a[0]", "a[1]"])
    ('(a[0],)', '(a[0], a[1])')
    """
    items = list(items)
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def constant(fields: tuple[Field, ...], values: tuple[Any, ...]) -> Callable[[], Partial]:
    """Return a function that returns a fixed partial; each call makes new arrays, so no two partials share one."""
    items, bindings = [], []
    for k, (field, value) in enumerate(zip(fields, values, strict=True)):
        if field.is_array:
            items.append(f"np.full({field.width}, v{k}, t{k})")
            bindings += [(f"v{k}", field.dtype.type(value)), (f"t{k}", field.dtype.type)]
        elif field.is_object:
            items.append(f"v{k}")
            bindings += [(f"v{k}", value), (f"kind of v{k}", f"{type(value)} {value!r}")]
        else:
            items.append(f"v{k}")
            bindings.append((f"v{k}", field.dtype.type(value).item()))
    # `from_source` is cached, and 0, 0.0, -0.0 and False are one key of a cache. The comment in the source tells them
    # apart; for an object, the binding of its kind does.
    kinds = [
        f"{each.code} {'' if each.is_object else each.dtype.type(value)}"
        for each, value in zip(fields, values, strict=True)
    ]
    return _generate(
        f"def generated():\n    # {', '.join(kinds)}\n    return {tuple_of(items)}", [("np", np), *bindings]
    )


def typed(fields: tuple[Field, ...], name: str) -> tuple[str, list[tuple[str, Any]]]:
    """Return source, with its bindings, that casts the fields of the partial `name` to the types they are stored as."""
    casts = tuple_of(f"{name}[{k}]" if each.is_array else f"t{k}({name}[{k}])" for k, each in enumerate(fields))
    return casts, [(f"t{k}", each.dtype.type) for k, each in enumerate(fields) if not each.is_array]


@cache  # the compiler never frees one
def canonical(fields: tuple[Field, ...]) -> Callable[[Partial], Partial]:
    """Return a function that casts fields to their types when compiled, and returns its argument when interpreted."""

    def as_is(partial: Partial) -> Partial:
        return partial

    @compiled_reading(as_is)
    def _compiled(partial: Any) -> Any:
        casts, bindings = typed(fields, "partial")
        return from_source(f"def generated(partial):\n    return {casts}", *bindings)

    return as_is


def _generate(source: str, bindings: list[tuple[str, Any]]) -> Callable[..., Any]:
    try:
        return from_source(source, *bindings)
    except TypeError:  # an unhashable identity such as a list: nothing to share
        return from_source.__wrapped__(source, *bindings)
