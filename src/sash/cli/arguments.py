"""Aggregates and types by their names on the command line."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import sash
from sash.algebra.aggregate import Template
from sash.errors import InvalidInput, UnknownName
from sash.synonyms import NAMES

__all__ = ["aggregate_named", "aggregates", "dtype_named", "unknown_aggregate"]


def aggregate_named(name: str) -> Template:
    """Return the built-in aggregate of that name, with default parameters."""
    known = aggregates()
    if name not in known:
        raise unknown_aggregate(name)
    return known[name]()


def unknown_aggregate(name: str) -> UnknownName:
    """Return the error for a name that no aggregate has.

    >>> print(unknown_aggregate("avg"))
    There is no aggregate 'avg'. Did you mean 'mean'?
    """
    known = aggregates()
    ours = re.match(r"sash\.(\w+)", NAMES.get(name.lower(), ""))
    if ours is not None and ours[1] in known:
        return UnknownName.elsewhere("aggregate", name, ours[1])
    return UnknownName.of("aggregate", name, known)


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the NumPy type of that name."""
    try:
        return np.dtype(name)
    except TypeError as error:
        raise InvalidInput.option("dtype", name, "a NumPy type such as float64 or int32") from error


def aggregates() -> dict[str, Callable[..., Template]]:
    """Return the functions of `sash` that return an aggregate; none of them needs an argument."""
    found = {name: getattr(sash, name) for name in sash.__all__}
    functions = {name: each for name, each in found.items() if inspect.isfunction(each)}
    return {name: each for name, each in functions.items() if inspect.signature(each).return_annotation is Template}
