"""Cases that are alike and take seconds, on Spark or in the compiler: `make test` runs a few, `make long` all."""

from collections.abc import Iterable
from typing import Any

import pytest


def with_compat(values: Iterable[Any], chosen: Iterable[Any]) -> list[Any]:
    """Return the values as parameters; those in `chosen` run on every version of PySpark."""
    kept = list(chosen)
    return [pytest.param(each, marks=pytest.mark.compat) if each in kept else each for each in values]


def sample(values: Iterable[Any], kept: Iterable[Any]) -> list[Any]:
    """Return the values, or tuples of them, as parameters; those that are not in `kept` run in `make long` alone."""
    chosen = list(kept)
    return [
        each
        if each in chosen
        else pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=pytest.mark.long)
        for each in values
    ]


def in_long(parameters: Iterable[Any]) -> list[Any]:
    """Return parameters that run in `make long` alone."""
    return [pytest.param(*each.values, id=each.id, marks=[*each.marks, pytest.mark.long]) for each in parameters]
