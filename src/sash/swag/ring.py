"""A ring of partials: positions grow without end, slots wrap around; the length is a power of two."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.compiler import compiled_reading, jitable
from sash.algebra.fields import Fields, Partial, length, load
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers

__all__ = ["LAST", "copy_ring", "fold_all", "partials_at", "ring_fault", "ring_steps", "room_for", "slot", "sum_of"]

LAST = 1 << 62  # no stream is as long as this, so positions up to here can be added to


def room_for(rows: int) -> int:
    """Return the length of the smallest ring that holds so many rows."""
    return 1 << (max(rows, 1) - 1).bit_length()


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


@jitable
def sum_of(aggregate: Monoid, sums: Fields, begin: int, end: int, place: int) -> Partial:
    """Return the sum of the positions [begin, end), which is stored at `place`; the identity if there are none."""
    if begin == end:
        return identity(aggregate)
    return load(sums, slot(sums, place))


def copy_ring(aggregate: Monoid, ring: Fields, start: int, end: int, capacity: int) -> Fields:
    """Return a ring of another length with the positions [start, end)."""
    wider = aggregate.allocate(capacity)
    for source, target in zip(ring, wider, strict=True):
        _move(source, target, start, end)
    return wider


def _move(source: Any, target: Any, start: int, end: int) -> None:
    positions = np.arange(start, end)
    old, new = positions & (len(source) - 1), positions & (len(target) - 1)
    if isinstance(target, np.ndarray):
        target[new] = source[old]
    else:
        for origin, place in zip(old.tolist(), new.tolist(), strict=True):
            target[place] = source[origin]


def ring_steps(
    newest: int, rings: int = 1, kept: tuple[int, int] | None = None
) -> tuple[Callable[[Any], int], Callable[[Any], int], Callable[[Monoid, Any, int], Any]]:
    """Return `count`, `capacity` and `resize` of an algorithm whose state is rings first and its cursor last.

    The cursor begins with the oldest position and has the end of the window at `newest`. The first `rings` parts of
    the state are rings, of partials or of integers, that hold the positions between the two cursors `kept` (default:
    the window).
    """
    first, last = kept or (0, newest)

    def count(state: Any) -> int:
        return int(state[-1][newest] - state[-1][0])

    def capacity(state: Any) -> int:
        return length(state[0])

    def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
        start, end, room = int(state[-1][first]), int(state[-1][last]), room_for(capacity)

        def moved(part: Any) -> Any:
            if isinstance(part, tuple):
                return copy_ring(aggregate, part, start, end, room)
            numbers = integers(aggregate, room)
            _move(part, numbers, start, end)
            return numbers

        return *(moved(part) for part in state[:rings]), *state[rings:]

    return count, capacity, resize


# --- for the checks of K-lines -------------------------------------------------------------------


def partials_at(ring: Fields, start: int, end: int) -> list[Partial]:
    """Return the partials at the positions [start, end)."""
    return [load(ring, slot(ring, position)) for position in range(start, end)]


def fold_all(aggregate: Monoid, partials: list[Partial]) -> Partial:
    """Return the fold of partials, combined one by one."""
    answer = identity(aggregate)
    for partial in partials:
        answer = combine(aggregate, answer, partial)
    return answer
