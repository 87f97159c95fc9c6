"""The aggregates of the matrix: every public function of sash that returns an aggregate, and one of a user."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import sash
from sash.algebra import sketches
from sash.algebra.aggregate import Template

__all__ = ["AGGREGATES", "COLLECTING", "OWN", "SKETCHES", "catalog", "group_of"]

PLAIN, SKETCH, COLLECT = "plain", "sketch", "collecting"
COLUMNS = {"column": "x", "who": "w"}  # parameters that name a column, and the columns of the matrix
OPTIONS: Mapping[str, dict[str, Any]] = {"quantile": {"q": 0.95}}  # where the default is another aggregate
SKETCHES = frozenset(sketches.__all__)
COLLECTING = frozenset({"collect", "collect_distinct", "string_agg"})  # the result is as large as the window
OWN = "own"


def _own() -> Template:
    """Return an aggregate as a user writes it, which keeps the first and the last value: the order matters."""
    return sash.Aggregate(
        OWN,
        state=("i8", "f8", "f8"),
        identity=(0, 0.0, 0.0),
        lift=lambda x: (1, float(x), float(x)),
        combine=lambda a, b: b if a[0] == 0 else a if b[0] == 0 else (a[0] + b[0], a[1], b[2]),
        lower=lambda p: p[2] - p[1],
    )("x")


def catalog() -> Iterator[tuple[str, Template]]:
    """Yield every public aggregate by its name, with the columns x and w."""
    for name in sash.__all__:
        function = getattr(sash, name)
        if inspect.isfunction(function) and function.__annotations__.get("return") is Template:
            names = [COLUMNS[each] for each in inspect.signature(function).parameters if each in COLUMNS]
            yield name, function(*names, **OPTIONS.get(name, {}))
    yield OWN, _own()


AGGREGATES: Mapping[str, Template] = dict(catalog())


def group_of(aggregate: str) -> str:
    """Return the group of an aggregate; each has a limit of its own.

    >>> group_of("sum"), group_of("hyperloglog"), group_of("collect")
    ('plain', 'sketch', 'collecting')
    """
    return SKETCH if aggregate in SKETCHES else COLLECT if aggregate in COLLECTING else PLAIN
