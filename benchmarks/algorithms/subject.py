"""An algorithm made ready to be timed: bound, its room allocated and touched, nothing left but to run."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import sash
from benchmarks.algorithms.workloads import Workload
from sash.algebra.aggregate import bind
from sash.algebra.fields import Field, Fields, allocate
from sash.algebra.monoid import Monoid
from sash.swag import loops
from sash.swag.contract import Algorithm, Needs
from sash.swag.values import read

__all__ = ["bound", "bytes_of", "head_of", "sliding", "sliding_all", "to_inputs", "warmed"]


def bound(algorithm: Algorithm, workload: Workload) -> Monoid:
    """The monoid of the workload as this algorithm needs it."""
    template = workload.aggregate()
    types = tuple(each.column for each in read(workload.columns(1), template.arity, template.name))
    monoid = bind(template, types, algorithm.facts.needs is Needs.INVERT)
    return monoid if algorithm.is_compiled else replace(monoid, is_compiled=False)


def to_inputs(monoid: Monoid, columns: Any) -> Fields:
    """The columns as kernels read them, or as lists for plain Python."""
    each = columns if isinstance(columns, tuple) else (columns,)
    return each if monoid.is_compiled else tuple(column.tolist() for column in each)


def bytes_of(columns: Any) -> int:
    """How much there is to copy."""
    return sum(int(column.nbytes) for column in (columns if isinstance(columns, tuple) else (columns,)))


def head_of(columns: Any, rows: int) -> Any:
    """The first rows."""
    return tuple(column[:rows] for column in columns) if isinstance(columns, tuple) else columns[:rows]


def _room(monoid: Monoid, rows: int) -> tuple[Fields, Fields]:
    """Memory for the answers, touched: the first write to a page is the system's time, not the algorithm's."""
    presences = tuple(Field("u1") for output in monoid.outputs if output.presence)
    room = (
        allocate(tuple(output.result for output in monoid.outputs), rows, monoid.is_compiled),
        allocate(presences, rows, monoid.is_compiled),
    )
    for column in (*room[0], *room[1]):
        if isinstance(column, np.ndarray):
            column.fill(1)
    return room


def sliding(algorithm: Algorithm, workload: Workload, columns: Any, size: int) -> Callable[[], Any]:
    """A call that answers every row on one thread (or on as many as the algorithm is made of)."""
    if not any(algorithm.gives(step) for step in ("insert", "sweep", "run")):
        template = workload.aggregate()
        return lambda: sash.swag.slide(columns, size, template, algorithm=algorithm.name, threads=1)
    monoid = bound(algorithm, workload)
    inputs = to_inputs(monoid, columns)
    room = _room(monoid, len(inputs[0]))
    return functools.partial(loops.over_rows, algorithm, monoid, inputs, size, *room, 1)


def sliding_all(algorithm: Algorithm, workload: Workload, columns: Any, most: int) -> Callable[[], Any]:
    """A call that answers, at every row, all ranges from 1 to `most` rows."""
    monoid = bound(algorithm, workload)
    inputs = to_inputs(monoid, columns)
    room = _room(monoid, len(inputs[0]) * most)
    return functools.partial(loops.over_sizes, algorithm, monoid, inputs, tuple(range(most, 0, -1)), *room)


def warmed(make: Callable[[Any], Callable[[], Any]], columns: Any, rows: int = 64) -> Callable[[], Any]:
    """The call for all columns, after one for a few rows: compiling is not part of what is timed."""
    make(head_of(columns, rows))()
    return make(columns)
