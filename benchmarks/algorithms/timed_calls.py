"""Calls of algorithms that are ready to be timed: aggregates are bound, and memory is allocated and touched."""

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
from sash.swag.contract import Algorithm
from sash.swag.facts import Needs
from sash.swag.values import read

__all__ = ["bind_for", "bytes_of", "head_of", "room_for_answers", "sliding", "sliding_all", "to_inputs", "warm_up"]


def bind_for(algorithm: Algorithm, workload: Workload) -> Monoid:
    """Return the monoid of the workload in the form that the algorithm needs."""
    template = workload.aggregate()
    types = tuple(each.column for each in read(workload.columns(1), template.arity, template.name))
    monoid = bind(template, types, algorithm.facts.needs is Needs.INVERT)
    return monoid if algorithm.is_compiled else replace(monoid, is_compiled=False)


def to_inputs(monoid: Monoid, columns: Any) -> Fields:
    """Return the columns as kernels read them, or as lists for plain Python."""
    each = columns if isinstance(columns, tuple) else (columns,)
    return each if monoid.is_compiled else tuple(column.tolist() for column in each)


def bytes_of(columns: Any) -> int:
    """Return the bytes of the columns."""
    return sum(int(column.nbytes) for column in (columns if isinstance(columns, tuple) else (columns,)))


def head_of(columns: Any, rows: int) -> Any:
    """Return the first rows."""
    return tuple(column[:rows] for column in columns) if isinstance(columns, tuple) else columns[:rows]


def room_for_answers(monoid: Monoid, rows: int) -> tuple[Fields, Fields]:
    """Allocate memory for the answers and touch it, because the first write to a page is slow."""
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
    """Return a call that answers every row on one thread, or on as many threads as the algorithm has."""
    if not any(algorithm.has_step(step) for step in ("insert", "sweep", "run")):
        template = workload.aggregate()
        return lambda: sash.swag.slide(columns, size, template, algorithm=algorithm.name, threads=1)
    monoid = bind_for(algorithm, workload)
    inputs = to_inputs(monoid, columns)
    room = room_for_answers(monoid, len(inputs[0]))
    return functools.partial(loops.over_rows, algorithm, monoid, inputs, size, *room, 1)


def sliding_all(algorithm: Algorithm, workload: Workload, columns: Any, most: int) -> Callable[[], Any]:
    """Return a call that answers, at every row, all ranges from 1 to `most` rows."""
    monoid = bind_for(algorithm, workload)
    inputs = to_inputs(monoid, columns)
    places = loops.places_of([len(inputs[0])] * most)
    room = room_for_answers(monoid, int(places[-1]))
    return functools.partial(loops.over_sizes, algorithm, monoid, inputs, tuple(range(most, 0, -1)), places, *room)


def warm_up(make: Callable[[Any], Callable[[], Any]], columns: Any, rows: int = 64) -> Callable[[], Any]:
    """Return the call for all columns, after a call for a few rows, so that compilation is not timed."""
    make(head_of(columns, rows))()
    return make(columns)
