"""Aggregates and types by their names on the command line."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import sash
from sash.algebra.aggregate import Template
from sash.errors import InvalidInput, UnknownName

__all__ = ["aggregate_named", "dtype_named"]


def aggregate_named(name: str) -> Template:
    """Return the built-in aggregate of that name, with default parameters."""
    known = _aggregates()
    if name not in known:
        raise UnknownName.of("aggregate", name, known)
    made: Template = known[name]()
    return made


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the NumPy type of that name."""
    try:
        return np.dtype(name)
    except TypeError as error:
        raise InvalidInput.option("dtype", name, "a NumPy type such as float64 or int32") from error


def _aggregates() -> dict[str, Callable[..., Any]]:
    """Return the functions of `sash` that return an aggregate and need no arguments."""
    return {
        name: each
        for name in sash.__all__
        if inspect.isfunction(each := getattr(sash, name))
        and inspect.signature(each).return_annotation is Template
        and all(
            parameter.default is not inspect.Parameter.empty
            for parameter in inspect.signature(each).parameters.values()
        )
    }
