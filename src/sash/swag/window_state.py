"""The saved state of a window: which window it belongs to, and its parts in the form that the algorithm expects.

A valid checksum does not make a state safe. Each part is checked here before a kernel reads it.
"""

from typing import Any

import numpy as np

from sash.algebra.aggregate import Template
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid
from sash.errors import InvalidState
from sash.swag import window_room
from sash.swag.contract import Algorithm

__all__ = ["columns_of", "fingerprint", "read", "restore", "save"]


def fingerprint(aggregate: Template) -> str:
    """Return what must agree for a state to mean the same: name, parameters, and the fields of a user's aggregate."""
    parameters = getattr(aggregate, "parameters", ())
    fields = getattr(aggregate, "state", None)
    return f"{aggregate.name}{dict(parameters) or ''}{fields or ''}"


def read(content: Any, algorithm: str, aggregate: Template) -> tuple[Any, Any]:
    """Return the columns and the state in the saved content of a window; refuse that of another window."""
    if not isinstance(content, dict) or not {"algorithm", "aggregate", "columns"} <= content.keys():
        raise InvalidState.damaged("it is not the state of a window")
    for what, given in (("algorithm", algorithm), ("aggregate", fingerprint(aggregate))):
        if not isinstance(content[what], str) or content[what] != given:
            raise InvalidState.other(what, content[what], given)
    return content["columns"], content.get("state")


def save(algorithm: Algorithm, monoid: Monoid, state: Any) -> Any:
    """Return the state as `restore` reads it."""
    layout = window_room.layout_of(algorithm)
    if layout is not None:
        return layout.saved(monoid, state)
    return algorithm.steps.save(monoid, state) if algorithm.has_step("save") else state


def restore(algorithm: Algorithm, monoid: Monoid, fresh: Any, given: Any) -> Any:
    """Return a saved state if the steps of the algorithm can continue from it; `fresh` is an empty state."""
    steps = algorithm.steps
    state = _state_like(save(algorithm, monoid, fresh), given, monoid)
    fault = steps.fault(monoid, state)
    if fault is not None:
        raise InvalidState.damaged(fault)
    if algorithm.has_step("save"):
        state = steps.restore(monoid, state)
    state = window_room.as_growing(algorithm, monoid, state)
    if int(steps.count(state)) < 0 or window_room.kept(algorithm, state) > steps.capacity(state):
        raise InvalidState.damaged("it claims more rows than it has room for")
    return state


def columns_of(codes: Any, arity: int) -> tuple[Column, ...]:
    """Return the columns of values that a saved state names by the codes of their fields."""
    if not isinstance(codes, tuple) or len(codes) != arity or not all(isinstance(each, str) for each in codes):
        raise InvalidState.damaged(f"it is not of {arity} column(s) of values")
    found = tuple(Column(Field(code), nullable=True) for code in codes)
    if any(each.field.is_array for each in found):
        raise InvalidState.damaged("its values are arrays")
    return found


def _state_like(model: Any, given: Any, monoid: Monoid) -> Any:
    """Return a saved state in the form of a fresh one: the same nesting of partials and integers."""
    if not isinstance(model, tuple):
        return _integers(given, monoid.is_compiled)
    if not isinstance(given, tuple) or len(given) != len(model):
        raise InvalidState.damaged("its parts do not fit the algorithm")
    if any(isinstance(each, tuple) for each in model):
        return tuple(_state_like(inner, part, monoid) for inner, part in zip(model, given, strict=True))
    try:  # a tuple without tuples holds partials, an array for each field
        fields = tuple(
            field.restored(part, monoid.is_compiled) for field, part in zip(monoid.fields, given, strict=True)
        )
    except ValueError as error:
        raise InvalidState.damaged(str(error)) from error
    if len({len(each) for each in fields}) > 1:
        raise InvalidState.damaged("the fields of its partials are not equally many")
    return fields


def _integers(given: Any, compiled: bool) -> Any:
    """Return integers in the form of `contract.integers`."""
    if isinstance(given, np.ndarray) and given.dtype == np.int64 and given.ndim == 1:
        return given if compiled else given.tolist()
    if not isinstance(given, list) or any(type(each) is not int or not -(2**63) <= each < 2**63 for each in given):
        raise InvalidState.damaged("a cursor of it is not a whole number")
    return np.array(given, np.int64) if compiled else given
