"""A ring of partials: positions grow without end, slots wrap around; the length is a power of two."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.compiler import compiled_reading
from sash.algebra.fields import Fields, Partial, length
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers
from sash.swag.facts import room_for

__all__ = ["LAST", "copy_positions", "copy_ring", "fold_all", "ring_fault", "ring_steps", "slot"]

LAST = 1 << 62  # no stream is as long as this, so positions up to here can be added to


def ring_fault(ring: Fields, *positions: Any) -> str | None:
    """Return what is wrong with a ring or its positions, which must ascend within its length; None if nothing is."""
    room, places = length(ring), [int(each) for each in positions]
    if room < 1 or room & (room - 1):
        return f"a ring of it has {room} slots, which is no power of two"
    if places[0] < 0 or places[-1] > LAST or any(a > b for a, b in pairwise(places)):
        return f"its cursors are {places}, which do not ascend"
    if places[-1] - places[0] > room:
        return f"it claims {places[-1] - places[0]} rows in a ring of {room}"
    return None


def slot(ring: Fields, position: int) -> int:
    """Return the slot of a position."""
    return position & (length(ring) - 1)


compiled_reading(slot)(lambda ring, position: lambda ring, position: position & (len(ring[0]) - 1))


def copy_ring(aggregate: Monoid, ring: Any, start: int, end: int, capacity: int) -> Any:
    """Return a ring of another length with the positions [start, end); it holds partials, or integers."""
    wider = aggregate.allocate(capacity) if isinstance(ring, tuple) else integers(aggregate, capacity)
    copy_positions(ring, wider, start, end)
    return wider


def copy_positions(source: Any, target: Any, start: int, end: int) -> None:
    """Copy the positions [start, end) from one ring to another."""
    if isinstance(source, tuple):
        for one, other in zip(source, target, strict=True):
            copy_positions(one, other, start, end)
        return
    positions = np.arange(start, end)
    old, new = positions & (len(source) - 1), positions & (len(target) - 1)
    if isinstance(target, np.ndarray):
        target[new] = source[old]
    else:
        for origin, place in zip(old.tolist(), new.tolist(), strict=True):
            target[place] = source[origin]


def ring_steps(newest: int) -> tuple[Callable[[Any], int], Callable[[Any], int], Callable[[Monoid, Any, int], Any]]:
    """Return `count`, `capacity` and `resize` of an algorithm whose state begins with a ring and ends with its cursor.

    The cursor begins with the oldest position and has the end of the window at `newest`.
    """

    def count(state: Any) -> int:
        return int(state[-1][newest] - state[-1][0])

    def capacity(state: Any) -> int:
        return length(state[0])

    def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
        start, end = int(state[-1][0]), int(state[-1][newest])
        return copy_ring(aggregate, state[0], start, end, room_for(capacity)), *state[1:]

    return count, capacity, resize


def fold_all(aggregate: Monoid, partials: list[Partial]) -> Partial:
    """Return the fold of partials, combined one by one, for the checks of K-lines."""
    answer = identity(aggregate)
    for partial in partials:
        answer = combine(aggregate, answer, partial)
    return answer
