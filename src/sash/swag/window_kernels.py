"""Kernels of a window moved by hand: one step of an algorithm each."""

from typing import Any

from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length, load, store
from sash.algebra.monoid import Monoid, lift
from sash.swag.contract import (
    Algorithm,
    evict_at,
    evict_many,
    evict_until,
    insert_many,
    insert_sorted,
    query,
    query_between,
    query_last,
    query_range,
    remove_at,
    settle,
    update_many,
)
from sash.swag.queue import MOVES

__all__ = [
    "evict_at_position",
    "evict_until_position",
    "insert_at_positions",
    "lift_rows",
    "move",
    "query_indexes",
    "query_newest",
    "query_positions",
    "remove_index",
    "update_indexes",
]


@kernel
def lift_rows(aggregate: Monoid, inputs: Fields, partials: Fields) -> None:
    """Lift each row to a partial."""
    for row in range(length(inputs)):
        store(partials, row, lift(aggregate, load(inputs, row)))


@kernel
def move(algorithm: Algorithm, aggregate: Monoid, state: Any, evictions: int, partials: Fields, answer: Fields) -> None:
    """Evict, insert, and query if `answer` has room; one kernel, so that only one is compiled per algorithm."""
    if evictions > 0:
        evict_many(algorithm, aggregate, state, evictions)
    if length(partials) > 0:
        insert_many(algorithm, aggregate, state, partials, length(partials))
    settle(algorithm, state, MOVES * (evictions + length(partials)))
    if length(answer) > 0:
        store(answer, 0, query(algorithm, aggregate, state))


@kernel
def query_newest(algorithm: Algorithm, aggregate: Monoid, state: Any, count: int, answer: Fields) -> None:
    """Query the `count` newest rows."""
    store(answer, 0, query_last(algorithm, aggregate, state, count))


@kernel
def update_indexes(
    algorithm: Algorithm, aggregate: Monoid, state: Any, indexes: Any, partials: Fields, count: int
) -> None:
    """Replace the rows of ascending indexes, which are overwritten."""
    update_many(algorithm, aggregate, state, indexes, partials, count)


@kernel
def remove_index(algorithm: Algorithm, aggregate: Monoid, state: Any, index: int) -> None:
    """Remove the row of an index."""
    remove_at(algorithm, aggregate, state, index)


@kernel
def query_indexes(algorithm: Algorithm, aggregate: Monoid, state: Any, start: int, end: int, answer: Fields) -> None:
    """Query the rows of the indexes in [start, end)."""
    store(answer, 0, query_between(algorithm, aggregate, state, start, end))


@kernel
def insert_at_positions(
    algorithm: Algorithm, aggregate: Monoid, state: Any, positions: Any, partials: Fields, count: int
) -> None:
    """Insert partials at ascending positions."""
    insert_sorted(algorithm, aggregate, state, positions, partials, count)


@kernel
def evict_at_position(algorithm: Algorithm, aggregate: Monoid, state: Any, position: int) -> bool:
    """Evict what is at a position; return whether there was something."""
    removed: bool = evict_at(algorithm, aggregate, state, position)
    return removed


@kernel
def evict_until_position(algorithm: Algorithm, aggregate: Monoid, state: Any, position: int) -> None:
    """Evict everything up to and at a position."""
    evict_until(algorithm, aggregate, state, position)


@kernel
def query_positions(algorithm: Algorithm, aggregate: Monoid, state: Any, start: int, end: int, answer: Fields) -> None:
    """Query the positions in [start, end)."""
    store(answer, 0, query_range(algorithm, aggregate, state, start, end))
