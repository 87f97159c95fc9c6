"""A ring of partials: positions grow for ever, slots wrap; the length is a power of two."""

from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.compiler import compiled_reading
from sash.algebra.fields import Fields, length
from sash.algebra.monoid import Monoid

__all__ = ["LAST", "relaid", "ring_fault", "room_for", "slot"]

LAST = 1 << 62  # no stream is as long as this, so positions up to here can be added to


def room_for(rows: int) -> int:
    """The smallest ring that holds so many rows."""
    return 1 << (max(rows, 1) - 1).bit_length()


def ring_fault(ring: Fields, *positions: Any) -> str | None:
    """What is wrong with a ring, or with positions that ascend within one turn of it; None if nothing is."""
    room, places = length(ring), [int(each) for each in positions]
    if room < 1 or room & (room - 1):
        return f"a ring of it has {room} slots, which is no power of two"
    if places[0] < 0 or places[-1] > LAST or any(a > b for a, b in pairwise(places)):
        return f"its cursors are {places}, which do not ascend"
    if places[-1] - places[0] > room:
        return f"it claims {places[-1] - places[0]} rows in a ring of {room}"
    return None


def slot(ring: Fields, position: int) -> int:
    """Where a position lives."""
    return position & (length(ring) - 1)


@compiled_reading(slot)
def _slot(ring: Any, position: Any) -> Any:
    return lambda ring, position: position & (len(ring[0]) - 1)


def relaid(aggregate: Monoid, ring: Fields, start: int, end: int, capacity: int) -> Fields:
    """The positions [start, end) in a ring of another length."""
    wider = aggregate.allocate(capacity)
    positions = np.arange(start, end)
    old, new = positions & (length(ring) - 1), positions & (capacity - 1)
    for source, target in zip(ring, wider, strict=True):
        _move(source, old, target, new)
    return wider


def _move(source: Any, old: Any, target: Any, new: Any) -> None:
    if isinstance(target, np.ndarray):
        target[new] = source[old]
    else:
        for origin, place in zip(old.tolist(), new.tolist(), strict=True):
            target[place] = source[origin]
