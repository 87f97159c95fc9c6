"""The room of a window that grows by itself: more when rows come, less when few are left."""

from typing import Any

from sash.algebra.monoid import Monoid
from sash.swag.contract import Algorithm
from sash.swag.queue import Layout

__all__ = ["LEAST_CAPACITY", "as_growing", "empty", "kept", "layout_of", "released", "with_room"]

LEAST_CAPACITY = 16  # rows: a window does not shrink below this


def empty(algorithm: Algorithm, monoid: Monoid) -> Any:
    """Return the state of a window without rows."""
    return as_growing(algorithm, monoid, algorithm.steps.start(monoid, LEAST_CAPACITY, ()))


def as_growing(algorithm: Algorithm, monoid: Monoid, state: Any) -> Any:
    """Return a state that grows without copying, if the algorithm has one."""
    layout = layout_of(algorithm)
    return state if layout is None else layout.growing(monoid, state)


def layout_of(algorithm: Algorithm) -> Layout | None:
    """Return where a state made of rings has its positions; None for other states."""
    layout: Layout | None = getattr(algorithm.steps, "LAYOUT", None)
    return layout


def kept(algorithm: Algorithm, state: Any) -> int:
    """Return how much of the capacity is in use: the rows, or fewer if the algorithm drops some."""
    layout = layout_of(algorithm)
    if layout is None:
        return int(algorithm.steps.count(state))
    first, end = layout.bounds(state)
    return end - first


def with_room(algorithm: Algorithm, monoid: Monoid, state: Any, rows: int) -> Any:
    """Return the same window with room for `rows` more rows."""
    steps, needed = algorithm.steps, kept(algorithm, state) + rows
    while steps.capacity(state) < needed:
        state = steps.resize(monoid, state, max(2 * steps.capacity(state), needed))
    return state


def released(algorithm: Algorithm, monoid: Monoid, state: Any) -> Any:
    """Return the same window without a ring that is no longer needed, and with less room if three quarters are free."""
    layout, steps = layout_of(algorithm), algorithm.steps
    if layout is not None:
        state = layout.without_empty_rings(monoid, state)
        if not layout.has_empty_old_rings(state):
            return state
    capacity, used = steps.capacity(state), kept(algorithm, state)
    if capacity <= LEAST_CAPACITY or 4 * used > capacity:
        return state
    smaller = steps.resize(monoid, state, max(LEAST_CAPACITY, 2 * used))
    return smaller if steps.capacity(smaller) < capacity else state  # an algorithm can keep what it has
